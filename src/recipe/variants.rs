//! The variants of a recipe as whole recipes.

use crate::yaml::{Node, Position};

use super::merge::{ZipError, deep, zip_length, zip_member};

/// Variants of one recipe at most.
const MOST: usize = 512;

/// A variant: its name, none where the recipe has no variants, and the recipe that it is.
pub(crate) type Named = (Option<String>, Node);

/// Why a recipe has no variants to judge.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum VariantsError {
    #[error(transparent)]
    Zip(#[from] ZipError),
    #[error("{at}: more than {MOST} variants")]
    TooMany { at: Position },
}

/// The variants of a recipe: base, overrides by name, zips by name and index.
pub(crate) fn variants(root: &Node) -> Result<Vec<Named>, VariantsError> {
    let Node::Mapping(map) = root else { return Ok(vec![(None, root.clone())]) };
    let Some(base) = map.get("base") else { return Ok(vec![(None, root.clone())]) };
    let mut overrides: Vec<(&str, &Node)> = named(map, "override_").collect();
    let mut zips: Vec<(&str, &Node)> = named(map, "zip_override_").collect();
    overrides.sort_by_key(|(name, _)| *name);
    zips.sort_by_key(|(name, _)| *name);
    let mut found = vec![(Some("base".to_owned()), base.clone())];
    for (name, over) in overrides {
        found.push((Some(name.to_owned()), deep(base, over)));
    }
    for (name, zip) in zips {
        let length = zip_length(zip)?;
        if found.len().saturating_add(length) > MOST {
            return Err(VariantsError::TooMany { at: zip.at() });
        }
        for index in 0..length {
            found.push((Some(format!("{name}[{index}]")), deep(base, &zip_member(zip, index))));
        }
    }
    Ok(found)
}

fn named<'a>(
    map: &'a crate::yaml::Mapping,
    start: &'static str,
) -> impl Iterator<Item = (&'a str, &'a Node)> {
    map.entries
        .iter()
        .filter(move |entry| entry.key.text.starts_with(start))
        .map(|entry| (&*entry.key.text, &entry.value))
}
