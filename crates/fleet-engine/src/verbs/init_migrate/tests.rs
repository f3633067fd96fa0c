use fleet_testkit::repo::Repo;

use super::*;
use crate::EngineStart;
use crate::environment::Environment;

/// A user with a repository, and whatever other tools left.
struct World {
    dir: tempfile::TempDir,
    repo: Repo,
}

impl World {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), repo: Repo::init() }
    }

    fn engine(&self) -> Engine {
        let pairs = [("HOME", self.dir.path().to_owned()), ("FLEET_HOME", self.home())];
        let environment = Environment::from_pairs(pairs).with_current_directory(self.repo.path());
        Engine::new(EngineStart { environment, directory: None, flags: Vec::new() }).unwrap()
    }

    fn home(&self) -> std::path::PathBuf {
        self.dir.path().join("fleet")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    async fn migrate(&self, dry_run: bool) -> Vec<Step> {
        run(&self.engine(), Request { dry_run }).await.unwrap().steps
    }
}

#[tokio::test]
async fn the_file_of_a_project_is_taken_over_once() {
    let world = World::new();
    let old =
        "[agent]\ndefault = 'codex'\n[setup]\ncredential_files = ['.env', '../out']\ncommands = ['npm ci']\n";
    world.repo.write(".aifleet/config.toml", old);
    let path = world.repo.path().join(".fleet/config.toml");
    let planned = world.migrate(true).await;
    assert!(!path.exists() && planned[0].settings.len() == 3, "{planned:?}");
    let done = world.migrate(false).await;
    let text = fs::read_to_string(&path).unwrap();
    for line in ["agent = \"codex\"", "workspaces.copy = [\".env\"]", "workspaces.setup = [\"npm ci\"]"] {
        assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
    }
    assert!(done[0].remarks.iter().any(|remark| remark.contains("../out")), "{done:?}");
    assert_eq!(fs::read_to_string(done[0].backup.as_deref().unwrap()).unwrap(), old);
    assert!(world.engine().config().is_ok());
    assert!(world.migrate(false).await.is_empty(), "a second time finds nothing");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[tokio::test]
async fn a_file_that_is_there_stays() {
    let world = World::new();
    world.repo.write(".fleet/config.toml", "# mine\n");
    world.write(".ai_fleet/config.toml", "default_agent = 'codex'\n");
    let steps = world.migrate(false).await;
    assert!(steps[0].to.is_none() && steps[0].backup.is_none(), "{steps:?}");
    assert_eq!(fs::read_to_string(world.repo.path().join(".fleet/config.toml")).unwrap(), "# mine\n");
}

#[tokio::test]
async fn a_home_of_the_other_fleet_is_refused_until_it_is_taken_over() {
    let world = World::new();
    world.write(
        "fleet/runtime.toml",
        "max_concurrent = 4\nmodel = \"gpt-5\"\ncoder = \"codex\"\ntelegram_chat_id = \"7\"\ntelegram_allowed_ids = \"\"\n",
    );
    let cwd = world.repo.path().display().to_string();
    let task = |id: &str, more: serde_json::Value| {
        let mut task =
            serde_json::json!({ "id": id, "cwd": cwd, "title": format!("Do {id}"), "status": "open" });
        task.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        world.write(&format!("fleet/tasks/{id}/task.json"), &task.to_string());
    };
    task("bd-1", serde_json::json!({ "description": "All of it", "priority": 0, "coder": "codex" }));
    task("bd-2", serde_json::json!({ "depends_on": ["bd-1"], "model": "o4-mini", "coder": "unheard of" }));
    task("bd-3", serde_json::json!({ "status": "closed" }));
    task("bd-4", serde_json::json!({ "cwd": "/nowhere" }));
    let refused = world.engine().store().await.map(drop).unwrap_err();
    assert_eq!(refused.code, Code::ForeignHome);
    let asked = fleet_api::call(&world.engine(), None, &fleet_api::verbs::config_show::Request {}).await;
    assert_eq!(asked.map(drop).unwrap_err().code, Code::ForeignHome);

    assert_eq!(world.migrate(true).await.len(), 2);
    assert!(!world.home().join("fleet.db").exists(), "nothing was written");
    let steps = world.migrate(false).await;
    assert_eq!(steps[0].settings, ["agent = codex", "runner.slots = 4", "agents.codex.model = gpt-5"]);
    assert_eq!(steps[0].remarks, ["telegram_chat_id has no counterpart"]);
    assert_eq!((steps[1].tasks, steps[1].remarks.len()), (2, 2), "{:?}", steps[1].remarks);

    let engine = world.engine();
    let request = fleet_api::verbs::task_list::Request { all: true, ..Default::default() };
    let listed = fleet_api::call(&engine, None, &request).await.unwrap().tasks;
    assert!(listed.iter().all(|task| task.state == fleet_core::task::TaskState::Held), "{listed:?}");
    let by_title = |title: &str| listed.iter().find(|task| task.title == title).unwrap();
    assert_eq!((by_title("Do bd-1").priority, by_title("Do bd-1").agent.as_deref()), (5, Some("codex")));
    assert!(world.migrate(false).await.is_empty(), "a second time finds nothing");
    assert!(world.home().join("tasks.backup/bd-1/task.json").exists());
    assert!(world.home().join("runtime.toml.backup").exists());
}
