//! Runs a tiny real task with an agent, from the queue to a committed branch, and says what works.
//!
//! Everything takes place in a folder that is made for it: a scratch repository, and a home with the user's own settings
//! of agents. Must never touch the user's queue, repositories or home, and leaves nothing behind.

mod report;
mod stage;

use std::time::Duration;

use fleet_agents::{About, Program};
use fleet_api::TaskFields;
use fleet_api::verbs::agents_list::LoginState;
use fleet_api::verbs::agents_test::{Answer, Request, TestStep};
use fleet_api::verbs::doctor::CheckVerdict;
use fleet_api::verbs::task_wait::Request as Wait;
use fleet_core::run::Reason;

use super::agents_show::find;
use super::prelude::*;
use super::{task_add, task_wait};
use crate::agents;
use crate::runner::start_in_background;

/// The file that is asked for, and what is to be in it.
pub(super) const FILE: &str = "hello.txt";
pub(super) const LINE: &str = "Hello from codefleet";

const TASK: &str = "Create a file called hello.txt in the root of this repository. It holds exactly one line:\n\n\
    Hello from codefleet\n\nCommit it. Change nothing else.";

/// For the agent that is a part of codefleet and does nothing but what a script says.
const SCRIPT: &str = "```demo\nsay I will write the file.\nwrite hello.txt Hello from codefleet\n\
    commit Say hello\nusage 900 60 0.004\nsay It is written.\n```";

/// How often the run is checked without a change.
const POLL_SECONDS: u32 = 1;

/// Runs the task. The playground is removed when this is dropped, also on Ctrl-C.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let playground = stage::build(engine)?;
    let ran = run_task(playground.engine(), &request).await;
    let dir = request.keep.then(|| playground.dir().display().to_string());
    let ended = if request.keep { playground.keep().await } else { playground.clear().await };
    let answer = ran?;
    Ok(Answer { kept: ended.map(|()| dir)?, ..answer })
}

fn step(name: &str, verdict: CheckVerdict, detail: impl Into<String>) -> TestStep {
    TestStep { name: name.to_owned(), verdict, detail: detail.into() }
}

async fn run_task(engine: &Engine, request: &Request) -> Outcome<Answer> {
    let began = clock::uptime();
    let about = find(engine, &request.agent)?.about();
    let mut steps = here(engine, &request.agent, &about).await?;
    if steps.iter().any(|step| step.verdict == CheckVerdict::Bad) {
        return Ok(Answer {
            agent: request.agent.clone(),
            model: request.model.clone(),
            ok: false,
            reason: Some(Reason::AgentMissing),
            steps,
            next: vec![format!("install it: {}", about.install)],
            seconds: 0.0,
            kept: None,
        });
    }
    let patience = Duration::from_secs(request.seconds.max(1));
    let task = add(engine, request, &about).await?;
    start_in_background(engine, Some(1)).await?.ok();
    let is_over = follow(engine, task, patience).await?;
    let seen = report::look(engine, task).await?;
    steps.extend(report::steps(&seen, is_over, patience));
    let ok = steps.iter().all(|step| step.verdict != CheckVerdict::Bad);
    let reason = seen.run.as_ref().and_then(|run| run.reason);
    // A sign of a login is not yet a login.
    if let Some(login) = steps.iter_mut().find(|step| step.name == "login" && reason == Some(Reason::Auth)) {
        *login = step("login", CheckVerdict::Bad, "refused by its provider");
    }
    Ok(Answer {
        agent: request.agent.clone(),
        model: seen.run.as_ref().and_then(|run| run.model.clone()),
        ok,
        reason: reason.filter(|_| !ok),
        next: if ok { Vec::new() } else { report::next(&request.agent, &about, reason) },
        steps,
        seconds: clock::uptime().saturating_sub(began).as_secs_f64(),
        kept: None,
    })
}

/// Whether it could work at all.
async fn here(engine: &Engine, name: &str, about: &About) -> Outcome<Vec<TestStep>> {
    let installed = agents::look(engine, &[(name.to_owned(), about.clone())]).await.pop().flatten();
    let Some(installed) = installed else {
        let program = match &about.program {
            Program::This => "codefleet itself".to_owned(),
            Program::OnPath(program) => format!("`{program}`"),
        };
        return Ok(vec![step("installed", CheckVerdict::Bad, format!("{program} is not on the PATH"))]);
    };
    let path = installed.path.display();
    let installed = match &installed.version {
        Ok(version) => step("installed", CheckVerdict::Good, format!("{version}, {path}")),
        Err(why) => {
            step("installed", CheckVerdict::Warning, format!("{path} does not report its version: {why}"))
        }
    };
    let login = agents::login(engine, name, about)?;
    let login = match login.state {
        LoginState::NotNeeded => step("login", CheckVerdict::Good, "not needed"),
        LoginState::Unknown => step("login", CheckVerdict::Good, "cannot be checked from outside"),
        LoginState::Yes => step("login", CheckVerdict::Good, login.sign.unwrap_or_default()),
        LoginState::NoSign => step("login", CheckVerdict::Warning, format!("not detected: {}", about.login)),
    };
    Ok(vec![installed, login])
}

async fn add(engine: &Engine, request: &Request, about: &About) -> Outcome<TaskId> {
    let script = if about.program == Program::This { format!("\n\n{SCRIPT}") } else { String::new() };
    let request = fleet_api::verbs::task_add::Request {
        title: format!("Create {FILE}"),
        fields: TaskFields {
            description: Some(format!("{TASK}{script}")),
            agent: Some(request.agent.clone()),
            model: request.model.clone(),
            retries: Some(0),
            limits: vec![format!("time={}s", request.seconds.max(1))],
            ..Default::default()
        },
        ..Default::default()
    };
    task_add::add(engine, request).await.map(|(task, _)| task.id)
}

async fn follow(engine: &Engine, task: TaskId, patience: Duration) -> Outcome<bool> {
    let began = clock::uptime();
    // The keeper stops the agent at its limit, and needs a moment to see to what is left.
    let patience = patience + Duration::from_secs(30);
    let mut request =
        Wait { ids: vec![task.to_string()], wait_seconds: Some(POLL_SECONDS), ..Wait::default() };
    loop {
        let seen = task_wait::run(engine, request.clone()).await?;
        let task = seen.tasks.first().ok_or_else(|| Problem::new(Code::Internal, "the task is gone"))?;
        if task.is_over() {
            return Ok(true);
        }
        if clock::uptime().saturating_sub(began) >= patience {
            return Ok(false);
        }
        request.after = Some(seen.next);
    }
}
