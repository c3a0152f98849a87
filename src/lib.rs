//! The tool layer of an agent harness.
//!
//! The crate is the core of the npm package `tackroom`: it takes a model's tool call as text, checks
//! and repairs its arguments, runs the tool over an environment that the host supplies, and answers.
//! It does no I/O of its own: no file system, process, network or clock. All of that comes through
//! two traits, [`env::Env`] and [`env::Host`].
//!
//! Imports point one way, and `tests/layers.rs` holds them to it:
//! `wasm → call → tools → {schema, image, text, path, env} → {error, unicode, table, json}`.

#![cfg_attr(
    all(target_arch = "wasm32", feature = "schema"),
    allow(
        dead_code,
        unused_imports,
        reason = "the schema module has the schemas, and the tools stay in the core"
    )
)]

pub mod call;
pub mod env;
pub mod error;
pub mod image;
#[cfg_attr(not(target_arch = "wasm32"), allow(dead_code, reason = "parts are for the wasm layer alone"))]
mod json;
pub mod path;
pub mod schema;
#[cfg_attr(not(target_arch = "wasm32"), allow(dead_code, reason = "parts are for the wasm layer alone"))]
mod table;
pub mod text;
pub mod tools;
mod unicode;
pub mod wasm;
