//! Files that list tool servers, in the shape that agents and editors share: `{"mcpServers": {"name": {…}}}`.

use std::collections::BTreeMap;
use std::path::Path;

use fleet_agents::McpServer;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::escaped;
use serde::Deserialize;

use crate::text_file::{self, Unusable};

/// More than any list of servers.
const LIMIT: u64 = 1024 * 1024;

#[derive(Deserialize)]
struct McpFile {
    #[serde(rename = "mcpServers")]
    servers: BTreeMap<String, McpFileServer>,
}

/// What is started; other fields are for other programs.
#[derive(Deserialize)]
struct McpFileServer {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// The text of a file that a setting names.
pub(super) fn text(setting: &str, path: &Path) -> Outcome<String> {
    let wrong = |why: &dyn std::fmt::Display| {
        Problem::new(Code::ConfigInvalid, format!("{setting}: {}: {why}", path.display()))
    };
    text_file::read(path, LIMIT).map_err(|why| match why {
        Unusable::Missing => {
            wrong(&why).hint("a path that begins neither with `/` nor with `~/` begins in `$FLEET_HOME`")
        }
        _ => wrong(&why),
    })
}

/// The servers of a file. What its variables are set to is never part of a message.
pub(super) fn servers(setting: &str, path: &Path) -> Outcome<Vec<McpServer>> {
    let wrong = |why: String| {
        Problem::new(Code::ConfigInvalid, format!("{setting}: {}: {why}", path.display()))
            .hint(r#"such a file looks like `{"mcpServers": {"name": {"command": "server", "args": []}}}`"#)
    };
    let content: McpFile = serde_json::from_str(&text(setting, path)?).map_err(|error| {
        wrong(format!("not a list of tool servers, at line {} column {}", error.line(), error.column()))
    })?;
    let server = |(name, server): (String, McpFileServer)| {
        let McpFileServer { command, args, env } = server;
        if !is_name(&name) {
            return Err(wrong(format!("{:?} is not the name of a tool server", escaped(&name))));
        }
        let command = command.ok_or_else(|| {
            wrong(format!(
                "the tool server `{name}` has no `command`: only those that are started can be used"
            ))
        })?;
        Ok(McpServer { name, command, args, env: env.into_iter().collect() })
    };
    content.servers.into_iter().map(server).collect()
}

/// Agents make the names of tools from it.
fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (1..=64).contains(&text.len()) && text.chars().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Vec<McpServer>, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("servers.json");
        std::fs::write(&path, text).unwrap();
        servers("mcp", &path)
            .map_err(|problem| problem.to_string().replace(&format!("{}: ", path.display()), ""))
    }

    #[test]
    fn servers_come_with_what_starts_them() {
        let text = r#"{"mcpServers": {"b": {"type": "stdio", "command": "srv", "args": ["-x"], "env": {"K": "v"}},
                       "a": {"command": "/bin/a"}}, "other": 1}"#;
        let found = of(text).unwrap();
        let names: Vec<&str> = found.iter().map(|server| server.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!((found[1].command.as_str(), found[1].args.len()), ("srv", 1));
        assert_eq!(found[1].env, [("K".to_owned(), "v".to_owned())]);
        assert_eq!(of(r#"{"mcpServers": {}}"#), Ok(vec![]));
    }

    #[test]
    fn what_cannot_be_used_is_told_without_its_secrets() {
        assert!(of("{").unwrap_err().starts_with("mcp: not a list of tool servers, at line 1"));
        let secret = of(r#"{"mcpServers": {"a": {"command": "x", "env": {"K": 1234}}}}"#).unwrap_err();
        assert!(!secret.contains("1234"), "{secret}");
        let remote = of(r#"{"mcpServers": {"a": {"url": "http://x"}}}"#).unwrap_err();
        assert!(remote.contains("`a` has no `command`"), "{remote}");
        assert!(of(r#"{"mcpServers": {"a b": {"command": "x"}}}"#).unwrap_err().contains("not the name"));
        let problem = servers("mcp", Path::new("/nowhere/x.json")).unwrap_err();
        assert_eq!(problem.to_string(), "mcp: /nowhere/x.json: there is no such file");
    }
}
