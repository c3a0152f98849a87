//! The layer between the core and JavaScript. It only translates; whatever can be decided without JavaScript is
//! decided below, or in the parts of this layer that compile everywhere ([`executor`], [`convert`]).
//!
//! How a call crosses: the JS face puts the argument text into the scratch buffer of `exports` and starts it; the
//! [`executor`] polls it; where it needs the host, it calls the face's boundary object and waits for a promise
//! to be reported back. Every entry into wasm is one exported function, called under one try/catch in the face,
//! which is how a trap is noticed wherever it happens: no promise machinery of wasm-bindgen is in the way.

#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();

pub mod convert;
pub mod executor;

#[cfg(all(target_arch = "wasm32", not(feature = "search")))]
pub mod schemas;
#[cfg(target_arch = "wasm32")]
pub mod scratch;

// Where calls run: the core, and the search module.
#[cfg(all(target_arch = "wasm32", not(feature = "schema")))]
mod boundary;
#[cfg(all(target_arch = "wasm32", not(feature = "schema")))]
mod js_env;
#[cfg(all(target_arch = "wasm32", not(feature = "schema")))]
pub mod state;

// The core alone.
#[cfg(all(target_arch = "wasm32", not(any(feature = "schema", feature = "search"))))]
pub mod exports;
#[cfg(all(target_arch = "wasm32", not(any(feature = "schema", feature = "search"))))]
mod js_hooks;
#[cfg(all(target_arch = "wasm32", not(any(feature = "schema", feature = "search"))))]
pub mod output;
#[cfg(all(target_arch = "wasm32", not(any(feature = "schema", feature = "search"))))]
pub mod own_tools;
#[cfg(all(target_arch = "wasm32", not(any(feature = "schema", feature = "search"))))]
pub mod pure;
#[cfg(all(target_arch = "wasm32", not(any(feature = "schema", feature = "search"))))]
pub mod truncation;

// The search module alone.
#[cfg(all(target_arch = "wasm32", feature = "search"))]
mod js_search;
#[cfg(all(target_arch = "wasm32", feature = "search"))]
pub mod search;

/// Before anything else in the schema module.
#[cfg(all(target_arch = "wasm32", feature = "schema"))]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn start() {
    console_error_panic_hook::set_once();
}
