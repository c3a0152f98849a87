//! The end of a text that comes in parts, and the totals of all of it.
//!
//! The last line is open: it can be thrown away, however long it has become, and what came before it is still there.
//! So the two are kept apart, each in a ring of about the byte limit, which grows only as far as it is used. Of a
//! large part only what can still be shown is copied.

use memchr::memrchr;

use super::terminal::Sink;
use super::truncate::{Limits, Totals, Truncation, tail_of};
use super::{lines, utf8};

/// The end of a text, as much as limits let be shown.
#[derive(Clone, Debug)]
pub(super) struct Tail {
    limits: Limits,
    /// Text that stays.
    kept: Ring,
    /// Text since then: the open line, or the end of it.
    open: Ring,
    /// Bytes and LFs that stay.
    bytes: u64,
    breaks: u64,
    /// Bytes of the open line that stay, and all of the others.
    fixed: u64,
    open_bytes: u64,
    /// Bytes of the line that the last LF ended.
    closed_line: u64,
}

impl Tail {
    /// Whether not all of it is shown.
    pub fn is_cut(&self) -> bool {
        let totals = self.totals();
        totals.lines > self.limits.max_lines as u64 || totals.bytes > self.limits.max_bytes as u64
    }

    /// Nothing yet. Reserves no memory.
    pub fn new(limits: Limits) -> Self {
        // What `tail_of` asks for, and what a character may lack at the start.
        let most = limits.max_bytes.saturating_add(2 + 3);
        Tail {
            limits,
            kept: Ring::new(most),
            open: Ring::new(most),
            bytes: 0,
            breaks: 0,
            fixed: 0,
            open_bytes: 0,
            closed_line: 0,
        }
    }

    /// Of the whole text.
    pub fn totals(&self) -> Totals {
        let open_line = self.fixed + self.open_bytes;
        Totals {
            lines: self.breaks + u64::from(open_line > 0),
            bytes: self.bytes + self.open_bytes,
            last_line: if open_line > 0 { open_line } else { self.closed_line },
        }
    }

    /// The end of the text, cut as [`super::truncate::tail`] would cut all of it.
    pub fn cut(&self) -> (String, Truncation) {
        let most = self.kept.most;
        let open = self.open.bytes.len();
        let mut bytes = Vec::with_capacity((self.kept.bytes.len() + open).min(most));
        self.kept.copy_last(most - open, &mut bytes);
        self.open.copy_last(open, &mut bytes);
        // A ring forgets bytes, not characters.
        let rest_of_one = bytes.iter().take_while(|&&byte| utf8::is_continuation(byte)).count();
        let text = utf8::to_text(&bytes[rest_of_one..]);
        let cut = tail_of(&text, self.totals(), self.limits);
        (cut.content.to_owned(), cut.facts)
    }

    /// Bytes of memory in use.
    #[cfg(test)]
    pub fn memory(&self) -> usize {
        self.kept.bytes.capacity() + self.open.bytes.capacity()
    }

    /// What has come stays, though its line is open.
    pub fn fix(&mut self) {
        self.kept.append(&self.open);
        self.open.clear();
        self.bytes += self.open_bytes;
        self.fixed += self.open_bytes;
        self.open_bytes = 0;
    }
}

impl Tail {
    /// More text, and how many LFs it has, where that is known.
    pub fn push(&mut self, text: &[u8], breaks: Option<usize>) {
        let Some(last) = memrchr(b'\n', text) else {
            self.open_bytes += text.len() as u64;
            return self.open.push(text);
        };
        let open_line = self.fixed + self.open_bytes;
        self.closed_line = match memrchr(b'\n', &text[..last]) {
            Some(before) => (last - before - 1) as u64,
            None => open_line + last as u64,
        };
        let (closed, open) = text.split_at(last + 1);
        self.breaks += breaks.unwrap_or_else(|| lines::breaks(closed)) as u64;
        self.bytes += self.open_bytes + closed.len() as u64;
        self.kept.append(&self.open);
        self.kept.push(closed);
        self.open.clear();
        self.open.push(open);
        (self.fixed, self.open_bytes) = (0, open.len() as u64);
    }
}

impl Sink for Tail {
    fn text(&mut self, text: &str) {
        self.push(text.as_bytes(), None);
    }

    fn restart(&mut self) {
        self.open.clear();
        self.open_bytes = 0;
    }
}

/// The last bytes of what was pushed.
#[derive(Clone, Debug)]
struct Ring {
    most: usize,
    bytes: Vec<u8>,
    /// Where the oldest is, once there are `most`.
    at: usize,
}

impl Ring {
    fn new(most: usize) -> Self {
        Ring { most, bytes: Vec::new(), at: 0 }
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.at = 0;
    }

    fn push(&mut self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(self.most)..];
        if bytes.len() == self.most {
            self.clear();
        }
        let (first, rest) = bytes.split_at(bytes.len().min(self.most - self.bytes.len()));
        let needed = self.bytes.len() + first.len();
        if needed > self.bytes.capacity() {
            // Doubling, as a vector does, but not past what is ever kept.
            let capacity = needed.saturating_mul(2).clamp(needed, self.most);
            self.bytes.reserve_exact(capacity - self.bytes.len());
        }
        self.bytes.extend_from_slice(first);
        let (first, rest) = rest.split_at(rest.len().min(self.most - self.at));
        self.bytes[self.at..self.at + first.len()].copy_from_slice(first);
        self.at += first.len();
        if !rest.is_empty() {
            self.bytes[..rest.len()].copy_from_slice(rest);
            self.at = rest.len();
        }
    }

    fn append(&mut self, other: &Ring) {
        let (newer, older) = other.bytes.split_at(other.at);
        self.push(older);
        self.push(newer);
    }

    /// The last bytes, so many if there are as many.
    fn copy_last(&self, count: usize, to: &mut Vec<u8>) {
        let (newer, older) = self.bytes.split_at(self.at);
        let surplus = self.bytes.len().saturating_sub(count);
        to.extend_from_slice(&older[surplus.min(older.len())..]);
        to.extend_from_slice(&newer[surplus.saturating_sub(older.len())..]);
    }
}
