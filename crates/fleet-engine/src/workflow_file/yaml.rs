//! YAML with places.
//!
//! Built from the parser's events and not from one of its trees, so that depth and repetition are bounded while they are
//! read: an alias is a copy, and a few lines of copies of copies would otherwise fill the memory.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span, StrInput};

use super::node::{MAX_DEPTH, Node, NodeKey, NodeValue, UnreadableText};

/// The most values that a file may come to, copies counted out, and the most text in them.
const MAX_VALUES: usize = 50_000;
const MAX_TEXT: usize = 4 << 20;

pub(super) fn read(text: &str) -> Result<Node, UnreadableText> {
    let parser = Parser::new_from_str(text);
    // The parser counts characters. Counting them again for every value would take a square of the time.
    let places = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let mut build = Build { places, parser, anchors: HashMap::new(), values: 0, text: 0 };
    let mut document = None;
    loop {
        let (event, span) = build.next()?;
        match event {
            Event::StreamEnd => break,
            Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd | Event::Nothing => {}
            _ if document.is_some() => {
                return Err(UnreadableText::new(
                    build.offset(span.start),
                    "a file holds one workflow, and here a second document begins",
                ));
            }
            event => document = Some(build.node(event, span, 0)?),
        }
    }
    Ok(document.unwrap_or(Node { at: 0..0, value: NodeValue::Null }))
}

struct Build<'t> {
    places: Vec<usize>,
    parser: Parser<'t, StrInput<'t>>,
    anchors: HashMap<usize, (Node, Weight)>,
    values: usize,
    text: usize,
}

#[derive(Debug, Clone, Copy)]
struct Weight {
    values: usize,
    text: usize,
}

impl<'t> Build<'t> {
    fn next(&mut self) -> Result<(Event<'t>, Span), UnreadableText> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(self.wrong(&error)),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn wrong(&self, error: &ScanError) -> UnreadableText {
        UnreadableText::new(self.offset(*error.marker()), format!("not valid YAML: {}", error.info()))
    }

    fn offset(&self, marker: Marker) -> usize {
        self.places.get(marker.index()).or(self.places.last()).copied().unwrap_or(0)
    }

    fn node(&mut self, event: Event<'t>, span: Span, depth: usize) -> Result<Node, UnreadableText> {
        let start = self.offset(span.start);
        if depth > MAX_DEPTH {
            return Err(UnreadableText::too_deep(start));
        }
        let before = (self.values, self.text);
        self.add(Weight { values: 1, text: 0 }, start)?;
        let (anchor, value, end) = match event {
            Event::Alias(anchor) => return self.copy(anchor, start),
            Event::Scalar(_, _, _, Some(_))
            | Event::SequenceStart(_, Some(_))
            | Event::MappingStart(_, Some(_)) => {
                return Err(UnreadableText::new(start, "a tag (!…) has no meaning here"));
            }
            Event::Scalar(text, style, anchor, None) => {
                self.add(Weight { values: 0, text: text.len() }, start)?;
                (anchor, scalar(&text, style), self.offset(span.end))
            }
            Event::SequenceStart(anchor, None) => {
                let (values, end) = self.list(depth)?;
                (anchor, NodeValue::List(values), end)
            }
            Event::MappingStart(anchor, None) => {
                let (entries, end) = self.table(depth)?;
                (anchor, NodeValue::Table(entries), end)
            }
            _ => return Err(UnreadableText::new(start, "not valid YAML: a value is missing")),
        };
        let node = Node { at: start..end.max(start), value };
        if anchor > 0 {
            let weight = Weight { values: self.values - before.0, text: self.text - before.1 };
            self.anchors.insert(anchor, (node.clone(), weight));
        }
        Ok(node)
    }

    fn list(&mut self, depth: usize) -> Result<(Vec<Node>, usize), UnreadableText> {
        let mut values = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::SequenceEnd {
                return Ok((values, self.offset(span.end)));
            }
            values.push(self.node(event, span, depth + 1)?);
        }
    }

    fn table(&mut self, depth: usize) -> Result<(Vec<(NodeKey, Node)>, usize), UnreadableText> {
        let mut entries = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::MappingEnd {
                return Ok((entries, self.offset(span.end)));
            }
            let key = self.node(event, span, depth + 1)?;
            let Some(text) = key.plain() else {
                return Err(UnreadableText::new(key.at.start, format!("{} is not a name", key.kind())));
            };
            let name = NodeKey { at: key.at, text };
            let (event, span) = self.next()?;
            entries.push((name, self.node(event, span, depth + 1)?));
        }
    }

    /// The value of an alias. Errors in it are shown where it was written, which is where they are fixed.
    fn copy(&mut self, anchor: usize, at: usize) -> Result<Node, UnreadableText> {
        let Some((node, weight)) = self.anchors.get(&anchor) else {
            return Err(UnreadableText::new(at, "a value cannot hold itself"));
        };
        let (node, weight) = (node.clone(), *weight);
        self.add(weight, at)?;
        Ok(node)
    }

    fn add(&mut self, weight: Weight, at: usize) -> Result<(), UnreadableText> {
        self.values = self.values.saturating_add(weight.values);
        self.text = self.text.saturating_add(weight.text);
        if self.values > MAX_VALUES || self.text > MAX_TEXT {
            return Err(UnreadableText::new(at, "with its aliases expanded, the file is too large"));
        }
        Ok(())
    }
}

/// A plain word may mean something other than its text; one in quotes or in a block never does.
fn scalar(text: &str, style: ScalarStyle) -> NodeValue {
    if style != ScalarStyle::Plain {
        return NodeValue::Text(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => NodeValue::Null,
        "true" | "True" | "TRUE" => NodeValue::Bool(true),
        "false" | "False" | "FALSE" => NodeValue::Bool(false),
        _ if is_number(text) => NodeValue::Number(text.to_owned()),
        _ => NodeValue::Text(text.to_owned()),
    }
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'-' | b'+'))
        && text.parse::<f64>().is_ok()
}
