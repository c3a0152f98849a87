#![cfg(not(target_arch = "wasm32"))]
//! What a model and a system prompt are told of the tools, word for word: a change of words is a change of
//! behaviour, and shows here. `UPDATE_EXPECT=1 cargo test --test declarations` takes the new ones.

use expect_test::{Expect, expect};
use serde_json::Value;
use tackroom::call::{Options, Registry};
use tackroom::env::Shell;
use tackroom::tools::Place;

fn check(options: &str, shells: &[Shell], description: Option<&str>, expected: Expect) {
    let options = Options::from_json(options.as_bytes()).expect("the test's options are right");
    let registry = Registry::new(&options, shells);
    let mut text = String::new();
    for tool in registry.declarations(&options, Place { description, has_temp_files: false }) {
        text += &format!("{} ({})\n  {}\n", tool.name, tool.label, tool.description);
        parameters(&tool.parameters, "", &mut text);
        text += &format!("  snippet: {}\n", tool.prompt_snippet);
        for guideline in &tool.prompt_guidelines {
            text += &format!("  guideline: {guideline}\n");
        }
    }
    expected.assert_eq(&text);
}

/// The properties of an object's schema, one a line; those of objects in arrays below theirs.
fn parameters(schema: &Value, above: &str, text: &mut String) {
    let required = schema["required"].as_array().expect("every object says what it requires");
    for (name, property) in schema["properties"].as_object().expect("an object has properties") {
        let mark = if required.contains(&Value::from(name.as_str())) { "" } else { "?" };
        let words = property["description"].as_str().expect("every parameter is described");
        let kind = property["type"].as_str().expect("every parameter has a type");
        let bounds: String = property
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(key, _)| !["type", "description", "items"].contains(&key.as_str()))
            .map(|(key, value)| format!(" {key} {value}"))
            .collect();
        *text += &format!("  {above}{name}{mark}: {kind}{bounds}: {words}\n");
        if let Some(items) = property.get("items") {
            parameters(items, &format!("{above}{name}[]."), text);
        }
    }
}

#[test]
fn all_tools() {
    check(
        "{}",
        &[Shell::Bash],
        None,
        expect![[r#"
        read (Read)
          Read a text file, or look at an image (PNG, JPEG, GIF, WebP). At most 2000 lines or 50.0KB are returned at once; the result then ends with the offset (and column) to continue with.
          path: string: File to read, absolute or relative to the working directory
          offset?: integer minimum 0: Line to start at, counted from 1
          limit?: integer minimum 1: How many lines to read at most
          column?: integer minimum 1: Byte to start at within the line `offset`, counted from 1; for lines too long to show at once
          snippet: read: show a text file, page by page if it is long, or an image
          guideline: Use read, not cat or sed, to look at files
        bash (Bash)
          Run a command in bash, in the working directory. Returns standard output and error together; of long output the end, at most 2000 lines or 50.0KB.
          command: string: Command to run
          timeout?: number exclusiveMinimum 0 maximum 2147483.647: Seconds after which the command is ended; without it there is no limit
          snippet: bash: run a command
        edit (Edit)
          Replace pieces of a text file. Every edit names text that occurs once in the file (or sets replaceAll) and what to put there; either all edits apply or none. Everything else stays byte for byte. Line endings are matched and kept by themselves: plain line feeds will do.
          path: string: File to edit, absolute or relative to the working directory
          edits: array minItems 1: The replacements. Each is matched against the file as it is now, not against the outcome of the others; they must not overlap
          edits[].oldText: string: Text to replace, exactly as in the file; it must occur once, so take in enough of the lines around it
          edits[].newText: string: Text to put in its place
          edits[].replaceAll?: boolean: Replace every occurrence of oldText
          snippet: edit: replace exact pieces of a file
          guideline: Keep oldText short but unique; put several changes of one file into one edit call
        write (Write)
          Write a file: create it, with its parent directories, or replace everything in it. To change a part of a file, use edit.
          path: string: File to write, absolute or relative to the working directory
          content: string: The whole new content of the file
          snippet: write: create a file or replace all of it
          guideline: Use write for new files and complete rewrites only
    "#]],
    );
}

#[test]
fn no_shell() {
    check(
        "{}",
        &[],
        None,
        expect![[r#"
            read (Read)
              Read a text file, or look at an image (PNG, JPEG, GIF, WebP). At most 2000 lines or 50.0KB are returned at once; the result then ends with the offset (and column) to continue with.
              path: string: File to read, absolute or relative to the working directory
              offset?: integer minimum 0: Line to start at, counted from 1
              limit?: integer minimum 1: How many lines to read at most
              column?: integer minimum 1: Byte to start at within the line `offset`, counted from 1; for lines too long to show at once
              snippet: read: show a text file, page by page if it is long, or an image
            edit (Edit)
              Replace pieces of a text file. Every edit names text that occurs once in the file (or sets replaceAll) and what to put there; either all edits apply or none. Everything else stays byte for byte. Line endings are matched and kept by themselves: plain line feeds will do.
              path: string: File to edit, absolute or relative to the working directory
              edits: array minItems 1: The replacements. Each is matched against the file as it is now, not against the outcome of the others; they must not overlap
              edits[].oldText: string: Text to replace, exactly as in the file; it must occur once, so take in enough of the lines around it
              edits[].newText: string: Text to put in its place
              edits[].replaceAll?: boolean: Replace every occurrence of oldText
              snippet: edit: replace exact pieces of a file
              guideline: Keep oldText short but unique; put several changes of one file into one edit call
            write (Write)
              Write a file: create it, with its parent directories, or replace everything in it. To change a part of a file, use edit.
              path: string: File to write, absolute or relative to the working directory
              content: string: The whole new content of the file
              snippet: write: create a file or replace all of it
              guideline: Use write for new files and complete rewrites only
            grep (Grep)
              Search the lines of files for a pattern, as ripgrep does. Matching lines come as path:line: text, lines around them as path-line- text. Hidden files are searched; .git, binary files and what .gitignore or .ignore leave out are not, unless path names it. At most 100 matches or 50.0KB are returned at once; of a long line 500 characters around the match.
              pattern: string: Regular expression in Rust's syntax (no look-around, no back-references), or a text with literal: true; matched line by line
              path?: string: Directory or file to search; default the working directory
              glob?: string: Files to search: *.ts at any depth, src/**/*.ts from path, !*.min.js for all others
              ignoreCase?: boolean: Match upper and lower case alike
              literal?: boolean: Take pattern as a text, not as a regular expression
              context?: integer minimum 0: Lines to show before and after each match
              limit?: integer minimum 1: How many matching lines to show at most
              snippet: grep: search the contents of files
            find (Find)
              Find files by a glob, case-sensitive. Paths are relative to path. Hidden files are found; .git and what .gitignore or .ignore leave out are not, unless path names it. At most 1000 files or 50.0KB are returned at once.
              pattern: string: Glob: *.ts matches names at any depth, src/**/*.{ts,tsx} paths from path
              path?: string: Directory to search; default the working directory
              limit?: integer minimum 1: How many files to show at most
              snippet: find: find files by their names
            ls (Ls)
              List a directory: names in alphabetical order, hidden ones included, those of directories with a / at their end. At most 500 entries or 50.0KB are returned at once.
              path?: string: Directory to list; default the working directory
              limit?: integer minimum 1: How many entries to show at most
              snippet: ls: list a directory
        "#]],
    );
}

#[test]
fn read_only() {
    check(
        r#"{"readOnly": true}"#,
        &[Shell::Bash],
        None,
        expect![[r#"
            read (Read)
              Read a text file, or look at an image (PNG, JPEG, GIF, WebP). At most 2000 lines or 50.0KB are returned at once; the result then ends with the offset (and column) to continue with.
              path: string: File to read, absolute or relative to the working directory
              offset?: integer minimum 0: Line to start at, counted from 1
              limit?: integer minimum 1: How many lines to read at most
              column?: integer minimum 1: Byte to start at within the line `offset`, counted from 1; for lines too long to show at once
              snippet: read: show a text file, page by page if it is long, or an image
            grep (Grep)
              Search the lines of files for a pattern, as ripgrep does. Matching lines come as path:line: text, lines around them as path-line- text. Hidden files are searched; .git, binary files and what .gitignore or .ignore leave out are not, unless path names it. At most 100 matches or 50.0KB are returned at once; of a long line 500 characters around the match.
              pattern: string: Regular expression in Rust's syntax (no look-around, no back-references), or a text with literal: true; matched line by line
              path?: string: Directory or file to search; default the working directory
              glob?: string: Files to search: *.ts at any depth, src/**/*.ts from path, !*.min.js for all others
              ignoreCase?: boolean: Match upper and lower case alike
              literal?: boolean: Take pattern as a text, not as a regular expression
              context?: integer minimum 0: Lines to show before and after each match
              limit?: integer minimum 1: How many matching lines to show at most
              snippet: grep: search the contents of files
            find (Find)
              Find files by a glob, case-sensitive. Paths are relative to path. Hidden files are found; .git and what .gitignore or .ignore leave out are not, unless path names it. At most 1000 files or 50.0KB are returned at once.
              pattern: string: Glob: *.ts matches names at any depth, src/**/*.{ts,tsx} paths from path
              path?: string: Directory to search; default the working directory
              limit?: integer minimum 1: How many files to show at most
              snippet: find: find files by their names
            ls (Ls)
              List a directory: names in alphabetical order, hidden ones included, those of directories with a / at their end. At most 500 entries or 50.0KB are returned at once.
              path?: string: Directory to list; default the working directory
              limit?: integer minimum 1: How many entries to show at most
              snippet: ls: list a directory
        "#]],
    );
}

#[test]
fn without_edit() {
    check(
        r#"{"tools": ["write", "bash"]}"#,
        &[Shell::Bash],
        None,
        expect![[r#"
        write (Write)
          Write a file: create it, with its parent directories, or replace everything in it.
          path: string: File to write, absolute or relative to the working directory
          content: string: The whole new content of the file
          snippet: write: create a file or replace all of it
        bash (Bash)
          Run a command in bash, in the working directory. Returns standard output and error together; of long output the end, at most 2000 lines or 50.0KB.
          command: string: Command to run
          timeout?: number exclusiveMinimum 0 maximum 2147483.647: Seconds after which the command is ended; without it there is no limit
          snippet: bash: run a command
    "#]],
    );
}

#[test]
fn changed_limits() {
    let options = r#"{"tools": ["read", "bash"],
        "limits": {"maxLines": 100, "maxBytes": 1000, "perTool": {"bash": {"maxLines": 10, "maxBytes": 2500000}}}}"#;
    check(
        options,
        &[Shell::Bash],
        None,
        expect![[r#"
        read (Read)
          Read a text file, or look at an image (PNG, JPEG, GIF, WebP). At most 100 lines or 1000B are returned at once; the result then ends with the offset (and column) to continue with.
          path: string: File to read, absolute or relative to the working directory
          offset?: integer minimum 0: Line to start at, counted from 1
          limit?: integer minimum 1: How many lines to read at most
          column?: integer minimum 1: Byte to start at within the line `offset`, counted from 1; for lines too long to show at once
          snippet: read: show a text file, page by page if it is long, or an image
          guideline: Use read, not cat or sed, to look at files
        bash (Bash)
          Run a command in bash, in the working directory. Returns standard output and error together; of long output the end, at most 10 lines or 2.4MB.
          command: string: Command to run
          timeout?: number exclusiveMinimum 0 maximum 2147483.647: Seconds after which the command is ended; without it there is no limit
          snippet: bash: run a command
    "#]],
    );
}

#[test]
fn words_of_the_environment() {
    let words = "simulated bash, no network, no git";
    check(
        r#"{"tools": ["bash"]}"#,
        &[Shell::Bash],
        Some(words),
        expect![[r#"
        bash (Bash)
          Run a command in bash, in the working directory. Returns standard output and error together; of long output the end, at most 2000 lines or 50.0KB. The environment: simulated bash, no network, no git.
          command: string: Command to run
          timeout?: number exclusiveMinimum 0 maximum 2147483.647: Seconds after which the command is ended; without it there is no limit
          snippet: bash: run a command
    "#]],
    );
}

#[test]
fn images() {
    let read = |images: &str| {
        let options = format!(r#"{{"tools": ["read"], "images": {images}}}"#);
        let options = Options::from_json(options.as_bytes()).expect("the test's options are right");
        let declared = Registry::new(&options, &[]).declarations(&options, Place::default()).remove(0);
        let sentence = declared.description.split('.').next().unwrap_or_default().to_owned();
        [sentence, declared.prompt_snippet]
    };
    let text = "read: show a text file, page by page if it is long";
    assert_eq!(read(r#"{"supported": false, "processor": "default"}"#), ["Read a text file", text]);
    for processor in ["default", "own"] {
        let with = read(&format!(r#"{{"processor": "{processor}"}}"#));
        let sentence = "Read a text file, or look at an image (PNG, JPEG, GIF, WebP, BMP)";
        assert_eq!(with, [sentence, &format!("{text}, or an image")]);
    }
}
