//! Text as bytes: counting, cutting, editing, comparing.
//!
//! Everything here takes bytes and gives bytes. Nothing here knows an environment, a tool or JavaScript.

pub mod accumulator;
mod census;
pub mod diff;
pub mod edit;
pub mod encoding;
pub mod lines;
pub mod page;
pub mod pager;
pub mod rewrite;
pub mod truncate;
pub mod utf8;
