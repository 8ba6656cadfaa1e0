//! Settings as YAML, as `accsim env --format yaml` prints them and environment blocks of recipes and compose files hold
//! them.

use crate::engine::Engine;
use crate::yaml::{Mapping, Node, parse};

use super::error::{FoundError, FoundErrorKind};
use super::recipe::{arguments, environment};
use super::role::Role;

/// Keys of a whole recipe.
const OF_RECIPES: [&str; 3] = ["backend", "roles", "base"];

/// Reads a mapping; `None` for a text that is none.
pub(super) fn read(text: &str) -> Result<Option<Role>, FoundError> {
    let Ok(Node::Mapping(root)) = parse(text) else { return Ok(None) };
    if let Some(key) = root.entries.iter().find(|entry| OF_RECIPES.contains(&&*entry.key.text)) {
        return Err(FoundErrorKind::Recipe(key.key.text.to_string()).at(key.key.at.line));
    }
    let mut role = Role::default();
    block(&mut role, &root)?;
    for name in ["environment", "env"] {
        match root.get(name) {
            Some(Node::Mapping(inner)) => block(&mut role, inner)?,
            Some(Node::Sequence(list)) => {
                for item in &list.items {
                    if let Node::Scalar(word) = item
                        && let Some((name, value)) = word.text.split_once('=')
                    {
                        role.variable(name, value, word.at.line)?;
                    }
                }
            }
            Some(Node::Scalar(_)) | None => {}
        }
    }
    role.guess_engine();
    Ok(Some(role))
}

/// Variables and arguments by name.
fn block(role: &mut Role, block: &Mapping) -> Result<(), FoundError> {
    environment(role, block)?;
    // Which engine's arguments these are decides how some are read.
    role.guess_engine();
    if role.engine.is_none() && matches!(block.get("speculative-config"), Some(Node::Mapping(_))) {
        role.engine = Some(Engine::Vllm);
    }
    arguments(role, block)
}
