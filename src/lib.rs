//! The tool layer of an agent harness.
//!
//! The crate is the core of the npm package `tackroom`: it takes a model's tool call as text, checks
//! and repairs its arguments, runs the tool over an environment that the host supplies, and answers.
//! It does no I/O of its own: no file system, process, network or clock. All of that comes through
//! two traits, [`env::Env`] and [`env::Host`].
//!
//! The text layer and what is below all layers are a crate of their own, `tackroom_base`, which is built for speed, and
//! the rest for size. Imports point one way, and `tests/layers.rs` holds them to it:
//! `wasm → call → tools → {schema, search, image, text, path, env} → {error, unicode, table, json}`.

#![cfg_attr(
    all(target_arch = "wasm32", any(feature = "schema", feature = "search")),
    allow(
        dead_code,
        unused_imports,
        reason = "the schema module has the schemas, the search module grep and find, and the rest stays in the core"
    )
)]

pub mod call;
pub mod env;
pub mod image;
pub mod path;
pub mod schema;
#[cfg(feature = "search")]
pub mod search;
pub mod text;
pub mod tools;
pub mod wasm;

pub use tackroom_base::error;
#[allow(unused_imports, reason = "parts are for the wasm layer alone")]
use tackroom_base::{json, table, unicode};
