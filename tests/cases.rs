//! Behaviour as data: every file of tests/cases, run over an environment in memory, in no time.
//!
//! The same files run through the npm package in tests/js/cases.test.mjs. tests/cases/README.md describes
//! their format; a key that it does not know is an error here, so that a typo cannot make a case vacuous.
#![cfg(not(target_arch = "wasm32"))]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};
use tackroom::call::{
    self, Arguments, Event, NoHooks, Observer, Options, Registry, Scope, ToolCall, ToolResult,
};
use tackroom::env::memory::Step as ShellStep;
use tackroom::env::{Abort, Env, ExecOutcome, FileKind, ManualHost, MemoryEnv, MutationQueue, Shell, Stream};
use tackroom::error::{ErrorCode, ToolError};
use tackroom::schema::{Coercion, CompiledSchema, parse, wording};
use tackroom::tools::Content as Part;

/// One file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    title: String,
    why: String,
    #[serde(default)]
    files: BTreeMap<String, Entry>,
    #[serde(default)]
    options: Map<String, Value>,
    shell: Option<Vec<Scripted>>,
    shells: Option<Vec<String>>,
    active: Option<Vec<String>>,
    #[serde(default)]
    steps: Vec<Step>,
    #[serde(default)]
    after: BTreeMap<String, Option<Content>>,
    #[serde(default)]
    validate: Vec<Validate>,
}

/// Text or bytes.
#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Content {
    Text(String),
    Hex { hex: String },
    Repeat { repeat: String, times: usize },
    Lines { lines: (u64, u64) },
    Parts(Vec<Content>),
}

#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Entry {
    Link { link: String },
    Directory { directory: bool },
    File(Content),
}

/// What a scripted command does next.
#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Scripted {
    Out { out: Content, chunk: Option<usize> },
    Err { err: Content, chunk: Option<usize> },
    Flood { flood: Content, times: usize },
    Echo { echo: Echo },
    Wait { wait: f64 },
    Exit { exit: Option<i64> },
    Finish { finish: Finish },
    Fail { fail: Failure },
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Echo {
    Command,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Finish {
    stdout: Option<Content>,
    stderr: Option<Content>,
    exit_code: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Failure {
    code: String,
    message: String,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Step {
    Call {
        call: Call,
        result: Box<Expected>,
    },
    /// Reads on as each hint says: the pages together are the file.
    Follow {
        follow: Call,
        file: String,
        pages: usize,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    name: String,
    arguments: Value,
    #[serde(default)]
    incomplete: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Expected {
    is_error: bool,
    code: Option<String>,
    text: Option<Content>,
    #[serde(default)]
    contains: Vec<String>,
    #[serde(default)]
    lacks: Vec<String>,
    at_most: Option<usize>,
    details: Option<Value>,
    image: Option<Box<Image>>,
    /// What the file of the whole output holds. In `text` its path is `{path}`.
    spill: Option<Content>,
}

/// The one image of a result; where it is not expected there is none.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Image {
    mime_type: String,
    data: Content,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Validate {
    schema: Value,
    arguments: Value,
    #[serde(default)]
    incomplete: bool,
    value: Option<Value>,
    error: Option<Invalid>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Invalid {
    code: String,
    contains: Vec<String>,
    #[serde(default)]
    lacks: Vec<String>,
    at_most: Option<usize>,
}

const CWD: &str = "/project";

impl Case {
    /// Whether it greps or finds.
    fn searches(&self) -> bool {
        let is_search = |name: &str| matches!(name, "grep" | "find");
        self.steps.iter().any(|step| match step {
            Step::Call { call, .. } | Step::Follow { follow: call, .. } => is_search(&call.name),
        })
    }
}

/// What is wrong with a case, a line each.
type Problems = Vec<String>;

impl Content {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Content::Text(text) => text.clone().into_bytes(),
            Content::Hex { hex } => {
                assert!(hex.len() % 2 == 0, "an odd number of hex digits: {hex}");
                let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex digits");
                (0..hex.len()).step_by(2).map(byte).collect()
            }
            Content::Repeat { repeat, times } => repeat.repeat(*times).into_bytes(),
            Content::Lines { lines: (first, last) } => {
                (*first..=*last).flat_map(|n| format!("{n}\n").into_bytes()).collect()
            }
            Content::Parts(parts) => parts.iter().flat_map(Content::bytes).collect(),
        }
    }
}

impl Call {
    /// The call, about the latest file of a whole output where it says `{path}`.
    fn about(&self, spill: Option<&String>) -> Call {
        let mut arguments = self.arguments.clone();
        if let (Some(path), Some(spill)) = (arguments.get_mut("path"), spill)
            && *path == "{path}"
        {
            *path = spill.as_str().into();
        }
        Call { name: self.name.clone(), arguments, incomplete: self.incomplete }
    }

    fn to_tool_call(&self) -> ToolCall {
        let arguments = match &self.arguments {
            Value::String(text) => Arguments::Text(text.clone().into_bytes()),
            value => Arguments::Value(value.clone()),
        };
        ToolCall { id: "1".into(), name: self.name.clone(), arguments, incomplete: self.incomplete }
    }
}

/// Keeps what a call says of itself.
#[derive(Default)]
struct Heard {
    events: RefCell<Vec<&'static str>>,
    results: RefCell<Vec<ToolResult>>,
}

impl Observer for Heard {
    fn event(&self, event: Event<'_>) {
        self.events.borrow_mut().push(match event {
            Event::Start { .. } => "start",
            Event::Update(_) => "update",
            Event::Mutation(_) => "mutation",
            Event::End { .. } => "end",
        });
    }

    fn settle(&self, result: ToolResult) {
        self.results.borrow_mut().push(result);
    }
}

/// A case's environment, with its tools.
struct Stage {
    host: ManualHost,
    env: MemoryEnv,
    options: Options,
    registry: Registry,
    queue: MutationQueue,
}

impl Stage {
    fn new(case: &Case) -> Result<Stage, String> {
        let host = ManualHost::default();
        let mut env = MemoryEnv::new(&host).with_cwd(CWD);
        for (path, entry) in &case.files {
            env = match entry {
                Entry::File(content) => env.with_file(path, content.bytes()),
                Entry::Link { link } => env.with_symlink(link, path),
                Entry::Directory { directory: true } => env.with_dir(path),
                Entry::Directory { directory: false } => return Err(format!("{path}: directory is true")),
            };
        }
        let known: Vec<Shell>;
        let mut shells: &[Shell] = &[];
        if let Some(script) = &case.shell {
            let script: Vec<_> = script.iter().map(shell_step).collect::<Result<_, _>>()?;
            env = env.with_shell(move |command| script.iter().flat_map(|step| step(command)).collect());
            shells = &[Shell::Bash];
            if let Some(names) = &case.shells {
                let named = |shell: &Shell| names.iter().any(|name| name == shell.as_str());
                known = [Shell::Bash, Shell::PowerShell].into_iter().filter(named).collect();
                env = env.with_shells(&known);
                shells = &known;
            }
        }
        let options = serde_json::to_vec(&case.options).expect("options are JSON");
        let options = Options::from_json(&options).map_err(|error| error.message)?;
        let registry = Registry::new(&options, shells);
        Ok(Stage { host, env, options, registry, queue: MutationQueue::default() })
    }

    /// Runs a call; checks what holds of every call.
    fn run(&self, call: &Call) -> Result<ToolResult, String> {
        let heard = Heard::default();
        let writes = self.env.writes();
        let redactor = self.options.redactor();
        let scope = Scope {
            registry: &self.registry,
            options: &self.options,
            env: &self.env,
            host: &self.host,
            hooks: &NoHooks,
            queue: &self.queue,
            abort: &Abort::default(),
            redactor: redactor.as_ref(),
            observer: &heard,
        };
        self.host.run(call::run(call.to_tool_call(), scope));
        let events = heard.events.take();
        let (first, last) = (events.first(), events.last());
        if first != Some(&"start") || last != Some(&"end") {
            return Err(format!("the events are {events:?}"));
        }
        let mutations = events.iter().filter(|event| **event == "mutation").count();
        let writes = self.env.writes() - writes;
        if mutations != writes {
            return Err(format!("{writes} writes and {mutations} mutation events"));
        }
        match heard.results.take().as_slice() {
            [result] => Ok(result.clone()),
            results => Err(format!("answered {} times", results.len())),
        }
    }

    /// Everything that there is: files with their bytes, links and directories as what they are.
    fn tree(&self) -> BTreeMap<String, Vec<u8>> {
        let mut tree = BTreeMap::new();
        let mut todo = vec!["/".to_owned()];
        while let Some(directory) = todo.pop() {
            for info in self.host.run(self.env.list_dir(&directory)).expect("directories can be listed") {
                let content = match info.kind {
                    FileKind::File => {
                        self.host.run(self.env.read_file(&info.path)).expect("files can be read")
                    }
                    FileKind::Symlink => b"(a link)".to_vec(),
                    FileKind::Directory => {
                        todo.push(info.path);
                        continue;
                    }
                };
                tree.insert(info.path, content);
            }
        }
        tree
    }
}

type ShellStepOf = Box<dyn Fn(&str) -> Vec<ShellStep>>;

fn shell_step(scripted: &Scripted) -> Result<ShellStepOf, String> {
    let write = |stream, content: &Content, chunk: &Option<usize>| {
        let bytes = content.bytes();
        let size = chunk.unwrap_or(bytes.len()).max(1);
        bytes.chunks(size).map(|chunk| ShellStep::Write(stream, chunk.to_vec())).collect()
    };
    let steps: Vec<ShellStep> = match scripted {
        Scripted::Out { out, chunk } => write(Stream::Stdout, out, chunk),
        Scripted::Err { err, chunk } => write(Stream::Stderr, err, chunk),
        Scripted::Flood { flood, times } => vec![ShellStep::Flood(Stream::Stdout, flood.bytes(), *times)],
        Scripted::Echo { echo: Echo::Command } => {
            return Ok(Box::new(|command| vec![ShellStep::Write(Stream::Stdout, command.into())]));
        }
        Scripted::Wait { wait } => vec![ShellStep::Wait(*wait)],
        Scripted::Exit { exit } => vec![ShellStep::Exit(*exit)],
        Scripted::Finish { finish } => vec![ShellStep::Finish(ExecOutcome {
            exit_code: finish.exit_code,
            stdout: finish.stdout.as_ref().map(Content::bytes),
            stderr: finish.stderr.as_ref().map(Content::bytes),
        })],
        Scripted::Fail { fail } => {
            let code = ErrorCode::from_name(&fail.code).ok_or(format!("there is no code {}", fail.code))?;
            vec![ShellStep::Fail(ToolError::new(code, &fail.message))]
        }
    };
    Ok(Box::new(move |_| steps.clone()))
}

fn run(case: &Case) -> Result<Problems, String> {
    if case.title.is_empty() || case.why.is_empty() || (case.steps.is_empty() && case.validate.is_empty()) {
        return Err("expected a title, a why, and steps or validate".into());
    }
    let mut problems: Problems = Vec::new();
    for (nth, validate) in case.validate.iter().enumerate() {
        problems.extend(check_validate(validate).into_iter().map(|what| format!("validate[{nth}]: {what}")));
    }
    let stage = Stage::new(case)?;
    if let Some(active) = &case.active {
        let names: Vec<_> = stage.registry.active().iter().map(|tool| tool.name()).collect();
        differ(&mut problems, "active", active, &names);
    }
    let mut tree = stage.tree();
    let mut spills = Vec::new();
    for (nth, step) in case.steps.iter().enumerate() {
        let found = match step {
            Step::Call { call, result } => {
                let found = stage.run(&call.about(spills.last()))?;
                let (path, mut problems) = check_spill(&stage, &found, result);
                problems.extend(check_result(&found, result, path.as_deref()));
                spills.extend(path);
                problems
            }
            Step::Follow { follow, file, pages } => check_follow(&stage, follow, file, *pages)?,
        };
        problems.extend(found.into_iter().map(|what| format!("steps[{nth}]: {what}")));
    }
    for (path, content) in &case.after {
        let path = tackroom::path::join(CWD, path);
        match content {
            Some(content) => tree.insert(path, content.bytes()),
            None => tree.remove(&path),
        };
    }
    let mut found = stage.tree();
    spills.iter().for_each(|path| drop(found.remove(path)));
    let paths: std::collections::BTreeSet<_> = tree.keys().chain(found.keys()).collect();
    for path in paths {
        let shown = |tree: &BTreeMap<String, Vec<u8>>| tree.get(path).map(|bytes| shown(bytes));
        if tree.get(path) != found.get(path) {
            differ(&mut problems, path, &shown(&tree), &shown(&found));
        }
    }
    Ok(problems)
}

fn differ<A: PartialEq<B> + Debug, B: Debug>(problems: &mut Problems, what: &str, expected: &A, found: &B) {
    if expected != found {
        problems.push(format!("{what}\n    expected {expected:?}\n    found    {found:?}"));
    }
}

/// Bytes for people.
fn shown(bytes: &[u8]) -> String {
    let text: String = bytes.escape_ascii().take(4000).map(char::from).collect();
    String::from_utf8(bytes.to_vec()).map_or(text, |text| text.chars().take(4000).collect())
}

/// The file of the whole output, where there is one: exactly where it is expected, and with what is expected.
fn check_spill(stage: &Stage, result: &ToolResult, expected: &Expected) -> (Option<String>, Problems) {
    let mut problems = Problems::new();
    let path = result.details.get("fullOutputPath").and_then(Value::as_str).map(str::to_owned);
    let found = path.as_ref().and_then(|path| stage.tree().remove(path));
    let shown = |bytes: &Vec<u8>| (bytes.len(), shown(bytes));
    let expected = expected.spill.as_ref().map(Content::bytes);
    differ(&mut problems, "spill", &expected.as_ref().map(shown), &found.as_ref().map(shown));
    (path, problems)
}

fn check_result(result: &ToolResult, expected: &Expected, spill: Option<&str>) -> Problems {
    let mut problems = Problems::new();
    let text = result.text();
    differ(&mut problems, &format!("isError of {text:?}"), &expected.is_error, &result.is_error);
    let code = result.details.get("code").and_then(Value::as_str);
    if expected.is_error != expected.code.is_some() {
        problems.push("expected a code exactly where isError is true".into());
    }
    differ(&mut problems, "code", &expected.code.as_deref(), &code);
    if expected.text.is_none() && expected.contains.is_empty() {
        problems.push("expected text or contains".into());
    }
    if let Some(exact) = &expected.text {
        let exact = String::from_utf8(exact.bytes()).expect("text is UTF-8");
        let exact = exact.replace("{path}", spill.unwrap_or("{path}"));
        differ(&mut problems, "text", &shown(exact.as_bytes()), &shown(text.as_bytes()));
        differ(&mut problems, "bytes of the text", &exact.len(), &text.len());
    }
    check_text(&mut problems, &text, &expected.contains, &expected.lacks, expected.at_most);
    let images = result.content.iter().filter_map(|part| match part {
        Part::Image { data, mime_type } => Some((mime_type.clone(), data.clone())),
        Part::Text { .. } => None,
    });
    let expected_images = expected
        .image
        .iter()
        .map(|image| (image.mime_type.clone(), data_encoding::BASE64.encode(&image.data.bytes())));
    differ(&mut problems, "images", &expected_images.collect::<Vec<_>>(), &images.collect::<Vec<_>>());
    if let Some(details) = &expected.details {
        check_part(&mut problems, "details", details, Some(&result.details));
    }
    problems
}

fn check_text(
    problems: &mut Problems,
    text: &str,
    contains: &[String],
    lacks: &[String],
    at_most: Option<usize>,
) {
    let head = shown(text.as_bytes());
    for part in contains.iter().filter(|part| !text.contains(part.as_str())) {
        problems.push(format!("expected {part:?}\n    in       {head:?}"));
    }
    for part in lacks.iter().filter(|part| text.contains(part.as_str())) {
        problems.push(format!("expected no {part:?}\n    in       {head:?}"));
    }
    if at_most.is_some_and(|most| text.len() > most) {
        problems.push(format!("expected at most {at_most:?} bytes, found {}", text.len()));
    }
}

/// Whether what is expected is a part of what was found: of an object some keys, of a list each item. Null is also
/// what is not there.
fn check_part(problems: &mut Problems, at: &str, expected: &Value, found: Option<&Value>) {
    match (expected, found) {
        (Value::Null, None) => {}
        (Value::Object(expected), Some(Value::Object(found))) => {
            for (key, value) in expected {
                check_part(problems, &format!("{at}.{key}"), value, found.get(key));
            }
        }
        (expected, found) => {
            if !found.is_some_and(|found| same(expected, found)) {
                problems.push(format!("{at}\n    expected {expected}\n    found    {found:?}"));
            }
        }
    }
}

/// Whether two values are one to JavaScript, which knows no difference between 1 and 1.0.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}

fn check_follow(stage: &Stage, first: &Call, file: &str, pages: usize) -> Result<Problems, String> {
    let mut problems = Problems::new();
    let whole =
        stage.tree().remove(&tackroom::path::join(CWD, file)).ok_or("follow: there is no such file")?;
    let whole = String::from_utf8(whole).map_err(|_| "follow: the file is no UTF-8")?;
    let mut read = String::new();
    let mut arguments = first.arguments.as_object().cloned().ok_or("follow: expected an object")?;
    for page in 1.. {
        let call = Call {
            name: first.name.clone(),
            arguments: Value::Object(arguments.clone()),
            incomplete: first.incomplete,
        };
        let result = stage.run(&call)?;
        let text = result.text();
        if result.is_error || page > pages {
            problems.push(format!("page {page} of {pages}: {:?}", shown(text.as_bytes())));
            break;
        }
        // A page is text, then an empty line and the hint where there is one.
        let hint = text.rsplit_once("\n\n[").filter(|(_, hint)| hint.ends_with(']'));
        let Some((shown, hint)) = hint else {
            read.push_str(&text);
            differ(&mut problems, "pages", &pages, &page);
            break;
        };
        read.push_str(shown);
        let number = |key: &str| {
            let digits = hint.split_once(&format!("{key}="))?.1;
            digits.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u64>().ok()
        };
        let (offset, column) = (number("offset"), number("column"));
        if column.is_none() {
            read.push('\n');
        }
        let Some(offset) = offset else {
            differ(&mut problems, "pages", &pages, &page);
            break;
        };
        arguments.insert("offset".into(), offset.into());
        match column {
            Some(column) => arguments.insert("column".into(), column.into()),
            None => arguments.shift_remove("column"),
        };
    }
    // Whether the last line has a break is not to be seen where it came in slices.
    if read.trim_end_matches('\n') != whole.trim_end_matches('\n') || read.len().abs_diff(whole.len()) > 1 {
        let at = read.bytes().zip(whole.bytes()).take_while(|(a, b)| a == b).count();
        problems.push(format!(
            "the pages have {} bytes, the file {}; they differ at {at}",
            read.len(),
            whole.len()
        ));
    }
    Ok(problems)
}

/// As the package's validateToolArguments does.
fn validate(case: &Validate) -> Result<Value, ToolError> {
    if case.incomplete {
        return Err(call::cut_off("t"));
    }
    let compiled = CompiledSchema::compile(&case.schema)
        .map_err(|needs| ToolError::new(ErrorCode::NotSupported, needs.keyword))?;
    let received = match &case.arguments {
        Value::String(text) => parse::arguments("t", text.as_bytes(), !compiled.has_required())?,
        value => parse::unwrap_value("t", value.clone(), !compiled.has_required())?,
    };
    compiled
        .check(received.clone(), Coercion::Safe)
        .map_err(|errors| ToolError::invalid_arguments(wording::report("t", &errors, &received)))
}

fn check_validate(case: &Validate) -> Problems {
    let mut problems = Problems::new();
    match (validate(case), &case.value, &case.error) {
        (Ok(found), Some(expected), None) => {
            if !same(expected, &found) {
                problems.push(format!("value\n    expected {expected}\n    found    {found}"));
            }
        }
        (Err(found), None, Some(expected)) => {
            differ(&mut problems, "code", &expected.code.as_str(), &found.code.as_str());
            check_text(&mut problems, &found.message, &expected.contains, &expected.lacks, expected.at_most);
        }
        (_, Some(_), Some(_)) | (_, None, None) => problems.push("expected either value or error".into()),
        (Ok(found), ..) => problems.push(format!("expected an error, found {found}")),
        (Err(found), ..) => problems.push(format!("expected a value, found {found}")),
    }
    problems
}

#[test]
fn every_case_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .expect("tests/cases is there")
        .map(|entry| entry.expect("it can be listed").file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".json"))
        .collect();
    names.sort();
    assert!(names.len() >= 100, "only {} cases in tests/cases", names.len());
    let (mut failed, mut skipped) = (Vec::new(), Vec::new());
    for name in &names {
        let text = fs::read(folder.join(name)).expect("the file can be read");
        let case = serde_json::from_slice::<Case>(&text).map_err(|error| error.to_string());
        // What grep and find run on is in a feature of its own.
        if cfg!(not(feature = "search")) && case.as_ref().is_ok_and(Case::searches) {
            skipped.push(name);
            continue;
        }
        match case.and_then(|case| Ok((run(&case)?, case.title))) {
            Ok((problems, _)) if problems.is_empty() => {}
            Ok((problems, title)) => failed.push(format!("{name}: {title}\n  {}", problems.join("\n  "))),
            Err(problem) => failed.push(format!("{name}: {problem}")),
        }
    }
    if !skipped.is_empty() {
        println!("skipped {} cases, which need the feature search", skipped.len());
    }
    assert!(failed.is_empty(), "{} of {} cases failed\n{}", failed.len(), names.len(), failed.join("\n"));
}
