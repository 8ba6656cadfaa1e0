//! The target that the flags name.

use anyhow::{anyhow, bail};

use super::args::SimulateArgs;
use crate::cli::{catalogue, global::Global};
use crate::engine::Engine;
use crate::golden::{Lookup, Query, Target};

impl SimulateArgs {
    /// The target: a golden cell, an explicit length, or none.
    pub(super) fn target(&self, engine: Option<Engine>, global: &Global) -> anyhow::Result<Option<Lookup>> {
        if let (Some(prefix), Some(method), Some(draft_length)) =
            (&self.prefix, &self.drafting, self.draft_length)
        {
            let query = Query {
                prefix,
                method,
                draft_length,
                thinking: self.cell.thinking.into(),
                draft_model: self.cell.draft_model.as_deref(),
                draft_sample_method: (self.cell.draft_sample_method.as_deref())
                    .or_else(|| engine.and_then(Engine::default_draft_sample_method)),
            };
            return catalogue::find(global, &query).map(Some);
        }
        if self.cell.draft_model.is_some() || self.cell.draft_sample_method.is_some() {
            bail!("--draft-model and --draft-sample-method pick a golden cell; give PREFIX METHOD K");
        }
        let Some(accept_length) = self.accept_length else { return Ok(None) };
        let max = self.max().ok_or_else(|| {
            anyhow!("--accept-length needs --max-accept-length, --num-steps or --block-size")
        })?;
        Ok(Some(Lookup { target: Target::explicit(accept_length, max)?, warnings: Vec::new() }))
    }
}
