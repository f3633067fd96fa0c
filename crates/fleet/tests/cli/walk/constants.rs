//! What differs from walk to walk, replaced by what does not; tables stay aligned.

use std::collections::BTreeMap;

use serde_json::Value;

use super::World;

pub(super) struct Constants {
    /// Ids with their constants, which are as long.
    ids: BTreeMap<String, String>,
    /// Paths and names, longest first.
    names: Vec<(String, &'static str)>,
}

impl Constants {
    pub(super) fn new(world: &World) -> Self {
        let text = |path: &std::path::Path| path.display().to_string();
        let mut names = vec![
            (text(world.fleet.home()), "~/.fleet"),
            (text(world.repo.path()), "~/shop"),
            (text(world.fleet.user_home()), "~"),
            (file_name(world.repo.path()), "shop"),
            (env!("CARGO_BIN_EXE_fleet").to_owned(), "/usr/bin/fleet"),
        ];
        let git = world.repo.git(&["--version"]);
        names.push((git.replace("git version ", ""), "2.47.0"));
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        Self { ids: BTreeMap::new(), names }
    }

    /// Learns the ids that are there now: some are gone later. They are numbered by task, then by attempt.
    pub(super) fn learn(&mut self, world: &World) {
        let list = |arguments: &[&str], name: &str| match world.fleet.json(arguments)[name].take() {
            Value::Array(found) => found,
            other => panic!("a list, not {other}"),
        };
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let tasks = list(&["task", "list", "--all", "-n", "500"], "tasks");
        let mut runs = list(&["list", "--all"], "runs");
        let workflows = list(&["workflow", "list", "--all"], "workflows");
        runs.sort_by_key(|run| (text(&run["task"]), run["attempt"].as_u64()));
        let runners = runs.iter().map(|run| (text(&run["runner"]), "laptop"));
        let sessions = runs.iter().filter_map(|run| Some((run["session"].as_str()?.to_owned(), "demo-1")));
        self.names.extend(runners.chain(sessions));
        let mut all: Vec<String> = tasks.iter().chain(&workflows).map(|one| text(&one["id"])).collect();
        all.extend(tasks.iter().filter_map(|task| task["batch"].as_str()).map(ToOwned::to_owned));
        all.sort();
        all.extend(runs.iter().map(|run| text(&run["id"])));
        for id in all {
            let kind = id[..1].to_owned();
            let number = self.ids.keys().filter(|known| known.starts_with(&kind)).count() + 1;
            self.ids.entry(id).or_insert_with(|| format!("{kind}000000000{number:05}"));
        }
    }

    pub(super) fn put_into(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (id, constant) in &self.ids {
            text = text.replace(id, constant);
        }
        for (id, constant) in self.ids.iter().filter(|(id, _)| id.starts_with('t')) {
            text = text.replace(&id[10..], &constant[10..]);
        }
        let lines: Vec<&str> = text.lines().collect();
        let mut out = Vec::new();
        let mut rest = lines.as_slice();
        while let [line, below @ ..] = rest {
            let columns = columns(line);
            let rows = below.iter().take_while(|row| is_row(row, &columns)).count();
            let (table, others) =
                if columns.is_empty() { (&rest[..1], below) } else { rest.split_at(rows + 1) };
            out.extend(self.aligned(table, &columns));
            rest = others;
        }
        out.join("\n")
    }

    /// The lines with their times replaced, and each column as wide as it then has to be.
    fn aligned(&self, lines: &[&str], columns: &[usize]) -> Vec<String> {
        let cells = |line: &&str| -> Vec<String> {
            let chars: Vec<char> = line.chars().collect();
            let ends = columns.iter().skip(1).copied().chain([usize::MAX]);
            let cell = |(from, to): (&usize, usize)| {
                let cell = chars.get(*from..to.min(chars.len())).unwrap_or_default();
                self.constant(cell.iter().collect::<String>().trim_end())
            };
            columns.iter().zip(ends).map(cell).collect()
        };
        if columns.is_empty() {
            return lines.iter().map(|line| self.constant(line)).collect();
        }
        let rows: Vec<Vec<String>> = lines.iter().map(cells).collect();
        let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns.len()).map(width).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        rows.iter().map(line).collect()
    }

    fn constant(&self, text: &str) -> String {
        let named = self.names.iter().fold(text.to_owned(), |text, (name, to)| text.replace(name, to));
        timeless(&named)
    }
}

fn file_name(path: &std::path::Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// Where the columns of a header begin; none if it is not a header.
fn columns(line: &str) -> Vec<usize> {
    let is_header = line.contains("  ") && line.chars().all(|c| c.is_ascii_uppercase() || c == ' ');
    if !is_header || line.starts_with(' ') {
        return vec![];
    }
    let begins = |at: &usize| *at == 0 || (line[..*at].ends_with("  ") && !line[*at..].starts_with(' '));
    (0..line.len()).filter(begins).collect()
}

fn is_row(line: &str, columns: &[usize]) -> bool {
    let chars: Vec<char> = line.chars().collect();
    let is_gap = |at: &usize| chars.get(at - 2..*at).is_none_or(|gap| gap == [' ', ' ']);
    !line.is_empty() && columns.iter().filter(|at| **at > 0).all(is_gap)
}

/// Words that are times, amounts of memory and disk, processes and commits.
fn timeless(line: &str) -> String {
    let mut words: Vec<String> = line.split(' ').map(constant_word).collect();
    for at in 1..words.len() {
        let is_process = matches!(words[at - 1].as_str(), "pid" | "-9");
        if is_process && words[at].starts_with(|c: char| c.is_ascii_digit()) {
            let end = words[at].trim_start_matches(|c: char| c.is_ascii_digit()).to_owned();
            words[at] = format!("1234{end}");
        }
    }
    words.join(" ")
}

fn constant_word(word: &str) -> String {
    let bare = word.trim_end_matches([',', ':', ';', ')', '.']).trim_start_matches('(');
    let constant = match bare {
        _ if is_span(bare) => "1s".to_owned(),
        _ if has_form(bare, "0000-00-00") => "2026-01-01".to_owned(),
        _ if has_form(bare, "00:00:00") => "12:00:00".to_owned(),
        _ if is_size(bare) => "1kB".to_owned(),
        _ => commits(bare),
    };
    word.replacen(bare, &constant, 1)
}

/// `4s`, `1.2s`, `1m30s`, `4h12m`, `500ms`.
fn is_span(word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, 'h' | 'm' | 's' | '.');
    word.len() >= 2
        && word.starts_with(|c: char| c.is_ascii_digit())
        && word.ends_with(['s', 'm'])
        && word.chars().all(is_part)
}

fn is_size(word: &str) -> bool {
    let number = ["kB", "MB", "GB", "B"].iter().find_map(|unit| word.strip_suffix(unit));
    number.is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

fn has_form(word: &str, form: &str) -> bool {
    let fits = |(is, should): (char, char)| if should == '0' { is.is_ascii_digit() } else { is == should };
    word.len() == form.len() && word.chars().zip(form.chars()).all(fits)
}

/// Hashes of seven digits or more become ones, also within a word such as `1a2b3c4..5d6e7f8`.
fn commits(word: &str) -> String {
    let mut out = String::new();
    let mut digits = String::new();
    for c in word.chars().chain(['\n']) {
        if c.is_ascii_digit() || ('a'..='f').contains(&c) {
            digits.push(c);
            continue;
        }
        let is_hash = digits.len() >= 7 && digits.contains(|c: char| c.is_ascii_digit());
        out.push_str(&if is_hash && !digits.starts_with("000000") { "1".repeat(7) } else { digits });
        digits = String::new();
        out.push(c);
    }
    out.pop();
    out
}

#[test]
fn tables_stay_aligned() {
    let constants = Constants { ids: BTreeMap::new(), names: vec![] };
    let text = "ID  ENDED    TITLE\na   52s ago  Fix 12s\nb            x\nthe rest, 1.5s\n";
    let wanted = "ID  ENDED   TITLE\na   1s ago  Fix 1s\nb           x\nthe rest, 1s";
    assert_eq!(constants.put_into(text), wanted);
    assert_eq!(commits("833da12..32df48b"), "1111111..1111111");
}
