//! Pieces of files in messages: short, and with what cannot be seen made visible.

/// Longer paths are cut in the middle, so that a message keeps room for what it has to say.
const MAX_PATH: usize = 400;

/// The path as the model sent it.
pub(super) fn path(path: &str) -> String {
    if path.len() <= MAX_PATH {
        return path.to_string();
    }
    let head = &path[..boundary(path, MAX_PATH / 2)];
    let tail = &path[boundary(path, path.len() - MAX_PATH / 2)..];
    format!("{head}…{tail}")
}

/// The last character boundary at or before `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// The first `max` bytes of a message, at a character, marked where something was cut.
pub(super) fn clip(mut text: String, max: usize) -> String {
    if text.len() > max {
        text.truncate(boundary(&text, max.saturating_sub('…'.len_utf8())));
        text.push('…');
    }
    text
}

/// Shows lines and remembers which signs need explaining.
#[derive(Default)]
pub(super) struct Visible {
    tab: bool,
    trailing: bool,
    return_: bool,
    odd: Vec<char>,
}

impl Visible {
    /// One line (without its ending) in at most about `max` bytes: tabs as →, odd spaces as ⍽, spaces
    /// at the end as ·, a lone CR as ␍, other control characters as their pictures.
    pub(super) fn line(&mut self, line: &[u8], max: usize) -> String {
        // A line can be megabytes; what is shown of it cannot.
        let shown = &line[..line.len().min(max * 4)];
        let text = String::from_utf8_lossy(shown);
        let solid = if shown.len() == line.len() { text.trim_end_matches(' ').len() } else { text.len() };
        let mut out = String::new();
        for (at, c) in text.char_indices() {
            if out.len() >= max {
                out.push('…');
                return out;
            }
            match c {
                '\t' => {
                    self.tab = true;
                    out.push('→');
                }
                ' ' if at >= solid => {
                    self.trailing = true;
                    out.push('·');
                }
                '\r' => {
                    self.return_ = true;
                    out.push('␍');
                }
                '\0'..='\x1f' => out.push(char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}')),
                '\x7f' => out.push('␡'),
                c if is_odd_space(c) => {
                    if !self.odd.contains(&c) {
                        self.odd.push(c);
                    }
                    out.push('⍽');
                }
                c => out.push(c),
            }
        }
        if shown.len() < line.len() {
            out.push('…');
        }
        out
    }

    /// One line from a byte on, with a mark for what is left out before it.
    pub(super) fn line_from(&mut self, line: &[u8], from: usize, max: usize) -> String {
        let shown = self.line(&line[from..], max);
        if from > 0 { format!("…{shown}") } else { shown }
    }

    /// What the signs used so far stand for: `(→ is a tab)`; empty where there was none.
    pub(super) fn legend(&self) -> String {
        let mut parts = Vec::new();
        if self.tab {
            parts.push("→ is a tab".to_string());
        }
        if self.trailing {
            parts.push("· a space at the end of a line".to_string());
        }
        if self.return_ {
            parts.push("␍ a carriage return".to_string());
        }
        if !self.odd.is_empty() {
            let names: Vec<_> = self.odd.iter().take(3).map(|&c| format!("U+{:04X}", c as u32)).collect();
            parts.push(format!("⍽ is {}", names.join(" or ")));
        }
        if parts.is_empty() { String::new() } else { format!("({})", parts.join(", ")) }
    }
}

/// Characters that look like a space, or like nothing, and are not U+0020.
pub(super) fn is_odd_space(c: char) -> bool {
    matches!(
        c,
        '\u{a0}' | '\u{1680}' | '\u{180e}' | '\u{2000}'
            ..='\u{200f}'
                | '\u{2028}'
                | '\u{2029}'
                | '\u{202f}'
                | '\u{205f}'
                | '\u{2060}'
                | '\u{3000}'
                | '\u{feff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_shown() {
        let mut visible = Visible::default();
        assert_eq!(visible.line("\ta b".as_bytes(), 80), "→a b");
        assert_eq!(visible.legend(), "(→ is a tab)");
        assert_eq!(visible.line("a\u{a0}b\u{3000} \r\0  ".as_bytes(), 80), "a⍽b⍽ ␍␀··");
        let legend = visible.legend();
        assert_eq!(
            legend,
            "(→ is a tab, · a space at the end of a line, ␍ a carriage return, ⍽ is U+00A0 or U+3000)"
        );
        assert_eq!(Visible::default().line(b"\xff", 80), "\u{fffd}");
    }

    #[test]
    fn long_text_is_cut_at_a_character() {
        let shown = Visible::default().line("é".repeat(1000).as_bytes(), 11);
        assert_eq!(shown, "éééééé…");
        assert_eq!(clip("ééé".to_string(), 6), "ééé");
        assert_eq!(clip("éééé".to_string(), 7), "éé…");
        let long = "ä/".repeat(400);
        assert!(path(&long).len() <= MAX_PATH + 8);
        assert_eq!(path("a b"), "a b");
    }
}
