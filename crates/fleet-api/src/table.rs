//! The table of verbs, as `fleet verbs` lists it.

use schemars::{JsonSchema, Schema, generate::SchemaSettings};

use crate::{Access, Nature, Verb};

/// What is known of a verb.
#[derive(Debug, Clone, Copy)]
pub struct VerbRow {
    /// Its name.
    pub id: &'static str,
    /// What it does to the world.
    pub nature: Nature,
    /// Who may call it.
    pub access: Access,
    /// The schema of its request, whose description says what the verb does.
    pub request: fn() -> Schema,
    /// The schema of its answer.
    pub answer: fn() -> Schema,
}

impl VerbRow {
    /// The row of a verb.
    pub const fn of<V: Verb>() -> Self {
        Self {
            id: V::ID,
            nature: V::NATURE,
            access: V::ACCESS,
            request: schema::<V>,
            answer: schema::<V::Answer>,
        }
    }

    /// What it does, in a line.
    pub fn about(&self) -> String {
        let schema = (self.request)();
        let text = schema.get("description").and_then(|text| text.as_str()).unwrap_or_default();
        text.lines().next().unwrap_or_default().to_owned()
    }
}

fn schema<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>()
}

macro_rules! rows {
    ($($name:ident),+) => {
        /// All verbs, by their names. Static, so that their schemas are compiled here and not where they are shown.
        pub static TABLE: &[VerbRow] = &[$(VerbRow::of::<crate::verbs::$name::Request>()),+];
    };
}

for_each_verb!(rows);
