//! JSON values read into structs, by hand: derived readers are some KB of code for each struct.

use serde_json::{Map, Value};

mod numbers;

pub use numbers::exact;
#[cfg(all(target_arch = "wasm32", not(feature = "float_roundtrip")))]
pub use numbers::install;

/// The fields of an object. Reading takes them out, so that texts are moved and not copied.
pub struct Fields(Map<String, Value>);

impl Fields {
    /// The fields of a value.
    ///
    /// # Errors
    /// For what is no object, what is wrong with it. So it is with all that can fail here.
    pub fn of(value: Value) -> Result<Fields, String> {
        match value {
            Value::Object(map) => Ok(Fields(map)),
            other => Err(wrong(&other, "an object")),
        }
    }

    /// Refuses fields that are not known. Those with a `?` may be null; it is read as nothing.
    pub fn only(&self, known: &[&str]) -> Result<(), String> {
        for (key, value) in &self.0 {
            let Some(known) = known.iter().find(|known| known.trim_end_matches('?') == key) else {
                let names = known.join("`, `").replace('?', "");
                return Err(format!("unknown field `{key}`, expected one of `{names}`"));
            };
            if value.is_null() && !known.ends_with('?') {
                return Err(format!("invalid type: null, expected a value for `{key}`"));
            }
        }
        Ok(())
    }

    /// The field's value; nothing for null.
    pub fn take(&mut self, key: &str) -> Option<Value> {
        self.0.get_mut(key).map(Value::take).filter(|value| !value.is_null())
    }

    /// The field's value, read; an error names the field.
    pub fn read<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(Value) -> Result<T, String>,
    ) -> Result<Option<T>, String> {
        let Some(value) = self.take(key) else { return Ok(None) };
        read(value).map(Some).map_err(|error| format!("{error} for `{key}`"))
    }

    /// A string.
    pub fn text(&mut self, key: &str) -> Result<Option<String>, String> {
        self.read(key, text)
    }

    /// A number.
    pub fn number(&mut self, key: &str) -> Result<Option<f64>, String> {
        self.read(key, |value| value.as_f64().ok_or_else(|| wrong(&value, "a number")))
    }

    /// A boolean.
    pub fn flag(&mut self, key: &str) -> Result<Option<bool>, String> {
        self.read(key, |value| value.as_bool().ok_or_else(|| wrong(&value, "a boolean")))
    }

    /// An array of strings.
    pub fn texts(&mut self, key: &str) -> Result<Option<Vec<String>>, String> {
        self.read(key, |value| list(value, text))
    }

    /// The fields with their names.
    pub fn entries(self) -> impl Iterator<Item = (String, Value)> {
        self.0.into_iter()
    }
}

/// A string.
pub fn text(value: Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text),
        other => Err(wrong(&other, "a string")),
    }
}

/// An array, item by item.
pub fn list<T>(value: Value, read: impl Fn(Value) -> Result<T, String>) -> Result<Vec<T>, String> {
    match value {
        Value::Array(items) => items.into_iter().map(read).collect(),
        other => Err(wrong(&other, "an array")),
    }
}

/// A field that must be there.
pub fn required<T>(key: &str, value: Option<T>) -> Result<T, String> {
    value.ok_or_else(|| format!("missing field `{key}`"))
}

/// What is said of a value of another type.
pub fn wrong(found: &Value, expected: &str) -> String {
    let found: String = found.to_string().chars().take(80).collect();
    format!("invalid type: {found}, expected {expected}")
}

/// A number in a message, as JavaScript prints it.
pub fn shown(number: f64) -> String {
    numbers::printed(number)
}

/// What code that looks up many keys does with an object. Finding a key is some hundred bytes of code, which are here
/// once and not wherever a key is used.
pub trait Keys: Sized {
    /// An object of one key.
    fn of(key: &str, value: Value) -> Self;
    /// The value of a key.
    fn at(&self, key: &str) -> Option<&Value>;
    /// The same, to change it.
    fn at_mut(&mut self, key: &str) -> Option<&mut Value>;
    /// The items of an array; none of what is no array.
    fn list(&self, key: &str) -> &[Value];
    /// The fields of an object; none of what is no object.
    fn fields(&self, key: &str) -> Option<&Self>;
    /// Puts a value at a key.
    fn put(&mut self, key: &str, value: Value);
    /// Puts a text at a key.
    fn put_text(&mut self, key: &str, text: &str);
    /// Takes a key away; the others keep their order.
    fn cut(&mut self, key: &str) -> Option<Value>;
    /// Takes away every key of which something does not hold; it may change the values.
    fn keep(&mut self, is_kept: &mut dyn FnMut(&String, &mut Value) -> bool);
}

impl Keys for Map<String, Value> {
    #[inline(never)]
    fn of(key: &str, value: Value) -> Self {
        let mut map = Map::new();
        map.put(key, value);
        map
    }

    #[inline(never)]
    fn at(&self, key: &str) -> Option<&Value> {
        self.get(key)
    }

    #[inline(never)]
    fn at_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.get_mut(key)
    }

    #[inline(never)]
    fn list(&self, key: &str) -> &[Value] {
        match self.at(key) {
            Some(Value::Array(items)) => items,
            _ => &[],
        }
    }

    #[inline(never)]
    fn fields(&self, key: &str) -> Option<&Self> {
        self.at(key)?.as_object()
    }

    #[inline(never)]
    fn put(&mut self, key: &str, value: Value) {
        self.insert(key.to_owned(), value);
    }

    #[inline(never)]
    fn put_text(&mut self, key: &str, text: &str) {
        self.put(key, text.into());
    }

    #[inline(never)]
    fn cut(&mut self, key: &str) -> Option<Value> {
        self.shift_remove(key)
    }

    #[inline(never)]
    fn keep(&mut self, is_kept: &mut dyn FnMut(&String, &mut Value) -> bool) {
        self.retain(is_kept);
    }
}

/// JSON text.
pub fn parse(text: &[u8]) -> Result<Value, String> {
    from_slice(text).map_err(|error| error.to_string())
}

/// The same, with serde_json's own error.
pub fn from_slice(text: &[u8]) -> serde_json::Result<Value> {
    exact(text, |text| serde_json::from_slice(text))
}

/// JSON text that is part of this crate.
pub fn known(text: &str) -> Value {
    parse(text.as_bytes()).expect("a constant of the crate is JSON")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_wrong_is_named() {
        let mut fields = Fields::of(json!({"a": "x", "b": null, "c": [1], "d": true})).unwrap();
        assert_eq!(fields.only(&["a", "b?", "c", "d"]), Ok(()));
        assert_eq!(
            fields.only(&["a", "b", "c", "d"]).unwrap_err(),
            "invalid type: null, expected a value for `b`"
        );
        assert_eq!(
            fields.only(&["b?", "a", "d"]).unwrap_err(),
            "unknown field `c`, expected one of `b`, `a`, `d`"
        );
        assert_eq!(fields.number("a").unwrap_err(), "invalid type: \"x\", expected a number for `a`");
        assert_eq!(fields.text("b"), Ok(None));
        assert_eq!(required("b", fields.text("b").unwrap()).unwrap_err(), "missing field `b`");
        assert_eq!(fields.texts("c").unwrap_err(), "invalid type: 1, expected a string for `c`");
        assert_eq!(fields.flag("d"), Ok(Some(true)));
        assert!(Fields::of(json!([])).is_err() && list(json!({}), text).is_err());
    }
}
