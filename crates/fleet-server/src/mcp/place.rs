//! Which repository a call is about.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fleet_api::verbs::project_list;
use fleet_api::{Answering, Client, Question};
use fleet_core::id::ProjectId;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::escaped;

use super::call::Call;

/// What a call can do about it.
const REPOSITORY: &str = "name the absolute path of a git repository, or of a folder in one";

/// A client whose questions are about one repository.
pub(super) struct RepoClient<'c> {
    call: &'c Call,
    at: Option<PathBuf>,
    is_named: bool,
}

impl<'c> RepoClient<'c> {
    /// The repository of a path; the one in which the server was started, if none is named.
    pub(super) fn of(call: &'c Call, path: Option<&str>) -> Outcome<Self> {
        let Some(path) = path else {
            return Ok(Self { call, at: call.directory.clone(), is_named: false });
        };
        let at = match &call.directory {
            _ if Path::new(path).is_absolute() || path.starts_with("~/") => path.into(),
            Some(directory) => directory.join(path),
            None => {
                let message = format!("\"{}\" is not absolute", escaped(path));
                return Err(Problem::field("repo_path", message).hint("use an absolute path"));
            }
        };
        if !path.starts_with('~') && !at.exists() {
            let message = format!("Repo path does not exist: {}", escaped(&at.to_string_lossy()));
            return Err(Problem { code: Code::NotARepository, ..Problem::field("repo_path", message) }
                .hint(REPOSITORY));
        }
        Ok(Self { call, at: Some(at), is_named: true })
    }

    /// The same; no repository in particular, for what is about all of them.
    pub(super) fn of_backlog(call: &'c Call, path: Option<&str>, all: bool) -> Outcome<Self> {
        if all { Ok(Self { call, at: None, is_named: false }) } else { Self::of(call, path) }
    }

    /// What helps on the command line does not help here.
    fn in_our_words(&self, problem: Problem) -> Problem {
        if problem.code != Code::NotARepository {
            return problem;
        }
        let message = match &self.at {
            Some(at) if self.is_named => format!("Not a git repository: {}", escaped(&at.to_string_lossy())),
            _ => "it is needed here, because the server was not started in a repository".to_owned(),
        };
        Problem { code: Code::NotARepository, ..Problem::field("repo_path", message) }.hint(REPOSITORY)
    }
}

impl Client for RepoClient<'_> {
    fn ask(&self, question: Question) -> Answering<'_> {
        let asked = self.call.ask(Question { at: self.at.clone(), ..question });
        Box::pin(async move { asked.await.map_err(|problem| self.in_our_words(problem)) })
    }
}

pub(super) async fn paths(client: &dyn Client) -> Outcome<BTreeMap<ProjectId, PathBuf>> {
    let known = fleet_api::call(client, None, &project_list::Request::default()).await?.projects;
    Ok(known.into_iter().map(|project| (project.id, project.path)).collect())
}
