//! One line of the Prometheus text format, and of OpenMetrics.
//!
//! A parser of our own: the published ones take a whole text at a time, build every family of it, and refuse the text for
//! one odd line. A server exports thousands of series and we want fifteen, from files that were cut or glued.

use std::borrow::Cow;

/// A line that is no sample and no comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineFault {
    /// No metric name at its beginning.
    #[error("expected the name of a metric")]
    Name,
    /// Labels that do not end, or are no pairs.
    #[error("expected labels such as {{name=\"value\"}}")]
    Labels,
    /// No number behind the name.
    #[error("expected a number behind the name")]
    Value,
    /// Something behind the number that is no time and no exemplar.
    #[error("expected a time or the end of the line behind the number")]
    Rest,
}

/// What a line exposes.
#[derive(Clone, Debug, PartialEq)]
pub enum Exposed<'a> {
    /// Nothing: blank, a comment, `# EOF`.
    Nothing,
    /// `# HELP name` or `# TYPE name kind`.
    Described(&'a str),
    /// One sample.
    Sample(Sample<'a>),
}

/// One sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample<'a> {
    /// Name of the metric as written.
    pub name: &'a str,
    /// Labels in the order of writing, escapes resolved.
    pub labels: Vec<(&'a str, Cow<'a, str>)>,
    /// The value; NaN and infinities are values.
    pub value: f64,
    /// The time as written: milliseconds in the text format, seconds in OpenMetrics.
    pub timestamp: Option<f64>,
}

/// Labels that a sample may have. Engines give fewer than twenty.
const MOST_LABELS: usize = 256;

/// Reads one line, without its line end.
///
/// ```
/// use accsim::evidence::{Exposed, parse_line};
///
/// let line = r#"vllm:spec_decode_num_drafts_total{engine="0",model_name="a\"b"} 1.0e+03 # {trace="x"} 1"#;
/// let Ok(Exposed::Sample(sample)) = parse_line(line) else { unreachable!() };
/// assert_eq!(sample.name, "vllm:spec_decode_num_drafts_total");
/// assert_eq!(sample.labels[1], ("model_name", "a\"b".into()));
/// assert_eq!(sample.value, 1000.0);
/// ```
pub fn parse_line(line: &str) -> Result<Exposed<'_>, LineFault> {
    let line = line.trim_matches([' ', '\t', '\r']);
    if let Some(comment) = line.strip_prefix('#') {
        let mut words = comment.split_ascii_whitespace();
        let described = words.next().filter(|word| matches!(*word, "HELP" | "TYPE" | "UNIT"));
        return Ok(match (described, words.next()) {
            (Some(_), Some(name)) if name_len(name) == name.len() => Exposed::Described(name),
            _ => Exposed::Nothing,
        });
    }
    if line.is_empty() {
        return Ok(Exposed::Nothing);
    }
    let (name, rest) = line.split_at_checked(name_len(line)).ok_or(LineFault::Name)?;
    if name.is_empty() {
        return Err(LineFault::Name);
    }
    let (labels, rest) = match rest.trim_start().strip_prefix('{') {
        Some(inside) => labels(inside)?,
        None if rest.starts_with([' ', '\t']) => (Vec::new(), rest),
        None => return Err(if rest.is_empty() { LineFault::Value } else { LineFault::Name }),
    };
    // An exemplar stands behind `#`; its labels have been escaped like all others, and nothing behind them counts.
    let figures = rest.split_once(" #").map_or(rest, |(figures, _)| figures);
    let mut words = figures.split_ascii_whitespace();
    let value = words.next().and_then(number).ok_or(LineFault::Value)?;
    let timestamp = words.next().map(|word| word.parse().map_err(|_| LineFault::Rest)).transpose()?;
    if words.next().is_some() {
        return Err(LineFault::Rest);
    }
    Ok(Exposed::Sample(Sample { name, labels, value, timestamp }))
}

/// Bytes of the name that `text` begins with.
fn name_len(text: &str) -> usize {
    let is_part = |at: usize, byte: u8| {
        byte.is_ascii_alphabetic() || matches!(byte, b'_' | b':') || (at > 0 && byte.is_ascii_digit())
    };
    text.bytes().enumerate().take_while(|(at, byte)| is_part(*at, *byte)).count()
}

type Labels<'a> = Vec<(&'a str, Cow<'a, str>)>;

/// Reads `name="value",...}` and hands out what follows.
fn labels(mut text: &str) -> Result<(Labels<'_>, &str), LineFault> {
    let mut found: Labels<'_> = Vec::new();
    loop {
        text = text.trim_start_matches([' ', '\t', ',']);
        if let Some(rest) = text.strip_prefix('}') {
            return Ok((found, rest));
        }
        let (name, rest) = text.split_at_checked(name_len(text)).ok_or(LineFault::Labels)?;
        let rest = rest.trim_start().strip_prefix('=').ok_or(LineFault::Labels)?;
        let rest = rest.trim_start().strip_prefix('"').ok_or(LineFault::Labels)?;
        let (value, rest) = quoted(rest)?;
        if name.is_empty() || found.len() >= MOST_LABELS {
            return Err(LineFault::Labels);
        }
        found.push((name, value));
        text = rest;
    }
}

/// The text up to the quote that ends it, and what follows.
fn quoted(text: &str) -> Result<(Cow<'_, str>, &str), LineFault> {
    let mut escaped = false;
    let mut has_escapes = false;
    for (end, byte) in text.bytes().enumerate() {
        match byte {
            b'"' if !escaped => {
                let inside = text.get(..end).ok_or(LineFault::Labels)?;
                let rest = text.get(end + 1..).ok_or(LineFault::Labels)?;
                let value = if has_escapes { unescaped(inside).into() } else { inside.into() };
                return Ok((value, rest));
            }
            b'\\' if !escaped => (escaped, has_escapes) = (true, true),
            _ => escaped = false,
        }
    }
    Err(LineFault::Labels)
}

/// `\\`, `\"` and `\n`; any other backslash stays.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            plain.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => plain.push('\n'),
            Some(kept @ ('"' | '\\')) => plain.push(kept),
            Some(other) => plain.extend(['\\', other]),
            None => plain.push('\\'),
        }
    }
    plain
}

/// A number as Go writes it: `+Inf` and `NaN` too, `infinity` and the like not.
fn number(word: &str) -> Option<f64> {
    match word {
        "NaN" => Some(f64::NAN),
        "+Inf" | "Inf" => Some(f64::INFINITY),
        "-Inf" => Some(f64::NEG_INFINITY),
        _ => word.parse().ok().filter(|number: &f64| number.is_finite()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(line: &str) -> Sample<'_> {
        match parse_line(line) {
            Ok(Exposed::Sample(sample)) => sample,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn forms_of_a_sample() {
        assert!((sample("a 1").value - 1.0).abs() < 1e-12);
        assert_eq!(sample("a{} 1").labels, []);
        let full = sample(r#" a:b_c { x = "1" , y="a b,}\n" , } -2.5e3 1700000000000 "#);
        assert_eq!(full.labels, [("x", "1".into()), ("y", "a b,}\n".into())]);
        assert_eq!((full.value, full.timestamp), (-2500.0, Some(1.7e12)));
        let exemplar = sample(r##"a_total{x="#"} 17 # {trace_id="a b"} 0.5 1520879607.789"##);
        assert_eq!((exemplar.value, exemplar.timestamp), (17.0, None));
        assert!(sample("a NaN").value.is_nan());
        assert!(sample("a +Inf").value.is_infinite());
    }

    #[test]
    fn what_is_no_sample() {
        assert_eq!(parse_line("# EOF"), Ok(Exposed::Nothing));
        assert_eq!(parse_line("  "), Ok(Exposed::Nothing));
        assert_eq!(parse_line("# TYPE a:b counter"), Ok(Exposed::Described("a:b")));
        assert_eq!(parse_line("# HELP 1st not a name"), Ok(Exposed::Nothing));
        for (line, fault) in [
            ("1a 2", LineFault::Name),
            ("a-b 2", LineFault::Name),
            ("a", LineFault::Value),
            ("a{x=\"1\"}", LineFault::Value),
            ("a 1.2.3", LineFault::Value),
            ("a infinity", LineFault::Value),
            ("a{x=\"1} 2", LineFault::Labels),
            ("a{x=1} 2", LineFault::Labels),
            ("a{\"x\"} 2", LineFault::Labels),
            ("a 1 2 3", LineFault::Rest),
            ("a 1 x", LineFault::Rest),
        ] {
            assert_eq!(parse_line(line), Err(fault), "{line}");
        }
    }
}
