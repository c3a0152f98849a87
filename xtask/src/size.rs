//! What the package weighs, against its budgets.

use std::process::Command;

use crate::ui::{Failure, ask, paint, root};
use crate::{package, tools};

/// The files of the table. A budget is in kilobytes of 1000 bytes, brotli, as a browser's network panel counts them.
const FILES: [(&str, Option<f64>); 6] = [
    ("pkg/wasm/core.wasm", Some(220.0)),
    ("pkg/wasm/search.wasm", Some(400.0)),
    ("pkg/wasm/schema.wasm", Some(530.0)),
    ("pkg/wasm/core-inline.js", None),
    ("pkg/wasm/search-inline.js", None),
    ("pkg/wasm/schema-inline.js", None),
];

/// Builds the package, prints the table, and fails when a module is over its budget.
pub fn report() -> Result<(), Failure> {
    package::build()?;
    check()
}

/// The table and the verdict for the package as it lies there.
pub fn check() -> Result<(), Failure> {
    tools::npm_packages()?;
    let paths = FILES.map(|(file, _)| file);
    let output = ask(Command::new("node").arg("xtask/js/size.mjs").args(paths).current_dir(root()))
        .ok_or_else(|| Failure::new("Cannot measure the package", "Run cargo xtask build first."))?;
    println!("\n  {:<26}{:>12}{:>12}{:>12}{:>12}", "KB", "raw", "gzip -9", "brotli 11", "budget");
    let mut over = Vec::new();
    for ((file, budget), line) in FILES.iter().zip(output.lines()) {
        let kilobytes: Vec<f64> = line
            .split(' ')
            .filter_map(|number| number.parse::<f64>().ok())
            .map(|bytes| bytes / 1000.0)
            .collect();
        let [raw, gzip, brotli] = kilobytes[..] else {
            return Err(Failure::new(format!("Expected three sizes of {file}, found {line:?}"), ""));
        };
        let limit = budget.map(|budget| format!("{budget:.0}")).unwrap_or_default();
        println!("  {file:<26}{raw:>12.1}{gzip:>12.1}{brotli:>12.1}{limit:>12}");
        if budget.is_some_and(|budget| brotli > budget) {
            over.push(format!("{file} is {:.1} KB over its budget", brotli - budget.unwrap_or_default()));
        }
    }
    let (style, verdict) = if over.is_empty() { ("32", "hold") } else { ("31", "are broken") };
    println!("\n  The budgets {}\n", paint(style, verdict));
    if over.is_empty() {
        return Ok(());
    }
    Err(Failure::new(
        over.join("; "),
        "Find what came in with: cargo tree --target wasm32-unknown-unknown -e normal (--features search or schema), or twiggy\n\
         top on the module before wasm-opt.",
    ))
}
