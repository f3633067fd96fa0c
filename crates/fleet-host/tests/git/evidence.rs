//! What a run changed.

use crate::sandbox::{Sandbox, git};
use crate::support::{Run, commit_all, oid, project, write, write_odd_files};
use fleet_host::git::{DiffColor, DiffStyle, FileStatus, Oid, changes, changes_of_one, diff};

#[test]
fn changes_are_those_of_the_branch_alone() {
    let run = Run::new();
    let (work, dir, repo) = (run.path(), run.vault(), &run.repo);
    let base = oid(repo, "main");
    write(work, "old name", ["same line\n"; 20].concat());
    write(work, "gone", "x\n");
    let middle = run.commit("first: ünï");
    git(work, &["mv", "old name", "new\nname"]);
    git(work, &["rm", "--quiet", "gone"]);
    write_odd_files(work);
    write(work, "binary", [0_u8, 1, 2]);
    write(work, "README.md", "# project\nmore\n");
    let head = run.commit("second");
    run.collected();
    // What others do in the meantime does not count.
    write(repo, "elsewhere", "x");
    let moved = commit_all(repo, "main goes on");

    let all = changes(dir, &moved, &head).unwrap();
    assert_eq!(all.base, base);
    let subjects: Vec<_> = all.commits.iter().map(|line| line.subject.as_str()).collect();
    assert_eq!((subjects, all.commits_total), (vec!["second", "first: ünï"], 2));
    assert!(all.files.iter().all(|file| file.path != b"elsewhere" && file.path != b"gone"));

    let last = changes(dir, &middle, &head).unwrap();
    assert_eq!(changes_of_one(dir, &middle, last.commits[0].clone()).unwrap(), last);
    let file = |path: &[u8]| last.files.iter().find(|file| file.path == path).unwrap();
    assert_eq!(file(b"gone").status, FileStatus::Deleted);
    let renamed = file(b"new\nname");
    assert_eq!((renamed.status, renamed.old_path.as_deref()), (FileStatus::Renamed, Some(&b"old name"[..])));
    assert_eq!((renamed.added, renamed.deleted), (Some(0), Some(0)));
    assert_eq!((file(b"README.md").status, file(b"README.md").added), (FileStatus::Modified, Some(1)));
    assert_eq!(file(b"binary").added, None);
    assert_eq!(file(b"quo\"te'").status, FileStatus::Added);
    assert_eq!(file(b"-rf").added, Some(1));
    assert_eq!(file(b"not-\xff-text").added, None);
    let lines = last.files.iter().filter_map(|file| file.added).sum::<u64>();
    assert_eq!((last.files_total, last.added, last.deleted), (last.files.len() as u64, lines, 1));
}

#[test]
fn unrelated_histories_and_no_changes() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("main");
    let dir = repo.join(".git");
    let base = oid(&repo, "main");
    let same = changes(&dir, &base, &base).unwrap();
    assert_eq!((same.files_total, same.commits_total), (0, 0));
    git(&repo, &["checkout", "--quiet", "--orphan", "other"]);
    write(&repo, "file", "x\n");
    git(&repo, &["add", "--all"]);
    git(&repo, &["commit", "--quiet", "--message=unrelated"]);
    let other = changes(&dir, &base, &oid(&repo, "other")).unwrap();
    assert_eq!((other.base, other.files_total, other.commits_total), (base, 1, 1));
}

fn shown(dir: &std::path::Path, (base, head): (&Oid, &Oid), style: DiffStyle) -> String {
    let mut out = Vec::new();
    diff(dir, (base, head), style, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_diff_is_a_patch_that_applies_whatever_the_user_prefers() {
    let run = Run::new();
    let repo = &run.repo;
    write(run.path(), "README.md", "# changed\n");
    write(run.path(), "new", "1\n2\n");
    for setting in [["diff.noprefix", "true"], ["diff.external", "false"], ["color.ui", "always"]] {
        git(run.vault(), &[["config"].as_slice(), &setting].concat());
    }
    let (dir, base) = (run.vault(), oid(repo, "main"));
    let snapshot = run.taken();
    let patch = shown(dir, (&base, &snapshot.tree), DiffStyle::Patch { color: DiffColor::Never });
    write(repo, "../a.patch", &patch);
    git(repo, &["apply", "../a.patch"]);
    assert_eq!(std::fs::read_to_string(repo.join("new")).unwrap(), "1\n2\n");
    assert_eq!(shown(dir, (&base, &snapshot.commit), DiffStyle::Patch { color: DiffColor::Never }), patch);
    assert!(
        shown(dir, (&base, &snapshot.tree), DiffStyle::Patch { color: DiffColor::Always }).contains('\u{1b}')
    );
    let stat = shown(dir, (&base, &snapshot.tree), DiffStyle::Stat { width: 60, color: DiffColor::Never });
    assert!(stat.contains("2 files changed, 3 insertions(+), 1 deletion(-)"), "{stat}");
    assert!(stat.lines().all(|line| line.len() <= 60));
}

#[test]
fn a_reader_that_goes_away_ends_the_diff() {
    struct Closed;
    impl std::io::Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let (base, head) = (oid(&repo, "main~1"), oid(&repo, "main"));
    let style = DiffStyle::Patch { color: DiffColor::Never };
    let error = diff(&repo.join(".git"), (&base, &head), style, &mut Closed).unwrap_err();
    assert!(matches!(error, fleet_host::git::GitError::Write(_)), "{error}");
}
