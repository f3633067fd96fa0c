//! Where the store is.

use std::fmt;
use std::path::{Path, PathBuf};

/// A parsed `store` setting. Has no `Debug` that would show a password.
#[derive(Clone, PartialEq, Eq)]
pub enum StoreUrl {
    Sqlite(PathBuf),
    Postgres(String),
}

impl StoreUrl {
    /// Reads the setting: `sqlite` (the file `fleet.db` in `home`), `sqlite:PATH` (relative to `home`), or a
    /// PostgreSQL URL.
    pub fn parse(setting: &str, home: &Path) -> Option<Self> {
        if setting == "sqlite" {
            return Some(Self::Sqlite(home.join("fleet.db")));
        }
        if let Some(path) = setting.strip_prefix("sqlite:").filter(|path| !path.is_empty()) {
            return Some(Self::Sqlite(home.join(path)));
        }
        let is_postgres = setting.starts_with("postgres://") || setting.starts_with("postgresql://");
        is_postgres.then(|| Self::Postgres(setting.to_owned()))
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "{}", path.display()),
            Self::Postgres(url) => f.write_str(&without_password(url)),
        }
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Scheme, host and database only: user info and query may both hold secrets. An `@` behind a `?` may belong to
/// a password with a `?` in it or to the query; then nothing is shown.
fn without_password(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
    if query.contains('@') {
        return format!("{scheme}://…");
    }
    let shown = address.rsplit_once('@').map_or(address, |(_, shown)| shown);
    format!("{scheme}://{shown}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_name_a_file_or_a_server() {
        let home = Path::new("/home/me/.fleet");
        let parse = |text| StoreUrl::parse(text, home);
        assert_eq!(parse("sqlite"), Some(StoreUrl::Sqlite("/home/me/.fleet/fleet.db".into())));
        assert_eq!(parse("sqlite:/tmp/x.db"), Some(StoreUrl::Sqlite("/tmp/x.db".into())));
        assert_eq!(parse("sqlite:other.db"), Some(StoreUrl::Sqlite("/home/me/.fleet/other.db".into())));
        assert_eq!(parse("sqlite:"), None);
        assert_eq!(parse("mysql://x"), None);
    }

    #[test]
    fn secrets_are_never_shown() {
        let shown = |text: &str| StoreUrl::Postgres(text.to_owned()).to_string();
        assert_eq!(shown("postgres://me:p@ss/w@db.example/fleet?password=x"), "postgres://db.example/fleet");
        assert_eq!(shown("postgres://me:secret@db:5432/fleet?sslmode=require"), "postgres://db:5432/fleet");
        assert_eq!(
            format!("{:?}", StoreUrl::Postgres("postgresql:///x?password=p".to_owned())),
            "postgresql:///x"
        );
    }
}
