//! Who uses this process: a person, or the agent of a run.
//!
//! Owns how agents are told from people. An agent is known by the processes above: the keeper of its run is among them,
//! however the agent changes its environment. The secret of a run proves it only together with that, because whoever may
//! read the memory of another agent, or `/proc`, finds its secret there. Where the keeper cannot be seen at all, as from a
//! container with process numbers of its own, the secret has to do. Must never believe what a process says about itself
//! where the system knows better.

use std::fs;

use fleet_core::id::RunId;
use fleet_core::problem::Outcome;
use fleet_host::plain;
use fleet_host::process::{Above, Group, Identity};
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
        /// From what it is known.
        proof: Proof,
    },
}

impl Caller {
    /// Looks at the environment and at the processes above.
    pub(crate) fn look(environment: &Environment, home: &Home) -> Outcome<Self> {
        let claimed = environment.get("FLEET_RUN")?.map(str::parse::<RunId>).transpose();
        let claimed = claimed.map_err(problems::id)?;
        let token = environment.get("FLEET_TOKEN")?.map(|token| Token::given(token).hash());
        let seen = above(home);
        let Some(run) = claimed.or(seen) else { return Ok(Self::Person) };
        let is_hidden = || seen.is_none() && !is_keeper_visible(home, run);
        let proof = match token {
            Some(hash) if seen == claimed || (claimed.is_some() && is_hidden()) => Proof::Token(hash),
            _ if seen == Some(run) => Proof::Seen,
            // Nothing vouches for it, so it cannot act in the name of that run; and it is no person either.
            _ => Proof::Token(String::new()),
        };
        Ok(Self::Agent { run, proof })
    }

    /// The run that it is inside of.
    pub fn run(&self) -> Option<RunId> {
        match self {
            Self::Person => None,
            Self::Agent { run, .. } => Some(*run),
        }
    }
}

/// The run of the nearest keeper above; failing that, the run in whose control group this is, or that a process above
/// carries the mark of.
fn above(home: &Home) -> Option<RunId> {
    let above = Above::look();
    let marks = fs::read_dir(home.live()).into_iter().flatten().flatten();
    let keepers = marks.filter_map(|mark| {
        let run: RunId = mark.file_name().to_str()?.parse().ok()?;
        let keeper: Identity = serde_json::from_slice(&plain::read(&mark.path()).ok()?).ok()?;
        Some((above.distance(&keeper)?, run))
    });
    let nearest = keepers.min_by_key(|(distance, _)| *distance).map(|(_, run)| run);
    let marked = || Group::run_of_this_process().or_else(|| above.carried("FLEET_RUN"));
    nearest.or_else(|| marked()?.parse().ok())
}

/// Whether the keeper of a run is in the same table of processes. Then its agents are below it, and nobody else is one.
fn is_keeper_visible(home: &Home, run: RunId) -> bool {
    let mark = plain::read(&home.live_run(run)).unwrap_or_default();
    serde_json::from_slice::<Identity>(&mark).is_ok_and(|keeper| keeper.is_alive())
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

#[cfg(test)]
mod tests {
    use fleet_core::id::IdMaker;
    use fleet_core::time::Millis;
    use rustix::process::getppid;

    use super::*;

    const RUN: &str = "r0smmyvymnt4z7j";

    /// How a process proves to be the agent of [`RUN`] that shows the secret of it, where this process is its keeper.
    fn proof(keeper: Option<Identity>, pairs: &[(&str, &str)]) -> Option<Proof> {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path());
        fs::create_dir(home.live()).unwrap();
        if let Some(keeper) = keeper {
            fs::write(home.live_run(RUN.parse().unwrap()), serde_json::to_vec(&keeper).unwrap()).unwrap();
        }
        match Caller::look(&Environment::from_pairs(pairs.iter().copied()), &home).unwrap() {
            Caller::Person => None,
            Caller::Agent { run, proof } => {
                assert_eq!(run.to_string(), RUN);
                Some(proof)
            }
        }
    }

    #[test]
    fn the_secret_of_a_run_counts_only_below_its_keeper() {
        let claims = [("FLEET_RUN", RUN), ("FLEET_TOKEN", "secret")];
        let shown = Some(Proof::Token(Token::given("secret").hash()));
        let nothing = Some(Proof::Token(String::new()));
        let parent = getppid().and_then(|parent| Identity::of(parent.as_raw_pid()));
        assert_eq!(proof(parent.clone(), &claims), shown);
        assert_eq!(proof(parent.clone(), &claims[..1]), Some(Proof::Seen));
        assert_eq!(proof(parent.clone(), &[]), Some(Proof::Seen));
        let stranger = Identity::of(1).unwrap();
        assert_eq!(proof(Some(stranger.clone()), &claims), nothing, "somebody has read it elsewhere");
        assert_eq!(proof(Some(stranger.clone()), &[]), None);
        // From a container nobody outside of it is seen.
        let unseen = Identity { start: stranger.start + 1, ..stranger };
        assert_eq!((proof(Some(unseen), &claims), proof(None, &claims)), (shown.clone(), shown));
    }

    #[test]
    fn an_agent_is_nobody_with_the_secret_of_another() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path());
        fs::create_dir(home.live()).unwrap();
        let own: RunId = IdMaker::default().next(Millis(1), 2);
        let parent = getppid().and_then(|parent| Identity::of(parent.as_raw_pid())).unwrap();
        fs::write(home.live_run(own), serde_json::to_vec(&parent).unwrap()).unwrap();
        let environment = Environment::from_pairs([("FLEET_RUN", RUN), ("FLEET_TOKEN", "of another")]);
        let Caller::Agent { run, proof } = Caller::look(&environment, &home).unwrap() else {
            panic!("a run")
        };
        assert_eq!((run.to_string().as_str(), proof), (RUN, Proof::Token(String::new())));
    }
}
