//! Closes a run in place of its keeper.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fleet_agents::{Brief, Conversation, Stream};
use fleet_core::id::RunId;
use fleet_core::outcome::{AgentExit, Checks, Evidence, StopCause};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::report::Report;
use fleet_core::run::{Ending, Reason, StopKind};
use fleet_core::task::Task;
use fleet_core::workflow::Returns;
use fleet_host::git::{GitError, Oid, Slot, SlotState, Workspace, WorkspaceError};
use fleet_host::log::{LogPiece, LogReader};
use fleet_host::plain;
use fleet_host::process::{self, Identity, ProcessTree, StopSequence};
use fleet_store::ops::{self, RunDetail};

use super::NEVER_BEGAN;
use super::renewal::Renewal;
use crate::closing::{self, AgentProgress, EndOfRun, RunEvidence, Saved, ShownWork, commit_message};
use crate::home::{Home, RunFolder};
use crate::keeper::journal::{self, DecodedOutput, Journal, Stored};
use crate::keeper::prior_work::PriorWork;
use crate::keeper::stage::StageRun;
use crate::keeper::{Pricing, Talk, blocking, checkout, checks, declared};
use crate::{Engine, agents, clock, fault, problems, sockets};

/// These processes have no keeper any more: they get a short while to end by themselves.
const STOP_SEQUENCE: StopSequence = StopSequence {
    ask: None,
    ask_grace: Duration::ZERO,
    term_grace: Duration::from_secs(2),
    kill_patience: Duration::from_secs(20),
};
/// How much of a log is read at once.
const CHUNK_BYTES: usize = 64 * 1024;

pub(super) struct Closed {
    /// In words, if anything was done.
    pub(super) what: Option<String>,
    /// Whether nothing is left to clean up.
    pub(super) is_clean: bool,
}

pub(super) struct GoneKeeper {
    pub(super) run: RunId,
    /// Who held the keeper's lock before, if that is known.
    pub(super) keeper: Option<Identity>,
}

/// Ends what is left of the agent, saves its work and records the end in the store. The caller holds the keeper's lock.
pub(super) async fn close(engine: &Engine, home: &Home, gone: GoneKeeper) -> Outcome<Closed> {
    let (id, folder) = (gone.run, home.run(gone.run));
    let _renewal = Renewal::begin(engine, id).await?;
    let processes = end_processes(id, &folder, gone.keeper).await?;
    sockets::remove(home, id);
    let detail = match engine.call(ops::GetRun { run: id }).await {
        Ok(detail) => detail,
        // It belongs to another store: its workspace stays for the users of that one.
        Err(problem) if problem.code == Code::RunNotFound => {
            return Ok(Closed { what: Some("it is not in this store".to_owned()), is_clean: true });
        }
        Err(problem) => return Err(problem),
    };
    fault::point(engine, "repair-stopped").await;
    let workspace = adopt(engine, home, &detail).await?;
    let saved = match &workspace {
        Adopted::Here(found) => {
            let (found, why) = (Arc::clone(found), "its keeper was gone");
            let save = move || {
                let saved = Saved::attempted(closing::save_all(&found, id, why, clock::now()));
                saved.or_else(|| closing::is_gone(&found).then_some(Saved::All))
            };
            blocking(save).await?
        }
        Adopted::Nothing => Some(Saved::All),
        Adopted::Damaged => None,
    };
    fault::point(engine, "repair-saved").await;
    let (mut what, mut shown) = (None, Some(Saved::All));
    if detail.run.state.is_live() {
        let (why, folder) = (why_gone(&detail), &folder);
        let ended = end(engine, FoundRun { detail: &detail, folder, workspace: &workspace, why }).await?;
        (what, shown) = (Some(ended.said), ended.shown);
    } else if saved.is_some() && noted(&folder, &detail).is_some() {
        // It ended here, but not all of its work could be committed or published at that time.
        shown = closing::saved_in(&show(&detail, &folder, &workspace).await?);
    }
    fault::point(engine, "repair-recorded").await;
    // The next attempt should find the work on the branch: what could not be brought there is tried again.
    let is_gone = matches!(&workspace, Adopted::Here(found) if closing::is_gone(found));
    let shown = shown.or_else(|| is_gone.then_some(Saved::All));
    let saved = saved.zip(shown).map(|(saved, shown)| saved.and(shown));
    let is_clean = match (workspace, saved) {
        (Adopted::Here(found), Some(saved)) => release(found, saved, (home, processes)).await?,
        (Adopted::Here(_) | Adopted::Damaged, _) => false,
        (Adopted::Nothing, _) => true,
    };
    fault::point(engine, "repair-released").await;
    let what = what.or_else(|| is_clean.then(|| "cleaned up after it".to_owned()));
    Ok(Closed { what, is_clean })
}

/// Whether the slot of the workspace is free for the next run.
async fn release(
    workspace: Arc<Workspace>,
    saved: Saved,
    (home, processes): (&Home, ProcessesLeft),
) -> Outcome<bool> {
    let (Some(workspace), home) = (Arc::into_inner(workspace), home.clone()) else { return Ok(false) };
    let release = move || {
        if processes == ProcessesLeft::MayBeLeft {
            workspace.quarantine()?;
        }
        saved.release(workspace, &home)
    };
    Ok(blocking(release).await?.is_ok())
}

enum Adopted {
    Here(Arc<Workspace>),
    Nothing,
    /// It is there, and cannot be used, or its repository cannot be reached: it is tried again.
    Damaged,
}

async fn adopt(engine: &Engine, home: &Home, detail: &RunDetail) -> Outcome<Adopted> {
    let owner = detail.run.id.to_string();
    let Ok(here) = engine.at(checkout(&detail.project)) else {
        // It may come back, with the disk that it is on. Until then what the agent left stays where it is.
        let area = home.area(&detail.project, engine.config()?);
        let is_its =
            move |slot: &Slot| matches!(&slot.state, SlotState::Claimed { owner: one, .. } if *one == owner);
        let slots = blocking(move || area.slots()).await?;
        let is_there = slots.map_or(true, |slots| slots.iter().any(is_its));
        return Ok(if is_there { Adopted::Damaged } else { Adopted::Nothing });
    };
    let config = here.config().or_else(|_| engine.config())?.clone();
    let area = home.area(&detail.project, &config);
    Ok(match blocking(move || area.adopt(&owner)).await? {
        Ok(Some(workspace)) => Adopted::Here(Arc::new(workspace)),
        Ok(None) => Adopted::Nothing,
        // A git of the dead keeper's is still at work in it; it ends by itself, and then everything can be seen.
        Err(error @ WorkspaceError::InUse { .. }) => return Err(Problem::new(Code::Io, error.to_string())),
        Err(_) => Adopted::Damaged,
    })
}

/// What is known about the processes of a run after they were ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProcessesLeft {
    NoneLeft,
    /// One that left its group and its session and cleared its environment cannot be found once the keeper is gone, and
    /// one that waits for a dead disk cannot be killed.
    MayBeLeft,
}

/// Ends the agent and everything it started.
async fn end_processes(id: RunId, folder: &RunFolder, keeper: Option<Identity>) -> Outcome<ProcessesLeft> {
    let noted: Option<ProcessTree> =
        plain::read(&folder.tree()).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let marker = ("FLEET_RUN".to_owned(), id.to_string());
    let known = || {
        keeper.map(|keeper| ProcessTree { root: keeper.clone(), marker, keeper: Some(keeper), group: None })
    };
    // Without either, no keeper ever came so far as to start anything.
    let Some(tree) = noted.or_else(known) else { return Ok(ProcessesLeft::NoneLeft) };
    if tree.is_of_earlier_boot() {
        return Ok(ProcessesLeft::NoneLeft);
    }
    blocking(move || tree.stop(&STOP_SEQUENCE, &mut || drop(process::reap()))).await?;
    Ok(ProcessesLeft::MayBeLeft)
}

struct FoundRun<'a> {
    detail: &'a RunDetail,
    folder: &'a RunFolder,
    workspace: &'a Adopted,
    why: (StopCause, Gone),
}

struct EndedRun {
    said: String,
    /// How much of its work is on its branch; `None` if that should be tried again.
    shown: Option<Saved>,
}

/// Tells the store how it ended: as its keeper wrote down, or as far as can be seen now.
async fn end(engine: &Engine, found: FoundRun<'_>) -> Outcome<EndedRun> {
    let (folder, project, agent) = (found.folder, &found.detail.project, &found.detail.run.agent);
    let (end, shown) = match noted(folder, found.detail) {
        Some(end) => (end, closing::saved_in(&show(found.detail, folder, found.workspace).await?)),
        None => reconstruct(engine, found).await?,
    };
    let noted = end.note(folder);
    fault::point(engine, "repair-noted").await;
    let said = match &end.ending {
        Ending::Succeeded => "its keeper was gone, its work was done".to_owned(),
        Ending::Failed(_, text) | Ending::Released(text) | Ending::Cancelled(text) => text.clone(),
        Ending::Asked => "its keeper was gone, its question is kept".to_owned(),
    };
    // A project that is gone has no wishes.
    let after = engine.at(checkout(project)).and_then(|here| agents::after(&here, agent)).unwrap_or_default();
    end.record(engine.store().await?, &after).await?;
    if noted.is_err() {
        // The disk was full, and is not any more. The note tells a later attempt that the work is ours.
        let _ = end.note(folder);
    }
    Ok(EndedRun { said, shown })
}

/// The end of a run whose keeper wrote nothing down, and how much of its work could be shown.
async fn reconstruct(engine: &Engine, found: FoundRun<'_>) -> Outcome<(EndOfRun, Option<Saved>)> {
    let FoundRun { detail, folder, workspace, why: (stop, why) } = found;
    let heard = replay(engine, detail, folder).await?;
    let shown = show(detail, folder, workspace).await?;
    let saved = closing::saved_in(&shown);
    let stage = match &detail.task {
        Some(task) => StageRun::of(engine, task, &detail.run).await?.map(Arc::new),
        None => None,
    };
    if let (Ok(ShownWork { is_empty: true, .. }), Adopted::Here(found), Some(base)) =
        (&shown, workspace, base(detail))
    {
        let (found, prior) = (Arc::clone(found), PriorWork::of(engine, detail, stage.as_ref()).await?);
        blocking(move || drop(closing::settle_empty_branch(&found, &base, prior.as_ref()))).await?;
    }
    let evidence = Evidence {
        exit: AgentExit::Signal(9),
        report: heard.final_text.as_deref().and_then(Report::find),
        words: heard.final_text,
        declared: detail.report.clone().and_then(declared),
        question: None,
        failure: None,
        commits: 0,
        files: 0,
        read_only: detail.task.as_ref().is_some_and(|task| task.spec.read_only),
        may_be_empty: detail.task.as_ref().is_some_and(|task| task.spec.may_be_empty),
        is_interactive: detail.run.mode.is_interactive(),
        returns: stage.as_ref().map_or(Returns::Report, |stage| stage.returns()),
        unmerged: not_merged(workspace, stage.clone()).await?,
        checks: Checks { due: due_checks(engine, detail, stage.as_deref()), run: Vec::new() },
        stopped: Some(stop),
    };
    let (ending, mut result) = RunEvidence::new(evidence, shown).judge();
    // A keeper that vanished without a reason counts: an agent that brings its machine down must not do so forever.
    let ending = match ending {
        Ending::Released(text) if why == Gone::Vanished => {
            result.reason = Some(Reason::Lost);
            Ending::Failed(Reason::Lost, text)
        }
        other => other,
    };
    let (run, attempt, reset) = (detail.run.id, detail.run.attempt, heard.limited_until);
    Ok((EndOfRun { run, attempt, ending, result: Some(result), reset }, saved))
}

/// How many commands would have had to succeed. A project that is gone has none.
fn due_checks(engine: &Engine, detail: &RunDetail, stage: Option<&StageRun>) -> usize {
    let config = engine.at(checkout(&detail.project)).and_then(|here| here.config().cloned());
    let of_task = |task: &Task| Some(checks::of_task(stage, &task.spec, &config.ok()?).len());
    detail.task.as_ref().and_then(of_task).unwrap_or_else(|| stage.map_or(0, |stage| stage.checks().len()))
}

async fn not_merged(workspace: &Adopted, stage: Option<Arc<StageRun>>) -> Outcome<Vec<String>> {
    let (Some(stage), Adopted::Here(found)) = (stage, workspace) else { return Ok(Vec::new()) };
    let found = Arc::clone(found);
    blocking(move || stage.not_merged(found.area(), found.head().ok().as_ref())).await
}

fn noted(folder: &RunFolder, detail: &RunDetail) -> Option<EndOfRun> {
    EndOfRun::noted(folder).filter(|end| end.attempt == detail.run.attempt)
}

fn base(detail: &RunDetail) -> Option<Oid> {
    detail.run.base.as_deref().and_then(|base| Oid::parse(base).ok())
}

/// Commits what is left in the workspace, and looks at what git has then.
async fn show(
    detail: &RunDetail,
    folder: &RunFolder,
    workspace: &Adopted,
) -> Outcome<Result<ShownWork, GitError>> {
    let (Adopted::Here(found), Some(base), Some(task)) = (workspace, base(detail), &detail.task) else {
        return Ok(Ok(ShownWork::default()));
    };
    let (found, run) = (Arc::clone(found), detail.run.id);
    let message = commit_message(task, &detail.run.agent, AgentProgress::Ended);
    let has_checks = folder.checking().exists();
    let look = move || match closing::show_nothing(&found, &base) {
        Some(nothing) => Ok(nothing),
        None if has_checks => closing::show_committed(&found, &base),
        None => closing::show(&found, run, &base, &message),
    };
    blocking(look).await
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gone {
    /// With everything else: the machine was restarted. No fault of the task.
    Restarted,
    /// It never began, so that nothing counts against the task: the runner ended before it could start it, or the binary
    /// does not work.
    NeverBegan,
    /// A user had asked for it.
    Asked,
    Vanished,
}

fn why_gone(detail: &RunDetail) -> (StopCause, Gone) {
    if let Some(stop) = &detail.run.stop {
        let how = match stop.kind {
            StopKind::Cancel => StopCause::Killed(stop.why.clone()),
            StopKind::Release | StopKind::Switch => StopCause::Shutdown(stop.why.clone()),
        };
        return (how, Gone::Asked);
    }
    let keeper: Option<Identity> =
        detail.run.keeper.as_deref().and_then(|keeper| serde_json::from_str(keeper).ok());
    let (gone, why) = match keeper {
        None => (Gone::NeverBegan, NEVER_BEGAN),
        Some(keeper) if keeper.boot != Identity::current().boot => {
            (Gone::Restarted, "the machine was restarted")
        }
        Some(_) => (Gone::Vanished, "its keeper vanished"),
    };
    (StopCause::Shutdown(why.to_owned()), gone)
}

/// Decodes what the agent printed, and stores the events that are not stored yet.
async fn replay(engine: &Engine, detail: &RunDetail, folder: &RunFolder) -> Outcome<DecodedOutput> {
    let run = &detail.run;
    let registry = engine.agents()?;
    let Some(adapter) = registry.find(&run.agent) else { return Ok(DecodedOutput::default()) };
    let stored = Stored { bytes: u64::try_from(run.decoded).unwrap_or(0), batch: run.batches };
    let prompt = plain::read_text(&folder.prompt()).unwrap_or_default();
    let workspace = Path::new(run.workspace.as_deref().unwrap_or_default());
    let talk = Talk::of(folder);
    let brief = Brief {
        conversation: talk.as_ref().map_or(Conversation::New { id: None }, Talk::conversation),
        prompt_file: &folder.prompt(),
        model: run.model.as_deref(),
        ..Brief::plain(&prompt, workspace)
    };
    // Without a readable price table, the cost stays what it was.
    let prices = agents::prices(engine).unwrap_or_default();
    let limit = detail.task.as_ref().and_then(|task| task.spec.limits.micro_usd).or(run.reserved.micro_usd);
    let fallback = limit.and_then(|_| prices.highest());
    let pricing = Pricing { prices, model: run.model.clone(), fallback };
    let journal = Journal::new(run.id, run.attempt, adapter.decoder(&brief), stored);
    let mut journal = journal.priced(pricing).at_least(run.usage);
    let mut log = LogReader::new(&folder.stdout());
    let store = engine.store().await?;
    // A log that cannot be read is no reason to leave the run as it is.
    while let Ok(Some(piece)) = log.next_piece(CHUNK_BYTES) {
        match piece {
            LogPiece::Bytes { bytes, .. } => drop(journal.push(Stream::Out, &bytes, clock::now())),
            LogPiece::Gap { offset, left_out } => journal.skip_to(offset + left_out, clock::now()),
        }
        // No caller waits for an answer.
        drop(journal.reply());
        if journal.is_full() {
            journal::store(store.clone(), journal.batch(clock::now())).await.map_err(problems::store)?;
        }
    }
    journal.close(Stream::Out, clock::now());
    let heard = journal.end(&AgentExit::Signal(9), clock::now());
    if run.state.is_live() && !journal.is_empty() {
        journal::store(store.clone(), journal.batch(clock::now())).await.map_err(problems::store)?;
    }
    Ok(heard)
}
