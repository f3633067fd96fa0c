//! A scratch repository with its own home, for the demo and for tests of agents.
//!
//! Owns a folder that is made for it and removed after it. Must never touch the user's home, store or repositories.

use std::fs;
use std::path::{Path, PathBuf};

use fleet_api::verbs::runner_stop::Request;
use fleet_core::problem::Outcome;

use crate::environment::{Environment, PREFIX};
use crate::home::make_private;
use crate::verbs::runner_stop;
use crate::{Engine, EngineStart, clock, problems};

/// A folder with a repository and a home. Dropped before it was cleared or kept, it removes everything.
pub struct Playground {
    dir: PathBuf,
    engine: Engine,
    is_over: bool,
}

#[derive(Debug, Clone, Copy)]
pub struct Contents<'a> {
    /// The end of the folder's name.
    pub name: &'a str,
    pub repository: &'a str,
    /// Its files: their paths, and what is in them.
    pub files: &'a [(&'a str, &'a str)],
}

impl Drop for Playground {
    /// Stopping runners and agents waits for them, which a drop cannot do where it is: it does it elsewhere, and waits for
    /// that.
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        std::thread::scope(|scope| {
            let clear = || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let _ = runtime.map(|runtime| runtime.block_on(self.stop()));
            };
            let _ = scope.spawn(clear).join();
        });
        let _ = fs::remove_dir_all(&self.dir);
    }
}

impl Playground {
    /// Makes one; `configure` gets its home.
    pub fn build(
        outer: &Engine,
        contents: Contents<'_>,
        configure: impl FnOnce(&Path) -> Outcome<()>,
    ) -> Outcome<Self> {
        let environment = outer.environment();
        let temporary = environment.get_os("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
        let dir =
            temporary.join(format!("codefleet-{}-{:08x}", contents.name, clock::entropy()? & 0xffff_ffff));
        let (home, repository) = (dir.join("home"), dir.join(contents.repository));
        let made = write_files(&home, &repository, contents.files)
            .map_err(problems::at(&dir))
            .and_then(|()| configure(&home))
            .and_then(|()| engine(environment, home, repository));
        match made {
            Ok(engine) => Ok(Self { dir, engine, is_over: false }),
            Err(problem) => {
                let _ = fs::remove_dir_all(&dir);
                Err(problem)
            }
        }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// An engine that sees nothing of the user's fleet.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Stops runners and agents; the folder stays.
    pub async fn keep(mut self) -> Outcome<()> {
        self.is_over = true;
        self.stop().await
    }

    /// Removes everything, runners and agents first.
    pub async fn clear(mut self) -> Outcome<()> {
        let stopped = self.stop().await;
        self.is_over = true;
        let removed = fs::remove_dir_all(&self.dir).map_err(problems::at(&self.dir));
        stopped.and(removed)
    }

    async fn stop(&self) -> Outcome<()> {
        runner_stop::run(&self.engine, Request { agents: true, restart: false }).await.map(drop)
    }
}

fn write_files(home: &Path, repository: &Path, files: &[(&str, &str)]) -> std::io::Result<()> {
    make_private(home)?;
    make_private(repository)?;
    for (name, text) in files {
        let file = repository.join(name);
        fs::create_dir_all(file.parent().unwrap_or(repository))?;
        fs::write(file, text)?;
    }
    fleet_host::demo::new_repository(repository)?;
    fleet_host::demo::commit(repository, "The beginning").map(drop)
}

/// Without the variables that tell other engines about the user's fleet. A runner starts only on request.
fn engine(outer: &Environment, home: PathBuf, repository: PathBuf) -> Outcome<Engine> {
    let others = outer.variables().filter(|(name, _)| !name.starts_with(PREFIX));
    let others = others.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let own = [("FLEET_HOME", home.into_os_string()), ("FLEET_AUTOSTART", "false".into())];
    let variables = others.chain(own.map(|(name, value)| (name.to_owned(), value)));
    let environment = Environment::from_pairs(variables).with_current_directory(&repository);
    Engine::new(EngineStart { environment, directory: Some(repository), flags: Vec::new() })
}
