//! What looks at every byte of a file: the `text` layer of `tackroom`, with what lies below every layer.
//!
//! It is a crate of its own for its optimisation alone: it is built for speed, where the rest of the wasm module is
//! built for size. Use it as `tackroom::text` and `tackroom::error`; the other modules are not for the outside.

pub mod error;
#[doc(hidden)]
pub mod json;
#[doc(hidden)]
pub mod table;
pub mod text;
#[doc(hidden)]
pub mod unicode;
