//! What the edit matcher spends its time in: finding texts by tiers, and the ways back to the file's bytes. What an
//! edit is, and what is said when it fails, is in `tackroom::text::edit`.

pub mod breaks;
pub mod endings;
pub mod fuzzy;
pub mod locate;
pub mod segments;
pub mod utf16;
