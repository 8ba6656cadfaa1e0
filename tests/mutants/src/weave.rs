//! Sources with mutants behind switches.
//!
//! Comments mark what was added: `/*s7*/ ... /*s.*/` around the switch of mutant 7, `/*m7*/ ... /*m.*/` around what the mutant
//! says, so that the compiler's errors find their mutants.

use std::ops::Range;

use anyhow::Result;
use syn::visit::Visit;

use crate::node::{Change, Finder, LET_CHAIN, Node};
use crate::state::{Genre, Mutant, State};

/// What the copy's library gets: the switch, and the note of what was reached.
pub(crate) const SWITCH: &str = r#"
/// Whether a mutant is thrown (`ACCSIM_MUTANT`). Notes in the file `ACCSIM_REACHED` which were asked about.
pub(crate) fn mutant(id: usize) -> bool {
    use std::io::Write;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};
    static THROWN: OnceLock<(usize, Option<std::ffi::OsString>)> = OnceLock::new();
    static REACHED: [AtomicBool; 10_000] = [const { AtomicBool::new(false) }; 10_000];
    let (thrown, note) = THROWN.get_or_init(|| {
        let thrown = std::env::var("ACCSIM_MUTANT").ok().and_then(|text| text.parse().ok());
        (thrown.unwrap_or(0), std::env::var_os("ACCSIM_REACHED"))
    });
    if let Some(note) = note
        && REACHED.get(id).is_some_and(|reached| !reached.swap(true, Ordering::Relaxed))
        && let Ok(mut file) = std::fs::File::options().create(true).append(true).open(note)
    {
        let _ = file.write_all(format!("{id}\n").as_bytes());
    }
    *thrown == id
}
"#;

/// The source with all woven mutants of `of_file` in it; the state of those that cannot be is changed.
pub(crate) fn weave(source: &str, of_file: &mut [&mut Mutant]) -> Result<String> {
    for mutant in of_file.iter_mut().filter(|mutant| mutant.return_type.contains("impl ")) {
        if mutant.genre == Genre::FnValue && mutant.state == State::Woven {
            mutant.state = State::Unswitched("a second type behind `impl Trait`".to_owned());
        }
    }
    let mut finder = Finder::new(of_file.iter().map(|one| &**one).filter(|one| one.state == State::Woven));
    finder.visit_file(&syn::parse_file(source)?);
    let Finder { mut nodes, refused, wanted, .. } = finder;
    let missed = wanted.into_values().flatten().map(|(id, _)| (id, "not found in the source"));
    for (id, why) in refused.into_iter().chain(missed) {
        for mutant in of_file.iter_mut().filter(|mutant| mutant.id == id) {
            let why = why.to_owned();
            mutant.state = if why == LET_CHAIN { State::Unviable(why) } else { State::Unswitched(why) };
        }
    }
    // Outer ones first.
    nodes.sort_by_key(|node| (node.range.start, usize::MAX - node.range.end, rank(&node.change)));
    let mut loom = Loom { source, nodes: &nodes };
    Ok(loom.range(0..source.len()))
}

/// Of nodes that cover the same bytes, which is the outer one.
fn rank(change: &Change) -> u8 {
    match change {
        Change::Body(_) => 0,
        Change::Arm { .. } => 1,
        Change::Guard { .. } => 2,
        _ => 3,
    }
}

struct Loom<'s> {
    source: &'s str,
    /// Those that are not written yet.
    nodes: &'s [Node],
}

impl<'s> Loom<'s> {
    /// Bytes of the source with the nodes inside of them woven.
    fn range(&mut self, range: Range<usize>) -> String {
        let mut text = String::new();
        let mut written = range.start;
        while let Some((node, rest)) = self.nodes.split_first()
            && node.range.end <= range.end
        {
            self.nodes = rest;
            text += self.raw(written..node.range.start);
            text += &self.node(node);
            written = node.range.end;
        }
        text + self.raw(written..range.end)
    }

    fn raw(&self, range: Range<usize>) -> &'s str {
        &self.source[range]
    }

    fn node(&mut self, node: &Node) -> String {
        match &node.change {
            Change::Body(values) => {
                let returns = values
                    .iter()
                    .map(|(id, value)| {
                        format!(
                            "/*s{id}*/ if crate::mutant({id}) {{ /*m{id}*/ return {value}; /*m.*/ }} /*s.*/ "
                        )
                    })
                    .collect::<String>();
                returns + &self.range(node.range.clone())
            }
            Change::Arm { id, pattern_end } => {
                let pattern = self.range(node.range.start..*pattern_end);
                let rest = self.range(*pattern_end..node.range.end);
                format!("{pattern} /*s{id}*/ if /*m{id}*/ !crate::mutant({id}) /*m.*/ /*s.*/{rest}")
            }
            Change::Guard { always, never, binds } => {
                let guard = self.range(node.range.clone());
                let guard = if *binds { guard } else { format!("({guard})") };
                let never =
                    never.map_or(String::new(), |id| format!("/*m{id}*/ !crate::mutant({id}) /*m.*/ && "));
                match always {
                    Some(id) => format!("(/*m{id}*/ crate::mutant({id}) /*m.*/ || {never}{guard})"),
                    None => never + &guard,
                }
            }
            Change::Fields(fields) => {
                let without = |field: &Range<usize>| {
                    format!(
                        "{}{}",
                        self.raw(node.range.start..field.start),
                        self.raw(field.end..node.range.end)
                    )
                };
                let others: Vec<_> = fields.iter().map(|(id, field)| (*id, without(field))).collect();
                self.either(node, &others)
            }
            Change::Operator { left, right, others } => {
                let (left, right) = (self.raw(left.clone()), self.raw(right.clone()));
                let others: Vec<_> = others
                    .iter()
                    .map(|(id, operator)| (*id, format!("({left}) {operator} ({right})")))
                    .collect();
                self.either(node, &others)
            }
            Change::Operand { id, operand } => {
                let others = [(*id, format!("({})", self.raw(operand.clone())))];
                self.either(node, &others)
            }
        }
    }

    /// What a thrown mutant says, and otherwise what the source says.
    fn either(&mut self, node: &Node, others: &[(usize, String)]) -> String {
        let first = others.first().map_or(0, |(id, _)| *id);
        let ifs = others
            .iter()
            .map(|(id, other)| format!("if crate::mutant({id}) {{ /*m{id}*/ {other} /*m.*/ }} else "))
            .collect::<String>();
        format!("/*s{first}*/({ifs}{{ {} }})/*s.*/", self.range(node.range.clone()))
    }
}

/// The mutants that a byte of a woven source belongs to: `Ok` for the one that says it, `Err` for all behind the switch that it
/// is part of.
pub(crate) fn owners(woven: &str, at: usize) -> Option<std::result::Result<usize, Vec<usize>>> {
    let mut open: Vec<(u8, usize, usize)> = Vec::new();
    let mut from = 0;
    while let Some(found) = woven[from..].find("/*").map(|found| from + found) {
        if found > at {
            break;
        }
        let end = woven[found..].find("*/").map_or(woven.len(), |end| found + end + 2);
        let inside = woven[found..end].trim_start_matches("/*").trim_end_matches("*/");
        let kind = inside.bytes().next().filter(|kind| matches!(kind, b's' | b'm'));
        if let (Some(kind), Some(id)) = (kind, inside.get(1..)) {
            if let Ok(id) = id.parse() {
                open.push((kind, id, found));
            } else if id == "." {
                open.pop();
            }
        }
        from = end;
    }
    let (kind, id, start) = *open.last()?;
    if kind == b'm' {
        return Some(Ok(id));
    }
    let end = woven[start..].find("/*s.*/").map_or(woven.len(), |end| start + end);
    let mut all: Vec<usize> = woven[start..end]
        .split("/*m")
        .skip(1)
        .filter_map(|rest| rest.split("*/").next()?.parse().ok())
        .collect();
    if all.is_empty() {
        all.push(id);
    }
    Some(Err(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A mutant of the line that `column` stands in.
    fn mutant(id: usize, genre: Genre, column: usize, replacement: &str) -> Mutant {
        Mutant {
            id,
            name: String::new(),
            file: String::new(),
            room: String::new(),
            genre,
            replacement: replacement.to_owned(),
            return_type: String::new(),
            line: 1,
            column,
            state: State::Woven,
        }
    }

    fn woven(source: &str, mutants: &mut [Mutant]) -> String {
        weave(source, &mut mutants.iter_mut().collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn operators_and_bodies_stand_behind_their_switches() {
        let source = "fn f(a: u32) -> bool { a + 1 < 3 }";
        let mut mutants = [
            mutant(1, Genre::BinaryOperator, 30, ">"),
            mutant(2, Genre::BinaryOperator, 26, "-"),
            mutant(3, Genre::FnValue, 24, "true"),
        ];
        assert_eq!(
            woven(source, &mut mutants),
            "fn f(a: u32) -> bool { /*s3*/ if crate::mutant(3) { /*m3*/ return true; /*m.*/ } /*s.*/ \
             /*s1*/(if crate::mutant(1) { /*m1*/ (a + 1) > (3) /*m.*/ } else { \
             /*s2*/(if crate::mutant(2) { /*m2*/ (a) - (1) /*m.*/ } else { a + 1 })/*s.*/ < 3 })/*s.*/ }"
        );
    }

    #[test]
    fn an_arm_goes_a_guard_is_false_and_a_field_comes_from_the_base() {
        let source = "fn f() { match a { 1 => b, 2 if c => d, _ => S { x: 1, ..e } } }";
        let mut mutants = [
            mutant(1, Genre::MatchArm, 20, ""),
            mutant(2, Genre::MatchArmGuard, 33, "false"),
            mutant(3, Genre::StructField, 50, ""),
        ];
        assert_eq!(
            woven(source, &mut mutants),
            "fn f() { match a { 1 /*s1*/ if /*m1*/ !crate::mutant(1) /*m.*/ /*s.*/ => b, \
             2 if /*m2*/ !crate::mutant(2) /*m.*/ && (c) => d, \
             _ => /*s3*/(if crate::mutant(3) { /*m3*/ S {  ..e } /*m.*/ } else { S { x: 1, ..e } })/*s.*/ } }"
        );
    }

    #[test]
    fn what_cannot_stand_behind_a_switch_stays_and_says_why() {
        let source = "const A: u32 = 1 << 4; fn f() { if let Some(b) = c && d {} }";
        let mut mutants =
            [mutant(1, Genre::BinaryOperator, 18, ">>"), mutant(2, Genre::BinaryOperator, 52, "||")];
        assert_eq!(woven(source, &mut mutants), source);
        assert!(matches!(mutants[0].state, State::Unswitched(_)));
        assert_eq!(mutants[1].state, State::Unviable(LET_CHAIN.to_owned()));
    }

    #[test]
    fn bytes_find_the_mutants_that_they_belong_to() {
        let text = "a /*s1*/(if m(1) { /*m1*/ b /*m.*/ } else { c })/*s.*/ d";
        let at = |letter: &str| owners(text, text.rfind(&format!(" {letter}")).unwrap() + 1);
        assert_eq!(at("b"), Some(Ok(1)));
        assert_eq!(at("c"), Some(Err(vec![1])));
        assert_eq!(at("d"), None);
    }
}
