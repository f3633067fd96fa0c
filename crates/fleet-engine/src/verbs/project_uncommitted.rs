use std::time::Duration;

use fleet_api::verbs::project_uncommitted::{Answer, Request};
use fleet_host::git::{self, Checkout, Repository};

use super::prelude::*;

/// How long a launch may wait to learn which changes are not included.
const STATUS_TIMEOUT: Duration = Duration::from_millis(200);

/// Looks at the checkout of the directory.
pub(crate) async fn run(engine: &Engine, _: Request) -> Outcome<Answer> {
    Ok(Answer { files: count(engine).await })
}

async fn count(engine: &Engine) -> Option<usize> {
    let Repository { work_tree, git_dir, common_dir } = engine.repository().ok()?.clone();
    if engine.surrounding().is_some() {
        // Git must not be let loose in what an agent may have put there.
        return None;
    }
    let checkout = Checkout { work_tree: work_tree?, git_dir, common_dir };
    blocking(move || git::uncommitted(&checkout, STATUS_TIMEOUT)).await.ok()?.filter(|number| *number > 0)
}
