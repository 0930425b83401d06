//! Reading an archive that is an object of any store.
//!
//! ```text
//!   [prefix] local header · data   …   central directory  [zip64 end · locator]  end · [comment]
//!            ▲ checked when first read  ▲ read once, at open; the last record of a name counts
//! ```

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering};

use super::directory::*;
use crate::range::{buffer, check_key, check_prefix, drop_markers, level};
use crate::spread::spread;
use crate::*;

/// Bytes that are read from the end at once where they come over a network: the directory of a few thousand entries is in them.
const REMOTE_TAIL: u64 = 512 << 10;
/// What a local header's extra field is expected to take at most; a longer one is a second read.
const EXTRA: u64 = 128;
/// Deflate makes at most this many bytes out of one: more are declared only by a damaged or hostile archive.
const INFLATION: u64 = 1032;

/// A zip archive as a store that can be read.
///
/// Stored entries are read by range; the checksum is then not seen. Whole reads check it. Deflated entries are always read and
/// checked whole.
#[derive(Debug)]
pub struct Zip {
    source: Store,
    key: String,
    shown: String,
    /// Where the central directory begins: nothing of an entry lies behind it.
    limit: u64,
    /// Bytes before the archive, which its offsets do not count.
    prefix: u64,
    entries: BTreeMap<String, Entry>,
    duplicates: Vec<String>,
    ignored: Vec<String>,
}

#[derive(Debug)]
struct Entry {
    central: Central,
    /// Where its data begins; 0 until the local header was read, which lies there.
    data: AtomicU64,
}

impl Zip {
    /// Reads the directory of the archive that is the object `key` of `source`.
    pub fn open(source: Store, key: &str) -> Result<Self, StoreError> {
        let shown = format!("{}/{key}", source.describe().trim_end_matches('/'));
        Self::read(source, key, &shown).map_err(|e| e.at(&shown, ""))
    }

    /// Names that the directory has more than once; the last of each counts.
    pub fn duplicates(&self) -> &[String] {
        &self.duplicates
    }

    /// Names that are no keys (`..`, absolute, with a backslash, not UTF-8) and are therefore passed over.
    pub fn ignored(&self) -> &[String] {
        &self.ignored
    }

    fn read(source: Store, key: &str, shown: &str) -> Result<Self, StoreError> {
        let Some(stat) = source.stat(key)? else {
            return Err(StoreError::new(StoreErrorKind::NotFound, format!("{shown} does not exist")));
        };
        let fetch = |start: u64, length: u64| fetch(&source, key, start, length);
        let wanted = if source.traits().local { LONGEST_END } else { REMOTE_TAIL };
        let tail_start = stat.size.saturating_sub(wanted);
        let tail = fetch(tail_start, stat.size - tail_start)?;
        let at = find_end(&tail).ok_or_else(|| corrupt(format!("{shown} is not a zip archive, or its end is missing")))?;
        let (mut end, full) =
            parse_end(&tail[at..]).ok_or_else(|| corrupt(format!("{shown} is one part of a zip archive of several files")))?;
        let mut end_at = tail_start + at as u64;
        if let Some(locator) = at.checked_sub(LOCATOR64_LENGTH).and_then(|before| parse_locator64(&tail[before..at])) {
            // With bytes before the archive the locator points too far to the front; then the record lies right before it.
            let right_before = end_at.checked_sub((LOCATOR64_LENGTH + END64_LENGTH) as u64);
            let places = [Some(locator), right_before].into_iter().flatten();
            let places = places.filter(|at| at.checked_add(END64_LENGTH as u64).is_some_and(|end| end <= end_at));
            let mut found = None;
            for place in places {
                if let Some(end64) = parse_end64(&fetch(place, END64_LENGTH as u64)?) {
                    found = Some((end64, place));
                    break;
                }
            }
            (end, end_at) = found.ok_or_else(|| corrupt(format!("{shown} has no zip64 end record where its locator says")))?;
        } else if full && end.offset.checked_add(end.size).is_none_or(|e| e > end_at) {
            return Err(corrupt(format!("{shown} needs a zip64 end record and has none")));
        }
        let limit = end_at.checked_sub(end.size);
        let (Some(limit), true) = (limit, end.offset <= end_at) else {
            return Err(corrupt(format!("the zip directory of {shown} should have {} bytes, more than are before its end", end.size)));
        };
        let Some(prefix) = limit.checked_sub(end.offset) else {
            return Err(corrupt(format!("the zip directory of {shown} should begin at byte {} and ends at {end_at}", end.offset)));
        };
        let directory = match limit.checked_sub(tail_start) {
            Some(start) => tail.slice(start as usize..(end_at - tail_start) as usize),
            None => fetch(limit, end.size)?,
        };
        let mut zip = Zip {
            key: key.into(),
            shown: shown.into(),
            limit,
            prefix,
            entries: BTreeMap::new(),
            duplicates: vec![],
            ignored: vec![],
            source,
        };
        parse_central(&directory, &end)?.into_iter().for_each(|central| zip.insert(central));
        zip.duplicates.sort_unstable();
        zip.duplicates.dedup();
        Ok(zip)
    }

    fn insert(&mut self, central: Central) {
        let lossy = String::from_utf8_lossy(&central.name);
        if lossy.ends_with('/') && central.size == 0 {
            return;
        }
        let name = lossy.strip_prefix("./").unwrap_or(&lossy).to_string();
        if std::str::from_utf8(&central.name).is_err() || name.contains('\\') || check_key(&name).is_err() {
            self.ignored.push(lossy.into_owned());
            return;
        }
        let entry = Entry { central, data: AtomicU64::new(0) };
        if self.entries.insert(name.clone(), entry).is_some() {
            self.duplicates.push(name);
        }
    }

    fn entry(&self, key: &str) -> Result<Option<&Entry>, StoreError> {
        check_key(key).map_err(|e| self.at(e, key))?;
        Ok(self.entries.get(key))
    }

    fn at(&self, e: StoreError, key: &str) -> StoreError {
        e.at(&self.shown, key)
    }

    /// The same bytes of the archive, with the place in the error being the archive's.
    fn fetch(&self, key: &str, start: u64, length: u64) -> Result<Bytes, StoreError> {
        fetch(&self.source, &self.key, start, length).map_err(|mut e| {
            (e.store, e.key) = (self.shown.clone(), Some(key.into()));
            e
        })
    }

    /// Where the data of an entry begins. The local header is read and checked the first time; with it come, where they are
    /// wanted, the data of the entry up to `and` bytes.
    fn locate(&self, key: &str, entry: &Entry, and: u64) -> Result<(u64, Option<Bytes>), StoreError> {
        let known = entry.data.load(Ordering::Relaxed);
        if known > 0 {
            return Ok((known, None));
        }
        let c = &entry.central;
        let outside = || self.at(corrupt(format!("entry {key:?} of the zip archive lies outside of it")), key);
        let header = c.header.checked_add(self.prefix).filter(|h| *h < self.limit).ok_or_else(outside)?;
        let room = self.limit - header;
        let mut length = (LOCAL_LENGTH as u64 + c.name.len() as u64 + EXTRA).saturating_add(and).min(room);
        let (bytes, skip) = loop {
            let bytes = self.fetch(key, header, length)?;
            match check_local(&bytes, c).map_err(|e| self.at(e, key))? {
                Some(skip) => break (bytes, skip),
                None if length == room => return Err(outside()),
                None => length = (LOCAL_LENGTH as u64 + 2 * 0xffff).min(room),
            }
        };
        let data = header + skip;
        if data.checked_add(c.compressed).is_none_or(|end| end > self.limit) {
            let what =
                format!("entry {key:?} of the zip archive should have {} stored bytes, more than are before its directory", c.compressed);
            return Err(self.at(corrupt(what), key));
        }
        entry.data.store(data, Ordering::Relaxed);
        let rest = (bytes.len() as u64 > skip).then(|| bytes.slice(skip as usize..));
        Ok((data, rest))
    }

    fn readable(&self, key: &str, c: &Central) -> Result<(), StoreError> {
        let refuse = |kind, what: String| Err(self.at(StoreError::new(kind, what), key));
        if c.flags & ENCRYPTED != 0 {
            return refuse(StoreErrorKind::Unsupported, format!("entry {key:?} of the zip archive is encrypted"));
        }
        match c.method {
            0 if c.compressed != c.size => {
                let what =
                    format!("entry {key:?} of the zip archive has {} bytes and {} stored ones, but no compression", c.size, c.compressed);
                refuse(StoreErrorKind::Corrupt, what)
            }
            0 | 8 => Ok(()),
            other => refuse(
                StoreErrorKind::Unsupported,
                format!("entry {key:?} of the zip archive is compressed by method {other}; 0 (stored) and 8 (deflate) can be read"),
            ),
        }
    }

    /// The stored bytes of an entry, all of them.
    fn stored(&self, key: &str, entry: &Entry) -> Result<Bytes, StoreError> {
        let length = entry.central.compressed;
        match self.locate(key, entry, length)? {
            (_, Some(bytes)) if bytes.len() as u64 >= length => Ok(bytes.slice(..length as usize)),
            (data, _) if length > 0 => self.fetch(key, data, length),
            _ => Ok(Bytes::new()),
        }
    }

    fn whole(&self, key: &str, entry: &Entry) -> Result<Bytes, StoreError> {
        let c = &entry.central;
        let stored = self.stored(key, entry)?;
        let bytes = if c.method == 0 { stored } else { self.inflate(key, c, &stored)? };
        self.check_crc(key, c, &bytes)?;
        Ok(bytes)
    }

    fn inflate(&self, key: &str, c: &Central, stored: &[u8]) -> Result<Bytes, StoreError> {
        let wrong = |got: &str| {
            let what = format!("entry {key:?} of the zip archive should inflate to {} bytes and {got}", c.size);
            self.at(corrupt(what), key)
        };
        if c.size > c.compressed.saturating_mul(INFLATION) {
            return Err(wrong(&format!("cannot: it has only {} stored ones", c.compressed)));
        }
        let mut bytes = buffer(c.size).map_err(|e| self.at(e, key))?;
        // One byte more than declared tells a longer entry from a right one, without holding all of it.
        let limit = c.size.saturating_add(1);
        match flate2::read::DeflateDecoder::new(stored).take(limit).read_to_end(&mut bytes) {
            Ok(n) if n as u64 == c.size => Ok(bytes.into()),
            Ok(n) if n as u64 > c.size => Err(wrong("inflates to more")),
            Ok(n) => Err(wrong(&format!("inflates to {n}"))),
            Err(e) => Err(wrong("is damaged").caused_by(e)),
        }
    }

    fn check_crc(&self, key: &str, c: &Central, bytes: &[u8]) -> Result<(), StoreError> {
        let crc = crc32fast::hash(bytes);
        if crc == c.crc {
            return Ok(());
        }
        let what = format!(
            "entry {key:?} of the zip archive ({} bytes) is damaged: its checksum is {crc:08x} and should be {:08x}",
            c.size, c.crc
        );
        Err(self.at(corrupt(what), key))
    }

    fn unsupported<T>(&self, key: &str) -> Result<T, StoreError> {
        let what = "a zip archive that is read cannot be written to";
        Err(self.at(StoreError::new(StoreErrorKind::Unsupported, what).hint("write a new archive"), key))
    }
}

impl Storage for Zip {
    fn describe(&self) -> String {
        self.shown.clone()
    }
    fn traits(&self) -> Traits {
        Traits { lists: true, writes: false, conditional: false, ..self.source.traits() }
    }
    fn get(&self, key: &str, range: Range) -> Got {
        let Some(entry) = self.entry(key)? else { return Ok(None) };
        let c = &entry.central;
        self.readable(key, c)?;
        let (start, length) = range.within(c.size).map_err(|e| self.at(e, key))?;
        if c.method == 0 && length < c.size {
            // A short start of the data costs nothing more than the header before it.
            let near = start.saturating_add(length);
            let and = if near <= self.source.traits().gap { near } else { 0 };
            return match self.locate(key, entry, and)? {
                _ if length == 0 => Ok(Some(Bytes::new())),
                (_, Some(bytes)) if bytes.len() as u64 >= near => Ok(Some(bytes.slice(start as usize..near as usize))),
                (data, _) => self.fetch(key, data + start, length).map(Some),
            };
        }
        let bytes = self.whole(key, entry)?;
        Ok(Some(bytes.slice(start as usize..(start + length) as usize)))
    }
    fn get_into(&self, key: &str, start: u64, out: &mut [u8]) -> Result<bool, StoreError> {
        let length = out.len() as u64;
        let Some(entry) = self.entry(key)? else { return Ok(false) };
        let c = &entry.central;
        self.readable(key, c)?;
        let range = Range::Bounded { start, length };
        range.within(c.size).map_err(|e| self.at(e, key))?;
        if c.method != 0 || !self.source.traits().local {
            // Over a network, header and data come together.
            let Some(bytes) = self.get(key, range)? else { return Ok(false) };
            out.copy_from_slice(&bytes);
            return Ok(true);
        }
        let (data, _) = self.locate(key, entry, 0)?;
        if length > 0 && !self.source.get_into(&self.key, data + start, out)? {
            return Err(self.at(vanished(&self.shown), key));
        }
        if length == c.size {
            self.check_crc(key, c, out)?;
        }
        Ok(true)
    }
    fn get_many(&self, requests: &[Request], deliver: &(dyn Fn(usize, Got) + Sync)) {
        let Traits { local, concurrency, .. } = self.source.traits();
        spread(requests, if local { 1 } else { concurrency }, &|r| self.get(&r.key, r.range), deliver);
    }
    /// The version is that of the bytes: their checksum and number.
    fn stat(&self, key: &str) -> Result<Option<Stat>, StoreError> {
        let stat = |c: &Central| Stat { size: c.size, version: Some(format!("{:08x}-{}", c.crc, c.size)) };
        Ok(self.entry(key)?.map(|e| stat(&e.central)))
    }
    fn put(&self, key: &str, _: Bytes, _: &Condition) -> Result<(), StoreError> {
        self.unsupported(key)
    }
    fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.unsupported(key)
    }
    fn delete_prefix(&self, _: &str) -> Result<u64, StoreError> {
        self.unsupported("")
    }
    fn list(&self, prefix: &str) -> Result<Vec<(String, u64)>, StoreError> {
        let bare = check_prefix(prefix).map_err(|e| self.at(e, prefix))?;
        let below = self.entries.iter().filter(|(key, _)| range::below(key, bare).is_some());
        let mut out = below.map(|(key, e)| (key.clone(), e.central.size)).collect();
        drop_markers(&mut out);
        Ok(out)
    }
    fn list_dir(&self, prefix: &str) -> Result<Listing, StoreError> {
        let keys = self.list(prefix)?;
        Ok(level(keys.iter().map(|(key, _)| key.as_str()), prefix.trim_end_matches('/')))
    }
}

fn fetch(source: &Store, key: &str, start: u64, length: u64) -> Result<Bytes, StoreError> {
    source.get(key, Range::Bounded { start, length })?.ok_or_else(|| vanished(key))
}

fn vanished(archive: &str) -> StoreError {
    StoreError::new(StoreErrorKind::NotFound, format!("{archive} was there when it was opened and is not any more"))
}
