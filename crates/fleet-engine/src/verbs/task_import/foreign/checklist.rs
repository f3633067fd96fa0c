//! Checklists in Markdown: `- [ ] Title`. An item waits for the items below it; text below an item is its description.

use super::{Issue, IssueState};

/// Whether a line is an item of a checklist.
pub(super) fn is_item(line: &str) -> bool {
    item(line).is_some()
}

struct Item<'t> {
    indent: usize,
    is_done: bool,
    title: &'t str,
}

fn item(line: &str) -> Option<Item<'_>> {
    let text = line.trim_start();
    let bullet = text.strip_prefix(['-', '*', '+']);
    let numbered = || {
        let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
        if rest.len() == text.len() { None } else { rest.strip_prefix(['.', ')']) }
    };
    let rest = bullet.or_else(numbered)?.trim_start().strip_prefix('[')?;
    let (mark, title) = rest.split_once(']')?;
    let is_done = match mark {
        " " | "" => false,
        "x" | "X" => true,
        _ => return None,
    };
    let title = title.trim();
    let width = |c: char| if c == '\t' { 4 } else { 1 };
    let indent = line.chars().take_while(|c| c.is_whitespace()).map(width).sum();
    (!title.is_empty() && !title.starts_with('(')).then_some(Item { indent, is_done, title })
}

pub(super) fn read(text: &str) -> Result<Vec<Issue>, String> {
    let mut issues: Vec<Issue> = Vec::new();
    // The items that enclose the current line: their indents and positions.
    let mut open: Vec<(usize, usize)> = Vec::new();
    for line in text.lines() {
        let Some(item) = item(line) else {
            describe(line, &mut open, &mut issues);
            continue;
        };
        open.retain(|(indent, _)| *indent < item.indent);
        let parent = open.last().map(|(_, at)| *at);
        let id = unused(&issues, &name(parent.map(|at| issues[at].id.as_str()), item.title));
        if let Some(at) = parent {
            issues[at].after.push(id.clone());
        }
        open.push((item.indent, issues.len()));
        let state = if item.is_done { IssueState::Done } else { IssueState::Open };
        issues.push(Issue { id, title: item.title.to_owned(), state, ..Issue::default() });
    }
    if issues.is_empty() { Err("it has no items such as `- [ ] Title`".to_owned()) } else { Ok(issues) }
}

/// Adds an indented line to the description of the item above it; any other text ends the item.
fn describe(line: &str, open: &mut Vec<(usize, usize)>, issues: &mut [Issue]) {
    let indent = line.chars().take_while(|c| c.is_whitespace()).count();
    if !line.trim().is_empty() {
        open.retain(|(of_item, _)| *of_item < indent);
    }
    if let Some(issue) = open.last().and_then(|(_, at)| issues.get_mut(*at)) {
        issue.description.push_str(line.trim());
        issue.description.push('\n');
    }
}

fn name(parent: Option<&str>, title: &str) -> String {
    match parent {
        Some(parent) => format!("{parent} / {title}"),
        None => format!("checklist:{title}"),
    }
}

/// Two items may have the same title.
fn unused(issues: &[Issue], id: &str) -> String {
    let is_taken = |id: &str| issues.iter().any(|issue| issue.id == id);
    if !is_taken(id) {
        return id.to_owned();
    }
    let mut number = 2;
    while is_taken(&format!("{id} ({number})")) {
        number += 1;
    }
    format!("{id} ({number})")
}
