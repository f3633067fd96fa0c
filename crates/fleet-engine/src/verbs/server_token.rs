use fleet_api::verbs::server_token::{Answer, Request};

use super::prelude::*;
use crate::server_token;

/// Shows the token, or makes a new one on request: clients with the old one are shut out at once.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let found = if request.renew { server_token::renew(engine)? } else { server_token::read(engine)? };
    Ok(Answer { token: found.token.revealed().to_owned(), file: found.file.display().to_string() })
}
