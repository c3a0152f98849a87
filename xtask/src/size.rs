//! What the package weighs, against its budget.

use std::process::Command;

use crate::ui::{Failure, ask, paint, root};
use crate::{package, tools};

/// Kilobytes of 1000 bytes, as a browser's network panel counts them.
const CORE_BUDGET_KB: f64 = 220.0;
const FILES: [&str; 2] = ["pkg/wasm/core.wasm", "pkg/wasm/core-inline.js"];

/// Builds the package, prints the table, and fails when the core is over its budget.
pub fn report() -> Result<(), Failure> {
    package::build()?;
    check()
}

/// The table and the verdict for the package as it lies there.
pub fn check() -> Result<(), Failure> {
    tools::npm_packages()?;
    let output = ask(Command::new("node").arg("xtask/js/size.mjs").args(FILES).current_dir(root()))
        .ok_or_else(|| Failure::new("Cannot measure the package", "Run cargo xtask build first."))?;
    println!("\n  {:<26}{:>12}{:>12}{:>12}", "KB", "raw", "gzip -9", "brotli 11");
    let mut core = 0.0;
    for (file, line) in FILES.iter().zip(output.lines()) {
        let kilobytes: Vec<f64> = line
            .split(' ')
            .filter_map(|number| number.parse::<f64>().ok())
            .map(|bytes| bytes / 1000.0)
            .collect();
        let [raw, gzip, brotli] = kilobytes[..] else {
            return Err(Failure::new(format!("Expected three sizes of {file}, found {line:?}"), ""));
        };
        println!("  {file:<26}{raw:>12.1}{gzip:>12.1}{brotli:>12.1}");
        if *file == FILES[0] {
            core = brotli;
        }
    }
    let holds = core <= CORE_BUDGET_KB;
    let (style, verdict) = if holds { ("32", "holds") } else { ("31", "is broken") };
    println!("\n  The budget {}: {core:.1} KB of {CORE_BUDGET_KB} KB brotli\n", paint(style, verdict));
    if holds {
        return Ok(());
    }
    Err(Failure::new(
        format!("The core module is {:.1} KB over its budget", core - CORE_BUDGET_KB),
        "Find what came in with: cargo tree --target wasm32-unknown-unknown -e normal, or twiggy top on the module\n\
         before wasm-opt.",
    ))
}
