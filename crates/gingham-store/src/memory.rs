//! Objects in this process's memory: for tests, for small results, and as the model that other stores are compared with.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::range::{below, check_key, check_prefix, drop_markers, level};
use crate::*;

/// A map from key to bytes. Clones of its [`Store`] share it.
#[derive(Debug, Default)]
pub struct Memory {
    state: RwLock<State>,
}

#[derive(Debug, Default)]
struct State {
    objects: BTreeMap<String, (Bytes, u64)>,
    puts: u64,
}

impl Memory {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    // A panic in another thread cannot leave the map half changed: every change is one call on it.
    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }
    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
    fn checked(&self, key: &str) -> Result<(), StoreError> {
        check_key(key).map_err(|e| e.at("memory:", key))
    }
    fn object(&self, key: &str) -> Result<Option<Bytes>, StoreError> {
        self.checked(key)?;
        Ok(self.read().objects.get(key).map(|(bytes, _)| bytes.clone()))
    }
}

fn under<'a>(state: &'a State, prefix: &'a str) -> impl Iterator<Item = (&'a String, &'a (Bytes, u64))> {
    let from = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
    let end = from.clone();
    state.objects.range((Bound::Included(from), Bound::Unbounded)).take_while(move |(k, _)| k.starts_with(&end))
}

impl Storage for Memory {
    fn describe(&self) -> String {
        "memory:".into()
    }
    fn traits(&self) -> Traits {
        Traits { lists: true, writes: true, conditional: true, gap: 0, concurrency: 1, local: true }
    }
    fn get(&self, key: &str, range: Range) -> Got {
        let Some(bytes) = self.object(key)? else { return Ok(None) };
        let (start, length) = range.within(bytes.len() as u64).map_err(|e| e.at("memory:", key))?;
        Ok(Some(bytes.slice(start as usize..(start + length) as usize)))
    }
    fn stat(&self, key: &str) -> Result<Option<Stat>, StoreError> {
        self.checked(key)?;
        let stat = |(bytes, put): &(Bytes, u64)| Stat { size: bytes.len() as u64, version: Some(put.to_string()) };
        Ok(self.read().objects.get(key).map(stat))
    }
    fn put(&self, key: &str, bytes: Bytes, condition: &Condition) -> Result<(), StoreError> {
        self.checked(key)?;
        let mut state = self.write();
        let now = state.objects.get(key).map(|(_, put)| put.to_string());
        check_condition(condition, now.as_deref()).map_err(|e| e.at("memory:", key))?;
        state.puts += 1;
        let put = state.puts;
        state.objects.insert(key.into(), (bytes, put));
        Ok(())
    }
    fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.checked(key)?;
        self.write().objects.remove(key);
        Ok(())
    }
    fn delete_if(&self, key: &str, version: &str) -> Result<bool, StoreError> {
        self.checked(key)?;
        let mut state = self.write();
        let now = state.objects.get(key).map(|(_, put)| put.to_string());
        check_condition(&Condition::Version(version.into()), now.as_deref()).map_err(|e| e.at("memory:", key))?;
        state.objects.remove(key);
        Ok(true)
    }
    fn delete_prefix(&self, prefix: &str) -> Result<u64, StoreError> {
        let prefix = check_prefix(prefix).map_err(|e| e.at("memory:", prefix))?;
        let mut state = self.write();
        let before = state.objects.len();
        state.objects.retain(|key, _| below(key, prefix).is_none());
        Ok((before - state.objects.len()) as u64)
    }
    fn list(&self, prefix: &str) -> Result<Vec<(String, u64)>, StoreError> {
        let prefix = check_prefix(prefix).map_err(|e| e.at("memory:", prefix))?;
        let mut out = under(&self.read(), prefix).map(|(k, (bytes, _))| (k.clone(), bytes.len() as u64)).collect();
        drop_markers(&mut out);
        Ok(out)
    }
    fn list_dir(&self, prefix: &str) -> Result<Listing, StoreError> {
        let keys = self.list(prefix)?;
        Ok(level(keys.iter().map(|(k, _)| k.as_str()), prefix.trim_end_matches('/')))
    }
}

/// Whether an object whose version is `now` (`None`: absent) may be put.
pub(crate) fn check_condition(condition: &Condition, now: Option<&str>) -> Result<(), StoreError> {
    match (condition, now) {
        (Condition::Absent, Some(_)) => Err(StoreError::new(StoreErrorKind::Exists, "the key exists already")),
        (Condition::Version(want), Some(have)) if want != have => {
            Err(StoreError::new(StoreErrorKind::Conflict, format!("the object changed: version {want} was expected, and it is {have}")))
        }
        (Condition::Version(want), None) => {
            Err(StoreError::new(StoreErrorKind::Conflict, format!("version {want} was expected, and the key is absent")))
        }
        _ => Ok(()),
    }
}
