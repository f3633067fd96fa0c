//! Tests of the whole module: texts in, workflows and messages out.

mod forms;
mod hostile;
mod messages;
mod shipped;
mod sources;

use std::path::PathBuf;

use fleet_core::workflow::Spec;

use super::*;
use crate::environment::Environment;
use crate::{Engine, EngineStart};

/// A home with nothing in it, and a folder for files.
pub(super) struct World {
    pub(super) engine: Engine,
    pub(super) dir: tempfile::TempDir,
}

impl World {
    pub(super) fn new() -> Self {
        Self::with_config("")
    }

    pub(super) fn with_config(config: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("config.toml"), config).unwrap();
        let environment = Environment::from_pairs([("FLEET_HOME", dir.path()), ("HOME", dir.path())])
            .with_current_directory(dir.path());
        let engine = Engine::new(EngineStart { environment, directory: None, flags: Vec::new() }).unwrap();
        Self { engine, dir }
    }

    pub(super) fn load(
        &self,
        name: &str,
        text: &str,
        given: &GivenValues,
    ) -> Result<Loaded, Vec<Diagnostic>> {
        let path = PathBuf::from(name);
        let format = FileFormat::of(&path).unwrap();
        let source = SourceFile {
            text: text.to_owned(),
            format,
            path,
            label: name.to_owned(),
            kind: WorkflowOrigin::Path,
        };
        load(&self.engine, &source, given).unwrap()
    }

    pub(super) fn spec(&self, name: &str, text: &str) -> Spec {
        self.load(name, text, &task()).map_err(|found| shown(&found)).unwrap().spec
    }

    /// Everything that is wrong with a text.
    #[track_caller]
    pub(super) fn wrong(&self, name: &str, text: &str) -> String {
        shown(&self.load(name, text, &task()).unwrap_err())
    }
}

pub(super) fn task() -> GivenValues {
    GivenValues { task: Some("Do it".to_owned()), ..GivenValues::default() }
}

/// As people see it. What is missing on this machine depends on the machine.
pub(super) fn shown(found: &[Diagnostic]) -> String {
    let mut lines = Vec::new();
    for one in found.iter().filter(|one| one.severity == Severity::Error) {
        lines.push(format!("{}: {}", one.place(), one.message));
        if let Some(source) = &one.source {
            lines.push(format!("  | {source}"));
            lines.push(format!("  | {}^", " ".repeat(one.caret)));
        }
        lines.extend(one.help.iter().map(|help| format!("  → {help}")));
    }
    lines.join("\n")
}
