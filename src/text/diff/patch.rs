//! Unified diffs, as `git diff` writes them and `git apply` reads them.
//!
//! The format is that of git-diff(1) and diffcore's `quote_c_style`: paths behind `a/` and `b/`, quoted
//! in C style where they have control characters, quotes, backslashes or bytes above 0x7F
//! (`core.quotePath`), and followed by a TAB where they have a space.

use std::fmt::Write as _;
use std::ops::Range;

use super::changes::{Change, line_end, line_start};

/// The unified diff of `changes`, or the 1-indexed new line near which it is not UTF-8.
pub(super) fn unified(
    path: &str,
    before: &[u8],
    after: &[u8],
    changes: &[Change],
    context: usize,
    created: bool,
) -> Result<String, usize> {
    let mut out = String::new();
    if created {
        // Only the extended header can say that a file is new and still empty.
        let _ = writeln!(out, "diff --git {} {}", quoted("a/", path), quoted("b/", path));
        out.push_str("new file mode 100644\n");
    }
    if changes.is_empty() {
        return Ok(out);
    }
    // A name with a space ends at a TAB, or else a date could be read into it.
    let tab = if path.contains(' ') { "\t" } else { "" };
    match created {
        true => out.push_str("--- /dev/null\n"),
        false => {
            let _ = writeln!(out, "--- {}{tab}", quoted("a/", path));
        }
    }
    let _ = writeln!(out, "+++ {}{tab}", quoted("b/", path));
    for hunk in hunks(before, changes, context) {
        render(&mut out, before, after, &hunk)?;
    }
    Ok(out)
}

/// Changes whose contexts touch, and the context around them.
pub(super) struct Hunk<'a> {
    pub(super) changes: &'a [Change],
    /// The context before the first change and after the last: bytes of the old content, and lines.
    pub(super) lead: (Range<usize>, usize),
    pub(super) trail: (Range<usize>, usize),
}

/// Groups changes into hunks.
pub(super) fn hunks<'a>(before: &[u8], changes: &'a [Change], context: usize) -> Vec<Hunk<'a>> {
    let end = |change: &Change| change.old.line + change.old.count;
    changes
        .chunk_by(|a, b| b.old.line - end(a) <= context.saturating_mul(2))
        .map(|changes| {
            let (mut start, mut lead) = (changes[0].old.bytes.start, 0);
            while start > 0 && lead < context {
                start = line_start(before, start - 1);
                lead += 1;
            }
            let last_end = changes[changes.len() - 1].old.bytes.end;
            let (mut end, mut trail) = (last_end, 0);
            while end < before.len() && trail < context {
                end = line_end(before, end);
                trail += 1;
            }
            Hunk { changes, lead: (start..changes[0].old.bytes.start, lead), trail: (last_end..end, trail) }
        })
        .collect()
}

fn render(out: &mut String, before: &[u8], after: &[u8], hunk: &Hunk) -> Result<(), usize> {
    let (first, last) = (&hunk.changes[0], &hunk.changes[hunk.changes.len() - 1]);
    let around = hunk.lead.1 + hunk.trail.1;
    let old_count = last.old.line + last.old.count - first.old.line + around;
    let new_count = last.new.line + last.new.count - first.new.line + around;
    let (old_line, new_line) = (first.old.line - hunk.lead.1, first.new.line - hunk.lead.1);
    let _ = writeln!(out, "@@ -{} +{} @@", range(old_line, old_count), range(new_line, new_count));

    let near = first.new.line + 1;
    let mut all = |sign: char, bytes: &[u8]| -> Result<(), usize> {
        let text = simdutf8::basic::from_utf8(bytes).map_err(|_| near)?;
        for line in text.split_inclusive('\n') {
            out.push(sign);
            out.push_str(line);
            if !line.ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
        Ok(())
    };
    all(' ', &before[hunk.lead.0.clone()])?;
    let mut from = first.old.bytes.start;
    for change in hunk.changes {
        all(' ', &before[from..change.old.bytes.start])?;
        all('-', &before[change.old.bytes.clone()])?;
        all('+', &after[change.new.bytes.clone()])?;
        from = change.old.bytes.end;
    }
    all(' ', &before[hunk.trail.0.clone()])
}

/// `START,COUNT` of a hunk header; an empty range is named by the line before it.
fn range(line: usize, count: usize) -> String {
    match count {
        0 => format!("{line},0"),
        1 => format!("{}", line + 1),
        _ => format!("{},{count}", line + 1),
    }
}

/// The name as git writes it in a diff.
fn quoted(prefix: &str, path: &str) -> String {
    let plain = |byte: u8| (0x20..0x7f).contains(&byte) && byte != b'"' && byte != b'\\';
    if path.bytes().all(plain) {
        return format!("{prefix}{path}");
    }
    let mut out = format!("\"{prefix}");
    for byte in path.bytes() {
        let letter = match byte {
            b'"' | b'\\' => char::from(byte),
            0x07 => 'a',
            0x08 => 'b',
            b'\t' => 't',
            b'\n' => 'n',
            0x0b => 'v',
            0x0c => 'f',
            b'\r' => 'r',
            _ if plain(byte) => {
                out.push(char::from(byte));
                continue;
            }
            _ => {
                let _ = write!(out, "\\{byte:03o}");
                continue;
            }
        };
        out.push('\\');
        out.push(letter);
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_as_git_does() {
        assert_eq!(quoted("a/", "src/a b.rs"), "a/src/a b.rs");
        assert_eq!(quoted("a/", "é"), r#""a/\303\251""#);
        assert_eq!(quoted("b/", "a\"b\\c\td\u{1}\u{7f}"), r#""b/a\"b\\c\td\001\177""#);
    }

    #[test]
    fn ranges_are_those_of_unified_diffs() {
        assert_eq!(range(0, 0), "0,0");
        assert_eq!(range(4, 0), "4,0");
        assert_eq!(range(4, 1), "5");
        assert_eq!(range(4, 2), "5,2");
    }
}
