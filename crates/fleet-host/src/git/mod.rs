//! Git repositories of this machine.
//!
//! Owns how a repository is found, how git is run, the workspaces of runs, their snapshots, what is committed for them
//! and what they changed. Must never change a repository that the caller did not name, and never what a person or an
//! agent has checked out, staged or written.

mod alternates;
mod capture;
mod checkout;
mod command;
mod commit;
mod config;
mod discover;
mod error;
mod evidence;
mod files;
mod foreign;
mod gitdir;
mod held;
mod landed;
mod loose;
mod merge;
mod named;
mod new_entries;
mod objects;
mod oid;
mod pack_index;
mod personal;
mod publish;
mod random;
mod refs;
mod refused_files;
mod retries;
mod snapshot;
mod stamp;
mod temporary;
mod vault;
mod version;
mod workspace;

pub use capture::{Skipped, SkippedWhy, Skips};
pub use checkout::Checkout;
pub use commit::{CommitAndSnapshot, CommitLeftovers, Leftovers, commit_and_snapshot};
pub use discover::{DiscoverError, Repository, discover};
pub use error::GitError;
pub use evidence::{
    Changes, CommitLine, DiffColor, DiffStyle, FileChange, FileStatus, changes, changes_of_one, diff,
    tracked_among, uncommitted,
};
pub use held::Holds;
pub use landed::{Branch, LandingTarget, branches, differing_files, has_work, landings, not_landed, trees};
pub use merge::{ListedPaths, Merge, MergeCheck, merge_commits, merge_tree, touched_files, with_markers};
pub use named::{ExistingBranch, NamedBranch, ahead_of_main, find_branch};
pub use oid::{Oid, OidError};
pub use personal::clone_for_person;
pub use publish::{Compression, NotPublished, Publish, Published, publish, sweep_keeps};
pub use refs::{
    branch_commit, branch_conflict, check_safe, checked_out_at, delete_branch, has_commit,
    has_commit_at_hand, head_commit, is_ancestor, resolve_commit, root_commit, share_history,
};
pub use snapshot::{
    KeepCommits, Snapshot, StoredSnapshot, TakeSnapshot, drop_snapshots, keep_commit, keep_commits,
    list_snapshots, restore_branch, take_snapshot, take_snapshot_of_rest, unnamed_snapshot,
};
pub use vault::{check_vault, open_vault, tidy_vault};
pub use version::version;
pub use workspace::{
    Area, Collected, CommitMarks, Emptied, KeepFiles, OccupiedSlot, OpenRequest, OtherWork, Pace,
    SeenWorkspace, Slot, SlotState, StartAt, Surrounding, Untouched, Workspace, WorkspaceError, empty_trash,
    move_to_trash, surrounding,
};
