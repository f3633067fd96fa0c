//! The prompt of a stage: in the file, or in one beside it.

use std::path::Path;

use super::super::WorkflowOrigin;
use super::super::node::NodeKey;
use super::super::reader::{Field, Fields, WorkflowReader};
use super::super::source::SourceFile;
use crate::config::quoted;
use crate::text_file;

/// The prompt of a stage; an empty valid one if there is none, so that the rest can be checked.
pub(super) fn read(
    reader: &mut WorkflowReader<'_>,
    source: &SourceFile,
    name: &NodeKey,
    fields: &Fields<'_>,
) -> String {
    let text = match (fields.get("prompt"), fields.get("prompt_file")) {
        (Some(_), Some(file)) => {
            let message = "`prompt` and `prompt_file` say the same: leave out one of the two";
            reader.refuse(Some(file.name.at.start), message, None);
            None
        }
        (None, None) => {
            let message = format!("the stage {} has no prompt", quoted(&name.text));
            let help = "write `prompt`, or name a file beside this one with `prompt_file`".to_owned();
            reader.refuse(Some(name.at.start), message, Some(help));
            None
        }
        (prompt @ Some(_), None) => reader.text(prompt),
        (None, file @ Some(_)) => prompt_file(reader, source, file),
    };
    text.unwrap_or_else(|| "-".to_owned())
}

/// Far above any prompt; the model has the exact limit.
const LARGEST_PROMPT: u64 = 512 * 1024;

fn prompt_file(
    reader: &mut WorkflowReader<'_>,
    source: &SourceFile,
    field: Option<Field<'_>>,
) -> Option<String> {
    let at = field.map(|field| field.node.at.start);
    let named = reader.text(field)?;
    match beside(source, &named) {
        Ok(text) => Some(text.replace("\r\n", "\n")),
        Err(why) => {
            reader.refuse(at, format!("{}: {why}", quoted(&named)), None);
            None
        }
    }
}

/// A file below the folder of the workflow. A workflow, which may come from anyone, must not make an agent read other
/// files of the machine.
fn beside(source: &SourceFile, named: &str) -> Result<String, String> {
    if matches!(source.kind, WorkflowOrigin::Shipped | WorkflowOrigin::Given) {
        return Err("a workflow that is not a file has no other files".to_owned());
    }
    let folder = source.path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let real = |path: &Path| path.canonicalize().map_err(|error| format!("cannot be read: {error}"));
    let folder = real(folder.unwrap_or(Path::new(".")))?;
    let path = real(&folder.join(named))?;
    if !path.starts_with(&folder) {
        return Err("it is not below the folder of the workflow".to_owned());
    }
    text_file::read(&path, LARGEST_PROMPT).map_err(|why| why.to_string())
}
