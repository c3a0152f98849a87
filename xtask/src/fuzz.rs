//! The fuzz targets, each for a while: no crash, no hang over a second (a few for schemas), no 200 MB at once.

use std::fs;
use std::process::Command;

use crate::tools;
use crate::ui::{Failure, root, step};

/// Megabytes for one allocation, and for all.
const LIMITS: [&str; 3] = ["-malloc_limit_mb=200", "-rss_limit_mb=2048", "-print_final_stats=1"];

/// Seconds for one input, and the sanitizer's options. For each schema a dozen validators are compiled, and of some that refer to
/// themselves the jsonschema crate keeps a few hundred bytes (`unevaluatedProperties`, in a cycle of `Arc`s).
fn own_limits(target: &str) -> (&'static str, &'static str) {
    if target == "schema" { ("-timeout=5", "detect_leaks=0") } else { ("-timeout=1", "") }
}

/// Runs every target of fuzz/ for that many minutes.
pub fn run(minutes: u32) -> Result<(), Failure> {
    let cargo_fuzz = tools::cargo_fuzz()?;
    for target in targets()? {
        let (timeout, sanitizer) = own_limits(&target);
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
                    .arg(timeout)
                    .args(LIMITS)
                    .env("ASAN_OPTIONS", sanitizer)
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
