//! What holds for every command: help, statuses, streams.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use std::process::Stdio;

use common::{Place, command};

const COMMANDS: [&str; 14] = [
    "info",
    "tree",
    "read",
    "write",
    "append",
    "resize",
    "attrs",
    "convert",
    "plan",
    "validate",
    "checksum",
    "demo",
    "completions",
    "conformance",
];

#[test]
fn every_command_has_help_with_examples() {
    let place = Place::new();
    let all = place.ok("--help");
    for name in COMMANDS {
        assert!(all.contains(&format!("  {name} ")), "{name} is not listed:\n{all}");
        let help = place.ok(&format!("{name} --help"));
        let examples = help.split("Examples:").nth(1).unwrap_or_default();
        let n = examples.lines().filter(|l| l.contains("gingham ")).count();
        assert!(n >= 3, "{name} has {n} examples");
        assert!(help.contains("--json") && help.contains("--color"), "{name}");
    }
}

#[test]
fn nonsense_is_a_usage_error() {
    let place = Place::new();
    for line in [
        "",
        "frobnicate",
        "info",
        "info a b",
        "read x --format jpeg",
        "--jobs 0 info x",
        "--jobs x info x",
        "--header nonsense info x",
        "--absent-status 200 info x",
        "--separator ; info x",
        "info ''",
        "write x",
        "write x --create",
        "write x --create --shape 3,x --dtype int8",
        "write x --create --shape 3 --dtype int99",
        "write x --create --shape 3 --dtype int8 --codec zst",
        "write x --create --shape 3 --dtype int8 --dims a,b",
        "write x --shape 3 --dtype int8 --value 1",
        "convert a b --memory lots",
        "convert a b --chunks none",
        "read x --select '1:2:0'",
        "read x --select '[1,'",
        "attrs x --set nothing",
        "resize x --shape -1",
        "completions tcsh-of-old",
        "conformance",
    ] {
        let ran = place.run(line);
        assert_eq!(ran.code, 2, "{line}: {}", ran.err);
        assert!(ran.out.is_empty() && !ran.err.is_empty(), "{line}: {}", ran.out);
    }
}

#[test]
fn what_is_not_there_is_status_3() {
    let place = Place::new();
    for line in ["info", "tree", "read", "checksum", "plan", "validate", "attrs"] {
        let ran = place.run(&format!("{line} nowhere.zarr"));
        assert_eq!(ran.code, 3, "{line}: {}", ran.err);
        assert!(ran.err.starts_with("error: "), "{}", ran.err);
        assert!(ran.out.is_empty());
    }
    assert_eq!(place.run("convert nowhere.zarr new.zarr").code, 3);
    assert!(!place.path("new.zarr").exists());
    assert_eq!(place.run("write x --create --from nowhere.npy").code, 3);
}

#[test]
fn errors_are_json_on_standard_error_with_json() {
    let place = Place::new();
    let ran = place.run("info --json nowhere.zarr");
    let error: serde_json::Value = serde_json::from_str(&ran.err).unwrap();
    assert_eq!(error["kind"], "not-found");
    assert_eq!(error["status"], 3);
    assert!(error["error"].as_str().is_some_and(|e| !e.is_empty()));
    assert!(error.as_object().unwrap().contains_key("at") && error.as_object().unwrap().contains_key("because"));
    assert!(ran.out.is_empty());
}

#[test]
fn colours_come_only_when_asked_for() {
    let place = Place::new();
    assert!(!place.run("info nowhere.zarr").err.contains('\u{1b}'));
    assert!(place.run("--color always info nowhere.zarr").err.contains('\u{1b}'));
    assert!(!place.run("--color never info nowhere.zarr").err.contains('\u{1b}'));
}

#[test]
fn completions_know_the_commands() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = place.ok(&format!("completions {shell}"));
        assert!(COMMANDS.iter().all(|c| script.contains(c)), "{shell}");
    }
}

#[test]
fn ic_stdout_a_closed_pipe_is_quiet() {
    let place = Place::new();
    place.ok("write big.zarr --create --shape 300000 --dtype int32 --value 123456789");
    let mut child = command(&place.path(""))
        .args(["read", "big.zarr", "--format", "csv"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn the_environment_is_checked() {
    let place = Place::new();
    let output = command(&place.path("")).args(["info", "x"]).env("GINGHAM_JOBS", "many").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("GINGHAM_JOBS"));
}
