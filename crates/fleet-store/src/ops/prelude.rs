//! What most operations use.

pub(super) use async_trait::async_trait;
pub(super) use fleet_core::event::Fact;
pub(super) use fleet_core::id::{RunId, TaskId};
pub(super) use fleet_core::time::Millis;

pub(super) use crate::StoreError;
pub(super) use crate::tx::{Mode, Op, Statement, Tx, sql};
pub(super) use crate::value::Row;
