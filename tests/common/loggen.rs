//! Writes SGLang logs: lines of every release's shape (SGLANG.md section 4.2), with what they say, behind every
//! prefix and wrapper, and damage of every kind. All of it follows from one seed.

use std::collections::BTreeMap;

/// A small generator of random numbers (splitmix64): the same on every machine.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `count`, which is not 0.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % count as u64).unwrap()
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// A count with 1 to 6 digits.
    fn count(&mut self) -> u64 {
        let digits = 1 + self.below(6);
        self.next() % 10_u64.pow(u32::try_from(digits).unwrap())
    }

    /// A number with two decimals, below `most`.
    fn f2(&mut self, most: u64) -> String {
        let hundredths = self.next() % (most * 100);
        format!("{}.{:02}", hundredths / 100, hundredths % 100)
    }
}

/// The releases at which the shape of a line changed, in order; the index is the age that the shapes below compare.
pub(crate) const RELEASES: [&str; 23] = [
    "0.3.6",
    "0.4.2",
    "0.4.4",
    "0.4.4.post4",
    "0.4.6",
    "0.4.6.post5",
    "0.4.8",
    "0.4.9",
    "0.4.9.post2",
    "0.4.9.post6",
    "0.5.2",
    "0.5.3",
    "0.5.3.post2",
    "0.5.4",
    "0.5.4.post1",
    "0.5.6",
    "0.5.9",
    "0.5.10",
    "0.5.11",
    "0.5.13",
    "0.5.16",
    "0.5.21",
    "0.5.23",
];

/// Index of a release in [`RELEASES`].
fn age(release: &str) -> usize {
    RELEASES.iter().position(|known| *known == release).unwrap()
}

/// What one line says, as the engine printed it; absent fields are missing.
pub(crate) type Said = BTreeMap<&'static str, String>;

/// One line without its wrapper.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) said: Said,
}

/// The engine's own bracket.
fn bracket(rng: &mut Rng, at: usize, second: u64, said: &mut Said) -> String {
    let (hours, minutes, seconds) = (second / 3600 % 24, second / 60 % 60, second % 60);
    let mut time = format!("{hours:02}:{minutes:02}:{seconds:02}");
    if at > 0 || rng.chance(50) {
        time = format!("2026-10-{:02} {time}", 1 + second / 86_400 % 28);
        if rng.chance(20) {
            time += &format!(".{:03}", rng.below(1000));
        }
    }
    let order: &[&str] = match at {
        _ if at < age("0.4.9.post6") => &["DP", "TP", "PP"],
        _ if at < age("0.5.6") => &["DP", "TP", "EP", "PP"],
        _ if at < age("0.5.9") => &["DP", "PP", "TP", "EP"],
        _ => &["DP", "PP", "ATTN_CP", "MOE_DP", "TP", "EP"],
    };
    let mut tags = BTreeMap::new();
    let mut text = time.clone();
    for name in order {
        let always = *name == "TP" && at <= age("0.4.6");
        if always || rng.chance(40) {
            let rank = rng.below(16);
            text += &format!(" {name}{rank}");
            tags.insert(*name, rank);
        }
    }
    said.insert("timestamp", time);
    let tags: Vec<String> = tags.iter().map(|(name, rank)| format!("{name}{rank}")).collect();
    said.insert("tags", tags.join(" "));
    format!("[{text}]")
}

/// The pools of a line; a single plain one is said.
fn pools(rng: &mut Rng, at: usize, said: &mut Said) -> String {
    let (token, usage) = (rng.count(), rng.f2(1));
    let (other, other_usage) = (rng.count(), rng.f2(1));
    let full = format!("#full token: {token}, full token usage: {usage}, ");
    let swa = format!("#swa token: {other}, swa token usage: {other_usage}, ");
    let mamba = format!("mamba num: {other}, mamba usage: {other_usage}, ");
    let shape = rng.below(10);
    if shape < 4 {
        if at == age("0.4.9") || at == age("0.4.9.post2") {
            return format!(
                "#token: full={token}, swa={other}, token usage: full={usage}, swa={other_usage}, "
            );
        }
        if at >= age("0.4.9.post6") && shape < 2 {
            return full + &swa;
        }
        if at >= age("0.5.4") && shape == 2 {
            return full + &mamba;
        }
        if at >= age("0.5.10") && shape == 3 {
            return full + &swa + &mamba;
        }
    }
    if at >= age("0.5.11") && shape == 4 {
        return format!(
            "#gpu token: {token}, gpu token usage: {usage}, #cpu token: {other}, cpu token usage: {other_usage}, "
        );
    }
    said.insert("tokens", token.to_string());
    said.insert("token_usage", usage.clone());
    format!("#token: {token}, token usage: {usage}, ")
}

/// Speculative fields.
fn acceptance(rng: &mut Rng, at: usize, said: &mut Said) -> String {
    if at < age("0.4.2") || rng.chance(25) {
        return String::new();
    }
    let length = rng.f2(8);
    let mut text = format!("accept len: {length}, ");
    said.insert("accept_len", length);
    if at >= age("0.5.3.post2") {
        let rate = rng.f2(1);
        text += &format!("accept rate: {rate}, ");
        said.insert("accept_rate", rate);
    }
    if at >= age("0.5.16") {
        let capped = rng.chance(20);
        if capped {
            text += &format!("cap len: {}, block accept len: {}, ", rng.f2(8), rng.f2(8));
        }
        if rng.chance(20) {
            text += &format!("est uncap acc len: {} [{}, {}], ", rng.f2(8), rng.f2(8), rng.f2(8));
        }
        said.insert("capped", capped.to_string());
    }
    text
}

/// Fields of a decode worker.
fn disaggregation(rng: &mut Rng, at: usize) -> String {
    if at < age("0.4.6") || rng.chance(60) {
        return String::new();
    }
    let mut text = format!("pre-allocated usage: {}, ", rng.f2(1));
    if at >= age("0.5.3") {
        text += &format!("#prealloc-req: {}, #transfer-req: {}, ", rng.below(50), rng.below(50));
    }
    if at >= age("0.5.21") && rng.chance(50) {
        text += &format!("#host-receive-req: {}, ", rng.below(50));
    }
    if at >= age("0.4.8") {
        text += &format!("#retracted-req: {}, ", rng.below(50));
    }
    text
}

/// What stands behind `#queue-req`.
fn suffix(rng: &mut Rng, at: usize) -> String {
    let mut text = String::new();
    if at == age("0.4.9.post2") {
        text += &format!(", timestamp: 2025-07-18T15:32:54.{:06}", rng.below(1_000_000));
    } else if (age("0.4.4")..age("0.4.6")).contains(&at) || (age("0.4.9.post6")..age("0.5.9")).contains(&at) {
        text += ", ";
    }
    if at >= age("0.5.10") && rng.chance(20) {
        text += &format!(
            ", est. decode TFLOPS/s (per GPU): {}, est. read BW (GB/s per GPU): {}, est. write BW (GB/s per GPU): {}",
            rng.f2(100),
            rng.f2(5000),
            rng.f2(10)
        );
    }
    if at >= age("0.5.11") && rng.chance(20) {
        let occupancy = if rng.chance(20) { "nan".to_owned() } else { rng.f2(100) };
        text += &format!(", fwd occupancy: {occupancy}%");
        if at >= age("0.5.21") {
            text += &format!(", fwd+idle occupancy: {}%", rng.f2(100));
        }
    }
    text
}

/// A decode line of the release with index `at`.
pub(crate) fn decode(rng: &mut Rng, at: usize, second: u64) -> Line {
    let mut said = Said::new();
    let bracket = bracket(rng, at, second, &mut said);
    let (running, queue, speed) = (rng.below(600), rng.below(50), rng.f2(9000));
    let iteration = if at == age("0.5.4") || (at > age("0.5.4") && rng.chance(20)) {
        let iteration = rng.count();
        said.insert("iteration", iteration.to_string());
        format!(" [{iteration}]")
    } else {
        String::new()
    };
    let stop = if at < age("0.5.4") { "." } else { "," };
    let mut text = format!("{bracket} Decode batch{iteration}{stop} #running-req: {running}, ");
    text += &pools(rng, at, &mut said);
    text += &acceptance(rng, at, &mut said);
    text += &disaggregation(rng, at);
    if at >= age("0.5.9") && rng.chance(10) {
        text += &format!("waiting-image-req: {}, ", rng.below(5));
    }
    if at >= age("0.4.6.post5") {
        let labels: &[&str] = match at {
            _ if at < age("0.5.2") => &["cuda"],
            _ if at < age("0.5.9") => &["cuda", "cpu"],
            _ if at < age("0.5.13") => &["cuda", "cpu", "npu"],
            _ => &["cuda", "cpu", "npu", "musa"],
        };
        let (label, on) = (*rng.pick(labels), *rng.pick(&["True", "False"]));
        text += &format!("{label} graph: {on}, ");
        said.insert("graph", format!("{label} {on}"));
    }
    text += &format!("gen throughput (token/s): {speed}, ");
    if at == age("0.4.4") {
        text += &format!("largest-len: {}, ", rng.below(5000));
    }
    text += &format!("#queue-req: {queue}");
    text += &suffix(rng, at);
    said.insert("running_req", running.to_string());
    said.insert("queue_req", queue.to_string());
    said.insert("gen_throughput", speed);
    Line { text, said }
}

/// A line that differs from `line` in nothing but some digits, as the next line of the same server does.
pub(crate) fn like(rng: &mut Rng, line: &str) -> String {
    let digit = |rng: &mut Rng| char::from(b'0' + u8::try_from(rng.below(10)).unwrap());
    line.chars()
        .map(|letter| if letter.is_ascii_digit() && rng.chance(30) { digit(rng) } else { letter })
        .collect()
}

/// A prefill line of the release with index `at`.
pub(crate) fn prefill(rng: &mut Rng, at: usize, second: u64) -> Line {
    let mut said = Said::new();
    let bracket = bracket(rng, at, second, &mut said);
    let stop = if at < age("0.5.4") { "." } else { "," };
    let (sequences, tokens, cached) = (rng.below(50), rng.count(), rng.count());
    let (running, queue) = (rng.below(600), rng.below(50));
    let mut text = format!(
        "{bracket} Prefill batch{stop} #new-seq: {sequences}, #new-token: {tokens}, #cached-token: {cached}, "
    );
    if at == 0 {
        text += &format!("cache hit rate: {}%, ", rng.f2(100));
    }
    text += &pools(rng, at, &mut said);
    text += &format!("#running-req: {running}, #queue-req: {queue}");
    if at >= age("0.5.9") {
        let (on, speed) = (*rng.pick(&["True", "False"]), rng.f2(9000));
        text += &format!(", #pending-token: 0, cuda graph: {on}, input throughput (token/s): {speed}");
        said.insert("graph", format!("cuda {on}"));
        said.insert("input_throughput", speed);
    }
    for (name, value) in [("new_seq", sequences), ("running_req", running), ("queue_req", queue)] {
        said.insert(name, value.to_string());
    }
    said.insert("new_tokens", tokens.to_string());
    said.insert("cached_tokens", cached.to_string());
    // A plain pool's count is no figure of a prefill line.
    said.remove("tokens");
    Line { text, said }
}

/// Lines of a log that are no decode line.
pub(crate) fn other(rng: &mut Rng, second: u64) -> String {
    let time = format!("[2026-10-12 01:02:{:02}]", second % 60);
    match rng.below(8) {
        0 => format!("{time} INFO:     127.0.0.1:40052 - \"POST /v1/chat/completions HTTP/1.1\" 200 OK"),
        1 => format!("{time} Cache flushed successfully!"),
        2 => format!(
            "{time} server_args=ServerArgs(model_path='a, b', speculative_num_steps={}, tp_size=8, random_seed={})",
            rng.below(9),
            rng.count()
        ),
        3 => format!(
            "{time} server_args={{'speculative_algorithm': 'EAGLE', 'speculative_num_steps': {}}}",
            rng.below(9)
        ),
        4 => format!(
            "{time} Receive: obj=GenerateReqInput(text='say: [04:40:55 TP0] Decode batch, #running-req: 1, #queue-req: 0 ok')"
        ),
        5 => {
            "- `Decode batch ... accept len: 1.25, accept rate: 0.05` - MTP acceptance is **5%**.".to_owned()
        }
        6 => format!(
            "{time} Prefill rank batch, #new-token: 2048, #cached-token: 0, #chunks: 1, gpu-ms: 1194.7 (compute 143.6)"
        ),
        _ => String::new(),
    }
}
