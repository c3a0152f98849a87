//! What CI runs, in order, up to the first failure.

use std::fs;
use std::path::Path;
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
const ALL: [Stage; 17] = [
    ("format", format),
    ("lints", lints),
    ("Rust docs", docs),
    // Where one is missing the comparisons with it are skipped; here they are not.
    ("ripgrep, fd and git", tools::search_programs),
    ("Rust tests", rust_tests),
    ("package", package::build),
    ("the module that traps", package::fault),
    ("types", types),
    ("TypeScript style", style),
    ("package tests in Node", node_tests),
    ("the packed package", packed_tests),
    ("parity with the reference", parity_tests),
    ("wasm tests", wasm_tests),
    ("playground", play::drive),
    ("publint", publint),
    ("types of the entries", attw),
    ("size", size::check),
];

/// The Rust tests that need JavaScript around them: their name in Cargo.toml, their file, where they run.
const WASM_TESTS: [(&str, &str, &str); 3] = [
    ("web_node", "tests/web/node.rs", "Node"),
    ("web_page", "tests/web/page.rs", "a page"),
    ("web_worker", "tests/web/worker.rs", "a worker"),
];

/// What makes the crate that of a module of its own, natively too.
const WITH_ENGINE: [&str; 2] = ["--features", "tackroom/schema"];
const WITH_SEARCH: [&str; 2] = ["--features", "tackroom/search"];
const WITH_ALL: [&str; 2] = ["--features", "tackroom/schema,tackroom/search"];

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
    tools::wasm_target()?;
    for (with, features) in [("", &[][..]), (", with the engine and search", &WITH_ALL)] {
        let mut native = cargo(&["clippy", "--workspace", "--all-targets"]);
        step(format!("clippy{with}")).run(native.args(features).args(["--", "-D", "warnings"]))?;
    }
    let modules = [("", &[][..]), (", with the engine", &WITH_ENGINE), (", with search", &WITH_SEARCH)];
    for (with, features) in modules {
        let mut wasm = cargo(&["clippy", "--target", WASM_TARGET, "--package", "tackroom", "--lib"]);
        if features.is_empty() {
            // They call the core.
            wasm.args(wasm_tests_present().flat_map(|(name, _, _)| ["--test", name]));
        }
        step(format!("clippy for wasm{with}")).run(wasm.args(features).args(["--", "-D", "warnings"]))?;
    }
    Ok(())
}

fn docs() -> Result<(), Failure> {
    step("cargo doc")
        .run(cargo(&["doc", "--no-deps", "--package", "tackroom"]).env("RUSTDOCFLAGS", "-D warnings"))
        .map(drop)
}

fn rust_tests() -> Result<(), Failure> {
    let workspace = ["test", "--workspace"];
    step("cargo test --workspace").note(rust_passed).run(&mut cargo(&workspace))?;
    step("cargo test --workspace, with the engine and search")
        .note(rust_passed)
        .run(cargo(&workspace).args(WITH_ALL))
        .map(drop)
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
    node_tests_with("node --test", "tests/js", |command| {
        command.envs(browsers);
    })
}

/// The package as npm packs it, in Chromium, in workerd, and through bundlers for them.
fn packed_tests() -> Result<(), Failure> {
    let chromium = tools::chromium()?;
    node_tests_with("node --test of the packed package", "tests/packaging", |command| {
        command.env("CHROME", chromium);
    })
}

fn parity_tests() -> Result<(), Failure> {
    node_tests_of("node --test against the reference", "tests/parity")
}

fn node_tests_of(title: &str, folder: &str) -> Result<(), Failure> {
    node_tests_with(title, folder, |_| {})
}

fn node_tests_with(title: &str, folder: &str, adapt: impl FnOnce(&mut Command)) -> Result<(), Failure> {
    let files = files(folder, ".test.mjs");
    if files.is_empty() {
        skipped(title, &format!("there is no {folder}/*.test.mjs yet"));
        return Ok(());
    }
    let mut command = Command::new("node");
    command.args(["--test", "--test-reporter=spec"]).args(files);
    adapt(&mut command);
    step(title).note(node_passed).run(&mut command).map(drop)
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

/// "Are the types wrong?": each entry's types, as each kind of module resolution finds them.
fn attw() -> Result<(), Failure> {
    step("attw")
        .run(tools::npm_tool("@arethetypeswrong/cli/dist/index.js").args([
            "--pack",
            "pkg",
            "--profile",
            "esm-only",
            "--no-color",
            "--no-emoji",
        ]))
        .map(drop)
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
