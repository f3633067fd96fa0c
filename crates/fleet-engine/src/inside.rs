//! Whether this process is inside a run.
//!
//! Owns how that is found out. A process of an agent has the keeper of its run above it, however it changes its
//! environment, and is in the run's control group where there is one. Must never believe what a process says about itself
//! where the system knows better: only that it is inside a run, which gives it nothing.

use std::fs;
use std::path::PathBuf;

use fleet_core::id::RunId;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_host::plain;
use fleet_host::process::{Above, Group, Identity};
use fleet_store::{Store, StoreError, ops};

use crate::environment::Environment;
use crate::home::Home;
use crate::{door, problems};

/// Where this process is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Whereabouts {
    Outside,
    /// Inside a run: everything is asked through its door, if that can be found.
    Inside {
        door: Option<PathBuf>,
    },
    /// Inside a run of another fleet than the one that is used here, such as that of a test which an agent runs.
    OtherFleet {
        run: RunId,
    },
}

impl Whereabouts {
    /// Looks at the environment and at the processes above.
    pub(crate) fn look(environment: &Environment, home: &Home) -> Self {
        if let Some(door) = environment.get_os("FLEET_DOOR") {
            return Self::Inside { door: Some(door.into()) };
        }
        let above = Above::look();
        let claims = environment.get_os("FLEET_RUN").is_some();
        let run = run_of_keeper(home, &above).or_else(|| marked(&above));
        match run {
            None if !claims => Self::Outside,
            // Agents are not told where the fleet is: one that says so means one of its own.
            Some(run) if !claims && environment.names_home() && !home.run(run).dir().exists() => {
                Self::OtherFleet { run }
            }
            _ => {
                let found = run.and_then(|run| door::find(home, run));
                Self::Inside { door: found.or_else(|| above.carried("FLEET_DOOR").map(PathBuf::from)) }
            }
        }
    }

    pub(crate) const fn is_inside(&self) -> bool {
        matches!(self, Self::Inside { .. })
    }

    /// Refuses to open a store inside a run.
    pub(crate) fn check(&self) -> Outcome<()> {
        match self {
            Self::Outside | Self::OtherFleet { .. } => Ok(()),
            Self::Inside { .. } => Err(refusal()),
        }
    }

    /// Refuses a store that was opened in the name of another fleet, and knows the run that this is inside of.
    pub(crate) async fn check_store(&self, store: &Store) -> Outcome<()> {
        let Self::OtherFleet { run } = self else { return Ok(()) };
        match store.call(ops::GetRun { run: *run }).await {
            Err(StoreError::RunNotFound(_)) => Ok(()),
            Ok(_) => Err(refusal()),
            Err(error) => Err(problems::store(error)),
        }
    }
}

fn refusal() -> Problem {
    Problem::new(Code::NotYours, "only people can do this: inside a run there is no way to the store")
        .hint("say in your report what you need; a person can do it")
}

/// The run of the nearest keeper above.
fn run_of_keeper(home: &Home, above: &Above) -> Option<RunId> {
    // Each keeper was started with the name of its run; without one above there is no need to read the marks of all runs.
    if !above.may_have_argument(|argument| argument.parse::<RunId>().is_ok()) {
        return None;
    }
    let marks = fs::read_dir(home.live()).into_iter().flatten().flatten();
    let keepers = marks.filter_map(|mark| {
        let run: RunId = mark.file_name().to_str()?.parse().ok()?;
        let keeper: Identity = serde_json::from_slice(&plain::read(&mark.path()).ok()?).ok()?;
        Some((above.distance(&keeper)?, run))
    });
    keepers.min_by_key(|(distance, _)| *distance).map(|(_, run)| run)
}

/// The run in whose control group this is, or that a process above carries the mark of.
fn marked(above: &Above) -> Option<RunId> {
    Group::run_of_this_process().or_else(|| above.carried("FLEET_RUN"))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use fleet_core::id::IdMaker;
    use fleet_core::time::Millis;

    use super::*;

    fn look(home: &Home, pairs: &[(&str, &str)]) -> Whereabouts {
        Whereabouts::look(&Environment::from_pairs(pairs.iter().copied()), home)
    }

    #[test]
    fn whoever_names_a_run_or_its_door_is_inside() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path());
        let run: RunId = IdMaker::default().next(Millis(1), 2);
        assert!(!look(&home, &[("FLEET_HOME", "/x")]).is_inside());
        let door = Some("/d".into());
        assert_eq!(look(&home, &[("FLEET_DOOR", "/d")]), Whereabouts::Inside { door });
        for claim in ["nonsense", &run.to_string()] {
            let found = look(&home, &[("FLEET_RUN", claim)]);
            assert_eq!(found, Whereabouts::Inside { door: None }, "{claim}");
            assert_eq!(found.check().unwrap_err().code, Code::NotYours);
        }
    }
}
