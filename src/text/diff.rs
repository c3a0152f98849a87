//! Diffs derived from spans.
