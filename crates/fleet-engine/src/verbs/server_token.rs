use fleet_api::verbs::server_token::{Answer, Request};
use fleet_core::problem::Outcome;

use crate::{Engine, server_token};

/// Shows it, made anew if somebody wants that: then whoever has the old one is shut out at once.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let found = if request.renew { server_token::renew(engine)? } else { server_token::read(engine)? };
    Ok(Answer { token: found.token.revealed().to_owned(), file: found.file.display().to_string() })
}
