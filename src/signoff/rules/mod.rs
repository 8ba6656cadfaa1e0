//! One file for each family of rules: from facts to an outcome with its evidence.

mod accept_length;
mod arguments;
mod clients;
mod curve;
mod endpoints;
mod equal;
mod evaluation;
mod forbidden;
mod graphs;
mod image;
mod recipe;
mod settings;
mod unread;
mod version;

pub(super) use accept_length::accept_length;
pub(super) use arguments::{argument, draft_path};
pub(super) use clients::requests;
pub(super) use curve::pareto_coverage;
pub(super) use endpoints::endpoints;
pub(super) use equal::arguments_equal;
pub(super) use evaluation::{evaluation_real, evaluation_unset, scores};
pub(super) use forbidden::{forbidden_arguments, forbidden_variables};
pub(super) use graphs::{graph_flag, largest_batch};
pub(super) use image::image;
pub(super) use recipe::recipe_pins;
pub(super) use settings::{golden_length, variable};
pub(super) use unread::unless_unread;
pub(super) use version::engine_version;
