//! Files that no damage makes by chance: bombs, archives that point elsewhere, trees without a bottom.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::corpus::File;
use crate::format::Format;

/// No more files than this.
pub(crate) const MOST: usize = 96;

/// All of them.
pub(crate) fn files() -> Vec<File> {
    let mut files = Vec::new();
    packed(&mut files);
    texts(&mut files);
    files
}

fn packed(files: &mut Vec<File>) {
    let mut push = |name: &str, damage, bytes| {
        files.push(File { name: name.to_owned(), bytes, format: Format::Packed, damage });
    };
    let zeros = vec![0; 64 << 20];
    push("zeros.gz", "a decompression bomb", gzip(&zeros));
    push("layers.gz", "a bomb in a bomb", gzip(&gzip(&zeros)));
    push("members.gz", "hundreds of members", gzip(b"\n").repeat(20_000));
    push("line.gz", "one line without an end", gzip(&vec![b'a'; 48 << 20]));
    let mut nested = b"[2026-10-12 01:02:03] Decode batch, \n".to_vec();
    for _ in 0..64 {
        nested = gzip(&nested);
    }
    push("nested.gz", "64 layers", nested);
    for (name, path) in [
        ("up.tar", "../../../../outside.log"),
        ("absolute.tar", "/outside.log"),
        ("device.tar", "/dev/zero"),
        ("nul.tar", "a\0b.log"),
        ("drive.tar", "C:\\outside.log"),
    ] {
        push(name, "names that lead out of the archive", tar(&[(path, b'0', b"Decode batch")]));
    }
    push(
        "links.tar",
        "links that lead out of the archive",
        tar(&[("x.log", b'2', b""), ("y.log", b'1', b"")]),
    );
    push("devices.tar", "devices", tar(&[("x.log", b'3', b""), ("y.log", b'4', b""), ("z", b'6', b"")]));
    let many: Vec<(&str, u8, &[u8])> = (0..20_000).map(|_| ("a.log", b'0', &b""[..])).collect();
    push("many.tar", "thousands of entries", tar(&many));
    let mut long = tar(&[("a.log", b'0', b"x")]);
    long[124..136].copy_from_slice(b"777777777777");
    push("long.tar", "a length beyond the file", long);
    let mut zip = std::io::Cursor::new(Vec::new());
    let mut writer = zip::ZipWriter::new(&mut zip);
    for number in 0..200 {
        writer.start_file(format!("../{number}.log"), zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(&zeros[..4 << 20]).unwrap();
    }
    writer.finish().unwrap();
    let zip = zip.into_inner();
    push("bomb.zip", "a decompression bomb", zip.clone());
    push("headless.zip", "a central directory alone", zip[zip.len() - 4096..].to_vec());
}

fn texts(files: &mut Vec<File>) {
    let laughs: String = "a: &a [x, x, x, x, x, x, x, x]\n".to_owned()
        + &('b'..='z')
            .map(|name| {
                let before = char::from(name as u8 - 1);
                format!("{name}: &{name} [{}]\n", vec![format!("*{before}"); 9].join(", "))
            })
            .collect::<String>();
    let mut push = |name: &str, format, damage, text: String| {
        files.push(File { name: name.to_owned(), bytes: text.into_bytes(), format, damage });
    };
    for format in [Format::Recipe, Format::Curve, Format::Settings] {
        push("laughs.yaml", format, "billion laughs", laughs.clone());
        push("merge.yaml", format, "billion laughs", "a: &a {<<: [*a, *a]}\n".repeat(2000));
    }
    push("self.yaml", Format::Recipe, "an alias to itself", "&a [*a, &b {x: *a, y: *b}]\n".to_owned());
    for (name, open) in [("flow.yaml", "["), ("map.yaml", "{a: "), ("block.yaml", "- "), ("key.yaml", "? ")] {
        push(name, Format::Recipe, "deep nesting", open.repeat(200_000));
        push(name, Format::Curve, "deep nesting", open.repeat(200_000));
    }
    let steps: String = (0..20_000).map(|depth| format!("{}a:\n", " ".repeat(depth % 200))).collect();
    push("steps.yaml", Format::Recipe, "deep nesting", steps);
    push("documents.yaml", Format::Recipe, "thousands of documents", "--- a\n...\n".repeat(100_000));
    push(
        "tag.yaml",
        Format::Recipe,
        "tags that name programs",
        "!!python/object/apply:os.system ['id']\n".to_owned(),
    );
    push("keys.yaml", Format::Recipe, "the same key again and again", "a: 1\n".repeat(200_000));
    push("zip.yaml", Format::Recipe, "a product of lists", zip_product());
    for (name, open) in [("array.json", "["), ("object.json", "{\"a\":"), ("mixed.json", "[{\"a\":")] {
        for format in [Format::Export, Format::Part, Format::Journal, Format::Manifest, Format::Model] {
            push(name, format, "deep nesting", open.repeat(500_000));
        }
    }
    push("counts.prom", Format::Counters, "the largest counts", largest_counts());
    push("tables.toml", Format::Profile, "deep nesting", format!("a = {}", "[".repeat(200_000)));
    push("keys.toml", Format::Profile, "deep nesting", format!("{}a = 1\n", "a.".repeat(50_000)));
    push("rows.csv", Format::Manifest, "thousands of rows", format!("path\n{}", "none.log\n".repeat(20_000)));
    push("numbers.json", Format::Export, "enormous numbers", format!("{{\"a\":{}}}", "9".repeat(1 << 20)));
    push(
        "keys.json",
        Format::Export,
        "the same key again and again",
        format!("{{{}\"a\":1}}", "\"a\":1,".repeat(200_000)),
    );
    push(
        "escape.json",
        Format::Export,
        "half a surrogate pair",
        "{\"a\":\"\\ud800\",\"b\":\"\\udc00\\ud800\"}".to_owned(),
    );
    push(
        "wide.csv",
        Format::Table,
        "thousands of columns",
        format!("e2e_p90_s,tps_per_gpu{}\n1,2\n", ",a".repeat(100_000)),
    );
    push(
        "quote.csv",
        Format::Table,
        "a quote without an end",
        format!("e2e_p90_s,tps_per_gpu\n\"{}", "1,2\n".repeat(100_000)),
    );
    push("parameters.sh", Format::Launcher, "deep nesting", "A=".to_owned() + &"${A:-".repeat(100_000));
    push("substitute.sh", Format::Launcher, "deep nesting", "A=".to_owned() + &"$(".repeat(100_000));
    push("grow.sh", Format::Launcher, "variables that double", doubling());
    push("here.sh", Format::Launcher, "here-documents without an end", "cat <<EOF\n".repeat(20_000));
    push("case.sh", Format::Launcher, "deep nesting", "case x in a) ".repeat(20_000));
    push(
        "labels.prom",
        Format::Counters,
        "labels without an end",
        format!("a{{{}", "b=\"c\",".repeat(200_000)),
    );
    push("series.prom", Format::Counters, "hundreds of thousands of series", series());
    for word in [
        "Decode batch",
        "SpecDecoding metrics:",
        "[MTP Stats Interval]",
        "server_args=ServerArgs(",
        "iter = ",
    ] {
        push("heads.log", Format::Sglang, "heads without a body", format!("{word} ").repeat(50_000));
        push("lines.log", Format::Sglang, "heads without a body", format!("{word}\n").repeat(50_000));
    }
    push(
        "arguments.log",
        Format::Sglang,
        "deep nesting",
        format!("server_args=ServerArgs(a={}", "[(".repeat(200_000)),
    );
    push("ranks.log", Format::Sglang, "a rank for every line", ranks());
    push("values.log", Format::Sglang, "another value in every line", values());
}

/// A zip over lists that would be millions of variants.
fn zip_product() -> String {
    let list = (0..3000).map(|number| number.to_string()).collect::<Vec<_>>().join(", ");
    let keys: String = (0..300).map(|key| format!("  k{key}: [{list}]\n")).collect();
    format!("base: {{name: x}}\nzip_override_a:\n{}", &keys[..keys.len().min(3 << 20)])
}

fn doubling() -> String {
    let lines: String = (1..200).map(|number| format!("A{number}=\"$A{0}$A{0}\"\n", number - 1)).collect();
    format!("A0=xx\n{lines}export SGLANG_SIMULATE_ACC_LEN=\"$A199\"\npython3 -m sglang.launch_server\n")
}

/// Counters of a server that has counted as far as 64 bits go.
fn largest_counts() -> String {
    let series = |name: &str, rest: &str| {
        format!("vllm:spec_decode_num_{name}_total{{{rest}engine=\"0\"}} {}\n", u64::MAX)
    };
    let positions =
        (0..5).map(|position| series("accepted_tokens_per_pos", &format!("position=\"{position}\",")));
    let others = ["drafts", "draft_tokens", "accepted_tokens"].map(|name| series(name, ""));
    positions.chain(others).collect()
}

fn series() -> String {
    (0..200_000)
        .map(|number| format!("vllm:spec_decode_num_drafts_total{{engine=\"{number}\"}} {number}\n"))
        .collect()
}

fn ranks() -> String {
    (0..30_000).map(|rank| line(&format!("DP{rank} TP{rank}"), 16, "3.52")).collect()
}

fn values() -> String {
    (0..60_000u32)
        .map(|number| line("TP0", number % 16_000, &format!("{}.{:02}", number / 97 % 700, number % 100)))
        .collect()
}

fn line(tags: &str, batch: u32, length: &str) -> String {
    format!(
        "[2026-10-12 01:02:03 {tags}] Decode batch, #running-req: {batch}, #token: 793, token usage: 0.05, accept len: \
         {length}, accept rate: 0.50, cuda graph: True, gen throughput (token/s): 585.98, #queue-req: 0\n"
    )
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = GzEncoder::new(Vec::new(), Compression::best());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

/// A tar archive with headers as they are asked for: a library would refuse to write them.
fn tar(entries: &[(&str, u8, &[u8])]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, kind, body) in entries {
        let mut header = [0; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..107].copy_from_slice(b"0000644");
        header[124..135].copy_from_slice(format!("{:011o}", body.len()).as_bytes());
        header[136..147].copy_from_slice(b"00000000000");
        header[148..156].copy_from_slice(b"        ");
        header[156] = *kind;
        header[157..168].copy_from_slice(b"/etc/passwd");
        header[257..263].copy_from_slice(b"ustar\0");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        archive.extend_from_slice(&header);
        archive.extend_from_slice(body);
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    archive.resize(archive.len() + 1024, 0);
    archive
}
