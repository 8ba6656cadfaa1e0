//! Recipes and configurations: YAML, of which the keys matter that a rule names.

use super::asked::{Asked, Needle};
use super::assign;
use super::line::see;
use crate::evidence::Place;
use crate::signoff::facts::{Facts, Origin, Seen};
use crate::yaml::{Node, Scalar, parse};

/// Reads one document into `facts`; why it could not be read.
pub(super) fn read(
    asked: &Asked,
    text: &str,
    file: u32,
    origin: Origin,
    facts: &mut Facts,
) -> Result<(), String> {
    let root = parse(text).map_err(|error| error.to_string())?;
    let mut walk = Walk { asked, file, origin, facts };
    walk.node(&root, &mut Vec::new());
    facts.recipes.push(file);
    Ok(())
}

struct Walk<'a> {
    asked: &'a Asked,
    file: u32,
    origin: Origin,
    facts: &'a mut Facts,
}

impl Walk<'_> {
    fn node<'n>(&mut self, node: &'n Node, path: &mut Vec<&'n str>) {
        match node {
            Node::Mapping(mapping) => {
                for entry in &mapping.entries {
                    path.push(&entry.key.text);
                    match &entry.value {
                        Node::Scalar(scalar) => self.scalar(&entry.key.text, scalar, path),
                        other => self.node(other, path),
                    }
                    path.pop();
                }
            }
            Node::Sequence(sequence) => {
                for item in &sequence.items {
                    match item {
                        Node::Scalar(scalar) => self.text(scalar, path),
                        other => self.node(other, path),
                    }
                }
            }
            Node::Scalar(scalar) => self.text(scalar, path),
        }
    }

    fn scalar(&mut self, key: &str, scalar: &Scalar, path: &[&str]) {
        // Of a recipe with variants the base decides.
        let own = path.strip_prefix(&["base"]).unwrap_or(path);
        let is_image =
            self.asked.image_keys.iter().any(|key| key.iter().map(String::as_str).eq(own.iter().copied()));
        let found = self.asked.key(key).or_else(|| is_image.then(|| (Seen::Image, own.join("."))));
        match found {
            Some((seen, name)) => {
                let value = if scalar.is_null() { "None".to_owned() } else { scalar.text.to_string() };
                self.see(seen, &name, value, scalar, path);
            }
            None => self.text(scalar, path),
        }
    }

    /// A text may be a command, or one `NAME=value`.
    fn text(&mut self, scalar: &Scalar, path: &[&str]) {
        let asked = self.asked;
        for (start, end, needle) in asked.find(scalar.text.as_bytes()) {
            let (seen, name, value) = match needle {
                Needle::Variable(seen, name) => {
                    (seen, name, assign::variable(scalar.text.as_bytes(), start, end))
                }
                Needle::Argument(seen, name) => {
                    (seen, name, assign::argument(scalar.text.as_bytes(), start, end))
                }
                Needle::Access | Needle::ServerArguments | Needle::Version => continue,
            };
            if let Some(value) = value {
                self.see(*seen, name, value, scalar, path);
            }
        }
    }

    fn see(&mut self, seen: Seen, name: &str, value: String, scalar: &Scalar, path: &[&str]) {
        let is_prefill = path.iter().any(|part| part.starts_with("prefill"));
        let line = u64::try_from(scalar.at.line).unwrap_or(0);
        let place = Place { file: self.file, line };
        see(self.facts, seen, name, value, self.origin, is_prefill, place);
    }
}
