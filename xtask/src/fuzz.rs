//! The fuzz targets, each for a while: no crash, no hang over a second, no 200 MB.

use std::fs;
use std::process::Command;

use crate::tools;
use crate::ui::{Failure, root, step};

/// Seconds for one input, and megabytes for one allocation.
const LIMITS: [&str; 3] = ["-timeout=1", "-malloc_limit_mb=200", "-print_final_stats=1"];

/// Runs every target of fuzz/ for that many minutes.
pub fn run(minutes: u32) -> Result<(), Failure> {
    let cargo_fuzz = tools::cargo_fuzz()?;
    for target in targets()? {
        step(format!("fuzzing {target} for {minutes} min"))
            .hint(format!(
                "The input is in fuzz/artifacts/{target}. Run it again with:\n\
                 RUSTC_BOOTSTRAP=1 cargo fuzz run {target} fuzz/artifacts/{target}/FILE"
            ))
            .note(|output| {
                let runs =
                    output.lines().rev().find_map(|line| line.split("number_of_executed_units:").nth(1))?;
                Some(format!("{} inputs", runs.trim()))
            })
            .run(
                Command::new(&cargo_fuzz)
                    .args(["run", &target, "--", &format!("-max_total_time={}", minutes * 60)])
                    .args(LIMITS)
                    // cargo-fuzz needs nightly flags; no other toolchain has to be there for them.
                    .env("RUSTC_BOOTSTRAP", "1"),
            )?;
    }
    Ok(())
}

/// The names of the targets, sorted.
fn targets() -> Result<Vec<String>, Failure> {
    let folder = root().join("fuzz/fuzz_targets");
    let entries = fs::read_dir(&folder)
        .map_err(|error| Failure::new(format!("Could not list {}", folder.display()), error.to_string()))?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_string_lossy().strip_suffix(".rs").map(str::to_owned))
        .collect();
    names.sort();
    Ok(names)
}
