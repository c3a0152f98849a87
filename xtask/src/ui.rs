//! One line a step: what is being done, then how long it took. A terminal sees a running clock and
//! the step's last line of output; a log sees a line now and then while a step takes its time.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// Lines of a failed command's output that are worth showing.
const TAIL: usize = 60;
/// How long the output may stay open after its command has ended (a grandchild may hold it).
const LINGER: Duration = Duration::from_secs(2);
/// In a log: the first sign of life, and then one every so often.
const LOG_FIRST: Duration = Duration::from_secs(15);
const LOG_EVERY: Duration = Duration::from_secs(30);

/// The repository's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// Why a command of ours stops: what failed, the command and the end of its output, what to do.
pub struct Failure {
    what: String,
    command: Option<String>,
    tail: String,
    hint: String,
}

impl Failure {
    /// A failure without a command behind it. `hint` says what to do, or is empty.
    pub fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Failure { what: what.into(), command: None, tail: String::new(), hint: hint.into() }
    }

    pub fn print(&self) {
        let mut text = String::new();
        if let Some(command) = &self.command {
            let _ = writeln!(text, "\n{} {command}", paint("2", "$"));
        }
        if !self.tail.is_empty() {
            let _ = writeln!(text, "\n{}", self.tail);
        }
        let _ = writeln!(text, "\n{} {}", paint("31;1", "✗"), paint("1", &self.what));
        if !self.hint.is_empty() {
            let _ = writeln!(text, "  {}", self.hint.replace('\n', "\n  "));
        }
        let _ = io::stdout().flush();
        eprint!("{text}");
    }
}

/// One step: a title, and what to tell about it.
pub struct Step {
    title: String,
    hint: String,
    note: Option<fn(&str) -> Option<String>>,
    echo: bool,
    limit: Option<Duration>,
}

/// A step called `title`, as in "building the core module".
pub fn step(title: impl Into<String>) -> Step {
    Step { title: title.into(), hint: String::new(), note: None, echo: false, limit: None }
}

impl Step {
    /// What to do when it fails.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// A word for the step's line, found in its output.
    pub fn note(mut self, note: fn(&str) -> Option<String>) -> Self {
        self.note = Some(note);
        self
    }

    /// Shows the whole output once the step is done.
    pub fn echo(mut self) -> Self {
        self.echo = true;
        self
    }

    /// Ends the command when it takes longer.
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Runs a command from the repository's root (or its own directory) and returns its output.
    pub fn run(self, command: &mut Command) -> Result<String, Failure> {
        let mut line = Line::start(&self.title);
        if command.get_current_dir().is_none() {
            command.current_dir(root());
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        match follow(command, self.limit, &mut line) {
            Ok((output, true)) => {
                line.done(self.note.and_then(|note| note(&output)).as_deref());
                if self.echo && !output.trim().is_empty() {
                    println!("{}", indent(output.trim_end()));
                }
                Ok(output)
            }
            Ok((output, false)) => {
                line.failed();
                Err(self.failure(command, tail(&output), self.hint.clone()))
            }
            Err(problem) => {
                line.failed();
                Err(self.failure(command, problem, self.hint.clone()))
            }
        }
    }

    fn failure(&self, command: &Command, tail: String, hint: String) -> Failure {
        Failure { what: format!("Failed: {}", self.title), command: Some(shown(command)), tail, hint }
    }
}

/// A line for something that needs no work: `- types: unchanged`.
pub fn skipped(title: &str, why: &str) {
    println!("{} {title}  {}", paint("2", "-"), paint("2", why));
}

/// Runs a command in silence and returns what it prints, if it succeeds.
pub fn ask(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
}

/// `text` in an SGR style, where that can be seen.
pub fn paint(style: &str, text: &str) -> String {
    if terminal() && std::env::var_os("NO_COLOR").is_none() {
        format!("\x1b[{style}m{text}\x1b[0m")
    } else {
        text.to_string()
    }
}

/// "0.4 s", "83 s", "4 min 10 s".
pub fn duration(time: Duration) -> String {
    match time.as_secs() {
        0..=9 => format!("{:.1} s", time.as_secs_f64()),
        seconds @ 10..=119 => format!("{seconds} s"),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

fn terminal() -> bool {
    io::stdout().is_terminal()
}

/// Starts the command and follows it to its end: its output, and whether it succeeded.
fn follow(command: &mut Command, limit: Option<Duration>, line: &mut Line) -> Result<(String, bool), String> {
    let mut child = command.spawn().map_err(|error| format!("could not start: {error}"))?;
    let (sender, receiver) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        read_lines(stdout, sender.clone());
    }
    if let Some(stderr) = child.stderr.take() {
        read_lines(stderr, sender.clone());
    }
    drop(sender);

    let started = Instant::now();
    let mut output = String::new();
    let mut open = true;
    loop {
        if open {
            open = receive(&receiver, &mut output, Duration::from_millis(50));
        } else {
            std::thread::sleep(Duration::from_millis(20));
        }
        line.tick(&output);
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            let deadline = Instant::now() + LINGER;
            while open && Instant::now() < deadline {
                open = receive(&receiver, &mut output, Duration::from_millis(50));
            }
            return Ok((output, status.success()));
        }
        if limit.is_some_and(|limit| started.elapsed() > limit) {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!(
                "{}\nstopped: it took longer than {}",
                tail(&output),
                duration(started.elapsed())
            ));
        }
    }
}

/// Takes what there is, waiting up to `wait` for it; false once nothing more can come.
fn receive(receiver: &Receiver<String>, output: &mut String, wait: Duration) -> bool {
    match receiver.recv_timeout(wait) {
        Ok(text) => {
            output.push_str(&text);
            output.extend(receiver.try_iter());
            true
        }
        Err(RecvTimeoutError::Timeout) => true,
        Err(RecvTimeoutError::Disconnected) => false,
    }
}

fn read_lines(stream: impl Read + Send + 'static, sender: Sender<String>) {
    std::thread::spawn(move || {
        let mut reader = BufReader::new(stream);
        let mut bytes = Vec::new();
        while reader.read_until(b'\n', &mut bytes).is_ok_and(|count| count > 0) {
            if sender.send(String::from_utf8_lossy(&bytes).into_owned()).is_err() {
                return;
            }
            bytes.clear();
        }
    });
}

/// The line of a step that is under way.
struct Line {
    title: String,
    started: Instant,
    /// When it was last written to.
    shown: Instant,
    /// In a log: whether the line has been ended to make room for signs of life.
    broken: bool,
}

impl Line {
    fn start(title: &str) -> Line {
        print!("{} {title} …", paint("36", "▸"));
        let _ = io::stdout().flush();
        Line { title: title.to_string(), started: Instant::now(), shown: Instant::now(), broken: false }
    }

    fn tick(&mut self, output: &str) {
        let elapsed = self.started.elapsed();
        let last = || last_line(output);
        if terminal() {
            if self.shown.elapsed() < Duration::from_millis(200) {
                return;
            }
            let head = format!("▸ {} … {}  ", self.title, duration(elapsed));
            let room = 100usize.saturating_sub(head.chars().count());
            let detail: String = last().chars().take(room).collect();
            let clock = paint("2", &format!("{}  {detail}", duration(elapsed)));
            print!("\r\x1b[K{} {} … {clock}", paint("36", "▸"), self.title);
        } else {
            let due = if self.broken { LOG_EVERY } else { LOG_FIRST };
            if self.shown.elapsed() < due {
                return;
            }
            if !self.broken {
                println!();
                self.broken = true;
            }
            let detail: String = last().chars().take(90).collect();
            println!("    {}  {detail}", duration(elapsed));
        }
        let _ = io::stdout().flush();
        self.shown = Instant::now();
    }

    fn done(self, note: Option<&str>) {
        let note = note.map(|note| format!("  {}", paint("2", note))).unwrap_or_default();
        self.end(&paint("32", "✓"), &format!("{}{note}", duration(self.started.elapsed())));
    }

    fn failed(self) {
        self.end(&paint("31", "✗"), &format!("failed after {}", duration(self.started.elapsed())));
    }

    fn end(&self, mark: &str, rest: &str) {
        if terminal() {
            println!("\r\x1b[K{mark} {}  {rest}", self.title);
        } else if self.broken {
            println!("  {mark} {}  {rest}", self.title);
        } else {
            println!(" {mark} {rest}");
        }
        let _ = io::stdout().flush();
    }
}

fn last_line(output: &str) -> &str {
    output.trim_end().rsplit(['\n', '\r']).next().unwrap_or_default().trim()
}

fn tail(output: &str) -> String {
    let lines: Vec<&str> = output.trim_end().lines().collect();
    let skip = lines.len().saturating_sub(TAIL);
    let mut text = lines[skip..].join("\n");
    if skip > 0 {
        text.insert_str(0, &format!("… {skip} lines before\n"));
    }
    text
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

/// The command as one could type it, with paths relative to the repository's root.
fn shown(command: &Command) -> String {
    let short = |text: &std::ffi::OsStr| {
        let path = PathBuf::from(text);
        let text = match path.strip_prefix(root()) {
            Ok(inside) if inside.as_os_str().is_empty() => ".".into(),
            Ok(inside) => inside.to_string_lossy(),
            Err(_) => text.to_string_lossy(),
        };
        if text.is_empty() || text.contains([' ', '"', '$', '*']) {
            format!("'{text}'")
        } else {
            text.into_owned()
        }
    };
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(short).collect::<Vec<_>>().join(" ")
}
