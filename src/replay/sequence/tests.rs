//! What PyTorch 2.11 drew (`tests/data/replay/draws.json`).

use serde_json::Value;

use super::super::numbers::{exponential, normals, single, uniform};
use super::*;
use crate::law::Setting;

fn data() -> Value {
    serde_json::from_str(include_str!("../../../tests/data/replay/draws.json")).unwrap()
}

fn seeds(data: &Value) -> impl Iterator<Item = (u64, &Value)> {
    data["seeds"].as_array().unwrap().iter().map(|entry| (entry["seed"].as_u64().unwrap(), entry))
}

fn words(seed: u64) -> Vec<u32> {
    let mut twister = Twister::new(u32::try_from(seed & 0xffff_ffff).unwrap());
    let mut block = [0; BLOCK];
    twister.block(&mut block);
    block.to_vec()
}

#[test]
fn words_exponentials_and_normals_are_pytorchs() {
    let data = data();
    for (seed, entry) in seeds(&data) {
        let words = words(seed);
        for (found, expected) in words.iter().zip(entry["words"].as_array().unwrap()) {
            assert_eq!(u64::from(*found), expected.as_u64().unwrap(), "seed {seed}");
        }
        let uniforms: Vec<f64> = words.chunks_exact(2).map(|pair| uniform(pair[0], pair[1])).collect();
        let expected = entry["exponential"].as_array().unwrap();
        for (uniform, expected) in uniforms.iter().zip(expected) {
            // The reader of JSON is right to a bit of a double, which is plenty for a float32.
            let expected = single(expected.as_f64().unwrap());
            assert_eq!(exponential(*uniform).to_bits(), expected.to_bits(), "seed {seed}");
        }
        let expected = entry["normal"].as_array().unwrap();
        let found = uniforms.chunks_exact(2).flat_map(|pair| normals(pair[0], pair[1]));
        for (found, expected) in found.map(single).zip(expected) {
            assert_eq!(found.to_bits(), single(expected.as_f64().unwrap()).to_bits(), "seed {seed}");
        }
    }
}

#[test]
fn draws_are_the_engines() {
    let data = data();
    let mut laws = 0;
    for (seed, entry) in seeds(&data) {
        for case in entry["draws"].as_array().unwrap() {
            let method = match case["method"].as_str().unwrap() {
                "match-expected" => DrawMethod::MatchExpected,
                "multinomial" => DrawMethod::Multinomial,
                other => panic!("{other}"),
            };
            let max = u32::try_from(case["max_accept_length"].as_u64().unwrap()).unwrap();
            let setting = Setting::new(case["accept_length"].as_f64().unwrap(), max).unwrap();
            let law = DrawLaw::new(method, setting).unwrap();
            let mut sequence = Sequence::new(seed, &law);
            let first: Vec<u64> =
                case["first"].as_array().unwrap().iter().map(|draw| draw.as_u64().unwrap()).collect();
            let found: Vec<u64> =
                sequence.window(0, first.len()).iter().map(|draw| u64::from(*draw)).collect();
            assert_eq!(found, first, "seed {seed} {law}");
            assert_eq!(sequence.sum(0, 4000), case["sum_first_4000"].as_u64(), "seed {seed} {law}");
            laws += 1;
        }
    }
    assert_eq!(laws, 35);
}

/// However it is read: in windows, with gaps, far ahead.
#[test]
fn windows_are_parts_of_one_sequence() {
    for method in DrawMethod::ALL {
        let law = DrawLaw::new(method, Setting::new(3.51, 6).unwrap()).unwrap();
        let whole = Sequence::new(7, &law).window(0, 200_000).to_vec();
        let mut sequence = Sequence::new(7, &law);
        for first in [0, 3, 900, 40_000, 39_000, 150_001] {
            assert_eq!(sequence.window(u64::try_from(first).unwrap(), 45), &whole[first..first + 45]);
        }
        // Forgotten.
        assert!(sequence.window(0, 40).is_empty());
        assert_eq!(sequence.sum(0, 40), None);
        assert!(sequence.drawn.len() < 40_000);
    }
}

#[test]
fn only_the_low_bits_of_a_seed_count() {
    let law = DrawLaw::new(DrawMethod::MatchExpected, Setting::new(3.51, 6).unwrap()).unwrap();
    let low = Sequence::new(320_846_001, &law).window(0, 100).to_vec();
    assert_eq!(Sequence::new(320_846_001 + (7 << 32), &law).window(0, 100), low);
}

#[test]
fn a_whole_target_is_drawn_in_every_step() {
    let law = DrawLaw::new(DrawMethod::MatchExpected, Setting::new(3.0, 6).unwrap()).unwrap();
    let mut sequence = Sequence::new(7, &law);
    assert_eq!(sequence.window(150, 400), vec![3; 400]);
}
