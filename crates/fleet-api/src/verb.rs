//! What makes a request a verb.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Access;

/// Something that can be asked of codefleet. Its request is the verb; the comment on that says what it does.
pub trait Verb: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// What is answered.
    type Answer: Serialize + DeserializeOwned + JsonSchema + Send + 'static;
    /// Its name, such as `task.add`.
    const ID: &'static str;
    /// What it does to the world.
    const NATURE: Nature;
    /// Who may call it.
    const ACCESS: Access;

    /// What it is about, as far as the request names it. An agent may name only what it may see; the check replaces
    /// what was typed by the whole id, so that what was checked is what is used.
    fn subjects(&mut self) -> Vec<Subject<'_>> {
        Vec::new()
    }
}

/// What a verb does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Nature {
    /// It looks, and changes nothing.
    Reads,
    /// It starts work or adds to it.
    Adds,
    /// It ends or removes something. Doing it again does no more.
    Ends,
}

/// Something that a request names: an id, the beginning of one, or a name.
#[derive(Debug)]
pub enum Subject<'a> {
    /// A task, by its own id, that of a run, or its branch.
    Task(&'a mut String),
    /// Any task of the same repository: one that another waits for.
    Neighbour(&'a mut String),
    /// A run, by its own id, that of its task, or its branch.
    Run(&'a mut String),
    /// A workflow.
    Workflow(&'a mut String),
}

impl<'a> Subject<'a> {
    /// Several tasks.
    pub fn tasks(typed: &'a mut [String]) -> Vec<Self> {
        typed.iter_mut().map(Self::Task).collect()
    }

    /// A task, and those that it waits for.
    pub fn waiting(task: &'a mut String, on: &'a mut [String]) -> Vec<Self> {
        std::iter::once(Self::Task(task)).chain(on.iter_mut().map(Self::Neighbour)).collect()
    }

    /// Several runs.
    pub fn runs(typed: &'a mut [String]) -> Vec<Self> {
        typed.iter_mut().map(Self::Run).collect()
    }

    /// Several workflows.
    pub fn workflows(typed: &'a mut [String]) -> Vec<Self> {
        typed.iter_mut().map(Self::Workflow).collect()
    }
}

/// Makes a request a verb: `verb!("task.add", Request => TaskView, Adds, Own)`. What the request names follows, if it
/// names anything: `…, |request| Subject::tasks(&mut request.after))`.
macro_rules! verb {
    ($id:literal, $request:ty => $answer:ty, $nature:ident, $access:ident $(, |$this:ident| $subjects:expr)?) => {
        impl $crate::Verb for $request {
            type Answer = $answer;
            const ID: &'static str = $id;
            const NATURE: $crate::Nature = $crate::Nature::$nature;
            const ACCESS: $crate::Access = $crate::Access::$access;
            $(
                fn subjects(&mut self) -> Vec<$crate::Subject<'_>> {
                    let $this = self;
                    $subjects
                }
            )?
        }
    };
}

pub(crate) use verb;
