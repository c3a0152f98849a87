//! What a schema object has beside structural keywords. Without the engine there is nothing: a schema that has more is
//! refused when it is compiled, and the compiler of the core knows it.

#[cfg(feature = "schema")]
pub(super) type Beyond = Box<super::engine::beyond::Beyond>;

#[cfg(not(feature = "schema"))]
pub(super) use nothing::Beyond;

#[cfg(not(feature = "schema"))]
mod nothing {
    use serde_json::Value;

    use super::super::compile::Node;
    use super::super::errors::Collector;

    /// Nothing.
    #[derive(Debug)]
    pub enum Beyond {}

    /// No pattern.
    #[derive(Debug)]
    pub enum Pattern {}

    impl Pattern {
        pub fn matches(&self, _: &str) -> bool {
            match *self {}
        }
    }

    impl Beyond {
        pub fn verdict(&self, _: &Value) -> Option<bool> {
            match *self {}
        }

        pub fn parts<'a>(&'a self, _: &Value, _: &'a [Node]) -> std::slice::Iter<'a, Node> {
            match *self {}
        }

        pub fn own_errors(&self, _: &Value, _: &mut Collector<'_>) {
            match *self {}
        }

        pub fn other_errors(&self, _: &Value, _: &mut Collector<'_>) {
            match *self {}
        }

        pub fn one_of(&self) -> Option<&[Node]> {
            match *self {}
        }

        pub fn tuple(&self) -> &[Node] {
            match *self {}
        }

        pub fn has_branches(&self) -> bool {
            match *self {}
        }

        pub fn unevaluated(&self) -> Option<&Node> {
            match *self {}
        }

        pub fn patterns(&self) -> &[(Pattern, Node)] {
            match *self {}
        }
    }
}
