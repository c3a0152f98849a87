//! The cases of the edit matcher, by their numbers.

use super::*;
use crate::error::ErrorCode;

fn edit(old: &str, new: &str) -> Edit {
    Edit { old_text: old.to_string(), new_text: new.to_string(), replace_all: false }
}

fn all(old: &str, new: &str) -> Edit {
    Edit { replace_all: true, ..edit(old, new) }
}

fn run(file: impl AsRef<[u8]>, edits: &[Edit]) -> Vec<u8> {
    apply_edits(file.as_ref(), edits, "f").unwrap().content
}

fn text(file: &str, edits: &[Edit]) -> String {
    String::from_utf8(run(file, edits)).unwrap()
}

fn fails(file: impl AsRef<[u8]>, edits: &[Edit]) -> ToolError {
    let error = apply_edits(file.as_ref(), edits, "f").unwrap_err();
    assert!(error.message.len() <= 2048, "{}", error.message);
    assert!(!error.message.ends_with('.'), "{}", error.message);
    error
}

#[test]
fn e01_bytes_elsewhere_stay() {
    let file = b"const x=1;\n// caf\xe9 note\n";
    assert_eq!(run(file, &[edit("const x=1;", "const x=2;")]), b"const x=2;\n// caf\xe9 note\n");
}

#[test]
fn e03_new_text_is_literal() {
    let new = r#"log("$& $1 $$ $` $' ${x} \1");"#;
    assert_eq!(text("log(\"done\");\n", &[edit("log(\"done\");", new)]), format!("{new}\n"));
}

#[test]
fn e05_e07_e08_e44_endings() {
    assert_eq!(text("a\r\nb\nc", &[edit("c", "C")]), "a\r\nb\nC");
    assert_eq!(text("a\rb\rc", &[edit("a\nb", "A\nB")]), "A\rB\rc");
    assert_eq!(text("a\r\nb\r\n", &[edit("a\nb", "A\nB")]), "A\r\nB\r\n");
    assert_eq!(text("a\r\nb\nc\r\n", &[edit("a\nb\nc", "A\nB\nC")]), "A\r\nB\nC\r\n");
    assert_eq!(text("a\r\nb\nc\r\n", &[edit("a\nb\nc", "A\nB\nB2\nC")]), "A\r\nB\nB2\nC\r\n");
}

#[test]
fn e10_the_bom_stays_once() {
    let file = "\u{feff}using System;\r\nclass A {}\r\n";
    let want = "\u{feff}using System.IO;\r\nclass A {}\r\n";
    for (bom_old, bom_new) in [("", ""), ("\u{feff}", ""), ("", "\u{feff}"), ("\u{feff}", "\u{feff}")] {
        let old = format!("{bom_old}using System;");
        let new = format!("{bom_new}using System.IO;");
        assert_eq!(text(file, &[edit(&old, &new)]), want);
    }
    assert_eq!(text("x", &[edit("\u{feff}x", "\u{feff}y")]), "y");
    let applied = apply_edits(file.as_bytes(), &[edit("using", "USING")], "f").unwrap();
    assert_eq!(applied.replacements[0].range, 3..8);
}

#[test]
fn e17_empty_old_text() {
    let error = fails("abc", &[edit("", "X")]);
    assert_eq!(error.message, "oldText must not be empty in f");
    assert_eq!(error.code, ErrorCode::InvalidArguments);
    let error = fails("abc", &[edit("a", "X"), edit("\u{feff}", "X")]);
    assert_eq!(error.message, "edits[1].oldText must not be empty in f");
    assert_eq!(fails("abc", &[]).code, ErrorCode::InvalidArguments);
}

#[test]
fn e20_overlapping_positions_are_ambiguous() {
    let error = fails("aaa\n", &[edit("aa", "b")]);
    assert_eq!(error.code, ErrorCode::Ambiguous);
    assert_eq!(
        error.message,
        "Found 2 occurrences of the text in f, at line 1:\n1: aaa\n\
         oldText must be in the file exactly once: add surrounding lines to make it unique, or set \
         replaceAll to replace every occurrence"
    );
    assert_eq!(text("aaa\n", &[all("aa", "b")]), "ba\n");
}

#[test]
fn ambiguous_texts_are_listed() {
    let file = "x\n\tfoo(1)\ny\nfoo(2)\r\nz\nfoo(3)\n";
    let error = fails(file, &[edit("x", "X"), edit("foo", "bar")]);
    assert!(
        error.message.starts_with(
            "Found 3 occurrences of edits[1] in f, at lines 2, 4, 6:\n2: →foo(1)\n4: foo(2)\n6: foo(3)\n"
        ),
        "{}",
        error.message
    );
    let error = fails("ab\n".repeat(10_000), &[edit("ab", "c")]);
    assert!(error.message.starts_with("Found 10000 occurrences of the text in f, at lines 1, 2, 3,"));
    assert!(error.message.contains("16 and further:"), "{}", error.message);
}

#[test]
fn e21_no_change() {
    let error = fails("foo\n", &[edit("foo", "foo")]);
    assert_eq!(error.message, "No changes made to f: oldText and newText are the same");
    assert_eq!(error.code, ErrorCode::NoChange);
    // The file's endings win, so nothing is left to change.
    assert!(fails("a\r\nb", &[edit("a\r\nb", "a\nb")]).message.starts_with("No changes made to f: newText"));
    // Nor where one edit undoes another.
    assert_eq!(fails("ab", &[edit("a", ""), edit("b", "ab")]).code, ErrorCode::NoChange);
    let applied = apply_edits(b"foo bar", &[edit("foo", "foo"), edit("bar", "baz")], "f").unwrap();
    assert_eq!(applied.content, b"foo baz");
    assert_eq!(applied.unchanged, [0]);
    assert_eq!(applied.replacements, [Replacement { range: 4..7, text: b"baz".to_vec(), edit: 1 }]);
}

#[test]
fn e23_overlap_and_adjacency() {
    let error = fails("abc\n", &[edit("bc", "2"), edit("ab", "1")]);
    assert_eq!(error.code, ErrorCode::Overlap);
    assert!(
        error.message.starts_with("edits[0] and edits[1] overlap in f, at line 1\n"),
        "{}",
        error.message
    );
    assert_eq!(text("ab\n", &[edit("a", "1"), edit("b", "2")]), "12\n");
    assert_eq!(text("ab\n", &[edit("b", "2"), edit("a", "1")]), "12\n");
    // A span inside another, and one beyond it.
    let error = fails("abcdef", &[edit("abcdef", "1"), edit("bc", "2"), edit("ef", "3")]);
    assert!(error.message.contains("edits[0] and edits[2] overlap in f"), "{}", error.message);
    // Both want the same CRLF.
    assert_eq!(fails("a\r\nb", &[edit("a\r", "1"), edit("\nb", "2")]).code, ErrorCode::Overlap);
    let many: Vec<_> = (0..200).map(|_| edit("a", "b")).collect();
    fails("a", &many);
}

#[test]
fn e24_e25_e26_e34() {
    assert_eq!(text("a\nb\n", &[edit("a", "b"), edit("b", "c")]), "b\nc\n");
    assert_eq!(text("x=1\n", &[edit("x=1", "x=1\ny=1")]), "x=1\ny=1\n");
    assert_eq!(text("a\nb", &[edit("b", "c")]), "a\nc");
    assert_eq!(text("a\0b\nfoo\n", &[edit("foo", "bar")]), "a\0b\nbar\n");
}

#[test]
fn e15_e41_tiers_and_replace_all() {
    let file = "const a = \"x\";\nconst b = “x”;\n";
    assert_eq!(text(file, &[edit("\"x\"", "\"y\"")]), "const a = \"y\";\nconst b = “x”;\n");
    let applied = apply_edits(b"alpha\r\nbeta\r\ngamma", &[all("alpha\nbeta", "ALPHA\nBETA")], "f").unwrap();
    assert_eq!(applied.content, b"ALPHA\r\nBETA\r\ngamma");
    assert_eq!(applied.replacements.len(), 1);
}

#[test]
fn e42_crlf_is_one_unit() {
    assert_eq!(text("a\r\nb", &[edit("\nb", "\nB")]), "a\r\nB");
    assert_eq!(text("a\r\nb", &[edit("a\r", "A\r")]), "A\r\nb");
    assert_eq!(text("a\r\nb", &[edit("\n", "X\n")]), "aX\r\nb");
    assert_eq!(text("a\r\nb", &[edit("\n", " ")]), "a b");
    assert_eq!(text("a\r\nb\r\n", &[all("\n", ";")]), "a;b;");
    assert_eq!(text("a\r\n\r\nb", &[edit("\n\n", "\n")]), "a\r\nb");
}

#[test]
fn e18_e28_e37_the_closest_block() {
    assert_eq!(fails("a", &[edit("  ", "X")]).code, ErrorCode::NoMatch);
    let error = fails(
        "\tif x:\n\t\treturn 1\n",
        &[edit("    if x:\n        return 1", "    if x:\n        return 2")],
    );
    assert_eq!(
        error.message,
        "Could not find the exact text in f\nThe closest block is lines 1-2:\n1: →if x:\n2: →→return 1\n\
         It differs only in blanks. First at line 1, where oldText has:     if x:\n\
         Copy oldText from the file as it is, blanks included (→ is a tab)"
    );
    let file = "function foo(a, b) {\n  return a+b;\n}\n";
    let error = fails(file, &[edit("function foo(a,b) {\n  return a + b;\n}", "")]);
    for line in ["\n1: function foo(a, b) {\n", "\n2:   return a+b;\n", "\n3: }\n"] {
        assert!(error.message.contains(line), "{}", error.message);
    }
    let file = "start\none\ntwo\nthree\nend\n";
    let error = fails(file, &[edit("end", "e"), edit("one\n2\nthree", "x")]);
    assert!(
        error.message.starts_with(
            "Could not find edits[1] in f\nThe closest block is lines 2-4:\n2: one\n3: two\n4: three\n\
             First difference: at line 3, where oldText has: 2\n"
        ),
        "{}",
        error.message
    );
}

#[test]
fn e30_line_numbers() {
    let file = "alpha\nbeta\n";
    for old in ["2\tbeta", "     2→beta", "2: beta", "1\talpha\n2\tbeta\n"] {
        let error = fails(file, &[edit(old, "2\tBETA")]);
        assert!(
            error.message.contains("line-number prefix: without it the text is at line "),
            "{}",
            error.message
        );
    }
    assert!(!fails(file, &[edit("12345678 beta", "x")]).message.contains("prefix"));
    // Not found without the number either: said, but not of a file that has such lines itself.
    let message = fails(file, &[edit("2\tbetta", "x")]).message;
    assert!(message.contains("prefix.") && message.contains("\n2: beta\n"), "{message}");
    assert!(!fails("ports:\n  80: 8080\n", &[edit("  80: 8081", "x")]).message.contains("prefix"));
}

#[test]
fn e40_literal_backslash_n() {
    let error = fails("a\nb\n", &[edit("a\\nb", "x")]);
    assert!(error.message.contains("a literal \\n (a backslash and an n) where line 1"), "{}", error.message);
    assert!(fails("a\nb\n", &[edit("q\\nz", "x")]).message.contains("literal \\n"));
    assert!(!fails("p(\"\\n\")\n", &[edit("q(\"\\n\")", "x")]).message.contains("literal"));
}

#[test]
fn a_missing_final_newline_is_named() {
    let error = fails("a\r\nlast", &[edit("a\nlast\n", "x")]);
    assert!(error.message.contains("without a final newline"), "{}", error.message);
    let error = fails("one two\nthree\n", &[edit("\n\none two\n", "x")]);
    assert!(error.message.contains("oldText begins at line 1"), "{}", error.message);
    assert!(fails("", &[edit("a", "b")]).message.contains("the file is empty"));
}

#[test]
fn every_failing_edit_is_named() {
    let edits: Vec<_> =
        (0..6).map(|n| edit(&format!("missing text number {n}\n").repeat(200), "x")).collect();
    let message = fails("missing text number\n".repeat(300), &edits).message;
    for n in 0..6 {
        assert!(message.contains(&format!("edits[{n}]")), "{message}");
    }
    let many: Vec<_> = (0..5000).map(|n| edit(&format!("é{n}"), "x")).collect();
    assert!(fails("é\n", &many).message.contains("more"));
    let path = "p/".repeat(2000);
    let error = apply_edits(b"x", &[edit("y", "z")], &path).unwrap_err();
    assert!(error.message.len() <= 1024);
    let long = edit(&"long line ".repeat(5000), "x");
    assert!(fails("long line ".repeat(4999), &[long]).message.len() <= 1024);
}

#[test]
fn too_much_new_text_is_refused() {
    let error = fails("a".repeat(2000), &[all("a", &"b".repeat(200_000))]);
    assert_eq!(error.code, ErrorCode::InvalidArguments);
}

#[test]
fn e12_e13_only_the_span_changes() {
    let file = "untouched   \nreplace me   \nafter\ntrailing   \n";
    let want = "untouched   \nDONE\nDONE2\ntrailing   \n";
    assert_eq!(text(file, &[edit("replace me\nafter", "DONE\nDONE2")]), want);
    assert_eq!(
        text(&file.replace('\n', "\r\n"), &[edit("replace me\nafter", "DONE\nDONE2")]),
        want.replace('\n', "\r\n")
    );
    assert_eq!(
        text(&file.replace('\n', "\r"), &[edit("replace me\nafter", "DONE\nDONE2")]),
        want.replace('\n', "\r")
    );
    let edits = [edit("const a = \"x\";", "const a = \"y\";")];
    assert_eq!(text("const a = “x”; // — ½\n", &edits), "const a = \"y\"; // — ½\n");
    // Elsewhere, a blank at the end of a line and a byte that is no text stay too.
    assert_eq!(
        run(b"a\xe9 \nsay \xe2\x80\x9chi\xe2\x80\x9d \n", &[edit("say \"hi\"", "x")]),
        b"a\xe9 \nx \n"
    );
}

#[test]
fn e18_blanks_match_only_as_they_are() {
    for (file, old) in [("a", "  "), ("ab\n", "   "), ("a\u{a0}b", " "), ("a \n \nb", "\n\n"), ("a", "\n")] {
        assert_eq!(fails(file, &[edit(old, "X")]).code, ErrorCode::NoMatch, "{file:?} {old:?}");
    }
    assert_eq!(text("a  b", &[edit("  ", "X")]), "aXb");
}

#[test]
fn e31_e32_forms_and_spaces() {
    assert_eq!(text("e\u{301}te\u{301}\n", &[edit("\u{e9}t\u{e9}", "X")]), "X\n");
    assert_eq!(text("\u{e9}t\u{e9}\n", &[edit("e\u{301}te\u{301}", "X")]), "X\n");
    for space in ['\u{a0}', '\u{2009}', '\u{202f}', '\u{205f}', '\u{3000}'] {
        assert_eq!(text(&format!("a{space}b\n"), &[edit("a b", "a c")]), "a c\n");
        assert_eq!(text("a b\n", &[edit(&format!("a{space}b"), "a c")]), "a c\n");
    }
}

#[test]
fn e28_indentation_is_never_guessed() {
    assert_eq!(fails("\tx\n", &[edit("    x", "    y")]).code, ErrorCode::NoMatch);
    assert_eq!(fails("a  b\n", &[edit("a b", "c")]).code, ErrorCode::NoMatch);
}

#[test]
fn look_alikes_are_counted_and_replaced() {
    let file = "‘a’\r\n‘a’\r\n";
    assert_eq!(fails(file, &[edit("'a'", "b")]).code, ErrorCode::Ambiguous);
    assert_eq!(text(file, &[all("'a'", "b\nc")]), "b\r\nc\r\nb\r\nc\r\n");
    // One edit in this tier and one in the first.
    assert_eq!(text("‘a’ 'b'", &[edit("'a'", "1"), edit("'b'", "2")]), "1 2");
    assert_eq!(fails("‘ab’", &[edit("'a", "1"), edit("ab", "2")]).code, ErrorCode::Overlap);
    // The same text is no change, whatever it matches.
    assert_eq!(fails("‘a’", &[edit("'a'", "'a'")]).code, ErrorCode::NoChange);
}

fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    format!("\u{feff}{text}").encode_utf16().flat_map(bytes).collect()
}

#[test]
fn e33_utf16() {
    let applied = apply_edits(b"\xff\xfeh\0e\0y\0\n\0", &[edit("hey", "HEY")], "f").unwrap();
    assert_eq!(applied.content, b"\xff\xfeH\0E\0Y\0\n\0");
    assert_eq!(applied.replacements, [Replacement { range: 2..8, text: b"H\0E\0Y\0".to_vec(), edit: 0 }]);
    for bytes in [u16::to_le_bytes as fn(u16) -> [u8; 2], u16::to_be_bytes] {
        let file = utf16("a\r\n“é”🙂 \r\nb\r\n", bytes);
        let edits = [edit("\u{feff}\"e\u{301}\"🙂\nb", "🙃\nB\n"), edit("a", "€")];
        assert_eq!(run(&file, &edits), utf16("€\r\n🙃\r\nB\r\n\r\n", bytes));
        let error = fails(&file, &[edit("“e”🙂", "x")]);
        assert!(error.message.contains("\n2: “é”🙂·\n"), "{}", error.message);
    }
    // An unpaired unit and an odd byte stay.
    let file = b"\xfe\xff\0a\xd8\x3d\0b\0\n\0c\xdc\0\0";
    assert_eq!(run(file, &[edit("b\nc", "\u{ffff}\n")]), b"\xfe\xff\0a\xd8\x3d\xff\xff\0\n\xdc\0\0");
    let message = fails(file, &[edit("a\u{fffd}b", "x")]).message;
    assert!(message.contains("oldText contains U+FFFD"), "{message}");
}

#[test]
fn the_closest_piece_of_one_line() {
    let noise: String = (0..9000).map(|n| format!("v{n}=q({n});")).collect();
    let error = fails(
        format!("{noise}function add(a, b){{return a+b}}{noise}"),
        &[edit("function add(a, b) {return a + b}", "x")],
    );
    assert!(error.message.len() <= 1024);
    let at = noise.len() + 1;
    assert!(
        error.message.contains(&format!("The closest text is in line 1 at byte {at}:\n…")),
        "{}",
        error.message
    );
    assert!(error.message.contains("function add(a, b){return a+b}v0="), "{}", error.message);
    assert!(
        error.message.contains("\nFirst difference: after function add(a, b) the file has: {return a+b}v0"),
        "{}",
        error.message
    );
    assert!(error.message.contains("\nwhere oldText has:  {return a + b}\n"), "{}", error.message);

    let file: String = (0..900).map(|n| format!("line number {n}\r")).collect();
    let error = fails(file, &[edit("line number 500\nline number 50l\nline number 502", "x")]);
    assert!(error.message.contains("line number 500␍line number 501␍line number 502␍"), "{}", error.message);
    assert!(error.message.contains("the file has: 1␍line"), "{}", error.message);
    assert!(error.message.contains("␍ a carriage return"), "{}", error.message);
}

#[test]
fn a_difference_far_into_a_line_is_shown() {
    let line = "word ".repeat(60);
    let error = fails(format!("a\n{line}here\nb\n"), &[edit(&format!("{line}there"), "x")]);
    assert!(error.message.contains("\n2: …") && error.message.contains("word here\n"), "{}", error.message);
    assert!(
        error.message.contains("where oldText has: …") && error.message.contains("word there\n"),
        "{}",
        error.message
    );
}

#[test]
fn faults_are_named_for_look_alikes_too() {
    let error = fails("say “hi”\nyou\n", &[edit("1\tsay \"hi\"", "x")]);
    assert!(error.message.contains("without it the text is at line 1"), "{}", error.message);
    let error = fails("say “hi”\nyou\n", &[edit("say \"hi\"\\nyou", "x")]);
    assert!(error.message.contains("a literal \\n (a backslash and an n) where line 1"), "{}", error.message);
}
