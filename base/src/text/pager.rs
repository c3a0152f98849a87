//! A page of a text that comes in parts: what is kept of it is what is shown, whatever the size of the text.

use memchr::{memchr, memchr_iter};

use super::census::{Census, census, census_of_ascii};
use super::encoding::Decoder;
use super::lines::{self, LineEndings};
use super::page::{Laid, Material, Page, Range, lay_out};
use super::utf8::{self, REPLACEMENT};
use crate::error::ToolError;

/// Bytes that are worked on at once: what was looked at is still in the cache.
const BLOCK: usize = 16 * 1024;
/// So many tell whether it is worth looking for ASCII.
const FIRST: usize = 64;

/// Takes the bytes of a text, cut anywhere, and makes the page that a range asks for. Holds little more than the
/// range's `max_bytes`.
///
/// ```
/// use tackroom_base::text::{page::Range, pager::Pager, truncate::Limits};
/// let mut pager = Pager::new(Range { offset: 2, limit: None, column: None, limits: Limits::default() });
/// pager.push(b"one\ntw\xC3");
/// pager.push(b"\xB6\n");
/// assert_eq!(pager.finish().unwrap().text, "twö\n");
/// ```
#[derive(Clone, Debug)]
pub struct Pager {
    range: Range,
    decoder: Decoder,
    window: Window,
}

impl Pager {
    /// For this part of the text.
    pub fn new(range: Range) -> Self {
        let range = Range {
            offset: range.offset.max(1),
            limit: range.limit.map(|limit| limit.max(1)),
            // Models fill in what is optional: from the first byte on is the line as it is.
            column: range.column.filter(|column| *column > 1),
            ..range
        };
        Pager { decoder: Decoder::default(), window: Window::new(&range), range }
    }

    /// Takes the next bytes.
    // A caller that is built for size would have it built so, too.
    #[inline(never)]
    pub fn push(&mut self, bytes: &[u8]) {
        let Pager { decoder, window, .. } = self;
        let mut rest = bytes;
        while !rest.is_empty() {
            // Cut between characters, so that hardly any waits for its rest.
            let length = match rest.get(..BLOCK) {
                Some(block) => BLOCK - utf8::incomplete_tail(block),
                None => rest.len(),
            };
            let block;
            (block, rest) = rest.split_at(length);
            // What is not shown needs no decoding where it is ASCII, and most is.
            if decoder.takes_ascii()
                && block[..block.len().min(FIRST)].is_ascii()
                && let Some(found) = census_of_ascii(block)
                && !window.sees(&found)
            {
                window.count(block, &found);
                continue;
            }
            decoder.push_with(block, |text| window.push(text));
        }
    }

    /// The page, now that the text has ended.
    ///
    /// # Errors
    /// `invalid_arguments` when the range starts beyond the end of the text or of the line.
    // A caller that is built for size would have it built so, too.
    #[inline(never)]
    pub fn finish(self) -> Result<Page, ToolError> {
        let Pager { range, mut decoder, mut window } = self;
        decoder.finish_with(|text| window.push(text));
        let (line_ending, encoding) = (window.endings.finish(), decoder.encoding());
        let replaced = decoder.replaced() || window.had_nul;
        let Laid { text, hint, truncation } = lay_out(window.finish(), &range)?;
        Ok(Page { text, hint, truncation, encoding, line_ending, replaced })
    }
}

/// Where in the text the window is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    /// Before the first line that is shown.
    Before,
    /// In that line, of which the length is told; and text is kept.
    FirstLine,
    /// After it, and text is kept.
    Within,
    /// Nothing more is kept.
    After,
}

/// The part of a decoded text that may be shown, and counters for the rest.
#[derive(Clone, Debug)]
struct Window {
    /// The first line, from 1.
    offset: u64,
    /// The first byte of it, from 0, and whether that line is all there is to show.
    column: Option<u64>,
    /// Lines that are kept at most.
    most_lines: u64,
    /// Bytes that decide what is shown: those of the limit, the LF after them, and one that shows that there is more.
    most_bytes: usize,
    place: Place,
    material: Material,
    kept_breaks: u64,
    breaks: u64,
    ends_in_break: bool,
    endings: LineEndings,
    had_nul: bool,
}

impl Window {
    fn new(range: &Range) -> Self {
        let most_lines = (range.limits.max_lines as u64).saturating_add(1);
        Window {
            offset: range.offset,
            column: range.column.map(|column| column - 1),
            most_lines: range.limit.map_or(most_lines, |limit| limit.min(most_lines)),
            most_bytes: range.limits.max_bytes.saturating_add(2),
            place: if range.offset == 1 { Place::FirstLine } else { Place::Before },
            material: Material::default(),
            kept_breaks: 0,
            breaks: 0,
            ends_in_break: true,
            endings: LineEndings::default(),
            had_nul: false,
        }
    }

    /// Takes the next piece of the text: 16 KB or little more.
    fn push(&mut self, text: &str) {
        let found = census(text.as_bytes());
        match (self.sees(&found), found.has_nul) {
            (true, false) => self.see(text),
            (true, true) => self.see(&text.replace('\0', REPLACEMENT)),
            (false, _) => {}
        }
        self.count(text.as_bytes(), &found);
    }

    /// Whether anything of the next piece may be shown, or its place in the first line matters.
    fn sees(&self, found: &Census) -> bool {
        match self.place {
            Place::Before => self.breaks + found.breaks as u64 >= self.offset - 1,
            Place::FirstLine | Place::Within => true,
            Place::After => false,
        }
    }

    /// Counts a piece, which has been seen if it had to be.
    fn count(&mut self, bytes: &[u8], found: &Census) {
        let Some(last) = bytes.last() else { return };
        self.endings.push_counted(bytes, found);
        self.ends_in_break = *last == b'\n';
        self.breaks += found.breaks as u64;
        self.material.total_bytes += bytes.len() as u64;
        if found.has_nul {
            self.had_nul = true;
            let nuls = memchr_iter(0, bytes).count() as u64;
            self.material.total_bytes += nuls * (REPLACEMENT.len() as u64 - 1);
        }
    }

    fn see(&mut self, mut text: &str) {
        if self.place == Place::Before {
            let missing = self.offset - 1 - self.breaks;
            // Not more than the piece has.
            let Some(lf) = memchr_iter(b'\n', text.as_bytes()).nth(missing as usize - 1) else { return };
            self.place = Place::FirstLine;
            text = &text[lf + 1..];
        }
        if self.place == Place::FirstLine {
            let lf = memchr(b'\n', text.as_bytes());
            let line = &text[..lf.unwrap_or(text.len())];
            match self.column {
                Some(column) => self.keep_from(column, line),
                None if lf.is_none() => self.keep(line),
                None => {}
            }
            self.material.line_bytes += line.len() as u64;
            if lf.is_none() {
                return;
            }
            let is_full = self.column.is_some() || self.material.kept.len() >= self.most_bytes;
            self.place = if is_full { Place::After } else { Place::Within };
        }
        if self.place == Place::Within {
            self.keep(text);
            let is_full = self.material.kept.len() >= self.most_bytes || self.kept_breaks >= self.most_lines;
            self.place = if is_full { Place::After } else { Place::Within };
        }
    }

    /// Keeps what may be shown of the text.
    fn keep(&mut self, text: &str) {
        let kept = &mut self.material.kept;
        let room = self.most_bytes.saturating_sub(kept.len());
        let mut part = &text.as_bytes()[..utf8::ceil_boundary(text.as_bytes(), room)];
        // In wasm a usize may be too small for it.
        let lines = usize::try_from(self.most_lines - self.kept_breaks).unwrap_or(usize::MAX);
        match lines.checked_sub(1).map(|more| memchr_iter(b'\n', part).nth(more)) {
            Some(Some(lf)) => {
                part = &part[..=lf];
                self.kept_breaks = self.most_lines;
            }
            Some(None) => self.kept_breaks += lines::breaks(part) as u64,
            None => part = &[],
        }
        kept.push_str(&text[..part.len()]);
    }

    /// Keeps what may be shown of the first line, from that byte of it.
    fn keep_from(&mut self, column: u64, line: &str) {
        let before = self.material.line_bytes;
        if !self.material.kept.is_empty() {
            return self.keep(line);
        }
        let Some(at) = column.checked_sub(before) else { return };
        if at < line.len() as u64 {
            let at = utf8::floor_boundary(line.as_bytes(), at as usize);
            self.material.from = before + at as u64;
            self.keep(&line[at..]);
        }
    }

    fn finish(self) -> Material {
        let unbroken = self.material.total_bytes > 0 && !self.ends_in_break;
        Material { total_lines: self.breaks + u64::from(unbroken), ..self.material }
    }
}

#[cfg(test)]
mod tests {
    use super::super::truncate::Limits;
    use super::*;

    fn range(offset: u64, column: Option<u64>, max_bytes: usize) -> Range {
        Range { offset, limit: None, column, limits: Limits { max_bytes, ..Limits::default() } }
    }

    #[test]
    fn t01_byte_by_byte_is_the_same_page() {
        let text = "héllo\n😀";
        for range in [range(1, None, 99), range(2, None, 99), range(2, None, 1), range(1, Some(3), 2)] {
            let (mut whole, mut parts) = (Pager::new(range), Pager::new(range));
            whole.push(text.as_bytes());
            text.bytes().for_each(|byte| parts.push(&[byte]));
            let page = parts.finish().unwrap();
            assert_eq!(page, whole.finish().unwrap());
            assert!(page.truncation.is_none_or(|facts| facts.total_lines == 2 && facts.total_bytes == 11));
        }
    }

    #[test]
    fn what_is_held_does_not_grow_with_the_text() {
        let (line, block) = (vec![b'x'; BLOCK], b"some text\r\nand more\n".repeat(1000));
        for (range, part) in [
            (range(1, None, 1000), &line),
            (range(1, Some(40_000), 1000), &line),
            (range(3, None, 1000), &block),
            (range(60_000, None, 1000), &block),
            (range(u64::MAX, None, 1000), &block),
        ] {
            let mut pager = Pager::new(range);
            for _ in 0..200 {
                pager.push(part);
                let held = pager.window.material.kept.capacity();
                assert!(held <= 1000 + 2 * BLOCK, "{held} bytes are held for {range:?}");
            }
        }
    }

    #[test]
    fn a_nul_has_three_bytes_wherever_it_is_counted() {
        let bytes = [&b"a\n"[..], &[0; 40_000], b"\nb\0"].concat();
        for (offset, column, shown, hint) in [
            (1, None, "a\n", Some("[Showing lines 1-1 of 3 (5B limit). Use offset=2 to continue.]")),
            (
                2,
                None,
                "\u{fffd}",
                Some("[Showing bytes 1-3 of line 2 (117.2KB). Use offset=2, column=4 to continue.]"),
            ),
            (
                2,
                Some(119_999),
                "\u{fffd}",
                Some("[Showing bytes 119998-120000 of line 2 (117.2KB). Use offset=3 to continue.]"),
            ),
            (3, None, "b\u{fffd}", None),
        ] {
            let mut pager = Pager::new(range(offset, column, 5));
            pager.push(&bytes);
            let page = pager.finish().unwrap();
            assert_eq!((page.text.as_str(), page.hint.as_deref(), page.replaced), (shown, hint, true));
            assert!(page.truncation.is_none_or(|facts| facts.total_bytes == 2 + 120_000 + 1 + 4));
        }
    }
}
