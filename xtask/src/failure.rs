//! Why a command could not do its work. A failed check or test is not among these: it is a result.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use fleet_dist::DistError;
use fleet_testkit::postgres::StartError;
use thiserror::Error;

#[derive(Debug, Error)]
pub(crate) enum Failure {
    #[error("{0}; see `cargo xtask help`")]
    Usage(String),
    #[error("{0}")]
    MissingTools(String),
    #[error("`{command}` failed")]
    Install { command: String },
    #[error("cannot run {program}: {source}")]
    Process { program: String, source: io::Error },
    #[error("cannot change {path}: {source}")]
    File { path: &'static str, source: io::Error },
    #[error("cannot make the link {}: {source}", path.display())]
    Link { path: PathBuf, source: io::Error },
    #[error("cannot use {}: {source}", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Packages(#[from] DistError),
    #[error(transparent)]
    Database(#[from] StartError),
}

impl Failure {
    /// 2 for a command that makes no sense, as most tools do.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(if matches!(self, Self::Usage(_)) { 2 } else { 1 })
    }
}
