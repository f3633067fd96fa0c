//! Which settings of the user's repository count for agents and for us.
//!
//! Owns the two lists. What is not on a list is left out, above all what runs programs. `docs/trust.md` names the
//! exceptions: filters, which the files need, for both; how remotes are reached, for the agent alone.

use std::fmt::Write as _;
use std::path::Path;

use crate::git::command::Git;
use crate::git::error::GitError;
use crate::git::gitdir::is_absence;
use crate::git::held;

/// How files look in a work tree, and who commits.
const FILES: [&str; 12] = [
    "core.filemode",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.symlinks",
    "core.autocrlf",
    "core.eol",
    "core.excludesfile",
    "core.attributesfile",
    "core.protecthfs",
    "core.protectntfs",
    "user.name",
    "user.email",
];

/// What an agent also needs to work as in a clone.
const CLONE: [&str; 4] = ["core.sshcommand", "core.commentchar", "core.abbrev", "extensions.partialclone"];

/// Sections of which an agent gets everything.
const SECTIONS: [&str; 9] =
    ["author", "committer", "credential", "http", "lfs", "pull", "push", "url", "i18n"];

/// Keys of a filter.
const FILTER: [&str; 4] = ["clean", "smudge", "process", "required"];

/// Keys of a remote that name programs.
const REMOTE_PROGRAMS: [&str; 3] = ["uploadpack", "receivepack", "vcs"];

/// Keys of a submodule that are data.
const SUBMODULE: [&str; 4] = ["url", "active", "branch", "ignore"];

#[derive(Debug, Clone, PartialEq, Eq)]
struct GitSetting {
    section: String,
    subsection: Option<String>,
    key: String,
    /// `None`: the key stands alone, which means true.
    value: Option<String>,
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct GitSettings {
    all: Vec<GitSetting>,
}

/// Reads the file of a repository. Included files are left out: they may come with the files of the repository.
pub(super) fn read(repo: &Path) -> Result<GitSettings, GitError> {
    let file = repo.join("config");
    if let Err(error) = std::fs::metadata(&file) {
        return if is_absence(&error) { Ok(GitSettings::default()) } else { Err(GitError::io(&file)(error)) };
    }
    let mut all = Vec::new();
    let git = Git::about(repo).args(["config", "--no-includes", "--null", "--list", "--file"]).arg(&file);
    git.records(&mut |record| {
        all.extend(GitSetting::parse(&String::from_utf8_lossy(record)));
        Ok(())
    })?;
    Ok(GitSettings { all })
}

impl GitSetting {
    fn parse(record: &str) -> Option<Self> {
        let (name, value) = match record.split_once('\n') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (record, None),
        };
        let (rest, key) = name.rsplit_once('.')?;
        let (section, subsection) = match rest.split_once('.') {
            Some((section, subsection)) => (section, Some(subsection.to_owned())),
            None => (rest, None),
        };
        Some(Self { section: section.to_owned(), subsection, key: key.to_owned(), value })
    }

    /// Its name, if it has no subsection.
    fn name(&self) -> Option<String> {
        self.subsection.is_none().then(|| format!("{}.{}", self.section, self.key))
    }

    fn is(&self, name: &str) -> bool {
        self.name().as_deref() == Some(name)
    }

    fn is_filter(&self) -> bool {
        self.section == "filter" && FILTER.contains(&self.key.as_str())
    }

    /// Whether our own git may know it.
    fn is_for_vault(&self) -> bool {
        self.is_filter() || self.is("extensions.objectformat") || FILES.iter().any(|name| self.is(name))
    }

    /// Whether the agent's git may know it.
    fn is_for_agent(&self) -> bool {
        let key = self.key.as_str();
        let by_section = match self.section.as_str() {
            "remote" => !REMOTE_PROGRAMS.contains(&key),
            "branch" => true,
            "submodule" => SUBMODULE.contains(&key),
            section => SECTIONS.contains(&section),
        };
        by_section || self.is_for_vault() || CLONE.iter().any(|name| self.is(name))
    }

    fn is_true(&self) -> bool {
        match self.value.as_deref() {
            None => true,
            Some(value) => matches!(value.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1"),
        }
    }
}

impl GitSettings {
    /// Whether objects are left out and fetched when they are needed.
    pub(super) fn is_partial(&self) -> bool {
        let is_promisor =
            |one: &GitSetting| one.section == "remote" && one.key == "promisor" && one.is_true();
        self.all.iter().any(|one| one.is("extensions.partialclone") || is_promisor(one))
    }

    /// Whether fetching from a remote may remove the refs that hold commits for us.
    pub(super) fn is_mirror(&self) -> bool {
        let is_fetch = |one: &&GitSetting| one.section == "remote" && one.key == "fetch";
        self.all.iter().filter(is_fetch).filter_map(|one| one.value.as_deref()).any(reaches_held)
    }

    pub(super) fn for_vault(&self) -> String {
        let own = "\tbare = true\n\tlogAllRefUpdates = false\n[gc]\n\tauto = 0\n";
        self.text(own, GitSetting::is_for_vault)
    }

    pub(super) fn for_agent(&self) -> String {
        let own = "\tbare = false\n\tlogAllRefUpdates = true\n\tsplitIndex = false\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n";
        self.text(own, GitSetting::is_for_agent)
    }

    fn text(&self, own: &str, is_wanted: fn(&GitSetting) -> bool) -> String {
        let wanted: Vec<&GitSetting> = self.all.iter().filter(|one| is_wanted(one)).collect();
        let version = i32::from(wanted.iter().any(|one| one.section == "extensions"));
        let mut text = format!("[core]\n\trepositoryformatversion = {version}\n{own}");
        let mut header = String::new();
        for one in wanted {
            let next = match &one.subsection {
                Some(name) => format!("[{} \"{}\"]\n", one.section, escaped_name(name)),
                None => format!("[{}]\n", one.section),
            };
            if next != header {
                text.push_str(&next);
                header = next;
            }
            // Writing to a string cannot fail.
            let _ = match &one.value {
                Some(value) => writeln!(text, "\t{} = \"{}\"", one.key, escaped_value(value)),
                None => writeln!(text, "\t{}", one.key),
            };
        }
        text
    }
}

/// Whether a refspec such as `+refs/*:refs/*` writes to the refs that hold commits.
fn reaches_held(refspec: &str) -> bool {
    let Some((_, target)) = refspec.split_once(':') else { return false };
    let start = target.split_once('*').map(|(start, _)| start);
    start.is_some_and(|start| held::PREFIX.starts_with(start) || start.starts_with(held::PREFIX))
}

fn escaped_name(name: &str) -> String {
    name.replace('\\', "\\\\").replace('"', "\\\"")
}

fn escaped_value(value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"");
    value.replace('\n', "\\n").replace('\t', "\\t").replace('\u{8}', "\\b")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet_testkit::repo::Repo;

    fn settings(text: &str) -> (Repo, GitSettings) {
        let repo = Repo::init();
        std::fs::write(repo.path().join(".git/config"), text).unwrap();
        let read = read(&repo.path().join(".git")).unwrap();
        (repo, read)
    }

    #[test]
    fn programs_are_left_out_and_values_survive() {
        let (repo, settings) = settings(concat!(
            "[core]\n\tfsmonitor = /bin/evil\n\thooksPath = .husky\n\tautocrlf = input\n\teditor = vi\n",
            "[user]\n\tname = \"A \\\"B\\\" # C\"\n",
            "[remote \"origin\"]\n\turl = https://x/y\n\tuploadpack = evil\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
            "[merge \"x\"]\n\tdriver = evil\n[diff \"x\"]\n\ttextconv = evil\n[alias]\n\tst = !evil\n",
            "[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n\trequired\n",
            "[include]\n\tpath = ../.gitconfig\n",
        ));
        let (agent, vault) = (settings.for_agent(), settings.for_vault());
        for text in [&agent, &vault] {
            assert!(!text.contains("evil") && !text.contains("husky") && !text.contains("include"), "{text}");
            assert!(text.contains("git-lfs clean -- %f"), "{text}");
        }
        assert!(agent.contains("https://x/y") && !vault.contains("https://x/y"));
        std::fs::write(repo.path().join(".git/config"), agent).unwrap();
        assert_eq!(repo.git(&["config", "user.name"]).trim(), "A \"B\" # C");
        assert_eq!(repo.git(&["config", "--type=bool", "filter.lfs.required"]).trim(), "true");
        assert_eq!(repo.git(&["config", "core.autocrlf"]).trim(), "input");
    }

    #[test]
    fn a_mirror_is_known() {
        let mirrors =
            |refspec: &str| settings(&format!("[remote \"x\"]\n\tfetch = {refspec}\n")).1.is_mirror();
        assert!(mirrors("+refs/*:refs/*") && mirrors("refs/fleet/*:refs/fleet/*"));
        assert!(!mirrors("+refs/heads/*:refs/remotes/x/*") && !mirrors("+refs/heads/*:refs/heads/*"));
        assert!(!mirrors("refs/heads/main") && !mirrors("+refs/*:refs/remotes/x/*"));
    }

    #[test]
    fn a_partial_clone_is_known() {
        assert!(settings("[remote \"origin\"]\n\tpromisor = true\n").1.is_partial());
        assert!(settings("[extensions]\n\tpartialClone = origin\n").1.is_partial());
        assert!(!settings("[remote \"origin\"]\n\turl = x\n").1.is_partial());
    }
}
