//! Whether the agent may use a tool that it asks for.

use std::path::{Component, Path, PathBuf};

use agent_client_protocol_schema::v1::{
    PermissionOption, PermissionOptionKind as Kind, RequestPermissionOutcome, SelectedPermissionOutcome,
    ToolKind,
};

use super::calls::ToolCall;
use crate::adapter::{Brief, Trust};

/// Where an agent may write although it is not the workspace, because commands expect it.
const TEMPORARY: &[&str] = &["/tmp", "/private/tmp", "/var/folders"];

#[derive(Debug)]
pub(super) struct PermissionRules {
    trust: Trust,
    workspace: PathBuf,
    /// Where files may be changed.
    roots: Vec<PathBuf>,
}

impl PermissionRules {
    pub(super) fn new(brief: &Brief<'_>) -> Self {
        let own = [brief.workspace, brief.scratch].map(Path::to_owned);
        let temporary = TEMPORARY.iter().map(PathBuf::from);
        let roots = own.into_iter().chain(brief.git_dirs.iter().cloned()).chain(temporary).collect();
        Self { trust: brief.trust, workspace: brief.workspace.to_owned(), roots }
    }

    /// Why a call is not allowed; nothing if it is. What a command does cannot be seen from its words, so that only
    /// the tools that say which files they change are held to the workspace.
    pub(super) fn objection(&self, call: &ToolCall) -> Option<String> {
        let changes = matches!(call.kind, ToolKind::Edit | ToolKind::Delete | ToolKind::Move);
        match self.trust {
            Trust::Sandbox if changes => {
                let outside = call.files.iter().find(|file| !self.is_inside(Path::new(file)))?;
                Some(format!("`{outside}` is outside the workspace"))
            }
            Trust::Sandbox | Trust::Full => None,
            Trust::ReadOnly => {
                let looks = matches!(
                    call.kind,
                    ToolKind::Read | ToolKind::Search | ToolKind::Think | ToolKind::Fetch
                );
                (!looks).then(|| "this task may change nothing".to_owned())
            }
        }
    }

    fn is_inside(&self, file: &Path) -> bool {
        let file = plain(&self.workspace.join(file));
        self.roots.iter().any(|root| file.starts_with(root))
    }
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

/// The answer out of those that the agent offers: for this once, because what is allowed for good is no longer asked.
pub(super) fn answer(options: &[PermissionOption], is_allowed: bool) -> RequestPermissionOutcome {
    let wanted = if is_allowed {
        [Kind::AllowOnce, Kind::AllowAlways]
    } else {
        [Kind::RejectOnce, Kind::RejectAlways]
    };
    let chosen = wanted.iter().find_map(|kind| options.iter().find(|option| option.kind == *kind));
    match chosen {
        Some(option) => {
            RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option.option_id.clone()))
        }
        None => RequestPermissionOutcome::Cancelled,
    }
}
