//! The `server_args` line: `ServerArgs(name=value, ...)`, from 0.5.22 on a dictionary `{'name': value, ...}`.

use crate::evidence::ServerStart;

use super::number::boolean;

/// Reads what stands behind `server_args=`; `None` when it is neither of the two forms.
pub(super) fn parse(text: &[u8]) -> Option<ServerStart> {
    let body = text.strip_prefix(b"ServerArgs(").or_else(|| text.strip_prefix(b"{"))?;
    let mut start = ServerStart::default();
    let (mut dspark, mut dflash) = (None, None);
    for (name, value) in (Arguments { rest: body }) {
        match name {
            b"speculative_algorithm" => start.speculative_algorithm = string(value),
            b"speculative_num_steps" => start.num_steps = number(value),
            b"speculative_eagle_topk" => start.eagle_topk = number(value),
            b"speculative_num_draft_tokens" => start.num_draft_tokens = number(value),
            b"speculative_dspark_block_size" => dspark = number(value),
            b"speculative_dflash_block_size" => dflash = number(value),
            b"decode_log_interval" => start.decode_log_interval = number(value),
            b"random_seed" => start.random_seed = number(value),
            b"tp_size" => start.tp_size = number(value),
            b"dp_size" => start.dp_size = number(value),
            b"disaggregation_mode" => start.disaggregation_mode = string(value),
            b"cuda_graph_bs_decode" => start.graph_batches = numbers(value),
            b"cuda_graph_bs" if start.graph_batches.is_empty() => start.graph_batches = numbers(value),
            b"chunked_prefill_size" => start.chunked_prefill_size = number(value),
            b"disable_overlap_schedule" => start.overlap_disabled = boolean(value),
            b"max_running_requests" => start.max_running_requests = number(value),
            b"model_path" => start.model_path = string(value),
            b"disable_cuda_graph" => start.graphs_disabled = boolean(value),
            _ => {}
        }
    }
    start.block_size = dspark.or(dflash);
    Some(start)
}

/// The arguments of a `server_args` line at their outermost level, name and value as printed; `None` when `line` is none.
///
/// ```
/// use accsim::evidence::server_arguments;
///
/// let line = b"[2026-10-12 01:02:03] server_args=ServerArgs(model_path='m, n', tp_size=4, cuda_graph_bs=[1, 2])";
/// let arguments: Vec<_> = server_arguments(line).into_iter().flatten().collect();
/// assert_eq!(arguments[0], (&b"model_path"[..], &b"'m, n'"[..]));
/// assert_eq!(arguments[2], (&b"cuda_graph_bs"[..], &b"[1, 2]"[..]));
/// ```
#[must_use]
pub fn server_arguments(line: &[u8]) -> Option<impl Iterator<Item = (&[u8], &[u8])>> {
    const MARK: &[u8] = b"server_args=";
    let at = memchr::memmem::find(line, MARK)?;
    let text = line.get(at + MARK.len()..)?;
    let rest = text.strip_prefix(b"ServerArgs(").or_else(|| text.strip_prefix(b"{"))?;
    Some(Arguments { rest })
}

fn number<T: std::str::FromStr>(value: &[u8]) -> Option<T> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// Longest list that is kept.
const MOST_NUMBERS: usize = 4096;

/// `[1, 2, 4]`; what is none gives none.
fn numbers(value: &[u8]) -> Vec<u32> {
    let inside = value.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")).unwrap_or(&[]);
    inside
        .split(|byte| *byte == b',')
        .map_while(|text| number(text.trim_ascii()))
        .take(MOST_NUMBERS)
        .collect()
}

/// A quoted string without its quotes; `None` stays none.
fn string(value: &[u8]) -> Option<String> {
    let quote = *value.first().filter(|byte| matches!(byte, b'\'' | b'"'))?;
    let inside = value.get(1..)?.strip_suffix(&[quote])?;
    Some(String::from_utf8_lossy(inside).into_owned())
}

/// The arguments at the outermost level; one that the line's end cuts is not among them.
struct Arguments<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Arguments<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (piece, rest) = split_argument(self.rest)?;
            self.rest = rest;
            if let Some(pair) = pair(piece.trim_ascii()) {
                return Some(pair);
            }
        }
    }
}

/// Splits at the first comma outside quotes and brackets, or at the closing bracket; `None` at the end or in a cut piece.
fn split_argument(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut depth = 0_u32;
    let mut quote = None;
    let mut escaped = false;
    for (index, byte) in text.iter().enumerate() {
        match (quote, byte) {
            _ if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(open), _) if *byte == open => quote = None,
            (None, b'\'' | b'"') => quote = Some(*byte),
            (None, b'(' | b'[' | b'{') => depth = depth.saturating_add(1),
            (None, b',') if depth == 0 => return Some((text.get(..index)?, text.get(index + 1..)?)),
            (None, b')' | b']' | b'}') => match depth.checked_sub(1) {
                Some(outer) => depth = outer,
                None if index == 0 => return None,
                None => return Some((text.get(..index)?, &[])),
            },
            (Some(_) | None, _) => {}
        }
    }
    None
}

/// `name=value`, or `'name': value`.
fn pair(piece: &[u8]) -> Option<(&[u8], &[u8])> {
    let (name, value) = if let Some(quoted) = piece.strip_prefix(b"'") {
        let end = memchr::memchr(b'\'', quoted)?;
        (quoted.get(..end)?, quoted.get(end + 1..)?.trim_ascii_start().strip_prefix(b":")?)
    } else {
        let equals = memchr::memchr(b'=', piece)?;
        (piece.get(..equals)?, piece.get(equals + 1..)?)
    };
    Some((name.trim_ascii(), value.trim_ascii()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_say_the_same() {
        let call = b"ServerArgs(model_path='a, b)', x=['speculative_num_steps=9'], speculative_algorithm='EAGLE', \
            speculative_num_steps=5, speculative_dspark_block_size=None, decode_log_interval=40, random_seed=7)";
        let dictionary = b"{'model_path': \"it's, }\", 'x': {'speculative_num_steps': 9}, 'speculative_algorithm': 'EAGLE', \
            'speculative_num_steps': 5, 'decode_log_interval': 40, 'random_seed': 7}";
        let expected = ServerStart {
            speculative_algorithm: Some("EAGLE".into()),
            num_steps: Some(5),
            decode_log_interval: Some(40),
            random_seed: Some(7),
            ..ServerStart::default()
        };
        let of = |path: &str| Some(ServerStart { model_path: Some(path.into()), ..expected.clone() });
        assert_eq!(parse(call), of("a, b)"));
        assert_eq!(parse(dictionary), of("it's, }"));
    }

    #[test]
    fn batch_sizes_are_a_list() {
        let start = parse(
            b"ServerArgs(cuda_graph_bs_decode=[1, 2,4, 8], cuda_graph_bs=[3], max_running_requests=32, x=1)",
        )
        .unwrap();
        assert_eq!((start.graph_batches, start.max_running_requests), (vec![1, 2, 4, 8], Some(32)));
        assert!(parse(b"ServerArgs(cuda_graph_bs=None, x=1)").unwrap().graph_batches.is_empty());
    }

    #[test]
    fn a_cut_argument_is_absent() {
        let start = parse(b"ServerArgs(speculative_num_steps=5, decode_log_interval=4").unwrap();
        assert_eq!(start.num_steps, Some(5));
        assert_eq!(start.decode_log_interval, None);
        assert_eq!(parse(b"see the docs"), None);
    }
}
