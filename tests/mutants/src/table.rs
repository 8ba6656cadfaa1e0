//! What was found, as Markdown.

use std::collections::BTreeMap;

use anyhow::Result;

use crate::state::{Outcome, Scratch, State};

#[derive(Default)]
struct Row {
    sampled: usize,
    unviable: usize,
    unswitched: usize,
    failed: usize,
    timed_out: usize,
    survived: usize,
    open: usize,
}

pub(crate) fn print(scratch: &Scratch) -> Result<()> {
    let outcomes = scratch.outcomes()?;
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let mut survivors = Vec::new();
    let mut dropped: BTreeMap<&str, usize> = BTreeMap::new();
    let mutants = scratch.mutants()?;
    for mutant in &mutants {
        for room in [mutant.room.as_str(), "together"] {
            let row = rows.entry(room.to_owned()).or_default();
            row.sampled += 1;
            match (&mutant.state, outcomes.get(&mutant.name)) {
                (State::Unviable(_), _) => row.unviable += 1,
                (State::Unswitched(_), _) => row.unswitched += 1,
                (State::Woven, Some(Outcome::Caught(_))) => row.failed += 1,
                (State::Woven, Some(Outcome::TimedOut(_))) => row.timed_out += 1,
                (State::Woven, Some(Outcome::Survived(_))) => row.survived += 1,
                (State::Woven, None) => row.open += 1,
            }
        }
        if let (State::Woven, Some(Outcome::Survived(tests))) = (&mutant.state, outcomes.get(&mutant.name)) {
            survivors.push(format!("- {} ({tests} tests)", mutant.name));
        }
        if let State::Unswitched(why) = &mutant.state {
            *dropped.entry(why).or_default() += 1;
        }
    }
    println!(
        "| room | sampled | do not compile | no switch | viable | a test fails | a test does not end | survive | caught |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (room, row) in &rows {
        let Row { sampled, unviable, unswitched, failed, timed_out, survived, open } = row;
        let caught = failed + timed_out;
        let viable = caught + survived + open;
        let share = 100.0 * caught as f64 / viable.max(1) as f64;
        println!(
            "| {room} | {sampled} | {unviable} | {unswitched} | {viable} | {failed} | {timed_out} | {survived} | {share:.1} % |"
        );
        if *open > 0 {
            println!("({open} of them not thrown yet)");
        }
    }
    println!();
    for (why, count) in dropped {
        println!("no switch, {count}: {why}");
    }
    println!("\nSurvivors:\n{}", survivors.join("\n"));
    Ok(())
}
