//! What CI runs, in order, up to the first failure.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use crate::tools::{self, WASM_TARGET};
use crate::ui::{Failure, duration, paint, root, skipped, step};
use crate::{package, play, size};

/// A stage of the run: its name for the summary, and its steps.
type Stage = (&'static str, fn() -> Result<(), Failure>);

const QUICK: [Stage; 5] = [
    ("format", format),
    ("lints", lints),
    ("Rust tests", rust_tests),
    ("types", quick_types),
    ("TypeScript style", style),
];
const ALL: [Stage; 14] = [
    ("format", format),
    ("lints", lints),
    ("Rust docs", docs),
    ("Rust tests", rust_tests),
    ("package", package::build),
    ("the module that traps", package::fault),
    ("types", types),
    ("TypeScript style", style),
    ("package tests in Node", node_tests),
    ("parity with the reference", parity_tests),
    ("wasm tests", wasm_tests),
    ("playground", play::drive),
    ("publint", publint),
    ("size", size::check),
];

/// The Rust tests that need JavaScript around them: their name in Cargo.toml, their file, where they run.
const WASM_TESTS: [(&str, &str, &str); 3] = [
    ("web_node", "tests/web/node.rs", "Node"),
    ("web_page", "tests/web/page.rs", "a page"),
    ("web_worker", "tests/web/worker.rs", "a worker"),
];

/// Tests that passed so far, over all runners: the run closes on their number.
static PASSED: AtomicU32 = AtomicU32::new(0);

/// Runs the stages; says at the end which one failed and which were not reached.
pub fn run(quick: bool) -> Result<(), Failure> {
    let stages: &[Stage] = if quick { &QUICK } else { &ALL };
    let started = Instant::now();
    for (index, (name, stage)) in stages.iter().enumerate() {
        if let Err(failure) = stage() {
            failure.print();
            let left: Vec<&str> = stages[index + 1..].iter().map(|(name, _)| *name).collect();
            let left = if left.is_empty() { "nothing".to_string() } else { left.join(", ") };
            return Err(Failure::new(
                format!(
                    "Stopped at {name} after {}; {index} of {} stages passed",
                    duration(started.elapsed()),
                    stages.len()
                ),
                format!("Not run: {left}"),
            ));
        }
    }
    let summary = format!("All {} stages passed in {}", stages.len(), duration(started.elapsed()));
    println!("\n{} {}", paint("32;1", "✓"), paint("1", &summary));
    println!("{} passed, 0 failed", PASSED.load(Ordering::Relaxed));
    Ok(())
}

fn format() -> Result<(), Failure> {
    step("cargo fmt --check")
        .hint("cargo fmt")
        .run(Command::new("cargo").args(["fmt", "--all", "--check"]))
        .map(drop)
}

fn lints() -> Result<(), Failure> {
    step("clippy").run(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    tools::wasm_target()?;
    let mut wasm = cargo(&["clippy", "--target", WASM_TARGET, "--lib"]);
    for (name, _, _) in wasm_tests_present() {
        wasm.args(["--test", name]);
    }
    step("clippy for wasm").run(wasm.args(["--", "-D", "warnings"])).map(drop)
}

fn docs() -> Result<(), Failure> {
    step("cargo doc")
        .run(cargo(&["doc", "--no-deps", "--package", "tackroom"]).env("RUSTDOCFLAGS", "-D warnings"))
        .map(drop)
}

fn rust_tests() -> Result<(), Failure> {
    step("cargo test --workspace").note(rust_passed).run(&mut cargo(&["test", "--workspace"])).map(drop)
}

fn types() -> Result<(), Failure> {
    if has_file(&root().join("tests/js"), ".ts") {
        step("checking the types of the tests").run(&mut package::tsc("tests/js"))?;
    } else {
        skipped("checking the types of the tests", "there is no .ts file below tests/js yet");
    }
    step("checking the types of the playground").run(&mut package::tsc("www")).map(drop)
}

fn quick_types() -> Result<(), Failure> {
    package::glue_types()?;
    package::typescript()?;
    types()
}

fn style() -> Result<(), Failure> {
    step("biome (lints and format)")
        .hint("npx biome check --write")
        .run(tools::npm_tool("@biomejs/biome/bin/biome").args([
            "check",
            "--error-on-warnings",
            "--colors=off",
        ]))
        .map(drop)
}

fn node_tests() -> Result<(), Failure> {
    // Where one is missing its tests are skipped; here they are not.
    let browsers = [("CHROME", tools::chromium()?), ("FIREFOX", tools::firefox()?)];
    node_tests_of("node --test", "tests/js", &browsers)
}

fn parity_tests() -> Result<(), Failure> {
    node_tests_of("node --test against the reference", "tests/parity", &[])
}

fn node_tests_of(title: &str, folder: &str, variables: &[(&str, PathBuf)]) -> Result<(), Failure> {
    let files = files(folder, ".test.mjs");
    if files.is_empty() {
        skipped(title, &format!("there is no {folder}/*.test.mjs yet"));
        return Ok(());
    }
    step(title)
        .note(node_passed)
        .run(
            Command::new("node")
                .args(["--test", "--test-reporter=spec"])
                .args(files)
                .envs(variables.iter().cloned()),
        )
        .map(drop)
}

fn wasm_tests() -> Result<(), Failure> {
    let (wasm_bindgen, wasm_pack) = (tools::wasm_bindgen()?, tools::wasm_pack()?);
    let path = tools::path_with(&[&wasm_bindgen, &wasm_pack]);
    for (name, file, place) in WASM_TESTS {
        let title = format!("Rust tests in {place}");
        if !root().join(file).exists() {
            skipped(&title, &format!("there is no {file} yet"));
            continue;
        }
        let mut command = Command::new(&wasm_pack);
        command.args(["test", "--mode", "no-install"]);
        if place == "Node" {
            command.arg("--node");
        } else {
            // webdriver.json says how the browser starts.
            command.args(["--headless", "--chrome", "--chromedriver"]).arg(tools::chromedriver()?);
            tools::chromium()?;
        }
        step(title)
            .hint(
                "wasm-pack compiles every test of the crate for wasm: one that cannot be\n\
                 starts with #![cfg(not(target_arch = \"wasm32\"))].",
            )
            .note(rust_passed)
            .run(command.args(["--test", name]).env("PATH", &path))?;
    }
    Ok(())
}

fn publint() -> Result<(), Failure> {
    step("publint").run(tools::npm_tool("publint/src/cli.js").args(["pkg", "--strict"])).map(drop)
}

fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(arguments);
    command
}

fn wasm_tests_present() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    WASM_TESTS.into_iter().filter(|(_, file, _)| root().join(file).exists())
}

/// The files of a folder whose names end in `ending`, sorted.
fn files(folder: &str, ending: &str) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(root().join(folder))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(ending))
        .map(|name| format!("{folder}/{name}"))
        .collect();
    names.sort();
    names
}

/// Whether a folder has a file whose name ends in `ending`, at any depth.
fn has_file(folder: &Path, ending: &str) -> bool {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).any(|path| {
        if path.is_dir() { has_file(&path, ending) } else { path.to_string_lossy().ends_with(ending) }
    })
}

/// "212 passed", over all of cargo's "test result:" lines.
fn rust_passed(output: &str) -> Option<String> {
    let numbers = output.lines().filter_map(|line| {
        let rest = line.trim().strip_prefix("test result: ok. ")?;
        rest.split(' ').next()?.parse::<u32>().ok()
    });
    let passed = numbers.sum::<u32>();
    PASSED.fetch_add(passed, Ordering::Relaxed);
    Some(format!("{passed} passed"))
}

/// "40 passed", from the last lines of node's reporter.
fn node_passed(output: &str) -> Option<String> {
    let count = |word: &str| {
        let line = output.lines().rev().find_map(|line| line.trim().strip_prefix(&format!("ℹ {word} ")))?;
        line.parse::<u32>().ok()
    };
    let passed = count("pass")?;
    PASSED.fetch_add(passed, Ordering::Relaxed);
    Some(format!("{passed} passed, {} skipped", count("skipped")?))
}
