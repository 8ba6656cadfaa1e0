//! Scrapes of servers: which of them are of one server, and what was counted between its first and its last.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Figures, PooledRank, rank};
use crate::audit::finding::FindingCode;
use crate::evidence::{
    Counts, Exporter, ModelCounts, Moment, Place, Scrape, SeriesKey, Snapshot, Span, difference,
};

/// Scraped places, models and ranks that are kept apart.
const MOST_KEPT: usize = 10_000;

/// Scrapes without a moment that are compared with each other, for one model.
const MOST_ALONE: usize = 1_000;

/// Scrapes by who exports them, which model, and what was scraped.
pub(super) type Scrapes = BTreeMap<(Exporter, Option<String>, String), Moments>;

/// The scrapes of one place.
#[derive(Clone, Debug, Default)]
pub(super) struct Moments {
    before: Option<Taken>,
    after: Option<Taken>,
    /// Its name says nothing of a moment.
    alone: Option<Taken>,
}

#[derive(Clone, Debug)]
struct Taken {
    place: Place,
    scrape: Arc<Scrape>,
    counts: Counts,
}

/// What one server counted.
#[derive(Clone, Debug)]
pub(super) struct Sum {
    pub(super) place: Place,
    pub(super) rank: PooledRank,
    /// Since its start, or between two scrapes.
    pub(super) span: Span,
}

/// What two scrapes have to do with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    /// Of different servers: other labels, other times of creation, or counters of which some rose and others fell.
    Apart,
    /// Of one server, since its series were created at the same time.
    Same,
    /// Each counter is the same.
    Copy,
    /// The one may be the other's past, or another server.
    Unknown,
}

impl Figures {
    /// Takes a scrape.
    pub(super) fn scrape(&mut self, place: Place, counters: &ModelCounts, scrape: &Arc<Scrape>) {
        if counters.counts.is_empty() {
            return;
        }
        let key = (counters.exporter, counters.model.clone(), scrape.place.clone());
        if self.scrapes.len() >= MOST_KEPT && !self.scrapes.contains_key(&key) {
            return;
        }
        let moments = self.scrapes.entry(key).or_default();
        let taken = Some(Taken { place, scrape: Arc::clone(scrape), counts: counters.counts.clone() });
        match scrape.moment {
            Some(Moment::Before) => moments.before = taken,
            Some(Moment::After) => moments.after = taken,
            None => moments.alone = taken,
        }
    }

    /// What each server counted, by exporter.
    pub(super) fn scraped(&mut self) -> BTreeMap<Exporter, Vec<Sum>> {
        let mut counted: BTreeMap<Exporter, Vec<Sum>> = BTreeMap::new();
        let mut models: BTreeMap<(Exporter, Option<String>), Vec<Moments>> = BTreeMap::new();
        for ((exporter, model, _), moments) in std::mem::take(&mut self.scrapes) {
            models.entry((exporter, model)).or_default().push(moments);
        }
        for ((exporter, model), all) in models {
            let model = model.as_deref();
            let mut sums: Vec<(Place, Counts, Span)> = Vec::new();
            let mut alone: Vec<Taken> = Vec::new();
            let mut dated: Vec<Taken> = Vec::new();
            let has_pair = all.iter().any(|moments| moments.before.is_some() && moments.after.is_some());
            for mut moments in all {
                if let Some(after) = moments.after.take_if(|_| has_pair && moments.before.is_none()) {
                    self.reset(
                        after.place,
                        "this server was scraped after the run alone, and others before and after it: what it counted in \
                         the run is not known, since its counters hold all since its start, warm-up included",
                    );
                    dated.push(after);
                }
                alone.extend(moments.alone);
                dated.extend(moments.before.iter().chain(&moments.after).cloned());
                sums.extend(self.between(model, moments.before, moments.after));
            }
            let of = Of { exporter, model };
            for mut server in self.servers(of, alone, &dated) {
                sums.extend(match server.len() {
                    0 | 1 => server.pop().map(|one| (one.place, one.counts, Span::Lifetime)),
                    _ => self.between(model, server.first().cloned(), server.pop()),
                });
            }
            for (place, counts, span) in sums {
                if self.is_idle(place, exporter, &counts) {
                    continue;
                }
                if let Some(window) = self.window(place, &counts) {
                    let rank = rank(None, &[window]);
                    counted.entry(exporter).or_default().push(Sum { place, rank, span });
                }
            }
        }
        counted
    }

    /// What was counted between two scrapes, or since the server's start where there is a later one only.
    fn between(
        &mut self,
        model: Option<&str>,
        before: Option<Taken>,
        after: Option<Taken>,
    ) -> Option<(Place, Counts, Span)> {
        match (before, after) {
            (Some(before), Some(after)) => {
                match difference(&before.scrape.snapshot, &after.scrape.snapshot, model) {
                    Ok(difference) => Some((after.place, difference.counts, Span::Window)),
                    Err(error) => {
                        self.reset(after.place, &error.to_string());
                        None
                    }
                }
            }
            (None, Some(after)) => Some((after.place, after.counts, Span::Lifetime)),
            (Some(before), None) => {
                self.note(
                    FindingCode::CounterReset,
                    before.place,
                    "counters of before the run, and none of after it: nothing was counted".to_owned(),
                );
                None
            }
            (None, None) => None,
        }
    }

    /// Scrapes without a moment, those of one server together and in their order. Where nothing tells whether two are of
    /// one server, neither counts: their sums would count a part of the run twice.
    fn servers(&mut self, of: Of<'_>, alone: Vec<Taken>, dated: &[Taken]) -> Vec<Vec<Taken>> {
        let mut servers: Vec<(Vec<Taken>, bool)> = Vec::new();
        for taken in alone.into_iter().take(MOST_ALONE) {
            let relation = |other: &Taken| of.relation(&other.scrape.snapshot, &taken.scrape.snapshot);
            // Between a scrape before and one after it there is nothing that these two do not count.
            match dated.iter().map(relation).find(|relation| *relation != Relation::Apart) {
                Some(Relation::Unknown) => {
                    self.doubtful(taken.place);
                    continue;
                }
                Some(_) => continue,
                None => {}
            }
            let related = servers.iter_mut().find_map(|(server, is_doubtful)| {
                let relation = relation(server.first()?);
                (relation != Relation::Apart).then_some((server, is_doubtful, relation))
            });
            match related {
                None => servers.push((vec![taken], false)),
                Some((_, _, Relation::Copy)) => {}
                Some((server, is_doubtful, relation)) => {
                    *is_doubtful |= relation == Relation::Unknown;
                    server.push(taken);
                }
            }
        }
        let mut sure = Vec::new();
        for (mut server, is_doubtful) in servers {
            if is_doubtful {
                self.doubtful(server.first().map_or(Place { file: 0, line: 1 }, |taken| taken.place));
                continue;
            }
            // Counters rise: their order is that of time.
            server.sort_by(|left, right| {
                of.order(&left.scrape.snapshot, &right.scrape.snapshot).unwrap_or(Ordering::Equal)
            });
            sure.push(server);
        }
        sure
    }

    fn doubtful(&mut self, place: Place) {
        self.reset(
            place,
            "several snapshots whose names say neither before nor after, and nothing tells whether they are of one server \
             at several times or of several servers",
        );
    }
}

/// Whose series are compared.
#[derive(Clone, Copy, Debug)]
struct Of<'a> {
    exporter: Exporter,
    model: Option<&'a str>,
}

impl Of<'_> {
    /// Counters of both snapshots.
    fn shared<'s>(
        &'s self,
        one: &'s Snapshot,
        other: &'s Snapshot,
    ) -> impl Iterator<Item = (&'s SeriesKey, f64, f64)> {
        one.series().iter().filter_map(move |(key, track)| {
            let is_meant = track.exporter() == self.exporter
                && key.model() == self.model
                && track.family.role.is_counter();
            let also = other.series().get(key).filter(|_| is_meant)?;
            Some((key, track.last, also.last))
        })
    }

    /// Which of two snapshots is the earlier one of a server; `None` where some counters rose and others fell.
    fn order(&self, one: &Snapshot, other: &Snapshot) -> Option<Ordering> {
        let mut order = Ordering::Equal;
        for (_, left, right) in self.shared(one, other) {
            let this = left.partial_cmp(&right)?;
            match (order, this) {
                (_, Ordering::Equal) => {}
                (Ordering::Equal, this) => order = this,
                (order, this) if order != this => return None,
                _ => {}
            }
        }
        Some(order)
    }

    fn relation(&self, one: &Snapshot, other: &Snapshot) -> Relation {
        let (mut shared, mut created) = (0_u64, 0_u64);
        for (key, ..) in self.shared(one, other) {
            shared += 1;
            if let (Some(then), Some(now)) = (one.created(key), other.created(key)) {
                if (then - now).abs() > 0.0 {
                    return Relation::Apart;
                }
                created += 1;
            }
        }
        match self.order(one, other) {
            None => Relation::Apart,
            Some(_) if shared == 0 => Relation::Apart,
            Some(Ordering::Equal) => Relation::Copy,
            Some(_) if created > 0 => Relation::Same,
            Some(_) => Relation::Unknown,
        }
    }
}
