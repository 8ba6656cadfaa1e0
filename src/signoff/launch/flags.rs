//! The words of a command: flags with what stands behind them.

use super::names::canonical;
use super::value::LaunchValue;
use crate::engine::Engine;

/// Flags and their values; the last of a name holds.
pub(super) fn flags(engine: Option<Engine>, words: &[String]) -> Vec<(String, LaunchValue)> {
    let mut found: Vec<(String, LaunchValue)> = Vec::new();
    let mut rest = words.iter().peekable();
    // vLLM takes its model in front of all flags.
    if engine == Some(Engine::Vllm)
        && let Some(model) = rest.next_if(|word| !word.starts_with('-'))
    {
        found.push(("model".to_owned(), LaunchValue::of_argument("model", model)));
    }
    while let Some(word) = rest.next() {
        if !is_flag(word) {
            continue;
        }
        let (flag, value) = if let Some((flag, value)) = word.split_once('=') {
            (flag, LaunchValue::of_argument(&canonical(engine, flag), value))
        } else {
            let mut values = Vec::new();
            while let Some(value) = rest.next_if(|next| !is_flag(next) && !is_end(next)) {
                values.push(value.clone());
            }
            let value = match values.as_slice() {
                [one] => LaunchValue::of_argument(&canonical(engine, word), one),
                _ => LaunchValue::list(&values),
            };
            (word.as_str(), value)
        };
        // `-O3` has its value in itself.
        let level = flag.strip_prefix("-O").filter(|level| {
            engine == Some(Engine::Vllm)
                && !level.is_empty()
                && level.bytes().all(|byte| byte.is_ascii_digit())
        });
        let (flag, value) = match level {
            Some(level) => ("-O", LaunchValue::of(level)),
            None => (flag, value),
        };
        let name = canonical(engine, flag);
        let (name, value) = match name.strip_prefix("no_") {
            // vLLM's `--no-enable-prefix-caching`.
            Some(own) if value == LaunchValue::of("True") => (own.to_owned(), LaunchValue::of("False")),
            _ => (name, value),
        };
        match found.iter_mut().find(|(known, _)| *known == name) {
            Some((_, held)) => *held = value,
            None => found.push((name, value)),
        }
        if rest.peek().is_some_and(|next| is_end(next)) {
            break;
        }
    }
    found
}

/// `--name` or `-tp`; a negative number is a value.
fn is_flag(word: &str) -> bool {
    let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-'));
    name.is_some_and(|name| name.starts_with(|first: char| first.is_ascii_alphabetic()))
}

/// What ends a command.
fn is_end(word: &str) -> bool {
    matches!(word, "|" | "||" | "&&" | "&" | ";" | ">" | ">>" | "2>&1" | "<" | "&>")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(engine: Engine, text: &str) -> Vec<(String, String)> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        flags(Some(engine), &words).into_iter().map(|(name, value)| (name, value.to_string())).collect()
    }

    #[test]
    fn every_form_of_a_flag() {
        let found = read(
            Engine::Sglang,
            "--model m --tp 4 --cuda-graph-bs 1 2 4 --enable-metrics --x=-1 --y -1 --tp-size=8 > log",
        );
        let found: Vec<(&str, &str)> =
            found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let expected = [
            ("model_path", "m"),
            ("tp_size", "8"),
            ("cuda_graph_bs_decode", "[1, 2, 4]"),
            ("enable_metrics", "True"),
            ("x", "-1"),
            ("y", "-1"),
        ];
        assert_eq!(found, expected);
        let found = read(Engine::Vllm, "org/m -tp 4 --no-enable-prefix-caching");
        assert_eq!(found[0], ("model".to_owned(), "org/m".to_owned()));
        assert_eq!(found[2], ("enable_prefix_caching".to_owned(), "False".to_owned()));
        for text in ["m -O3 --x", "m -O 3 --x", "m -O=3 --x", "m --compilation-config 3 --x"] {
            let found = read(Engine::Vllm, text);
            assert_eq!(found[1], ("compilation_config".to_owned(), "3".to_owned()), "{text}");
        }
    }
}
