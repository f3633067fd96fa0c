//! Errors of the layers below, turned into what people read and what they can do about it.
#![expect(clippy::needless_pass_by_value, reason = "made for `map_err`, which hands the error over")]

use std::path::Path;

use fleet_core::id::{IdError, TaskId, WorkflowId};
use fleet_core::message::{AnswerRefusal, MessageId, MessageRefusal};
use fleet_core::problem::{Code, Problem};
use fleet_core::task::{EditRefused, FieldError, TaskMove, TaskState};
use fleet_core::workflow::{WorkflowMove, WorkflowState};
use fleet_host::git::{DiscoverError, GitError};
use fleet_store::StoreError;

pub(crate) fn store(error: StoreError) -> Problem {
    let problem = Problem::new(code(&error), error.to_string());
    match &error {
        StoreError::TaskNotFound(_) => problem.hint("`fleet task list --all -A` shows every task"),
        StoreError::RunNotFound(_) => problem.hint("`fleet list --all -A` shows every run"),
        StoreError::WorkflowNotFound(_) => {
            problem.hint("`fleet workflow list --all -A` shows every workflow")
        }
        StoreError::StageNotFound { workflow, .. } => {
            problem.hint(format!("`fleet workflow show {workflow}` shows its stages"))
        }
        StoreError::IllegalWorkflow { workflow, from, event } => {
            problem.hint(workflow_advice(*workflow, *from, *event))
        }
        StoreError::WorkflowLive { workflow, .. } => {
            problem.hint(format!("`fleet workflow cancel {workflow}` ends it"))
        }
        StoreError::PartOfWorkflow { workflow, .. } => {
            problem.hint(format!("`fleet workflow clean {workflow}` removes the workflow with all its tasks"))
        }
        StoreError::Ambiguous { .. } => problem.hint("type more characters of the id"),
        StoreError::Illegal { task, from, event } => advise(problem, *task, *from, *event),
        StoreError::EditRefused { task, refused } => advise_on_edit(problem, *task, refused),
        StoreError::MessageRefused { task, refusal } => advise_on_message(problem, *task, *refusal),
        StoreError::NotNow { task, from: TaskState::Running, .. } => {
            problem.hint(format!("`fleet task cancel {task}` stops it"))
        }
        StoreError::HasDependents { task, dependents } => {
            problem.hint(format!("`fleet task dep remove {} {task}` first, or delete both", dependents[0]))
        }
        StoreError::Cycle { .. } => problem.hint("`fleet task dep tree ID` shows what a task waits for"),
        StoreError::NoSuchDependency { task, .. } => {
            problem.hint(format!("`fleet task dep tree {task}` shows them"))
        }
        StoreError::BranchTaken { task, .. } => problem
            .hint("choose another name with `--branch`, or leave it out to derive one from the id")
            .hint(format!("`fleet task show {task}` shows who has it; `fleet task cancel {task}` frees it")),
        StoreError::BranchReserved { .. } => {
            problem.hint("choose another name with `--branch`, or leave it out to derive one from the id")
        }
        StoreError::TooManyAdded { .. } => problem
            .hint("wait until some of them have finished, or say in your report what is left to do")
            .hint("a person can add as many as they want: `fleet task import FILE`"),
        StoreError::TooDeep(refused) => problem
            .hint("do the work yourself, or say in your report what is left to do")
            .hint(format!(
                "a person can allow more for tasks that are added from then on: `fleet config set spawn_depth {}`",
                refused.depth
            )),
        StoreError::TaskExists(_) => {
            problem.hint("`fleet task import --new-ids` makes copies with new ids")
        }
        StoreError::Busy { holder: Some(_), .. } => problem.hint("nothing was changed; try again when it is free"),
        StoreError::Busy { .. } => problem
            .hint("another process holds the store: a stopped (Ctrl-Z) `fleet` or a backup of the file")
            .hint("nothing was changed; try again when it is gone"),
        StoreError::Unreachable { .. } => problem
            .hint("check the `store` setting with `fleet config get store --show-origin`")
            .hint("`fleet doctor` checks the installation"),
        StoreError::Unavailable { .. } => problem
            .hint("the server is starting, failing over or short of memory; nothing was changed, try again")
            .hint("with several servers name all of them: `postgres://HOST1,HOST2/fleet?target_session_attrs=read-write`"),
        StoreError::Corrupt { at, .. } => problem
            .hint(format!(
                "move {at} aside and put a backup in its place; keep it, SQLite's tools may save it"
            ))
            .hint("or choose another file: `fleet config set store sqlite:PATH`"),
        StoreError::TooNew { .. } => {
            problem.hint("update codefleet: the store was written by a newer version")
        }
        StoreError::Full { .. } => problem.hint("free some space and try again; nothing was changed"),
        StoreError::Unwritable { at, .. } if at.contains("://") => {
            problem.hint("check the rights of the database user: it creates and alters tables")
        }
        StoreError::Unwritable { .. } => {
            problem.hint("check the permissions, or set `FLEET_HOME` to another folder")
        }
        _ => advise_on_question(problem, &error),
    }
}

fn code(error: &StoreError) -> Code {
    match error {
        StoreError::TaskNotFound(_) => Code::TaskNotFound,
        StoreError::NoSuchDependency { .. } => Code::DependencyNotFound,
        StoreError::RunNotFound(_) => Code::RunNotFound,
        StoreError::WorkflowNotFound(_) => Code::WorkflowNotFound,
        StoreError::QuestionNotFound(_) => Code::QuestionNotFound,
        StoreError::AnswerRefused { refusal, .. } => match refusal {
            AnswerRefusal::Empty | AnswerRefusal::NoSuchOption { .. } => Code::InvalidValue,
            AnswerRefusal::Answered(_) | AnswerRefusal::Withdrawn | AnswerRefusal::NotDue => {
                Code::QuestionClosed
            }
        },
        StoreError::Ambiguous { .. } => Code::IdAmbiguous,
        StoreError::Illegal { .. }
        | StoreError::NotNow { .. }
        | StoreError::IllegalRun { .. }
        | StoreError::IllegalWorkflow { .. }
        | StoreError::WorkflowLive { .. }
        | StoreError::PartOfWorkflow { .. }
        | StoreError::MessageRefused { .. }
        | StoreError::TooManyQuestions(_)
        | StoreError::EditRefused { .. } => Code::IllegalTransition,
        StoreError::Cycle { .. } => Code::DependencyCycle,
        StoreError::HasDependents { .. } => Code::HasDependents,
        StoreError::TaskExists(_) => Code::TaskExists,
        StoreError::Field(_) | StoreError::StageNotFound { .. } => Code::InvalidValue,
        StoreError::BranchTaken { .. } | StoreError::BranchReserved { .. } => Code::BranchTaken,
        StoreError::LeaseLost { .. } => Code::LeaseLost,
        StoreError::TooDeep(_) | StoreError::TooManyAdded { .. } => Code::SpawnRefused,
        StoreError::MessageNotTaken { .. } => Code::Internal,
        StoreError::Changed | StoreError::OutOfStep { .. } => Code::Changed,
        StoreError::Busy { .. } => Code::StoreBusy,
        StoreError::Unreachable { .. } | StoreError::Unavailable { .. } => Code::StoreUnreachable,
        StoreError::Corrupt { .. } => Code::StoreCorrupt,
        StoreError::TooNew { .. } => Code::StoreTooNew,
        StoreError::Full { .. } => Code::StoreFull,
        StoreError::Unwritable { .. } => Code::StoreUnwritable,
        StoreError::Malformed(_) | StoreError::Failed(_) => Code::StoreFailed,
    }
}

fn advise_on_question(problem: Problem, error: &StoreError) -> Problem {
    match error {
        StoreError::AnswerRefused { id, refusal } => advise_on_answer(problem, *id, refusal),
        StoreError::TooManyQuestions(_) => {
            problem.hint("wait for an answer, or decide yourself and say so in your report")
        }
        StoreError::QuestionNotFound(_) => problem.hint("`fleet inbox` lists open questions"),
        _ => problem,
    }
}

fn advise_on_answer(problem: Problem, id: MessageId, refusal: &AnswerRefusal) -> Problem {
    let task = id.task;
    match refusal {
        AnswerRefusal::NoSuchOption { .. } => problem
            .hint(format!("`fleet answer {id} N` chooses one by its number"))
            .hint(format!("`fleet answer {id} --text \"…\"` answers in your own words")),
        AnswerRefusal::Empty => problem.hint(format!("`fleet answer {id} \"…\"`")),
        AnswerRefusal::Answered(_) | AnswerRefusal::Withdrawn | AnswerRefusal::NotDue => {
            problem.hint(format!("`fleet prompt {task} \"…\"` sends its agent a message all the same"))
        }
    }
}

/// What to do instead of a move that the task's state does not allow.
fn advise(problem: Problem, task: TaskId, from: TaskState, event: TaskMove) -> Problem {
    match (from, event) {
        (TaskState::Running, TaskMove::Retry) => problem
            .hint(format!("`fleet logs {task} --follow` shows what it does"))
            .hint(format!("`fleet prompt {task} \"…\"` tells its agent more; `fleet kill {task}` stops it")),
        (TaskState::Queued, TaskMove::Retry) => {
            problem.hint(format!("it starts by itself: `fleet why {task}` says when"))
        }
        (TaskState::Running, TaskMove::Hold) => problem.hint(format!("`fleet task cancel {task}` stops it")),
        (TaskState::Done, _) => problem
            .hint(format!("`fleet prompt {task} \"…\"` continues it, from the work on its branch"))
            .hint("or add a new task for more work"),
        (TaskState::Held, TaskMove::Hold) => problem.hint(format!("`fleet task release {task}` releases it")),
        (TaskState::Failed | TaskState::Cancelled, _) => {
            problem.hint(format!("`fleet task retry {task}` requeues it"))
        }
        _ => problem,
    }
}

fn workflow_advice(workflow: WorkflowId, from: WorkflowState, event: WorkflowMove) -> String {
    match (from, event) {
        (WorkflowState::Succeeded, WorkflowMove::Retry) => {
            format!("`fleet workflow retry {workflow} --from STAGE` reruns part of it")
        }
        _ => format!("`fleet workflow show {workflow}` shows its state"),
    }
}

/// What to do instead of an edit that the task's state does not allow.
fn advise_on_edit(problem: Problem, task: TaskId, refused: &EditRefused) -> Problem {
    match refused {
        EditRefused::Running(_) => problem
            .hint(format!("`fleet prompt {task} \"…\"` sends its agent a message"))
            .hint(format!("`fleet task cancel {task}` stops it; then retry and edit it")),
        EditRefused::Settled(TaskState::Done) => {
            problem.hint(format!("`fleet prompt {task} \"…\"` continues it, from the work on its branch"))
        }
        EditRefused::Settled(_) => problem.hint(format!("`fleet task retry {task}` requeues it")),
    }
}

/// What to do instead of a message that a task does not take.
fn advise_on_message(problem: Problem, task: TaskId, refusal: MessageRefusal) -> Problem {
    match refusal {
        MessageRefusal::IsStopping => problem.hint(format!(
            "once it has ended, `fleet prompt {task} \"…\"` continues it; `fleet show {task}` shows when"
        )),
        MessageRefusal::TooMany => problem.hint(format!(
            "`fleet prompt --status {task}` shows them, `fleet why {task}` why it does not start"
        )),
    }
}

/// For `map_err`: an error of the file system with the path it is about.
pub(crate) fn at(path: &Path) -> impl Fn(std::io::Error) -> Problem + Copy {
    move |error| Problem::new(Code::Io, format!("{}: {error}", path.display()))
}

/// An error with all its causes.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

pub(crate) fn git(error: GitError) -> Problem {
    let message = chain(&error);
    match error {
        GitError::BranchTaken { .. } => Problem::new(Code::BranchTaken, message),
        GitError::Refused(_) => Problem::new(Code::InvalidValue, message),
        // Says itself what to do.
        GitError::TooOld { .. } | GitError::NotInstalled => Problem::new(Code::Io, message),
        _ => Problem::new(Code::Io, message).hint("`fleet doctor` checks the installation"),
    }
}

/// As a verb reports a value that a field does not take.
pub(crate) fn field(error: FieldError) -> Problem {
    let problem = Problem::field(error.field, error.why);
    match problem.field.as_deref() {
        Some("branch") => problem.hint("a name has letters, digits, `-`, `_` and `/`: `fix/login-test`"),
        _ => problem,
    }
}

/// As a verb reports a text that is not an id.
pub(crate) fn id(error: IdError) -> Problem {
    Problem::new(Code::IdInvalid, error.to_string()).hint("`fleet task list` shows the ids")
}

pub(crate) fn batch(error: IdError) -> Problem {
    Problem::new(Code::IdInvalid, error.to_string())
        .hint("`fleet list --all --grouped` shows the ids of batches")
}

pub(crate) fn repository(error: &DiscoverError) -> Problem {
    let problem = Problem::new(Code::NotARepository, error.to_string());
    match error {
        DiscoverError::NotARepository { .. } => problem
            .hint("change into a git repository, or name one with `--project DIR`")
            .hint("`git init` makes one"),
        DiscoverError::NoSuchDirectory { .. } | DiscoverError::NotADirectory { .. } => {
            problem.hint("name the directory of a git repository with `--project DIR`")
        }
        DiscoverError::BrokenGitFile { .. } | DiscoverError::InvalidGitFile { .. } => problem
            .hint("`git worktree repair` in the main work tree repairs a work tree that was moved")
            .hint("remove the file if it is a leftover"),
        DiscoverError::Io { source, .. } => {
            Problem { message: format!("{}: {source}", problem.message), ..problem }
        }
    }
}
