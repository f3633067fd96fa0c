use fleet_api::verbs::why::Answer;
use fleet_core::text::{escaped, escaped_lines};
use fleet_core::time::Millis;

use crate::output::{arrows, dim, fields, paint_status, strong, until};

command! {
    /// Explain a task: what happened, the evidence, what comes next
    #[command(after_help = EXAMPLES)]
    #[command(display_order = 90)]
    Why(why) shows render
}

const EXAMPLES: &str = "Examples:
  fleet why login-fix
  fleet why t0skybd1 --json | jq -r .reason";

fn render(answer: &Answer, now: Millis) -> String {
    let head = format!("{}  {}", strong(answer.task.to_string().as_str()), strong(&escaped(&answer.title)));
    let mut rows = vec![
        ("status", paint_status(&answer.status)),
        ("what", escaped_lines(answer.what.trim_end()).into_owned()),
    ];
    if let Some(reason) = answer.reason {
        rows.push(("reason", reason.to_string()));
    }
    let attempt = answer.attempt.map(|attempt| format!(", attempt {attempt}"));
    rows.push(("agent", format!("{}{}", answer.agent, attempt.unwrap_or_default())));
    let at = answer.next_at.as_ref().map(|at| format!(" ({})", until(at.0, now)));
    rows.push(("next", format!("{}{}", escaped(&answer.next), at.unwrap_or_default())));
    let evidence: Vec<String> = answer.evidence.iter().map(|seen| indented(seen)).collect();
    let mut parts = vec![head, fields(&rows)];
    if !evidence.is_empty() {
        parts.push(format!("{}\n{}", dim("evidence"), evidence.join("\n")));
    }
    if !answer.advice.is_empty() {
        parts.push(arrows(&answer.advice));
    }
    parts.join("\n\n")
}

/// What agents say may have several lines.
fn indented(text: &str) -> String {
    format!("  {}", escaped_lines(text.trim_end()).replace('\n', "\n    "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_lines_of_an_agent_are_shown_as_lines() {
        let answer = Answer {
            task: "t0sp8vxvppagbpg".parse().unwrap(),
            title: "One".to_owned(),
            status: "failed".to_owned(),
            run: None,
            attempt: None,
            agent: "demo".to_owned(),
            reason: None,
            what: "it failed: no\nway\n".to_owned(),
            evidence: vec!["the agent reported an error: {\n  \"a\": 1\n}".to_owned()],
            next: "nothing".to_owned(),
            next_at: None,
            advice: Vec::new(),
        };
        let shown = anstream::adapter::strip_str(&render(&answer, Millis(0))).to_string();
        insta::assert_snapshot!(shown, @r#"
        t0sp8vxvppagbpg  One

        status      failed
        what        it failed: no
                    way
        agent       demo
        next        nothing

        evidence
          the agent reported an error: {
              "a": 1
            }
        "#);
    }
}
