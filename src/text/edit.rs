//! The edit matcher.
