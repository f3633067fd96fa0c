//! An engine for servers, which answer for long: every question is answered with the settings as they are then, and seen
//! from no project unless it names one.

use std::path::PathBuf;

use fleet_api::{Answering, Client, Question};

use crate::Engine;

/// An engine that outlives its settings.
pub struct Service(Engine);

impl Service {
    pub fn new(engine: &Engine) -> Self {
        Self(engine.without_project())
    }

    /// The directory that the process was started for. None inside a run: its keeper knows the project.
    pub fn directory(&self) -> Option<PathBuf> {
        if self.0.is_inside_a_run() { None } else { self.0.start_directory().ok() }
    }
}

impl Client for Service {
    fn ask(&self, question: Question) -> Answering<'_> {
        Box::pin(async move {
            let at = question.at.map(|at| self.0.environment().expanded(&at)).transpose()?;
            self.0.without_project().ask(Question { at, ..question }).await
        })
    }
}
