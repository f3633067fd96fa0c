//! How connections are made: what the URL says, and defaults that no one should have to write in it.

use std::time::Duration;

use tokio_postgres::Config;

use super::{connections, tls};
use crate::store::BUSY_TIMEOUT;

/// Every statement is written for one index, so it is planned once: replanning a claim takes longer than the claim. A
/// plan that is made once does not know how small a LIMIT will be, so it must not prefer whole scans. Statements
/// without a transaction around them run at the level that those in one name.
const PLANNING: &str = "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_bitmapscan=off \
                        -c jit=off -c default_transaction_isolation=read\\ committed";
/// No wait for a lock is endless, and a process that freezes in a transaction (a closed laptop) holds its locks only
/// for a while. Limits in the URL take precedence.
const LIMITS: &str = "-c lock_timeout=30s -c idle_in_transaction_session_timeout=30s";
/// A dead peer is noticed within half a minute, also by a connection that only listens. The driver's default is two
/// hours.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(10);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_RETRIES: u32 = 4;

pub(super) struct ConnectionSettings {
    pub(super) config: Config,
    /// How long a server may take to let us in; the driver itself only bounds the way to it.
    pub(super) handshake: Duration,
}

impl ConnectionSettings {
    pub(super) fn read(url: &str) -> Result<Self, tokio_postgres::Error> {
        let config = config(url)?;
        let given = url.parse::<Config>()?.get_connect_timeout().copied();
        Ok(Self { config, handshake: given.unwrap_or(connections::HANDSHAKE_TIMEOUT) })
    }
}

fn config(url: &str) -> Result<Config, tokio_postgres::Error> {
    let mut config: Config = url.parse()?;
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(connections::CONNECT_TIMEOUT);
    }
    keep_alive(&mut config);
    config.application_name("codefleet");
    // The last one counts.
    let options = [LIMITS, config.get_options().unwrap_or_default(), PLANNING].join(" ");
    config.options(options);
    tls::choose_mode(&mut config);
    Ok(config)
}

/// A network that is gone is noticed, instead of waited for as long as the kernel likes.
fn keep_alive(config: &mut Config) {
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(BUSY_TIMEOUT);
    }
    if config.get_keepalives_idle() == Config::new().get_keepalives_idle() {
        config.keepalives_idle(KEEPALIVE_IDLE);
    }
    if config.get_keepalives_interval().is_none() {
        config.keepalives_interval(KEEPALIVE_INTERVAL);
    }
    if config.get_keepalives_retries().is_none() {
        config.keepalives_retries(KEEPALIVE_RETRIES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_that_is_gone_is_noticed_within_half_a_minute() {
        let config = config("postgres://db.example/fleet").unwrap();
        let interval = config.get_keepalives_interval().unwrap();
        let noticed = config.get_keepalives_idle() + interval * config.get_keepalives_retries().unwrap();
        assert!(config.get_keepalives() && noticed <= BUSY_TIMEOUT, "{noticed:?}");
        assert!(*config.get_tcp_user_timeout().unwrap() <= BUSY_TIMEOUT);
    }

    #[test]
    fn what_the_url_says_of_the_network_counts() {
        let url = "postgres://db.example/fleet?keepalives_idle=60&keepalives_interval=7&tcp_user_timeout=90";
        let config = config(url).unwrap();
        let seconds = Duration::from_secs;
        assert_eq!(config.get_keepalives_idle(), seconds(60));
        assert_eq!(config.get_keepalives_interval(), Some(seconds(7)));
        assert_eq!(config.get_tcp_user_timeout(), Some(&seconds(90)));
    }
}
