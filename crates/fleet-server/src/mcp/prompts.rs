//! Prompts: common ways to use the fleet, for people who choose them from a menu of their client.

use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::{escaped, shortened};
use fleet_engine::config::nearest;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

/// One way to use the fleet.
struct Recipe {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    /// Their names and descriptions.
    arguments: &'static [(&'static str, &'static str, ArgumentNeed)],
    /// The text, with `{argument}` placeholders.
    text: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ArgumentNeed {
    Required,
    /// The default.
    Else(&'static str),
}

const TASK: (&str, &str, ArgumentNeed) = ("task", "What is to be done", ArgumentNeed::Required);
const REPO: (&str, &str, ArgumentNeed) = (
    "repo_path",
    "The repository",
    ArgumentNeed::Else("the repository that we are working in (its absolute path)"),
);

const RECIPES: &[Recipe] = &[
    Recipe {
        name: "delegate",
        title: "Delegate one task",
        about: "Hand one piece of work to an agent, and review what comes back",
        arguments: &[TASK, REPO],
        text: "Delegate this task to a codefleet worker:\n\n{task}\n\nRepository: {repo_path}.\n\n\
               1. Write a prompt that stands alone: the worker sees the repository and your prompt, not our conversation. \
               Say what to change, how to check it, and what to leave alone.\n\
               2. create_worker, then wait for it.\n\
               3. collect_worker_result, then read the patch with get_diff. Judge it yourself.\n\
               4. If something is missing, say so with prompt_worker and wait again.\n\
               5. Tell me what was done, on which branch, and what you think of it. Do not merge before I agree.",
    },
    Recipe {
        name: "compete",
        title: "Let several agents compete",
        about: "Give one task to several agents, compare what they did, and name the best",
        arguments: &[TASK, REPO, ("count", "How many agents", ArgumentNeed::Else("three"))],
        text: "Let {count} codefleet workers compete for this task:\n\n{task}\n\nRepository: {repo_path}.\n\n\
               1. list_agents, and choose different executors where there are several.\n\
               2. create_worker once for each, with the same prompt and the same base_ref.\n\
               3. wait for all. One that failed drops out; the others go on.\n\
               4. For each, read collect_worker_result and the patch from get_diff. Compare correctness, tests, size and \
               clarity by what the code shows, not by what its author says.\n\
               5. Name the winner and why, with branch and commit, and what the others did better. Do not merge before I \
               agree; cleanup_worker keeps branches that have not landed.",
    },
    Recipe {
        name: "write-review-refine",
        title: "Write, review, refine",
        about: "One agent writes, another one reviews, the first one refines",
        arguments: &[TASK, REPO],
        text: "Have this done by a codefleet workflow:\n\n{task}\n\nRepository: {repo_path}.\n\n\
               1. Write a task_prompt that stands alone: the agents see the repository and this text, not our \
               conversation. Say what to change, how to check it, and what to leave alone.\n\
               2. create_workflow with workflow write-review-refine and that task_prompt, then wait with workflow_ids.\n\
               3. collect_workflow_result with include_all_stages, then read the patch with get_diff and the worker_id of \
               the last stage that has a branch. Judge it yourself.\n\
               4. Tell me the outcome, on which of its branches, what the review found and what was not taken up. Do not \
               merge before I agree.",
    },
    Recipe {
        name: "triage",
        title: "Triage the backlog",
        about: "Look through workers that need attention, and propose what to do with each",
        arguments: &[],
        text: "Look through the codefleet workers and tell me what needs attention.\n\n\
               1. list_workers with statuses failed, timed_out and cancelled, then pending, page by page.\n\
               2. For those that failed, read collect_worker_result with include_logs and find the cause.\n\
               3. Group them: to be tried again with prompt_worker and better instructions, to be given up, waiting for a \
               person, done and not merged.\n\
               4. Show me the list with one line each and your proposal. Change nothing before I agree.",
    },
];

/// All of them, as clients see them.
pub(super) fn described() -> Vec<Prompt> {
    let argument = |(name, about, need): &(&str, &str, ArgumentNeed)| {
        PromptArgument::new(*name).with_description(*about).with_required(*need == ArgumentNeed::Required)
    };
    let prompt = |recipe: &Recipe| {
        let arguments = recipe.arguments.iter().map(argument).collect();
        Prompt::new(recipe.name, Some(recipe.about), Some(arguments)).with_title(recipe.title)
    };
    RECIPES.iter().map(prompt).collect()
}

pub(super) fn fill(name: &str, given: &JsonObject) -> Outcome<GetPromptResult> {
    let Some(recipe) = RECIPES.iter().find(|recipe| recipe.name == name) else {
        let shown = shortened(name, 60);
        let problem = Problem::new(Code::InvalidValue, format!("there is no prompt {:?}", escaped(&shown)));
        let names = || RECIPES.iter().map(|recipe| recipe.name.to_owned());
        let problem = match nearest(name, names()) {
            Some(meant) => problem.hint(format!("did you mean `{meant}`?")),
            None => problem,
        };
        return Err(problem.hint(format!("there are {}", names().collect::<Vec<_>>().join(", "))));
    };
    if let Some(unknown) = given.keys().find(|key| recipe.arguments.iter().all(|(known, ..)| known != key)) {
        let shown = shortened(unknown, 60);
        let message = format!("the prompt {name} has no argument {:?}", escaped(&shown));
        return Err(Problem::new(Code::InvalidValue, message));
    }
    let mut values = Vec::new();
    for (argument, about, need) in recipe.arguments {
        let value = given.get(*argument).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        let value = match (value, need) {
            (Some(value), _) => value,
            (None, ArgumentNeed::Else(usual)) => usual,
            (None, ArgumentNeed::Required) => {
                let message = format!("the prompt {name} needs the argument `{argument}`");
                return Err(Problem::new(Code::InvalidValue, message).hint(format!("`{argument}`: {about}")));
            }
        };
        values.push((*argument, value));
    }
    let message = PromptMessage::new_text(Role::User, filled(recipe.text, &values));
    Ok(GetPromptResult::new(vec![message]).with_description(recipe.about))
}

/// The text with its arguments, which are not searched for placeholders.
fn filled(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let found = after.split_once('}').and_then(|(name, after)| {
            let (_, value) = values.iter().find(|(known, _)| *known == name)?;
            Some((*value, after))
        });
        let (value, after) = found.unwrap_or(("{", after));
        filled.push_str(value);
        rest = after;
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(name: &str, given: Value) -> Outcome<String> {
        let Value::Object(given) = given else { panic!("an object") };
        fill(name, &given).map(|result| {
            serde_json::to_value(&result.messages[0].content).unwrap()["text"].as_str().unwrap().to_owned()
        })
    }

    #[test]
    fn every_recipe_uses_all_of_its_arguments_and_names_real_tools() {
        let tools: Vec<&str> = crate::mcp::tools::described().iter().map(|tool| tool.name.as_ref()).collect();
        for recipe in RECIPES {
            for (argument, ..) in recipe.arguments {
                assert!(recipe.text.contains(&format!("{{{argument}}}")), "{} {argument}", recipe.name);
            }
            assert!(tools.iter().filter(|tool| recipe.text.contains(**tool)).count() >= 2, "{}", recipe.name);
        }
    }

    #[test]
    fn what_is_put_in_is_not_looked_at_again() {
        let said = text("delegate", json!({"task": "Fix {repo_path} {x}"})).unwrap();
        assert!(said.contains("Fix {repo_path} {x}\n"), "{said}");
        assert!(said.contains("Repository: the repository that we"), "{said}");
    }

    #[test]
    fn what_is_missing_or_unknown_is_named() {
        for (name, given, message) in [
            ("delegat", json!({}), "no prompt \"delegat\""),
            ("delegate", json!({}), "needs the argument `task`"),
            ("delegate", json!({"task": " "}), "needs the argument `task`"),
            ("triage", json!({"task": "x"}), "has no argument \"task\""),
        ] {
            let problem = text(name, given).unwrap_err();
            assert!(problem.to_string().contains(message), "{problem}");
        }
        assert_eq!(text("delegat", json!({})).unwrap_err().hints[0], "did you mean `delegate`?");
    }
}
