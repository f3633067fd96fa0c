mod here;
mod space;
mod vaults;

use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;

use fleet_api::verbs::doctor::{Answer, CheckVerdict, DoctorCheck, Request};
use fleet_api::verbs::trust_show::WishesView;
use fleet_core::task::AgentName;
use fleet_store::StoreUrl;

use super::prelude::*;
use super::trust_show;
use crate::config::Origin;
use crate::runner;

/// Looks at everything; a check that fails never hides the next one.
pub(crate) async fn run(engine: &Engine, _: Request) -> Outcome<Answer> {
    let mut checks = vec![home(engine)];
    checks.extend(config(engine));
    checks.push(repository(engine));
    checks.extend(trusted(engine));
    checks.push(git());
    checks.extend(agents(engine));
    let store = store(engine).await;
    let answers = store.iter().all(|check| check.verdict != CheckVerdict::Bad) && is_there(engine);
    checks.extend(store);
    if answers {
        checks.push(space::check(engine).await);
        checks.extend(vaults::checks(engine).await);
        checks.extend(here::checks(engine).await);
    }
    let healthy = checks.iter().all(|check| check.verdict != CheckVerdict::Bad);
    Ok(Answer { checks, healthy })
}

fn home(engine: &Engine) -> DoctorCheck {
    let home = engine.home().root();
    let found = match std::fs::metadata(home) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return DoctorCheck::good("home", format!("{} (created when first needed)", home.display()));
        }
        Err(error) => {
            let problem = Problem::new(Code::Io, format!("{} cannot be used: {error}", home.display()));
            return DoctorCheck::bad(
                "home",
                problem.hint("set `FLEET_HOME` to a folder that you can write to"),
            );
        }
    };
    if !found.is_dir() {
        let problem = Problem::new(Code::Io, format!("{} is not a folder", home.display()));
        return DoctorCheck::bad("home", problem.hint("set `FLEET_HOME` to a folder"));
    }
    let open = found.permissions().mode() & 0o077;
    if open != 0 {
        let detail = format!(
            "{} can be read by others (mode {:o})",
            home.display(),
            found.permissions().mode() & 0o777
        );
        return DoctorCheck::warning("home", detail, format!("`chmod 700 {}`", home.display()));
    }
    DoctorCheck::good("home", home.display().to_string())
}

fn config(engine: &Engine) -> Vec<DoctorCheck> {
    let report = engine.check_config();
    let mut checks: Vec<DoctorCheck> =
        report.problems.into_iter().map(|problem| DoctorCheck::bad("config", problem)).collect();
    for warning in report.warnings {
        checks.push(DoctorCheck::warning(
            "config",
            warning,
            "`fleet config show --show-origin` shows what is in force",
        ));
    }
    if checks.is_empty() {
        let files = report.files;
        let detail = if files.is_empty() { "no files, all defaults".to_owned() } else { files.join(", ") };
        checks.push(DoctorCheck::good("config", detail));
    }
    checks
}

fn repository(engine: &Engine) -> DoctorCheck {
    match engine.repository() {
        Ok(repository) => DoctorCheck::good("project", repository.common_dir.display().to_string()),
        Err(problem) => {
            DoctorCheck::warning("project", problem.to_string(), "change into a git repository to work on it")
        }
    }
}

/// Nothing when the repository wants nothing that needs consent; another check reports errors of the configuration.
fn trusted(engine: &Engine) -> Option<DoctorCheck> {
    if engine.repository().is_err() || engine.config().is_err() {
        return None;
    }
    match trust_show::wishes(engine, None).and_then(|asked| trust_show::judged(engine, &asked)) {
        Ok(status) if status.asked.is_empty() => None,
        Ok(status) if status.trusted => {
            Some(DoctorCheck::good("trust", "you approved what this project requests"))
        }
        Ok(status) => {
            Some(DoctorCheck::warning("trust", unused(&status.asked), "`fleet trust` shows it, and asks"))
        }
        Err(problem) => Some(DoctorCheck::bad("trust", problem)),
    }
}

/// Settings keep tasks from running until the user agrees, files only keep agents from using them.
fn unused(asked: &WishesView) -> &'static str {
    if asked.commands.is_empty() {
        "files of this project for agents are not used until you approve them"
    } else {
        "what this project requests is not done until you approve it"
    }
}

fn git() -> DoctorCheck {
    match fleet_host::git::version() {
        Ok(version) => DoctorCheck::good("git", version),
        Err(error) => {
            let problem = Problem::new(Code::Io, format!("git cannot be started: {error}"));
            DoctorCheck::bad("git", problem.hint("install git"))
        }
    }
}

/// Whether tasks that name no agent can be done here; another check reports errors of the configuration.
fn agents(engine: &Engine) -> Option<DoctorCheck> {
    let agent = engine.config().ok()?.agent();
    let here = runner::able(engine).ok()?;
    let names: Vec<&str> = here.iter().map(AgentName::as_str).collect();
    if names.contains(&agent) {
        return Some(DoctorCheck::good(
            "agents",
            format!("default agent: {agent}; available: {}", names.join(", ")),
        ));
    }
    let install =
        engine.agents().ok()?.find(agent).map(|adapter| format!("to get it: {}", adapter.about().install));
    let how = other_agent(&engine.config().ok()?.get("agent").ok()?.origin);
    let mut check = DoctorCheck::warning(
        "agents",
        format!("the default agent {agent} cannot be started here"),
        format!("choose another one ({}): {how}", names.join(", ")),
    );
    check.hints.extend(install);
    Some(check)
}

/// How to change the default agent: a setting outside the user's own file overrides that file.
pub(crate) fn other_agent(said_by: &Origin) -> String {
    match said_by {
        Origin::Default | Origin::User { .. } => "`fleet config set agent NAME`".to_owned(),
        Origin::Project { .. } => {
            format!("the project sets it ({said_by}): `fleet config set agent NAME --in-project`")
        }
        Origin::Environment { variable } => format!("the variable {variable} sets it"),
        Origin::Flag => "`--config` sets it".to_owned(),
    }
}

/// Whether there is a store to ask; looking must not make one.
pub(crate) fn is_there(engine: &Engine) -> bool {
    match engine.store_url() {
        Ok(StoreUrl::Sqlite(path)) => path.exists(),
        Ok(StoreUrl::Postgres(_)) => true,
        Err(_) => false,
    }
}

async fn store(engine: &Engine) -> Vec<DoctorCheck> {
    if engine.config().is_err() {
        return vec![DoctorCheck::warning("store", "not looked at", "fix the configuration first")];
    }
    if let Ok(StoreUrl::Sqlite(path)) = engine.store_url()
        && matches!(path.try_exists(), Ok(false))
    {
        return vec![DoctorCheck::good("store", format!("{} (created when first needed)", path.display()))];
    }
    let store = match engine.store().await {
        Ok(store) => store,
        Err(problem) => return vec![DoctorCheck::bad("store", problem)],
    };
    let described = match store.describe().await {
        Ok(detail) => DoctorCheck::good("store", detail),
        Err(error) => DoctorCheck::bad("store", problems::store(error)),
    };
    let mut checks = vec![described];
    checks.extend(store.stopped_holder().map(|holder| locked(&holder)));
    let damage = match store.check().await {
        Ok(findings) => findings,
        Err(error) => vec![error.to_string()],
    };
    checks.extend(damage.into_iter().map(|finding| damaged(&finding)));
    match store.call(ops::Audit).await {
        Ok(findings) if findings.is_empty() => {
            checks.push(DoctorCheck::good("consistency", "no contradictions"));
        }
        Ok(findings) => checks.extend(findings.into_iter().map(contradiction)),
        Err(error) => checks.push(DoctorCheck::bad("consistency", problems::store(error))),
    }
    checks
}

fn locked(holder: &str) -> DoctorCheck {
    let problem = Problem::new(Code::StoreBusy, format!("the store is locked: {holder}"));
    DoctorCheck::bad("store", problem)
}

fn damaged(finding: &str) -> DoctorCheck {
    let problem = Problem::new(Code::StoreCorrupt, finding);
    DoctorCheck::bad("store", problem.hint("copy the store's file away, then put a backup in its place"))
}

fn contradiction(finding: String) -> DoctorCheck {
    let problem = Problem::new(Code::Internal, finding);
    DoctorCheck::bad("consistency", problem.hint("this is a defect of codefleet: please report it"))
}
