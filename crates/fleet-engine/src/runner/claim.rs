//! Claiming tasks, and starting a keeper for each.

use std::collections::BTreeSet;
use std::time::Duration;

use fleet_agents::{About, Program};
use fleet_core::id::RunId;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::task::AgentName;
use fleet_host::process::{self, Detached};
use fleet_host::resources;
use fleet_store::ops;

use super::registry::Registered;
use super::{ActiveRunner, KeptRun, RunnerNotice, hand_over};
use crate::environment::Environment;
use crate::{Engine, agents, clock, problems};

/// At most this many tasks are claimed together; the rest follow at once.
const MAX_CLAIMS: usize = 32;
/// Ready tasks that cannot start here (no such agent or repository, a cap, a scope) are not tried again before this.
const CLAIM_RETRY_DELAY: Duration = Duration::from_millis(250);

impl ActiveRunner<'_> {
    pub(super) async fn claim(
        &mut self,
        (only, most): (ops::ClaimOnly, usize),
        tell: &mut dyn FnMut(RunnerNotice),
    ) -> Outcome<Vec<ops::Claimed>> {
        let engine = self.settings.engine(self.engine);
        let config = engine.config()?;
        let default_agent: AgentName = config.agent().parse().map_err(problems::field)?;
        // A look costs nothing, a claim locks the store; and whatever any agent says wakes the runner.
        let ready = ops::FirstReady { only, now: clock::now() };
        let is_too_early = self
            .claimed_nothing_at
            .is_some_and(|last| clock::uptime().saturating_sub(last) < CLAIM_RETRY_DELAY);
        if is_too_early {
            return Ok(Vec::new());
        }
        let (newer, ready) = self.engine.call(ops::Both(ops::NewerSchema, ready)).await?;
        if let Some(newer) = newer {
            self.retire(newer, tell);
            return Ok(Vec::new());
        }
        let Some(first) = ready else {
            self.unclaimed.is_over();
            if self.registered.runner.shortage.is_some() {
                self.registered.update(|runner| runner.shortage = None);
            }
            return Ok(Vec::new());
        };
        let wanted = most.min(MAX_CLAIMS);
        let Some(most) = admitted(engine, wanted, &mut self.registered, tell)? else { return Ok(Vec::new()) };
        let here = self.offer.projects(engine).await?;
        let runs = (0..most).map(|_| self.engine.new_id()).collect::<Outcome<Vec<RunId>>>()?;
        let claim = ops::Claim {
            runner: self.registered.runner.name.clone(),
            place: self.reconciler.place().to_owned(),
            runs,
            only,
            default_agent,
            able: Some(able(engine)?),
            projects: Some(here.clone()),
            accounts: agents::accounts(engine)?,
            caps: config.caps(),
            budget: agents::budget(config),
            lease: config.runner().lease,
            now: clock::now(),
        };
        let mut claimed = self.engine.call(claim.clone()).await?;
        let hands_over = claimed.is_empty() && only != ops::ClaimOnly::Interactive;
        if hands_over && hand_over::hand_over(engine, &here, most).await? > 0 {
            claimed = self.engine.call(ops::Claim { now: clock::now(), ..claim }).await?;
        }
        self.claimed_nothing_at = claimed.is_empty().then(clock::uptime);
        if !claimed.is_empty() {
            self.unclaimed.is_over();
        } else if self.unclaimed.is_worth_telling(clock::uptime()) {
            tell(RunnerNotice::Trouble(format!(
                "task {first} is ready and cannot start here: `fleet why {first}` says why"
            )));
        }
        Ok(claimed)
    }

    /// Gives the run to a keeper. When that fails the run is still ours.
    pub(super) fn start(&mut self, claim: &ops::Claimed, tell: &mut dyn FnMut(RunnerNotice)) -> Outcome<()> {
        let home = self.engine.home();
        let folder = home.run(claim.run.id);
        folder.make().map_err(problems::at(folder.dir()))?;
        let (run, slots) = (&claim.run, self.registered.runner.slots);
        let args = ["keeper".to_owned(), run.id.to_string(), run.attempt.to_string(), slots.to_string()];
        let keeper = Detached {
            program: Environment::this_binary()?,
            args: args.map(Into::into).into(),
            env: Some(self.engine.environment_for_children()),
            cwd: home.root().to_owned(),
            log: folder.keeper_log(),
        };
        let spawned = match self.relay.connect() {
            Some(socket) => process::spawn_connected(&keeper, socket),
            None => process::spawn_detached(&keeper),
        };
        let spawned = spawned
            .map_err(|error| Problem::new(Code::Io, format!("a keeper could not be started: {error}")))?;
        self.keepers.push(KeptRun { keeper: spawned, run: run.id, mode: run.mode });
        tell(RunnerNotice::Started {
            task: claim.task.id,
            title: claim.task.spec.title.to_string(),
            run: claim.run.id,
            agent: claim.run.agent.clone(),
        });
        Ok(())
    }
}

/// How many more agents the machine bears; none is told, once for each time.
fn admitted(
    engine: &Engine,
    wanted: usize,
    registered: &mut Registered,
    tell: &mut dyn FnMut(RunnerNotice),
) -> Outcome<Option<usize>> {
    let machine = resources::look(engine.home().root());
    match engine.config()?.admission().admitted(&machine, wanted) {
        Ok(most) => {
            registered.update(|runner| runner.shortage = None);
            Ok(Some(most))
        }
        Err(shortage) => {
            let since = registered.runner.shortage.as_ref().map(|(since, _)| *since);
            if since.is_none() {
                tell(RunnerNotice::Trouble(format!("no agent is started for now: {shortage}")));
            }
            let since = since.unwrap_or_else(clock::now);
            registered.update(|runner| runner.shortage = Some((since, shortage.to_string())));
            Ok(None)
        }
    }
}

/// Whether an agent can be started here.
pub fn can_start(engine: &Engine, agent: &str) -> Outcome<bool> {
    Ok(engine.agents()?.find(agent).is_some_and(|adapter| is_here(engine, &adapter.about())))
}

/// The agents that can be started here.
pub(crate) fn able(engine: &Engine) -> Outcome<BTreeSet<AgentName>> {
    let agents = engine.agents()?;
    let here = agents.all().filter(|adapter| is_here(engine, &adapter.about()));
    Ok(here.filter_map(|adapter| adapter.name().parse().ok()).collect())
}

fn is_here(engine: &Engine, about: &About) -> bool {
    match &about.program {
        Program::This => true,
        Program::OnPath(name) => engine.environment().find_program(name).is_some(),
    }
}
