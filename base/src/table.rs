//! A small map: rows in the order of their keys. Where there are a few dozen entries it is as quick as a hash map, and
//! each kind of hash map costs a module some KB of code.

use std::borrow::Borrow;
use std::collections::BinaryHeap;

/// Sorts by a heap: where time does not matter most, as the code is a small part of that of `sort`.
pub fn sorted<T: Ord>(items: Vec<T>) -> Vec<T> {
    BinaryHeap::from(items).into_sorted_vec()
}

/// A map in one vector.
#[derive(Clone, Debug, PartialEq)]
pub struct Table<K, V> {
    rows: Vec<(K, V)>,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Table { rows: Vec::new() }
    }
}

impl<K: Ord, V> Table<K, V> {
    /// Where the key is, or where it would come.
    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        self.rows.binary_search_by(|(known, _)| known.borrow().cmp(key))
    }

    /// The value of the key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.place(key).ok().map(|at| &self.rows[at].1)
    }

    /// The row of the key, for [`Table::at`] while nothing is added or removed.
    pub fn row<Q: Ord + ?Sized>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        self.place(key).ok()
    }

    /// A row.
    pub fn at(&self, row: usize) -> (&K, &V) {
        let (key, value) = &self.rows[row];
        (key, value)
    }

    /// The value of the key, to change it.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.place(key).ok().map(|at| &mut self.rows[at].1)
    }

    /// The values, by their keys.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.rows.iter().map(|(_, value)| value)
    }

    /// Whether the key is there.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.place(key).is_ok()
    }

    /// Puts a value at the key; the one that was there.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.place(&key) {
            Ok(at) => Some(std::mem::replace(&mut self.rows[at].1, value)),
            Err(at) => {
                self.rows.insert(at, (key, value));
                None
            }
        }
    }

    /// Takes the key away; its value.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.place(key).ok().map(|at| self.rows.remove(at).1)
    }

    /// Takes away what does not pass.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &V) -> bool) {
        self.rows.retain(|(key, value)| keep(key, value));
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_their_keys_and_ordered() {
        let mut table: Table<String, u32> = Table::default();
        for (at, key) in ["b", "a", "c", "a"].into_iter().enumerate() {
            table.insert(key.into(), at as u32);
        }
        assert_eq!(
            table.rows.iter().map(|(key, value)| (key.as_str(), *value)).collect::<Vec<_>>(),
            [("a", 3), ("b", 0), ("c", 2)]
        );
        assert_eq!((table.row("c"), table.row("d"), table.at(0)), (Some(2), None, (&"a".to_owned(), &3)));
        assert_eq!(table.insert("b".into(), 7), Some(0));
        *table.get_mut("c").unwrap() += 1;
        assert_eq!((table.get("b"), table.get("c"), table.get("d")), (Some(&7), Some(&3), None));
        assert_eq!((table.remove("a"), table.remove("a"), table.len()), (Some(3), None, 2));
        table.retain(|key, _| key != "b");
        assert!(table.contains_key("c") && table.len() == 1 && !table.is_empty());
    }
}
