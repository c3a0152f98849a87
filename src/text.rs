//! Text as bytes: counting, cutting, editing, comparing.
//!
//! Everything here takes bytes and gives bytes. Nothing here knows an environment, a tool or JavaScript.

pub mod diff;
pub mod edit;
pub mod rewrite;

pub(crate) use tackroom_base::text::matcher;
pub use tackroom_base::text::{accumulator, encoding, lines, page, pager, redact, terminal, truncate, utf8};
