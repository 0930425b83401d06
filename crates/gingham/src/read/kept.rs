//! Decoded chunks that are kept for reads that come back to them.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

/// What a kept chunk takes beside its elements: its places in the maps.
const OVERHEAD: usize = 256;

/// The decoded chunks of one array, by the key of their object, with the version that they were decoded from; the least recently
/// used go first.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// Bytes that may be kept.
    budget: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    objects: HashMap<String, Chunks>,
    /// Which chunk was used when.
    by_use: BTreeMap<u64, (String, usize)>,
    clock: u64,
    used: usize,
}

/// The chunks of one object: one, or some of a shard's.
#[derive(Debug)]
struct Chunks {
    version: Option<String>,
    /// By place in the shard: when it was used, its elements in the stored frame.
    frames: HashMap<usize, (u64, Arc<Vec<u8>>)>,
}

impl Kept {
    pub fn new(budget: u64) -> Self {
        Kept { budget: usize::try_from(budget).unwrap_or(usize::MAX), state: Mutex::default() }
    }
    /// Whether anything is kept.
    pub fn is_used(&self) -> bool {
        self.budget > 0
    }
    /// Whether a chunk of so many bytes is kept: one that takes more than a quarter of the budget is not.
    pub fn takes(&self, len: usize) -> bool {
        len.saturating_add(OVERHEAD) <= self.budget / 4
    }
    /// A chunk of this version of an object.
    pub fn find(&self, key: &str, inner: usize, version: Option<&str>) -> Option<Arc<Vec<u8>>> {
        if self.budget == 0 {
            return None;
        }
        let mut state = self.state();
        let State { objects, by_use, clock, .. } = &mut *state;
        let (used, frame) = objects.get_mut(key).filter(|chunks| chunks.version.as_deref() == version)?.frames.get_mut(&inner)?;
        let name = by_use.remove(used).unwrap_or_else(|| (key.into(), inner));
        *clock += 1;
        *used = *clock;
        by_use.insert(*clock, name);
        Some(frame.clone())
    }
    /// Keeps a chunk; those of another version of its object are forgotten.
    pub fn put(&self, key: &str, inner: usize, version: Option<&str>, frame: &Arc<Vec<u8>>) {
        let mut state = self.state();
        if state.objects.get(key).is_some_and(|chunks| chunks.version.as_deref() != version) {
            state.forget(key);
        }
        state.remove(key, inner);
        state.clock += 1;
        let now = state.clock;
        state.used += frame.len() + OVERHEAD;
        state.by_use.insert(now, (key.into(), inner));
        let chunks = state.objects.entry(key.into()).or_insert_with(|| Chunks { version: version.map(Into::into), frames: HashMap::new() });
        chunks.frames.insert(inner, (now, frame.clone()));
        while state.used > self.budget {
            let Some((_, (key, inner))) = state.by_use.pop_first() else { break };
            state.remove(&key, inner);
        }
    }
    /// The object changed.
    pub fn forget(&self, key: &str) {
        if self.budget > 0 {
            self.state().forget(key);
        }
    }
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl State {
    fn remove(&mut self, key: &str, inner: usize) {
        let Some(chunks) = self.objects.get_mut(key) else { return };
        if let Some((used, frame)) = chunks.frames.remove(&inner) {
            self.by_use.remove(&used);
            self.used -= frame.len() + OVERHEAD;
        }
        if chunks.frames.is_empty() {
            self.objects.remove(key);
        }
    }
    fn forget(&mut self, key: &str) {
        for (used, frame) in self.objects.remove(key).into_iter().flat_map(|chunks| chunks.frames.into_values()) {
            self.by_use.remove(&used);
            self.used -= frame.len() + OVERHEAD;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(len: usize) -> Arc<Vec<u8>> {
        Arc::new(vec![7; len])
    }

    #[test]
    fn the_least_recently_used_go_first() {
        let kept = Kept::new(4 * (1000 + OVERHEAD) as u64);
        for inner in 0..4 {
            kept.put("a", inner, Some("1"), &frame(1000));
        }
        assert!(kept.find("a", 0, Some("1")).is_some());
        kept.put("b", 0, None, &frame(1000));
        assert!(kept.find("a", 1, Some("1")).is_none());
        assert!(kept.find("a", 0, Some("1")).is_some());
        assert!(kept.find("b", 0, None).is_some());
        assert_eq!(kept.state().used, 4 * (1000 + OVERHEAD));
    }

    #[test]
    fn another_version_is_another_object() {
        let kept = Kept::new(1 << 20);
        kept.put("a", 0, Some("1"), &frame(10));
        kept.put("a", 1, Some("1"), &frame(10));
        assert!(kept.find("a", 0, Some("2")).is_none());
        assert!(kept.find("a", 0, None).is_none());
        kept.put("a", 1, Some("2"), &frame(10));
        assert!(kept.find("a", 0, Some("1")).is_none());
        assert!(kept.find("a", 1, Some("2")).is_some());
        kept.forget("a");
        assert!(kept.find("a", 1, Some("2")).is_none());
        let state = kept.state();
        assert_eq!((state.used, state.by_use.len()), (0, 0));
    }

    #[test]
    fn nothing_is_kept_without_a_budget_nor_what_would_take_it_all() {
        assert!(!Kept::new(0).takes(0));
        assert!(!Kept::new(4000).takes(1000));
        assert!(Kept::new(8000).takes(1000));
    }
}
