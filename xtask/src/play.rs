//! The playground: built, served, driven once in a headless browser.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use crate::ui::{Failure, paint, root, skipped, step};
use crate::{package, tools};

const CHECK: &str = "www/check.mjs";
const CHECK_LIMIT: Duration = Duration::from_secs(300);
const PORT: u16 = 4173;

/// Builds the page, serves it until it is stopped, prints its URL.
pub fn serve(port: Option<u16>) -> Result<(), Failure> {
    package::build()?;
    page()?;
    let mut server = Server::start(port.unwrap_or(PORT), port.is_some())?;
    println!("\n  The playground is at  {}\n  Ctrl-C stops it.\n", paint("36;1", &server.url));
    let status = server.child.wait();
    match status {
        Ok(status) if status.success() => Ok(()),
        _ => Err(Failure::new("The server stopped", server.words())),
    }
}

/// Builds the page, serves it on a free port, and lets a headless browser run through it.
pub fn check() -> Result<(), Failure> {
    package::build()?;
    drive()
}

/// The same over the package as it lies there.
pub fn drive() -> Result<(), Failure> {
    page()?;
    if !root().join(CHECK).exists() {
        skipped("driving the playground", &format!("there is no {CHECK} yet"));
        return Ok(());
    }
    let chromium = tools::chromium()?;
    let server = Server::start(0, false)?;
    step("driving the playground in headless Chromium")
        .hint("See it yourself: cargo xtask play")
        .echo()
        .limit(CHECK_LIMIT)
        .run(Command::new("node").args([CHECK, &server.url]).env("CHROME", chromium))
        .map(drop)
}

/// The page in www/dist, with its data.
fn page() -> Result<(), Failure> {
    step("writing the sample project")
        .note(|output| output.lines().next().map(str::to_string))
        .run(Command::new("node").arg("www/sample.mjs"))?;
    step("building the playground")
        .run(
            tools::npm_tool("vite/bin/vite.js")
                .args(["build", "--logLevel", "warn"])
                .current_dir(root().join("www")),
        )
        .map(drop)
}

/// The page's server. It stops when it is dropped, and when we are gone: its standard input ends then.
struct Server {
    child: Child,
    /// Held open here, because waiting for a child closes the one it has.
    _stdin: Option<ChildStdin>,
    url: String,
}

impl Server {
    /// Starts on `port`, or the next free one unless `strict`; 0 is any free one.
    fn start(port: u16, strict: bool) -> Result<Server, Failure> {
        let mut command = Command::new("node");
        command.args(["www/serve.mjs", "--port", &port.to_string()]);
        if strict {
            command.arg("--strict");
        }
        command.current_dir(root()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .map_err(|error| Failure::new(format!("Cannot start the playground's server: {error}"), ""))?;
        let stdin = child.stdin.take();
        let mut server = Server { child, _stdin: stdin, url: String::new() };
        if let Some(stdout) = server.child.stdout.take() {
            let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
            if let Some(url) = lines.find_map(|line| line.strip_prefix("ready ").map(str::to_string)) {
                server.url = url;
                if let Some(mut stderr) = server.child.stderr.take() {
                    std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::stderr()));
                }
                return Ok(server);
            }
        }
        Err(Failure::new("The playground's server did not start", server.words()))
    }

    /// What it had to say about its end.
    fn words(&mut self) -> String {
        let mut words = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            let _ = stderr.read_to_string(&mut words);
        }
        words.lines().find(|line| line.starts_with("Error")).unwrap_or(words.trim()).to_string()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
