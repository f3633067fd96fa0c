//! The story of the demo: a repository, and a handful of dependent tasks.

use fleet_api::TaskFields;
use fleet_api::verbs::{run_diff, task_add};
use fleet_api::views::TaskView;
use fleet_core::problem::Outcome;
use fleet_engine::playground::Contents;

use super::Context;

/// What the scratch repository has before anybody works on it.
pub(super) const CONTENTS: Contents<'_> = Contents {
    name: "demo",
    repository: "settings",
    files: &[
        ("README.md", "# settings\n\nReads and prints settings.\n"),
        ("src/__init__.py", ""),
        (".gitignore", "__pycache__/\n"),
    ],
};

/// A task of the demo: its title, its branch, the numbers of those that come first, and what the demo agent does.
struct Act {
    title: &'static str,
    branch: &'static str,
    after: &'static [usize],
    script: &'static str,
}

const ACTS: &[Act] = &[
    Act {
        title: "Write the parser",
        branch: "parser",
        after: &[],
        script: "think Lines like KEY = VALUE, comments with a #.\nsleep 700ms\n\
                 write src/parser.py def parse(line):\\n    key, _, value = line.partition(\"=\")\\n    \
                 return key.strip(), value.strip()\nusage 1800 240 0.011\nsleep 900ms\n\
                 commit Parse one line of settings\nsay The parser reads one line at a time.",
    },
    Act {
        title: "Write the printer",
        branch: "printer",
        after: &[],
        script: "sleep 500ms\nwrite src/printer.py def show(settings):\\n    for key, value in \
                 sorted(settings.items()):\\n        print(f\"{key} = {value}\")\nusage 1500 180 0.009\nsleep 1500ms\n\
                 say The printer sorts by key.",
    },
    Act {
        title: "Explain the format",
        branch: "format",
        after: &[],
        script: "sleep 600ms\nwrite docs/format.md # The format\\n\\nOne setting on each line: `key = value`.\nsleep 800ms\n\
                 append docs/format.md \\nComments begin with `#`.\nusage 900 320 0.007\nsay The format is explained.",
    },
    Act {
        title: "Test the parser",
        branch: "parser-test",
        after: &[0],
        script: "sleep 600ms\nwrite tests/test_parser.py from src.parser import parse\\n\\n\\ndef test_spaces():\\n    \
                 assert parse(\" a = 1 \") == (\"a\", \"1\")\nusage 2100 300 0.014\nsleep 900ms\n\
                 commit Test the parser\nsay One test, and it passes.",
    },
    Act {
        title: "Write the release notes",
        branch: "release-notes",
        after: &[1, 2, 3],
        script: "sleep 500ms\nwrite CHANGELOG.md # 0.1.0\\n\\n- A parser, a printer, and what they mean.\n\
                 usage 1100 150 0.006\nsleep 400ms\nsay The notes are written.",
    },
];

pub(super) async fn add_tasks(context: &Context) -> Outcome<Vec<TaskView>> {
    let mut tasks: Vec<TaskView> = Vec::new();
    for act in ACTS {
        let request = task_add::Request {
            title: act.title.to_owned(),
            after: act.after.iter().map(|number| tasks[*number].id.to_string()).collect(),
            fields: TaskFields {
                description: Some(format!("```demo\n{}\n```", act.script)),
                agent: Some("demo".to_owned()),
                branch: Some(act.branch.to_owned()),
                ..Default::default()
            },
            ..Default::default()
        };
        tasks.extend(context.call(request).await?.task);
    }
    Ok(tasks)
}

/// What the agent of a task changed, as git shows it.
pub(super) async fn patch(context: &Context, task: &TaskView) -> Outcome<String> {
    let style = Some(run_diff::Style::Patch);
    let request = run_diff::Request { id: task.id.to_string(), style, ..Default::default() };
    Ok(String::from_utf8_lossy(&context.call(request).await?.text.0).into_owned())
}
