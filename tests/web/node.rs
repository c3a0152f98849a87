//! The core in Node.
#![cfg(target_arch = "wasm32")]

mod common;

use js_sys::{Reflect, global};
use wasm_bindgen_test::wasm_bindgen_test;

#[wasm_bindgen_test]
fn runs_in_node_with_simd() {
    assert!(Reflect::has(&global(), &"process".into()).unwrap_or(false));
    const { assert!(cfg!(target_feature = "simd128")) };
}
