//! `cargo xtask`: builds, tests and plays. It installs the tools that are missing and says so.

mod bench;
mod fuzz;
mod package;
mod play;
mod size;
mod stamp;
mod test;
mod tools;
mod ui;

use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask COMMAND

  play [--port N]    build the package and the playground, serve it, print its URL
  play --check       the same on a free port, driven once in headless Chromium
  test               what CI runs
  test --quick       format, lints, Rust tests, types: the part that takes seconds
  build              the npm package in pkg/, optimised
  size               what the package weighs, against its budget
  bench              how fast it is, against its peers: a table; [--json FILE] [--quick] [--full]
                     [--only edit,diff,read,shell,arguments,start]
  fuzz [--minutes N] every fuzz target for that long (default 1)

Tools that are missing are installed: the wasm32 target, wasm-bindgen, wasm-pack, npm packages and,
on Debian as root, Chromium and Firefox. CHROME, CHROMEDRIVER and FIREFOX name browsers and a driver of your own.
";

/// What the command line asks for.
enum Command {
    Play { check: bool, port: Option<u16> },
    Test { quick: bool },
    Build,
    Size,
    Bench { options: Vec<String> },
    Fuzz { minutes: u32 },
    Help,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let command = match parse(&arguments) {
        Ok(command) => command,
        Err(problem) => {
            eprintln!("{problem}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let done = match command {
        Command::Play { check: true, .. } => play::check(),
        Command::Play { check: false, port } => play::serve(port),
        Command::Test { quick } => test::run(quick),
        Command::Build => package::build().map(drop),
        Command::Size => size::report(),
        Command::Bench { options } => bench::run(&options),
        Command::Fuzz { minutes } => fuzz::run(minutes),
        Command::Help => {
            print!("{USAGE}");
            Ok(())
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print();
            ExitCode::FAILURE
        }
    }
}

fn parse(arguments: &[String]) -> Result<Command, String> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["play", options @ ..] => parse_play(options),
        ["test"] => Ok(Command::Test { quick: false }),
        ["test", "--quick"] => Ok(Command::Test { quick: true }),
        ["build"] => Ok(Command::Build),
        ["size"] => Ok(Command::Size),
        ["bench", options @ ..] => parse_bench(options),
        ["fuzz"] => Ok(Command::Fuzz { minutes: 1 }),
        ["fuzz", "--minutes", minutes] => match minutes.parse() {
            Ok(minutes) if minutes > 0 => Ok(Command::Fuzz { minutes }),
            _ => Err(format!("--minutes needs a whole number from 1, found {minutes}")),
        },
        ["help" | "--help" | "-h"] => Ok(Command::Help),
        [] => Err("No command given.".into()),
        ["test" | "build" | "size" | "fuzz" | "help", rest @ ..] => {
            Err(format!("Unknown option: {}", rest.join(" ")))
        }
        [unknown, ..] => Err(format!("Unknown command: {unknown}")),
    }
}

fn parse_play(options: &[&str]) -> Result<Command, String> {
    let (mut check, mut port) = (false, None);
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        match *option {
            "--check" => check = true,
            "--port" => {
                let value = rest.next().ok_or("--port needs a number")?;
                port = Some(
                    value.parse().map_err(|_| format!("--port needs a number below 65536, found {value}"))?,
                );
            }
            unknown => return Err(format!("Unknown option: {unknown}")),
        }
    }
    Ok(Command::Play { check, port })
}

fn parse_bench(options: &[&str]) -> Result<Command, String> {
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        match *option {
            "--quick" | "--full" => {}
            "--json" | "--only" => drop(rest.next().ok_or(format!("{option} needs a value"))?),
            unknown => return Err(format!("Unknown option: {unknown}")),
        }
    }
    Ok(Command::Bench { options: options.iter().map(|option| (*option).to_string()).collect() })
}
