//! The exit status: what a script can act on.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: done.
    Done,
    /// 1: differences or findings.
    Findings,
    /// 2: the command line makes no sense.
    Usage,
    /// 3: there is nothing at the place that was named.
    NotFound,
    /// 4: what is there is damaged, not valid or not supported.
    BadData,
    /// 5: a store failed.
    StoreFailed,
    /// 6: refused before anything was written.
    Blocked,
    /// 130: stopped by the user.
    Interrupted,
    /// 143: stopped by SIGTERM.
    Terminated,
}

impl Exit {
    /// The status itself.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Findings => 1,
            Exit::Usage => 2,
            Exit::NotFound => 3,
            Exit::BadData => 4,
            Exit::StoreFailed => 5,
            Exit::Blocked => 6,
            Exit::Interrupted => 130,
            Exit::Terminated => 143,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

/// Prints what the argument parser says (help goes to standard output and is status 0).
pub fn usage(error: &clap::Error) -> ExitCode {
    let exit = if error.use_stderr() { Exit::Usage } else { Exit::Done };
    // A reader that has gone away does not need the help.
    let _ = error.print();
    exit.into()
}
