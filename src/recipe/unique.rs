//! Values in order, each once.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash, RandomState};

/// Values in the order in which they came; of equal ones the first.
pub(crate) struct Unique<T> {
    all: Vec<T>,
    by_hash: HashMap<u64, Vec<usize>>,
    hasher: RandomState,
}

impl<T: Hash + Eq> Unique<T> {
    pub(crate) fn new() -> Self {
        Self { all: Vec::new(), by_hash: HashMap::new(), hasher: RandomState::new() }
    }

    /// Takes a value in; none where it is held already.
    pub(crate) fn push(&mut self, value: T) -> Option<&T> {
        let alike = self.by_hash.entry(self.hasher.hash_one(&value)).or_default();
        if alike.iter().any(|index| self.all.get(*index) == Some(&value)) {
            return None;
        }
        alike.push(self.all.len());
        self.all.push(value);
        self.all.last()
    }

    pub(crate) fn into_all(self) -> Vec<T> {
        self.all
    }
}

impl<T: Hash + Eq> Extend<T> for Unique<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        for value in values {
            self.push(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equal_ones_the_first_stays() {
        let mut unique = Unique::new();
        assert_eq!(unique.push("b"), Some(&"b"));
        unique.extend(["a", "b", "a", "c"]);
        assert_eq!(unique.push("c"), None);
        assert_eq!(unique.into_all(), ["b", "a", "c"]);
    }
}
