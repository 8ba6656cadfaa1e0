//! A sorted map whose copies share what they agree on.
//!
//! A shell is copied at every command, condition and subshell, and few of them change anything. So a copy costs nothing, and a
//! change costs the logarithm of what the map holds: a balanced tree (Adams 1992) whose nodes never change.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// How much heavier one side of a node may be than the other, and when one rotation is not enough.
const HEAVIER: usize = 3;
const TWICE: usize = 2;

type Link<K, V> = Option<Arc<Node<K, V>>>;

struct Node<K, V> {
    entry: Arc<(K, V)>,
    size: usize,
    left: Link<K, V>,
    right: Link<K, V>,
}

/// The map.
pub(super) struct Shared<K, V> {
    root: Link<K, V>,
}

impl<K: Ord, V> Shared<K, V> {
    pub(super) fn new() -> Self {
        Self { root: None }
    }

    pub(super) fn len(&self) -> usize {
        size(&self.root)
    }

    pub(super) fn clear(&mut self) {
        self.root = None;
    }

    pub(super) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let mut link = &self.root;
        while let Some(node) = link {
            link = match key.cmp(node.entry.0.borrow()) {
                Ordering::Less => &node.left,
                Ordering::Greater => &node.right,
                Ordering::Equal => return Some(&node.entry.1),
            };
        }
        None
    }

    pub(super) fn contains<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.get(key).is_some()
    }

    pub(super) fn insert(&mut self, key: K, value: V) {
        self.root = Some(inserted(&self.root, Arc::new((key, value))));
    }

    pub(super) fn remove<Q: Ord + ?Sized>(&mut self, key: &Q)
    where
        K: Borrow<Q>,
    {
        if self.contains(key) {
            self.root = removed(&self.root, key);
        }
    }

    /// Keeps what holds; nothing is copied where all does.
    pub(super) fn retain(&mut self, holds: impl Fn(&K, &V) -> bool) {
        let kept: Vec<Arc<(K, V)>> =
            self.entries().filter(|entry| holds(&entry.0, &entry.1)).map(Arc::clone).collect();
        if kept.len() < self.len() {
            self.root = of_sorted(&kept);
        }
    }

    /// The entry with the last key.
    pub(super) fn last(&self) -> Option<(&K, &V)> {
        let mut node = self.root.as_ref()?;
        while let Some(right) = &node.right {
            node = right;
        }
        Some((&node.entry.0, &node.entry.1))
    }

    /// Whether both are the same copy.
    fn is_one_with(&self, other: &Self) -> bool {
        match (&self.root, &other.root) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    fn entries(&self) -> Entries<'_, K, V> {
        let mut entries = Entries { above: Vec::new() };
        entries.descend(&self.root);
        entries
    }

    /// In the order of the keys.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.entries().map(|entry| (&entry.0, &entry.1))
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &K> {
        self.entries().map(|entry| &entry.0)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        self.entries().map(|entry| &entry.1)
    }
}

impl<K, V> Clone for Shared<K, V> {
    fn clone(&self) -> Self {
        Self { root: self.root.clone() }
    }
}

impl<K: Ord, V: PartialEq> PartialEq for Shared<K, V> {
    fn eq(&self, other: &Self) -> bool {
        let mut pairs = self.entries().zip(other.entries());
        self.is_one_with(other)
            || (self.len() == other.len()
                && pairs.all(|(one, other)| Arc::ptr_eq(one, other) || one == other))
    }
}

impl<K: Ord + Hash, V: Hash> Hash for Shared<K, V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.len().hash(state);
        self.entries().for_each(|entry| entry.hash(state));
    }
}

impl<K: Ord + fmt::Debug, V: fmt::Debug> fmt::Debug for Shared<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// The entries in order; nodes whose left side is done wait above.
struct Entries<'a, K, V> {
    above: Vec<&'a Node<K, V>>,
}

impl<'a, K, V> Entries<'a, K, V> {
    fn descend(&mut self, mut link: &'a Link<K, V>) {
        while let Some(node) = link {
            self.above.push(node);
            link = &node.left;
        }
    }
}

impl<'a, K, V> Iterator for Entries<'a, K, V> {
    type Item = &'a Arc<(K, V)>;

    fn next(&mut self) -> Option<Self::Item> {
        let node = self.above.pop()?;
        self.descend(&node.right);
        Some(&node.entry)
    }
}

fn size<K, V>(link: &Link<K, V>) -> usize {
    link.as_ref().map_or(0, |node| node.size)
}

fn joined<K, V>(entry: Arc<(K, V)>, left: Link<K, V>, right: Link<K, V>) -> Arc<Node<K, V>> {
    Arc::new(Node { entry, size: size(&left) + size(&right) + 1, left, right })
}

/// A node of two sides of which one may have got, or lost, one entry.
fn balanced<K, V>(entry: &Arc<(K, V)>, left: Link<K, V>, right: Link<K, V>) -> Arc<Node<K, V>> {
    let entry = Arc::clone(entry);
    let (weight_left, weight_right) = (size(&left), size(&right));
    if weight_left + weight_right > 1 {
        if weight_right > HEAVIER * weight_left
            && let Some(node) = &right
        {
            return raised_right(entry, left, node);
        }
        if weight_left > HEAVIER * weight_right
            && let Some(node) = &left
        {
            return raised_left(entry, node, right);
        }
    }
    joined(entry, left, right)
}

fn raised_right<K, V>(entry: Arc<(K, V)>, left: Link<K, V>, node: &Node<K, V>) -> Arc<Node<K, V>> {
    if size(&node.left) >= TWICE * size(&node.right)
        && let Some(inner) = &node.left
    {
        let lower = joined(entry, left, inner.left.clone());
        let upper = joined(Arc::clone(&node.entry), inner.right.clone(), node.right.clone());
        return joined(Arc::clone(&inner.entry), Some(lower), Some(upper));
    }
    let lower = joined(entry, left, node.left.clone());
    joined(Arc::clone(&node.entry), Some(lower), node.right.clone())
}

fn raised_left<K, V>(entry: Arc<(K, V)>, node: &Node<K, V>, right: Link<K, V>) -> Arc<Node<K, V>> {
    if size(&node.right) >= TWICE * size(&node.left)
        && let Some(inner) = &node.right
    {
        let lower = joined(Arc::clone(&node.entry), node.left.clone(), inner.left.clone());
        let upper = joined(entry, inner.right.clone(), right);
        return joined(Arc::clone(&inner.entry), Some(lower), Some(upper));
    }
    let upper = joined(entry, node.right.clone(), right);
    joined(Arc::clone(&node.entry), node.left.clone(), Some(upper))
}

fn inserted<K: Ord, V>(link: &Link<K, V>, entry: Arc<(K, V)>) -> Arc<Node<K, V>> {
    let Some(node) = link else { return joined(entry, None, None) };
    match entry.0.cmp(&node.entry.0) {
        Ordering::Less => balanced(&node.entry, Some(inserted(&node.left, entry)), node.right.clone()),
        Ordering::Greater => balanced(&node.entry, node.left.clone(), Some(inserted(&node.right, entry))),
        Ordering::Equal => joined(entry, node.left.clone(), node.right.clone()),
    }
}

fn removed<K, V, Q>(link: &Link<K, V>, key: &Q) -> Link<K, V>
where
    K: Ord + Borrow<Q>,
    Q: Ord + ?Sized,
{
    let node = link.as_ref()?;
    match key.cmp(node.entry.0.borrow()) {
        Ordering::Less => Some(balanced(&node.entry, removed(&node.left, key), node.right.clone())),
        Ordering::Greater => Some(balanced(&node.entry, node.left.clone(), removed(&node.right, key))),
        Ordering::Equal => match (&node.left, &node.right) {
            (None, other) | (other, None) => other.clone(),
            (left, Some(right)) => {
                let (first, rest) = without_first(right);
                Some(balanced(&first, left.clone(), rest))
            }
        },
    }
}

/// The first entry of a tree, and the others.
fn without_first<K, V>(node: &Node<K, V>) -> (Arc<(K, V)>, Link<K, V>) {
    match &node.left {
        None => (Arc::clone(&node.entry), node.right.clone()),
        Some(left) => {
            let (first, rest) = without_first(left);
            (first, Some(balanced(&node.entry, rest, node.right.clone())))
        }
    }
}

fn of_sorted<K, V>(entries: &[Arc<(K, V)>]) -> Link<K, V> {
    let (left, rest) = entries.split_at(entries.len() / 2);
    let (middle, right) = rest.split_first()?;
    Some(joined(Arc::clone(middle), of_sorted(left), of_sorted(right)))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    fn depth<K, V>(link: &Link<K, V>) -> usize {
        link.as_ref().map_or(0, |node| 1 + depth(&node.left).max(depth(&node.right)))
    }

    fn nodes<K, V>(link: &Link<K, V>, into: &mut BTreeSet<*const Node<K, V>>) {
        if let Some(node) = link {
            into.insert(Arc::as_ptr(node));
            nodes(&node.left, into);
            nodes(&node.right, into);
        }
    }

    proptest! {
        #[test]
        fn it_is_a_sorted_map(
            steps in prop::collection::vec((0_u8..4, 0_u16..60, any::<u8>()), 0..300),
        ) {
            let (mut map, mut model) = (Shared::new(), BTreeMap::new());
            for (step, key, value) in steps {
                let before = (map.clone(), model.clone());
                match step {
                    0 => {
                        map.remove(&key);
                        model.remove(&key);
                    }
                    1 => {
                        map.retain(|held, _| held % 7 != key % 7);
                        model.retain(|held, _| held % 7 != key % 7);
                    }
                    _ => {
                        map.insert(key, value);
                        model.insert(key, value);
                    }
                }
                prop_assert!(map.iter().eq(model.iter()));
                prop_assert_eq!(map.len(), model.len());
                prop_assert_eq!(map.get(&key), model.get(&key));
                // The copy is what it was.
                prop_assert!(before.0.iter().eq(before.1.iter()));
                prop_assert_eq!(map == before.0, model == before.1);
            }
        }
    }

    /// Names in order are the worst that a tree without balance can be given.
    #[test]
    fn a_tree_is_as_deep_as_the_logarithm_of_its_size() {
        let mut map = Shared::new();
        for key in 0..10_000_u32 {
            map.insert(key, ());
        }
        assert!(depth(&map.root) <= 2 * 14, "{}", depth(&map.root));
        for key in 0..9_900 {
            map.remove(&key);
        }
        assert!(map.len() == 100 && depth(&map.root) <= 2 * 7, "{}", depth(&map.root));
    }

    /// A change makes a path anew and shares the rest.
    #[test]
    fn a_changed_copy_shares_nearly_all() {
        let mut map = Shared::new();
        for key in 0..10_000_u32 {
            map.insert(key, 0);
        }
        let mut copy = map.clone();
        copy.insert(5000, 1);
        let (mut all, mut others) = (BTreeSet::new(), BTreeSet::new());
        nodes(&map.root, &mut all);
        nodes(&copy.root, &mut others);
        let own = others.difference(&all).count();
        assert!(own <= 2 * 14, "{own}");
    }
}
