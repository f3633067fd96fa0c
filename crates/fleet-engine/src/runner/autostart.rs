//! Starting the runner in the background.

use std::ffi::OsString;
use std::time::Duration;

use fleet_core::problem::{Code, Outcome, Problem};
use fleet_host::process::{self, Detached};

use super::registry::{self, Runner};
use crate::caller::is_inside_a_run;
use crate::environment::Environment;
use crate::home::{Home, make_private};
use crate::{Engine, problems};

/// How long a runner may take to start before the user should look at its log.
const START_TIMEOUT: Duration = Duration::from_secs(15);

/// After work was queued: starts the runner in the background when none is up and the user did not forbid it. Does
/// not wait for it; two that start at once are no problem, because the second ends at once.
pub fn autostart(engine: &Engine) -> Outcome<bool> {
    let home = engine.home();
    // What an agent starts ends with its run; and the runner of the agent serves this, too.
    if !engine.config()?.general().autostart || !up(home)?.is_empty() || is_inside_a_run(engine)? {
        return Ok(false);
    }
    // A command that follows its work comes here often: a runner that cannot come up must not leave dead children
    // behind.
    process::reap();
    spawn(engine, home, &[])?;
    Ok(true)
}

/// Starts the runner in the background and waits until it is up. `Err` of the one that is up already.
pub async fn start_in_background(engine: &Engine, slots: Option<u32>) -> Outcome<Result<Runner, Runner>> {
    engine.check_outside()?;
    let home = engine.home();
    if let Some(runner) = up(home)?.into_iter().find(|runner| runner.background) {
        return Ok(Err(runner));
    }
    // It will not stand in a repository, and this one does.
    engine.join_project().await;
    let slots = slots.map(|slots| slots.to_string());
    let args: Vec<&str> = slots.iter().flat_map(|slots| ["--slots", slots]).collect();
    spawn(engine, home, &args)?;
    let step = Duration::from_millis(5);
    let mut waited = Duration::ZERO;
    while waited < START_TIMEOUT {
        if let Some(runner) = up(home)?.into_iter().find(|runner| runner.background) {
            return Ok(Ok(runner));
        }
        tokio::time::sleep(step).await;
        waited += step;
    }
    if let Some(runner) = registry::in_background(home)? {
        return Ok(Err(runner));
    }
    Err(Problem::new(Code::Io, "the runner did not come up")
        .hint(format!("look at {}", home.runner_log().display()))
        .hint("`fleet run` runs it in the foreground"))
}

/// Those that a new one would be one too many beside.
fn up(home: &Home) -> Outcome<Vec<Runner>> {
    registry::taking_tasks(home)
}

fn spawn(engine: &Engine, home: &Home, args: &[&str]) -> Outcome<()> {
    make_private(home.root()).map_err(problems::at(home.root()))?;
    let mut all: Vec<OsString> = vec!["run".into(), "--background".into()];
    all.extend(args.iter().map(OsString::from));
    let runner = Detached {
        program: Environment::this_binary()?,
        args: all,
        env: Some(engine.environment_for_children()),
        cwd: home.root().to_owned(),
        log: home.runner_log(),
    };
    process::spawn_detached(&runner)
        .map(drop)
        .map_err(|error| Problem::new(Code::Io, format!("the runner could not be started: {error}")))
}
