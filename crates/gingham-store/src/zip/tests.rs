//! Archives made by another hand, damaged ones, and our own.
#![allow(clippy::unwrap_used)]

use std::io::{Cursor, Read, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

use ::zip::write::{SimpleFileOptions, ZipWriter as Other};
use ::zip::{CompressionMethod, ZipArchive};
use proptest::prelude::*;

use super::*;
use crate::memory::Memory;
use crate::wrap::{Log, Prefix};
use crate::*;

fn stored() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(CompressionMethod::Stored)
}

fn deflated() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(CompressionMethod::Deflated)
}

fn archive(entries: &[(&str, &[u8], SimpleFileOptions)]) -> Vec<u8> {
    let mut w = Other::new(Cursor::new(Vec::new()));
    for (name, bytes, options) in entries {
        w.start_file(*name, *options).unwrap();
        w.write_all(bytes).unwrap();
    }
    w.finish().unwrap().into_inner()
}

fn store_of(bytes: Vec<u8>) -> Store {
    let store = Store::new(Memory::new());
    store.put("x.zip", bytes.into(), &Condition::Always).unwrap();
    store
}

fn open(bytes: Vec<u8>) -> Result<Zip, StoreError> {
    Zip::open(store_of(bytes), "x.zip")
}

fn whole(zip: &Zip, key: &str) -> Vec<u8> {
    zip.get(key, Range::All).unwrap().unwrap().to_vec()
}

fn of_objects(options: SimpleFileOptions) -> Vec<u8> {
    let objects = conformance::objects();
    archive(&objects.iter().map(|(k, b)| (k.as_str(), b.as_slice(), options)).collect::<Vec<_>>())
}

/// A store over a network, as far as its traits tell.
fn far(bytes: Vec<u8>) -> Store {
    #[derive(Debug)]
    struct Far(Store);
    impl Storage for Far {
        fn describe(&self) -> String {
            "far:".into()
        }
        fn traits(&self) -> Traits {
            Traits { local: false, gap: 1 << 10, concurrency: 4, ..self.0.traits() }
        }
        fn get(&self, key: &str, range: Range) -> Got {
            self.0.get(key, range)
        }
        fn stat(&self, key: &str) -> Result<Option<Stat>, StoreError> {
            self.0.stat(key)
        }
        fn put(&self, key: &str, bytes: Bytes, condition: &Condition) -> Result<(), StoreError> {
            self.0.put(key, bytes, condition)
        }
        fn delete(&self, key: &str) -> Result<(), StoreError> {
            self.0.delete(key)
        }
        fn list(&self, prefix: &str) -> Result<Vec<(String, u64)>, StoreError> {
            self.0.list(prefix)
        }
        fn list_dir(&self, prefix: &str) -> Result<Listing, StoreError> {
            self.0.list_dir(prefix)
        }
    }
    Store::new(Far(store_of(bytes)))
}

#[test]
fn archives_of_all_kinds_conform() {
    for options in [stored(), deflated(), stored().large_file(true), deflated().large_file(true)] {
        let bytes = of_objects(options);
        conformance::check_reading(&Store::new(open(bytes.clone()).unwrap()));
        conformance::check_reading(&Store::new(Zip::open(far(bytes), "x.zip").unwrap()));
    }
}

#[test]
fn zp_931_prefix_comment_and_descriptors_are_read() {
    let mut w = Other::new(Cursor::new(Vec::new()));
    w.set_comment("PK\u{5}\u{6} a comment that looks like an end ".repeat(3));
    w.start_file("c/0", stored()).unwrap();
    w.write_all(&[7; 16]).unwrap();
    let plain = w.finish().unwrap().into_inner();
    let mut prefixed = b"#!/bin/sh\nexit 0\n".to_vec();
    prefixed.extend(&plain);
    let mut followed = plain.clone();
    followed.extend(b"something after the end");
    for bytes in [plain, prefixed, followed] {
        assert_eq!(whole(&open(bytes).unwrap(), "c/0"), [7; 16]);
    }
    // Sizes after the data: what a writer does that cannot go back.
    let mut w = Other::new_stream(Vec::new());
    for (name, options) in [("a", stored()), ("b", deflated())] {
        w.start_file(name, options).unwrap();
        w.write_all(b"streamed").unwrap();
    }
    let bytes = w.finish().unwrap().into_inner();
    let zip = open(bytes).unwrap();
    assert_eq!(whole(&zip, "a"), b"streamed");
    assert_eq!(whole(&zip, "b"), b"streamed");
}

#[test]
fn zp_931_damage_is_corrupt_and_names_the_entry() {
    let good = archive(&[("zarr.json", b"{}", stored()), ("c/0", &[7; 16], stored()), ("c/1", &[9; 999], deflated())]);
    let corrupt = |zip: &Zip, key: &str, range: Range| {
        let e = zip.get(key, range).unwrap_err();
        assert_eq!(e.kind, StoreErrorKind::Corrupt, "{e}");
        assert!(e.to_string().contains(&format!("{key:?}")), "{e}");
        assert_eq!(e.key.as_deref(), Some(key));
        e.to_string()
    };
    let (local, central) = (find(&good, b"PK\x03\x04", 1), find(&good, b"PK\x01\x02", 1));
    // A byte of the data.
    let mut bad = good.clone();
    bad[local + 30 + 3 + 5] ^= 1;
    let zip = open(bad).unwrap();
    assert!(corrupt(&zip, "c/0", Range::All).contains("checksum"));
    assert!(corrupt(&zip, "c/0", Range::From { start: 0 }).contains("checksum"));
    assert_eq!(zip.get_into("c/0", 0, &mut [0; 16]).unwrap_err().kind, StoreErrorKind::Corrupt);
    assert_eq!(zip.get("c/0", Range::Bounded { start: 8, length: 4 }).unwrap().unwrap(), &[7; 4][..], "a part has no checksum");
    assert_eq!(whole(&zip, "zarr.json"), b"{}");
    // The checksum, in both headers.
    let mut bad = good.clone();
    bad[local + 14] ^= 1;
    bad[central + 16] ^= 1;
    assert!(corrupt(&open(bad).unwrap(), "c/0", Range::All).contains("checksum"));
    // Sizes of 4 instead of 16, in both headers and in one.
    let mut bad = good.clone();
    for at in [local + 18, local + 22, central + 20, central + 24] {
        bad[at..at + 4].copy_from_slice(&4u32.to_le_bytes());
    }
    assert!(corrupt(&open(bad.clone()).unwrap(), "c/0", Range::All).contains("checksum"));
    bad[local + 22] = 16;
    assert!(corrupt(&open(bad).unwrap(), "c/0", Range::All).contains("local header"));
    // More stored bytes than the archive has; one size for two.
    let mut bad = good.clone();
    for at in [local + 18, local + 22, central + 20, central + 24] {
        bad[at..at + 4].copy_from_slice(&0x00ff_ffffu32.to_le_bytes());
    }
    assert!(corrupt(&open(bad).unwrap(), "c/0", Range::All).contains("more than are before"));
    let mut bad = good.clone();
    bad[central + 24] = 17;
    assert!(corrupt(&open(bad).unwrap(), "c/0", Range::All).contains("no compression"));
    // Deflate: damaged, longer, shorter, impossibly much longer.
    let deflate = (find(&good, b"PK\x03\x04", 2), find(&good, b"PK\x01\x02", 2));
    for size in [998u32, 1000, 0x7fff_ffff] {
        let mut bad = good.clone();
        bad[deflate.0 + 22..][..4].copy_from_slice(&size.to_le_bytes());
        bad[deflate.1 + 24..][..4].copy_from_slice(&size.to_le_bytes());
        let said = corrupt(&open(bad).unwrap(), "c/1", Range::All);
        assert!(said.contains(&format!("should inflate to {size} bytes")), "{said}");
    }
    let mut bad = good.clone();
    bad[deflate.0 + 33..][..4].fill(0xff);
    corrupt(&open(bad).unwrap(), "c/1", Range::Suffix { length: 1 });
    // Methods and encryption that are not read.
    let mut bad = good.clone();
    (bad[local + 8], bad[central + 10]) = (14, 14);
    let e = open(bad).unwrap().get("c/0", Range::All).unwrap_err();
    assert_eq!(e.kind, StoreErrorKind::Unsupported);
    assert!(e.to_string().contains("method 14"), "{e}");
    let mut bad = good.clone();
    bad[central + 8] |= 1;
    assert!(open(bad).unwrap().get("c/0", Range::All).unwrap_err().to_string().contains("encrypted"));
    // A local header that is somewhere else.
    let mut bad = good.clone();
    bad[central + 42..][..4].copy_from_slice(&3u32.to_le_bytes());
    corrupt(&open(bad.clone()).unwrap(), "c/0", Range::All);
    bad[central + 42..][..4].copy_from_slice(&0x7fff_ffffu32.to_le_bytes());
    assert!(corrupt(&open(bad).unwrap(), "c/0", Range::All).contains("outside"));
}

fn find(bytes: &[u8], what: &[u8], nth: usize) -> usize {
    bytes.windows(what.len()).enumerate().filter(|(_, w)| *w == what).nth(nth).unwrap().0
}

/// Renames an entry in its local header, in the directory, or in both.
fn rename(bytes: &mut [u8], from: &[u8], to: &[u8], nths: &[usize]) {
    for nth in nths {
        let at = find(bytes, from, *nth);
        bytes[at..at + to.len()].copy_from_slice(to);
    }
}

#[test]
fn zp_3580_the_last_of_two_counts_and_a_name_must_be_one() {
    // The other writer refuses duplicates, so the second is renamed into one: in its local header and in the directory.
    let mut bytes = archive(&[
        ("c/0", b"old", stored()),
        ("c/1", b"new", stored()),
        ("z", b"{\"shape\":[2]}", stored()),
        ("y", b"{\"shape\":[4]}", stored()),
    ]);
    rename(&mut bytes, b"c/1", b"c/0", &[0, 0]);
    let zip = open(bytes.clone()).unwrap();
    assert_eq!(whole(&zip, "c/0"), b"new");
    assert_eq!(zip.duplicates(), ["c/0"]);
    assert_eq!(zip.list("c").unwrap(), [("c/0".to_string(), 3)]);
    // Only the local header says otherwise.
    let mut bytes = archive(&[("c/0", b"data", stored())]);
    rename(&mut bytes, b"c/0", b"c/9", &[0]);
    let e = open(bytes).unwrap().get("c/0", Range::Bounded { start: 1, length: 1 }).unwrap_err();
    assert_eq!(e.kind, StoreErrorKind::Corrupt);
    assert!(e.to_string().contains("\"c/0\"") && e.to_string().contains("\"c/9\""), "{e}");
}

#[test]
fn names_that_lead_out_are_passed_over() {
    let mut bytes = archive(&[("aa/xx", b"1", stored()), ("bbb/x", b"2", stored()), ("cccc", b"3", stored()), ("./ok", b"4", stored())]);
    rename(&mut bytes, b"aa/xx", b"../xx", &[0, 0]);
    rename(&mut bytes, b"bbb/x", b"/bb/x", &[0, 0]);
    rename(&mut bytes, b"cccc", b"c\\cc", &[0, 0]);
    let zip = open(bytes).unwrap();
    assert_eq!(zip.ignored(), ["../xx", "/bb/x", "c\\cc"]);
    assert_eq!(zip.list("").unwrap(), [("ok".to_string(), 1)]);
    assert_eq!(whole(&zip, "ok"), b"4");
    let mut bytes = archive(&[("abc", b"1", stored())]);
    rename(&mut bytes, b"abc", b"a\xffc", &[0, 0]);
    assert_eq!(open(bytes).unwrap().ignored().len(), 1);
}

#[test]
fn directories_are_no_keys() {
    let mut w = Other::new(Cursor::new(Vec::new()));
    w.add_directory("a/", stored()).unwrap();
    w.start_file("a/k", stored()).unwrap();
    let zip = open(w.finish().unwrap().into_inner()).unwrap();
    assert_eq!(zip.list("").unwrap(), [("a/k".to_string(), 0)]);
    assert_eq!(zip.list_dir("").unwrap().prefixes, ["a"]);
    assert!(zip.ignored().is_empty());
}

#[test]
fn what_is_no_archive_is_corrupt_with_a_sentence() {
    for bytes in [&b""[..], b"PK\x05\x06", b"not a zip archive at all, but text", &[0; 70_000]] {
        let e = open(bytes.to_vec()).unwrap_err();
        assert_eq!(e.kind, StoreErrorKind::Corrupt);
        assert!(e.to_string().contains("not a zip archive"), "{e}");
    }
    assert_eq!(Zip::open(store_of(vec![]), "absent.zip").unwrap_err().kind, StoreErrorKind::NotFound);
    let good = archive(&[("a", b"1", stored()), ("b", b"2", stored())]);
    let end = find(&good, b"PK\x05\x06", 0);
    let with = |at: usize, value: &[u8]| {
        let mut bad = good.clone();
        bad[end + at..][..value.len()].copy_from_slice(value);
        open(bad).unwrap_err().to_string()
    };
    assert!(with(10, &[3, 0]).contains("several files"), "entries here and in all differ");
    assert!(with(8, &[3, 0, 3, 0]).contains("should have 3 entries and has 2"));
    assert!(with(12, &[0, 0, 1, 0]).contains("more than are before its end"));
    assert!(with(12, &[1, 0, 0, 0]).contains("breaks off or is damaged"));
    assert!(with(4, &[1, 0]).contains("several files"));
    assert!(with(8, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]).contains("needs a zip64 end record"));
}

#[test]
fn a_part_of_a_stored_entry_reads_that_part() {
    let bytes = archive(&[("zarr.json", b"{}", stored()), ("c/0", &[7; 100_000], stored())]);
    let log = Log::new(store_of(bytes.clone()));
    let logged = log.logged();
    let zip = Zip::open(Store::new(log), "x.zip").unwrap();
    logged.take();
    let mut out = [0; 1000];
    assert!(zip.get_into("c/0", 50_000, &mut out).unwrap());
    assert!(zip.get_into("c/0", 60_000, &mut out).unwrap());
    let of = |c: &wrap::Call| match c {
        wrap::Call::Get { range: Range::Bounded { length, .. }, .. } => *length,
        _ => 0,
    };
    let asked: Vec<u64> = logged.take().iter().map(of).collect();
    assert_eq!(asked, [30 + 3 + 128, 1000, 1000], "the header once, and the parts");
    // Over a network: an entry is one request, a header with it.
    let log = Log::new(far(bytes));
    let logged = log.logged();
    let zip = Zip::open(Store::new(log), "x.zip").unwrap();
    assert_eq!(logged.take().len(), 2, "size, and the end with the directory");
    zip.get("zarr.json", Range::All).unwrap();
    zip.get("c/0", Range::Bounded { start: 10, length: 10 }).unwrap();
    assert_eq!(logged.take().len(), 2);
}

#[test]
fn an_archive_that_vanishes_is_not_an_absent_key() {
    let source = store_of(archive(&[("a", b"1", stored())]));
    let zip = Zip::open(source.clone(), "x.zip").unwrap();
    source.delete("x.zip").unwrap();
    assert_eq!(zip.get("a", Range::All).unwrap_err().kind, StoreErrorKind::NotFound);
    assert_eq!(zip.put("a", Bytes::new(), &Condition::Always).unwrap_err().kind, StoreErrorKind::Unsupported);
    assert_eq!(zip.delete("a").unwrap_err().kind, StoreErrorKind::Unsupported);
    assert_eq!(zip.delete_prefix("").unwrap_err().kind, StoreErrorKind::Unsupported);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn no_damage_panics_or_yields_other_bytes(at in 0usize..400, byte in any::<u8>(), cut in 0usize..400) {
        let good = archive(&[("zarr.json", b"{\"a\":1}", stored()), ("c/0", &[7; 64], deflated())]);
        for bad in [
            { let mut bad = good.clone(); let n = bad.len(); bad[at % n] = byte; bad },
            good[..cut.min(good.len())].to_vec(),
            good[cut.min(good.len())..].to_vec(),
        ] {
            let Ok(zip) = open(bad) else { continue };
            for (key, right) in [("zarr.json", &b"{\"a\":1}"[..]), ("c/0", &[7; 64])] {
                if let Ok(Some(bytes)) = zip.get(key, Range::All) {
                    prop_assert_eq!(&bytes[..], right);
                }
            }
        }
    }

    #[test]
    fn random_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut archive = bytes.clone();
        archive.extend(b"PK\x05\x06\0\0\0\0");
        archive.extend(&bytes);
        let _ = open(archive).map(|zip| zip.list(""));
    }
}

fn written(fill: impl Fn(&Store)) -> (tempfile::TempDir, Vec<u8>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.zip");
    let store = Store::new(ZipWriter::create(&path).unwrap());
    fill(&store);
    store.finish().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    (dir, bytes)
}

#[test]
fn the_writer_conforms_and_what_it_writes_does() {
    let dir = tempfile::tempdir().unwrap();
    let n = AtomicUsize::new(0);
    let path = || dir.path().join(format!("{}.zip", n.fetch_add(1, Ordering::Relaxed)));
    conformance::check(|| Store::new(ZipWriter::create(path()).unwrap().fsync(true)));
    let (_dir, bytes) = written(conformance::fill);
    conformance::check_reading(&Store::new(open(bytes.clone()).unwrap()));
    // Another reader sees the same.
    let mut other = ZipArchive::new(Cursor::new(bytes)).unwrap();
    assert_eq!(other.len(), conformance::objects().len());
    for (key, right) in conformance::objects() {
        let mut bytes = Vec::new();
        other.by_name(&key).unwrap().read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, right, "{key}");
    }
}

#[test]
fn zp_3580_writers_compact() {
    let put = |store: &Store, key: &str, n: usize| store.put(key, vec![n as u8; n].into(), &Condition::Always).unwrap();
    let (_dir, once) = written(|store| {
        put(store, "zarr.json", 10);
        put(store, "c/0", 100);
    });
    let (_dir, twice) = written(|store| {
        put(store, "c/9", 5000);
        put(store, "zarr.json", 3000);
        put(store, "zarr.json", 10);
        put(store, "c/0", 999);
        put(store, "c/0", 100);
        store.delete("c/9").unwrap();
        assert_eq!(store.get("c/0", Range::Suffix { length: 1 }).unwrap().unwrap(), &[100][..]);
    });
    assert!(once == twice, "what was replaced leaves no trace");
    assert!(open(twice).unwrap().duplicates().is_empty());
}

#[test]
fn an_archive_is_there_whole_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("deep/x.zip");
    let count = || std::fs::read_dir(path.parent().unwrap()).unwrap().count();
    let writer = ZipWriter::create(&path).unwrap();
    writer.put("k", Bytes::from_static(b"1"), &Condition::Always).unwrap();
    assert!(!path.exists());
    drop(writer);
    assert_eq!(count(), 0, "nothing is left of an archive that was not finished");
    std::fs::write(&path, b"the old one").unwrap();
    let writer = ZipWriter::create(&path).unwrap();
    writer.put("k", Bytes::from_static(b"2"), &Condition::Absent).unwrap();
    writer.put("empty", Bytes::new(), &Condition::Always).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"the old one");
    writer.finish().unwrap();
    writer.finish().unwrap();
    assert_eq!(count(), 1);
    assert_eq!(writer.get("k", Range::All).unwrap().unwrap(), &b"2"[..]);
    let refused = [
        writer.put("k", Bytes::new(), &Condition::Always).unwrap_err(),
        writer.delete("k").unwrap_err(),
        writer.delete_prefix("").unwrap_err(),
    ];
    assert!(refused.iter().all(|e| e.kind == StoreErrorKind::Unsupported && e.to_string().contains("finished")));
    assert_eq!(whole(&Zip::open(Store::new(fs::Fs::new(path.parent().unwrap()).unwrap()), "x.zip").unwrap(), "k"), b"2");
    assert_eq!(ZipWriter::create(dir.path()).unwrap_err().kind, StoreErrorKind::Invalid);
    let (_dir, bytes) = written(|_| {});
    assert_eq!(open(bytes).unwrap().list("").unwrap(), []);
    let writer = ZipWriter::create(dir.path().join("y.zip")).unwrap();
    assert_eq!(writer.put("a\\b", Bytes::new(), &Condition::Always).unwrap_err().kind, StoreErrorKind::Invalid);
    assert_eq!(writer.put(&"x".repeat(70_000), Bytes::new(), &Condition::Always).unwrap_err().kind, StoreErrorKind::Invalid);
}

#[test]
fn zip64_more_entries_than_16_bits_count() {
    let (_dir, bytes) = written(|store| {
        (0..70_000).for_each(|i| store.put(&format!("c/{i}"), Bytes::from(format!("{i}")), &Condition::Always).unwrap());
    });
    let zip = open(bytes.clone()).unwrap();
    assert_eq!(zip.list("").unwrap().len(), 70_000);
    assert_eq!(whole(&zip, "c/69999"), b"69999");
    let mut other = ZipArchive::new(Cursor::new(bytes.clone())).unwrap();
    assert_eq!(other.len(), 70_000);
    let mut text = String::new();
    other.by_name("c/65535").unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "65535");
    // The locator is wrong by the bytes before the archive.
    let mut prefixed = vec![b'#'; 1000];
    prefixed.extend(bytes);
    assert_eq!(whole(&open(prefixed).unwrap(), "c/65536"), b"65536");
}

#[test]
fn zip64_offsets_and_sizes_beyond_32_bits() {
    use super::directory::{check_local, parse_central, parse_end, print_central, print_end, print_local};
    let (size, header) = (5u64 << 30, 6u64 << 30);
    let mut directory = Vec::new();
    print_central(&mut directory, "big", size, 7, header);
    print_central(&mut directory, "small", 4, 8, header);
    let mut end = Vec::new();
    print_end(&mut end, 2, directory.len() as u64, 12 << 30);
    let end64 = super::directory::parse_end64(&end).unwrap();
    assert_eq!((end64.entries, end64.size, end64.offset), (2, directory.len() as u64, 12 << 30));
    assert!(parse_end(&end[76..]).unwrap().1, "the narrow end says to look at the wide one");
    let entries = parse_central(&directory, &end64).unwrap();
    assert_eq!((entries[0].size, entries[0].compressed, entries[0].header), (size, size, header));
    assert_eq!((entries[1].size, entries[1].header), (4, header));
    let local = print_local("big", size, 7);
    assert_eq!(check_local(&local, &entries[0]).unwrap(), Some(local.len() as u64));
    assert_eq!(check_local(&local[..40], &entries[0]).unwrap(), None);
    // In a file with a hole of 5 GiB before its last entries.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.zip");
    let mut file = std::fs::File::create(&path).unwrap();
    let at = file.seek(SeekFrom::Start(5 << 30)).unwrap();
    let head = print_local("k", 3, crc32fast::hash(b"far"));
    file.write_all(&head).unwrap();
    file.write_all(b"far").unwrap();
    let offset = at + head.len() as u64 + 3;
    let mut tail = Vec::new();
    print_central(&mut tail, "k", 3, crc32fast::hash(b"far"), at);
    let length = tail.len() as u64;
    print_end(&mut tail, 1, length, offset);
    file.write_all(&tail).unwrap();
    let zip = Zip::open(Store::new(fs::Fs::new(dir.path()).unwrap()), "x.zip").unwrap();
    assert_eq!(whole(&zip, "k"), b"far");
    let mut text = String::new();
    ZipArchive::new(std::fs::File::open(&path).unwrap()).unwrap().by_name("k").unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "far");
}

#[test]
fn an_archive_below_a_prefix() {
    let source = Store::new(Memory::new());
    source.put("a/b/x.zip", archive(&[("k", b"1", stored())]).into(), &Condition::Always).unwrap();
    let zip = Zip::open(Store::new(Prefix::new(source, "a")), "b/x.zip").unwrap();
    assert_eq!(whole(&zip, "k"), b"1");
    assert_eq!(zip.describe(), "memory:/a/b/x.zip");
}
