//! What has to be right between settings, when each of them is right by itself.
//!
//! Owns these rules and their messages. Must never check a single value: its kind does that.

use std::collections::BTreeMap;

use fleet_core::problem::{Code, Problem};

use super::flaw::Flaw;
use super::setting::{Origin, Setting};
use super::value::Value;

/// Everything that does not go together.
pub(super) fn problems(settings: &BTreeMap<String, Setting>) -> Vec<Problem> {
    ports(settings).into_iter().collect()
}

/// At least one block of ports has to fit.
fn ports(settings: &BTreeMap<String, Setting>) -> Option<Problem> {
    let number = |name| match settings.get(name).map(|setting| &setting.value) {
        Some(Value::Integer(number)) => Some(*number),
        _ => None,
    };
    let (first, last, block) = (number("ports.first")?, number("ports.last")?, number("ports.block")?);
    if first + block - 1 <= last {
        return None;
    }
    let sentence =
        format!("no block of {block} ports fits from `ports.first` ({first}) to `ports.last` ({last})");
    let flaw =
        Flaw::new(Code::ConfigInvalid, sentence).hint("raise `ports.last`, or lower one of the others");
    // Named by the first that somebody set: the defaults go together.
    let blamed =
        ["ports.last", "ports.first", "ports.block"].into_iter().filter_map(|name| settings.get(name));
    match blamed.map(|setting| &setting.origin).find(|origin| **origin != Origin::Default) {
        Some(origin) => Some(flaw.at(origin)),
        None => Some(flaw.without_place()),
    }
}
