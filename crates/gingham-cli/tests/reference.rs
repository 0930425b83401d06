//! The pages of docs/reference are what the command prints.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use std::path::Path;

use common::Place;

/// Set to write the pages instead of comparing them.
const UPDATE: &str = "GINGHAM_UPDATE_DOCS";

#[test]
fn the_pages_are_up_to_date() {
    let place = Place::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    for page in ["command", "codecs", "data-types"] {
        let (path, text) = (folder.join(format!("{page}.md")), place.ok(&format!("reference {page}")));
        if std::env::var_os(UPDATE).is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        let there = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(there == text, "{} is out of date: {UPDATE}=1 cargo test -p gingham-cli --test reference", path.display());
    }
}

#[test]
fn every_command_and_option_is_on_the_page() {
    let place = Place::new();
    let page = place.ok("reference command");
    let help = place.ok("--help");
    let commands: Vec<&str> = help
        .split("Commands:")
        .nth(1)
        .unwrap()
        .split("Options:")
        .next()
        .unwrap()
        .split("Output:")
        .next()
        .unwrap()
        .lines()
        .filter_map(|l| l.strip_prefix("  ")?.split(' ').next())
        .filter(|c| !c.is_empty() && *c != "help")
        .collect();
    assert!(commands.len() >= 14, "{commands:?}");
    for command in commands {
        assert!(page.contains(&format!("\n## {command}\n")), "{command}");
        for word in place.ok(&format!("{command} --help")).split_whitespace().filter(|w| w.starts_with("--") && w.len() > 4) {
            let option = word.trim_end_matches(|c: char| !c.is_ascii_lowercase());
            assert!(option == "--help" || option == "--version" || page.contains(option), "{command} {option}");
        }
    }
    assert!(!page.contains("## reference"));
    let (codecs, types) = (place.ok("reference codecs"), place.ok("reference data-types"));
    assert!(codecs.contains("| `zstd` | `zstd` |") && codecs.contains("| `numcodecs.delta` | `delta` |"), "{codecs}");
    assert!(types.contains("| `float32` | `<f4` | 4 |") && types.contains("raw_bytes"), "{types}");
}
