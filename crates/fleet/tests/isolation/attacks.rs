//! An agent that means harm, inside of its run. Nothing that it leaves is run, blocks, hides or leaks.

use super::stage::Stage;

/// Settings with which git runs programs.
fn settings(trap: &str) -> String {
    format!(
        "git config core.fsmonitor '{trap}'; git config core.hooksPath hooks; git config core.editor '{trap}'
         git config filter.x.clean '{trap}'; git config filter.x.smudge '{trap}'; git config filter.x.required true
         git config merge.x.driver '{trap}'; git config diff.x.textconv '{trap}'; git config diff.external '{trap}'
         git config core.sshCommand '{trap}'; git config gpg.program '{trap}'; git config commit.gpgSign true
         git config uploadpack.packObjectsHook '{trap}'"
    )
}

#[test]
fn what_an_agent_configures_is_not_read() {
    let stage = Stage::new();
    let configure = settings(&stage.trap());
    stage.run(
        "feature",
        &format!(
            "{configure}
             mkdir -p hooks .git/hooks
             for hook in pre-commit post-checkout post-index-change reference-transaction post-commit; do
               printf '#!/bin/sh\\n{}\\n' > hooks/$hook; cp hooks/$hook .git/hooks/; chmod +x hooks/$hook .git/hooks/$hook
             done
             printf '* filter=x diff=x merge=x\\n' > .gitattributes; cp .gitattributes .git/info/attributes
             echo work > work.txt",
            stage.trap()
        ),
    );
    assert!(!stage.was_executed());
    assert_eq!(stage.content("feature", "work.txt"), "work");
    // Nor does the next run, in the same workspace, get any of it.
    stage.run("next", "git config --list > seen.txt; ls .git/hooks .git/info >> seen.txt 2>&1 || true");
    let seen = stage.content("next", "seen.txt");
    assert!(
        !seen.contains("filter.x") && !seen.contains("pre-commit") && !seen.contains("attributes"),
        "{seen}"
    );
    assert!(!stage.was_executed());
    stage.check_repositories();
}

#[test]
fn a_nested_repository_with_a_gitlink_runs_nothing() {
    let stage = Stage::new();
    let (configure, trap) = (settings(&stage.trap()), stage.trap());
    stage.run(
        "feature",
        &format!(
            "git init -q inner; cd inner
             git config user.name a; git config user.email a@b; echo '* filter=x' > .gitattributes; echo n > n.txt
             git add .; git commit -qm inner; cd ..; git add inner 2>/dev/null; git commit -qm link
             cd inner; {configure}
             git config extensions.partialClone evil; git config remote.evil.promisor true
             git config remote.evil.url 'ext::sh -c \"{trap}\"'; git config protocol.ext.allow always
             echo changed > n.txt; cd ..
             mkdir outer; git init -q --bare hidden; mkdir outer/.git; echo ../../hidden > outer/.git/commondir
             echo 'ref: refs/heads/main' > outer/.git/HEAD; cp inner/.git/config hidden/config; echo data > outer/data.txt
             mkdir -p .git/modules/inner; cp inner/.git/config .git/modules/inner/config"
        ),
    );
    assert!(!stage.was_executed());
    assert_eq!(stage.state("feature"), "succeeded");
    // What is in them is not lost: it is in the last snapshot, or the workspace was kept.
    stage.fleet.ok(&["undo", "feature", "--branch", "restored"]);
    assert!(stage.content("restored", "outer/data.txt") == "data" || stage.is_kept("outer/data.txt"));
    stage.run("next", "echo next > next.txt");
    assert!(!stage.was_executed());
    stage.check_repositories();
}

#[test]
fn a_forged_index_hides_nothing_and_passes_nothing_on() {
    let stage = Stage::new();
    stage.repo.write("setup.sh", "echo good\n");
    stage.repo.commit("setup");
    // Same size, same times: only the index, which says that the file is as it was, could hide it.
    stage.run(
        "feature",
        "cp .git/index forged; touch -r setup.sh times; printf 'echo evil\\n' > setup.sh; touch -r times setup.sh
         rm times; git update-index --assume-unchanged setup.sh; git update-index --skip-worktree a.txt
         echo two > a.txt; mv forged .git/index; git config core.trustctime false; git config core.checkStat minimal",
    );
    assert_eq!(stage.content("feature", "setup.sh"), "echo evil");
    assert_eq!(stage.content("feature", "a.txt"), "two");
    stage.run("next", "cat setup.sh > seen.txt");
    assert_eq!(stage.content("next", "seen.txt"), "echo good", "the next run has the files of its commit");
}

#[test]
fn a_git_folder_that_is_something_else_blocks_nothing() {
    let stage = Stage::new();
    for (branch, attack) in [
        ("fifo", "rm -rf .git; mkfifo .git"),
        ("zero", "rm -rf .git; ln -s /dev/zero .git"),
        ("head-fifo", "rm .git/HEAD; mkfifo .git/HEAD"),
        ("head-huge", "rm .git/HEAD; truncate -s 10G .git/HEAD"),
        ("packed-huge", "truncate -s 10G .git/packed-refs"),
        ("packed-zero", "ln -sf /dev/zero .git/packed-refs"),
        ("refs-out", "rm -rf .git/refs; ln -s / .git/refs"),
        ("objects-out", "rm -rf .git/objects; ln -s /proc .git/objects"),
        ("index-fifo", "rm .git/index; mkfifo .git/index"),
        ("ignore-fifo", "rm .gitignore; mkfifo .gitignore; mkdir x; mkfifo x/.gitattributes"),
        ("nested-fifo", "mkdir -p n/.git; mkfifo n/.git/HEAD; mkdir m; mkfifo m/.git"),
        ("tracked-fifo", "rm a.txt; mkfifo a.txt"),
        ("loops", "ln -s . loop; ln -s loop/loop .git/loop; ln -s ../.git .git/refs/heads/again"),
    ] {
        stage.run(branch, &format!("echo work > work.txt\n{attack}"));
        assert_eq!(stage.content(branch, "work.txt"), "work", "{branch}: {}", stage.remarks(branch));
    }
    stage.run("after", "echo fine > fine.txt");
    assert_eq!(stage.content("after", "fine.txt"), "fine");
    stage.check_repositories();
}

#[test]
fn objects_that_are_bad_or_not_the_agents_do_not_get_in() {
    let stage = Stage::new();
    let secret = fleet_testkit::repo::Repo::init();
    secret.write("secret.txt", "for my eyes only\n");
    secret.commit("secret");
    let (stolen, objects) = (secret.git(&["rev-parse", "HEAD"]), secret.path().join(".git/objects"));
    stage.run(
        "stolen",
        &format!(
            "echo work > work.txt; git add work.txt; git commit -qm work
             echo {} >> .git/objects/info/alternates; git update-ref HEAD {stolen}; git tag stolen {stolen}
             git stash store -m x {stolen} 2>/dev/null || true",
            objects.display()
        ),
    );
    for repository in [stage.repo.path().join(".git"), stage.fleet.vault().path().to_owned()] {
        let found = fleet_testkit::repo::try_git_at(&repository, &["--git-dir=.", "cat-file", "-e", &stolen]);
        assert!(found.is_none(), "{}", repository.display());
    }
    assert_eq!(stage.content("stolen", "work.txt"), "work");
    stage.run(
        "bad",
        "blob=$(echo x | git hash-object -w --stdin)
         tree=$(printf '100644 .git\\0' | cat - <(printf \"$(echo $blob | sed 's/../\\\\x&/g')\") | git hash-object -t tree -w --stdin --literally)
         git update-ref HEAD $(git commit-tree -p HEAD -m bad $tree); echo work > work.txt",
    );
    assert_eq!(stage.content("bad", "work.txt"), "work");
    assert!(stage.remarks("bad").contains("could not be read"), "{}", stage.remarks("bad"));
    assert!(stage.is_kept("work.txt"), "the agent's own repository is kept");
    stage.run("broken", "echo work > work.txt; git add .; git commit -qm w; find .git/objects -type f -path '*/[0-9a-f]*' -exec truncate -s 0 {} + ");
    assert_eq!(stage.content("broken", "work.txt"), "work");
    stage.check_repositories();
}

#[test]
fn refs_and_merges_of_an_agent_run_nothing() {
    let stage = Stage::new();
    let configure = settings(&stage.trap());
    stage.run("one", &format!("{configure}\necho 'a.txt merge=x' > .gitattributes\necho one-side > a.txt"));
    stage.run("two", "echo other-side > a.txt");
    // Trying branches against each other merges them, with the attributes that an agent wrote.
    stage.fleet.ok(&["conflicts"]);
    stage.fleet.ok(&["review"]);
    stage.fleet.ok(&["diff", "one"]);
    assert!(!stage.was_executed());
}

#[test]
fn what_git_takes_for_its_own_is_kept_and_told() {
    let stage = Stage::new();
    stage.run(
        "own",
        "mkdir -p .GIT sub/.Git; echo precious > .GIT/data; echo precious > sub/.Git/data; echo w > w.txt",
    );
    assert_eq!(stage.content("own", "w.txt"), "w");
    assert!(stage.remarks("own").contains("not committed, but kept"), "{}", stage.remarks("own"));
    assert!(stage.is_kept(".GIT/data") && stage.is_kept("sub/.Git/data"));
}

#[test]
fn what_a_merge_or_rebase_put_aside_is_kept() {
    let stage = Stage::new();
    stage.run(
        "aside",
        "git checkout -qb other; echo o > a.txt; git commit -qam o; git checkout -q aside; echo m > a.txt; git commit -qam m
         mkdir d; echo kept > d/f; git add d/f; git commit -qm d; echo aside > d/f
         git merge --autostash other || true; git update-ref refs/custom/x other",
    );
    let listed = stage.fleet.json(&["undo", "aside", "--list"]);
    let why: Vec<_> =
        listed["snapshots"].as_array().unwrap().iter().map(|one| one["why"].to_string()).collect();
    assert!(why.iter().any(|why| why.contains("stash")), "{why:?}");
    assert!(why.iter().any(|why| why.contains("refs/custom/x")), "{why:?}");
}

#[test]
fn a_vault_that_lost_its_lenders_is_mended() {
    let stage = Stage::new();
    stage.run("one", "echo 1 > 1.txt");
    std::fs::remove_file(stage.fleet.vault().path().join("objects/info/alternates")).unwrap();
    stage.run("two", "echo 2 > 2.txt");
    assert_eq!(stage.content("two", "2.txt"), "2");
    stage.check_repositories();
}
