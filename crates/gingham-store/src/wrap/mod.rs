//! Stores around stores: each watches or changes one thing and forwards the rest.

mod cache;
mod call;
mod count;
mod fault;
mod limit;
mod log;
mod prefix;
mod read_only;
mod stop;

pub use cache::Cache;
pub use call::Call;
pub use count::{Count, Counts, Tally};
pub use fault::{Fault, Injected};
pub use limit::Limit;
pub use log::{Log, Logged};
pub use prefix::Prefix;
pub use read_only::ReadOnly;
pub use stop::Stop;

/// The methods of [`crate::Storage`] that a wrapper passes on as they are, to its field `inner`.
macro_rules! forward {
    ($($method:ident)*) => { $(forward!(@ $method);)* };
    (@ describe) => { fn describe(&self) -> String { self.inner.describe() } };
    (@ traits) => { fn traits(&self) -> Traits { self.inner.traits() } };
    (@ get) => { fn get(&self, key: &str, range: Range) -> Got { self.inner.get(key, range) } };
    (@ get_into) => {
        fn get_into(&self, key: &str, start: u64, out: &mut [u8]) -> Result<bool, StoreError> { self.inner.get_into(key, start, out) }
    };
    (@ read) => {
        fn read(&self, key: &str, room: &mut dyn Room) -> Result<bool, StoreError> { self.inner.read(key, room) }
    };
    (@ open) => {
        fn open(&self, key: &str) -> Result<Option<Box<dyn Opened + '_>>, StoreError> { self.inner.open(key) }
    };
    (@ keys) => { fn keys(&self, prefix: &str) -> Result<Vec<String>, StoreError> { self.inner.keys(prefix) } };
    (@ prefixes) => { fn prefixes(&self, prefix: &str) -> Result<Vec<String>, StoreError> { self.inner.prefixes(prefix) } };
    (@ get_many) => {
        fn get_many(&self, requests: &[Request], deliver: &(dyn Fn(usize, Got) + Sync)) { self.inner.get_many(requests, deliver) }
    };
    (@ start_get) => { fn start_get(&self, key: &str, range: Range) -> Option<Pending> { self.inner.start_get(key, range) } };
    (@ stat) => { fn stat(&self, key: &str) -> Result<Option<Stat>, StoreError> { self.inner.stat(key) } };
    (@ list) => { fn list(&self, prefix: &str) -> Result<Vec<(String, u64)>, StoreError> { self.inner.list(prefix) } };
    (@ list_dir) => { fn list_dir(&self, prefix: &str) -> Result<Listing, StoreError> { self.inner.list_dir(prefix) } };
    (@ finish) => { fn finish(&self) -> Result<(), StoreError> { self.inner.finish() } };
}
use forward;

#[cfg(test)]
mod tests;
