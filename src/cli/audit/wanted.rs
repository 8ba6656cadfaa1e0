//! The target of an audit: what the flags name, or what the run was told.

use anyhow::{Context as _, ensure};

use super::AuditArgs;
use crate::audit::{Observed, injected_length};
use crate::cli::{Global, catalogue};
use crate::evidence::Place;
use crate::golden::{Query, Target};

/// What the flags say about the target.
pub(in crate::cli) enum Wanted {
    /// There is none to be had.
    Evaluation,
    Nothing,
    Known(Box<Target>),
    /// The largest accept length is the server's to say.
    Length(f64),
}

/// The target, and what there is to know about it.
pub(super) fn wanted(args: &AuditArgs, global: &Global) -> anyhow::Result<(Wanted, Vec<String>)> {
    let cell = &args.cell;
    if let (Some(prefix), Some(method), Some(draft_length)) = (&args.model, &args.method, args.draft_length) {
        let query = Query {
            prefix,
            method,
            draft_length,
            thinking: cell.thinking.into(),
            draft_model: cell.draft_model.as_deref(),
            draft_sample_method: cell.draft_sample_method.as_deref(),
        };
        let found = catalogue::find(global, &query)?;
        let warnings = found.warnings.iter().map(|warning| format!("{}: {warning}", warning.severity()));
        let warnings = warnings.collect();
        return Ok((Wanted::Known(Box::new(found.target)), warnings));
    }
    ensure!(
        cell.draft_model.is_none() && cell.draft_sample_method.is_none(),
        "--draft-model and --draft-sample-method pick a golden cell; name it by --model, --method and --draft-length"
    );
    let wanted = match (args.accept_length, args.max_accept_length) {
        (Some(length), Some(max)) => Wanted::Known(Box::new(Target::explicit(length, max)?)),
        (Some(length), None) => {
            // Refuse a bad number before any log is read.
            Target::explicit(length, 1)?;
            Wanted::Length(length)
        }
        (None, _) if args.expect_real => Wanted::Evaluation,
        (None, _) => Wanted::Nothing,
    };
    Ok((wanted, Vec::new()))
}

impl Wanted {
    /// The target of a point; `max` is the most that a step can emit, where a file about the run says it.
    pub(super) fn target<'a>(
        &self,
        seen: &Observed,
        max: Option<u32>,
        name: impl Fn(Place) -> &'a str,
        notes: &mut Vec<String>,
    ) -> anyhow::Result<Option<Target>> {
        Ok(match self {
            Self::Evaluation => None,
            Self::Nothing => match injected_length(seen.injected(), seen.draft_length()) {
                Some((length, setting)) => {
                    let place = format!("{}:{}", name(setting.place), setting.place.line);
                    let Some(max) = seen.max_accept_length().or(max) else {
                        notes.push(format!(
                            "warning: {}: told {length} ({place}), but neither that nor the log says how many tokens a \
                             verify step can emit; give --accept-length and --max-accept-length (draft length + 1)",
                            seen.name()
                        ));
                        return Ok(None);
                    };
                    Some(Target::injected(length, max, setting.source, place)?)
                }
                None => None,
            },
            Self::Known(target) => Some((**target).clone()),
            // Nothing there to compare: the verdict says what is missing.
            Self::Length(_) if seen.is_silent() || seen.spec_lines() == 0 && !seen.is_pooled() => None,
            Self::Length(length) => {
                let max = seen.max_accept_length().with_context(|| {
                    format!(
                        "{}: the log does not say how many tokens a verify step can emit; add --max-accept-length \
                         (draft length + 1)",
                        seen.name()
                    )
                })?;
                Some(Target::explicit(*length, max)?)
            }
        })
    }
}
