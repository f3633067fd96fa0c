//! Whether this process is inside a run.
//!
//! Owns how that is found out. A process of an agent has the keeper of its run above it, however it changes its
//! environment, and is in the run's control group where there is one. Must never believe what a process says about itself
//! where the system knows better: only that it is inside a run, which gives it nothing.

use std::fs;
use std::path::PathBuf;

use fleet_core::id::RunId;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_host::lock::Exclusive;
use fleet_host::plain;
use fleet_host::process::{self, Ancestors, Group, Identity};
use fleet_store::{Store, StoreError, ops};

use crate::environment::Environment;
use crate::home::Home;
use crate::problems;
use crate::sockets::{self, RunSocket};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Position {
    Outside,
    /// Inside a run: everything is asked through its door, if that can be found.
    Inside {
        door: Option<PathBuf>,
    },
    /// The processes above cannot be seen, and runs are at work: this may be inside one of them.
    Hidden,
    /// Inside a run of another fleet than the one that is used here, such as that of a test which an agent runs.
    OtherFleet {
        run: RunId,
    },
}

impl Position {
    pub(crate) fn look(environment: &Environment, home: &Home) -> Self {
        if let Some(door) = environment.get_os("FLEET_DOOR") {
            return Self::Inside { door: Some(door.into()) };
        }
        let above = Ancestors::look();
        let claims = environment.get_os("FLEET_RUN").is_some();
        let run = run_of_keeper(home, &above).or_else(|| marked(&above));
        match run {
            // Mostly there is no need to read the marks of all runs.
            None if !claims && !above.sees_all() && is_hidden(home) => Self::Hidden,
            None if !claims => Self::Outside,
            // Agents are not told where the fleet is: one that says so means one of its own.
            Some(run) if !claims && environment.names_home() && !home.run(run).dir().exists() => {
                Self::OtherFleet { run }
            }
            _ => {
                let found = run.and_then(|run| sockets::find(home, run, RunSocket::Door));
                Self::Inside { door: found.or_else(|| above.variable("FLEET_DOOR").map(PathBuf::from)) }
            }
        }
    }

    pub(crate) const fn is_inside(&self) -> bool {
        matches!(self, Self::Inside { .. })
    }

    pub(crate) fn check(&self) -> Outcome<()> {
        match self {
            Self::Outside | Self::OtherFleet { .. } => Ok(()),
            Self::Inside { .. } => Err(refusal()),
            Self::Hidden => Err(hidden()),
        }
    }

    /// Refuses what reaches beyond the files of a fleet: inside a run, that of another fleet included.
    pub(crate) fn check_reach(&self) -> Outcome<()> {
        match self {
            Self::Outside => Ok(()),
            Self::Inside { .. } => Err(refusal()),
            Self::Hidden => Err(hidden()),
            Self::OtherFleet { .. } => {
                let message = "only people can do this: it changes files outside this fleet's home";
                Err(Problem::new(Code::NotYours, message)
                    .hint("say in your report what you need; a person can do it"))
            }
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

/// Whether a process is inside a run of this home, as far as the system knows. One that is gone, or whose parents cannot be
/// seen, counts as inside: a process of an agent may connect, and end before we look.
pub(crate) fn is_inside(home: &Home, pid: i32) -> bool {
    let Some(peer) = Identity::of(pid) else { return true };
    // A parent that ends while we look cuts the line off, also that of a person.
    let look = || Some(Ancestors::of_and_itself(pid)).filter(Ancestors::is_complete);
    let Some(above) = look().or_else(look).or_else(look) else { return true };
    if Identity::of(pid) != Some(peer) || (!above.sees_all() && is_hidden(home)) {
        return true;
    }
    let mark = Group::run_of_process(pid).or_else(|| above.variable("FLEET_RUN"));
    let marked = mark.and_then(|mark| mark.parse().ok()).filter(|run| home.run(*run).dir().exists());
    run_of_keeper(home, &above).or(marked).is_some()
}

/// The home if the environment names none: inside a run nothing of it is used, and a process that cleared the
/// environment there gets that answer. Elsewhere it is a problem.
pub(crate) fn without_home(environment: &Environment, problem: Problem) -> Outcome<PathBuf> {
    let nowhere = PathBuf::from("/dev/null");
    let is_inside = Position::look(environment, &Home::new(&nowhere)).is_inside();
    if is_inside { Ok(nowhere) } else { Err(problem) }
}

fn refusal() -> Problem {
    Problem::new(Code::NotYours, "only people can do this: the store cannot be reached inside a run")
        .hint("say in your report what you need; a person can do it")
}

fn hidden() -> Problem {
    let message = "agents are running, and it is unclear whether this is inside one of their runs: the parent \
        processes are not visible";
    Problem::new(Code::NotYours, message)
        .hint("run `fleet` where `/proc` shows them: outside the namespace or container, or with its own FLEET_HOME")
}

/// Whether a keeper lives that this process may be below without seeing it.
fn is_hidden(home: &Home) -> bool {
    keepers(home).any(|(run, keeper)| {
        process::may_be_below_unseen(&keeper) && Exclusive::is_held(&home.live_run(run)).unwrap_or(true)
    })
}

/// The keepers that have left a mark.
fn keepers(home: &Home) -> impl Iterator<Item = (RunId, Identity)> {
    let marks = fs::read_dir(home.live()).into_iter().flatten().flatten();
    marks.filter_map(|mark| {
        let run: RunId = mark.file_name().to_str()?.parse().ok()?;
        Some((run, serde_json::from_slice(&plain::read(&mark.path()).ok()?).ok()?))
    })
}

fn run_of_keeper(home: &Home, above: &Ancestors) -> Option<RunId> {
    // Each keeper was started with the name of its run; without one above there is no need to read the marks of all runs.
    let is_empty = fs::read_dir(home.live()).map_or(true, |mut marks| marks.next().is_none());
    if is_empty || !above.may_have_argument(|argument| argument.parse::<RunId>().is_ok()) {
        return None;
    }
    let above = keepers(home).filter_map(|(run, keeper)| Some((above.distance(&keeper)?, run)));
    above.min_by_key(|(distance, _)| *distance).map(|(_, run)| run)
}

/// The run in whose control group this is, or that a process above carries the mark of.
fn marked(above: &Ancestors) -> Option<RunId> {
    Group::run_of_this_process().or_else(|| above.variable("FLEET_RUN"))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use fleet_core::id::IdMaker;
    use fleet_core::time::Millis;

    use super::*;

    fn look(home: &Home, pairs: &[(&str, &str)]) -> Position {
        Position::look(&Environment::from_pairs(pairs.iter().copied()), home)
    }

    #[test]
    fn whoever_cannot_see_a_keeper_that_lives_may_be_below_it() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path());
        let run: RunId = IdMaker::default().next(Millis(1), 2);
        fs::create_dir(home.live()).unwrap();
        let lock = Exclusive::try_acquire(&home.live_run(run)).unwrap().unwrap();
        let me = Identity::current();
        lock.write(&serde_json::to_vec(&me).unwrap()).unwrap();
        assert_eq!(look(&home, &[("HOME", "/x")]), Position::Outside);
        assert!(!is_hidden(&home), "one that is in sight is not above");
        let first = Identity::of(1).map_or(0, |first| first.start);
        let Some(start) = first.checked_sub(1) else { return };
        let unseen = Identity { start, ..me };
        lock.write(&serde_json::to_vec(&unseen).unwrap()).unwrap();
        assert!(is_hidden(&home));
        assert_eq!(Position::Hidden.check().unwrap_err().code, Code::NotYours);
        drop(lock);
        assert!(!is_hidden(&home), "its keeper is gone");
    }

    /// Otherwise a process of an agent could connect to a terminal, type, and end before anybody looks.
    #[test]
    fn whoever_is_gone_counts_as_inside() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path());
        assert!(!is_inside(&home, i32::try_from(std::process::id()).unwrap()));
        assert!(is_inside(&home, i32::MAX), "no process has this id");
    }

    #[test]
    fn whoever_names_a_run_or_its_door_is_inside() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path());
        let run: RunId = IdMaker::default().next(Millis(1), 2);
        assert!(!look(&home, &[("FLEET_HOME", "/x")]).is_inside());
        let door = Some("/d".into());
        assert_eq!(look(&home, &[("FLEET_DOOR", "/d")]), Position::Inside { door });
        let problem = || Problem::new(Code::ConfigInvalid, "HOME is not set");
        let without =
            |pairs: &[(&str, &str)]| without_home(&Environment::from_pairs(pairs.iter().copied()), problem());
        assert_eq!(without(&[("PATH", "/bin")]).unwrap_err().code, Code::ConfigInvalid);
        assert!(without(&[("FLEET_RUN", "r1")]).is_ok(), "the run counts before the home");
        for claim in ["nonsense", &run.to_string()] {
            let found = look(&home, &[("FLEET_RUN", claim)]);
            assert_eq!(found, Position::Inside { door: None }, "{claim}");
            assert_eq!(found.check().unwrap_err().code, Code::NotYours);
        }
    }
}
