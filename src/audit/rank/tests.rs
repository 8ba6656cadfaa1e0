use proptest::prelude::*;

use super::*;
use crate::evidence::DecodeLine;

proptest! {
    #[test]
    fn kinds_pack_into_a_word(
        hundredths in 0_u32..1 << 17, rate in prop::option::of(0_u32..1 << 15),
        before in 0_u32..1 << 15, batch in 0_u32..1 << 15, steady: bool,
    ) {
        let kind = Kind { hundredths, rate, before, batch, steady };
        match kind.packed() {
            recent::NONE => {
                let most = rate.unwrap_or(0).max(before).max(batch);
                prop_assert!(hundredths >= 1 << 16 || most >= (1 << 14) - 1);
            }
            packed => prop_assert_eq!(Kind::unpacked(packed), kind),
        }
    }
}

/// A line of one request.
fn line(hundredths: u32) -> CompactLine {
    CompactLine::of(&DecodeLine {
        timestamp: None,
        tags: Tags::default(),
        iteration: None,
        running_req: 1,
        accept_len: Some(Hundredths::new(hundredths)),
        accept_rate: None,
        graph: None,
        gen_throughput_tps: Some(500.0),
        queue_req: 0,
        capped: false,
        message: b"",
    })
}

/// Beyond its bits a value would be counted as another one: 3.51 here.
#[test]
fn a_run_takes_usual_lines_and_none_with_a_value_that_has_no_room() {
    let speed = speed::Room { lines: 0, ..speed::Room::default() };
    let mut rooms = Rooms { trace: 0, speed, ..Rooms::default() };
    let mut gather = Gather::new(Tags::default());
    let place = || Place { file: 0, line: 1 };
    for _ in 0..3 {
        gather.add(&line(351), None, false, None, &place, &mut rooms);
    }
    let mut run = gather.calm_run(line(351).shape()).unwrap();
    assert!(run.add(&line(351)));
    assert!(!run.add(&line(351 + (1 << VALUE_BITS))));
    assert_eq!(run.end().values(), (1, 351));
}
