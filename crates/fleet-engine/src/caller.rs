//! Who uses this process: a person, or the agent of a run.
//!
//! Owns how agents are told from people. An agent is known by the secret of its run; and one that has lost it, or hides it,
//! by the processes above: the keeper of its run is among them, however the agent changes its environment. Must never
//! believe what a process says about itself where the system knows better.

use std::fs;

use fleet_core::id::RunId;
use fleet_core::problem::Outcome;
use fleet_host::process::{Above, Identity};
use fleet_store::ops::{Author, Proof};

use crate::environment::Environment;
use crate::home::Home;
use crate::keeper::Token;
use crate::{Engine, problems};

/// Who uses this process.
#[derive(Debug, Clone)]
pub enum Caller {
    /// A person, or a program that works for one.
    Person,
    /// The agent of a run, or something that it started.
    Agent {
        /// The run.
        run: RunId,
        /// How that is known.
        proof: Proof,
    },
}

impl Caller {
    /// Looks at the environment and, unless that proves it, at the processes above.
    pub(crate) fn look(environment: &Environment, home: &Home) -> Outcome<Self> {
        let claimed = environment.get("FLEET_RUN")?;
        let token = environment.get("FLEET_TOKEN")?.map(|token| Token::given(token).hash());
        if let (Some(run), Some(hash)) = (claimed, &token) {
            let run = run.parse().map_err(problems::id)?;
            return Ok(Self::Agent { run, proof: Proof::Token(hash.clone()) });
        }
        if let Some(run) = above(home) {
            return Ok(Self::Agent { run, proof: Proof::Seen });
        }
        // A run that nothing vouches for is no way to act in its name; and whoever says to be an agent is no person.
        let Some(run) = claimed else { return Ok(Self::Person) };
        let run = run.parse().map_err(problems::id)?;
        Ok(Self::Agent { run, proof: Proof::Token(String::new()) })
    }

    /// The run that it is inside of.
    pub fn run(&self) -> Option<RunId> {
        match self {
            Self::Person => None,
            Self::Agent { run, .. } => Some(*run),
        }
    }
}

/// The run of the nearest keeper above; failing that, the run that a process above carries the mark of.
fn above(home: &Home) -> Option<RunId> {
    let above = Above::look();
    let marks = fs::read_dir(home.live()).into_iter().flatten().flatten();
    let keepers = marks.filter_map(|mark| {
        let run: RunId = mark.file_name().to_str()?.parse().ok()?;
        let keeper: Identity = serde_json::from_slice(&fs::read(mark.path()).ok()?).ok()?;
        Some((above.distance(&keeper)?, run))
    });
    let nearest = keepers.min_by_key(|(distance, _)| *distance).map(|(_, run)| run);
    nearest.or_else(|| above.carried("FLEET_RUN")?.parse().ok())
}

/// Who adds tasks here, as the store has to know it.
pub fn author(engine: &Engine) -> Outcome<Author> {
    let spawn_depth = engine.config()?.spawn_depth();
    Ok(match engine.caller()?.clone() {
        Caller::Person => Author::Person { spawn_depth },
        Caller::Agent { run, proof } => Author::Agent { run, proof, spawn_depth },
    })
}

/// Whether this is inside of a run. Whoever names one is no person, be it a run or not.
pub(crate) fn is_inside_a_run(engine: &Engine) -> Outcome<bool> {
    Ok(engine.environment().get_os("FLEET_RUN").is_some() || engine.caller()?.run().is_some())
}
