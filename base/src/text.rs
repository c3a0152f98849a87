//! Text as bytes: counting, cutting, editing, comparing.
//!
//! Everything here takes bytes and gives bytes. Nothing here knows an environment, a tool or JavaScript.

pub mod accumulator;
mod census;
pub mod encoding;
pub mod lines;
#[doc(hidden)]
pub mod matcher;
pub mod page;
pub mod pager;
pub mod redact;
mod tail;
pub mod terminal;
pub mod truncate;
pub mod utf8;
