//! First step: the parser's events as a flat arena. Aliases stay aliases, so nothing here can grow beyond the text.

use std::collections::BTreeMap;
use std::sync::Arc;

use saphyr_parser::{Event, Marker, Parser, ScanError, Tag};

use super::{Limits, Position, Scalar, ScalarStyle, YamlError, YamlErrorKind};

/// A node of the arena; children by index.
#[derive(Debug)]
pub(super) enum Raw {
    Scalar(Scalar),
    /// Another node again.
    Alias {
        target: usize,
    },
    Sequence {
        at: Position,
        items: Vec<usize>,
    },
    /// Keys and values in turn.
    Mapping {
        at: Position,
        items: Vec<usize>,
    },
}

/// All nodes of a text and its root; no root when the text has none.
#[derive(Debug, Default)]
pub(super) struct Arena {
    pub(super) nodes: Vec<Raw>,
    pub(super) root: Option<usize>,
}

/// Reads the events of `text`, which starts with no byte order mark.
pub(super) fn read(text: &str, limits: &Limits) -> Result<Arena, YamlError> {
    let mut builder = Builder { limits, arena: Arena::default(), open: Vec::new(), anchors: BTreeMap::new() };
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        match event {
            Ok((Event::StreamEnd, _)) => break,
            Ok((event, span)) => builder.take(event, position(span.start))?,
            Err(error) => return Err(syntax(text, &error, builder.last())),
        }
    }
    Ok(builder.arena)
}

struct Builder<'a> {
    limits: &'a Limits,
    arena: Arena,
    /// Containers that wait for more children, outermost first.
    open: Vec<usize>,
    /// Anchor number of the parser -> node.
    anchors: BTreeMap<usize, usize>,
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, at: Position) -> Result<(), YamlError> {
        match event {
            Event::DocumentStart(_) if self.arena.root.is_some() => {
                Err(YamlError { at, kind: YamlErrorKind::SecondDocument })
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
            Event::Alias(anchor) => self.alias(anchor, at),
            Event::Scalar(text, style, anchor, tag) => {
                refuse_tag(tag.as_deref(), at)?;
                let style = match style {
                    saphyr_parser::ScalarStyle::Plain => ScalarStyle::Plain,
                    saphyr_parser::ScalarStyle::SingleQuoted | saphyr_parser::ScalarStyle::DoubleQuoted => {
                        ScalarStyle::Quoted
                    }
                    saphyr_parser::ScalarStyle::Literal | saphyr_parser::ScalarStyle::Folded => {
                        ScalarStyle::Block
                    }
                };
                self.add(Raw::Scalar(Scalar { at, text: Arc::from(text), style }), anchor, at).map(drop)
            }
            Event::SequenceStart(anchor, tag) => {
                refuse_tag(tag.as_deref(), at)?;
                self.open(Raw::Sequence { at, items: Vec::new() }, anchor, at)
            }
            Event::MappingStart(anchor, tag) => {
                refuse_tag(tag.as_deref(), at)?;
                self.open(Raw::Mapping { at, items: Vec::new() }, anchor, at)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                self.open.pop();
                Ok(())
            }
        }
    }

    fn alias(&mut self, anchor: usize, at: Position) -> Result<(), YamlError> {
        match self.anchors.get(&anchor) {
            Some(target) if !self.open.contains(target) => {
                let target = *target;
                self.add(Raw::Alias { target }, 0, at).map(drop)
            }
            // An anchor is known from its first event on, so an unknown one is inside itself too.
            _ => Err(YamlError { at, kind: YamlErrorKind::RecursiveAlias }),
        }
    }

    fn open(&mut self, node: Raw, anchor: usize, at: Position) -> Result<(), YamlError> {
        if self.open.len() >= self.limits.depth {
            return Err(YamlError { at, kind: YamlErrorKind::TooDeep { limit: self.limits.depth } });
        }
        let index = self.add(node, anchor, at)?;
        self.open.push(index);
        Ok(())
    }

    fn add(&mut self, node: Raw, anchor: usize, at: Position) -> Result<usize, YamlError> {
        let index = self.arena.nodes.len();
        if index >= self.limits.nodes {
            return Err(YamlError { at, kind: YamlErrorKind::TooManyNodes { limit: self.limits.nodes } });
        }
        self.arena.nodes.push(node);
        // The parser counts anchors from 1; 0 is none.
        if anchor != 0 {
            self.anchors.insert(anchor, index);
        }
        match self.open.last().and_then(|parent| self.arena.nodes.get_mut(*parent)) {
            Some(Raw::Sequence { items, .. } | Raw::Mapping { items, .. }) => items.push(index),
            _ => self.arena.root = Some(index),
        }
        Ok(index)
    }

    /// Where the last scalar stands.
    fn last(&self) -> Option<Position> {
        self.arena.nodes.iter().rev().find_map(|node| match node {
            Raw::Scalar(scalar) => Some(scalar.at),
            _ => None,
        })
    }
}

fn refuse_tag(tag: Option<&Tag>, at: Position) -> Result<(), YamlError> {
    match tag {
        Some(tag) => Err(YamlError { at, kind: YamlErrorKind::Tag(tag.to_string()) }),
        None => Ok(()),
    }
}

fn position(marker: Marker) -> Position {
    Position { line: marker.line().max(1), column: marker.col().saturating_add(1) }
}

/// The scanner notices a tab late and under several names; where one indents the line at hand or the next, say so.
fn syntax(text: &str, error: &ScanError, last: Option<Position>) -> YamlError {
    let at = position(*error.marker());
    let first = at.line.saturating_sub(1);
    let reach = if error.info().contains("tab") { 2 } else { 1 };
    for (index, line) in lines(text).enumerate().skip(first).take(reach) {
        let indentation = line.chars().take_while(|character| matches!(character, ' ' | '\t'));
        if let Some(column) = indentation.clone().position(|character| character == '\t')
            && indentation.count() < line.chars().count()
        {
            let at = Position { line: index.saturating_add(1), column: column.saturating_add(1) };
            return YamlError { at, kind: YamlErrorKind::Tab };
        }
    }
    YamlError { at, kind: YamlErrorKind::Syntax { found: error.info().to_owned(), last } }
}

/// Lines as YAML counts them: LF, CR and CR LF end one.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = text.find(['\n', '\r']) else {
            rest = None;
            return Some(text);
        };
        let (line, tail) = text.split_at(end);
        rest = tail.strip_prefix("\r\n").or_else(|| tail.get(1..));
        Some(line)
    })
}
