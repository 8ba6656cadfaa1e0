//! `docs/schema/audit.schema.json`, held against what the program prints.

use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::Value;

/// The page as it stands, and stricter: a field that it does not list is a fault too. For readers of documents it stays
/// open, because fields may be added under the same version.
static SCHEMA: LazyLock<Validator> = LazyLock::new(|| {
    let text = include_str!("../../docs/schema/audit.schema.json");
    let mut schema: Value = serde_json::from_str(text).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    close(&mut schema);
    jsonschema::validator_for(&schema).unwrap()
});

/// Forbids what an object does not list.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            let lists = members.get("properties").is_some_and(Value::is_object);
            if lists && !members.contains_key("additionalProperties") {
                members.insert("additionalProperties".to_owned(), false.into());
            }
            members.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

/// Everything in which an audit's document departs from the schema.
pub(crate) fn faults(document: &Value) -> Vec<String> {
    let faults = SCHEMA.iter_errors(document);
    faults.map(|fault| format!("{}: {fault}", fault.instance_path())).collect()
}

/// Whether this is the document of an audit.
pub(crate) fn is_audit(document: &Value) -> bool {
    document["points"][0]["verdict"].is_string()
}
