use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use fleet_api::{Client as _, Question};
use fleet_core::id::{IdMaker, RunId};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_host::process::Identity;
use tempfile::TempDir;

use super::*;
use crate::environment::Environment;
use crate::home::Home;
use crate::sockets::{self, RunSocket};
use crate::{Engine, EngineStart, clock};

/// An open door, and a way through it. This process counts as inside the run, because its parent counts as the keeper.
struct Stage {
    dir: TempDir,
    run: RunId,
    door: OpenDoor,
}

impl Stage {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let parent = rustix::process::getppid().unwrap().as_raw_pid();
        Self::kept_by(dir, Identity::of(parent).unwrap())
    }

    fn kept_by(dir: TempDir, keeper: Identity) -> Self {
        let run: RunId = IdMaker::default().next(clock::now(), clock::entropy().unwrap());
        let home = Home::new(dir.path());
        home.run(run).make().unwrap();
        let environment = Environment::from_pairs([("FLEET_HOME", dir.path()), ("HOME", dir.path())])
            .with_current_directory(dir.path());
        let engine = Engine::new(EngineStart { environment, directory: None, flags: Vec::new() }).unwrap();
        let door = OpenDoor::open(engine, &home, run, DoorOwner { keeper }).unwrap();
        Self { dir, run, door }
    }

    async fn ask(&self, verb: &str) -> Outcome<String> {
        Door::new(Some(self.door.path().to_owned()), None).ask(question(verb)).await
    }

    fn connect(&self) -> UnixStream {
        let stream = UnixStream::connect(self.door.path()).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        stream
    }
}

fn question(verb: &str) -> Question {
    Question { verb: verb.to_owned(), at: None, request: "{}".to_owned() }
}

/// What comes back until the other side closes.
async fn all(mut stream: UnixStream) -> String {
    let read = move || {
        let mut text = String::new();
        let _ = stream.read_to_string(&mut text);
        text
    };
    tokio::task::spawn_blocking(read).await.unwrap()
}

fn refused(answer: Outcome<String>) -> Problem {
    answer.unwrap_err()
}

#[tokio::test]
async fn questions_are_answered_one_after_the_other_on_one_connection() {
    let stage = Stage::new();
    assert!(refused(stage.ask("no.such").await).message.contains("no.such"));
    let mut stream = stage.connect();
    for verb in ["task.bogus", "run.bogus"] {
        let line = serde_json::to_string(&question(verb)).unwrap();
        stream.write_all(format!("{line}\n").as_bytes()).unwrap();
    }
    let read = move || BufReader::new(stream).lines().take(2).collect::<Result<Vec<_>, _>>().unwrap();
    let replies = tokio::task::spawn_blocking(read).await.unwrap();
    assert!(replies[0].contains("task.bogus") && replies[1].contains("run.bogus"), "{replies:?}");
}

#[tokio::test]
async fn whoever_is_not_inside_the_run_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    // Nobody is above it.
    let stranger = Identity { pid: i32::MAX, start: 1, boot: Identity::current_boot().to_owned() };
    let stage = Stage::kept_by(dir, stranger);
    let problem = refused(stage.ask("task.list").await);
    assert_eq!((problem.code, problem.message.as_str()), (Code::NotYours, "this is the door of another run"));
}

#[tokio::test]
async fn what_is_not_a_question_is_refused_and_harms_nobody() {
    let stage = Stage::new();
    for nonsense in [&b"hello\n"[..], b"{}\n", b"\n", b"\xff\xfe\n"] {
        let mut stream = stage.connect();
        stream.write_all(nonsense).unwrap();
        let text = all(stream).await;
        assert!(text.contains("invalid-value") && text.contains("not understood"), "{text}");
    }
    // Half a line, and nothing at all.
    let mut half = stage.connect();
    half.write_all(b"{\"verb\":").unwrap();
    let silent = stage.connect();
    assert!(refused(stage.ask("no.such").await).message.contains("no.such"));
    drop((half, silent));
}

#[tokio::test]
async fn more_than_fits_is_refused() {
    let stage = Stage::new();
    let long = Question { request: "x".repeat(17 << 20), ..question("task.add") };
    let door = Door::new(Some(stage.door.path().to_owned()), None);
    assert_eq!(refused(door.ask(long).await).code, Code::InvalidValue, "by the client itself");
    let mut stream = stage.connect();
    let flood = move || {
        let block = vec![b'x'; 1 << 16];
        while stream.write_all(&block).is_ok() {}
        let mut text = String::new();
        let _ = stream.read_to_string(&mut text);
        text
    };
    let text = tokio::task::spawn_blocking(flood).await.unwrap();
    assert!(text.contains("more than 16 MiB"), "{text}");
}

#[tokio::test]
async fn too_many_are_told_so_and_those_who_left_make_room() {
    let stage = Stage::new();
    let idle: Vec<UnixStream> = (0..32).map(|_| stage.connect()).collect();
    let problem = refused(stage.ask("no.such").await);
    assert_eq!(problem.code, Code::DoorClosed, "{problem}");
    drop(idle);
    // The door notices one by one.
    let let_in = async {
        loop {
            let problem = refused(stage.ask("no.such").await);
            if problem.code != Code::DoorClosed {
                return problem;
            }
            tokio::task::yield_now().await;
        }
    };
    let problem = tokio::time::timeout(Duration::from_secs(20), let_in).await.expect("there is room again");
    assert!(problem.message.contains("no.such"), "{problem}");
}

#[tokio::test]
async fn a_door_that_is_closed_is_gone() {
    let stage = Stage::new();
    let (path, home) = (stage.door.path().to_owned(), Home::new(stage.dir.path()));
    assert_eq!(sockets::find(&home, stage.run, RunSocket::Door), Some(path.clone()));
    let waiting = stage.connect();
    let Stage { door, dir: _dir, run } = stage;
    door.close().await;
    assert_eq!(all(waiting).await, "");
    assert!(!path.exists() && sockets::find(&home, run, RunSocket::Door).is_none());
    let problem = refused(Door::new(Some(path), None).ask(question("task.list")).await);
    assert_eq!(problem.code, Code::DoorClosed);
    assert!(problem.message.contains("keeper was killed"), "{problem}");
}

#[tokio::test]
async fn a_home_with_a_long_path_has_a_door_and_what_a_killed_keeper_left_is_removed() {
    let dir = tempfile::Builder::new().prefix(&"long".repeat(30)).tempdir().unwrap();
    let parent = rustix::process::getppid().unwrap().as_raw_pid();
    let stage = Stage::kept_by(dir, Identity::of(parent).unwrap());
    assert!(stage.door.path().starts_with("/tmp") && !stage.door.path().starts_with(stage.dir.path()));
    assert!(refused(stage.ask("no.such").await).message.contains("no.such"));
    let home = Home::new(stage.dir.path());
    assert_eq!(sockets::find(&home, stage.run, RunSocket::Door).as_deref(), Some(stage.door.path()));
    sockets::remove(&home, stage.run);
    assert!(!Path::new(stage.door.path()).exists());
}
