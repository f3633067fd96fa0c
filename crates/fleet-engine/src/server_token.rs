//! The secret that programs need in order to use a server of ours over the network.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

use fleet_core::problem::{Code, Outcome, Problem};

use crate::home::{Home, make_private, write_private};
use crate::token::Token;
use crate::{Engine, clock, problems};

#[derive(Debug, Clone)]
pub struct ServerToken {
    pub token: Token,
    /// A file that only the user can read.
    pub file: PathBuf,
}

/// Reads the secret; makes it at the first time. The first of several who make it wins.
pub fn read(engine: &Engine) -> Outcome<ServerToken> {
    let home = engine.home();
    let file = home.server_token();
    let token = read_or_make(home).map_err(problems::at(&file))??;
    Ok(ServerToken { token, file })
}

/// Makes a new secret: the old one stops working at once, for running servers as well.
pub(crate) fn renew(engine: &Engine) -> Outcome<ServerToken> {
    let home = engine.home();
    let (file, token) = (home.server_token(), Token::new()?);
    let written = make_private(home.root()).and_then(|()| write_private(&file, line(&token).as_bytes()));
    written.map_err(problems::at(&file))?;
    Ok(ServerToken { token, file })
}

fn read_or_make(home: &Home) -> io::Result<Outcome<Token>> {
    let file = home.server_token();
    match fs::read_to_string(&file) {
        Ok(text) => return Ok(checked(text.trim(), home)),
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        Err(_) => {}
    }
    let (new, entropy) = match (Token::new(), clock::entropy()) {
        (Ok(new), Ok(entropy)) => (new, entropy),
        (Err(problem), _) | (_, Err(problem)) => return Ok(Err(problem)),
    };
    make_private(home.root())?;
    let draft = home.root().join(format!("server-token.{entropy:016x}"));
    write_private(&draft, line(&new).as_bytes())?;
    let linked = fs::hard_link(&draft, &file);
    fs::remove_file(&draft)?;
    match linked {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => Ok(checked(fs::read_to_string(&file)?.trim(), home)),
    }
}

fn line(token: &Token) -> String {
    format!("{}\n", token.revealed())
}

/// A secret that can be guessed is none.
fn checked(text: &str, home: &Home) -> Outcome<Token> {
    if text.len() >= SHORTEST && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(Token::given(text));
    }
    let message =
        format!("{} holds no token: at least {SHORTEST} letters and digits", home.server_token().display());
    Err(Problem::new(Code::ConfigInvalid, message).hint("`fleet mcp token --renew` makes a new one"))
}

/// As long as 128 random bits in hexadecimal digits.
const SHORTEST: usize = 32;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn one_token_for_all_who_come_first_and_it_is_private() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path().join("fleet"));
        let tokens = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| read_or_make(&home).unwrap().unwrap())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        assert!(tokens.iter().all(|token| token.is(tokens[0].revealed())));
        assert_eq!(tokens[0].revealed().len(), 64, "256 bits");
        let mode = fs::metadata(home.server_token()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_dir(home.root()).unwrap().count(), 1, "no drafts are left");
    }

    #[test]
    fn a_secret_that_can_be_guessed_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path());
        for weak in ["", "secret\n", "0123456789abcdef 0123456789abcdef\n"] {
            fs::write(home.server_token(), weak).unwrap();
            let problem = read_or_make(&home).unwrap().unwrap_err();
            assert_eq!(problem.code, Code::ConfigInvalid, "{weak:?}");
        }
    }
}
