//! What agents wrote, as they wrote it down, and where it is now.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use fleet_testkit::repo::try_git_at;

/// The agent: it notes a content once that is in a file of the workspace, and then does with it what agents do.
pub(super) fn agent(ledger: &Path) -> String {
    format!(
        r#"#!/bin/bash
cat > /dev/null
for i in 1 2 3 4; do
  text="$$-$RANDOM$RANDOM$RANDOM-$i"
  mkdir -p "in/$text" && echo "$text" > "in/$text/soak-$text" || exit 1
  echo "$text" >> '{ledger}'
  case $((RANDOM % 6)) in
    0 | 1) git add -A && git commit -qm "$text" ;;
    2) git stash -qu ;;
    3) git checkout -qb "other-$text" && git add -A && git commit -qm "$text" && git checkout -q - ;;
  esac
  sleep 0.$((RANDOM % 6))
done
exit $((RANDOM % 5 == 0))
"#,
        ledger = ledger.display()
    )
}

/// The contents that were noted.
pub(super) fn noted(ledger: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(ledger).unwrap_or_default();
    // Whoever was killed in the middle of a note wrote only a part of it.
    text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).map(ToOwned::to_owned).collect()
}

/// The contents that the refs of a repository reach. Whether they can be read is for `fsck` to say.
#[track_caller]
pub(super) fn reached(git_dir: &Path) -> BTreeSet<String> {
    let listed = try_git_at(git_dir, &["rev-list", "--objects", "--all"]).expect("the refs of a repository");
    listed.lines().filter_map(|line| content_of(line.rsplit('/').next()?)).collect()
}

/// The contents in the files of a folder, whatever it is.
pub(super) fn lying_in(folder: &Path) -> BTreeSet<String> {
    let (mut found, mut open) = (BTreeSet::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            found.extend(entry.file_name().to_str().and_then(content_of));
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.path());
            }
        }
    }
    found
}

/// A file is named after what is in it.
fn content_of(name: &str) -> Option<String> {
    name.strip_prefix("soak-").map(ToOwned::to_owned)
}
