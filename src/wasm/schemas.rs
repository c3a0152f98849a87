//! Entries to schemas that a host checks arguments with, the same in the core and in the schema module: the core
//! answers that a schema needs the engine, the module has it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

use super::scratch::{answer, parts, with};
use crate::call::{ArgumentSchema, NotCompiled, SchemaOptions, needs_engine};
use crate::error::{ErrorCode, ToolError};
use crate::schema::SchemaError;
use crate::table::Table;

thread_local! {
    static SCHEMAS: RefCell<Table<u32, Rc<ArgumentSchema>>> = RefCell::default();
    static NEXT: Cell<u32> = const { Cell::new(0) };
}

/// Compiles a schema; scratch holds the tool's name, the schema and [`SchemaOptions`] as JSON. Answers
/// `{id, warnings}`, or `{needsEngine: message}` where this module cannot check it.
#[wasm_bindgen]
pub fn schema_new(name: usize, schema: usize, options: usize) -> String {
    let [name, schema, options] = parts([name, schema, options]);
    let name = String::from_utf8_lossy(&name);
    let compile = |options| match ArgumentSchema::compile(&name, &schema, options) {
        Ok(schema) => Ok(json!({ "warnings": schema.warnings(), "id": keep(schema) })),
        Err(NotCompiled::NeedsEngine(beyond)) => {
            Ok(json!({ "needsEngine": needs_engine(&name, &beyond).message }))
        }
        Err(NotCompiled::Failed(error)) => Err(error),
    };
    answer(SchemaOptions::from_json(&options).and_then(compile))
}

fn keep(schema: ArgumentSchema) -> u32 {
    let id = NEXT.get();
    NEXT.set(id.wrapping_add(1));
    SCHEMAS.with_borrow_mut(|schemas| schemas.insert(id, Rc::new(schema)));
    id
}

fn known(id: u32) -> Option<Rc<ArgumentSchema>> {
    SCHEMAS.with_borrow(|schemas| schemas.get(&id).cloned())
}

fn gone() -> String {
    answer(Err(ToolError::new(ErrorCode::Disposed, "The schema was disposed: compile it again")))
}

/// Forgets a schema.
#[wasm_bindgen]
pub fn schema_free(id: u32) {
    SCHEMAS.with_borrow_mut(|schemas| schemas.remove(&id));
}

/// Whether the argument text in scratch fits a schema as it is: then the face reads it itself.
#[wasm_bindgen]
pub fn arguments_fit(schema: u32, arguments: usize) -> bool {
    known(schema).is_some_and(|schema| with(arguments, |text| schema.fits(text)))
}

/// Checks the argument text in scratch against a schema.
#[wasm_bindgen]
pub fn validate_arguments(schema: u32, arguments: usize, incomplete: bool) -> String {
    let Some(schema) = known(schema) else { return gone() };
    let [arguments] = parts([arguments]);
    answer(schema.validate(&arguments, incomplete))
}

/// Checks the value in scratch, JSON text, against a schema. Answers `{value}` or `{errors: [{path, message}]}`, or
/// nothing where the value fits as it is.
#[wasm_bindgen]
pub fn check_value(schema: u32, value: usize) -> Option<String> {
    let Some(schema) = known(schema) else { return Some(gone()) };
    if with(value, |text| schema.fits_as_value(text)) {
        return None;
    }
    let [value] = parts([value]);
    Some(answer(Ok(checked(schema.check(&value)))))
}

/// `{value}` or `{errors: [{path, message}]}`.
pub(super) fn checked(outcome: Result<Value, Vec<SchemaError>>) -> Value {
    match outcome {
        Ok(value) => json!({ "value": value }),
        Err(errors) => {
            let errors = errors.iter().map(|error| json!({ "path": error.path, "message": error.message }));
            json!({ "errors": errors.collect::<Value>() })
        }
    }
}
