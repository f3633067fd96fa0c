//! Copies objects of a foreign repository into one of ours.
//!
//! Owns the check. Git packs what the tips reach, with the staged objects as one more place to look; what it read may be
//! forged, so the pack is then indexed (every name computed from its content, every object checked by fsck, every link
//! followed) without them. Nothing is visible in our repository before all of that has passed.
//!
//! What is reachable from the tips is then in the new pack or reachable from the known commits. Where forged objects
//! could have hidden some from the first look, `prove` looks once more, at what we would have afterwards.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::borrowed::ListedAlternates;
use super::objects::Staged;
use crate::git::capture::ScratchFile;
use crate::git::command::{Git, oid_of};
use crate::git::error::GitError;
use crate::git::oid::Oid;
use crate::git::pack_index::PackIndex;
use crate::git::temporary::Temporary;

/// Refuses everything that fsck reports, warnings included, and links to missing objects. The exceptions are mistakes of
/// old git clients that honest histories contain, and that large git hosts accept too.
const CHECKS_WITH_LINKS: &str =
    "--strict=zeroPaddedFilemode=ignore,missingSpaceBeforeDate=ignore,badTimezone=ignore";

/// The same without links, and without exceptions, which git knows here only since 2.45.
const CHECKS_OF_OBJECTS: &str = "--fsck-objects";

/// Errors of the system, in the words of git and the C library: they say nothing about the objects.
const OURS: [&str; 7] = [
    "No space left on device",
    "quota exceeded",
    "Read-only file system",
    "Input/output error",
    "Too many open files",
    "Cannot allocate memory",
    "unable to create thread",
];

/// The new pack and its index.
const PACK: &str = "new.pack";
const INDEX: &str = "new.idx";

#[derive(Debug, Clone, Copy)]
pub(in crate::git) struct Take<'a> {
    /// Where to look besides; `None` for objects that the vault has or borrows already, and is to have itself.
    pub(in crate::git) staged: Option<&'a Staged>,
    /// Objects to take, with all that they reach. If one of them is bad, none is taken.
    pub(in crate::git) tips: &'a [Oid],
    /// Commits that the repository has and keeps, with all that they reach.
    pub(in crate::git) known: &'a [Oid],
}

#[derive(Debug, thiserror::Error)]
pub(in crate::git) enum TakeError {
    /// The objects are damaged, forged or incomplete, or fail fsck.
    #[error("the objects were refused: {why}")]
    Refused { why: String },
    #[error(transparent)]
    Git(#[from] GitError),
}

/// Copies what the tips reach and the known commits do not into the repository `vault`, all or nothing.
pub(in crate::git) fn take(vault: &Path, take: &Take<'_>) -> Result<(), TakeError> {
    match checked(vault, take)? {
        Some((job, name)) => Ok(job.install(name.as_ref())?),
        None => Ok(()),
    }
}

/// Whether [`take`] would take it. Nothing is copied.
pub(in crate::git) fn check(vault: &Path, take: &Take<'_>) -> Result<(), TakeError> {
    checked(vault, take).map(drop)
}

/// A pack that passed all checks, and its name; `None` if there is nothing to take.
fn checked<'a>(vault: &'a Path, take: &Take<'_>) -> Result<Option<(TakeJob<'a>, Option<Oid>)>, TakeError> {
    let known: BTreeSet<&Oid> = take.known.iter().collect();
    let tips: BTreeSet<&Oid> = take.tips.iter().filter(|tip| !known.contains(tip)).collect();
    if tips.is_empty() {
        return Ok(None);
    }
    let borrowed = ListedAlternates::by(vault)?;
    let is_partial = borrowed.is_partial();
    let wanted = wanted(&tips, &known);
    let job = TakeJob { vault, borrowed, is_partial, wanted, folder: Temporary::new(vault, "take")? };
    job.pack(take)?;
    let indexed = job.index()?;
    let absent: Vec<&Oid> = tips.into_iter().filter(|tip| !indexed.objects.has(tip)).collect();
    // The walk of `prove` passes over tips that are missing.
    job.are_ours(&absent).map_err(refusal)?;
    if take.staged.is_some_and(Staged::has_packs) || is_partial || !absent.is_empty() {
        job.prove(&indexed.objects)?;
    }
    Ok(Some((job, indexed.name)))
}

/// Tips and known commits, as git reads them from its input.
fn wanted(tips: &BTreeSet<&Oid>, known: &BTreeSet<&Oid>) -> String {
    lines("", tips.iter().copied()) + &lines("^", known.iter().copied())
}

fn lines<'a>(start: &str, objects: impl Iterator<Item = &'a Oid>) -> String {
    objects.flat_map(|object| [start, object.as_str(), "\n"]).collect()
}

struct TakeJob<'a> {
    vault: &'a Path,
    borrowed: ListedAlternates,
    /// Whether objects may be missing because the repository that we borrow from has not fetched them.
    is_partial: bool,
    wanted: String,
    /// An object directory with the new pack, which git sees only when it is named.
    folder: Temporary,
}

/// A pack that was checked.
#[derive(Debug, Default)]
struct Indexed {
    /// The checksum of the pack, which is its name; `None` if it is empty.
    name: Option<Oid>,
    objects: PackIndex,
}

impl TakeJob<'_> {
    fn file(&self, name: &str) -> Result<PathBuf, GitError> {
        Ok(self.folder.inner("pack")?.join(name))
    }

    /// A command that reads objects of ours and of `others`.
    fn git(&self, others: impl AsRef<OsStr>) -> Git {
        Git::about(self.vault)
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", others)
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            // Without the name of some remote, git does not look for promises at all.
            .setting("remote.fleet-none.promisor=true")
    }

    fn input(&self, lines: &str) -> Result<(ScratchFile, File), GitError> {
        ScratchFile::new(self.folder.path(), "wanted").with(lines.as_bytes())
    }

    fn pack(&self, take: &Take<'_>) -> Result<(), TakeError> {
        let path = self.file(PACK)?;
        let mut file = File::create_new(&path).map_err(GitError::io(&path))?;
        let (_wanted, input) = self.input(&self.wanted)?;
        let packed = self
            .git(take.staged.map(|staged| self.borrowed.before(staged.dir())).unwrap_or_default())
            .setting(take.staged.map_or("pack.compression=1", Staged::compression))
            .args(["pack-objects", "--revs", "--stdout", "-q", "--window=0", "--delta-base-offset"])
            .args(["--no-use-bitmap-index", "--missing=allow-promisor"])
            .stdin(input)
            .feed(&mut |piece| file.write_all(piece).map_err(GitError::io(&path)));
        packed.map_err(|error| match refusal(error) {
            // A known commit that is missing is our mistake, not a fault of what was staged.
            TakeError::Refused { why } => match self.are_ours(&take.known.iter().collect::<Vec<_>>()) {
                Ok(()) => TakeError::Refused { why },
                Err(error) => TakeError::Git(error),
            },
            ours @ TakeError::Git(_) => ours,
        })
    }

    /// Fails if our repository lacks one of these, as it is before anything is taken.
    fn are_ours(&self, objects: &[&Oid]) -> Result<(), GitError> {
        if objects.is_empty() {
            return Ok(());
        }
        let (_objects, input) = self.input(&lines("", objects.iter().copied()))?;
        self.git("").args(["rev-list", "--no-walk", "--quiet", "--stdin"]).stdin(input).run()
    }

    /// Checks the pack and makes its index, which has the true names of its objects.
    fn index(&self) -> Result<Indexed, TakeError> {
        if is_empty(&self.file(PACK)?)? {
            return Ok(Indexed::default());
        }
        let answer = Git::about(self.vault)
            .setting("core.fsync=committed")
            .args(["index-pack", self.checks(), "--index-version=2", "--no-rev-index", "-o"])
            .args([self.file(INDEX)?, self.file(PACK)?])
            .answer()?;
        let command = answer.command.clone();
        let said = answer.succeeded().map_err(refusal)?;
        // Further lines name `.gitmodules` files that it could not check.
        let name = oid_of(&command, said.split(|byte| *byte == b'\n').next().unwrap_or_default())?;
        Ok(Indexed { name: Some(name), objects: PackIndex::read(&self.file(INDEX)?)? })
    }

    /// In a partial clone links may lead to missing objects; `prove` then finds out whether these were promised.
    fn checks(&self) -> &'static str {
        if self.is_partial { CHECKS_OF_OBJECTS } else { CHECKS_WITH_LINKS }
    }

    /// Looks once more, without what was staged: all that is wanted and not known must be in the new pack.
    fn prove(&self, objects: &PackIndex) -> Result<(), TakeError> {
        let (_wanted, input) = self.input(&self.wanted)?;
        let command = ["rev-list", "--objects", "--no-object-names", "--missing=allow-promisor", "--stdin"];
        let git = self.git(self.borrowed.before(self.folder.path())).args(command).stdin(input);
        let (mut line, mut absent) = (Vec::new(), None);
        let walked = git.feed(&mut |piece| {
            for part in piece.split_inclusive(|byte| *byte == b'\n') {
                line.extend_from_slice(part);
                if line.ends_with(b"\n") {
                    let object = oid_of("rev-list", &line)?;
                    absent = absent.take().or_else(|| (!objects.has(&object)).then_some(object));
                    line.clear();
                }
            }
            Ok(())
        });
        walked.map_err(refusal)?;
        match absent {
            Some(object) => Err(TakeError::Refused { why: format!("{object} was not among the objects") }),
            None => Ok(()),
        }
    }

    /// Makes the pack part of the repository: its index last, because git looks for that.
    fn install(&self, name: Option<&Oid>) -> Result<(), GitError> {
        let Some(name) = name else { return Ok(()) };
        let target = self.vault.join("objects/pack");
        fs::create_dir_all(&target).map_err(GitError::io(&target))?;
        for (file, end) in [(PACK, "pack"), (INDEX, "idx")] {
            let (from, to) = (self.file(file)?, target.join(format!("pack-{name}.{end}")));
            put(&from, &to).map_err(GitError::io(&to))?;
        }
        File::open(&target).and_then(|folder| folder.sync_all()).map_err(GitError::io(&target))
    }
}

fn put(from: &Path, to: &Path) -> io::Result<()> {
    File::open(from)?.sync_all()?;
    fs::set_permissions(from, Permissions::from_mode(0o444))?;
    fs::rename(from, to)
}

/// Whether a pack has no objects, by the number in its header.
fn is_empty(pack: &Path) -> Result<bool, GitError> {
    let mut header = [0; 12];
    File::open(pack).and_then(|mut file| file.read_exact(&mut header)).map_err(GitError::io(pack))?;
    Ok(header.ends_with(&[0; 4]))
}

/// Tells bad objects from failures of the system when a command failed that read them.
fn refusal(error: GitError) -> TakeError {
    match error {
        GitError::Failed { code: Some(_), stderr, .. } if !OURS.iter().any(|ours| stderr.contains(ours)) => {
            TakeError::Refused { why: stderr }
        }
        // Objects that inflate without end would never finish.
        GitError::TimedOut { .. } => TakeError::Refused { why: error.to_string() },
        error => TakeError::Git(error),
    }
}
