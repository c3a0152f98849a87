#![cfg(not(target_arch = "wasm32"))]
//! Properties of the edit matcher and of the diffs, with `git apply` as the judge of patches.

use std::collections::HashMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use tackroom::error::ErrorCode;
use tackroom::text::diff::{self, FileDiff};
use tackroom::text::edit::{Applied, Edit, Replacement, apply_edits};
use tackroom::text::encoding;
use tackroom::text::page;
use tackroom::text::truncate::Limits;
use unicode_normalization::UnicodeNormalization;

/// Bytes that are mostly about line breaks, with some that no text has.
fn file() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => Just(&b"a"[..]), 3 => Just(&b"b"[..]), 3 => Just(&b"\n"[..]), 3 => Just(&b"\r\n"[..]),
        2 => Just(&b"\r"[..]), 1 => Just(&b"\xff"[..]), 1 => Just(&b"\0"[..]),
        1 => Just("\u{feff}".as_bytes()), 1 => Just("é".as_bytes()),
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

/// Text of LF, CRLF and mixed lines, with and without a final break.
fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![Just("a"), Just("b"), Just("c d"), Just("é"), Just(""), Just("\t-+ \\")];
    let ending = prop_oneof![6 => Just("\n"), 2 => Just("\r\n"), 1 => Just("\r")];
    (prop::collection::vec((word.clone(), ending), 0..40), word)
        .prop_map(|(lines, last)| lines.iter().map(|(a, b)| format!("{a}{b}")).collect::<String>() + last)
}

fn edit(replace_all: bool) -> impl Strategy<Value = Edit> {
    ("[ab\r\n]{1,4}", "[abc\r\n]{0,4}").prop_map(move |(old_text, new_text)| Edit {
        old_text,
        new_text,
        replace_all,
    })
}

/// What is between the spans is the same before and after, and is all there is.
fn assert_only_spans_changed(before: &[u8], applied: &Applied) {
    let (mut old, mut new) = (0, 0);
    for Replacement { range, text, .. } in &applied.replacements {
        let kept = &before[old..range.start];
        assert_eq!(kept, &applied.content[new..new + kept.len()]);
        new += kept.len();
        assert_eq!(text, &applied.content[new..new + text.len()]);
        new += text.len();
        old = range.end;
        for at in [range.start, range.end].into_iter().filter(|_| !encoding::detect(before).is_utf16()) {
            assert!(at == 0 || before.get(at - 1..at + 1) != Some(b"\r\n"), "a CRLF was split");
        }
    }
    assert_eq!(before[old..], applied.content[new..]);
}

fn positions(text: &[u8], sought: &[u8]) -> usize {
    text.windows(sought.len()).filter(|window| *window == sought).count()
}

fn with_lf(text: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(text).replace("\r\n", "\n").replace('\r', "\n").into_bytes()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn one_edit_is_placed_as_counting_says(before in file(), edit in edit(false)) {
        let body = before.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&before);
        let old = edit.old_text.as_bytes();
        let count = match positions(body, old) {
            0 => positions(&with_lf(body), &with_lf(old)),
            exact => exact,
        };
        match apply_edits(&before, std::slice::from_ref(&edit), "f") {
            Ok(applied) => {
                prop_assert_eq!(count, 1);
                assert_only_spans_changed(&before, &applied);
            }
            Err(error) => match error.code {
                ErrorCode::NoMatch => prop_assert_eq!(count, 0),
                ErrorCode::NoChange => prop_assert_eq!(count, 1),
                ErrorCode::Ambiguous => {
                    let head = format!("Found {count} occurrences of the text in f");
                    prop_assert!(error.message.starts_with(&head), "{}", error.message);
                }
                code => prop_assert!(false, "{}", code),
            },
        }
    }

    #[test]
    fn bytes_outside_the_spans_stay(before in file(), edits in prop::collection::vec(edit(true), 1..3)) {
        match apply_edits(&before, &edits, "f") {
            Ok(applied) => assert_only_spans_changed(&before, &applied),
            Err(error) => prop_assert!(error.message.len() <= 2048),
        }
    }

    #[test]
    fn a_fuzzy_match_is_where_segments_say(
        before in prop::collection::vec(look_alike_piece(), 0..14),
        old in prop::collection::vec(look_alike_text(), 1..5),
        replace_all in any::<bool>(),
    ) {
        let (before, old_text) = (before.concat(), old.concat());
        let edit = Edit { old_text, new_text: "N".into(), replace_all };
        let expected = match strict(&before, edit.old_text.as_bytes()) {
            spans if spans.is_empty() => fuzzy(&before, &edit.old_text),
            spans => spans,
        };
        let applied = apply_edits(&before, std::slice::from_ref(&edit), "f");
        match applied {
            Ok(applied) => {
                assert_only_spans_changed(&before, &applied);
                let found: Vec<_> = applied.replacements.iter().map(|one| one.range.clone()).collect();
                prop_assert!(replace_all || expected.len() == 1);
                prop_assert_eq!(found, from_left_to_right(expected));
            }
            Err(error) if expected.is_empty() => prop_assert_eq!(error.code, ErrorCode::NoMatch),
            Err(error) => {
                prop_assert!(!replace_all && expected.len() > 1, "{expected:?} {error}");
                let head = format!("Found {} occurrences of the text in f", expected.len());
                prop_assert!(error.message.starts_with(&head), "{}", error.message);
            }
        }
    }

    #[test]
    fn any_form_of_a_text_leads_back_to_it(
        around in (unicode(), unicode()),
        text in unicode(),
        form in 0..4,
    ) {
        let text = format!("⟦{text}⟧");
        let before = format!("{}|{text}|{}", around.0, around.1);
        let old_text = match form {
            0 => text.nfd().collect(),
            1 => text.nfkd().collect(),
            2 => text.nfkc().collect(),
            _ => text.nfkd().flat_map(|c| c.to_string().nfc().collect::<Vec<_>>()).collect::<String>(),
        };
        let edit = Edit { old_text, new_text: String::new(), replace_all: false };
        let applied = apply_edits(before.as_bytes(), &[edit], "f").unwrap();
        let bom = if before.starts_with('\u{feff}') { 3 } else { 0 };
        let start = around.0.len() + 1;
        prop_assert_eq!(&applied.replacements[0].range, &(start..start + text.len()), "{} {:?}", bom, before);
    }

    #[test]
    fn what_read_shows_can_be_edited(
        words in prop::collection::vec(("[ab “é🙂\t]{0,4}", 0..3usize), 1..8),
        endings in prop_oneof![Just([0, 0, 0]), Just([1, 1, 1]), Just([2, 2, 2]), Just([0, 1, 2])],
        encoding in 0..4,
        offset in 1..6u64,
        limit in 1..6u64,
        cut in (0..20usize, 0..20usize),
    ) {
        let ending = |nth: usize| ["\n", "\r\n", "\r"][endings[nth]];
        let text: String = words.iter().map(|(word, nth)| format!("{word}{}", ending(*nth))).collect();
        let before = encoded(&text, encoding);
        let shown = encoding::decode(&before).text.into_owned();
        prop_assert_eq!(&shown, &text);
        let range = page::Range { offset, limit: Some(limit), column: None, limits: Limits::default() };
        let Ok(page) = page::page(&before, &range) else { return Ok(()) };
        let chars: Vec<char> = page.text.chars().collect();
        let (from, to) = (cut.0.min(chars.len()), chars.len().saturating_sub(cut.1));
        let piece: String = chars[from.min(to)..to].iter().collect();
        for old_text in [page.text.clone(), piece] {
            if old_text.is_empty() {
                continue;
            }
            let occurrences = positions(shown.as_bytes(), old_text.as_bytes());
            let edit = Edit { old_text: old_text.clone(), new_text: "NEW".into(), replace_all: false };
            match apply_edits(&before, &[edit], "f") {
                Ok(applied) => {
                    prop_assert_eq!(occurrences, 1);
                    assert_only_spans_changed(&before, &applied);
                    // A break that the cut went through is one unit.
                    let whole = shown.replacen(&old_text, "NEW", 1);
                    let now = encoding::decode(&applied.content).text.into_owned();
                    let torn = old_text.starts_with('\n') || old_text.ends_with('\r');
                    prop_assert!(torn || now == whole, "{now:?} {whole:?}");
                }
                Err(error) => {
                    prop_assert_eq!(error.code, ErrorCode::Ambiguous);
                    prop_assert!(occurrences > 1);
                }
            }
        }
    }

    #[test]
    fn nothing_panics_and_nothing_else_changes(
        before in any_bytes(),
        edits in prop::collection::vec((0..1000usize, 0..40usize, 0..6, unicode(), any::<bool>()), 1..6),
    ) {
        let shown = encoding::decode(&before).text;
        let chars: Vec<char> = shown.chars().collect();
        let edits: Vec<_> = edits
            .into_iter()
            .map(|(place, length, kind, text, replace_all)| {
                let start = chars.len() * place / 1000;
                let piece: String = chars[start..(start + length).min(chars.len())].iter().collect();
                let old_text = match kind {
                    0 => text.clone(),
                    1 => piece.nfkd().collect(),
                    2 => format!("12\t{piece}\\n"),
                    3 => piece.replace(' ', "\t") + " ",
                    _ => piece,
                };
                Edit { old_text, new_text: text, replace_all }
            })
            .collect();
        match apply_edits(&before, &edits, "f") {
            Ok(applied) => {
                assert_only_spans_changed(&before, &applied);
                let bom = encoding::detect(&before).bom();
                prop_assert!(applied.content.starts_with(bom));
                let diff = diff::from_replacements("f", &before, &applied.content, &applied.replacements);
                prop_assert!(!diff.diff.is_empty() || encoding::detect(&before).is_utf16());
            }
            Err(error) => {
                let most = if edits.len() == 1 { 1024 } else { 2048 };
                prop_assert!(error.message.len() <= most, "{}", error.message);
            }
        }
    }

    #[test]
    fn an_error_is_short_whatever_is_sought(
        before in text(),
        old in "([0-9]{1,2}(\t|: |→))?(\\PC|\\\\n|\t|\n|[ab\u{a0}]){1,60}",
        times in 1..40usize,
    ) {
        let edit = |replace_all| Edit { old_text: old.repeat(times), new_text: String::new(), replace_all };
        if let Err(error) = apply_edits(before.as_bytes(), &[edit(false)], "f") {
            prop_assert!(error.message.len() <= 1024);
            prop_assert!(!error.message.ends_with('.'));
        }
    }

    #[test]
    fn the_order_of_disjoint_edits_does_not_matter(
        order in Just((0..8).collect::<Vec<usize>>()).prop_shuffle(),
        new in prop::collection::vec("[a“\r\n]{0,3}", 8),
        endings in prop::collection::vec(prop_oneof![Just(""), Just("\n"), Just(" \r\n")], 8),
        quote in prop::sample::select(vec!['"', '“']),
        encoding in 0..4,
    ) {
        let text: String =
            endings.iter().enumerate().map(|(n, ending)| format!("<{n}{quote}{ending}")).collect();
        let before = encoded(&text, encoding);
        let edits: Vec<_> = new
            .iter()
            .enumerate()
            .map(|(n, new)| Edit { old_text: format!("<{n}\""), new_text: new.clone(), replace_all: false })
            .collect();
        let shuffled: Vec<_> = order.iter().map(|&n| edits[n].clone()).collect();
        let one = apply_edits(&before, &edits, "f").unwrap();
        let other = apply_edits(&before, &shuffled, "f").unwrap();
        prop_assert_eq!(&one.content, &other.content);
        assert_only_spans_changed(&before, &one);
    }

    #[test]
    fn both_ways_to_a_diff_agree_on_the_lines(before in text(), spans in spans()) {
        let (after, replacements) = replaced(&before, &spans);
        let derived = diff::from_replacements("f", before.as_bytes(), &after, &replacements);
        let compared = diff::between("f", Some(before.as_bytes()), &after);
        let growth = |diff: &FileDiff| diff.lines_added as isize - diff.lines_removed as isize;
        prop_assert_eq!(growth(&derived), growth(&compared));
        prop_assert_eq!(derived.first_changed_line.is_some(), before.as_bytes() != after);
    }
}

/// Characters from every plane, with those that normalisation and the matcher care about in plenty.
fn unicode() -> impl Strategy<Value = String> {
    let c = prop_oneof![
        3 => any::<char>(),
        3 => prop::char::range('\u{300}', '\u{36f}'),
        2 => prop::char::range('\u{1100}', '\u{11ff}'),
        2 => prop::char::range('\u{ac00}', '\u{ac40}'),
        1 => prop::char::range('\u{900}', '\u{dff}'),
        1 => prop::char::range('\u{2000}', '\u{2070}'),
        1 => prop::char::range('\u{fb00}', '\u{fbff}'),
        1 => prop::char::range('\u{ff00}', '\u{ffef}'),
        1 => prop::char::range('\u{1d158}', '\u{1d172}'),
        1 => prop::char::range('\u{f900}', '\u{faff}'),
        2 => prop::char::range('\0', '\u{ff}'),
        2 => prop::sample::select(vec!['e', ' ', '\t', '\n', '\r', '½', 'ﬁ', '“', '\u{feff}', '\u{345}']),
    ];
    prop::collection::vec(c, 0..24).prop_map(|chars| chars.into_iter().collect())
}

/// Text, text with invalid bytes, UTF-16 of either kind with anything in it, noise.
fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let noise = || prop::collection::vec(any::<u8>(), 0..40);
    prop_oneof![
        3 => prop::collection::vec(unicode(), 0..6).prop_map(|parts| parts.concat().into_bytes()),
        3 => (unicode(), noise(), unicode()).prop_map(|(a, b, c)| [a.as_bytes(), &b, c.as_bytes()].concat()),
        2 => (unicode(), 1..3, noise()).prop_map(|(text, kind, noise)| [encoded(&text, kind), noise].concat()),
        1 => noise(),
        1 => (unicode(), 100..400usize).prop_map(|(text, times)| text.repeat(times).into_bytes()),
    ]
}

/// UTF-8, UTF-16LE, UTF-16BE or UTF-8 with a BOM.
fn encoded(text: &str, encoding: i32) -> Vec<u8> {
    let with_bom = format!("\u{feff}{text}");
    match encoding {
        1 => with_bom.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        2 => with_bom.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        3 => with_bom.into_bytes(),
        _ => text.into(),
    }
}

/// What the third tier is about, each with another form of it.
const LOOK_ALIKES: [&str; 22] = [
    "\"",
    "“",
    " ",
    "\u{a0}",
    "\t",
    "\n",
    "\r\n",
    "\r",
    "-",
    "—",
    "1",
    "1\u{2044}2",
    "½",
    "f",
    "ﬁ",
    "e",
    "\u{301}",
    "é",
    "\u{1100}",
    "\u{1161}",
    "\u{ac00}",
    "\u{fffd}",
];

fn look_alike_text() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&LOOK_ALIKES[..])
}

fn look_alike_piece() -> impl Strategy<Value = &'static [u8]> {
    prop_oneof![20 => look_alike_text().prop_map(str::as_bytes), 1 => Just(&b"\xff"[..]), 1 => Just(&b"\xe2\x80"[..])]
}

/// Where a text is in the first two tiers, overlapping positions too, CRLF as one unit.
fn strict(file: &[u8], old: &[u8]) -> Vec<Range<usize>> {
    let widened = |range: Range<usize>| {
        let inside = |at: usize| at > 0 && file.get(at - 1..at + 1) == Some(b"\r\n");
        range.start - usize::from(inside(range.start))..range.end + usize::from(inside(range.end))
    };
    let every = |file: &[u8], old: &[u8]| -> Vec<Range<usize>> {
        let ends = old.len()..file.len() + 1;
        ends.map(|end| end - old.len()..end).filter(|range| file[range.clone()] == *old).collect()
    };
    let exact = every(file, old);
    if !exact.is_empty() {
        return exact.into_iter().map(widened).collect();
    }
    // Each byte of the text with LF alone, and where it comes from.
    let units = |text: &[u8]| -> Vec<(u8, Range<usize>)> {
        let mut units = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let length = if text[at..].starts_with(b"\r\n") { 2 } else { 1 };
            units.push((if text[at] == b'\r' { b'\n' } else { text[at] }, at..at + length));
            at += length;
        }
        units
    };
    let (file, old) = (units(file), units(old));
    let bytes = |units: &[(u8, Range<usize>)]| -> Vec<u8> { units.iter().map(|unit| unit.0).collect() };
    let back = |range: Range<usize>| file[range.start].1.start..file[range.end - 1].1.end;
    every(&bytes(&file), &bytes(&old)).into_iter().map(back).collect()
}

/// Where a text is in the third tier, by its definition and slowly.
fn fuzzy(file: &[u8], old: &str) -> Vec<Range<usize>> {
    let blank = |text: &str| matches!(text, " " | "\t");
    let segments = |text: &[u8]| -> Vec<(Range<usize>, String)> {
        let mut segments: Vec<(Range<usize>, String)> = Vec::new();
        let mut from = 0;
        for chunk in text.utf8_chunks() {
            let mut fresh = true;
            for (at, c) in chunk.valid().char_indices() {
                let (start, end) = (from + at, from + at + c.len_utf8());
                let last = segments.last_mut().filter(|_| !fresh);
                fresh = false;
                match last {
                    Some(last) if c == '\n' && last.1 == "\r" => (last.0.end, last.1) = (end, "\n".into()),
                    Some(last) if matches!(c, '\u{301}' | '\u{1161}') && !matches!(&*last.1, "\n" | "\r") => {
                        last.0.end = end;
                        last.1.push(c);
                    }
                    _ => segments.push((start..end, c.to_string())),
                }
            }
            from += chunk.valid().len();
            if !chunk.invalid().is_empty() {
                segments.push((from..from + chunk.invalid().len(), "INVALID".into()));
                from += chunk.invalid().len();
            }
        }
        for (_, text) in &mut segments {
            let folded: String = text.nfkc().collect();
            *text = folded.replace('“', "\"").replace('—', "-").replace('\r', "\n");
        }
        segments
    };
    // Blanks at a line's end count for nothing.
    let at_line_end = |segments: &[(Range<usize>, String)], at: usize| {
        blank(&segments[at].1)
            && segments[at..].iter().find(|next| !blank(&next.1)).is_none_or(|next| next.1 == "\n")
    };
    let wanted = segments(old.as_bytes());
    let tail = wanted.iter().rev().take_while(|last| blank(&last.1)).count();
    let wanted_text: String = (0..wanted.len() - tail)
        .filter(|&at| !at_line_end(&wanted, at))
        .map(|at| wanted[at].1.as_str())
        .collect();
    if wanted_text.trim().is_empty() {
        return Vec::new();
    }
    let tail_text: String = wanted[wanted.len() - tail..].iter().map(|last| last.1.as_str()).collect();
    let leading = at_line_end(&wanted, 0);
    let all = segments(file);
    let kept: Vec<usize> = (0..all.len()).filter(|&at| !at_line_end(&all, at)).collect();
    let mut found = Vec::new();
    for from in 0..kept.len() {
        let mut text = String::new();
        for to in from..kept.len() {
            text.push_str(&all[kept[to]].1);
            let with_tail = text == format!("{wanted_text}{tail_text}");
            let at_end = kept.get(to + 1).is_none_or(|&next| all[next].1 == "\n");
            if with_tail || (text == wanted_text && at_end) {
                let start = match leading {
                    true if from == 0 => 0,
                    true => all[kept[from - 1]].0.end,
                    false => all[kept[from]].0.start,
                };
                found.push(start..all[kept[to]].0.end);
                break;
            }
        }
    }
    found
}

fn from_left_to_right(spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut taken: Vec<Range<usize>> = Vec::new();
    for span in spans {
        if taken.last().is_none_or(|last| span.start >= last.end) {
            taken.push(span);
        }
    }
    taken
}

/// Places in thousandths of the file, lengths and new texts.
fn spans() -> impl Strategy<Value = Vec<(usize, usize, String)>> {
    prop::collection::vec((0..1000usize, 0..6usize, "[abx\r\n]{0,5}"), 1..4)
}

/// Replaces any spans, whatever an edit could ask for.
fn replaced(before: &str, spans: &[(usize, usize, String)]) -> (Vec<u8>, Vec<Replacement>) {
    let at_char =
        |at: usize| (0..=at.min(before.len())).rev().find(|&at| before.is_char_boundary(at)).unwrap();
    let mut ranges: Vec<_> = spans
        .iter()
        .map(|(place, length, text)| {
            let start = at_char(before.len() * place / 1000);
            (start..at_char(start + length), text.as_bytes().to_vec())
        })
        .collect();
    ranges.sort_by_key(|(range, _)| (range.start, range.end));
    let (mut after, mut replacements, mut from) = (Vec::new(), Vec::new(), 0);
    for (edit, (range, text)) in ranges.into_iter().enumerate() {
        if range.start < from {
            continue;
        }
        after.extend_from_slice(&before.as_bytes()[from..range.start]);
        after.extend_from_slice(&text);
        from = range.end;
        replacements.push(Replacement { range, text, edit });
    }
    after.extend_from_slice(&before.as_bytes()[from..]);
    (after, replacements)
}

/// A directory of its own, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tackroom-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn git(directory: &Path) -> Command {
    let mut git = Command::new("git");
    // Nobody's settings, and no repository around the directory.
    git.current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", if cfg!(windows) { "NUL" } else { "/dev/null" })
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CEILING_DIRECTORIES", directory.parent().unwrap())
        .args(["-c", "core.autocrlf=false"]);
    git
}

/// Contents before (if there was a file) and after, and the patch between them.
struct Sample {
    path: String,
    before: Option<Vec<u8>>,
    after: Vec<u8>,
    patch: String,
}

/// Applies all patches at once and compares every file.
fn git_apply(directory: &Path, samples: &[Sample]) {
    for Sample { path, before, .. } in samples {
        let file = directory.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        if let Some(before) = before {
            fs::write(&file, before).unwrap();
        }
    }
    let patches: String = samples.iter().map(|sample| sample.patch.as_str()).collect();
    fs::write(directory.join("the.patch"), &patches).unwrap();
    let output =
        git(directory).args(["apply", "--whitespace=nowarn", "the.patch"]).output().expect("git was there");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git apply: {said}\n{patches}");
    for Sample { path, before, after, patch } in samples {
        let found =
            fs::read(directory.join(path)).unwrap_or_else(|error| panic!("{path:?}: {error}\n{patch}"));
        assert!(found == *after, "{path:?} {before:?}\n{patch}");
    }
}

#[test]
fn git_takes_the_patches() {
    let scratch = Scratch::new("git-apply");
    if git(&scratch.0).arg("--version").output().is_err() {
        eprintln!("skipped: there is no git");
        return;
    }
    let mut names = vec!["f", "sub dir/a b.txt", "ünï/é 日本.txt", "-dash", "a  b", "$x'y"];
    if cfg!(unix) {
        names.extend([
            "q\"uote",
            "q \"uo\\te",
            "tab\there",
            "new\nline",
            "ctrl\u{1}\u{7f}x",
            " lead",
            "trail ",
        ]);
    }
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut used: HashMap<&str, usize> = HashMap::new();
    let mut samples = Vec::new();
    for round in 0..170 {
        let sample = (text(), spans(), text(), edit(true)).new_tree(&mut runner).unwrap().current();
        let (before, spans, other, edit) = sample;
        let mut add =
            |kind: &'static str, before: Option<&[u8]>, after: &[u8], diff: &dyn Fn(&str) -> FileDiff| {
                // A name that holds the number too, so that no file has two patches.
                let path = format!("{kind} {round}/{}", names[round % names.len()]);
                let patch = diff(&path).patch.unwrap();
                if !patch.is_empty() {
                    *used.entry(kind).or_default() += 1;
                    samples.push(Sample {
                        path,
                        before: before.map(<[u8]>::to_vec),
                        after: after.to_vec(),
                        patch,
                    });
                }
            };
        let old = before.as_bytes();
        let (after, replacements) = replaced(&before, &spans);
        add("spans", Some(old), &after, &|path| diff::from_replacements(path, old, &after, &replacements));
        let new = other.as_bytes();
        add("contents", Some(old), new, &|path| diff::between(path, Some(old), new));
        if let Ok(applied) = apply_edits(old, &[edit], "f") {
            add("edits", Some(old), &applied.content, &|path| {
                diff::from_replacements(path, old, &applied.content, &applied.replacements)
            });
        }
        if round < 2 * names.len() {
            add("created", None, new, &|path| diff::between(path, None, new));
            add("created empty", None, b"", &|path| diff::between(path, None, b""));
            add("filled", Some(b""), b"a\n", &|path| diff::between(path, Some(b""), b"a\n"));
            add("emptied", Some(b"a\nb"), b"", &|path| diff::between(path, Some(b"a\nb"), b""));
        }
    }
    // A new empty file is nothing but a header, which plain patches after it would be taken into.
    samples.sort_by_key(|sample| sample.before.is_none());
    git_apply(&scratch.0, &samples);
    assert!(
        samples.len() >= 500 && used["spans"] > 120 && used["contents"] > 150 && used["edits"] > 50,
        "{used:?}"
    );
}
