//! Every package, installed into a clean folder by the program that its users install it with: what is there then runs.

#![expect(clippy::disallowed_methods, reason = "the installers of packages are programs")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]

mod stage;

use fleet_dist::VERSION;
use fleet_testkit::mcp_client::McpClient;
use fleet_testkit::python::{self, Python};

use stage::{Stage, program, succeed};

#[test]
fn an_archive_is_unpacked() {
    let stage = Stage::new();
    let archive = stage.write(&stage.release.archive().unwrap());
    let options = ["-x", "-z", "--strip-components=1", "-f", &archive];
    succeed(program("tar").args(options).current_dir(stage.clean()));
    stage.check_programs(&stage.clean().join("bin"));
    stage.check_shared("share");
    assert!(stage.clean().join("share/doc/codefleet/LICENSE-MIT").exists());
}

#[test]
fn a_debian_package_is_unpacked() {
    let stage = Stage::new();
    let Some(package) = stage.release.debian().unwrap() else { return };
    let Some(mut dpkg) = stage::or_skip("dpkg-deb") else { return };
    let package = stage.write(&package);
    let fields = succeed(program("dpkg-deb").args(["--field", &package]));
    assert!(fields.contains("Package: codefleet\n") && fields.contains("Depends: git"), "{fields}");
    assert!(fields.contains(&format!("Version: {}\n", VERSION.replace('-', "~"))), "{fields}");
    succeed(dpkg.args(["--extract", &package]).arg(stage.clean()));
    stage.check_programs(&stage.clean().join("usr/bin"));
    assert!(stage.clean().join("usr/share/man/man1/fleet-task-add.1.gz").exists());
    assert!(stage.clean().join("usr/share/bash-completion/completions/fleet").exists());
}

#[test]
fn pip_installs_the_wheel() {
    let stage = Stage::new();
    let Some(mut python) = Python::Client.or_skip() else { return };
    let wheel = stage.write(&stage.release.wheel().unwrap());
    let options =
        ["-m", "pip", "install", "--no-index", "--no-cache-dir", "--disable-pip-version-check", "--target"];
    succeed(stage.private(&mut python).args(options).arg(stage.clean()).arg(&wheel));
    stage.check_programs(&stage.clean().join("bin"));
    stage.check_shared("share");
    assert!(stage.clean().join(format!("codefleet-{VERSION}.dist-info/METADATA")).exists());
}

/// The line in the settings of MCP clients is `uvx codefleet`, with the name of the package in the place of the wheel.
#[test]
fn uvx_starts_the_server_from_the_wheel() {
    let stage = Stage::new();
    if Python::Uv.or_skip().is_none() {
        return;
    }
    let folder = Python::Uv.directory();
    let wheel = stage.write(&stage.release.wheel().unwrap());
    let uvx = stage
        .fleet(&folder.join("bin/uvx"))
        .env("UV_PYTHON", python::program(&folder))
        .env("UV_PYTHON_DOWNLOADS", "never")
        .env("UV_OFFLINE", "1")
        .env("UV_NO_CONFIG", "1");
    let version = uvx.ok(&["--from", &wheel, "codefleet", "--version"]);
    assert_eq!(version, format!("fleet {VERSION}\n"));
    for line in [["--from", &wheel, "codefleet"].as_slice(), &["--from", &wheel, "codefleet", "mcp"]] {
        let mut client = McpClient::start(uvx.command(line));
        let tools = client.ask("tools/list", serde_json::json!({}));
        assert!(tools.to_string().contains("create_worker"), "{tools}");
    }
}

/// As `docs/install.md` says. Without a release build: what the tests have built is used again.
#[test]
fn cargo_installs_from_the_repository() {
    let stage = Stage::new();
    let options = ["install", "--path", env!("CARGO_MANIFEST_DIR"), "--debug", "--frozen", "--root"];
    // What the tests were started with tells build scripts of other crates that they have to run again.
    let kept =
        ["PATH", "HOME", "CARGO_HOME", "CARGO_TARGET_DIR", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "RUSTFLAGS"];
    let kept = kept.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    succeed(program(env!("CARGO")).args(options).arg(stage.clean()).env_clear().envs(kept));
    let installed = stage.clean().join("bin/fleet");
    assert_eq!(stage.fleet(&installed).ok(&["--version"]), format!("fleet {VERSION}\n"));
    stage.check_demo(&installed);
}

#[test]
fn npm_installs_its_packages() {
    let stage = Stage::new();
    let Some(mut npm) = stage::or_skip("npm") else { return };
    let own = stage.write(&stage.release.npm_program().unwrap());
    let launcher = stage.write(&stage.release.npm_launcher().unwrap());
    let options = ["install", "--offline", "--no-audit", "--no-fund", "--no-update-notifier"];
    succeed(stage.private(&mut npm).args(options).args([&own, &launcher]).current_dir(stage.clean()));
    let modules = stage.clean().join("node_modules");
    let launcher = modules.join("codefleet/package.json");
    assert!(std::fs::read_to_string(launcher).unwrap().contains(&format!("\"version\": \"{VERSION}\"")));
    stage.check_programs(&modules.join(".bin"));
    let options = ["--offline", "--yes", &format!("file:{own}"), "--version"];
    let version = succeed(stage.private(&mut program("npx")).args(options).current_dir(stage.clean()));
    assert_eq!(version, format!("fleet {VERSION}\n"));
    let mut client = McpClient::start(stage.fleet(&modules.join(".bin/codefleet")).command(&[]));
    client.ask("tools/list", serde_json::json!({}));
}
