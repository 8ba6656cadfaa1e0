//! What became of the clients' requests.

use super::settings::need_points;
use crate::signoff::facts::{Client, Run};
use crate::signoff::item::{Evidence, Outcome, Weighing};
use crate::signoff::profile::check::Requests;

pub(in crate::signoff) fn requests(run: &Run, rule: &Requests) -> Outcome {
    let mut weighing = Weighing::default();
    need_points(run, &mut weighing);
    let (mut completed, mut exports) = (0_u64, 0);
    let mut see = |label: &str, client: &Client, weighing: &mut Weighing| {
        exports += 1;
        let quote = |value: String| Evidence::at(run, client.place, value);
        if client.cancelled {
            weighing.fail(
                format!("{label}: the client was broken off"),
                [quote("was_cancelled: true".to_owned())],
            );
        }
        completed += client.completed.unwrap_or(0);
        match client.failed {
            Some(failed) if failed > rule.most_errors => {
                let of = client.completed.map_or_else(String::new, |done| format!(", {done} completed"));
                weighing.fail(
                    format!("{label}: {failed} requests ended in an error{of}"),
                    [quote(format!("{failed} errors"))],
                );
            }
            Some(failed) if client.completed == Some(0) => {
                let evidence = quote(format!("0 completed, {failed} errors"));
                weighing.fail(format!("{label}: no request came to its end"), [evidence]);
            }
            Some(failed) => {
                let completed =
                    client.completed.map_or_else(String::new, |done| format!(", {done} completed"));
                weighing.show(quote(format!("{failed} errors{completed}")));
            }
            None => weighing.miss(format!(
                "{label}: its export ({}) does not count errors; give one that does",
                run.file(client.place.file)
            )),
        }
    };
    for point in &run.points {
        let label = point.label();
        let mine = run
            .shared
            .clients
            .iter()
            .filter(|client| client.concurrency.is_some() && client.concurrency == point.concurrency);
        let clients: Vec<&Client> = point.facts.clients.iter().chain(mine).collect();
        if clients.is_empty() {
            weighing.miss(format!(
                "{label}: no export of its client (AIPerf's profile_export_aiperf.json, or the JSON of a serving benchmark)"
            ));
        }
        for client in clients {
            see(&label, client, &mut weighing);
        }
        for (call, seen) in &point.facts.access.calls {
            if let Some((status, place)) = seen.first_refused.filter(|_| call.starts_with("POST /v1/")) {
                weighing.fail(
                    format!("{label}: {} of {} requests got an error status", seen.refused, seen.count),
                    [Evidence::at(run, place, format!("{call} {status}"))],
                );
            }
        }
    }
    let dropped = match rule.most_errors {
        0 => "none dropped".to_owned(),
        most => format!("at most {most} of a point dropped"),
    };
    weighing.conclude(format!("{completed} requests completed, {dropped}, in {exports} exports"))
}
