#![cfg(not(target_arch = "wasm32"))]
//! The third tier over every part of Unicode, natively. What comes out is in unicode.txt, and `js/unicode.test.mjs`
//! finds the same through the npm package, where the platform normalises. `UPDATE_EXPECT=1` writes it anew.

use expect_test::expect_file;
use tackroom::text::edit::{Edit, apply_edits};
use unicode_normalization::UnicodeNormalization;

const CASES: usize = 4000;

/// What is drawn from: characters of Unicode 15 and older, as every supported runtime has it.
const RANGES: [(u32, u32); 43] = [
    (0x20, 0x7e),       // ASCII
    (0xa0, 0x17f),      // Latin
    (0x1c4, 0x233),     // digraphs, more Latin
    (0x300, 0x34e),     // accents
    (0x340, 0x362),     // accents, some of them others
    (0x384, 0x3ce),     // Greek
    (0x400, 0x45f),     // Cyrillic
    (0x5b0, 0x5c7),     // Hebrew points
    (0x5d0, 0x5ea),     // Hebrew
    (0x621, 0x655),     // Arabic with marks
    (0x675, 0x6d5),     // more Arabic
    (0x915, 0x95f),     // Devanagari with nukta
    (0x9be, 0x9d7),     // Bengali vowel signs
    (0xb47, 0xb57),     // Oriya
    (0xbc6, 0xbd7),     // Tamil
    (0xcbf, 0xcd6),     // Kannada
    (0xd46, 0xd57),     // Malayalam
    (0xdd9, 0xddf),     // Sinhala
    (0xe30, 0xe4d),     // Thai, sara am
    (0xf40, 0xf83),     // Tibetan
    (0x1025, 0x1039),   // Myanmar
    (0x1100, 0x11ff),   // jamo
    (0x1b05, 0x1b43),   // Balinese
    (0x1dc0, 0x1eff),   // marks, Latin
    (0x1f00, 0x1fff),   // Greek with accents
    (0x2000, 0x206f),   // spaces, dashes, quotes
    (0x2070, 0x209c),   // superscripts
    (0x20d0, 0x20f0),   // marks for symbols
    (0x2100, 0x218b),   // letters, fractions
    (0x222a, 0x226f),   // operators
    (0x2460, 0x24ff),   // in circles
    (0x2f00, 0x2fd5),   // radicals
    (0x3000, 0x30ff),   // kana
    (0x3131, 0x33ff),   // compatibility jamo, squares
    (0xac00, 0xac60),   // Hangul syllables
    (0xf900, 0xfad9),   // compatibility ideographs
    (0xfb00, 0xfdff),   // ligatures, Arabic forms
    (0xfe20, 0xffee),   // half marks, small and wide forms, U+FF9E
    (0x11080, 0x110bc), // Kaithi
    (0x114b0, 0x114c3), // Tirhuta
    (0x1d15e, 0x1d1ad), // notes
    (0x1d400, 0x1d6a5), // mathematical letters
    (0x2f800, 0x2fa1d), // more compatibility ideographs
];

/// Whole pieces that are worth more than chance.
const PIECES: [&str; 16] = [
    "e\u{301}",
    "\u{fb01}",
    "\u{fb03}",
    "\u{ff21}\u{ff22}",
    "\u{1100}\u{1161}\u{11a8}",
    "\u{ac00}\u{11a8}",
    "\u{915}\u{93c}",
    "\u{ff76}\u{ff9e}",
    "\u{bd}",
    "\u{201c}a\u{201d}",
    "a\u{323}\u{307}",
    "a\u{307}\u{323}",
    "\u{a0}\u{301}",
    "\r\n",
    " \t\n",
    "\u{1f468}\u{200d}\u{1f469}",
];

/// Xorshift, as in JavaScript.
struct Random(u32);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0 as usize % end
    }

    fn text(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..=self.below(6) {
            if self.below(4) == 0 {
                text.push_str(PIECES[self.below(PIECES.len())]);
            } else {
                let (first, last) = RANGES[self.below(RANGES.len())];
                let at = self.below((last - first) as usize + 1);
                text.push(char::from_u32(first + at as u32).expect("no range has surrogates"));
            }
        }
        text
    }
}

fn form(text: &str, number: usize) -> String {
    match number {
        0 => text.to_owned(),
        1 => text.nfc().collect(),
        2 => text.nfd().collect(),
        3 => text.nfkc().collect(),
        _ => text.nfkd().collect(),
    }
}

/// The span that an edit replaces, or why there is none.
fn outcome(random: &mut Random) -> String {
    let text = random.text();
    let (before, after) = (random.text(), random.text());
    let file = before + &form(&text, random.below(5)) + &after;
    let chars: Vec<char> = text.chars().collect();
    // Now and then a part of it.
    let start = if random.below(4) == 0 { random.below(chars.len()) } else { 0 };
    let end = if random.below(4) == 0 { start + 1 + random.below(chars.len() - start) } else { chars.len() };
    let old_text = form(&String::from_iter(&chars[start..end]), random.below(5));
    let edits = [Edit { old_text, new_text: "\u{10ffff}".into(), replace_all: false }];
    match apply_edits(file.as_bytes(), &edits, "f") {
        Err(error) => error.code.as_str().into(),
        Ok(applied) => {
            let new = String::from_utf8(applied.content).expect("text stays text");
            let start = new.find('\u{10ffff}').expect("it is new");
            format!("{start}..{}", file.len() + start + 4 - new.len())
        }
    }
}

#[test]
fn spans_of_the_third_tier() {
    let mut random = Random(0x9e37_79b9);
    let outcomes: Vec<String> = (0..CASES).map(|_| outcome(&mut random)).collect();
    let found = outcomes.iter().filter(|outcome| outcome.contains("..")).count();
    assert!((CASES / 2..CASES).contains(&found), "{found}");
    let lines: Vec<String> = outcomes.chunks(16).map(|line| line.join(" ")).collect();
    expect_file!["unicode.txt"].assert_eq(&(lines.join("\n") + "\n"));
}
