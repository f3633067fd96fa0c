//! Lines at random, of what an agent's own lines are made of.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use fleet_agents::{Adapter, Stream};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use super::heard;
use super::material::{AGENTS, shapes};

/// What there is of an agent to make lines of.
struct Material {
    agent: &'static str,
    lines: Vec<Vec<u8>>,
    words: Vec<String>,
}

static MATERIAL: LazyLock<Vec<Material>> = LazyLock::new(|| {
    let material = |agent: &'static str| {
        let lines: Vec<Vec<u8>> = shapes(agent).into_iter().map(|(_, line)| line).collect();
        let mut words = BTreeSet::from([String::new()]);
        for value in lines.iter().filter_map(|line| serde_json::from_slice(line).ok()) {
            gather(&value, &mut words);
        }
        Material { agent, lines, words: words.into_iter().collect() }
    };
    AGENTS.all().map(Adapter::name).map(material).collect()
});

/// All keys and short words.
fn gather(value: &Value, words: &mut BTreeSet<String>) {
    match value {
        Value::String(word) if word.len() < 60 => drop(words.insert(word.clone())),
        Value::Array(all) => all.iter().for_each(|value| gather(value, words)),
        Value::Object(fields) => {
            for (key, value) in fields {
                words.insert(key.clone());
                gather(value, words);
            }
        }
        _ => {}
    }
}

/// Any JSON of these keys and words.
fn any_json(words: &'static [String]) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => select(words).prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
        1 => ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(select(words), inner, 0..6).prop_map(|map| json!(map)),
        ]
    })
}

/// A recorded line with other things in some of its places.
fn changed(line: &[u8], changes: &[(Index, Value)]) -> Vec<u8> {
    let Ok(mut value) = serde_json::from_slice::<Value>(line) else { return line.to_vec() };
    for (place, new) in changes {
        let at = place.index(count(&value));
        replace(&mut value, &mut at.clone(), new);
    }
    value.to_string().into_bytes()
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(all) => all.iter().map(count).sum::<usize>(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// Replaces the value with this number, counted in the order in which they are written.
fn replace(value: &mut Value, at: &mut usize, new: &Value) -> bool {
    if *at == 0 {
        *value = new.clone();
        return true;
    }
    *at -= 1;
    match value {
        Value::Array(all) => all.iter_mut().any(|value| replace(value, at, new)),
        Value::Object(fields) => fields.values_mut().any(|value| replace(value, at, new)),
        _ => false,
    }
}

/// Whether it is on standard output, a line, and whether there is more of it.
type AnyLine = (bool, Vec<u8>, bool);

fn any_line(material: &'static Material) -> impl Strategy<Value = AnyLine> {
    let recorded = || select(material.lines.as_slice());
    let changes = prop::collection::vec((any::<Index>(), any_json(&material.words)), 1..4);
    let bytes = prop_oneof![
        2 => prop::collection::vec(any::<u8>(), 0..300),
        4 => any_json(&material.words).prop_map(|value| value.to_string().into_bytes()),
        8 => (recorded(), changes).prop_map(|(line, changes)| changed(&line, &changes)),
        2 => (recorded(), any::<Index>(), any::<u8>()).prop_map(|(mut line, at, byte)| {
            let at = at.index(line.len().max(1));
            line.splice(at.min(line.len()).., [byte]);
            line
        }),
        4 => recorded(),
    ];
    (prop::bool::weighted(0.8), bytes, prop::bool::weighted(0.1))
}

fn any_talk() -> impl Strategy<Value = (&'static str, Vec<AnyLine>)> {
    (0..MATERIAL.len()).prop_flat_map(|at| {
        let material = &MATERIAL[at];
        (Just(material.agent), prop::collection::vec(any_line(material), 0..12))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    #[test]
    fn no_lines_make_a_decoder_fall((agent, lines) in any_talk()) {
        let lines = || lines.iter().map(|(is_out, line, cut)| {
            (if *is_out { Stream::Out } else { Stream::Err }, line.as_slice(), *cut)
        });
        prop_assert_eq!(heard(agent, lines()), heard(agent, lines()));
    }
}
