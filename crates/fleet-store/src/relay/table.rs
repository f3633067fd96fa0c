//! The operations that travel: those that every run needs. The others are rare, and go to the store directly.
//!
//! Each is safe to run twice, and late: `tests/story/twice.rs` holds them to it.

use std::any::Any;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::ops;
use crate::tx::{AnyOp, AnyOut, Op};

const TABLE: &[OpCodec] = &[
    entry::<ops::ServerTime>("server_time"),
    entry::<ops::GetRun>("get_run"),
    entry::<ops::PartInputs>("stage_inputs"),
    entry::<ops::TasksBefore>("tasks_before"),
    entry::<ops::TaskMessages>("task_messages"),
    entry::<ops::TakeMessages>("take_messages"),
    entry::<ops::RecordReceipts>("record_receipts"),
    entry::<ops::PrepareRun>("prepare_run"),
    entry::<ops::AdvanceRun>("advance_run"),
    entry::<ops::AppendRunEvents>("append_run_events"),
    entry::<ops::RenewLease>("renew_lease"),
    entry::<ops::EndRun>("end_run"),
    entry::<ops::CloseRun>("close_run"),
];

/// How one operation and its answer become JSON and come back.
pub(super) struct OpCodec {
    pub(super) name: &'static str,
    encode: fn(&dyn Any) -> Option<String>,
    decode: fn(&str) -> Option<Box<dyn AnyOp>>,
    encode_out: fn(&AnyOut) -> Option<String>,
    decode_out: fn(&str) -> Option<AnyOut>,
}

const fn entry<O>(name: &'static str) -> OpCodec
where
    O: Op + Serialize + DeserializeOwned,
    O::Out: Serialize + DeserializeOwned,
{
    OpCodec {
        name,
        encode: |op| to_json(op.downcast_ref::<O>()?),
        decode: |json| Some(Box::new(serde_json::from_str::<O>(json).ok()?)),
        encode_out: |out| to_json(out.downcast_ref::<O::Out>()?),
        decode_out: |json| Some(Box::new(serde_json::from_str::<O::Out>(json).ok()?)),
    }
}

/// On one line: JSON escapes line breaks.
fn to_json(value: &impl Serialize) -> Option<String> {
    serde_json::to_string(value).ok()
}

/// The entry of an operation, and the operation as JSON; none for one that does not travel.
pub(super) fn encode(op: &dyn AnyOp) -> Option<(&'static OpCodec, String)> {
    TABLE.iter().find_map(|entry| Some((entry, (entry.encode)(op)?)))
}

pub(super) fn decode(name: &str, json: &str) -> Option<(&'static OpCodec, Box<dyn AnyOp>)> {
    let entry = TABLE.iter().find(|entry| entry.name == name)?;
    Some((entry, (entry.decode)(json)?))
}

impl OpCodec {
    pub(super) fn encode_out(&self, out: &AnyOut) -> Option<String> {
        (self.encode_out)(out)
    }

    pub(super) fn decode_out(&self, json: &str) -> Option<AnyOut> {
        (self.decode_out)(json)
    }
}
