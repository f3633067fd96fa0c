//! Runs a tiny real task with an agent, from the queue to a committed branch, and says what works.
//!
//! Everything takes place in a folder that is made for it: a scratch repository, and a home with the user's own settings
//! of agents. Must never touch the user's queue, repositories or home, and leaves nothing behind.

mod report;
mod stage;

use std::time::Duration;

use fleet_agents::{About, Program};
use fleet_core::id::TaskId;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::run::Reason;
use serde::Serialize;

pub use stage::Stage;

use super::agents_show::find;
use super::follow::Follow;
use super::task_add;
use crate::agents::{self, LoginState};
use crate::runner::start_in_background;
use crate::{Engine, clock};

/// Which agent, and how.
#[derive(Debug, Clone)]
pub struct Request {
    /// The agent.
    pub agent: String,
    /// The model; `None` is the configured one.
    pub model: Option<String>,
    /// How long it may take.
    pub patience: Duration,
}

/// How a step went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// As it should be.
    Good,
    /// It works without, but something is missing.
    Warning,
    /// It does not work.
    Bad,
}

/// One thing that was looked at.
#[derive(Debug, Clone, Serialize)]
pub struct Step {
    /// What.
    pub name: &'static str,
    /// How it went.
    pub verdict: Verdict,
    /// What was seen.
    pub detail: String,
}

impl Step {
    fn new(name: &'static str, verdict: Verdict, detail: impl Into<String>) -> Self {
        Self { name, verdict, detail: detail.into() }
    }
}

/// What works.
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    /// The agent.
    pub agent: String,
    /// The model that it was told to use; null is the agent's own default.
    pub model: Option<String>,
    /// Whether it did the task.
    pub ok: bool,
    /// Why it did not.
    pub reason: Option<Reason>,
    /// In the order in which they happen.
    pub steps: Vec<Step>,
    /// What to do next, if it did not.
    pub next: Vec<String>,
    /// How long it took.
    pub seconds: f64,
}

/// The file that is asked for, and what is to be in it.
pub(super) const FILE: &str = "hello.txt";
pub(super) const LINE: &str = "Hello from codefleet";

/// What the agent is asked for.
const TASK: &str = "Create a file called hello.txt in the root of this repository. It holds exactly one line:\n\n\
    Hello from codefleet\n\nCommit it. Change nothing else.";

/// For the agent that is a part of codefleet and does nothing but what a script says.
const SCRIPT: &str = "```demo\nsay I will write the file.\nwrite hello.txt Hello from codefleet\n\
    commit Say hello\nusage 900 60 0.004\nsay It is written.\n```";

/// Without any change it is looked so often.
const LOOK: Duration = Duration::from_secs(1);

/// Runs the task on the stage. The caller clears it, however this ends.
pub async fn run(stage: &Stage, request: &Request) -> Outcome<Response> {
    let (engine, began) = (stage.engine(), clock::uptime());
    let about = find(engine, &request.agent)?.about();
    let mut steps = here(engine, &request.agent, &about).await?;
    if steps.iter().any(|step| step.verdict == Verdict::Bad) {
        return Ok(Response {
            agent: request.agent.clone(),
            model: request.model.clone(),
            ok: false,
            reason: Some(Reason::AgentMissing),
            steps,
            next: vec![format!("install it: {}", about.install)],
            seconds: 0.0,
        });
    }
    let task = add(engine, request, &about).await?;
    start_in_background(engine, Some(1)).await?.ok();
    let is_over = follow(engine, task, request.patience).await?;
    let seen = report::look(engine, task).await?;
    steps.extend(report::steps(&seen, is_over, request.patience));
    let ok = steps.iter().all(|step| step.verdict != Verdict::Bad);
    let reason = seen.run.as_ref().and_then(|run| run.reason);
    // A sign of a login is not yet a login.
    if let Some(login) = steps.iter_mut().find(|step| step.name == "login" && reason == Some(Reason::Auth)) {
        *login = Step::new("login", Verdict::Bad, "refused by its provider");
    }
    Ok(Response {
        agent: request.agent.clone(),
        model: seen.run.as_ref().and_then(|run| run.model.clone()),
        ok,
        reason: reason.filter(|_| !ok),
        next: if ok { Vec::new() } else { report::next(&request.agent, &about, reason) },
        steps,
        seconds: clock::uptime().saturating_sub(began).as_secs_f64(),
    })
}

/// Whether it could work at all.
async fn here(engine: &Engine, name: &str, about: &About) -> Outcome<Vec<Step>> {
    let installed = agents::look(engine, &[(name.to_owned(), about.clone())]).await.pop().flatten();
    let Some(installed) = installed else {
        let program = match &about.program {
            Program::This => "codefleet itself".to_owned(),
            Program::OnPath(program) => format!("`{program}`"),
        };
        return Ok(vec![Step::new("installed", Verdict::Bad, format!("{program} is not on the PATH"))]);
    };
    let path = installed.path.display();
    let installed = match &installed.version {
        Ok(version) => Step::new("installed", Verdict::Good, format!("{version}, {path}")),
        Err(why) => {
            Step::new("installed", Verdict::Warning, format!("{path} does not tell its version: {why}"))
        }
    };
    let login = agents::login(engine, name, about)?;
    let login = match login.state {
        LoginState::NotNeeded => Step::new("login", Verdict::Good, "not needed"),
        LoginState::Unknown => Step::new("login", Verdict::Good, "cannot be seen from outside"),
        LoginState::Yes => Step::new("login", Verdict::Good, login.sign.unwrap_or_default()),
        LoginState::NoSign => Step::new("login", Verdict::Warning, format!("no sign of it: {}", about.login)),
    };
    Ok(vec![installed, login])
}

async fn add(engine: &Engine, request: &Request, about: &About) -> Outcome<TaskId> {
    let script = if about.program == Program::This { format!("\n\n{SCRIPT}") } else { String::new() };
    let request = task_add::Request {
        title: format!("Create {FILE}"),
        description: Some(format!("{TASK}{script}")),
        agent: Some(request.agent.clone()),
        model: request.model.clone(),
        retries: Some(0),
        limits: vec![format!("time={}s", request.patience.as_secs().max(1))],
        ..Default::default()
    };
    task_add::run(engine, request).await.map(|task| task.id)
}

/// Whether the task came to its end in time.
async fn follow(engine: &Engine, task: TaskId, patience: Duration) -> Outcome<bool> {
    let (follow, began) = (Follow::start(engine, vec![task]).await?, clock::uptime());
    // The keeper stops the agent at its limit, and needs a moment to see to what is left.
    let patience = patience + Duration::from_secs(30);
    loop {
        let tasks = follow.look().await?;
        let task = tasks.first().ok_or_else(|| Problem::new(Code::Internal, "the task is gone"))?;
        if task.is_over() {
            return Ok(true);
        }
        if clock::uptime().saturating_sub(began) >= patience {
            return Ok(false);
        }
        follow.changed(LOOK).await;
    }
}
