use fleet_api::verbs::server_token::Answer;
use fleet_core::time::Millis;

command! {
    /// Print the secret that clients of `fleet mcp --http` must send
    ///
    /// As `Authorization: Bearer TOKEN`, with every request. It is created on first use, and stored in a file that only
    /// you can read. Agents do not get it.
    #[command(display_order = 10)]
    TokenCommand(server_token) shows token
}

fn token(found: &Answer, _: Millis) -> String {
    found.token.clone()
}
