//! What the file of a new project begins with, by the type of the project. Pure.

use fleet_api::verbs::init::ProjectType;

/// Whether a file is there, by its path in the repository.
pub(super) type Has<'a> = &'a dyn Fn(&str) -> bool;

/// What a project's file says. Checks are a suggestion: a project may have none that succeed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::verbs) struct Preset {
    pub(in crate::verbs) agent: Option<String>,
    pub(in crate::verbs) copy: Vec<String>,
    pub(in crate::verbs) setup: Vec<String>,
    pub(in crate::verbs) suggested_checks: Vec<String>,
}

/// The type, by files at the top of the repository: what is found first decides, so the most special comes first.
pub(super) fn detect(has: Has<'_>) -> ProjectType {
    let is_rails = || has("Gemfile") && (has("bin/rails") || has("config/application.rb"));
    let is_python = || ["pyproject.toml", "requirements.txt", "setup.py"].iter().any(|file| has(file));
    match () {
        () if is_rails() => ProjectType::Rails,
        () if has("Cargo.toml") => ProjectType::Rust,
        () if has("go.mod") => ProjectType::Go,
        () if has("package.json") => ProjectType::Node,
        () if is_python() => ProjectType::Python,
        () => ProjectType::Generic,
    }
}

pub(super) fn preset(kind: ProjectType, has: Has<'_>) -> Preset {
    let (copy, setup, checks): (&[&str], Vec<&str>, &str) = match kind {
        ProjectType::Rails => {
            let assets = has("package.json").then(|| node(has));
            let setup =
                std::iter::once("bundle install").chain(assets).chain(["bundle exec rails db:prepare"]);
            (&["config/master.key", ".env", ".env.local"], setup.collect(), "bundle exec rails test")
        }
        ProjectType::Node => (&[".env", ".env.local"], vec![node(has)], "npm test"),
        ProjectType::Python => (&[".env"], python(has).into_iter().collect(), "pytest"),
        ProjectType::Rust => (&[], vec![], "cargo test"),
        ProjectType::Go => (&[], vec!["go mod download"], "go test ./..."),
        ProjectType::Generic | ProjectType::Minimal => (&[], vec![], "make test"),
    };
    let owned = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect();
    Preset { agent: None, copy: owned(copy), setup: owned(&setup), suggested_checks: owned(&[checks]) }
}

/// As the lock file says: another tool would write one of its own.
fn node(has: Has<'_>) -> &'static str {
    match () {
        () if has("pnpm-lock.yaml") => "pnpm install --frozen-lockfile",
        () if has("yarn.lock") => "yarn install",
        () if has("bun.lock") || has("bun.lockb") => "bun install",
        () if has("package-lock.json") => "npm ci",
        () => "npm install",
    }
}

fn python(has: Has<'_>) -> Option<&'static str> {
    match () {
        () if has("uv.lock") => Some("uv sync"),
        () if has("poetry.lock") => Some("poetry install"),
        () if has("requirements.txt") => Some("pip install -r requirements.txt"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with<T>(files: &[&str], look: impl FnOnce(Has<'_>) -> T) -> T {
        look(&|file| files.contains(&file))
    }

    #[test]
    fn the_type_is_seen_by_files_at_the_top() {
        for (files, kind) in [
            (&["Gemfile", "bin/rails", "package.json"][..], ProjectType::Rails),
            (&["Gemfile", "config/application.rb"], ProjectType::Rails),
            (&["Gemfile"], ProjectType::Generic),
            (&["package.json", "requirements.txt"], ProjectType::Node),
            (&["Cargo.toml", "package.json"], ProjectType::Rust),
            (&["go.mod"], ProjectType::Go),
            (&["pyproject.toml"], ProjectType::Python),
            (&["setup.py"], ProjectType::Python),
            (&[], ProjectType::Generic),
        ] {
            assert_eq!(with(files, detect), kind, "{files:?}");
        }
    }

    #[test]
    fn commands_are_those_of_the_lock_file() {
        let setup = |kind, files: &[&str]| with(files, |has| preset(kind, has)).setup.join("; ");
        assert_eq!(setup(ProjectType::Node, &["pnpm-lock.yaml"]), "pnpm install --frozen-lockfile");
        assert_eq!(setup(ProjectType::Node, &["package-lock.json"]), "npm ci");
        assert_eq!(setup(ProjectType::Node, &[]), "npm install");
        assert_eq!(
            setup(ProjectType::Rails, &["package.json", "yarn.lock"]),
            "bundle install; yarn install; bundle exec rails db:prepare"
        );
        assert_eq!(setup(ProjectType::Rails, &[]), "bundle install; bundle exec rails db:prepare");
        assert_eq!(setup(ProjectType::Python, &["uv.lock", "requirements.txt"]), "uv sync");
        assert_eq!(setup(ProjectType::Python, &["pyproject.toml"]), "");
    }
}
