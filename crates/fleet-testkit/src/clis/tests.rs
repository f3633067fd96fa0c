//! What does not need an installed agent.

use std::fs;

use super::*;

#[test]
fn every_platform_has_its_own_packages() {
    let platforms = [Platform::LinuxX64, Platform::LinuxArm64, Platform::DarwinArm64, Platform::DarwinX64];
    for platform in platforms {
        let manifest: serde_json::Value = serde_json::from_str(&platform.manifest()).unwrap();
        let packages = manifest["dependencies"].as_object().unwrap();
        let name = platform.name();
        assert_eq!(packages[&format!("codex-{name}")], format!("npm:@openai/codex@0.166.0-{name}"));
        assert!(packages.contains_key(&format!("opencode-{name}")), "{packages:?}");
        assert!(packages.contains_key(&format!("@anthropic-ai/claude-code-{name}")), "{packages:?}");
        assert_eq!(packages.len(), Cli::ALL.len());
    }
}

#[test]
fn the_lock_fits_and_names_no_registry() {
    let lock: serde_json::Value = serde_json::from_str(LOCK).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&Platform::LinuxX64.manifest()).unwrap();
    assert_eq!(lock["packages"][""]["dependencies"], manifest["dependencies"]);
    assert!(!LOCK.contains("://"), "an address in the lock");
    let packages = lock["packages"].as_object().unwrap().iter().filter(|(name, _)| !name.is_empty());
    for (name, package) in packages {
        assert!(package["integrity"].as_str().is_some_and(|hash| hash.starts_with("sha512-")), "{name}");
    }
}

#[test]
fn node_must_be_new_enough() {
    let check = |version: &str| check_node(Some(version.to_owned()));
    assert_eq!(check("v20.1.2"), Ok(()));
    assert_eq!(check("v22.0.0"), Ok(()));
    assert!(check("v18.20.0").unwrap_err().contains("this is v18.20.0"));
    assert!(check("unheard of").is_err());
    assert!(check_node(None).unwrap_err().contains("none on PATH"));
}

#[test]
fn an_installation_counts_once_it_is_complete() {
    let Some(platform) = Platform::this() else { return };
    let dir = tempfile::tempdir().unwrap();
    assert!(!is_installed(dir.path()));
    let error = mark_installed(dir.path(), platform).unwrap_err().to_string();
    assert!(error.starts_with("npm installed no claude"), "{error}");
    assert!(!is_installed(dir.path()));
}

#[test]
fn a_home_holds_what_the_agent_reads() {
    let dir = tempfile::tempdir().unwrap();
    let base = "http://127.0.0.1:1/s/ok/run";
    for (cli, file) in [
        (Cli::Codex, ".codex/config.toml"),
        (Cli::Opencode, ".config/opencode/opencode.json"),
        (Cli::Gemini, ".gemini/settings.json"),
        (Cli::Claude, ".claude/settings.json"),
    ] {
        let environment = cli.environment(base, dir.path());
        let written = fs::read_to_string(dir.path().join(file)).unwrap();
        let told = environment.iter().any(|(_, value)| value == base);
        assert!(told || written.contains(base), "{cli:?} knows where the model is");
        assert!(environment.iter().any(|(name, value)| name == "HOME" && value == dir.path()));
    }
}

#[test]
fn a_plan_takes_the_place_of_the_key() {
    let dir = tempfile::tempdir().unwrap();
    let environment = on_a_plan(Cli::Claude.environment("http://127.0.0.1:1/s/quota/run", dir.path()));
    let has = |wanted: &str| environment.iter().any(|(name, _)| name == wanted);
    assert!(has("CLAUDE_CODE_OAUTH_TOKEN") && has("ANTHROPIC_BASE_URL") && !has("ANTHROPIC_API_KEY"));
}
