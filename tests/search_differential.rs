//! grep and find against ripgrep, fd and git, over generated trees and the repository that this is.
//!
//! What differs, and why, is in [`DIFFERENCES`]; each of these is shown to differ still. Where a program is missing its
//! comparisons are skipped: `cargo xtask test` sees to it that they are there.
#![cfg(not(target_arch = "wasm32"))]

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tackroom::call::{
    self, Arguments, Event, NoHooks, Observer, Options, Registry, Scope, ToolCall, ToolResult,
};
use tackroom::env::{Abort, Env, FileInfo, FileKind, ManualHost, MutationQueue};
use tackroom::error::{ErrorCode, ToolError};

/// Numbers that are the same each time: splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, count: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (x ^ (x >> 31)) % count
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
    }
}

/// Trees that are generated.
const TREES: u64 = 24;

/// Where we differ from a program on purpose, or it from its own later versions.
#[derive(Debug)]
struct Difference {
    why: &'static str,
    /// Files, with their content.
    files: &'static [(&'static str, &'static str)],
    with: With,
    /// Arguments of `grep` or `find`, as the program takes them.
    arguments: &'static [&'static str],
    theirs: &'static [&'static str],
    ours: &'static [&'static str],
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum With {
    /// `rg --files`
    RipgrepFiles,
    /// `rg -n` and a pattern
    RipgrepLines,
    /// `git check-ignore`, of which these are the files that are not ignored
    Git,
    /// `fd --glob` and a pattern
    #[allow(dead_code, reason = "there is none")]
    Fd,
}

const DIFFERENCES: &[Difference] = &[
    Difference {
        why: "braces in ignore files are alternatives to ripgrep, whose matcher this is, and letters to git",
        files: &[(".gitignore", "*.{a,b}\n"), ("x.a", ""), ("x.{a,b}", "")],
        with: With::Git,
        arguments: &[],
        theirs: &[".gitignore", "x.a"],
        ours: &[".gitignore", "x.{a,b}"],
    },
    Difference {
        why: "of a binary file ripgrep 13 shows the first line where the pattern matches nothing there",
        files: &[("f", "a\nb\0")],
        with: With::RipgrepLines,
        arguments: &["-e", "x*"],
        theirs: &[
            "f:1:a",
            "f: WARNING: stopped searching binary file after match (found \"\\0\" byte around offset 3)",
        ],
        ours: &[],
    },
    Difference {
        why: "since ripgrep 14 `^` and `$` match beside a lone CR, too",
        files: &[("f", "a\rb\n")],
        with: With::RipgrepLines,
        arguments: &["-e", "^b"],
        theirs: &[],
        ours: &["f:1:a\rb"],
    },
    Difference {
        why: "a `.gitignore` that is a link is not followed, as in git; ripgrep reads it",
        files: &[("rules", "a\n"), (".gitignore -> rules", ""), ("a", "")],
        with: With::RipgrepFiles,
        arguments: &[],
        theirs: &["rules"],
        ours: &["a", "rules"],
    },
];

/// The machine's disk, as far as a search needs it.
struct Disk {
    cwd: String,
}

fn failed(error: &std::io::Error, path: &str) -> ToolError {
    let code = match error.kind() {
        std::io::ErrorKind::NotFound => ErrorCode::NotFound,
        std::io::ErrorKind::NotADirectory => ErrorCode::NotDirectory,
        std::io::ErrorKind::IsADirectory => ErrorCode::IsDirectory,
        std::io::ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
        _ => ErrorCode::Unknown,
    };
    ToolError::new(code, error.to_string()).at(path)
}

fn info(path: &Path, metadata: &fs::Metadata) -> FileInfo {
    let kind = match metadata.file_type() {
        kind if kind.is_symlink() => FileKind::Symlink,
        kind if kind.is_dir() => FileKind::Directory,
        _ => FileKind::File,
    };
    FileInfo {
        name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        path: path.to_string_lossy().into_owned(),
        kind,
        size: metadata.len(),
        mtime_ms: 0.0,
    }
}

impl Env for Disk {
    fn cwd(&self) -> &str {
        &self.cwd
    }

    async fn read_file(&self, path: &str) -> Result<Vec<u8>, ToolError> {
        fs::read(path).map_err(|error| failed(&error, path))
    }

    async fn write_file(&self, path: &str, _content: &[u8]) -> Result<(), ToolError> {
        Err(ToolError::new(ErrorCode::PermissionDenied, "a search writes nothing").at(path))
    }

    async fn file_info(&self, path: &str) -> Result<FileInfo, ToolError> {
        let metadata = fs::symlink_metadata(path).map_err(|error| failed(&error, path))?;
        Ok(info(Path::new(path), &metadata))
    }

    async fn list_dir(&self, path: &str) -> Result<Vec<FileInfo>, ToolError> {
        let entries = fs::read_dir(path).map_err(|error| failed(&error, path))?;
        entries
            .map(|entry| {
                let entry = entry?;
                Ok(info(&entry.path(), &entry.metadata()?))
            })
            .collect::<Result<_, std::io::Error>>()
            .map_err(|error| failed(&error, path))
    }

    async fn canonical_path(&self, path: &str) -> Result<Option<String>, ToolError> {
        let real = fs::canonicalize(path).map_err(|error| failed(&error, path))?;
        Ok(Some(real.to_string_lossy().into_owned()))
    }
}

#[derive(Default)]
struct Answer(RefCell<Option<ToolResult>>);

impl Observer for Answer {
    fn event(&self, _event: Event<'_>) {}

    fn settle(&self, result: ToolResult) {
        *self.0.borrow_mut() = Some(result);
    }
}

/// What a tool says of a directory.
fn ask(directory: &Path, name: &str, arguments: Value) -> ToolResult {
    let options = json!({"tools": ["grep", "find"], "limits": {"maxBytes": 1e9, "maxLines": 1e9}});
    let options = Options::from_json(options.to_string().as_bytes()).expect("the options are good");
    let (host, answer) = (ManualHost::default(), Answer::default());
    let scope = Scope {
        registry: &Registry::new(&options, &[]),
        options: &options,
        env: &Disk { cwd: directory.to_string_lossy().into_owned() },
        host: &host,
        hooks: &NoHooks,
        queue: &MutationQueue::default(),
        abort: &Abort::default(),
        redactor: None,
        observer: &answer,
    };
    let call = ToolCall {
        id: "1".into(),
        name: name.into(),
        arguments: Arguments::Value(arguments),
        incomplete: false,
    };
    host.run(call::run(call, scope));
    answer.0.take().expect("it answers")
}

/// Lines of a result.
fn lines_of(result: &ToolResult, none: &str) -> Vec<String> {
    let text = result.text();
    assert!(!result.is_error, "{text}");
    if text == none { vec![] } else { text.split('\n').map(str::to_owned).collect() }
}

fn find(directory: &Path, pattern: &str) -> Vec<String> {
    let result = ask(directory, "find", json!({"pattern": pattern, "limit": 1_000_000}));
    lines_of(&result, "No files found matching pattern")
}

/// Without links, which ripgrep does not list.
fn files(directory: &Path) -> Vec<String> {
    let mut found = find(directory, "**");
    found.retain(|path| !directory.join(path).is_symlink());
    found
}

/// `path:line:text`, and `path-line-text` beside a match.
fn grep(directory: &Path, mut arguments: Value) -> Vec<String> {
    arguments["limit"] = json!(1_000_000);
    let lines = lines_of(&ask(directory, "grep", arguments), "No matches found");
    lines.into_iter().map(|line| one_blank_less(&line)).collect()
}

/// Takes away the blank after `path:line:`.
fn one_blank_less(line: &str) -> String {
    for mark in [':', '-'] {
        for (at, _) in line.match_indices(mark) {
            let rest = &line[at + 1..];
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            if digits > 0 && rest[digits..].starts_with(&format!("{mark} ")) {
                let end = at + 1 + digits + 1;
                return format!("{}{}", &line[..end], &line[end + 1..]);
            }
        }
    }
    line.to_owned()
}

/// A program and what it has to be told always; None, with a word, where it is missing.
struct Program {
    name: &'static str,
    home: PathBuf,
}

impl Program {
    fn find(names: &[&'static str], home: &Path) -> Option<Program> {
        let is_there = |name: &str| {
            let mut command = Command::new(name);
            command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        let found = names.iter().find(|name| is_there(name));
        if found.is_none() {
            println!("skipped: {} is missing", names[0]);
        }
        found.map(|name| Program { name, home: home.to_owned() })
    }

    fn run(&self, directory: &Path, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let mut command = Command::new(self.name);
        // What the machine's user has set is not the program's.
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", &self.home).env("GIT_CONFIG_NOSYSTEM", "1").env("LC_ALL", "C.UTF-8");
        command.current_dir(directory).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let mut stdin = child.stdin.take().expect("piped");
        let input = input.to_vec();
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().expect("it ends");
        writer.join().expect("it was written");
        let code = output.status.code();
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(code, Some(0 | 1)), "{} {arguments:?}: {code:?} {words}", self.name);
        output.stdout
    }

    fn lines(&self, directory: &Path, arguments: &[&str]) -> Vec<String> {
        let output = String::from_utf8_lossy(&self.run(directory, arguments, b"")).into_owned();
        let line = |line: &str| {
            // Of a line's end nothing is shown here.
            let line = line.trim_end_matches('\r');
            line.strip_prefix("./").unwrap_or(line).to_owned()
        };
        output.strip_suffix('\n').map(|text| text.split('\n').map(line).collect()).unwrap_or_default()
    }
}

const RIPGREP: &[&str] = &[
    "--no-config",
    "--hidden",
    "--no-require-git",
    "--no-ignore-global",
    "--no-ignore-exclude",
    "--no-ignore-messages",
    "--sort",
    "path",
    "--color=never",
];

fn ripgrep_files(rg: &Program, directory: &Path) -> Vec<String> {
    rg.lines(directory, &[RIPGREP, &["-g", "!.git", "--files", "."]].concat())
}

fn ripgrep_lines(rg: &Program, directory: &Path, arguments: &[&str]) -> Vec<String> {
    let shown = ["-n", "--crlf", "--no-heading", "--with-filename"];
    let mut lines = rg.lines(directory, &[RIPGREP, &shown, arguments, &["-g", "!.git", "."]].concat());
    lines.retain(|line| line != "--");
    lines
}

/// The same without what is of binary files: see the first of [`DIFFERENCES`].
fn ripgrep_text_lines(rg: &Program, directory: &Path, arguments: &[&str]) -> Vec<String> {
    let mut lines = ripgrep_lines(rg, directory, arguments);
    let warned =
        |line: &String| Some(line.split_once(": WARNING: stopped searching binary file")?.0.to_owned());
    for file in lines.iter().filter_map(warned).collect::<Vec<_>>() {
        lines.retain(|line| !line.starts_with(&format!("{file}:")));
    }
    lines
}

/// What is not ignored, of all files of a tree.
fn git_files(git: &Program, directory: &Path) -> Vec<String> {
    let mut all = BTreeSet::new();
    below(directory, directory, &mut all);
    let input: Vec<u8> = all.iter().flat_map(|path| path.bytes().chain([0])).collect();
    let output = git.run(directory, &["check-ignore", "--no-index", "--stdin", "-z"], &input);
    for ignored in output.split(|byte| *byte == 0) {
        all.remove(&*String::from_utf8_lossy(ignored));
    }
    all.into_iter().collect()
}

fn below(top: &Path, directory: &Path, all: &mut BTreeSet<String>) {
    for entry in fs::read_dir(directory).expect("it can be listed") {
        let path = entry.expect("it can be listed").path();
        if path.file_name().is_some_and(|name| name == ".git") {
            continue;
        }
        if path.is_dir() && !path.is_symlink() {
            below(top, &path, all);
        } else {
            all.insert(path.strip_prefix(top).expect("below").to_string_lossy().into_owned());
        }
    }
}

fn fd_files(fd: &Program, directory: &Path, pattern: &str) -> Vec<String> {
    let always =
        ["--glob", "--hidden", "--case-sensitive", "--color=never", "-t", "f", "-t", "l", "-E", ".git"];
    let mut found = match pattern.contains('/') {
        false => fd.lines(directory, &[&always[..], &["--", pattern]].concat()),
        // fd matches whole paths, which are absolute then.
        true => {
            let pattern = format!("{}/{pattern}", directory.display());
            fd.lines(directory, &[&always[..], &["--full-path", "--", &pattern]].concat())
        }
    };
    found.sort();
    found
}

/// A folder that is gone when this is.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("tackroom-search-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a temporary folder can be made");
        Folder(fs::canonicalize(path).expect("it is there"))
    }

    fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.0.join(path);
        // A file may be in the way of a directory, or the other way round: then there is one thing less.
        if fs::create_dir_all(path.parent().expect("it is below")).is_ok() {
            let _ = fs::write(path, content);
        }
    }

    fn link(&self, target: &str, path: &str) {
        #[cfg(unix)]
        let _ = std::os::unix::fs::symlink(target, self.0.join(path));
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const DIRECTORIES: &[&str] =
    &["src", "out", "lib", "a", "b", "Deep er", "é", ".hidden", "x.d", "#dir", "node"];
const NAMES: &[&str] = &[
    "a.ts",
    "b.tsx",
    "c.js",
    "keep.log",
    "d.log",
    "Makefile",
    "README.md",
    ".env",
    "é.txt",
    "E.TXT",
    "with space",
    " lead",
    "!bang",
    "#hash",
    "[x]",
    "a\\b",
    "x",
    "out",
    "tmp",
    "a-b",
    "a.b.c",
    "b",
    "~",
    "$",
    "ö",
    "日本",
];

fn directory(random: &mut Random) -> String {
    let depth = random.below(4);
    (0..depth).map(|_| format!("{}/", random.pick(DIRECTORIES))).collect()
}

/// A line of an ignore file, of every kind.
fn rule(random: &mut Random) -> String {
    let name = |random: &mut Random| -> String {
        let name = match random.below(2) {
            0 => *random.pick(NAMES),
            _ => *random.pick(DIRECTORIES),
        };
        // As the file names themselves are meant.
        let escaped: String = name
            .chars()
            .flat_map(|c| match c {
                '\\' | '[' | ']' | '*' | '?' => vec!['\\', c],
                _ => vec![c],
            })
            .collect();
        match escaped.chars().next() {
            Some('#' | '!') => format!("\\{escaped}"),
            _ => escaped,
        }
    };
    let mut line = match random.below(16) {
        0 => "*".to_owned(),
        1 => format!("*.{}", random.pick(&["ts", "log", "txt", "TXT", "d", "b*"])),
        2 => format!("**/{}", name(random)),
        3 => format!("{}/**", name(random)),
        4 => format!("{}/**/{}", name(random), name(random)),
        5 => format!("{}/{}", name(random), name(random)),
        6 => format!("/{}", name(random)),
        7 => "[a-c]*".to_owned(),
        8 => "[!a-c].*".to_owned(),
        9 => format!("{}?", &random.pick(&["a", "x", ".en"])),
        10 => "# a comment".to_owned(),
        11 => String::new(),
        12 => format!("{}   ", name(random)),
        13 => format!("{}/*", name(random)),
        14 => format!("*{}*", random.pick(&["a", "e", "."])),
        _ => name(random),
    };
    if random.below(5) == 0 && !line.starts_with(['#', '*']) && !line.is_empty() {
        line = format!("{}/", line.trim_end());
    }
    if random.below(4) == 0 && !line.starts_with('#') && !line.is_empty() {
        line = format!("!{line}");
    }
    line
}

const WORDS: &[&str] =
    &["foo", "bar", "Foo", "straße", "naïve", "42", "x_1", "()", "a.b", "\t", "  ", "日本", "é", "\u{FFFD}"];

fn content(random: &mut Random) -> Vec<u8> {
    let mut bytes = match random.below(12) {
        0 => b"\xEF\xBB\xBF".to_vec(),
        _ => Vec::new(),
    };
    let end = if random.below(3) == 0 { "\r\n" } else { "\n" };
    for _ in 0..random.below(12) {
        for _ in 0..random.below(5) {
            bytes.extend(random.pick(WORDS).bytes());
            bytes.extend(random.pick(&[" ", "", "-"]).bytes());
        }
        if random.below(30) == 0 {
            bytes.push(*random.pick(&[0xFF, 0xC3, 0]));
        }
        bytes.extend(end.bytes());
    }
    if random.below(4) == 0 {
        bytes.pop();
    }
    if random.below(10) == 0 {
        let text = String::from_utf8_lossy(&bytes).replace(['\0', '\u{FEFF}'], "");
        bytes = [0xFF, 0xFE].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    }
    bytes
}

/// A tree with ignore files; `has_ignore` says whether some are of ripgrep's own kind.
fn plant(folder: &Folder, random: &mut Random, has_ignore: bool) {
    for _ in 0..random.below(60) + 20 {
        let path = format!("{}{}", directory(random), random.pick(NAMES));
        folder.put(&path, content(random));
    }
    for _ in 0..random.below(3) {
        let target = *random.pick(&["src", "a.ts", "nowhere", "."]);
        folder.link(target, &format!("link{}", random.below(9)));
    }
    for at in 0..random.below(5) + 1 {
        let place = if at == 0 { String::new() } else { directory(random) };
        let name = if has_ignore && random.below(2) == 0 { ".ignore" } else { ".gitignore" };
        let end = if random.below(4) == 0 { "\r\n" } else { "\n" };
        let mut text: String = (0..random.below(6) + 1).map(|_| rule(random) + end).collect();
        if random.below(3) == 0 {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        folder.put(&format!("{place}{name}"), text);
    }
}

const PATTERNS: &[&str] = &[
    "foo",
    "^foo",
    "foo$",
    "bar$",
    "^$",
    "Foo|42",
    "\\bfoo\\b",
    "\\w+ße",
    "naïve.",
    "[[:alpha:]]+_\\d",
    "é",
    "日.",
    "a\\.b",
    "\\(\\)",
    "^\\s+",
    "\\S+-\\S+",
    "(foo|bar)+",
    "\\p{Han}",
    "(?i)FOO",
    "x*",
    ".",
    "[^ ]o",
    "\\d{2}",
    "foo bar",
    "o{2}",
    "^.{3}$",
];
const GLOBS: &[&str] = &[
    "*.ts",
    "*.{ts,tsx}",
    "**/*.ts",
    "src/**",
    "[a-c].*",
    "!*.ts",
    "!src",
    "a/",
    "*",
    "**/a/*",
    "/*.ts",
    "é*",
    ".*",
];
const FINDS: &[&str] = &[
    "*",
    "*.ts",
    "*.{ts,tsx}",
    "[ab].*",
    "[!a]*",
    "!*",
    "?",
    ".*",
    "*.TXT",
    "é*",
    "src/*.ts",
    "src/**/*.ts",
    "**/*.log",
    "**/a/*",
    "out/**",
    "*/b",
    "a*b",
];

/// So many of them, others for each tree; all trees together have all.
fn some<'a>(all: &'a [&'a str], seed: u64, count: usize) -> impl Iterator<Item = &'a str> {
    let first = seed as usize * count;
    (first..first + count).map(|at| all[at % all.len()])
}

/// Holds two lists together; what differs is told for all trees at once.
fn differ(problems: &mut Vec<String>, what: &str, folder: &Folder, theirs: &[String], ours: &[String]) {
    if theirs == ours {
        return;
    }
    let lacking: Vec<_> = theirs.iter().filter(|line| !ours.contains(line)).take(5).collect();
    let surplus: Vec<_> = ours.iter().filter(|line| !theirs.contains(line)).take(5).collect();
    let mut rules = String::new();
    let mut all = BTreeSet::new();
    below(&folder.0, &folder.0, &mut all);
    for path in all.iter().filter(|path| path.ends_with("ignore")) {
        let text = fs::read(folder.0.join(path)).unwrap_or_default();
        rules.push_str(&format!("    {path}: {:?}\n", String::from_utf8_lossy(&text)));
    }
    problems.push(format!("{what}\n  lacking {lacking:?}\n  surplus {surplus:?}\n{rules}"));
}

#[test]
fn generated_trees_are_as_others_see_them() {
    let home = Folder::new("home");
    let rg = Program::find(&["rg"], &home.0);
    let fd = Program::find(&["fdfind", "fd"], &home.0);
    let git = Program::find(&["git"], &home.0);
    let (mut problems, mut compared) = (Vec::new(), 0);
    for seed in 0..TREES {
        let mut random = Random(seed);
        let folder = Folder::new(&format!("tree-{seed}"));
        let has_ignore = seed % 3 == 0;
        plant(&folder, &mut random, has_ignore);
        let is_repository = seed % 4 != 1 && git.as_ref().is_some();
        if let Some(git) = git.as_ref().filter(|_| is_repository) {
            git.run(&folder.0, &["init", "-q"], b"");
        }
        let all = find(&folder.0, "**");
        if let Some(rg) = &rg {
            differ(
                &mut problems,
                &format!("{seed}: rg --files"),
                &folder,
                &ripgrep_files(rg, &folder.0),
                &files(&folder.0),
            );
            for pattern in some(PATTERNS, seed, 9) {
                let ours = grep(&folder.0, json!({"pattern": pattern}));
                let theirs = ripgrep_text_lines(rg, &folder.0, &["-e", pattern]);
                compared += theirs.len();
                differ(&mut problems, &format!("{seed}: rg {pattern}"), &folder, &theirs, &ours);
            }
            for (context, pattern) in [(1, "foo"), (3, "bar$")] {
                let ours =
                    grep(&folder.0, json!({"pattern": pattern, "context": context, "ignoreCase": true}));
                let theirs =
                    ripgrep_text_lines(rg, &folder.0, &["-i", "-C", &context.to_string(), "-e", pattern]);
                differ(
                    &mut problems,
                    &format!("{seed}: rg -i -C {context} {pattern}"),
                    &folder,
                    &theirs,
                    &ours,
                );
            }
            for glob in some(GLOBS, seed, 5) {
                let ours = grep(&folder.0, json!({"pattern": "()", "literal": true, "glob": glob}));
                let theirs = ripgrep_text_lines(rg, &folder.0, &["-F", "-g", glob, "-e", "()"]);
                differ(&mut problems, &format!("{seed}: rg -F -g {glob}"), &folder, &theirs, &ours);
            }
        }
        if let Some(git) = git.as_ref().filter(|_| is_repository && !has_ignore) {
            let mut ours = all.clone();
            ours.sort();
            let theirs = git_files(git, &folder.0);
            compared += theirs.len();
            differ(&mut problems, &format!("{seed}: git"), &folder, &theirs, &ours);
        }
        if let Some(fd) = fd.as_ref().filter(|_| is_repository) {
            for pattern in some(FINDS, seed, 6) {
                let mut ours = find(&folder.0, pattern);
                ours.sort();
                let theirs = fd_files(fd, &folder.0, pattern);
                compared += theirs.len();
                differ(&mut problems, &format!("{seed}: fd {pattern}"), &folder, &theirs, &ours);
            }
        }
    }
    if rg.is_some() && fd.is_some() && git.is_some() {
        assert!(compared > 6_000, "only {compared} lines were compared");
    }
    let shown: Vec<&String> = problems.iter().take(12).collect();
    assert!(
        problems.is_empty(),
        "{} differences\n{}",
        problems.len(),
        shown.iter().map(|s| s.as_str()).collect::<Vec<_>>().join("\n")
    );
}

#[test]
fn this_repository_is_as_others_see_it() {
    let home = Folder::new("home-2");
    let top = fs::canonicalize(env!("CARGO_MANIFEST_DIR")).expect("it is there");
    if !top.join(".git").exists() {
        println!("skipped: this is no repository");
        return;
    }
    let (mut ours, only_files) = (find(&top, "**"), files(&top));
    assert!(only_files.len() > 200 && only_files.contains(&"src/search.rs".to_owned()));
    if let Some(rg) = Program::find(&["rg"], &home.0) {
        assert_eq!(ripgrep_files(&rg, &top), only_files);
        for pattern in ["fn \\w+_of\\(", "ripgrep", "^use .*;$", "\\bunwrap\\(\\)", "[[:^ascii:]]", "TODO"] {
            let theirs = ripgrep_lines(&rg, &top, &["-M", "400", "--max-columns-preview", "-e", pattern]);
            let lines: Vec<String> = grep(&top, json!({"pattern": pattern}));
            // Long lines are shown in other ways.
            let place = |line: &String| line.splitn(3, ':').take(2).collect::<Vec<_>>().join(":");
            let notes = |line: &&String| !line.is_empty() && !line.starts_with("[Some lines truncated");
            assert_eq!(
                theirs.iter().map(place).collect::<Vec<_>>(),
                lines.iter().filter(notes).map(place).collect::<Vec<_>>(),
                "{pattern}"
            );
        }
    }
    if let Some(git) = Program::find(&["git"], &home.0) {
        ours.sort();
        let output = git.run(
            &top,
            &["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            b"",
        );
        let listed = output.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        let theirs: BTreeSet<String> = listed
            .map(|path| String::from_utf8_lossy(path).into_owned())
            .filter(|path| top.join(path).symlink_metadata().is_ok())
            .collect();
        assert_eq!(theirs.into_iter().collect::<Vec<_>>(), ours);
    }
}

#[test]
fn the_differences_are_those_that_are_known() {
    let home = Folder::new("home-3");
    let Some(git) = Program::find(&["git"], &home.0) else { return };
    for (nth, difference) in DIFFERENCES.iter().enumerate() {
        let folder = Folder::new(&format!("difference-{nth}"));
        git.run(&folder.0, &["init", "-q"], b"");
        for (path, content) in difference.files {
            match path.split_once(" -> ") {
                Some((link, target)) => folder.link(target, link),
                None => folder.put(path, content),
            }
        }
        let names: &[&'static str] = match difference.with {
            With::RipgrepFiles | With::RipgrepLines => &["rg"],
            With::Git => &["git"],
            With::Fd => &["fdfind", "fd"],
        };
        let Some(program) = Program::find(names, &home.0) else { continue };
        let argument = difference.arguments.last().copied().unwrap_or("**");
        let (theirs, mut ours) = match difference.with {
            With::RipgrepFiles => (ripgrep_files(&program, &folder.0), files(&folder.0)),
            With::RipgrepLines => (
                ripgrep_lines(&program, &folder.0, difference.arguments),
                grep(&folder.0, json!({"pattern": argument})),
            ),
            With::Git => (git_files(&program, &folder.0), find(&folder.0, "**")),
            With::Fd => (fd_files(&program, &folder.0, argument), find(&folder.0, argument)),
        };
        if matches!(difference.with, With::Git | With::Fd) {
            ours.sort();
        }
        assert_eq!(
            (&*theirs, &*ours),
            (&*strings(difference.theirs), &*strings(difference.ours)),
            "{}",
            difference.why
        );
    }
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}
