//! The reader on whole texts: the specification's worked examples, wrappers, and what must not become a record.

use crate::evidence::{DecodeLine, GraphLabel, Hundredths, Record, Scanner, Timestamp};

const LINE: &str = "[2026-10-12 01:02:03 DP0 TP0 EP0] Decode batch, #running-req: 16, #token: 793, token usage: 0.05, \
    accept len: 3.52, accept rate: 0.50, cuda graph: True, gen throughput (token/s): 585.98, #queue-req: 0";

/// What one text gives, in order: decode lines as `running AL rate queue`, all else by its kind.
fn read(text: &[u8]) -> Vec<String> {
    let mut seen = Vec::new();
    let mut scanner = Scanner::new(0);
    let mut sink = |_, record: &Record<'_>| {
        seen.push(match record {
            Record::Decode(line) => brief(line),
            Record::Prefill(line) => {
                format!("prefill {:?} {:?}", line.figures().new_seq, line.figures().new_tokens)
            }
            Record::Start(start) => format!("start {:?}", start.num_steps),
            Record::CacheFlush(_) => "flush".to_owned(),
            Record::Setting(setting) => format!("{}={}", setting.name, setting.value),
            Record::Engine(line) => line.kind().name().to_owned(),
            Record::Counters(record) => record.kind().name().to_owned(),
            Record::Skipped(skipped) => format!("{:?}", skipped.reason),
        });
    };
    scanner.lines(text, &mut sink);
    scanner.finish(&mut sink);
    seen
}

fn brief(line: &DecodeLine<'_>) -> String {
    let show = |value: Option<Hundredths>| value.map_or("-".to_owned(), |value| value.to_string());
    format!(
        "{} {} {} {} {}",
        line.tags,
        line.running_req,
        show(line.accept_len),
        show(line.accept_rate),
        line.queue_req
    )
}

/// The one decode line of a text.
fn decode<T>(text: &str, see: impl Fn(&DecodeLine<'_>) -> T) -> T {
    let mut seen = Vec::new();
    Scanner::new(0).lines(text.as_bytes(), &mut |_, record: &Record<'_>| {
        if let Record::Decode(line) = record {
            seen.push(see(line));
        }
    });
    assert_eq!(seen.len(), 1, "{text}");
    seen.pop().unwrap()
}

#[test]
fn a_setting_ends_no_record() {
    let text = "+ export SGLANG_SIMULATE_ACC_LEN=3.51 SGLANG_SIMULATE_ACC_METHOD=match-expected\n\
        {\"log\":\"SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token\\n\",\"stream\":\"stdout\"}\n\
        [2026-10-12 01:02:03] server_args=ServerArgs(model_path='m', env={'SGLANG_SIMULATE_ACC_LEN': '2.78', \
        'SGLANG_SIMULATE_ACC_METHOD': 'rounded'}, speculative_num_steps=5)\n\
        [2026-10-12 01:02:04] Cache flushed successfully! SIMULATE_ACC_LEN=2\n";
    assert_eq!(
        read(text.as_bytes()),
        [
            "SGLANG_SIMULATE_ACC_LEN=3.51",
            "SGLANG_SIMULATE_ACC_METHOD=match-expected",
            "SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token",
            "start Some(5)",
            "SGLANG_SIMULATE_ACC_LEN=2.78",
            "SGLANG_SIMULATE_ACC_METHOD=rounded",
            "flush",
            "SIMULATE_ACC_LEN=2",
        ]
    );
}

#[test]
fn fields_of_a_plain_line() {
    decode(LINE, |line| {
        assert_eq!(line.timestamp.map(Timestamp::as_str), Some("2026-10-12 01:02:03"));
        assert_eq!((line.tokens(), line.token_usage()), (Some(793), Some(Hundredths::new(5))));
        assert_eq!(line.graph.map(|graph| (graph.label, graph.on)), Some((GraphLabel::Cuda, true)));
        assert_eq!(line.gen_throughput_tps, Some(585.98));
        assert!(!line.capped);
    });
}

/// Lines of the newer shapes, with what each must read as.
#[test]
fn worked_examples_of_the_grammar() {
    let pd = "[2026-09-24 01:50:43.001 DP0 TP0 EP0] Decode batch [40], #running-req: 1, #token: 532160, token usage: 0.19, \
        accept len: 4.40, accept rate: 0.68, pre-allocated usage: 0.18, #prealloc-req: 0, #transfer-req: 22, \
        #retracted-req: 0, cuda graph: True, gen throughput (token/s): 11.87, #queue-req: 0";
    decode(pd, |line| {
        assert_eq!(
            (line.iteration, line.timestamp.map(Timestamp::as_str)),
            (Some(40), Some("2026-09-24 01:50:43.001"))
        );
        assert_eq!(brief(line), "DP0 EP0 TP0 1 4.40 0.68 0");
    });
    let hybrid = "[2025-07-05 01:02:03 TP0] Decode batch. #running-req: 3, #token: full=5120, swa=900, token usage: \
        full=0.04, swa=0.02, accept len: 2.40, cuda graph: True, gen throughput (token/s): 210.00, #queue-req: 0";
    decode(hybrid, |line| {
        assert_eq!((line.tokens(), line.token_usage()), (None, None));
        assert_eq!(brief(line), "TP0 3 2.40 - 0");
    });
    let capped = "[2026-10-12 01:02:03 TP0] Decode batch, #running-req: 16, accept len: 3.52, accept rate: 0.50, cap len: \
        4.10, block accept len: 3.80, est uncap acc len: 3.71 [3.55, 3.87], cuda graph: True, #queue-req: 0";
    decode(capped, |line| {
        assert!(line.capped);
        assert_eq!(brief(line), "TP0 16 3.52 0.50 0");
    });
}

#[test]
fn several_records_in_one_line_end_where_the_next_begins() {
    let glued = format!("{LINE}{}", LINE.replace("DP0 TP0", "DP1 TP4"));
    assert_eq!(read(glued.as_bytes()), ["DP0 EP0 TP0 16 3.52 0.50 0", "DP1 EP0 TP4 16 3.52 0.50 0"]);
    let torn = format!("{}{LINE}", &LINE[..90]);
    assert_eq!(read(torn.as_bytes()), ["Truncated", "DP0 EP0 TP0 16 3.52 0.50 0"]);
}

#[test]
fn every_proper_prefix_of_a_line_is_cut_or_nothing() {
    let head = LINE.find("batch").unwrap() + "batch".len();
    for end in 0..LINE.len() {
        let expected: &[&str] = if end < head { &[] } else { &["Truncated"] };
        assert_eq!(read(&LINE.as_bytes()[..end]), expected, "cut at {end}");
    }
}

#[test]
fn lookalikes_are_counted_and_never_read() {
    for text in [
        "- `Decode batch ... accept len: 1.25, accept rate: 0.05` - MTP acceptance is **5%**.",
        "[2026-08-31 12:22:20 PP0] Decode batch phase=tp, #running-req: 1, accept len: 2.80, #queue-req: 0",
        "The line `[2026-10-12 01:02:03] Decode batch, #running-req: 1, accept len: 3.00, #queue-req: 0` says so.",
        "[2026-10-12 01:02:03] Decode batch, #running-req: 1, ..., accept len: 3.00, #queue-req: 0",
        "Every Decode batch, which is large, counts.",
        "[2026-10-12 01:02:03] Decode batch, #running-req: ..., accept len: 3.00, #queue-req: 0",
        "[2026-10-12 01:02:03] Receive: text='why does it say: [2026-10-12 01:02:03] Decode batch, #running-req: 1, #queue-req: 0 here'",
        "> [2026-10-12 01:02:03] Decode batch, #running-req: 1, accept len: 3.00, #queue-req: 0",
        "[2026-07-30 13:34:52 TP0] Prefill rank batch, #new-token: 2048, #cached-token: 0, #chunks: 1",
        "A Prefill batch, too.",
    ] {
        assert_eq!(read(text.as_bytes()), ["Lookalike"], "{text}");
    }
}

#[test]
fn both_records_of_one_string_are_quoted() {
    let text = format!("{{\"text\": \"a {LINE} b {LINE} c\"}}");
    assert_eq!(read(text.as_bytes()), ["Lookalike", "Lookalike"]);
    let closed = format!("GET \"/a\" 200{LINE}");
    assert_eq!(read(closed.as_bytes()), read(LINE.as_bytes()));
}

#[test]
fn a_cut_iteration_is_a_cut_line() {
    for text in
        ["Decode batch [", "Decode batch [12", "Decode batch [12]", "Decode batch [12],", "Decode batch "]
    {
        assert_eq!(read(text.as_bytes()), ["Truncated"], "{text}");
    }
    assert_eq!(read(b"Decode batch [x], #running-req: 1"), ["Lookalike"]);
}

#[test]
fn fields_of_two_records_are_never_mixed() {
    let pools = "#full token: 4128, full token usage: 0.10, mamba num: 3, mamba usage: 0.30";
    let hybrid = LINE.replace("#token: 793, token usage: 0.05", pools);
    assert_eq!(read(hybrid.as_bytes()), read(LINE.as_bytes()));
    for (from, to) in [
        ("mamba num: 3", "mamba num: 3, mamba num: 3"),
        ("mamba usage: 0.30", "mamba usage: 0.3INFO:     127.0.0.1:40052"),
        ("mamba usage: 0.30", "mamba usage: 0.3[2026-10-12 01:02:03] starting"),
        ("accept len: 3.52", "accept len: 3.52 \"GET"),
        ("accept len: 3.52", "accept len: 3.5"),
    ] {
        let text = hybrid.replace(from, to);
        assert_ne!(text, hybrid);
        assert_eq!(read(text.as_bytes()), ["Truncated"], "{text}");
    }
}

#[test]
fn counts_below_zero_are_absent() {
    let text = LINE.replace("#token: 793, token usage: 0.05", "#token: -3, token usage: -0.00");
    decode(&text, |line| {
        assert_eq!((line.tokens(), line.token_usage()), (None, None));
        assert_eq!(line.accept_len, Some(Hundredths::new(352)));
    });
}

#[test]
fn damage_in_the_middle_is_no_record() {
    for (from, to) in [
        ("token usage: 0.05, accept len: 3.52, accept rate", "token usaccept rate"),
        ("accept len: 3.52", "accept len: 3."),
        ("accept len: 3.52", "accept len: 3.5[2026"),
        ("#token: 793", "#token: 79INFO: 127.0.0.1"),
        ("#running-req: 16", "#running-req: 1x"),
        ("cuda graph: True", "cuda graph: Tr"),
        ("accept rate: 0.50", "accept len: 3.40"),
        ("#queue-req: 0", "#queue-req: 0\\n"),
        ("accept rate: 0.50", "accept rate"),
        (", #queue-req: 0", ""),
        ("#running-req: 16, ", ""),
    ] {
        let text = LINE.replace(from, to);
        assert_ne!(text, LINE);
        assert_eq!(read(text.as_bytes()), ["Truncated"], "{text}");
    }
}

#[test]
fn nan_matters_in_acceptance_fields_alone() {
    let no_speed = LINE.replace("585.98", "nan");
    assert_eq!(decode(&no_speed, |line| line.gen_throughput_tps), None);
    assert_eq!(read(LINE.replace("3.52", "nan").as_bytes()), ["NotFinite"]);
    assert_eq!(read(LINE.replace("0.50", "inf").as_bytes()), ["NotFinite"]);
}

#[test]
fn wrappers_change_nothing() {
    let plain = read(LINE.as_bytes());
    let docker =
        format!("{{\"log\":\"{LINE}\\n\",\"stream\":\"stderr\",\"time\":\"2026-10-12T01:02:03Z\"}}\n");
    let coloured = LINE.replace("3.52", "\x1b[1;33m3.52\x1b[0m").replace("[2026", "\x1b[32m[2026");
    for text in [
        docker,
        coloured,
        format!("{LINE}\r\n"),
        format!("  7%|#  | 4/58 [00:02<00:20]\r{LINE}"),
        format!("\0\0\0{LINE}"),
        format!("(Engine pid=1, ip=192.0.2.7) {LINE} [repeated 3x across cluster]"),
        format!("(Engine pid=1) {LINE},  [repeated 3x across cluster] (Ray deduplicates, see http://x)"),
        LINE.replace("Decode batch", "\x1b[31mDecode\x1b[0m batch"),
        format!("{{\"log\":\"{}\\n\"}}", LINE.replace("Decode batch", "Decode\\u001b[0m batch")),
        format!("    {LINE}, \n"),
        format!(" 3: {LINE}, fwd occupancy: nan%\n"),
        format!("C:\\logs\\a.txt:{LINE}"),
    ] {
        assert_eq!(read(text.as_bytes()), plain, "{text}");
    }
    let bytes = [b"\xff\xfe ", LINE.as_bytes(), b"\n"].concat();
    assert_eq!(read(&bytes), plain);
}

#[test]
fn runtime_parts_are_joined() {
    let (first, last) = LINE.split_at(47);
    let text = format!(
        "2026-10-12T01:02:03.4Z stderr F starting\n2026-10-12T01:02:03.5Z stderr P {first}\n\
         2026-10-12T01:02:03.6Z stderr F {last}\n2026-10-12T01:02:03.7Z stderr F {LINE}\n2026-10-12T01:02:03.8Z stderr P {first}"
    );
    let plain = read(LINE.as_bytes());
    assert_eq!(read(text.as_bytes()), [plain[0].as_str(), plain[0].as_str(), "Truncated"]);
}

/// A part may end in a space, and the other stream may come between.
#[test]
fn runtime_parts_keep_their_text_and_their_stream() {
    let plain = read(LINE.as_bytes());
    for (at, _) in LINE.match_indices(' ') {
        let (first, last) = LINE.split_at(at + 1);
        let text = format!(
            "2026-10-12T01:02:03.5Z stderr P {first}\n2026-10-12T01:02:03.5Z stdout F GET /, x: 1\n\
             2026-10-12T01:02:03.6Z stderr F {last}\n"
        );
        assert_eq!(read(text.as_bytes()), plain, "{text}");
    }
}

/// The runtime's lines may begin behind others: the first of them that holds a head tells.
#[test]
fn runtime_lines_behind_other_lines() {
    let (first, last) = LINE.split_at(90);
    let text = format!(
        "{LINE}\nstarting\n2026-10-12T01:02:03.5Z stderr P {first}\n2026-10-12T01:02:03.6Z stderr F {last}\n\
         2026-10-12T01:02:03.7Z stderr P {first}\n{LINE}\n"
    );
    let mut places = Vec::new();
    let mut scanner = Scanner::new(0);
    let mut sink = |place: crate::evidence::Place, _: &Record<'_>| places.push(place.line);
    scanner.lines(text.as_bytes(), &mut sink);
    scanner.finish(&mut sink);
    assert_eq!(places, [1, 3, 5, 6]);
    let plain = read(LINE.as_bytes());
    assert_eq!(read(text.as_bytes()), [&plain[0], &plain[0], "Truncated", &plain[0]]);
}

#[test]
fn skipped_text_shows_the_head_and_what_led_to_it() {
    let prose = format!("{} so Decode batch, we see", "x".repeat(100));
    let torn = format!("{}{LINE}", &LINE[..70]);
    for (text, expected) in [
        (prose.as_str(), format!("{} so Decode batch, we see", "x".repeat(60))),
        (torn.as_str(), LINE[..70].to_owned()),
    ] {
        let mut seen = Vec::new();
        Scanner::new(0).lines(text.as_bytes(), &mut |_, record: &Record<'_>| {
            if let Record::Skipped(skipped) = record {
                seen.push(String::from_utf8(skipped.text.to_vec()).unwrap());
            }
        });
        assert_eq!(seen, [expected]);
    }
}

#[test]
fn other_records_and_line_numbers() {
    let text = format!(
        "noise\n[2026-10-12 01:02:00] server_args=ServerArgs(speculative_num_steps=5, x=1)\n\
         [2026-10-12 01:02:01] Prefill batch, #new-seq: 2, #new-token: 483, #cached-token: 0, #running-req: 0, cuda graph: True\n\
         [2026-10-12 01:02:02] Cache flushed successfully!\n\n{LINE}\n"
    );
    let mut places = Vec::new();
    Scanner::new(3).lines(text.as_bytes(), &mut |place, _| places.push((place.file, place.line)));
    assert_eq!(places, [(3, 2), (3, 3), (3, 4), (3, 6)]);
    assert_eq!(
        read(text.as_bytes()),
        ["start Some(5)", "prefill Some(2) Some(483)", "flush", "DP0 EP0 TP0 16 3.52 0.50 0"]
    );
}

/// All that the records of one text say.
fn read_all(text: &[u8]) -> Vec<String> {
    let mut seen = Vec::new();
    Scanner::new(0).lines(text, &mut |_, record: &Record<'_>| seen.push(format!("{record:?}")));
    seen
}

/// The line with other digits, and now and then with one byte overwritten.
fn varied(digits: &[u8], damage: Option<(usize, u8)>) -> Vec<u8> {
    let mut digits = digits.iter().cycle();
    let mut line = LINE.as_bytes().to_vec();
    for byte in line.iter_mut().filter(|byte| byte.is_ascii_digit()) {
        *byte = b'0' + digits.next().unwrap() % 10;
    }
    if let Some((at, byte)) = damage {
        let at = at % line.len();
        line[at] = byte;
    }
    line.push(b'\n');
    line
}

proptest::proptest! {
    /// The fast path changes nothing: a log reads as its lines read one by one, each by a scanner that knows no layout.
    #[test]
    fn layouts_give_what_reading_by_name_gives(
        lines in proptest::collection::vec(
            (
                proptest::collection::vec(proptest::prelude::any::<u8>(), 1..40),
                proptest::option::weighted(0.3, (0_usize..400, proptest::prelude::any::<u8>())),
                proptest::bool::weighted(0.1),
            ),
            1..60,
        )
    ) {
        let text: Vec<Vec<u8>> = lines
            .iter()
            .map(|(digits, damage, other)| {
                if *other { b"[2026-10-12 01:02:03 TP0] something else\n".to_vec() } else { varied(digits, *damage) }
            })
            .collect();
        let whole = read_all(&text.concat());
        // A damaged byte may be a line break, so split again.
        let joined = text.concat();
        let one_by_one: Vec<String> = joined.split_inclusive(|byte| *byte == b'\n').flat_map(read_all).collect();
        proptest::prop_assert_eq!(whole, one_by_one);
    }
}
