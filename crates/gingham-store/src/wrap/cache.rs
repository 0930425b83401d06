//! Keeps what was got in memory, up to a budget.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::forward;
use crate::range::below;
use crate::*;

/// The share of the budget that one answer may take: many small ones are worth more than a few large ones.
const SHARE: u64 = 8;
/// What an answer takes beside its bytes and its key: two map entries.
const OVERHEAD: u64 = 128;

/// Keeps objects and parts in memory, those that were used last; a whole object also serves its parts.
///
/// A put or delete through it is seen at once. What other writers change is not seen until it falls out, so that this is for
/// stores that do not change meanwhile. Absent keys are asked for each time.
#[derive(Debug)]
pub struct Cache {
    inner: Store,
    budget: u64,
    pub(super) kept: Arc<Mutex<Kept>>,
}

#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) answers: HashMap<String, HashMap<Range, (Bytes, u64)>>,
    /// From the time of the last use to the answer.
    pub(super) by_use: BTreeMap<u64, (String, Range)>,
    clock: u64,
    pub(super) used: u64,
    /// Counts changes: an answer that was under way during one may be of before it, and is not kept.
    changes: u64,
    /// Changes that are under way. While there is one, nothing is answered from here and nothing is kept: a writer that has just
    /// been told of the new version must not be given the old bytes with it.
    under_way: usize,
}

fn weight(key: &str, bytes: &Bytes) -> u64 {
    bytes.len() as u64 + 2 * key.len() as u64 + OVERHEAD
}

impl Kept {
    fn find(&mut self, key: &str, range: Range) -> Option<Bytes> {
        if self.under_way > 0 {
            return None;
        }
        let answers = self.answers.get_mut(key)?;
        let (bytes, found) = match answers.get(&range) {
            Some((bytes, _)) => (bytes.clone(), range),
            None => {
                let (bytes, _) = answers.get(&Range::All)?;
                // A range that the object does not have is for the store to refuse.
                let (start, length) = range.within(bytes.len() as u64).ok()?;
                (bytes.slice(start as usize..(start + length) as usize), Range::All)
            }
        };
        self.clock += 1;
        if let Some((_, time)) = answers.get_mut(&found)
            && let Some(answer) = self.by_use.remove(time)
        {
            *time = self.clock;
            self.by_use.insert(self.clock, answer);
        }
        Some(bytes)
    }

    fn keep(&mut self, key: &str, range: Range, bytes: &Bytes, changes: u64, budget: u64) {
        let weight_of_it = weight(key, bytes);
        if self.under_way > 0 || changes != self.changes || weight_of_it > budget / SHARE {
            return;
        }
        self.drop_one(key, range);
        self.clock += 1;
        self.used += weight_of_it;
        self.by_use.insert(self.clock, (key.into(), range));
        // A part of a larger buffer would keep all of it alive.
        let own = Bytes::copy_from_slice(bytes);
        self.answers.entry(key.into()).or_default().insert(range, (own, self.clock));
        while self.used > budget {
            let Some((_, (key, range))) = self.by_use.first_key_value() else { break };
            let (key, range) = (key.clone(), *range);
            self.drop_one(&key, range);
        }
    }

    fn drop_one(&mut self, key: &str, range: Range) {
        let Some(answers) = self.answers.get_mut(key) else { return };
        if let Some((bytes, time)) = answers.remove(&range) {
            self.used -= weight(key, &bytes);
            self.by_use.remove(&time);
        }
        if answers.is_empty() {
            self.answers.remove(key);
        }
    }

    fn changed(&mut self, is: impl Fn(&str) -> bool) {
        self.changes += 1;
        let keys: Vec<String> = self.answers.keys().filter(|key| is(key)).cloned().collect();
        for key in keys {
            for (bytes, time) in self.answers.remove(&key).into_iter().flat_map(HashMap::into_values) {
                self.used -= weight(&key, &bytes);
                self.by_use.remove(&time);
            }
        }
    }

    fn changed_key(&mut self, key: &str) {
        if self.answers.contains_key(key) {
            self.changed(|other| other == key);
        } else {
            self.changes += 1;
        }
    }
}

impl Cache {
    /// Keeps up to `budget` bytes of what `inner` answers. Answers of more than an eighth of it are not kept.
    pub fn new(inner: Store, budget: u64) -> Self {
        Cache { inner, budget, kept: Arc::default() }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        kept(&self.kept)
    }

    /// Carries a change out, during which nothing is answered from memory.
    fn change<T>(&self, change: impl FnOnce() -> T, forget: impl FnOnce(&mut Kept)) -> T {
        self.kept().under_way += 1;
        let result = change();
        let mut kept = self.kept();
        forget(&mut kept);
        kept.under_way -= 1;
        result
    }
}

// A panic while it is held cannot leave an answer wrong, at most uncounted.
fn kept(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Storage for Cache {
    forward!(describe traits stat list list_dir finish);
    fn get(&self, key: &str, range: Range) -> Got {
        let changes = {
            let mut kept = self.kept();
            if let Some(bytes) = kept.find(key, range) {
                return Ok(Some(bytes));
            }
            kept.changes
        };
        let got = self.inner.get(key, range)?;
        if let Some(bytes) = &got {
            self.kept().keep(key, range, bytes, changes, self.budget);
        }
        Ok(got)
    }
    fn get_into(&self, key: &str, start: u64, out: &mut [u8]) -> Result<bool, StoreError> {
        let range = Range::Bounded { start, length: out.len() as u64 };
        // What is too large to be kept goes straight to the caller.
        let found = if out.len() as u64 > self.budget / SHARE { self.kept().find(key, range) } else { self.get(key, range)? };
        match found {
            Some(bytes) => {
                out.copy_from_slice(&bytes);
                Ok(true)
            }
            None if out.len() as u64 > self.budget / SHARE => self.inner.get_into(key, start, out),
            None => Ok(false),
        }
    }
    fn get_many(&self, requests: &[Request], deliver: &(dyn Fn(usize, Got) + Sync)) {
        let (mut missing, mut index) = (Vec::new(), Vec::new());
        let changes = self.kept().changes;
        for (i, r) in requests.iter().enumerate() {
            let found = self.kept().find(&r.key, r.range);
            match found {
                Some(bytes) => deliver(i, Ok(Some(bytes))),
                None => {
                    missing.push(r.clone());
                    index.push(i);
                }
            }
        }
        self.inner.get_many(&missing, &|i, got| {
            if let Ok(Some(bytes)) = &got {
                self.kept().keep(&missing[i].key, missing[i].range, bytes, changes, self.budget);
            }
            deliver(index[i], got);
        });
    }
    fn start_get(&self, key: &str, range: Range) -> Option<Pending> {
        let changes = {
            let mut kept = self.kept();
            if let Some(bytes) = kept.find(key, range) {
                return Some(Box::pin(std::future::ready(Ok(Some(bytes)))));
            }
            kept.changes
        };
        let pending = self.inner.start_get(key, range)?;
        let (state, key, budget) = (self.kept.clone(), key.to_owned(), self.budget);
        Some(Box::pin(async move {
            let got = pending.await?;
            if let Some(bytes) = &got {
                kept(&state).keep(&key, range, bytes, changes, budget);
            }
            Ok(got)
        }))
    }
    // A put or delete that failed may still have happened.
    fn put(&self, key: &str, bytes: Bytes, condition: &Condition) -> Result<(), StoreError> {
        self.change(|| self.inner.put(key, bytes, condition), |kept| kept.changed_key(key))
    }
    fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.change(|| self.inner.delete(key), |kept| kept.changed_key(key))
    }
    fn delete_if(&self, key: &str, version: &str) -> Result<bool, StoreError> {
        self.change(|| self.inner.delete_if(key, version), |kept| kept.changed_key(key))
    }
    fn delete_prefix(&self, prefix: &str) -> Result<u64, StoreError> {
        let bare = prefix.trim_end_matches('/');
        self.change(|| self.inner.delete_prefix(prefix), |kept| kept.changed(|key| below(key, bare).is_some()))
    }
}
