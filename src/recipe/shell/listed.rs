//! Keys in the order in which they came, each once, with a value; copies share what they agree on.

use std::borrow::Borrow;
use std::sync::Arc;

use super::shared::Shared;

/// The list.
#[derive(Debug)]
pub(super) struct Listed<K: ?Sized + Ord, V> {
    by_key: Shared<Arc<K>, (usize, V)>,
    in_order: Shared<usize, Arc<K>>,
}

impl<K: ?Sized + Ord, V: Copy + PartialEq> Listed<K, V>
where
    Arc<K>: Borrow<K>,
{
    pub(super) fn new() -> Self {
        Self { by_key: Shared::new(), in_order: Shared::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.by_key.len()
    }

    pub(super) fn get(&self, key: &K) -> Option<V> {
        self.by_key.get(key).map(|(_, value)| *value)
    }

    /// Puts a key at the end, wherever it was.
    pub(super) fn push(&mut self, key: impl Into<Arc<K>>, value: V) {
        let key: Arc<K> = key.into();
        if let Some((order, _)) = self.by_key.get(&*key) {
            let order = *order;
            self.in_order.remove(&order);
        }
        let order = self.in_order.last().map_or(0, |(order, _)| order + 1);
        self.in_order.insert(order, Arc::clone(&key));
        self.by_key.insert(key, (order, value));
    }

    /// The last key.
    pub(super) fn last(&self) -> Option<(&K, V)> {
        let (_, key) = self.in_order.last()?;
        Some((&**key, self.get(key)?))
    }

    /// The keys in order.
    pub(super) fn keys(&self) -> impl Iterator<Item = &K> {
        self.in_order.values().map(|key| &**key)
    }

    /// Keeps what another list has too, with the same value.
    pub(super) fn keep_common(&mut self, other: &Self) {
        self.in_order.retain(|_, key| self.by_key.get(&**key).map(|held| held.1) == other.get(key));
        self.by_key.retain(|key, (_, value)| other.get(key) == Some(*value));
    }
}

impl<K: ?Sized + Ord, V> Clone for Listed<K, V> {
    fn clone(&self) -> Self {
        Self { by_key: self.by_key.clone(), in_order: self.in_order.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stand_where_they_came_last() {
        let mut list: Listed<str, bool> = Listed::new();
        assert_eq!(list.last(), None);
        for (key, value) in [("b", true), ("a", false), ("c", true), ("b", true)] {
            list.push(key, value);
        }
        assert_eq!(list.keys().collect::<Vec<_>>(), ["a", "c", "b"]);
        assert_eq!((list.len(), list.last(), list.get("a")), (3, Some(("b", true)), Some(false)));
        let mut other = list.clone();
        other.push("a", true);
        other.push("d", true);
        list.keep_common(&other);
        assert_eq!(list.keys().collect::<Vec<_>>(), ["c", "b"]);
        assert_eq!(other.len(), 4);
    }
}
