//! Looks for a newer release, at the address that the user configured. Must never change anything, and never ask the
//! network unless a person asked for this verb.

mod installation;

use std::fs;
use std::path::Path;
use std::time::Duration;

use fleet_api::verbs::update::{Answer, Request};
use fleet_core::text::{escaped, shortened};
use fleet_host::process::{ProcessQuery, ask};
use serde_json::Value;

use self::installation::{Around, Installation, detect, is_newer};
use super::prelude::*;
use crate::agent_env::{AgentEnv, agent_environment};
use crate::environment::Environment;

/// For the whole of a request.
const SECONDS: &str = "10";
/// For curl to start and end besides.
const PATIENCE: Duration = Duration::from_secs(15);

pub(crate) async fn run(engine: &Engine, _: Request) -> Outcome<Answer> {
    engine.position().check_reach()?;
    let current = env!("CARGO_PKG_VERSION").to_owned();
    let installed = installation()?;
    let latest = match engine.config()?.updates().url.as_str() {
        "none" => None,
        url => Some(latest(engine, url).await?),
    };
    let is_newer = latest.as_deref().is_some_and(|latest| is_newer(&current, latest));
    let command = latest.as_deref().map(|latest| installed.command(latest)).unwrap_or_default();
    Ok(Answer { current, latest, is_newer, installed_by: installed.by, command, advice: installed.advice() })
}

fn installation() -> Outcome<Installation> {
    let program = Environment::this_binary()?;
    let program = program.canonicalize().unwrap_or(program);
    let root = program.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
    let cargo_list = fs::read_to_string(root.join(".crates.toml")).unwrap_or_default();
    Ok(detect(&program, &Around { exists: &|path| path.exists(), cargo_list: &cargo_list }))
}

/// The newest version that the document names. With curl, which knows the proxies and authorities of its machine.
async fn latest(engine: &Engine, url: &str) -> Outcome<String> {
    let Some(curl) = engine.environment().find_program("curl") else {
        return Err(Problem::new(Code::Io, "curl is not installed, and `fleet update` uses it")
            .hint("install curl, or look yourself at the address of `fleet config get update.url`"));
    };
    let set = std::collections::BTreeMap::new();
    let rules = AgentEnv { vendor: &[], pass: &[], adapter: &[], set: &set, run: &[] };
    // `--disable` first: the user's own options could do anything.
    let options = ["--disable", "--fail", "--silent", "--show-error", "--location", "--max-time", SECONDS];
    let more = ["--proto", "=http,https", "--header", "Accept: application/json", "--", url];
    let question = ProcessQuery {
        program: curl,
        args: options.iter().chain(&more).map(Into::into).collect(),
        env: agent_environment(engine.environment(), &rules),
        cwd: "/".into(),
        patience: PATIENCE,
    };
    let answer = blocking(move || ask(&question)).await?;
    let failed = |why: String| {
        Problem::new(Code::Io, format!("cannot find out the newest release: {}", escaped(&why)))
            .hint("`fleet config get update.url` shows where it was looked for")
    };
    let text = answer.map_err(|error| failed(error.to_string()))?;
    version(&text).ok_or_else(|| failed("the answer names no version".to_owned()))
}

/// In a document of GitHub, crates.io, PyPI or npm, or in one that just has a `version`.
fn version(text: &str) -> Option<String> {
    let document: Value = serde_json::from_str(text).ok()?;
    let places = ["/tag_name", "/crate/max_stable_version", "/info/version", "/dist-tags/latest", "/version"];
    let found = places.iter().find_map(|place| document.pointer(place)?.as_str())?;
    let plain = found.trim_start_matches(['v', 'V']);
    let is_version = plain.starts_with(|c: char| c.is_ascii_digit())
        && plain.chars().all(|c| c.is_ascii_alphanumeric() || ".-+".contains(c));
    is_version.then(|| shortened(plain, 100).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_where_registries_have_it() {
        for text in [
            r#"{"tag_name":"v1.2.3"}"#,
            r#"{"crate":{"max_stable_version":"1.2.3"}}"#,
            r#"{"info":{"version":"1.2.3"}}"#,
            r#"{"dist-tags":{"latest":"1.2.3"}}"#,
            r#"{"version":"1.2.3"}"#,
        ] {
            assert_eq!(version(text).as_deref(), Some("1.2.3"), "{text}");
        }
        for text in ["", "{}", r#"{"version":3}"#, r#"{"version":"--upload"}"#, r#"{"version":"1; rm"}"#] {
            assert_eq!(version(text), None, "{text}");
        }
    }
}
