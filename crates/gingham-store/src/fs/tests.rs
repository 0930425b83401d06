//! Local files: what only they can get wrong.
#![allow(clippy::unwrap_used)]

use super::*;

fn new() -> (tempfile::TempDir, Fs) {
    let dir = tempfile::tempdir().unwrap();
    let fs = Fs::new(dir.path().join("root")).unwrap();
    (dir, fs)
}

fn put(fs: &Fs, key: &str, bytes: &'static [u8]) -> Result<(), StoreError> {
    fs.put(key, Bytes::from_static(bytes), &Condition::Always)
}

#[test]
fn a_root_that_does_not_exist_is_empty_until_a_put_makes_it() {
    let (_dir, fs) = new();
    assert_eq!(fs.get("a", Range::All).unwrap(), None);
    assert_eq!(fs.list("").unwrap(), []);
    assert_eq!(fs.delete_prefix("").unwrap(), 0);
    fs.delete("a/b").unwrap();
    assert!(!fs.root().exists());
    put(&fs, "a/b/c", b"x").unwrap();
    assert_eq!(fs.list("").unwrap(), [("a/b/c".to_string(), 1)]);
}

#[test]
fn temporary_files_are_no_keys_and_never_block() {
    let (_dir, fs) = new();
    put(&fs, "a/k", b"new").unwrap();
    std::fs::write(fs.root().join("a/.gingham-abcdef.tmp"), b"stale").unwrap();
    std::fs::write(fs.root().join(".gingham-.tmp"), b"stale").unwrap();
    assert_eq!(fs.list("").unwrap(), [("a/k".to_string(), 3)]);
    assert_eq!(fs.list_dir("a").unwrap().keys, ["a/k"]);
    assert_eq!(fs.get("a/.gingham-abcdef.tmp", Range::All).unwrap_err().kind, StoreErrorKind::Invalid);
    assert_eq!(put(&fs, ".gingham-1.tmp", b"").unwrap_err().kind, StoreErrorKind::Invalid);
    put(&fs, "a/.gingham", b"a key").unwrap();
    fs.delete("a/k").unwrap();
    fs.delete("a/.gingham").unwrap();
    assert_eq!(fs.list_dir("").unwrap(), Listing::default());
    assert_eq!(fs.delete_prefix("a").unwrap(), 0);
    assert!(!fs.root().join("a").exists());
}

#[test]
fn a_failed_put_leaves_the_old_bytes_and_nothing_beside_them() {
    let (_dir, fs) = new();
    put(&fs, "k", b"old").unwrap();
    let stale = Condition::Version("0-0-0".into());
    assert_eq!(fs.put("k", Bytes::from_static(b"new"), &stale).unwrap_err().kind, StoreErrorKind::Conflict);
    assert_eq!(fs.get("k", Range::All).unwrap().unwrap(), &b"old"[..]);
    assert_eq!(std::fs::read_dir(fs.root()).unwrap().count(), 1);
}

#[test]
fn a_directory_with_keys_is_not_overwritten_and_a_file_is_no_directory() {
    let (_dir, fs) = new();
    put(&fs, "a/b", b"1").unwrap();
    let e = put(&fs, "a", b"2").unwrap_err();
    assert_eq!(e.kind, StoreErrorKind::Invalid);
    assert!(e.to_string().contains("directory with keys"), "{e}");
    let e = fs.put("a", Bytes::new(), &Condition::Absent).unwrap_err();
    assert_eq!(e.kind, StoreErrorKind::Invalid, "{e}");
    let e = put(&fs, "a/b/c/d", b"3").unwrap_err();
    assert_eq!(e.kind, StoreErrorKind::Invalid);
    assert!(e.to_string().contains("a/b is not a directory"), "{e}");
    assert_eq!(fs.get("a/b/c/d", Range::All).unwrap(), None);
    fs.delete("a/b/c/d").unwrap();
    fs.delete("a").unwrap();
    assert_eq!(fs.get("a/b", Range::All).unwrap().unwrap(), &b"1"[..]);
}

#[test]
fn empty_directories_are_in_nobodys_way() {
    let (_dir, fs) = new();
    std::fs::create_dir_all(fs.root().join("a/b/c")).unwrap();
    assert_eq!(fs.list_dir("").unwrap(), Listing::default());
    put(&fs, "a", b"1").unwrap();
    assert_eq!(fs.get("a", Range::All).unwrap().unwrap(), &b"1"[..]);
    std::fs::create_dir_all(fs.root().join("d/e")).unwrap();
    fs.put("d", Bytes::from_static(b"2"), &Condition::Absent).unwrap();
    assert_eq!(fs.put("d", Bytes::new(), &Condition::Absent).unwrap_err().kind, StoreErrorKind::Exists);
}

#[test]
fn a_directory_that_vanishes_is_made_again() {
    let (_dir, fs) = new();
    put(&fs, "a/b/k", b"1").unwrap();
    std::fs::remove_dir_all(fs.root()).unwrap();
    put(&fs, "a/b/k", b"2").unwrap();
    assert_eq!(fs.get("a/b/k", Range::All).unwrap().unwrap(), &b"2"[..]);
}

#[test]
fn puts_into_a_prefix_that_is_being_deleted_all_succeed() {
    let (_dir, fs) = new();
    std::thread::scope(|s| {
        s.spawn(|| (0..200).for_each(|i| put(&fs, &format!("a/{}/k", i % 3), b"1").unwrap()));
        s.spawn(|| assert!((0..20).all(|_| fs.delete_prefix("a").is_ok())));
    });
}

#[test]
fn many_neighbours_of_one_key() {
    let (_dir, fs) = new();
    put(&fs, "k", b"0123456789").unwrap();
    let r = |key: &str, start, length| Request { key: key.into(), range: Range::Bounded { start, length } };
    let requests = [r("k", 0, 1), r("k", 5, 2), r("gone", 0, 1), r("k", 9, 2), r("k", 9, 1), r("/", 0, 1)];
    let got = Mutex::new(Vec::new());
    fs.get_many(&requests, &|i, g| got.lock().unwrap().push((i, g.map(|b| b.map(|b| b.to_vec())).map_err(|e| e.kind))));
    let expected = [
        Ok(Some(b"0".to_vec())),
        Ok(Some(b"56".to_vec())),
        Ok(None),
        Err(StoreErrorKind::Short),
        Ok(Some(b"9".to_vec())),
        Err(StoreErrorKind::Invalid),
    ];
    assert_eq!(got.into_inner().unwrap(), expected.into_iter().enumerate().collect::<Vec<_>>());
}

#[test]
fn a_name_that_is_too_long_is_an_error_and_not_absent() {
    let (_dir, fs) = new();
    put(&fs, "k", b"").unwrap();
    let long = "x".repeat(5000);
    assert_ne!(fs.get(&long, Range::All).unwrap_err().kind, StoreErrorKind::Short);
    assert!(put(&fs, &long, b"").is_err());
    assert!(put(&fs, &format!("{long}/k"), b"").is_err());
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    #[test]
    fn a_link_is_read_through_but_never_written_through() {
        let (dir, fs) = new();
        let outside = dir.path().join("outside");
        std::fs::create_dir_all(outside.join("deep")).unwrap();
        std::fs::write(outside.join("secret"), b"s").unwrap();
        put(&fs, "k", b"1").unwrap();
        symlink(&outside, fs.root().join("link")).unwrap();
        symlink(outside.join("secret"), fs.root().join("file")).unwrap();
        symlink(dir.path().join("nowhere"), fs.root().join("dangling")).unwrap();
        assert_eq!(fs.get("link/secret", Range::All).unwrap().unwrap(), &b"s"[..]);
        assert_eq!(fs.list("").unwrap().len(), 3);
        for key in ["link/new", "link/deep/new", "link/fresh/new"] {
            let e = put(&fs, key, b"x").unwrap_err();
            assert_eq!(e.kind, StoreErrorKind::Invalid, "{key}: {e}");
            assert!(e.to_string().contains("leads out of the store"), "{e}");
            assert!(put(&fs, key, b"x").is_err(), "{key} the second time");
        }
        assert_eq!(fs.delete("link/secret").unwrap_err().kind, StoreErrorKind::Invalid);
        assert_eq!(fs.delete_prefix("link/deep").unwrap_err().kind, StoreErrorKind::Invalid);
        assert!(put(&fs, "dangling/x", b"x").is_err());
        assert!(!dir.path().join("nowhere").exists());
        // The last segment is a name in the store: the link is replaced, not what it points to.
        put(&fs, "file", b"mine").unwrap();
        assert_eq!(std::fs::read(outside.join("secret")).unwrap(), b"s");
        assert_eq!(fs.delete_prefix("").unwrap(), 4);
        assert!(outside.join("secret").exists() && outside.join("deep").exists());
    }

    #[test]
    fn links_in_a_ring_end() {
        let (_dir, fs) = new();
        put(&fs, "a/k", b"1").unwrap();
        put(&fs, "b/k", b"1").unwrap();
        symlink(fs.root(), fs.root().join("a/up")).unwrap();
        symlink(fs.root().join("b"), fs.root().join("a/b")).unwrap();
        symlink(fs.root().join("a"), fs.root().join("b/a")).unwrap();
        symlink("self", fs.root().join("self")).unwrap();
        let keys: Vec<_> = fs.list("").unwrap().into_iter().map(|(k, _)| k).collect();
        assert_eq!(keys, ["a/b/k", "a/k", "b/a/k", "b/k"]);
        assert_eq!(fs.list_dir("a").unwrap().prefixes, ["a/b", "a/up"]);
    }

    #[test]
    fn a_pipe_does_not_hang_and_a_device_is_no_object() {
        let (_dir, fs) = new();
        put(&fs, "k", b"1").unwrap();
        let made = std::process::Command::new("mkfifo").arg(fs.root().join("pipe")).status();
        if made.is_ok_and(|s| s.success()) {
            assert_eq!(fs.get("pipe", Range::All).unwrap_err().kind, StoreErrorKind::Invalid);
            assert!(fs.get_into("pipe", 0, &mut [0; 4]).is_err());
            assert!(fs.stat("pipe").is_err());
        }
        symlink("/dev/zero", fs.root().join("zero")).unwrap();
        assert_eq!(fs.get("zero", Range::All).unwrap_err().kind, StoreErrorKind::Invalid);
        assert_eq!(fs.list("").unwrap(), [("k".to_string(), 1)]);
    }

    #[test]
    fn files_have_ordinary_permissions() {
        let (dir, fs) = new();
        put(&fs, "k", b"1").unwrap();
        std::fs::write(dir.path().join("plain"), b"").unwrap();
        let mode = |p: &Path| std::fs::metadata(p).unwrap().permissions().mode();
        assert_eq!(mode(&fs.root().join("k")), mode(&dir.path().join("plain")));
    }

    #[test]
    fn permission_denied_is_denied_and_not_absent() {
        let (dir, fs) = new();
        if std::fs::metadata(dir.path()).unwrap().uid() == 0 {
            eprintln!("skipped: the superuser may read everything");
            return;
        }
        put(&fs, "d/k", b"1").unwrap();
        std::fs::set_permissions(fs.root().join("d"), PermissionsExt::from_mode(0o000)).unwrap();
        assert_eq!(fs.get("d/k", Range::All).unwrap_err().kind, StoreErrorKind::Denied);
        assert_eq!(put(&fs, "d/k", b"2").unwrap_err().kind, StoreErrorKind::Denied);
        std::fs::set_permissions(fs.root().join("d"), PermissionsExt::from_mode(0o700)).unwrap();
    }

    #[test]
    fn names_that_are_not_text_are_no_keys() {
        use std::os::unix::ffi::OsStrExt;
        let (_dir, fs) = new();
        put(&fs, "k", b"1").unwrap();
        std::fs::write(fs.root().join(std::ffi::OsStr::from_bytes(b"\xff")), b"").unwrap();
        assert_eq!(fs.list("").unwrap().len(), 1);
    }

    #[test]
    fn a_deep_tree_is_walked_without_recursion() {
        let (_dir, fs) = new();
        let deep = vec!["d"; 300].join("/");
        put(&fs, &format!("{deep}/k"), b"1").unwrap();
        assert_eq!(fs.list("").unwrap().len(), 1);
        assert_eq!(fs.list_dir("").unwrap().prefixes, ["d"]);
        assert_eq!(fs.delete_prefix("d").unwrap(), 1);
    }
}
