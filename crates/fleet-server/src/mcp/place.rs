//! Which repository a call is about.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fleet_api::verbs::project_list;
use fleet_core::id::ProjectId;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::escaped;
use fleet_engine::Engine;

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
/// the backlog of its own, which its keeper knows.
pub(super) fn backlog(engine: &Engine, path: Option<&str>, all: bool) -> Outcome<Engine> {
    if all || (path.is_none() && engine.is_inside_a_run()) {
        return Ok(engine.nowhere());
    }
    repository_or_own(engine, path)
}

/// Where the repositories are.
pub(super) async fn paths(engine: &Engine) -> Outcome<BTreeMap<ProjectId, PathBuf>> {
    let known = fleet_api::call(engine, None, &project_list::Request::default()).await?.projects;
    Ok(known.into_iter().map(|project| (project.id, project.path)).collect())
}

fn named(problem: Problem) -> Problem {
    let hints = match problem.code {
        // What helps on the command line does not help here.
        Code::NotARepository => vec![REPOSITORY.to_owned()],
        _ => problem.hints,
    };
    Problem { field: Some("repo_path".to_owned()), hints, ..problem }
}
