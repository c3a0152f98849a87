//! Properties of the edit matcher and of the diffs, with `git apply` as the judge of patches.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use tackroom::error::ErrorCode;
use tackroom::text::diff::{self, FileDiff};
use tackroom::text::edit::{Applied, Edit, Replacement, apply_edits};

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
        for at in [range.start, range.end] {
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
        new in prop::collection::vec("[a\r\n]{0,3}", 8),
        endings in prop::collection::vec(prop_oneof![Just(""), Just("\n"), Just("\r\n")], 8),
    ) {
        let before: String = endings.iter().enumerate().map(|(n, ending)| format!("<{n}>{ending}")).collect();
        let edits: Vec<_> = new
            .iter()
            .enumerate()
            .map(|(n, new)| Edit { old_text: format!("<{n}>"), new_text: new.clone(), replace_all: false })
            .collect();
        let shuffled: Vec<_> = order.iter().map(|&n| edits[n].clone()).collect();
        let one = apply_edits(before.as_bytes(), &edits, "f").unwrap();
        let other = apply_edits(before.as_bytes(), &shuffled, "f").unwrap();
        prop_assert_eq!(one.content, other.content);
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

/// Applies `patch` to a file of that content, or to none, and gives the content after it.
fn git_apply(directory: &Path, path: &str, before: Option<&[u8]>, patch: &str) -> Vec<u8> {
    let file = directory.join(path);
    match before {
        Some(before) => {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, before).unwrap();
        }
        None => {
            let _ = fs::remove_file(&file);
        }
    }
    fs::write(directory.join("the.patch"), patch).unwrap();
    let output =
        git(directory).args(["apply", "--whitespace=nowarn", "the.patch"]).output().expect("git was there");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git apply: {said}\n{path:?} {before:?}\n{patch}");
    fs::read(&file).unwrap_or_else(|error| panic!("{path:?}: {error}\n{patch}"))
}

#[test]
fn git_takes_the_patches() {
    let scratch = Scratch::new("git-apply");
    if git(&scratch.0).arg("--version").output().is_err() {
        eprintln!("skipped: there is no git");
        return;
    }
    let mut paths = vec!["f", "sub dir/a b.txt", "ünï/é.txt", "-dash", "a  b"];
    if cfg!(unix) {
        paths.extend(["q\"uote", "q \"uo\\te", "tab\there", "new\nline", "ctrl\u{1}\u{7f}x"]);
    }
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut used: HashMap<&str, usize> = HashMap::new();
    for round in 0..60 {
        let sample = (text(), spans(), text()).new_tree(&mut runner).unwrap().current();
        let (before, spans, other) = sample;
        let path = paths[round % paths.len()];
        let (after, replacements) = replaced(&before, &spans);
        let derived = diff::from_replacements(path, before.as_bytes(), &after, &replacements);
        let mut check = |old: Option<&[u8]>, diff: FileDiff, new: &[u8], kind: &'static str| {
            let patch = diff.patch.unwrap();
            if !patch.is_empty() {
                assert_eq!(git_apply(&scratch.0, path, old, &patch), new, "{path:?}\n{patch}");
                *used.entry(kind).or_default() += 1;
            }
        };
        check(Some(before.as_bytes()), derived, &after, "spans");
        let compared = diff::between(path, Some(before.as_bytes()), other.as_bytes());
        check(Some(before.as_bytes()), compared, other.as_bytes(), "contents");
        if round < paths.len() {
            let created = diff::between(path, None, other.as_bytes());
            check(None, created, other.as_bytes(), "created");
            check(None, diff::between(path, None, b""), b"", "created empty");
            check(Some(b""), diff::between(path, Some(b""), b"a\n"), b"a\n", "filled");
            check(Some(b"a\nb"), diff::between(path, Some(b"a\nb"), b""), b"", "emptied");
        }
    }
    assert!(used["spans"] > 40 && used["contents"] > 50 && used["created"] == paths.len(), "{used:?}");
}
