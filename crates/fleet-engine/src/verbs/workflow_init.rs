use fleet_api::verbs::workflow_init::{self, Answer, Request};
use fleet_api::views::FileFormat;
use fleet_core::text::escaped;

use super::prelude::*;
use crate::config::did_you_mean;
use crate::workflow_file::{self, SHIPPED, ShippedFile};

/// The text of one of the shipped ones, and all of them by name.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let shipped = shipped(request.name.as_deref())?;
    let format = request.format.unwrap_or(FileFormat::Toml);
    let folder = request.for_repository.then(|| workflow_file::folder(engine)).transpose()?;
    Ok(Answer {
        name: shipped.name.to_owned(),
        format,
        text: workflow_file::written(shipped.text, format),
        folder: folder.map(|folder| folder.display().to_string()),
        shipped: SHIPPED.iter().map(shown).collect(),
    })
}

fn shown(shipped: &ShippedFile) -> workflow_init::ShippedWorkflow {
    workflow_init::ShippedWorkflow { name: shipped.name.to_owned(), about: shipped.about.to_owned() }
}

fn shipped(name: Option<&str>) -> Outcome<&'static ShippedFile> {
    let Some(name) = name else {
        return SHIPPED.first().ok_or_else(|| Problem::new(Code::Internal, "there are no workflows"));
    };
    SHIPPED.iter().find(|shipped| shipped.name == name).ok_or_else(|| {
        let message = format!("there is no starter workflow `{}`", escaped(name));
        Problem::new(Code::NothingMatched, message)
            .hints(did_you_mean(name, SHIPPED.iter().map(|shipped| shipped.name.to_owned())))
            .hint("`fleet workflow init --list` shows them")
            .hint(format!("a file of your own name: `fleet workflow init {} PATH`", SHIPPED[0].name))
    })
}
