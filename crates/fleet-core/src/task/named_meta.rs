//! Fields of a task that scripts and files of earlier versions write as metadata.

use super::{FieldError, MetaKey, MetaValue, Setup, TaskSpec};

const EFFORT: &str = "fleet.effort";
const ARGS: &str = "fleet.args";
const SETUP: (&str, &str) = ("setup", "skip");
/// Names with this prefix are reserved for codefleet.
const RESERVED_PREFIX: &str = "fleet.";

/// Whether metadata of this name would mean a field of the task.
pub fn is_field_name(name: &str) -> bool {
    name == SETUP.0 || name.starts_with(RESERVED_PREFIX)
}

impl TaskSpec {
    /// Sets an entry of the metadata, or the field that its name means; an empty value removes it.
    pub fn set_meta(&mut self, name: &str, value: &str) -> Result<(), FieldError> {
        match (name, value) {
            (EFFORT, "") => self.tuning.effort = None,
            (EFFORT, effort) => self.tuning.effort = Some(effort.to_owned()),
            (ARGS, "") => self.tuning.args.clear(),
            (ARGS, list) => self.tuning.args = serde_json::from_str(list).map_err(|_| not_a_list())?,
            (name, "") if name == SETUP.0 => self.setup = Setup::Full,
            entry if entry == SETUP => self.setup = Setup::Skip,
            (name, "") => drop(self.meta.remove(&name.parse::<MetaKey>()?)),
            (name, value) => drop(self.meta.insert(name.parse()?, value.parse::<MetaValue>()?)),
        }
        Ok(())
    }

    /// Moves entries of the metadata to the fields that their names mean.
    pub fn take_fields_from_meta(&mut self) -> Result<(), FieldError> {
        for (name, value) in std::mem::take(&mut self.meta) {
            match name.as_str() {
                "fleet.profile" => self.profile = Some(value),
                "fleet.parent" => self.on_behalf_of = value.as_str().parse().ok(),
                "fleet.project_agent" => self.project_agent = Some(value.as_str().parse()?),
                name => self.set_meta(name, value.as_str())?,
            }
        }
        Ok(())
    }
}

fn not_a_list() -> FieldError {
    FieldError { field: "extra_args", why: format!("{ARGS} is not a list of texts in JSON") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_fields_set_them_and_all_others_are_free() {
        let mut spec = TaskSpec::new("one".parse().unwrap());
        let entries = [
            ("fleet.effort", "high"),
            ("fleet.args", r#"["-v", "a b"]"#),
            ("setup", "skip"),
            ("ticket", "7"),
        ];
        let more = [("fleet.profile", "deep"), ("fleet.parent", "nobody"), ("fleet.project_agent", "codex")];
        let meta = entries.iter().chain(&more);
        spec.meta = meta.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        spec.take_fields_from_meta().unwrap();
        assert_eq!(spec.tuning.effort.as_deref(), Some("high"));
        assert_eq!((spec.tuning.args.join("|").as_str(), spec.setup), ("-v|a b", Setup::Skip));
        assert_eq!(spec.meta.keys().map(MetaKey::as_str).collect::<Vec<_>>(), ["ticket"]);
        assert_eq!(spec.profile.take().unwrap().as_str(), "deep");
        assert_eq!((spec.on_behalf_of, spec.project_agent.take().unwrap().as_str()), (None, "codex"));
        for (name, _) in entries {
            spec.set_meta(name, "").unwrap();
        }
        assert_eq!(spec, TaskSpec::new("one".parse().unwrap()));
        assert_eq!(spec.set_meta("fleet.args", "--not json").unwrap_err().field, "extra_args");
        spec.set_meta("setup", "later").unwrap();
        assert_eq!((spec.setup, spec.meta.len()), (Setup::Full, 1), "only `skip` means something");
    }
}
