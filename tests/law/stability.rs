//! The same seed gives the same draws, in every version and on every machine. The values were made by a separate
//! program (the cipher, the comparisons and the tables written anew in Python); a change here is value-breaking.

use accsim::law::{AcceptanceLaw, Histogram, PoolKind, Steps, Stream, Tokens};

use crate::support::{match_expected, per_position, pool, setting};

fn steps(law: &AcceptanceLaw, (seed, replicate, rank): (u64, u32, u32), draws: usize) -> Vec<u32> {
    Steps::new(law, Stream::new(seed, replicate, rank)).take(draws).collect()
}

#[test]
fn sequences() {
    let expected = [
        3, 3, 3, 3, 4, 3, 4, 3, 4, 3, 3, 4, 3, 3, 4, 4, 3, 4, 3, 3, 3, 4, 3, 4, 4, 4, 3, 3, 3, 3, 3, 3, 3, 4,
        4, 4, 3, 3, 3, 4, 3, 3, 4, 4, 3, 4, 3, 4, 3, 3, 4, 4, 3, 4, 4, 3, 4, 3, 3, 4, 4, 3, 4, 4, 3, 4, 4, 3,
        3, 3, 3, 3, 3, 4, 3, 4, 4, 4, 4, 3, 3, 4, 4, 3, 3, 3, 3, 4, 4, 4, 4, 3, 4, 4, 4, 4, 4, 4, 4, 3,
    ];
    assert_eq!(steps(&match_expected(3.51, 6), (1, 0, 0), 100), expected);
    let per_request = AcceptanceLaw::per_request(setting(3.51, 6));
    assert_eq!(steps(&per_request, (1, 0, 0), 100), expected);
    assert_eq!(
        steps(&AcceptanceLaw::multinomial(setting(3.51, 6)), (2, 0, 0), 24),
        [4, 3, 4, 4, 4, 5, 4, 4, 2, 2, 4, 3, 3, 5, 4, 4, 4, 2, 4, 4, 4, 3, 4, 1]
    );
    assert_eq!(
        steps(&per_position(&[0.9, 0.5, 0.2]), (4, 1, 2), 24),
        [3, 2, 3, 2, 3, 2, 1, 2, 4, 3, 2, 2, 1, 2, 4, 2, 2, 2, 4, 4, 3, 4, 2, 2]
    );
}

#[test]
fn pools() {
    let trtllm = pool(PoolKind::TrtLlm, 3.51, 6);
    assert_eq!(
        steps(&trtllm, (1, 0, 0), 24),
        [3, 4, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 3, 3, 4, 3, 3, 4, 4, 3, 4, 3, 4, 3]
    );
    let atom = pool(PoolKind::Atom, 3.78, 8);
    assert_eq!(
        steps(&atom, (1, 0, 0), 24),
        [3, 4, 4, 4, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3, 4, 3, 4, 4, 4]
    );
    let offset = |law: &AcceptanceLaw| match law {
        AcceptanceLaw::Pool(pool) => pool.offset(),
        other => panic!("{other:?}"),
    };
    assert!((offset(&trtllm) - 0.000_635_375_976_562_713_2).abs() < 1e-15);
    assert!((offset(&atom) - 0.008_085_937_500_000_195).abs() < 1e-15);
}

#[test]
fn windows() {
    let mut line = Tokens::new(&match_expected(3.51, 6), 40);
    let mut random = Stream::new(3, 0, 0);
    let tokens: Vec<u64> = (0..24).map(|_| line.draw(&mut random)).collect();
    assert_eq!(
        tokens,
        [
            141, 145, 141, 144, 145, 141, 139, 143, 140, 143, 138, 138, 138, 141, 141, 137, 143, 140, 146,
            138, 136, 143, 141, 145
        ]
    );
}

/// Binomial variates are those of `rand_distr`: its algorithm was not written anew, so these values say only that it
/// has not changed.
#[test]
fn counts() {
    let counts = |law: &AcceptanceLaw, draws| -> Vec<(u32, u64)> {
        let mut histogram = Histogram::default();
        histogram.draw(law, draws, &mut Stream::new(6, 0, 0));
        histogram.iter().collect()
    };
    assert_eq!(counts(&match_expected(3.51, 6), 1_000_000), [(3, 489_906), (4, 510_094)]);
    assert_eq!(counts(&match_expected(3.51, 6), 20), [(3, 7), (4, 13)]);
    assert_eq!(counts(&match_expected(3.51, 6), 1 << 40), [(3, 538_761_391_109), (4, 560_750_236_667)]);
    assert_eq!(
        counts(&AcceptanceLaw::multinomial(setting(3.51, 6)), 100_000),
        [(1, 2213), (2, 13_338), (3, 34_112), (4, 34_334), (5, 13_668), (6, 2335)]
    );
    assert_eq!(
        counts(&per_position(&[0.9, 0.5, 0.2]), 100_000),
        [(1, 9983), (2, 39_911), (3, 29_983), (4, 20_123)]
    );
}

/// Taken one by one, in blocks of any size, or both: one sequence.
#[test]
fn blocks_do_not_matter() {
    for law in crate::support::every_law(3.51, 6) {
        let whole = steps(&law, (8, 0, 0), 1000);
        for size in [1, 7, 63, 64, 65, 200] {
            let mut sequence = Steps::new(&law, Stream::new(8, 0, 0));
            let mut drawn = vec![sequence.draw()];
            while drawn.len() < 1000 {
                let mut block = vec![0; size.min(1000 - drawn.len())];
                sequence.fill(&mut block);
                drawn.extend(block);
            }
            assert_eq!(drawn, whole, "{law:?} in blocks of {size}");
        }
    }
}
