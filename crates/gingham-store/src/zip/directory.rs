//! The records of a zip archive (PKWARE APPNOTE 6.3.10, sections 4.3 to 4.5): read with every length checked, and written.

use crate::{StoreError, StoreErrorKind};

/// Signatures, little-endian.
const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const END64: u32 = 0x0606_4b50;
const LOCATOR64: u32 = 0x0706_4b50;

/// Lengths of the records without what varies.
pub(super) const LOCAL_LENGTH: usize = 30;
const CENTRAL_LENGTH: usize = 46;
pub(super) const END_LENGTH: usize = 22;
pub(super) const END64_LENGTH: usize = 56;
pub(super) const LOCATOR64_LENGTH: usize = 20;

/// The end record and the longest comment after it, with the records of zip64 before it.
pub(super) const LONGEST_END: u64 = (END_LENGTH + 0xffff + END64_LENGTH + LOCATOR64_LENGTH) as u64;

/// Names are UTF-8 (bit 11 of the flags).
const UTF8: u16 = 1 << 11;
/// Sizes and checksum follow the data (bit 3).
const DESCRIPTOR: u16 = 1 << 3;
/// The entry is encrypted (bit 0).
pub(super) const ENCRYPTED: u16 = 1;

/// The extra field of zip64, and the number that says a field is in it.
const ZIP64: u16 = 1;
const FULL: u32 = u32::MAX;

/// 1980-01-01, the first day: archives of the same objects are the same bytes.
const DATE: u16 = (1 << 5) | 1;

/// What the central directory says about an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Central {
    pub name: Vec<u8>,
    pub flags: u16,
    pub method: u16,
    pub crc: u32,
    pub compressed: u64,
    pub size: u64,
    /// Where the local header is, from where the archive says that it begins.
    pub header: u64,
}

/// Where the central directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End {
    pub entries: u64,
    pub size: u64,
    pub offset: u64,
    /// Whether `entries` has 64 bits; of 16, an archive may have wrapped around.
    pub wide: bool,
}

pub(super) fn corrupt(what: impl Into<String>) -> StoreError {
    StoreError::new(StoreErrorKind::Corrupt, what)
}

/// Fields one after the other, little-endian; nothing past the end.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(head)
    }
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }
    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }
    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }
    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
}

/// Where in the last bytes of a file its end record is: the last one whose comment ends where the file does, or else the last
/// whose comment fits, for archives with something after them.
pub(super) fn find_end(tail: &[u8]) -> Option<usize> {
    let candidates = || (0..(tail.len() + 1).saturating_sub(END_LENGTH)).rev().filter(|&at| tail[at..].starts_with(&END.to_le_bytes()));
    let end_of = |at: usize| at + END_LENGTH + usize::from(u16::from_le_bytes([tail[at + 20], tail[at + 21]]));
    candidates().find(|&at| end_of(at) == tail.len()).or_else(|| candidates().find(|&at| end_of(at) <= tail.len()))
}

/// The end record.
pub(super) fn parse_end(bytes: &[u8]) -> Option<(End, bool)> {
    let mut f = Fields(bytes);
    if f.u32()? != END {
        return None;
    }
    let (disk, directory_disk, here, entries, size, offset) = (f.u16()?, f.u16()?, f.u16()?, f.u16()?, f.u32()?, f.u32()?);
    let full = entries == u16::MAX || size == FULL || offset == FULL;
    let whole = (disk == 0 || disk == u16::MAX) && (directory_disk == 0 || directory_disk == u16::MAX) && here == entries;
    let end = End { entries: entries.into(), size: size.into(), offset: offset.into(), wide: false };
    (whole || full).then_some((end, full))
}

/// Where the locator says that the zip64 end record is; `None` where these bytes are no locator.
pub(super) fn parse_locator64(bytes: &[u8]) -> Option<u64> {
    let mut f = Fields(bytes);
    (f.u32()? == LOCATOR64).then_some(())?;
    f.u32()?;
    f.u64()
}

/// The zip64 end record.
pub(super) fn parse_end64(bytes: &[u8]) -> Option<End> {
    let mut f = Fields(bytes);
    (f.u32()? == END64).then_some(())?;
    // Length of the record, versions made by and needed, and the numbers of two disks.
    f.take(8 + 2 + 2 + 4 + 4)?;
    let _here = f.u64()?;
    Some(End { entries: f.u64()?, size: f.u64()?, offset: f.u64()?, wide: true })
}

/// Every record of a central directory, in its order.
pub(super) fn parse_central(bytes: &[u8], end: &End) -> Result<Vec<Central>, StoreError> {
    // Each record is at least this long, so that a declared number of entries never decides what is reserved.
    let mut out = Vec::with_capacity(bytes.len() / CENTRAL_LENGTH);
    let mut f = Fields(bytes);
    while !f.0.is_empty() {
        let n = out.len();
        let at = bytes.len() - f.0.len();
        match parse_one(&mut f) {
            Some(Some(entry)) => out.push(entry),
            Some(None) => return Err(corrupt(format!("entry {n} of the zip directory needs a zip64 field that it does not have"))),
            None => return Err(corrupt(format!("the zip directory breaks off or is damaged at byte {at} of {}, entry {n}", bytes.len()))),
        }
    }
    let found = out.len() as u64;
    let agrees = if end.wide { found == end.entries } else { found & 0xffff == end.entries };
    if agrees { Ok(out) } else { Err(corrupt(format!("the zip directory should have {} entries and has {found}", end.entries))) }
}

/// `None`: not a record. `Some(None)`: its zip64 field is missing.
fn parse_one(f: &mut Fields) -> Option<Option<Central>> {
    (f.u32()? == CENTRAL).then_some(())?;
    f.take(4)?;
    let (flags, method) = (f.u16()?, f.u16()?);
    f.take(4)?;
    let (crc, compressed, size) = (f.u32()?, f.u32()?, f.u32()?);
    let (name, extra, comment) = (f.u16()?, f.u16()?, f.u16()?);
    f.take(2 + 2 + 4)?;
    let header = f.u32()?;
    let name = f.take(name.into())?.to_vec();
    let extra = f.take(extra.into())?;
    f.take(comment.into())?;
    let wide = Wide::of(extra, [size, compressed, header]);
    let entry = |[size, compressed, header]: [u64; 3]| Central { name, flags, method, crc, compressed, size, header };
    Some(wide.map(entry))
}

/// Reads fields of 32 bits with those of the zip64 extra field in the place of full ones.
struct Wide;

impl Wide {
    fn of<const N: usize>(extra: &[u8], narrow: [u32; N]) -> Option<[u64; N]> {
        let mut field = narrow.contains(&FULL).then(|| Self::field(extra)).flatten().map(Fields);
        let mut out = [0; N];
        for (wide, narrow) in out.iter_mut().zip(narrow) {
            *wide = if narrow == FULL { field.as_mut()?.u64()? } else { narrow.into() };
        }
        Some(out)
    }
    fn field(extra: &[u8]) -> Option<&[u8]> {
        let mut f = Fields(extra);
        loop {
            let (tag, length) = (f.u16()?, f.u16()?);
            let body = f.take(length.into())?;
            if tag == ZIP64 {
                return Some(body);
            }
        }
    }
}

/// Length of the local header at the start of `bytes` with its name and extra field, which must be the entry's. `Ok(None)`
/// where more bytes are needed.
pub(super) fn check_local(bytes: &[u8], entry: &Central) -> Result<Option<u64>, StoreError> {
    let name = String::from_utf8_lossy(&entry.name);
    let mut f = Fields(bytes);
    let fixed = |f: &mut Fields| {
        let signature = f.u32()?;
        f.take(2)?;
        let (flags, method) = (f.u16()?, f.u16()?);
        f.take(4)?;
        Some((signature, flags, method, f.u32()?, f.u32()?, f.u32()?, f.u16()?, f.u16()?))
    };
    let Some((signature, flags, method, crc, compressed, size, name_length, extra_length)) = fixed(&mut f) else { return Ok(None) };
    if signature != LOCAL {
        return Err(corrupt(format!("entry {name:?} of the zip archive has no local header at byte {}", entry.header)));
    }
    let Some(local_name) = f.take(name_length.into()) else { return Ok(None) };
    if local_name != entry.name {
        return Err(corrupt(format!(
            "entry {name:?} of the zip archive is called {:?} in its local header",
            String::from_utf8_lossy(local_name)
        )));
    }
    let Some(extra) = f.take(extra_length.into()) else { return Ok(None) };
    if method != entry.method {
        return Err(corrupt(format!(
            "entry {name:?} of the zip archive is compressed by method {} in the directory and {method} in its local header",
            entry.method
        )));
    }
    if flags & DESCRIPTOR == 0 {
        let sizes = Wide::of(extra, [size, compressed]);
        if sizes != Some([entry.size, entry.compressed]) || crc != entry.crc {
            return Err(corrupt(format!(
                "entry {name:?} of the zip archive has {} bytes ({} stored, checksum {:08x}) in the directory and others in its local header",
                entry.size, entry.compressed, entry.crc
            )));
        }
    }
    Ok(Some((LOCAL_LENGTH + usize::from(name_length) + usize::from(extra_length)) as u64))
}

/// A local header, with its name: stored, sizes known.
pub(super) fn print_local(name: &str, size: u64, crc: u32) -> Vec<u8> {
    let wide = size >= u64::from(FULL);
    let mut out = Vec::with_capacity(LOCAL_LENGTH + name.len() + 20);
    out.extend(LOCAL.to_le_bytes());
    common(&mut out, wide, crc, [size, size], name);
    out.extend((if wide { 20u16 } else { 0 }).to_le_bytes());
    out.extend(name.as_bytes());
    if wide {
        out.extend(ZIP64.to_le_bytes());
        out.extend(16u16.to_le_bytes());
        out.extend(size.to_le_bytes());
        out.extend(size.to_le_bytes());
    }
    out
}

/// A record of the central directory.
pub(super) fn print_central(out: &mut Vec<u8>, name: &str, size: u64, crc: u32, header: u64) {
    let mut extra = Vec::new();
    if size >= u64::from(FULL) {
        extra.extend(size.to_le_bytes());
        extra.extend(size.to_le_bytes());
    }
    if header >= u64::from(FULL) {
        extra.extend(header.to_le_bytes());
    }
    let wide = !extra.is_empty();
    out.extend(CENTRAL.to_le_bytes());
    // Made by version 4.5 on Unix.
    out.extend((3u16 << 8 | 45).to_le_bytes());
    common(out, wide, crc, [size, size], name);
    out.extend((if wide { extra.len() as u16 + 4 } else { 0 }).to_le_bytes());
    // No comment, disk 0, no internal attributes; a regular file that all may read.
    out.extend([0; 6]);
    out.extend((0o100_644u32 << 16).to_le_bytes());
    out.extend(narrow(header).to_le_bytes());
    out.extend(name.as_bytes());
    if wide {
        out.extend(ZIP64.to_le_bytes());
        out.extend((extra.len() as u16).to_le_bytes());
        out.extend(extra);
    }
}

/// What both headers have: version needed, flags, method, time, checksum, sizes, length of the name.
fn common(out: &mut Vec<u8>, wide: bool, crc: u32, [compressed, size]: [u64; 2], name: &str) {
    out.extend((if wide { 45u16 } else { 20 }).to_le_bytes());
    out.extend(UTF8.to_le_bytes());
    out.extend([0; 4]);
    out.extend(DATE.to_le_bytes());
    out.extend(crc.to_le_bytes());
    out.extend(narrow(compressed).to_le_bytes());
    out.extend(narrow(size).to_le_bytes());
    // Longer names are refused before they come here.
    out.extend((name.len() as u16).to_le_bytes());
}

/// The end of an archive whose directory of `size` bytes lies at `offset`.
pub(super) fn print_end(out: &mut Vec<u8>, entries: u64, size: u64, offset: u64) {
    if entries >= 0xffff || size >= u64::from(FULL) || offset >= u64::from(FULL) {
        out.extend(END64.to_le_bytes());
        out.extend((END64_LENGTH as u64 - 12).to_le_bytes());
        out.extend([45u16, 45].iter().flat_map(|v| v.to_le_bytes()));
        out.extend([0; 8]);
        out.extend([entries, entries, size, offset].iter().flat_map(|v| v.to_le_bytes()));
        out.extend(LOCATOR64.to_le_bytes());
        out.extend(0u32.to_le_bytes());
        out.extend((offset + size).to_le_bytes());
        out.extend(1u32.to_le_bytes());
    }
    let entries = entries.min(0xffff) as u16;
    out.extend(END.to_le_bytes());
    out.extend([0; 4]);
    out.extend([entries, entries].iter().flat_map(|v| v.to_le_bytes()));
    out.extend(narrow(size).to_le_bytes());
    out.extend(narrow(offset).to_le_bytes());
    out.extend([0; 2]);
}

fn narrow(v: u64) -> u32 {
    u32::try_from(v).unwrap_or(FULL)
}
