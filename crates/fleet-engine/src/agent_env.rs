//! Which variables an agent gets.
//!
//! Owns the list of what passes from the user's environment, and which of several sources wins. An agent reads what
//! strangers wrote, so it sees only what it needs: a token that is not there cannot be sent anywhere. Must never pass
//! on everything but some names: a secret that is added tomorrow is not on our list.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;

use crate::config::Secret;
use crate::environment::{Environment, is_reserved, is_variable_name};

/// What passes to every agent: who and where one is, how to speak, and how to reach the network.
///
/// Nothing in it is a secret by its purpose, with one exception: the address of a proxy may hold a password, but
/// without it many people's agents would have no network at all. Left out on purpose: `SSH_AUTH_SOCK` (with it an agent
/// can log in elsewhere as the user), `GIT_SSH_COMMAND` and `GIT_ASKPASS` (an agent has no business with remotes),
/// `DBUS_SESSION_BUS_ADDRESS` and `XDG_RUNTIME_DIR` (the way to the user's keys and session manager), `COLORTERM` and
/// the like (there is no terminal), `PWD` and `VIRTUAL_ENV` (they point into the user's own checkout), `LD_PRELOAD`.
const COMMON: &[&str] = &[
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_DIRS",
    "XDG_CONFIG_HOME",
    "XDG_DATA_DIRS",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    // Both cases are in use.
    "ALL_PROXY",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    // The certificates to trust on the network.
    "CURL_CA_BUNDLE",
    "NIX_SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
];

/// Where tools are and keep their files. Without them an agent would build with another compiler than its user, or
/// download everything again.
const TOOLS: &[&str] = &[
    "ANDROID_HOME",
    "ASDF_DATA_DIR",
    "ASDF_DIR",
    "BUN_INSTALL",
    "CARGO_HOME",
    "DEVELOPER_DIR",
    "DOTNET_ROOT",
    "FNM_DIR",
    "GEM_HOME",
    "GOCACHE",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "HOMEBREW_PREFIX",
    "JAVA_HOME",
    "MISE_DATA_DIR",
    "NIX_PATH",
    "NIX_PROFILES",
    "NVM_DIR",
    "PNPM_HOME",
    "PYENV_ROOT",
    "RBENV_ROOT",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "SDKMAN_DIR",
    "SDKROOT",
    "VOLTA_HOME",
];

/// The author of commits, if it is set by variables, and where git's configuration is. What points git at a repository
/// never passes: see [`is_reserved`].
const GIT: &[&str] = &[
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
];

/// There is no person at the terminal: a program that asks or opens a pager would wait forever.
const UNATTENDED: &[(&str, &str)] =
    &[("GIT_EDITOR", "true"), ("GIT_PAGER", "cat"), ("GIT_TERMINAL_PROMPT", "0"), ("PAGER", "cat")];

/// What decides about an agent's variables, beside the list that holds for all. Later fields win.
///
/// Patterns are names, or beginnings of names with a `*` at the end.
#[derive(Clone, Copy)]
pub(crate) struct AgentEnv<'a> {
    /// Patterns of the user's variables that this agent's adapter asks for, such as its provider's key.
    pub(crate) vendor: &'a [Cow<'static, str>],
    /// Patterns of the user's variables that the configuration lets pass.
    pub(crate) pass: &'a [String],
    pub(crate) adapter: &'a [(String, String)],
    pub(crate) set: &'a BTreeMap<String, Secret>,
    /// What is said about the run. The only source of `FLEET_*`.
    pub(crate) run: &'a [(String, OsString)],
}

/// What is in the names of variables that hold a secret.
const SECRET_WORDS: &[&str] = &["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];

/// The values of an environment that are secret by their names: an agent that prints what it sees must not bring them
/// into a log.
pub(crate) fn secret_values(environment: &[(OsString, OsString)]) -> impl Iterator<Item = Vec<u8>> {
    let is_secret = |name: &OsString| {
        let name = name.to_string_lossy().to_ascii_uppercase();
        SECRET_WORDS.iter().any(|word| name.contains(word))
    };
    // A name of a file or a program is not a secret.
    let is_path = |value: &OsString| value.as_encoded_bytes().starts_with(b"/");
    let secret = environment.iter().filter(move |(name, value)| is_secret(name) && !is_path(value));
    secret.map(|(_, value)| value.as_encoded_bytes().to_vec())
}

/// The complete environment of an agent, sorted by name, each name once.
#[must_use]
pub(crate) fn agent_environment(inherited: &Environment, rules: &AgentEnv<'_>) -> Vec<(OsString, OsString)> {
    let mut all: BTreeMap<OsString, OsString> = BTreeMap::new();
    let mut put = |name: &str, value: OsString| all.insert(name.into(), value);
    for (name, value) in UNATTENDED {
        put(name, value.into());
    }
    for (name, value) in inherited.variables().filter(|(name, _)| passes(name, rules)) {
        put(name, value.to_owned());
    }
    let adapter = rules.adapter.iter().map(|(name, value)| (name, value.as_str()));
    let set = rules.set.iter().map(|(name, value)| (name, value.revealed()));
    for (name, value) in adapter.chain(set).filter(|(name, _)| !is_reserved(name)) {
        put(name, value.into());
    }
    for (name, value) in rules.run {
        put(name, value.clone());
    }
    all.into_iter().collect()
}

fn passes(name: &str, rules: &AgentEnv<'_>) -> bool {
    let listed = [COMMON, TOOLS, GIT].into_iter().flatten().copied();
    let listed = listed.chain(rules.vendor.iter().map(AsRef::as_ref));
    let mut patterns = listed.chain(rules.pass.iter().map(String::as_str));
    // A shell's exported functions have names that are none; a `*` must not let them in.
    is_variable_name(name) && !is_reserved(name) && patterns.any(|pattern| fits(pattern, name))
}

fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => pattern == name,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;

    const NO_RULES: AgentEnv<'_> =
        AgentEnv { vendor: &[], pass: &[], adapter: &[], set: &BTreeMap::new(), run: &[] };

    fn text(text: &str) -> String {
        text.to_owned()
    }

    fn inherited(names: &[&str]) -> Environment {
        Environment::from_pairs(names.iter().map(|&name| (name, format!("my {name}"))))
    }

    /// `NAME=value`, without the variables that every agent gets.
    fn lines(inherited: &Environment, rules: &AgentEnv<'_>) -> Vec<String> {
        agent_environment(inherited, rules)
            .into_iter()
            .map(|(name, value)| (name.into_string().unwrap(), value.into_string().unwrap()))
            .filter(|(name, value)| !UNATTENDED.contains(&(name.as_str(), value.as_str())))
            .map(|(name, value)| format!("{name}={value}"))
            .collect()
    }

    #[test]
    fn what_everybody_needs_passes_and_nothing_else() {
        let environment = inherited(&[
            "PATH",
            "HOME",
            "LC_ALL",
            "https_proxy",
            "CARGO_HOME",
            "GIT_AUTHOR_NAME",
            "AWS_SECRET_ACCESS_KEY",
            "ANTHROPIC_API_KEY",
            "GITHUB_TOKEN",
            "SSH_AUTH_SOCK",
            "LC",
            "PATHS",
            "path",
            "PWD",
            "LD_PRELOAD",
            "XDG_RUNTIME_DIR",
            "BASH_FUNC_x%%",
        ]);
        assert_eq!(
            lines(&environment, &NO_RULES),
            [
                "CARGO_HOME=my CARGO_HOME",
                "GIT_AUTHOR_NAME=my GIT_AUTHOR_NAME",
                "HOME=my HOME",
                "LC_ALL=my LC_ALL",
                "PATH=my PATH",
                "https_proxy=my https_proxy"
            ]
        );
    }

    #[test]
    fn adapters_and_configuration_let_more_pass() {
        let environment = inherited(&[
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "AWS_PROFILE",
            "AWS_REGION",
            "AWSOME",
            "EDITOR",
        ]);
        let rules = AgentEnv {
            vendor: &["ANTHROPIC_API_KEY".into(), "ANTHROPIC_MISSING".into()],
            pass: &[text("AWS_*"), text("EDITOR")],
            ..NO_RULES
        };
        assert_eq!(
            lines(&environment, &rules),
            [
                "ANTHROPIC_API_KEY=my ANTHROPIC_API_KEY",
                "AWS_PROFILE=my AWS_PROFILE",
                "AWS_REGION=my AWS_REGION",
                "EDITOR=my EDITOR"
            ]
        );
    }

    #[test]
    fn later_sources_win() {
        let environment = inherited(&["A", "B", "C", "D", "PAGER"]);
        let rules = AgentEnv {
            vendor: &["A".into(), "B".into()],
            pass: &[text("C"), text("D"), text("PAGER")],
            adapter: &[(text("B"), text("adapter")), (text("C"), text("adapter"))],
            set: &[(text("C"), Secret::whole("set")), (text("D"), Secret::whole("set"))].into(),
            run: &[(text("D"), "run".into()), (text("FLEET_RUN"), "r1".into())],
        };
        assert_eq!(
            lines(&environment, &rules),
            ["A=my A", "B=adapter", "C=set", "D=run", "FLEET_RUN=r1", "PAGER=my PAGER"]
        );
    }

    #[test]
    fn what_is_codefleets_own_comes_only_from_the_run() {
        let names = ["FLEET_HOME", "FLEET_TOKEN", "FLEET_STORE", "GIT_DIR", "GIT_INDEX_FILE", "GIT_TRACE"];
        let rules = AgentEnv {
            vendor: &["FLEET_HOME".into(), "GIT_DIR".into()],
            pass: &[text("*"), text("GIT_*"), text("FLEET_TOKEN")],
            adapter: &[(text("GIT_WORK_TREE"), text("x"))],
            set: &[(text("FLEET_STORE"), Secret::whole("x")), (text("GIT_DIR"), Secret::whole("x"))].into(),
            run: &[(text("FLEET_TOKEN"), "of the run".into())],
        };
        assert_eq!(lines(&inherited(&names), &rules), ["FLEET_TOKEN=of the run", "GIT_TRACE=my GIT_TRACE"]);
    }

    #[test]
    fn keys_and_tokens_are_secret_by_their_names() {
        let environment = [
            ("ANTHROPIC_API_KEY", "sk-ant-1"),
            ("GH_TOKEN", "ghp_2"),
            ("my_password", "3"),
            ("HOME", "/home/me"),
            ("SSL_KEY_FILE", "/etc/key"),
        ];
        let environment = environment.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let found: Vec<_> = secret_values(&environment).collect();
        assert_eq!(found, [b"sk-ant-1".to_vec(), b"ghp_2".to_vec(), b"3".to_vec()]);
    }

    #[test]
    fn a_star_lets_no_function_of_a_shell_in() {
        let rules = AgentEnv { pass: &[text("*")], ..NO_RULES };
        let environment = inherited(&["BASH_FUNC_x%%", "A", "", "1A"]);
        assert_eq!(lines(&environment, &rules), ["A=my A"]);
    }

    #[test]
    fn values_pass_as_they_are() {
        let odd = OsString::from_vec(b"/tmp/\xff".to_vec());
        let environment = Environment::from_pairs([
            (OsString::from("TMPDIR"), odd.clone()),
            (OsString::from("TERM"), OsString::new()),
            (OsString::from_vec(b"LC_\xff".to_vec()), OsString::from("x")),
        ]);
        let all = agent_environment(&environment, &NO_RULES);
        assert!(all.contains(&("TMPDIR".into(), odd)) && all.contains(&("TERM".into(), OsString::new())));
        assert_eq!(all.len(), UNATTENDED.len() + 2);
    }
}
