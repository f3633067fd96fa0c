//! An engine for servers, which answer for long: every question is answered with the settings as they are then, and seen
//! from no project unless it names one.

use std::path::PathBuf;

use fleet_api::{Answering, Client, Question};
use fleet_core::problem::Outcome;

use crate::Engine;

/// An engine that outlives its settings.
pub struct Service(Engine);

impl Service {
    /// On the store of this engine.
    pub fn new(engine: &Engine) -> Self {
        Self(engine.nowhere())
    }

    /// The directory that the process was started for. None inside a run: its keeper knows the project.
    pub fn directory(&self) -> Option<PathBuf> {
        if self.0.is_inside_a_run() { None } else { self.0.start_directory().ok() }
    }

    /// `~/src` as the whole path.
    fn expanded(&self, at: PathBuf) -> Outcome<PathBuf> {
        match at.strip_prefix("~") {
            Ok(rest) => Ok(self.0.environment().user_home()?.join(rest)),
            Err(_) => Ok(at),
        }
    }
}

impl Client for Service {
    fn ask(&self, question: Question) -> Answering<'_> {
        Box::pin(async move {
            let at = question.at.map(|at| self.expanded(at)).transpose()?;
            self.0.nowhere().ask(Question { at, ..question }).await
        })
    }
}
