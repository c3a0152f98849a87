//! The npm package: Rust to a wasm module, its glue, the optimised and the inline form, TypeScript.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::stamp::{Stamp, cannot};
use crate::tools::{self, WASM_TARGET};
use crate::ui::{Failure, ask, root, step};

/// Binaryen's version, as package.json pins it and `wasm-opt --version` says it.
const BINARYEN: &str = "132";
/// What Rust's wasm32-unknown-unknown uses, and we beside it. Nothing else may creep in.
const FEATURES: [&str; 7] = [
    "--enable-bulk-memory",
    "--enable-reference-types",
    "--enable-mutable-globals",
    "--enable-sign-ext",
    "--enable-nontrapping-float-to-int",
    "--enable-multivalue",
    "--enable-bulk-memory-opt",
];
const SIMD: &str = "--enable-simd";
/// Cargo leaves the module's sections alone, because wasm-bindgen reads them; they go here.
const STRIP: [&str; 3] = ["--strip-debug", "--strip-producers", "--strip-target-features"];
/// Measured on the text and schema parts: -O3, -O4, -Os and -Oz come within 1 % of each other in size
/// and speed; -O2 is slower on UTF-8. What `--flatten --rereloop` makes of control flow, and -Oz after
/// it, is 1 % less after brotli. The
/// module that traps is for tests alone, so it is quick to build.
const LEVEL: &str = "--flatten --rereloop -Oz -Oz";
/// Twice and more: it saves what the budget needs.
const LEVEL_SMALL: &str = "-Oz --converge";
const LEVEL_FAULT: &str = "-O1";

/// One wasm module, with its glue.
struct Module {
    /// Its name in pkg/wasm.
    name: &'static str,
    /// What it is called in the output.
    title: &'static str,
    profile: &'static str,
    /// For Cargo.
    features: &'static [&'static str],
    /// For rustc.
    flags: &'static [&'static str],
    level: &'static str,
    /// Whether similar functions are made neighbours. It takes the square of their number.
    is_ordered: bool,
}

const CORE: Module = Module {
    name: "core",
    title: "the core module",
    profile: "release",
    features: &[],
    flags: &[],
    level: LEVEL,
    is_ordered: true,
};
const SCHEMA: Module = Module {
    name: "schema",
    title: "the schema module",
    profile: "schema",
    features: &["--features", "schema"],
    level: LEVEL_SMALL,
    is_ordered: false,
    ..CORE
};
const SEARCH: Module = Module {
    name: "search",
    title: "the search module",
    profile: "search",
    features: &["--features", "search"],
    level: LEVEL_SMALL,
    is_ordered: false,
    ..CORE
};
const MODULES: [&Module; 3] = [&CORE, &SEARCH, &SCHEMA];
/// As a flag for rustc: `--features` would change the hashes in the names of the exported closures.
const FAULT: Module = Module {
    title: "the module that traps",
    flags: &["--cfg", "feature=\"fault\""],
    level: LEVEL_FAULT,
    is_ordered: false,
    ..CORE
};

const RUST_INPUTS: [&str; 6] = ["base", "src", "Cargo.toml", "Cargo.lock", ".cargo/config.toml", "xtask/src"];
/// What pkg/wasm has of each module, after its name.
const WASM_OUTPUTS: [&str; 6] = [".js", ".d.ts", ".wasm", ".wasm.d.ts", "-inline.js", "-inline.d.ts"];
const WASM_TYPES: &str = "declare const module: WebAssembly.Module;\nexport default module;\n";
const INLINE_TYPES: &str = "\
/** The module: gzip, then base64. */
declare const packed: string;
export default packed;
/** Bytes of the module once unpacked. */
export const rawLength: number;
";

/// Builds all of pkg/, as it is published.
pub fn build() -> Result<(), Failure> {
    tools::npm_packages()?;
    wasm()?;
    typescript()?;
    texts()
}

/// Builds the module that traps on purpose, to target/fault/core.wasm. It runs under the published
/// module's glue, so the two must have the same.
pub fn fault() -> Result<(), Failure> {
    let wasm_bindgen = prerequisites()?;
    let outputs = ["target/fault/core.wasm", "target/fault/core.js", "pkg/wasm/core.js"];
    let stamp = Stamp::new("target/xtask/fault.stamp", &RUST_INPUTS, &outputs, versions()?);
    if stamp.fresh() {
        crate::ui::skipped("the module that traps", "unchanged");
        return Ok(());
    }
    let glue = module(&FAULT, &wasm_bindgen, "target/fault")?;
    let published = root().join("pkg/wasm/core.js");
    if read(&glue.join("core.js"))? != read(&published)? {
        return Err(Failure::new(
            "The feature `fault` changes the glue: target/fault/core.js differs from pkg/wasm/core.js",
            "The feature may change what happens inside, not what is exported or imported. Compare the two files:\n\
             diff pkg/wasm/core.js target/fault/core.js",
        ));
    }
    stamp.set()
}

/// Makes the glue's types in pkg/wasm follow the Rust sources without optimising anything, for type checks.
pub fn glue_types() -> Result<(), Failure> {
    tools::npm_packages()?;
    let wasm_bindgen = prerequisites()?;
    for module in MODULES {
        if wasm_stamp(module)?.fresh() {
            continue;
        }
        let types = format!("pkg/wasm/{}.d.ts", module.name);
        let stamp_file = format!("target/xtask/{}-types.stamp", module.name);
        let stamp = Stamp::new(&stamp_file, &RUST_INPUTS, &[types.as_str()], "");
        if stamp.fresh() {
            continue;
        }
        step(format!("building the types of {}", module.title)).run(cargo_rustc().args(module.features))?;
        let glue = root().join("target/xtask/types");
        let raw = cargo_output("debug")?;
        step("writing the types").run(&mut bindgen(&wasm_bindgen, module.name, &raw, &glue))?;
        copy(&glue.join(format!("{}.d.ts", module.name)), &root().join(types))?;
        type_files(module)?;
        stamp.set()?;
    }
    Ok(())
}

/// Types of what is no glue.
fn type_files(module: &Module) -> Result<(), Failure> {
    for (name, text) in [(".wasm.d.ts", WASM_TYPES), ("-inline.d.ts", INLINE_TYPES)] {
        write(&root().join("pkg/wasm").join(format!("{}{name}", module.name)), text)?;
    }
    Ok(())
}

/// Compiles pkg/src to pkg/dist.
pub fn typescript() -> Result<(), Failure> {
    let inputs = [
        "pkg/src",
        "pkg/tsconfig.json",
        "pkg/package.json",
        "package-lock.json",
        "pkg/wasm/core.d.ts",
        "pkg/wasm/search.d.ts",
        "pkg/wasm/schema.d.ts",
    ];
    let stamp = Stamp::new("target/xtask/dist.stamp", &inputs, &["pkg/dist"], "");
    if stamp.fresh() {
        crate::ui::skipped("compiling the TypeScript face", "unchanged");
        return Ok(());
    }
    // A file whose source is gone must not be published.
    let dist = root().join("pkg/dist");
    if dist.exists() {
        fs::remove_dir_all(&dist).map_err(|error| cannot("remove", &dist, &error))?;
    }
    step("compiling the TypeScript face").run(&mut tsc("pkg"))?;
    stamp.set()
}

/// The TypeScript compiler on a project's folder.
pub fn tsc(project: &str) -> Command {
    let mut command = tools::npm_tool("typescript/bin/tsc");
    command.args(["-p", project, "--pretty", "false"]);
    command
}

fn prerequisites() -> Result<PathBuf, Failure> {
    tools::wasm_target()?;
    tools::wasm_bindgen()
}

fn wasm_stamp(module: &Module) -> Result<Stamp, Failure> {
    let outputs: Vec<String> =
        WASM_OUTPUTS.iter().map(|end| format!("pkg/wasm/{}{end}", module.name)).collect();
    let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
    Ok(Stamp::new(format!("target/xtask/{}.stamp", module.name), &RUST_INPUTS, &outputs, versions()?))
}

/// Everything in pkg/wasm.
fn wasm() -> Result<(), Failure> {
    let wasm_bindgen = prerequisites()?;
    for one in MODULES {
        let stamp = wasm_stamp(one)?;
        if stamp.fresh() {
            crate::ui::skipped(one.title, "unchanged");
            continue;
        }
        let name = one.name;
        let built = module(one, &wasm_bindgen, &format!("target/xtask/{name}"))?;
        let folder = root().join("pkg/wasm");
        for end in [".js", ".d.ts", ".wasm"] {
            copy(&built.join(format!("{name}{end}")), &folder.join(format!("{name}{end}")))?;
        }
        type_files(one)?;
        step(format!("packing the inline form of {}", one.title)).run(Command::new("node").args([
            "xtask/js/inline.mjs",
            &format!("pkg/wasm/{name}.wasm"),
            &format!("pkg/wasm/{name}-inline.js"),
        ]))?;
        stamp.set()?;
    }
    Ok(())
}

/// Builds one module with its glue into `folder`: NAME.js, NAME.d.ts, NAME.wasm.
fn module(module: &Module, wasm_bindgen: &Path, folder: &str) -> Result<PathBuf, Failure> {
    let Module { name, title, .. } = module;
    let folder = root().join(folder);
    let mut cargo = cargo_rustc();
    cargo.args(["--profile", module.profile]).args(module.features);
    // Cargo drops LTO without a word for a library that is also an rlib; rustc refuses it loudly.
    cargo.args(["--", "-C", "lto=fat"]).args(module.flags);
    step(format!("building {title}")).run(&mut cargo)?;

    let raw = cargo_output(module.profile)?;
    step(format!("writing the glue of {title}")).run(&mut bindgen(wasm_bindgen, name, &raw, &folder))?;

    let (bound, optimised) = (folder.join(format!("{name}_bg.wasm")), folder.join(format!("{name}.wasm")));
    let mut optimise = wasm_opt(&bound)?;
    optimise.arg(SIMD).args(module.level.split(' ')).args(STRIP).arg("-o").arg(&optimised);
    step(format!("optimising {title}")).run(&mut optimise)?;
    if module.is_ordered {
        let mut order = Command::new("node");
        step(format!("ordering {title}")).run(order.arg("xtask/js/order.mjs").arg(&optimised))?;
        let mut reorder = wasm_opt(&optimised)?;
        reorder.args([SIMD, "--reorder-functions-by-name"]).args(STRIP).arg("-o").arg(&optimised);
        step(format!("writing {title}")).run(&mut reorder)?;
    }
    check_simd(&optimised)?;

    for end in ["_bg.wasm", "_bg.wasm.d.ts"] {
        let path = folder.join(format!("{name}{end}"));
        fs::remove_file(&path).map_err(|error| cannot("remove", &path, &error))?;
    }
    Ok(folder)
}

fn cargo_rustc() -> Command {
    let mut command = Command::new("cargo");
    command.args(["rustc", "--lib", "--crate-type", "cdylib", "--target", WASM_TARGET]);
    // They would take the place of the flags in .cargo/config.toml, simd128 among them.
    command.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    command
}

/// Where Cargo put the module of a profile.
fn cargo_output(profile: &str) -> Result<PathBuf, Failure> {
    let metadata = ask(Command::new("cargo")
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root()))
    .unwrap_or_default();
    let folder = metadata
        .split_once("\"target_directory\":\"")
        .and_then(|(_, rest)| rest.split_once('"'))
        .map(|(folder, _)| PathBuf::from(folder.replace("\\\\", "\\")))
        .ok_or_else(|| Failure::new("cargo metadata names no target folder", ""))?;
    Ok(folder.join(WASM_TARGET).join(profile).join("tackroom.wasm"))
}

fn bindgen(tool: &Path, name: &str, module: &Path, folder: &Path) -> Command {
    let mut command = Command::new(tool);
    command.arg(module).args(["--target", "web", "--omit-default-module-path"]);
    command.args(["--experimental-reset-state-function", "--out-name", name, "--out-dir"]).arg(folder);
    command
}

/// wasm-opt with every feature but SIMD: the one from npm. Distributions ship old ones that break
/// modules in silence.
fn wasm_opt(input: &Path) -> Result<Command, Failure> {
    let tool = "binaryen/bin/wasm-opt";
    let version = ask(tools::npm_tool(tool).arg("--version")).unwrap_or_default();
    if !version.starts_with(&format!("wasm-opt version {BINARYEN} ")) {
        return Err(Failure::new(
            format!("Expected wasm-opt version {BINARYEN}, found {version:?}"),
            "A new Binaryen goes into package.json and into xtask/src/package.rs together.",
        ));
    }
    let mut command = tools::npm_tool(tool);
    command.arg(input).arg("--mvp-features").args(FEATURES);
    Ok(command)
}

/// Fails unless the module contains SIMD instructions, which a validator without SIMD must refuse.
fn check_simd(module: &Path) -> Result<(), Failure> {
    let output = wasm_opt(module)?
        .current_dir(root())
        .output()
        .map_err(|error| Failure::new(format!("Cannot run wasm-opt: {error}"), ""))?;
    let words = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() && words.contains(SIMD) {
        return Ok(());
    }
    let why = if output.status.success() { "it is valid without SIMD".into() } else { words };
    Err(Failure::new(
        format!("The optimised module does not use simd128: {why}"),
        "The flag is in .cargo/config.toml; something has overridden it (another config, an environment variable).",
    ))
}

/// What the modules depend on beside the sources.
fn versions() -> Result<String, Failure> {
    let rustc = ask(Command::new("rustc").arg("--version")).unwrap_or_default();
    let scripts = [read(&root().join("xtask/js/inline.mjs"))?, read(&root().join("xtask/js/order.mjs"))?];
    Ok(format!("{rustc} {} {BINARYEN} {scripts:?}", tools::wasm_bindgen_version()?))
}

/// The texts that npm wants inside the package's folder.
fn texts() -> Result<(), Failure> {
    for name in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        let source = root().join(name);
        if source.exists() {
            copy(&source, &root().join("pkg").join(name))?;
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| cannot("read", path, &error))
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    write(to, read(from)?)
}

fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Failure> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| cannot("create", folder, &error))?;
    }
    fs::write(path, content).map_err(|error| cannot("write", path, &error))
}
