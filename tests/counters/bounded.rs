//! Hostile input: what would cost memory without end is refused.

use std::io::{self, BufReader, Read};

use accsim::evidence::{read_json, read_text};

/// `head`, then `middle` so many times, then `tail`.
struct Repeated {
    parts: Vec<u8>,
    middle: Vec<u8>,
    left: u64,
    tail: Vec<u8>,
}

impl Repeated {
    fn new(head: &str, middle: &str, times: u64, tail: &str) -> BufReader<Self> {
        let middle = middle.as_bytes().to_vec();
        BufReader::new(Self {
            parts: head.as_bytes().to_vec(),
            middle,
            left: times,
            tail: tail.as_bytes().to_vec(),
        })
    }
}

impl Read for Repeated {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.parts.is_empty() && self.left > 0 {
            self.left -= 1;
            self.parts = self.middle.clone();
        } else if self.parts.is_empty() {
            self.parts = std::mem::take(&mut self.tail);
        }
        let len = self.parts.len().min(out.len());
        out[..len].copy_from_slice(&self.parts[..len]);
        self.parts.drain(..len);
        Ok(len)
    }
}

#[test]
fn an_export_of_many_timeslices_is_one_series() {
    let slice = "{\"start_ns\": 1, \"end_ns\": 2, \"total\": 5.0}, ".repeat(100);
    let head = "{\"summary\": {}, \"metrics\": {\"vllm:spec_decode_num_drafts\": {\"series\": [{\"endpoint_url\": \"a\", \"timeslices\": [";
    let tail = "{}], \"labels\": {}, \"stats\": {\"total\": 7.0}}]}}}";
    let mut source = Repeated::new(head, &slice, 2_000, tail);
    let end = read_json(&mut source, 1 << 20, &mut |_, record| panic!("{record:?}")).unwrap();
    assert_eq!(end.stopped, None);
    assert_eq!(end.snapshot.series().len(), 1);
    assert!((end.snapshot.series().values().next().unwrap().last - 7.0).abs() < 1e-9);
}

#[test]
fn texts_numbers_and_nesting_have_bounds() {
    for (head, middle) in
        [("{\"a\": \"", "xxxxxxxx"), ("[", "[[[[[[[["), ("{\"iter\": 1", "00000000"), ("{\"", "kkkkkkkk")]
    {
        let mut source = Repeated::new(head, middle, 1 << 40, "");
        let error = read_json(&mut source, 1 << 16, &mut |_, _| {}).unwrap_err();
        assert!(
            error.to_string().contains("longer") || error.to_string().contains("nested"),
            "{head}: {error}"
        );
    }
}

#[test]
fn a_line_without_an_end_is_passed_over() {
    let mut source = Repeated::new(
        "# TYPE vllm:spec_decode_num_drafts counter\n",
        "x",
        1 << 20,
        "\nvllm:spec_decode_num_drafts 3\n",
    );
    let read = read_text(&mut source, 1 << 16).unwrap();
    assert_eq!((read.faults, read.snapshot.series().len()), (1, 1));
}
