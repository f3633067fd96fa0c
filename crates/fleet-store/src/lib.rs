//! The store: the only place with SQL.
//!
//! Owns the tables, their migrations and every operation on them. Each operation is a struct in [`ops`], written
//! once against [`Tx`]; two drivers run it, SQLite for one machine and PostgreSQL for many, and one story test
//! suite holds both to the same behaviour. An operation is one transaction: it reads the row, asks the pure
//! domain, writes the new row and appends the event. It must never touch anything but the database.

mod dialect;
mod error;
mod migrate;
pub mod ops;
mod postgres;
mod relay;
mod sqlite;
mod store;
mod tx;
mod url;
mod value;
mod watch;

pub use dialect::Dialect;
pub use error::StoreError;
pub use store::Store;
pub use tx::{Mode, Op, Tx};
pub use url::StoreUrl;
pub use value::{Row, Value};
pub use watch::Watch;
