//! Diffs of edits and of whole contents.

use super::super::edit::{Edit, apply_edits};
use super::*;

fn edited(before: &[u8], edits: &[(&str, &str)]) -> FileDiff {
    let edits: Vec<_> = edits
        .iter()
        .map(|(old, new)| Edit { old_text: old.to_string(), new_text: new.to_string(), replace_all: true })
        .collect();
    let applied = apply_edits(before, &edits, "f").unwrap();
    from_replacements("f", before, &applied.content, &applied.replacements)
}

fn numbers(range: std::ops::RangeInclusive<usize>) -> String {
    range.map(|n| format!("{n}\n")).collect()
}

#[test]
fn e26_no_final_newline() {
    let diff = edited(b"a\nb", &[("b", "c")]);
    assert_eq!(
        diff.patch.unwrap(),
        "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"
    );
    let diff = edited(b"a\nb", &[("a", "A")]);
    assert!(diff.patch.unwrap().ends_with("-a\n+A\n b\n\\ No newline at end of file\n"));
    let diff = edited(b"a\nb", &[("\nb", "")]);
    assert_eq!(
        diff.patch.unwrap(),
        "--- a/f\n+++ b/f\n@@ -1,2 +1 @@\n-a\n-b\n\\ No newline at end of file\n+a\n\\ No newline at end of file\n"
    );
}

#[test]
fn e38_breadth_is_counted() {
    let before = numbers(1..=453);
    let old: String = (100..290).map(|n| format!("{n}\n")).collect();
    let diff = edited(before.as_bytes(), &[(&old, "0123456789\n")]);
    assert_eq!((diff.lines_removed, diff.lines_added), (190, 1));
    assert_eq!(diff.first_changed_line, Some(100));
}

#[test]
fn hunks_merge_when_their_contexts_touch() {
    let before = numbers(1..=40);
    let diff = edited(before.as_bytes(), &[("\n5\n", "\nV\n"), ("\n14\n", "\nXIV\n"), ("\n24\n", "\n")]);
    let patch = diff.patch.unwrap();
    let headers: Vec<_> = patch.lines().filter(|line| line.starts_with("@@")).collect();
    assert_eq!(headers, ["@@ -1,18 +1,18 @@", "@@ -20,9 +20,8 @@"]);
    assert_eq!(
        diff.diff,
        "  1 1\n  2 2\n  3 3\n  4 4\n- 5 5\n+ 5 V\n  6 6\n  7 7\n  8 8\n  9 9\n 10 10\n 11 11\n 12 12\n 13 13\n\
         -14 14\n+14 XIV\n 15 15\n 16 16\n 17 17\n 18 18\n    ...\n 20 20\n 21 21\n 22 22\n 23 23\n-24 24\n \
         24 25\n 25 26\n 26 27\n 27 28\n    ..."
    );
    assert_eq!((diff.first_changed_line, diff.lines_added, diff.lines_removed), (Some(5), 2, 3));
}

#[test]
fn only_changed_lines_show() {
    // The span has three lines, one of them changed.
    let diff = edited(b"a\nb\nc\n", &[("a\nb\nc\n", "a\nB\nc\n")]);
    assert_eq!(diff.diff, " 1 a\n-2 b\n+2 B\n 3 c");
    // Two spans in one line are one change, neighbouring lines are one block.
    assert_eq!(edited(b"x x\ny\n", &[("x", "z")]).diff, "-1 x x\n+1 z z\n 2 y");
    assert_eq!(edited(b"x\nx\n", &[("x", "z")]).diff, "-1 x\n-2 x\n+1 z\n+2 z");
    // Lines joined, and a line added at a line's end.
    assert_eq!(edited(b"a\nb\nc\n", &[("\nb", "b")]).diff, "-1 a\n-2 b\n+1 ab\n 2 c");
    assert_eq!(edited(b"a\nb\n", &[("a\n", "a\nx\n")]).diff, " 1 a\n+2 x\n 3 b");
}

#[test]
fn carriage_returns_stay_in_the_patch() {
    let diff = edited(b"a\r\nb\r\nc\r", &[("b", "B")]);
    assert_eq!(diff.diff, " 1 a\n-2 b\n+2 B\n 3 c");
    assert!(diff.patch.unwrap().ends_with(" a\r\n-b\r\n+B\r\n c\r\n\\ No newline at end of file\n"));
}

#[test]
fn what_is_not_utf8_has_no_patch() {
    let mut before = numbers(1..=20).into_bytes();
    before.extend_from_slice(b"caf\xe9\n");
    let near = edited(&before, &[("\n18\n", "\nx\n")]);
    assert_eq!(near.patch, None);
    assert_eq!(near.patch_omitted.unwrap(), "not UTF-8 near line 18, and a patch is text");
    assert!(near.diff.contains(" 21 caf\u{fffd}"));
    let far = edited(&before, &[("\n3\n", "\nx\n")]);
    assert!(far.patch.is_some() && far.patch_omitted.is_none());
    assert_eq!(unified_diff("f", b"\xff\n", b"a\n", 4), None);
}

#[test]
fn empty_and_equal() {
    assert_eq!(
        between("f", Some(b"a\n"), b"a\n"),
        FileDiff { patch: Some(String::new()), ..FileDiff::default() }
    );
    assert_eq!(between("f", Some(b"a"), b"a").lines_added, 0);
    let emptied = between("f", Some(b"a\nb\n"), b"");
    assert_eq!(emptied.patch.unwrap(), "--- a/f\n+++ b/f\n@@ -1,2 +0,0 @@\n-a\n-b\n");
    assert_eq!(emptied.first_changed_line, Some(1));
    let filled = between("f", Some(b""), b"a\n");
    assert_eq!(filled.patch.unwrap(), "--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+a\n");
    assert_eq!(between("f", None, b"").patch.unwrap(), "diff --git a/f b/f\nnew file mode 100644\n");
    assert_eq!(between("f", Some(b"a\nb\n"), b"a\n").first_changed_line, Some(1));
    assert_eq!(between("f", Some(b"a\nb\n"), b"a\nb").diff, " 1 a\n-2 b\n+2 b");
    assert_eq!(unified_diff("f", b"a\n", b"a\n", 4).unwrap(), "");
}

#[test]
fn spans_that_meet_at_the_end_are_one_change() {
    let diff = |before: &[u8], after: &[u8], spans: &[(usize, usize, &str)]| {
        let replaced = |(edit, &(start, end, text)): (usize, &(usize, usize, &str))| Replacement {
            range: start..end,
            text: text.into(),
            edit,
        };
        let replacements: Vec<_> = spans.iter().enumerate().map(replaced).collect();
        let diff = from_replacements("f", before, after, &replacements);
        assert_eq!(diff.patch, between("f", Some(before), after).patch);
        (diff.lines_removed, diff.lines_added)
    };
    assert_eq!(diff(b"a", b"xay", &[(0, 0, "x"), (1, 1, "y")]), (1, 1));
    assert_eq!(diff(b"", b"x\n", &[(0, 0, "x"), (0, 0, "\n")]), (0, 1));
    assert_eq!(diff(b"a\n", b"a\nxy", &[(2, 2, "x"), (2, 2, "y")]), (0, 1));
    assert_eq!(diff(b"a", b"b\nc", &[(0, 1, "b\n"), (1, 1, "c")]), (1, 2));
}

#[test]
fn names_with_spaces_end_at_a_tab() {
    let diff = unified_diff("a b", b"x\n", b"y\n", 4).unwrap();
    assert!(diff.starts_with("--- a/a b\t\n+++ b/a b\t\n@@ -1 +1 @@\n"), "{diff}");
    let created = between("a b/é", None, b"x\n").patch.unwrap();
    assert!(created.starts_with("diff --git \"a/a b/\\303\\251\" \"b/a b/\\303\\251\"\n"), "{created}");
}

#[test]
fn a_large_region_is_bounded() {
    let line = |n: usize, salt: usize| format!("{}\n", (n * salt) % 977);
    let before: String = (0..20_000).map(|n| line(n, 7919)).collect();
    let after: String = (0..20_000).map(|n| line(n, 104_729)).collect();
    let diff = between("f", Some(before.as_bytes()), after.as_bytes());
    assert!(diff.lines_added > 0);
    let around = |lines: usize| {
        let before = numbers(1..=lines);
        let diff = between("f", Some(before.as_bytes()), format!("x\n{before}y\n").as_bytes());
        (diff.lines_removed, diff.lines_added)
    };
    assert_eq!(around(60_000), (0, 2));
    assert_eq!(around(110_000), (0, 2));
    let (before, after) = (numbers(1..=110_000), numbers(5..=110_000).replace("00\n", "01\n"));
    let diff = between("f", Some(before.as_bytes()), after.as_bytes());
    assert_eq!((diff.lines_removed, diff.lines_added), (110_000, 109_996));
}

#[test]
fn utf16_shows_as_text_and_has_no_patch() {
    let utf16 = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let before = utf16("\u{feff}a\r\n🙂 b\r\nc\r\n");
    let diff = edited(&before, &[("b", "B"), ("c", "")]);
    assert_eq!(diff.diff, " 1 a\n-2 🙂 b\n-3 c\n+2 🙂 B\n+3 ");
    assert_eq!(diff.patch, None);
    assert_eq!(diff.patch_omitted.as_deref(), Some("the file is UTF-16, and a patch is UTF-8"));
    assert_eq!((diff.first_changed_line, diff.lines_added, diff.lines_removed), (Some(2), 2, 2));
    // Unpaired units that come together in the file stay apart in the diff.
    let torn = [&b"\xff\xfe\x3d\xd8"[..], &utf16("x"), b"\x02\xde\n\0y"].concat();
    assert_eq!(edited(&torn, &[("x", "")]).diff, "-1 \u{fffd}x\u{fffd}\n+1 \u{fffd}\u{fffd}\n 2 \u{fffd}");
    let written = between("f", Some(&before), b"a\nb\n");
    assert_eq!((written.lines_removed, written.patch), (3, None));
    assert_eq!(unified_diff("f", &before, b"a\n", 4), None);
}

#[test]
fn a_long_display_is_cut() {
    let before = numbers(1..=5000);
    let diff = between("f", Some(before.as_bytes()), before.replace('\n', "x\n").as_bytes());
    let shown: Vec<_> = diff.diff.lines().collect();
    assert_eq!(shown.len(), 2001);
    assert_eq!(shown[1999..], ["-2000 2000", "      ... 8000 more lines"]);
    assert_eq!(diff.patch.unwrap().lines().count(), 3 + 10_000);
    let diff = edited(before.as_bytes(), &[("5\n", "V\n")]);
    assert!(diff.diff.ends_with(" more lines") && !diff.diff.contains("...\n      ..."));
}
