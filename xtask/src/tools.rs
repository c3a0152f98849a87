//! The tools the steps stand on: found where they are, installed where they can be, named with what
//! to do where neither works.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::stamp::Stamp;
use crate::ui::{Failure, ask, root, step};

pub const WASM_TARGET: &str = "wasm32-unknown-unknown";
const WASM_PACK: &str = "0.15.1";
const CARGO_FUZZ: &str = "0.13.2";
/// Vite and the tests need it.
const NODE: (u32, u32) = (20, 19);

/// The wasm target of the Rust toolchain.
pub fn wasm_target() -> Result<(), Failure> {
    let installed = ask(Command::new("rustc").args(["--print", "target-libdir", "--target", WASM_TARGET]));
    if installed.is_some_and(|folder| Path::new(&folder).is_dir()) {
        return Ok(());
    }
    step(format!("installing the Rust target {WASM_TARGET}"))
        .hint(format!("Without rustup, install your toolchain's standard library for {WASM_TARGET}."))
        .run(Command::new("rustup").args(["target", "add", WASM_TARGET]))
        .map(drop)
}

/// wasm-bindgen's command, of the very version that Cargo.toml pins.
pub fn wasm_bindgen() -> Result<PathBuf, Failure> {
    let version = wasm_bindgen_version()?;
    cargo_tool("wasm-bindgen-cli", &["wasm-bindgen", "wasm-bindgen-test-runner"], &version)
}

pub fn wasm_pack() -> Result<PathBuf, Failure> {
    cargo_tool("wasm-pack", &["wasm-pack"], WASM_PACK)
}

pub fn cargo_fuzz() -> Result<PathBuf, Failure> {
    cargo_tool("cargo-fuzz", &["cargo-fuzz"], CARGO_FUZZ)
}

/// The version of wasm-bindgen in Cargo.toml, where it is pinned as "=X.Y.Z".
pub fn wasm_bindgen_version() -> Result<String, Failure> {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap_or_default();
    let pinned = manifest.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        let version = value.split_once("\"=")?.1.split_once('"')?.0;
        (name.trim() == "wasm-bindgen").then(|| version.to_string())
    });
    pinned.ok_or_else(|| {
        Failure::new(
            "Cargo.toml does not pin wasm-bindgen",
            "Give an exact version: wasm-bindgen = \"=X.Y.Z\"",
        )
    })
}

/// PATH with the folders of these tools in front.
pub fn path_with(tools: &[&Path]) -> OsString {
    let folders = tools.iter().filter_map(|tool| tool.parent()).map(Path::to_path_buf);
    let path = env::var_os("PATH").unwrap_or_default();
    env::join_paths(folders.chain(env::split_paths(&path))).unwrap_or(path)
}

/// Node, after a look at its version, with the npm packages of package-lock.json in place.
pub fn npm_packages() -> Result<(), Failure> {
    node()?;
    let inputs = ["package-lock.json", "package.json", "pkg/package.json", "www/package.json", ".npmrc"];
    let stamp = Stamp::new("node_modules/.tackroom-stamp", &inputs, &[], "");
    if stamp.fresh() {
        return Ok(());
    }
    step("installing npm packages")
        .hint(
            "If package-lock.json is behind package.json: npm install, then commit it.\n\
             Versions are exact on purpose: npm may otherwise pick an old major for an old Node.",
        )
        .run(Command::new("npm").arg("ci"))?;
    stamp.set()
}

/// A Node program of an npm package, run by path: no shell wrapper stands between us and it.
pub fn npm_tool(path: &str) -> Command {
    let mut command = Command::new("node");
    command.arg(root().join("node_modules").join(path));
    command
}

/// The browser for headless runs.
pub fn chromium() -> Result<PathBuf, Failure> {
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    debian_tool("CHROME", &names, "Chromium", &CHROMIUM)
}

pub fn chromedriver() -> Result<PathBuf, Failure> {
    debian_tool("CHROMEDRIVER", &["chromedriver"], "ChromeDriver", &CHROMIUM)
}

/// The other browser for headless runs.
pub fn firefox() -> Result<PathBuf, Failure> {
    let packages =
        DebianPackages { names: &["firefox-esr"], elsewhere: "install Firefox and set FIREFOX to the file" };
    debian_tool("FIREFOX", &["firefox-esr", "firefox"], "Firefox", &packages)
}

/// What grep and find are compared with.
pub fn search_programs() -> Result<(), Failure> {
    let packages =
        DebianPackages { names: &["ripgrep", "fd-find", "git"], elsewhere: "install ripgrep, fd and git" };
    for (variable, names, title) in
        [("RG", &["rg"][..], "ripgrep"), ("FD", &["fdfind", "fd"], "fd"), ("GIT", &["git"], "git")]
    {
        debian_tool(variable, names, title, &packages)?;
    }
    Ok(())
}

/// What Debian has a program in, and what to do where there is no Debian.
struct DebianPackages {
    names: &'static [&'static str],
    elsewhere: &'static str,
}

const CHROMIUM: DebianPackages = DebianPackages {
    names: &["chromium", "chromium-driver"],
    elsewhere: "install Chrome and its ChromeDriver, of one version, and set CHROME and CHROMEDRIVER to the files",
};

fn node() -> Result<(), Failure> {
    let (major, minor) = NODE;
    let hint = format!("Install Node {major}.{minor} or newer, with npm: https://nodejs.org");
    let Some(version) = ask(Command::new("node").arg("--version")) else {
        return Err(Failure::new("Node is missing", hint));
    };
    let mut numbers = version.trim_start_matches('v').split('.').map_while(|part| part.parse::<u32>().ok());
    let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if found < NODE {
        return Err(Failure::new(format!("Node {version} is too old"), hint));
    }
    Ok(())
}

/// The first of `binaries`, installed from `package` at `version`: on PATH, in target/tools, or built now.
fn cargo_tool(package: &str, binaries: &[&str], version: &str) -> Result<PathBuf, Failure> {
    let tools = root().join("target/tools");
    let folders =
        || env::split_paths(&env::var_os("PATH").unwrap_or_default()).chain([tools.join("bin")]).collect();
    let find = |folders: Vec<PathBuf>| {
        folders
            .into_iter()
            .find(|folder| binaries.iter().all(|name| has_version(&folder.join(name), version)))
    };
    if let Some(folder) = find(folders()) {
        return Ok(folder.join(binaries[0]));
    }
    // Not --locked: the lock file that wasm-bindgen-cli ships does not build on every toolchain.
    step(format!("installing {package} {version} (some minutes, once)"))
        .hint(format!("Or put {package} {version} on PATH yourself."))
        .run(
            Command::new("cargo")
                .args(["install", package, "--force", "--version", &format!("={version}"), "--root"])
                .arg(&tools),
        )?;
    find(folders()).map(|folder| folder.join(binaries[0])).ok_or_else(|| {
        Failure::new(
            format!("{package} {version} was installed but does not run"),
            "Try it: target/tools/bin",
        )
    })
}

fn has_version(tool: &Path, version: &str) -> bool {
    tool.is_file()
        && ask(Command::new(tool).arg("--version"))
            .is_some_and(|text| text.split(' ').any(|word| word == version))
}

/// A program named by an environment variable or found on PATH, else installed from Debian.
fn debian_tool(
    variable: &str,
    names: &[&str],
    title: &str,
    packages: &DebianPackages,
) -> Result<PathBuf, Failure> {
    if let Some(path) = env::var_os(variable).map(PathBuf::from) {
        return if path.is_file() {
            Ok(path)
        } else {
            Err(Failure::new(format!("{variable} is not a file: {}", path.display()), ""))
        };
    }
    let find = || {
        let path = env::var_os("PATH").unwrap_or_default();
        let folders: Vec<PathBuf> = env::split_paths(&path).collect();
        names
            .iter()
            .find_map(|name| folders.iter().map(|folder| folder.join(name)).find(|tool| tool.is_file()))
    };
    if let Some(tool) = find() {
        return Ok(tool);
    }
    let hint = format!(
        "On Debian: apt-get install {}\nElsewhere: {}.",
        packages.names.join(" "),
        packages.elsewhere
    );
    let root_user = ask(Command::new("id").arg("-u")).is_some_and(|id| id == "0");
    if !root_user || !Path::new("/etc/debian_version").exists() {
        return Err(Failure::new(format!("{title} is missing"), hint));
    }
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
        command
    };
    step("refreshing apt's package lists").hint(&hint).run(&mut apt(&["update"]))?;
    let install = ["install", "-y", "--no-install-recommends"];
    step(format!("installing {}", packages.names.join(" and "))).hint(&hint).run(&mut apt(&[
        &install,
        packages.names,
    ]
    .concat()))?;
    find().ok_or_else(|| Failure::new(format!("{title} is still missing"), hint))
}
