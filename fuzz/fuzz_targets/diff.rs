//! Any two contents, any spans: the patch turns the one into the other.
//!
//! `cargo fuzz run diff` (nightly, or RUSTC_BOOTSTRAP=1).
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use tackroom::text::diff::{self, FileDiff};
use tackroom::text::edit::Replacement;

#[derive(Arbitrary, Debug)]
struct Input {
    before: Vec<u8>,
    /// Turns most letters into few, so that lines are alike.
    alike: bool,
    spans: Vec<(u8, u8, Vec<u8>)>,
    after: Option<Vec<u8>>,
    context: u8,
}

/// What `git apply` does: hunks at their lines, context and removed lines checked.
fn apply(before: &[u8], patch: &str) -> Vec<u8> {
    let old: Vec<&[u8]> = before.split_inclusive(|&byte| byte == b'\n').collect();
    let mut out: Vec<Vec<u8>> = Vec::new();
    let mut at = 0;
    // Which side of the hunk the last line was of: a missing newline is told after it.
    let mut last = ' ';
    let mut expected: Vec<(char, Vec<u8>)> = Vec::new();
    let mut lines = patch.split_inclusive('\n').skip_while(|line| !line.starts_with("@@")).peekable();
    while let Some(header) = lines.next() {
        let ranges: Vec<Vec<usize>> = header
            .split(' ')
            .skip(1)
            .take(2)
            .map(|range| range[1..].split(',').map(|number| number.parse().unwrap()).collect())
            .collect();
        let count = |range: &Vec<usize>| range.get(1).copied().unwrap_or(1);
        let first = |range: &Vec<usize>| if count(range) == 0 { range[0] } else { range[0] - 1 };
        out.extend(old[at..first(&ranges[0])].iter().map(|line| line.to_vec()));
        at = first(&ranges[0]);
        assert_eq!(out.len(), first(&ranges[1]));
        expected.clear();
        while let Some(line) = lines.next_if(|line| !line.starts_with("@@")) {
            let sign = line.chars().next().unwrap();
            if sign == '\\' {
                let (sign, line) = expected.last_mut().unwrap();
                assert_eq!((*sign, line.pop()), (last, Some(b'\n')));
                continue;
            }
            last = sign;
            expected.push((sign, line.as_bytes()[1..].to_vec()));
        }
        let (mut removed, mut added) = (0, 0);
        for (sign, line) in expected.drain(..) {
            if sign != '+' {
                assert_eq!(old[at], line);
                (at, removed) = (at + 1, removed + 1);
            }
            if sign != '-' {
                out.push(line);
                added += 1;
            }
        }
        assert_eq!((removed, added), (count(&ranges[0]), count(&ranges[1])));
    }
    out.extend(old[at..].iter().map(|line| line.to_vec()));
    out.concat()
}

fn check(before: &[u8], after: &[u8], diff: FileDiff) {
    assert_eq!(diff.patch.is_some(), diff.patch_omitted.is_none());
    let grown = |text: &[u8]| text.split_inclusive(|&byte| byte == b'\n').count() as isize;
    if let Some(patch) = diff.patch {
        assert_eq!(apply(before, &patch), after);
        assert_eq!(diff.lines_added as isize - diff.lines_removed as isize, grown(after) - grown(before));
        // Spans may move lines to where the same lines were, which shows as a change.
        assert_eq!(diff.first_changed_line.is_some(), !diff.diff.is_empty());
        assert!(!diff.diff.is_empty() || before == after);
    }
}

fuzz_target!(|input: Input| {
    let plain = |bytes: &[u8]| -> Vec<u8> {
        let few = |byte: &u8| if byte.is_ascii_alphanumeric() { b'a' + byte % 2 } else { *byte };
        if input.alike { bytes.iter().map(few).collect() } else { bytes.to_vec() }
    };
    let before = plain(&input.before);
    let mut spans: Vec<_> = input
        .spans
        .iter()
        .map(|(start, length, text)| {
            let start = usize::from(*start).min(before.len());
            (start..before.len().min(start + usize::from(length % 16)), plain(text))
        })
        .collect();
    spans.sort_by_key(|(range, _)| (range.start, range.end));
    let (mut after, mut from, mut replacements) = (Vec::new(), 0, Vec::new());
    for (edit, (range, text)) in spans.into_iter().enumerate() {
        if range.start < from {
            continue;
        }
        after.extend_from_slice(&before[from..range.start]);
        after.extend_from_slice(&text);
        from = range.end;
        replacements.push(Replacement { range, text, edit });
    }
    after.extend_from_slice(&before[from..]);
    check(&before, &after, diff::from_replacements("a b", &before, &after, &replacements));

    let other = input.after.as_deref().map_or(after, plain);
    let compared = diff::between("f", Some(&before), &other);
    assert!(before != other || compared.diff.is_empty());
    check(&before, &other, compared);
    if let Some(patch) = diff::unified_diff("f", &before, &other, usize::from(input.context)) {
        assert_eq!(apply(&before, &patch), other);
    }
    if let Some(patch) = diff::between("f", None, &other).patch {
        assert_eq!(apply(b"", &patch), other);
    }
});
