//! What a search asks of the host's object: many files and listings, by few crossings, and what an environment may
//! offer beyond them.

use js_sys::{Array, Reflect, Uint8Array};
use serde_json::json;
use wasm_bindgen::prelude::*;

use super::boundary::{Boundary, wrong_answer};
use super::convert::failure;
use super::js_env::{JsContent, JsEnv};
use crate::env::{FileInfo, FileKind, FoundLine, SearchAnswer, SearchRequest, WalkEntry, WalkRequest};
use crate::error::ToolError;
use crate::path;

#[wasm_bindgen]
extern "C" {
    /// Calls `readFiles` (a JSON array of paths), `walk` or `search` (a JSON object) of the environment.
    #[wasm_bindgen(method, catch, js_name = askMany)]
    fn ask_many(
        this: &Boundary,
        env: &JsValue,
        method: &str,
        request: &str,
        call: u32,
    ) -> Result<JsValue, JsValue>;
    /// `readBinaryFile`: its bytes, looked at, where they come at once; else its answer, in an array.
    #[wasm_bindgen(method, catch)]
    fn read(this: &Boundary, env: &JsValue, path: &str, call: u32) -> Result<JsValue, JsValue>;
    /// A listing of which each entry is as it should be: its kind (`f`, `d` or `l`), its size, a blank, its name, NUL.
    #[wasm_bindgen(method, catch)]
    fn listing(this: &Boundary, value: &JsValue) -> Result<Option<String>, JsValue>;
}

const ENTRY: &str = "an array of files and links, each with a path relative to that";
const LINE: &str = "{ path, line, text: Uint8Array, isContext }";

impl JsEnv {
    async fn ask_many(&self, method: &str, request: &str) -> Result<JsValue, ToolError> {
        let answer = self.boundary.ask_many(&self.object, method, request, self.call);
        let value = self.boundary.outcome(answer).await?;
        self.unwrap(value)
    }

    fn get(&self, value: &JsValue, key: &str) -> Result<JsValue, ToolError> {
        Reflect::get(value, &key.into()).map_err(|thrown| failure(self.boundary.thrown(&thrown)))
    }

    /// The items of an array; `Array.isArray` throws for some values.
    fn items(&self, value: &JsValue, method: &str, path: &str) -> Result<Array, ToolError> {
        value
            .clone()
            .dyn_into::<Array>()
            .map_err(|value| wrong_answer(method, path, "an array", &self.boundary.kind_of(&value)))
    }

    /// A whole file. One that is there at once takes two crossings, not eight.
    pub(super) async fn whole_file(&self, path: &str) -> Result<Vec<u8>, ToolError> {
        let answer = match self.boundary.read(&self.object, path, self.call) {
            Ok(answer) => match answer.dyn_into::<Uint8Array>() {
                Ok(bytes) => return JsContent(bytes).bytes(),
                Err(other) => Ok(other.unchecked_into::<Array>().get(0)),
            },
            Err(thrown) => Err(thrown),
        };
        let answer = self.boundary.outcome(answer).await.and_then(|value| self.unwrap(value));
        JsContent(self.bytes_of(answer, "readBinaryFile", path).await?).bytes()
    }

    /// The entries that `listDir` answered, in so far as a search looks at them; `None` where they are not as they
    /// should be.
    pub(super) fn entries(&self, value: &JsValue, directory: &str) -> Option<Vec<FileInfo>> {
        let text = self.boundary.listing(value).ok()??;
        let entry = |entry: &str| {
            let (mark, name) = entry.split_once(' ')?;
            let kind = match mark.as_bytes().first()? {
                b'f' => FileKind::File,
                b'd' => FileKind::Directory,
                _ => FileKind::Symlink,
            };
            let path = path::join(directory, &format!("./{name}"));
            Some(FileInfo { name: name.into(), path, kind, size: mark[1..].parse().ok()?, mtime_ms: 0.0 })
        };
        text.split_terminator('\0').map(entry).collect()
    }

    pub(super) async fn many_files(
        &self,
        paths: &[String],
    ) -> Result<Vec<Result<Vec<u8>, ToolError>>, ToolError> {
        let value = self.ask_many("readFiles", &json!(paths).to_string()).await?;
        let items = self.items(&value, "readFiles", "some files")?;
        if items.length() as usize != paths.len() {
            let found = format!("{} answers", items.length());
            return Err(wrong_answer(
                "readFiles",
                "some files",
                &format!("one for each of {}", paths.len()),
                &found,
            ));
        }
        let read = |(path, item): (&String, JsValue)| {
            let value = self.unwrap(item)?;
            let bytes = self.boundary.to_bytes(&value);
            let found = || wrong_answer("readFiles", path, "a Uint8Array", &self.boundary.kind_of(&value));
            Ok(bytes.ok_or_else(found)?.to_vec())
        };
        Ok(paths.iter().zip(items.iter()).map(read).collect())
    }

    pub(super) async fn walked(&self, request: &WalkRequest) -> Result<Vec<WalkEntry>, ToolError> {
        let WalkRequest { path, glob, limit } = request;
        let asked = json!({ "path": path, "glob": glob, "limit": limit });
        let value = self.ask_many("walk", &asked.to_string()).await?;
        let entries = self.file_infos(&value, "walk", path)?;
        let entry = |FileInfo { path: name, kind, size, .. }: FileInfo| {
            let is_below = name.split('/').all(|segment| !matches!(segment, "" | "." | ".."));
            match is_below && kind != FileKind::Directory {
                true => Ok(WalkEntry { path: name, kind, size }),
                false => {
                    let kind = if kind == FileKind::Directory { "a directory" } else { "an entry" };
                    Err(wrong_answer("walk", path, ENTRY, &format!("{kind} with the path \"{name}\"")))
                }
            }
        };
        entries.into_iter().map(entry).collect()
    }

    pub(super) async fn searched(&self, request: &SearchRequest) -> Result<SearchAnswer, ToolError> {
        let SearchRequest { path, pattern, glob, ignore_case, literal, context, limit } = request;
        let asked = json!({
            "path": path, "pattern": pattern, "glob": glob, "ignoreCase": ignore_case, "literal": literal,
            "context": context, "limit": limit,
        });
        let value = self.ask_many("search", &asked.to_string()).await?;
        let wrong = |value: &JsValue, expected: &str| {
            wrong_answer("search", path, expected, &self.boundary.kind_of(value))
        };
        if !value.is_object() {
            return Err(wrong(&value, "{ matches, limitReached, unreadable }"));
        }
        let matches = self.get(&value, "matches")?;
        let line = |item: JsValue| {
            if !item.is_object() {
                return Err(wrong(&item, LINE));
            }
            let (name, number) = (self.get(&item, "path")?.as_string(), self.get(&item, "line")?.as_f64());
            let text = self.boundary.to_bytes(&self.get(&item, "text")?);
            let (Some(path), Some(line), Some(text)) = (name, number, text) else {
                return Err(wrong(&item, LINE));
            };
            let is_context = self.get(&item, "isContext")?.is_truthy();
            Ok(FoundLine { path, line: line as u64, text: text.to_vec(), is_context })
        };
        Ok(SearchAnswer {
            lines: self.items(&matches, "search", path)?.iter().map(line).collect::<Result<_, _>>()?,
            limit_reached: self.get(&value, "limitReached")?.is_truthy(),
            unreadable: self.get(&value, "unreadable")?.as_f64().unwrap_or_default() as u64,
        })
    }
}
