//! Search as ripgrep does it, on its own crates and without a disk: listings and bytes in, files and lines out.
//!
//! - [`pattern`] compiles what to look for, [`grep`] finds its lines in a file that comes whole or in parts, and
//!   [`window`] cuts long ones to what is around the match.
//! - [`walk`] turns listings of directories into files in the order of `rg --sort path`, by the rules of [`ignore`]
//!   and the globs of [`glob`].
//!
//! Nothing here knows an environment: who lists and reads, and how much at once, is decided by the tools.

mod caseless;
#[cfg(any(test, fuzzing))]
pub mod exercise;
pub mod glob;
pub mod grep;
pub mod ignore;
pub mod pattern;
pub mod walk;
pub mod window;

use crate::error::{ErrorCode, ToolError};

/// The longest pattern or glob that is compiled, in bytes. What a compiler makes of one is some hundred times as large.
pub const MOST_PATTERN_BYTES: usize = 64 * 1024;

fn invalid(message: String) -> ToolError {
    ToolError::new(ErrorCode::InvalidPattern, message)
}

/// A pattern in a message: its beginning, in quotes.
fn quoted(pattern: &str) -> String {
    match pattern.char_indices().nth(200) {
        None => format!("\"{pattern}\""),
        Some((end, _)) => format!("\"{}…\"", &pattern[..end]),
    }
}
