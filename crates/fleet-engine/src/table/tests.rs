//! Every verb of the table: its name, its words, its JSON, and who is refused.

mod samples;

use fleet_api::verbs;
use fleet_api::{Asker, Client as _, Question, TABLE, Verb, VerbRow};
use fleet_core::id::IdMaker;
use fleet_core::problem::Code;
use fleet_core::project::Project;
use fleet_core::time::Millis;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use self::samples::samples;
use crate::caller::{Caller, CallingAgent};
use crate::environment::Environment;
use crate::{Engine, EngineStart};

/// What is wrong with a verb. All of it is collected, so that one run of a test tells everything.
type Findings = Vec<String>;

macro_rules! walks {
    ($($name:ident),+) => {
        /// Calls a check for every verb.
        fn names_and_words() -> Findings {
            [$(name_and_words::<verbs::$name::Request>(stringify!($name))),+].concat()
        }

        fn round_trips() -> Findings {
            [$(round_trip::<verbs::$name::Request>()),+].concat()
        }

        fn requests() -> Vec<(VerbRow, String)> {
            vec![$((VerbRow::of::<verbs::$name::Request>(), request::<verbs::$name::Request>())),+]
        }
    };
}

fleet_api::for_each_verb!(walks);

fn assert_nothing(findings: &[String]) {
    assert!(findings.is_empty(), "\n{}", findings.join("\n"));
}

#[test]
fn a_verb_is_named_after_its_module_and_says_what_it_does() {
    assert_nothing(&names_and_words());
    let mut ids: Vec<&str> = TABLE.iter().map(|row| row.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), TABLE.len(), "each once");
}

fn name_and_words<V: Verb>(module: &str) -> Findings {
    let (row, mut findings) = (VerbRow::of::<V>(), Vec::new());
    if row.id != module.replace('_', ".") {
        findings.push(format!("{}: is in the module {module}", row.id));
    }
    if !row.id.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'.') {
        findings.push(format!("{}: lower case letters and dots alone make a name", row.id));
    }
    let about = row.about();
    if !about.starts_with(|first: char| first.is_ascii_uppercase()) || about.len() < 10 {
        findings.push(format!("{}: the comment on its request says what it does, not {about:?}", row.id));
    }
    if !Asker::ALL.into_iter().any(|asker| row.access.admits(asker, row.nature)) {
        findings.push(format!("{}: nobody may call it", row.id));
    }
    findings
}

#[test]
fn requests_and_answers_survive_json() {
    assert_nothing(&round_trips());
}

fn round_trip<V: Verb>() -> Findings {
    let row = VerbRow::of::<V>();
    let of_request = through_json::<V>(&(row.request)().to_value());
    let of_answer = through_json::<V::Answer>(&(row.answer)().to_value());
    let named = |what: &str, findings: Findings| {
        findings.into_iter().map(|why| format!("{}: {what}: {why}", row.id)).collect::<Vec<_>>()
    };
    [named("request", of_request), named("answer", of_answer)].concat()
}

/// Every shape that the schema allows is read, written, and read again.
fn through_json<T: Serialize + DeserializeOwned>(schema: &Value) -> Findings {
    let trip = |sample: &Value| -> Result<(), String> {
        let read = |json: Value| serde_json::from_value::<T>(json).map_err(|error| error.to_string());
        let write = |value: &T| serde_json::to_value(value).map_err(|error| error.to_string());
        let once = write(&read(sample.clone())?)?;
        let twice = write(&read(once.clone())?)?;
        if once == twice { Ok(()) } else { Err(format!("{once} came back as {twice}")) }
    };
    let failed = |sample: &Value| trip(sample).err().map(|why| format!("{why}, of {sample}"));
    samples(schema).iter().filter_map(failed).collect()
}

/// A request that can be read.
fn request<V: Verb>() -> String {
    samples(&(VerbRow::of::<V>().request)().to_value()).first().map(ToString::to_string).unwrap_or_default()
}

fn agent() -> CallingAgent {
    let (mut ids, created_at) = (IdMaker::default(), Millis(0));
    let (common_dir, name) = ("/nowhere/.git".to_owned(), "nothing".to_owned());
    let project = Project { id: ids.next(created_at, 1), common_dir, name, root: None, created_at };
    CallingAgent { run: ids.next(created_at, 1), task: ids.next(created_at, 1), project }
}

fn caller(asker: Asker) -> Caller {
    match asker {
        Asker::Person => Caller::Person,
        Asker::Agent => Caller::Agent(agent()),
        Asker::Viewer => Caller::Viewer,
        Asker::Runner => Caller::Runner,
    }
}

#[tokio::test]
async fn whoever_may_not_ask_is_refused_before_anything_is_looked_up() {
    let home = tempfile::tempdir().unwrap();
    let mut findings = Vec::new();
    for asker in Asker::ALL {
        let environment =
            Environment::from_pairs([("HOME", "/nowhere"), ("FLEET_HOME", home.path().to_str().unwrap())])
                .with_current_directory(home.path());
        let start = EngineStart { environment, directory: None, flags: Vec::new() };
        let engine = Engine::new(start).unwrap().acting_as(caller(asker));
        for (row, request) in requests() {
            if row.access.admits(asker, row.nature) {
                continue;
            }
            let question = Question { verb: row.id.to_owned(), at: None, request };
            let code = engine.ask(question).await.map_err(|problem| problem.code);
            if !matches!(code, Err(Code::NotYours | Code::NotInARun)) {
                findings.push(format!("{}: {asker:?} got {code:?}", row.id));
            }
        }
    }
    assert_nothing(&findings);
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "nothing was opened or written");
}
