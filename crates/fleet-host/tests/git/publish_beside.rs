//! Branches that are published while the user's own git is at work.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::publish::{check, publish_after};
use crate::sandbox::{Sandbox, git, try_git};
use crate::support::{oid, text, write};
use crate::vault::Vault;
use fleet_host::git::{Oid, Published, delete_branch};

const LASTS: Duration = Duration::from_secs(20);
const PUBLISHERS: usize = 3;

struct Place<'a> {
    repo: PathBuf,
    vault: &'a Vault,
    base: Oid,
}

impl Place<'_> {
    fn publish(&self, branch: &str, commit: &Oid, expected: Option<&Oid>) {
        let done = publish_after(&self.base, (&self.repo, &self.vault.dir), branch, (commit, expected));
        assert_eq!(done, Published::Done, "{branch}");
    }

    /// Publishes branch after branch, and moves each of them on. Where they ended.
    fn publish_many(&self, publisher: usize, is_over: &AtomicBool) -> BTreeMap<String, Oid> {
        let mut all = BTreeMap::new();
        for round in 0.. {
            if is_over.load(Ordering::Relaxed) {
                break;
            }
            let branch = format!("fleet/{publisher}/{round}");
            let content = format!("{publisher} {round}");
            let mut one = self.vault.commit(&self.base, &[("a", &content), ("src/b", &content)]);
            self.publish(&branch, &one, None);
            if round % 2 == 0 {
                // What is there already may go at any moment.
                assert!(delete_branch(&self.repo, &branch, &one).unwrap());
                // Not the same commit: a `git pack-refs` that saw the branch before would take it for that one, and remove
                // it for good, whoever made it.
                one = self.vault.commit(&one, &[("d", &content)]);
                self.publish(&branch, &one, None);
            }
            let two = self.vault.commit(&one, &[("c", &content)]);
            self.publish(&branch, &two, Some(&one));
            all.insert(branch, two);
        }
        all
    }
}

/// What a user does with their repository, as often as there is time for.
fn use_repository(repo: &Path, begun: Instant) -> usize {
    let mut rounds = 0;
    while begun.elapsed() < LASTS {
        let name = format!("mine/{rounds}");
        git(repo, &["switch", "--quiet", "--create", &name, "HEAD~1"]);
        write(repo, &name, "theirs");
        git(repo, &["add", "--all"]);
        git(repo, &["commit", "--quiet", "--message", &name]);
        git(repo, &["rebase", "--quiet", "main"]);
        git(repo, &["switch", "--quiet", "main"]);
        git(repo, &["branch", "--quiet", "-D", &name]);
        git(repo, &["reflog", "expire", "--expire=now", "--all"]);
        // One of these may be in the way of another one's locks, but not for long.
        for housekeeping in [
            &["gc", "--prune=now", "--quiet"][..],
            &["repack", "-adq"],
            &["prune", "--expire=now"],
            &["pack-refs", "--all"],
        ] {
            let _ = try_git(repo, housekeeping);
        }
        rounds += 1;
    }
    rounds
}

#[test]
fn heavy_branches_are_published_beside_a_user_who_prunes() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("main");
    for number in 0..20 {
        write(&repo, &format!("src/{number}"), number.to_string());
        git(&repo, &["add", "--all"]);
        git(&repo, &["commit", "--quiet", "--message", &number.to_string()]);
    }
    let base = oid(&repo, "HEAD");
    let vault = Vault::of(&sandbox, &repo.join(".git"));
    let place = Place { repo: repo.join(".git"), vault: &vault, base };
    let held = format!("refs/fleet/held/{}", place.base);
    git(&repo, &["update-ref", &held, place.base.as_str()]);
    let (begun, is_over) = (Instant::now(), AtomicBool::new(false));
    let published: BTreeMap<String, Oid> = thread::scope(|scope| {
        let publishers: Vec<_> = (0..PUBLISHERS)
            .map(|publisher| {
                scope.spawn({
                    let place = &place;
                    let is_over = &is_over;
                    move || place.publish_many(publisher, is_over)
                })
            })
            .collect();
        let rounds = use_repository(&repo, begun);
        is_over.store(true, Ordering::Relaxed);
        assert!(rounds > 1);
        publishers.into_iter().flat_map(|publisher| publisher.join().unwrap()).collect()
    });
    assert!(published.len() > PUBLISHERS);
    let mut found = BTreeMap::new();
    for line in
        text(&repo, &["for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads/fleet"]).lines()
    {
        let (branch, at) = line.split_once(' ').unwrap();
        found.insert(branch.to_owned(), Oid::parse(at).unwrap());
    }
    assert_eq!(found, published);
    check(&repo);
    // Also without what only we still have.
    std::fs::remove_dir_all(&vault.dir).unwrap();
    git(&repo, &["gc", "--quiet", "--prune=now"]);
    check(&repo);
}
