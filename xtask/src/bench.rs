//! The benches: the package as it is built, against its peers, in one Node process.

use std::process::{Command, Stdio};

use crate::package;
use crate::ui::{Failure, root};

/// Builds the package and runs the benches over it. A missed target is marked in the table and is no failure.
/// `options` go to benches/run.mjs.
pub fn run(options: &[String]) -> Result<(), Failure> {
    package::build()?;
    println!();
    let status = Command::new("node")
        .args(["--expose-gc", "benches/run.mjs"])
        .args(options)
        .current_dir(root())
        .stdin(Stdio::null())
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(Failure::new(
            "A bench failed",
            "Its row says why. One group alone: cargo xtask bench --only read",
        )),
        Err(error) => Err(Failure::new(format!("Cannot run node: {error}"), "")),
    }
}
