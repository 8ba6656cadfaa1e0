//! The published page.

use std::fmt::Write as _;

use crate::run::{BATCHES, RANKS};
use crate::tally::{Cell, NAMED_FROM, Table};
use crate::truth::{ASKED, SIZES, Truth};
use crate::{growing, pooled};

const HEAD: &str = "\
# How often a verdict is wrong

A wrong `inconsistent` costs a day of GPU time, and a wrong `consistent` lets an unfair result through. This page counts
both. It is written by a program, which anyone can run again:

```console
$ cargo run --release --example calibrate
```

The program writes logs as SGLang 0.5.18 would, under a law that it knows, reads them back and judges them as `accsim
audit` does, with the default margin (2 % of the target) and confidence (95 %). The seeds are fixed: the same code gives
the same counts. The logs name no random seed, so that the statistics decide
alone, without replay. ";

/// The page as Markdown.
pub(crate) fn page(table: &Table, grown: &[growing::Row], rows: &[pooled::Row], audits: u32) -> String {
    let mut page = HEAD.to_owned();
    let list = |values: &[String]| values.join(", ");
    let targets: Vec<String> =
        ASKED.iter().map(|asked| format!("{:.2} of at most {}", asked.length, asked.max)).collect();
    let batches: Vec<String> = BATCHES
        .iter()
        .map(|batch| batch.map_or_else(|| "changing from 1 to 32".to_owned(), |batch| batch.to_string()))
        .collect();
    let mut ranks: Vec<u32> = RANKS.iter().map(|(ranks, _)| *ranks).collect();
    ranks.dedup();
    let ranks: Vec<String> = ranks.iter().map(u32::to_string).collect();
    write!(
        page,
        "Each row is {audits} audits. They take these in\nturn: targets {}; batches {}; ranks {}, with shared draws and \
         with draws of their\nown. *Lines* are those of each rank: where ranks share their draws, all of them together are \
         no more evidence than one.\n",
        list(&targets),
        list(&batches),
        list(&ranks)
    )
    .unwrap();
    page.push_str(
        "\nA truth takes part only where it can be seen: `rounded` and `constant` where they are off by the margin or more, \
         `real`\nand `multinomial` where a step has more than two lengths, `per-request` where real acceptance\nscatters at least \
         twice as much. At batch 1 a draw for each request is a draw for each step, so `per-request` is left out \
         there,\nand `real` and `multinomial` have rows of their own: their lines are sums of single draws, which differ in \
         mean and spread\nalone, and real acceptance may have any. At a whole number most laws coincide, so it stands under \
         *honest* alone.\n",
    );
    verdicts(&mut page, table);
    mechanisms(&mut page, table);
    growing::section(&mut page, grown);
    pooled::section(&mut page, rows);
    let faults = [table.beyond_bounds(), growing::beyond_bounds(grown), pooled::beyond_bounds(rows)].concat();
    if !faults.is_empty() {
        page.push_str("\n## Not kept\n\nBeyond what is promised, by more than chance:\n\n");
        for fault in &faults {
            writeln!(page, "- {fault}").unwrap();
        }
    }
    page
}

/// The page with the section of the other engines counted anew, and the rest as it was.
pub(crate) fn with_pooled(page: &str, rows: &[pooled::Row]) -> String {
    let mut section = String::new();
    pooled::section(&mut section, rows);
    let title = section.lines().find(|line| line.starts_with("## ")).unwrap();
    let begin =
        page.find(&format!("\n{title}\n")).or_else(|| page.find("\n## Not kept\n")).unwrap_or(page.len());
    let (head, rest) = page.split_at(begin);
    let rest = if rest.starts_with(&format!("\n{title}\n")) {
        rest.get(1..)
            .and_then(|rest| rest.find("\n## "))
            .and_then(|end| rest.get(end + 1..))
            .unwrap_or_default()
    } else {
        rest
    };
    [head, &section, rest].concat()
}

fn verdicts(page: &mut String, table: &Table) {
    page.push_str(
        "\n## Verdicts\n\nPromised: a server that does what it was asked for is `inconsistent` at most once in 1,000 audits; one \
         that is off by the\nmargin is `consistent` at most once in 20.\n\n\
         | what the server does | lines | consistent | inconsistent | insufficient |\n|---|---|---|---|---|\n",
    );
    for (truth, lines, cell) in cells(table) {
        let rest = cell.audits - cell.consistent - cell.inconsistent;
        writeln!(
            page,
            "| {} | {lines} | {} | {} | {rest} |",
            truth.name(),
            cell.consistent,
            cell.inconsistent
        )
        .unwrap();
    }
    page.push_str(
        "\nReal acceptance whose mean happens to be the target can pass for it while the lines are few: nothing but their \
         spread tells\nthem apart then.\n",
    );
}

fn mechanisms(page: &mut String, table: &Table) {
    write!(
        page,
        "\n## Mechanisms\n\nPromised: from {NAMED_FROM} lines on the mechanism is named in 999 of 1,000 audits. With fewer lines it \
         may be `undetermined`, and\nis named wrongly at most once in 20; so it is at batch 1 for `real` and \
         `multinomial`.\n\n\
         | what the server does | lines | named rightly | undetermined | named wrongly |\n|---|---|---|---|---|\n"
    )
    .unwrap();
    for (truth, lines, cell) in cells(table).filter(|(truth, ..)| truth.mechanism().is_some()) {
        let wrong: Vec<String> =
            cell.named_wrongly.iter().map(|(name, count)| format!("{count} `{name}`")).collect();
        let wrong = if wrong.is_empty() { "0".to_owned() } else { wrong.join(", ") };
        writeln!(
            page,
            "| {} | {lines} | {} | {} | {wrong} |",
            truth.name(),
            cell.named_rightly,
            cell.undetermined
        )
        .unwrap();
    }
    page.push_str(
        "\nAn honest server stays `undetermined` while another law explains its lines nearly as well. The verdict does not \
         need the\nname: it rests on the interval.\n",
    );
}

fn cells(table: &Table) -> impl Iterator<Item = (Truth, u64, &Cell)> {
    Truth::ALL.into_iter().flat_map(move |truth| {
        SIZES.into_iter().filter_map(move |lines| Some((truth, lines, table.cells.get(&(truth, lines))?)))
    })
}
