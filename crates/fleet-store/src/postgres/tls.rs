//! Encryption to the server, verified against the certificates that the system trusts.

use std::net::IpAddr;
use std::sync::Arc;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

/// "Prefer", the driver's default, is not an option: it would send a password in the clear to anyone who answers for a
/// remote server, and refuse the certificate that Debian makes for a local one. So it means plain to this machine and
/// encrypted to any other; `sslmode=disable` and `require` mean what they say.
pub(super) fn choose_mode(config: &mut Config) {
    if config.get_ssl_mode() == SslMode::Prefer {
        // An address given by number counts more than a name.
        let local =
            config.get_hosts().iter().all(is_local) && config.get_hostaddrs().iter().all(IpAddr::is_loopback);
        config.ssl_mode(if local { SslMode::Disable } else { SslMode::Require });
    }
}

/// Reading the system's certificates takes milliseconds, so it is done only where they matter.
pub(super) fn connector(config: &Config) -> Result<MakeRustlsConnect, String> {
    let mut roots = rustls::RootCertStore::empty();
    if config.get_ssl_mode() != SslMode::Disable {
        let found = rustls_native_certs::load_native_certs();
        roots.add_parsable_certificates(found.certs);
        if roots.is_empty() {
            return Err("no trusted certificates were found on this machine".to_owned());
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    Ok(MakeRustlsConnect::new(builder.with_root_certificates(roots).with_no_client_auth()))
}

/// A socket file, or this machine by name or address.
fn is_local(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost" || name.parse().is_ok_and(|address: IpAddr| address.is_loopback())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remote_server_is_always_encrypted_unless_somebody_says_otherwise() {
        let mode = |url: &str| {
            let mut config: Config = url.parse().unwrap();
            choose_mode(&mut config);
            config.get_ssl_mode()
        };
        assert_eq!(mode("postgres://db.example/fleet"), SslMode::Require);
        assert_eq!(mode("postgres://db.example/fleet?sslmode=disable"), SslMode::Disable);
        assert_eq!(mode("postgres://127.0.0.1/fleet"), SslMode::Disable);
        assert_eq!(mode("postgres://localhost,db.example/fleet"), SslMode::Require);
        assert_eq!(mode("postgresql:///fleet?host=/run/postgresql"), SslMode::Disable);
        assert_eq!(mode("postgresql:///fleet?hostaddr=203.0.113.5"), SslMode::Require);
        assert_eq!(mode("postgres://localhost/fleet?hostaddr=203.0.113.5"), SslMode::Require);
        assert_eq!(mode("postgres://localhost/fleet?sslmode=require"), SslMode::Require);
    }
}
