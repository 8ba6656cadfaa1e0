//! What became of the clients' requests.

use super::settings::need_points;
use crate::signoff::facts::{Access, Client, Run};
use crate::signoff::item::{Evidence, Outcome, Weighing, counted};
use crate::signoff::profile::check::Requests;

pub(in crate::signoff) fn requests(run: &Run, rule: &Requests) -> Outcome {
    let mut weighing = Weighing::default();
    need_points(run, &mut weighing);
    let (mut completed, mut exports) = (0_u64, 0_u64);
    let mut see = |label: &str, client: &Client, weighing: &mut Weighing| {
        exports += 1;
        let quote = |value: String| Evidence::at(run, client.place, value);
        if client.cancelled {
            weighing.fail(
                format!("{label}: the client was broken off"),
                [quote("was_cancelled: true".to_owned())],
            );
        }
        if let Some(field) = &client.odd_field {
            let file = run.file(client.place.file);
            weighing.doubt(
                format!("{label}: {field} in {file} is no number"),
                [quote(format!("{field} is no number"))],
            );
        }
        if client.completed.is_none() {
            let file = run.file(client.place.file);
            weighing.miss(format!(
                "{label}: {file} ({}) does not say how many requests came to their end",
                client.format
            ));
        }
        completed += client.completed.unwrap_or(0);
        if client.unaccounted > rule.most_errors {
            let lost = counted(client.unaccounted, "request");
            weighing.fail(
                format!("{label}: {lost} neither completed nor failed"),
                [quote(format!("{lost} unaccounted for"))],
            );
        }
        match client.failed {
            Some(failed) if failed > rule.most_errors => {
                let of = client.completed.map_or_else(String::new, |done| format!(", {done} completed"));
                weighing.fail(
                    format!("{label}: {} ended in an error{of}", counted(failed, "request")),
                    [quote(counted(failed, "error"))],
                );
            }
            Some(failed) if client.completed == Some(0) => {
                let evidence = quote(format!("0 completed, {}", counted(failed, "error")));
                weighing.fail(format!("{label}: no request came to its end"), [evidence]);
            }
            Some(failed) => {
                let completed =
                    client.completed.map_or_else(String::new, |done| format!(", {done} completed"));
                weighing.show(quote(format!("{}{completed}", counted(failed, "error"))));
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
            if let (Some(told), Some(own)) = (client.concurrency, point.concurrency)
                && told != own
            {
                let evidence = Evidence::at(run, client.place, format!("concurrency {told}"));
                let file = run.file(client.place.file);
                weighing.fail(format!("{label}: {file} was measured at concurrency {told}"), [evidence]);
            }
            see(&label, client, &mut weighing);
        }
        refused(run, &label, &point.facts.access, &mut weighing);
    }
    refused(run, "the run", &run.shared.access, &mut weighing);
    let dropped = match rule.most_errors {
        0 => "none dropped".to_owned(),
        most => format!("at most {most} of a point dropped"),
    };
    weighing.conclude(format!(
        "{} completed, {dropped}, in {}",
        counted(completed, "request"),
        counted(exports, "export")
    ))
}

/// Requests for completions that a log shows an error status of.
fn refused(run: &Run, label: &str, access: &Access, weighing: &mut Weighing) {
    for (call, seen) in &access.calls {
        if let Some((status, place)) = seen.first_refused.filter(|_| call.starts_with("POST /v1/")) {
            weighing.fail(
                format!(
                    "{label}: {} of {} got an error status",
                    seen.refused,
                    counted(seen.count, "request")
                ),
                [Evidence::at(run, place, format!("{call} {status}"))],
            );
        }
    }
}
