//! Arguments: from a model's text to a value that fits the tool's JSON Schema.
