//! `fleet update` against a server on this machine.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;

use super::support::{World, error, has};

/// Answers every request with this, and says where.
fn serve(status: &'static str, body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let mut asked = [0; 4096];
            let _ = connection.read(&mut asked);
            let length = body.len();
            let _ = write!(
                connection,
                "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
        }
    });
    format!("update.url=http://{address}/latest")
}

#[test]
fn a_newer_release_is_told_and_installed_as_this_one_was() {
    if !has("curl") {
        return;
    }
    let world = World::sqlite();
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("node_modules/codefleet/bin");
    fs::create_dir_all(&folder).unwrap();
    let program = folder.join("fleet");
    let built = env!("CARGO_BIN_EXE_fleet");
    fs::hard_link(built, &program).or_else(|_| fs::copy(built, &program).map(drop)).unwrap();
    let npm = dir.path().join("npm");
    fs::write(&npm, "#!/bin/sh\necho \"$@\" > \"$(dirname \"$0\")/asked\"\n").unwrap();
    fs::set_permissions(&npm, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", dir.path().display(), std::env::var("PATH").unwrap());
    let fleet = world.fleet.with_program(&program).env("PATH", path);

    let newer = serve("200 OK", r#"{"tag_name":"v99.0.0"}"#);
    let checked = fleet.ok(&["update", "--check", "-c", &newer]);
    assert!(
        checked.contains("99.0.0 is newer") && checked.contains("`npm install --global codefleet@99.0.0`"),
        "{checked}"
    );
    assert!(!dir.path().join("asked").exists(), "--check changes nothing");
    fleet.ok(&["update", "-c", &newer]);
    assert_eq!(fs::read_to_string(dir.path().join("asked")).unwrap(), "install --global codefleet@99.0.0\n");

    let same = serve("200 OK", r#"{"tag_name":"v0.0.1"}"#);
    assert!(fleet.ok(&["update", "-c", &same]).contains("no release is newer"));
    let broken = serve("500 No", "");
    let (code, message, _) = error(&fleet.fail(1, &["update", "-c", &broken, "--json"]));
    assert!(code == "io" && message.contains("cannot find out"), "{message}");
}

#[test]
fn without_an_address_nothing_is_asked() {
    let world = World::sqlite();
    // Whoever asked the network would need it.
    let fleet = world.fleet.env("PATH", "/nowhere");
    let said = fleet.ok(&["update"]);
    assert!(said.contains("no address of releases is set"), "{said}");
}
