//! From the nodes of the grammar to the words that a command gets.

use tree_sitter::Node;

use crate::yaml::Position;

use super::arithmetic;
use super::exec::Machine;
use super::state::{State, Value};
use super::word::{Word, unresolved};

/// Names that the launcher's environment settles for certain, so that a test of them is decided.
const SETTLED: [&str; 1] = ["EVAL_ONLY"];

/// Longest text that an expansion may grow to.
const MOST_BYTES: usize = 1 << 18;

impl<'t> Machine<'t> {
    pub(super) fn source_of(&self, node: Node<'t>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    pub(super) fn at(&self, node: Node<'t>) -> Position {
        self.fixed.unwrap_or_else(|| self.source.position(node.start_byte()))
    }

    /// The words of a node outside of quotes: none, one or several.
    pub(super) fn words(&mut self, node: Node<'t>, state: &mut State) -> Vec<Word> {
        match node.kind() {
            "string" => match self.lone_array(node, state) {
                Some(words) => words,
                None => vec![self.word(node, state)],
            },
            "expansion" | "simple_expansion" => {
                if let Some(words) = self.array_of(node, state) {
                    return words;
                }
                let word = self.word(node, state);
                split(&word)
            }
            "command_substitution" => {
                let word = self.word(node, state);
                split(&word)
            }
            _ => vec![self.word(node, state)],
        }
    }

    /// `"${args[@]}"` and nothing else.
    fn lone_array(&mut self, node: Node<'t>, state: &mut State) -> Option<Vec<Word>> {
        let mut cursor = node.walk();
        let mut inner = node.named_children(&mut cursor);
        let only = inner.next()?;
        if inner.next().is_some() {
            return None;
        }
        let is_whole = self.source_of(node).len() == self.source_of(only).len() + 2;
        is_whole.then(|| self.array_of(only, state)).flatten()
    }

    /// The items of `${args[@]}`, `${args[*]}`, `$@`.
    fn array_of(&self, node: Node<'t>, state: &State) -> Option<Vec<Word>> {
        let text = self.source_of(node);
        let inner = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
        let inner = inner.or_else(|| text.strip_prefix('$'))?;
        if matches!(inner, "@" | "*") {
            return Some(state.positional.clone());
        }
        let name = inner.strip_suffix("[@]").or_else(|| inner.strip_suffix("[*]"))?;
        match state.get(name) {
            Some(Value::Array(words)) => Some(words.clone()),
            Some(Value::Scalar(word)) => Some(vec![word.clone()]),
            Some(Value::Unset) => Some(Vec::new()),
            None => None,
        }
    }

    /// The node as one word.
    pub(super) fn word(&mut self, node: Node<'t>, state: &mut State) -> Word {
        let at = self.at(node);
        if self.deeper() {
            return Word::new(unresolved(self.source_of(node)), at);
        }
        let word = self.word_at(node, at, state);
        self.depth -= 1;
        word
    }

    fn word_at(&mut self, node: Node<'t>, at: Position, state: &mut State) -> Word {
        let text = self.source_of(node);
        match node.kind() {
            "word" | "extglob_pattern" => Word::new(unescaped(text), at),
            "number" | "variable_name" | "test_operator" | "special_variable_name" | "regex" => {
                // A number may hold an expansion: `10#$x`.
                if node.named_child_count() > 0 {
                    self.region(node, 0, 0, at, false, state)
                } else {
                    Word::new(text, at)
                }
            }
            "raw_string" => {
                let inner = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).unwrap_or(text);
                let mut word = Word::new(inner, at);
                word.verbatim = self.behind(node, 1);
                word
            }
            "ansi_c_string" => Word::new(ansi(text), at),
            "string" => {
                let mut word = self.region(node, 1, 1, at, true, state);
                if node.named_child_count() <= 1
                    && text.get(1..text.len().saturating_sub(1)) == Some(&*word.text)
                {
                    word.verbatim = self.behind(node, 1);
                }
                word
            }
            "translated_string" | "concatenation" => self.joined(node, at, state),
            "simple_expansion" => variable(text.strip_prefix('$').unwrap_or(text), at, text, state),
            "expansion" => self.expansion(node, at, state),
            "arithmetic_expansion" => {
                let inner = self.region(node, 3, 2, at, false, state);
                let inner = with_bare_names(&inner.text, state);
                let value = arithmetic::value(&inner).map(|value| value.to_string());
                Word::new(value.unwrap_or_else(|| unresolved(text)), at)
            }
            "command_substitution" => self.substitution(node, at, state),
            "process_substitution" | "brace_expression" => Word::new(unresolved(text), at),
            _ => Word::new(text, at),
        }
    }

    /// The place behind the opening quote.
    fn behind(&self, node: Node<'t>, bytes: usize) -> Option<Position> {
        self.fixed.is_none().then(|| self.source.position(node.start_byte() + bytes))
    }

    /// Parts of a word one behind the other; the value of a variable keeps its own place if it is all.
    fn joined(&mut self, node: Node<'t>, at: Position, state: &mut State) -> Word {
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.children(&mut cursor).collect();
        let mut all = Word::new("", at);
        for child in children {
            let part = self.word(child, state);
            self.push(&mut all, &part);
        }
        all
    }

    fn push(&mut self, all: &mut Word, part: &Word) {
        if all.text.len().saturating_add(part.text.len()) > MOST_BYTES {
            self.exhausted = true;
            return;
        }
        all.text.push_str(&part.text);
        if all.defaulted.is_none() {
            all.defaulted.clone_from(&part.defaulted);
        }
    }

    /// The text of a node without `head` and `tail` bytes, its expansions in it resolved.
    pub(super) fn region(
        &mut self,
        node: Node<'t>,
        head: usize,
        tail: usize,
        at: Position,
        is_quoted: bool,
        state: &mut State,
    ) -> Word {
        let (from, to) = (node.start_byte() + head, node.end_byte().saturating_sub(tail));
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.named_children(&mut cursor).collect();
        self.between(&children, from, to, at, is_quoted, state)
    }

    /// The text from one byte to another, the expansions among `children` resolved.
    fn between(
        &mut self,
        children: &[Node<'t>],
        from: usize,
        to: usize,
        at: Position,
        is_quoted: bool,
        state: &mut State,
    ) -> Word {
        let mut all = Word::new("", at);
        let mut place = None;
        let mut byte = from;
        let mut parts = 0;
        for child in children {
            if child.start_byte() < byte || child.end_byte() > to || !is_expansion(*child) {
                continue;
            }
            let before = self.text.get(byte..child.start_byte()).unwrap_or_default();
            if !before.is_empty() {
                parts += 1;
                let literal = Word::new(if is_quoted { unquoted(before) } else { before.to_owned() }, at);
                self.push(&mut all, &literal);
            }
            let part = self.word(*child, state);
            place = Some(part.at);
            parts += 1;
            self.push(&mut all, &part);
            byte = child.end_byte();
        }
        let rest = self.text.get(byte..to).unwrap_or_default();
        if !rest.is_empty() {
            parts += 1;
            let literal = Word::new(if is_quoted { unquoted(rest) } else { rest.to_owned() }, at);
            self.push(&mut all, &literal);
        }
        if let Some(place) = place.filter(|_| parts == 1) {
            all.at = place;
        }
        all
    }

    /// The text of a here-document.
    pub(super) fn heredoc(&mut self, body: Node<'t>, is_raw: bool, state: &mut State) -> Word {
        let at = self.at(body);
        if is_raw {
            return Word::new(self.source_of(body), at);
        }
        self.region(body, 0, 0, at, true, state)
    }

    /// `${name}`, `${name[index]}`, and what may follow.
    fn expansion(&mut self, node: Node<'t>, at: Position, state: &mut State) -> Word {
        let source = self.source_of(node);
        let inner = source.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
        let open = || Word::new(unresolved(source), at);
        let end = inner
            .find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
            .unwrap_or(inner.len());
        let (name, mut rest) = inner.split_at(end);
        if name.is_empty() {
            return open();
        }
        let mut value = variable(name, at, source, state);
        let mut is_set = state.vars.get(name).is_some_and(|var| var.value != Value::Unset)
            || name.parse::<usize>().is_ok_and(|index| index > 0 && index <= state.positional.len());
        let is_known = is_set || state.get(name) == Some(&Value::Unset) || SETTLED.contains(&name);
        if rest.starts_with('[') {
            let Some(close) = matching_bracket(rest) else { return open() };
            let index = rest.get(1..close).unwrap_or_default();
            rest = rest.get(close + 1..).unwrap_or_default();
            let index = self.subscript(node, index, state);
            match item(state.get(name), &index) {
                Found::Item(word) => value = word,
                Found::Missing => {
                    is_set = false;
                    value = Word::new("", at);
                }
                Found::Unknown => return open(),
            }
        }
        if rest.is_empty() {
            return value;
        }
        let (colon, rest) = match rest.strip_prefix(':') {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        let Some(operator) = rest.chars().next() else { return open() };
        let operand_from = node.end_byte().saturating_sub(rest.len());
        let is_empty = !is_set || (colon && value.text.is_empty());
        match operator {
            '-' | '=' => {
                if !is_empty {
                    return value;
                }
                let mut word = self.operand(node, operand_from, state);
                if !is_known {
                    word.defaulted = Some(name.to_owned());
                }
                if operator == '=' {
                    state.set(name, Value::Scalar(word.clone()), false);
                }
                word
            }
            '+' if is_known || is_set => {
                if is_empty {
                    Word::new("", at)
                } else {
                    self.operand(node, operand_from, state)
                }
            }
            '?' if is_set => value,
            '#' | '%' | '/' | '^' | ',' if !colon && value.is_resolved() && is_set => {
                edited(&value, rest).unwrap_or_else(open)
            }
            _ => open(),
        }
    }

    /// What stands behind the operator of `${name:-operand}`.
    fn operand(&mut self, node: Node<'t>, from: usize, state: &mut State) -> Word {
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.named_children(&mut cursor).collect();
        let to = node.end_byte().saturating_sub(1);
        let at = self.fixed.unwrap_or_else(|| self.source.position(from));
        // A string as the whole operand loses its quotes.
        if let Some(only) = children.iter().find(|child| child.start_byte() == from && child.end_byte() == to)
        {
            return self.word(*only, state);
        }
        let inner: Vec<Node<'t>> = children
            .into_iter()
            .filter(|child| child.start_byte() >= from)
            .flat_map(|child| if is_expansion(child) { vec![child] } else { expansions_in(child) })
            .collect();
        self.between(&inner, from, to, at, true, state)
    }

    fn subscript(&mut self, node: Node<'t>, index: &str, state: &mut State) -> Word {
        let mut cursor = node.walk();
        let found = node.named_children(&mut cursor).find(|child| child.kind() == "subscript");
        match found.and_then(|subscript| subscript.child_by_field_name("index")) {
            Some(index) => self.word(index, state),
            None => Word::new(index, self.at(node)),
        }
    }

    /// `$(cat <<EOF`, `$(echo ..)`; what another program prints is open.
    fn substitution(&mut self, node: Node<'t>, at: Position, state: &mut State) -> Word {
        let open = Word::new(unresolved(self.source_of(node)), at);
        let mut cursor = node.walk();
        let mut children = node.named_children(&mut cursor);
        let (Some(only), None) = (children.next(), children.next()) else { return open };
        match only.kind() {
            "command" => {
                let words = self.command_words(only, state);
                let Some((name, arguments)) = words.split_first() else { return open };
                match name.text.as_str() {
                    "echo" => {
                        let arguments =
                            arguments.iter().filter(|word| !matches!(word.text.as_str(), "-n" | "-e"));
                        joined_by_space(arguments, at)
                    }
                    "printf" => match arguments {
                        [format, value] if matches!(format.text.as_str(), "%s" | "%s\\n") => {
                            Word { at, ..value.clone() }
                        }
                        [text] if !text.text.contains(['%', '\\']) => Word { at, ..text.clone() },
                        _ => open,
                    },
                    _ => open,
                }
            }
            "redirected_statement" => {
                let is_cat = self.source_of(only).trim_start().starts_with("cat");
                match self.heredoc_of(only, state).filter(|_| is_cat) {
                    Some(mut word) => {
                        let end = word.text.trim_end_matches('\n').len();
                        word.text.truncate(end);
                        word
                    }
                    None => open,
                }
            }
            _ => open,
        }
    }
}

/// The value of a variable as one word.
fn variable(name: &str, at: Position, source: &str, state: &State) -> Word {
    if let Ok(index) = name.parse::<usize>() {
        let given = index.checked_sub(1).and_then(|index| state.positional.get(index));
        return given.cloned().unwrap_or_else(|| Word::new(unresolved(source), at));
    }
    match state.get(name) {
        Some(Value::Scalar(word)) => word.clone(),
        Some(Value::Array(words)) => words.first().cloned().unwrap_or_else(|| Word::new("", at)),
        Some(Value::Unset) => Word::new("", at),
        None if SETTLED.contains(&name) => Word::new("", at),
        None => Word::new(unresolved(source), at),
    }
}

enum Found {
    Item(Word),
    Missing,
    Unknown,
}

/// An item of an array, by number or by key.
fn item(value: Option<&Value>, index: &Word) -> Found {
    let (Some(Value::Array(words)), true) = (value, index.is_resolved()) else { return Found::Unknown };
    let key = index.text.trim_matches(['"', '\'']);
    let start = format!("[{key}]=");
    if let Some(word) = words.iter().find(|word| word.text.starts_with(&start)) {
        let text = word.text.get(start.len()..).unwrap_or_default();
        return Found::Item(Word { text: text.to_owned(), ..word.clone() });
    }
    let is_keyed = words.iter().any(|word| word.text.starts_with('[') && word.text.contains("]="));
    match key.parse::<usize>() {
        Ok(number) if !is_keyed => words.get(number).cloned().map_or(Found::Missing, Found::Item),
        _ => Found::Missing,
    }
}

fn joined_by_space<'w>(words: impl Iterator<Item = &'w Word>, at: Position) -> Word {
    let texts: Vec<&str> = words.map(|word| word.text.as_str()).collect();
    Word::new(texts.join(" "), at)
}

/// Whether a node is something to resolve inside other text.
fn is_expansion(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "simple_expansion"
            | "expansion"
            | "command_substitution"
            | "arithmetic_expansion"
            | "process_substitution"
    )
}

/// The expansions anywhere in a node, in order; what is inside of one belongs to it.
fn expansions_in(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
    children
        .into_iter()
        .flat_map(|child| if is_expansion(child) { vec![child] } else { Vec::new() })
        .collect()
}

/// Fields of a word outside of quotes.
fn split(word: &Word) -> Vec<Word> {
    if !word.is_resolved() {
        return vec![word.clone()];
    }
    word.text
        .split_whitespace()
        .map(|field| Word { text: field.to_owned(), verbatim: None, ..word.clone() })
        .collect()
}

/// A bare word without its backslashes.
fn unescaped(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('\n') | None => {}
                Some(next) => out.push(next),
            },
            other => out.push(other),
        }
    }
    out
}

/// Text of double quotes: a backslash counts before four characters and a line end.
fn unquoted(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        match letters.peek() {
            Some(next @ ('"' | '\\' | '$' | '`')) => {
                out.push(*next);
                letters.next();
            }
            Some('\n') => {
                letters.next();
            }
            _ => out.push('\\'),
        }
    }
    out
}

/// `$'..'` with its common escapes.
fn ansi(text: &str) -> String {
    let inner = text.strip_prefix("$'").and_then(|rest| rest.strip_suffix('\'')).unwrap_or(text);
    let mut out = String::with_capacity(inner.len());
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some(other) => out.push(other),
                None => {}
            },
            other => out.push(other),
        }
    }
    out
}

/// In an arithmetic expression a name needs no `$`.
fn with_bare_names(text: &str, state: &State) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_alphabetic() || letter == '_') {
        let (before, tail) = rest.split_at(start);
        out.push_str(before);
        let end = tail
            .find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
            .unwrap_or(tail.len());
        let (name, tail) = tail.split_at(end);
        match state.get(name) {
            Some(Value::Scalar(word)) => out.push_str(&word.text),
            _ => out.push_str(name),
        }
        rest = tail;
    }
    out.push_str(rest);
    out
}

/// The bracket that closes the first one.
fn matching_bracket(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, letter) in text.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(index);
                }
            }
            _ => {}
        }
    }
    None
}

/// `${x#a}`, `${x%a}`, `${x/a/b}`, `${x,,}` with plain patterns and `*` at an end; none for others.
fn edited(value: &Word, operation: &str) -> Option<Word> {
    let text = value.text.as_str();
    let is_plain = |pattern: &str| !pattern.contains(['*', '?', '[', '$', '`', '"', '\'', '\\']);
    let new = match operation {
        ",," => text.to_lowercase(),
        "^^" => text.to_uppercase(),
        "##*/" => text.rsplit('/').next().unwrap_or(text).to_owned(),
        _ if operation.starts_with("//") => {
            let (from, to) = operation.get(2..)?.split_once('/').unwrap_or((operation.get(2..)?, ""));
            (is_plain(from) && is_plain(to) && !from.is_empty()).then(|| text.replace(from, to))?
        }
        _ if operation.starts_with('/') => {
            let (from, to) = operation.get(1..)?.split_once('/').unwrap_or((operation.get(1..)?, ""));
            (is_plain(from) && is_plain(to) && !from.is_empty()).then(|| text.replacen(from, to, 1))?
        }
        _ => {
            let (start, pattern) = match operation.chars().next()? {
                '#' => (true, operation.trim_start_matches('#')),
                '%' => (false, operation.trim_start_matches('%')),
                _ => return None,
            };
            if !is_plain(pattern) {
                return None;
            }
            let cut = if start { text.strip_prefix(pattern) } else { text.strip_suffix(pattern) };
            cut.unwrap_or(text).to_owned()
        }
    };
    Some(Word { text: new, verbatim: None, ..value.clone() })
}
