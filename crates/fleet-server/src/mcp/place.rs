//! Which repository a call is about.

use std::path::PathBuf;

use fleet_core::id::ProjectId;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::escaped;
use fleet_engine::Engine;
use fleet_engine::verbs::{lineage, project_list};

/// What a call can do about it.
const REPOSITORY: &str = "name the absolute path of a git repository, or of a folder in one";

/// The verbs' common ground, seen from the repository of a path.
pub(super) fn repository(engine: &Engine, path: &str) -> Outcome<Engine> {
    let path = match path.strip_prefix("~/") {
        Some(rest) => engine.environment().user_home()?.join(rest),
        None => PathBuf::from(path),
    };
    let shown = escaped(&path.to_string_lossy()).into_owned();
    if !path.is_absolute() {
        let problem = Problem::new(Code::InvalidValue, format!("\"{shown}\" is not absolute"));
        return Err(named(problem.hint("name the whole path, from / on")));
    }
    if !path.exists() {
        return Err(named(Problem::new(Code::NotARepository, format!("\"{shown}\" does not exist"))));
    }
    engine.at(path).map_err(named)
}

/// The same; where no path is named, from the repository in which the server was started.
pub(super) fn repository_or_own(engine: &Engine, path: Option<&str>) -> Outcome<Engine> {
    match path {
        Some(path) => repository(engine, path),
        None => engine.back().map_err(|problem| match problem.code {
            Code::NotARepository => Problem::new(
                Code::NotARepository,
                "repo_path: it is needed here, because the server was not started in a repository",
            )
            .hint(REPOSITORY),
            _ => named(problem),
        }),
    }
}

/// The same for those who look at a backlog; nowhere in particular for what is about all repositories. An agent looks at
/// the backlog of its own, where it has to avoid the work of others.
pub(super) async fn backlog(engine: &Engine, path: Option<&str>, all: bool) -> Outcome<Engine> {
    let own = lineage::own_project(engine).await?;
    if all {
        return match own {
            Some(_) => Err(lineage::elsewhere("all_repositories")),
            None => Ok(engine.nowhere()),
        };
    }
    let here = match own.filter(|_| path.is_none()) {
        Some(own) => home(engine, own).await?,
        None => repository_or_own(engine, path)?,
    };
    if own.is_some() && here.known_project().await?.map(|project| project.id) != own {
        return Err(lineage::elsewhere("repo_path"));
    }
    Ok(here)
}

/// The verbs' common ground, seen from a project.
async fn home(engine: &Engine, project: ProjectId) -> Outcome<Engine> {
    let known = project_list::run(engine).await?.into_iter().find(|known| known.id == project);
    let lost = || Problem::new(Code::Internal, "the project of the run was lost on the way");
    engine.at(known.ok_or_else(lost)?.path).map_err(named)
}

fn named(problem: Problem) -> Problem {
    let message = format!("repo_path: {}", problem.message);
    match problem.code {
        // What helps on the command line does not help here.
        Code::NotARepository => Problem::new(Code::NotARepository, message).hint(REPOSITORY),
        _ => Problem { message, ..problem },
    }
}
