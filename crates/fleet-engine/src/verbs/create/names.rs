//! Names that are made from prompts, and names that are taken. Pure.

use std::path::Path;

use fleet_core::text::is_unprintable;

use crate::verbs::prelude::*;

/// A title is read in lists: at most this many characters.
const LONGEST_TITLE: usize = 100;
/// A made name is typed by people: at most this many words and characters.
const MAX_WORDS: usize = 5;
const LONGEST_SLUG: usize = 40;

/// The first line of a prompt that says something, cut.
pub(super) fn title(prompt: &str) -> Outcome<String> {
    let lines = || prompt.lines().map(str::trim);
    let says_something = |line: &&str| line.contains(char::is_alphanumeric) && !line.starts_with("```");
    let line = lines().find(says_something).or_else(|| lines().find(|line| !line.is_empty()));
    let line = line.ok_or_else(|| {
        Problem::field("prompt", "it is empty")
            .hint("`-p TEXT`, `--prompt-file FILE`, or `-` for standard input")
    })?;
    let plain: String = line.chars().map(|c| if is_unprintable(c) { ' ' } else { c }).collect();
    let plain = plain.trim_start_matches('#').trim();
    let plain = if plain.is_empty() { line } else { plain };
    if plain.chars().count() <= LONGEST_TITLE {
        return Ok(plain.to_owned());
    }
    let cut: String = plain.chars().take(LONGEST_TITLE - 1).collect();
    Ok(format!("{}…", cut.trim_end()))
}

/// The beginning of names of branches, from the first words of a prompt.
pub(in crate::verbs) fn slug(prompt: &str) -> Outcome<String> {
    let title = title(prompt)?.to_lowercase();
    let words = title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut slug = String::new();
    for word in words.take(MAX_WORDS) {
        let dash = usize::from(!slug.is_empty());
        if slug.chars().count() + dash + word.chars().count() > LONGEST_SLUG {
            break;
        }
        if dash > 0 {
            slug.push('-');
        }
        slug.push_str(word);
    }
    Ok(if slug.is_empty() { "fanout".to_owned() } else { slug })
}

/// `A`, `B` … `Z`, `AA`, `AB` …: what tells the branches of a fan-out apart.
pub(in crate::verbs) fn letters(number: usize) -> String {
    let mut letters = Vec::new();
    let mut rest = number + 1;
    while rest > 0 {
        rest -= 1;
        letters.push(char::from(b'A' + u8::try_from(rest % 26).unwrap_or(0)));
        rest /= 26;
    }
    letters.iter().rev().collect()
}

/// Names that could not exist side by side: git keeps them as files and folders.
pub(super) fn check_apart<'a>(branches: impl Iterator<Item = &'a str>) -> Outcome<()> {
    let mut sorted: Vec<&str> = branches.collect();
    sorted.sort_unstable();
    for (at, one) in sorted.iter().enumerate() {
        // Names below a name come after it, but perhaps not at once: `a`, `a-b`, `a/b`.
        for other in &sorted[at + 1..] {
            let Some(rest) = other.strip_prefix(one) else { break };
            if rest.is_empty() {
                return Err(Problem::new(Code::InvalidValue, format!("the branch {one} is named twice"))
                    .hint(
                        "each prompt needs its own branch; `fleet fanout` gives one prompt to several agents",
                    ));
            }
            if rest.starts_with('/') {
                let message = format!("the branches {one} and {other} cannot exist side by side");
                return Err(Problem::new(Code::InvalidValue, message)
                    .hint("git keeps names as files and folders: choose another name for one of them"));
            }
        }
    }
    Ok(())
}

/// The task that has a branch name already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NameHolder {
    /// An open task.
    Task(TaskId),
    /// The branch exists, perhaps with the work of a task that did not come to its end.
    Branch(Option<TaskId>),
    /// It is the branch of work in progress: checked out, or the one that everything goes to.
    Own,
    /// A branch that it cannot exist beside; a sentence says why.
    Neighbour(String),
}

/// The problem of a user whose branch name is taken.
pub(super) fn taken(branch: &str, holder: &NameHolder) -> Problem {
    let why = match holder {
        NameHolder::Task(task) => format!("it belongs to task {task}, which has not finished"),
        NameHolder::Branch(_) | NameHolder::Own => "it exists already".to_owned(),
        NameHolder::Neighbour(why) => why.clone(),
    };
    let problem = Problem::new(Code::BranchTaken, format!("the branch {branch} is taken: {why}"))
        .hint("choose another name; nothing was created");
    let base = build_on(branch);
    match holder {
        NameHolder::Task(_) => problem.hint(format!("`fleet kill {branch}` stops it; the branch stays")),
        NameHolder::Branch(task) => problem
            .hints(task.map(|task| format!("`fleet resume {task}` continues the work on it")))
            .hint(base)
            .hint(format!("`git branch -d {branch}` removes it, if its work is merged")),
        NameHolder::Own => problem.hint(base),
        NameHolder::Neighbour(_) => problem,
    }
}

/// The problem of a user whose branch has a work tree.
pub(super) fn in_use(branch: &str, place: &Path) -> Problem {
    let place = place.display();
    let message = format!("the branch {branch} is taken: it is checked out at {place}");
    Problem::new(Code::BranchTaken, message)
        .hint("switch to another branch there, then try again; nothing was created")
        .hint(build_on(branch))
}

/// The problem of a user who named the branch that everything goes to.
pub(super) fn is_main(branch: &str) -> Problem {
    let message = format!("the branch {branch} is the main branch: an agent would commit to it directly");
    Problem::new(Code::BranchTaken, message)
        .hint(build_on(branch))
        .hint(format!("`fleet create {branch} --force` works on it all the same; nothing was created"))
}

/// The problem of a user whose branch several remotes have.
pub(super) fn ambiguous(branch: &str, remotes: &[String]) -> Problem {
    let first = remotes.first().map_or("", String::as_str);
    Problem::field("branch", format!("there is no local branch {branch}, but {}", remotes.join(" and ")))
        .hint(format!("`git branch {branch} {first}` makes it; then try again; nothing was created"))
        .hint("or say which remote comes first: `git config checkout.defaultRemote REMOTE`")
}

/// The problem of a user who named a branch as git shows those of remotes.
pub(super) fn of_remote(typed: &str, remote: &str, branch: &str) -> Problem {
    Problem::field("branch", format!("{typed} is the branch {branch} of the remote {remote}"))
        .hint(format!("name it {branch}: the local branch is made from it; nothing was created"))
}

fn build_on(branch: &str) -> String {
    format!("to build on it, choose a new name and start from it: `--base {branch}`")
}
