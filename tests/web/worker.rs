//! The core in a dedicated worker of a browser.
#![cfg(target_arch = "wasm32")]

mod common;

use js_sys::{Reflect, global};
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

#[wasm_bindgen_test]
fn runs_in_a_worker_with_simd() {
    assert!(Reflect::has(&global(), &"DedicatedWorkerGlobalScope".into()).unwrap_or(false));
    const { assert!(cfg!(target_feature = "simd128")) };
}
