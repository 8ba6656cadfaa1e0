//! JSON paths, and what may stand at their end.

use serde_json::Value;

/// What is wrong at `path`, if anything. A document that is no JSON has nothing at any path.
pub(crate) fn fault(document: Option<&Value>, path: &str, expected: &Value) -> Option<String> {
    let found = document.map(|document| values(document, path)).unwrap_or_default();
    let holds = if path.contains("[*]") { all(&found, expected) } else { one(found.first(), expected) };
    (!holds).then(|| {
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        format!("{path}: expected {expected}, found [{}]", found.join(", "))
    })
}

/// Whether anything but null stands at `path`.
pub(crate) fn is_present(document: &Value, path: &str) -> bool {
    values(document, path).iter().any(|value| !value.is_null())
}

/// The values at a path of names, `[i]` and `[*]` joined by dots.
fn values<'a>(document: &'a Value, path: &str) -> Vec<&'a Value> {
    let mut found = vec![document];
    for part in path.split('.') {
        let (name, indices) = part.split_once('[').map_or((part, ""), |(name, rest)| (name, rest));
        if !name.is_empty() {
            found = found.into_iter().filter_map(|value| value.get(name)).collect();
        }
        for index in indices.split('[').filter(|index| !index.is_empty()) {
            let index = index.trim_end_matches(']');
            found = if index == "*" {
                found.into_iter().filter_map(Value::as_array).flatten().collect()
            } else {
                let index: usize = index.parse().unwrap();
                found.into_iter().filter_map(|value| value.get(index)).collect()
            };
        }
    }
    found
}

/// Expectations over the values of a `[*]` path.
fn all(found: &[&Value], expected: &Value) -> bool {
    let has = |wanted: &Value| found.iter().any(|value| equal(value, wanted));
    if let Some(wanted) = expected.get("contains") {
        has(wanted)
    } else if let Some(wanted) = expected.get("contains_any") {
        wanted.as_array().unwrap().iter().any(has)
    } else if let Some(unwanted) = expected.get("lacks") {
        !has(unwanted)
    } else {
        panic!("unknown expectation {expected}")
    }
}

/// Expectations on a single value.
fn one(found: Option<&&Value>, expected: &Value) -> bool {
    let Some(found) = found.filter(|value| !value.is_null()) else {
        return expected.is_null() || expected.get("or_null") == Some(&Value::Bool(true));
    };
    let Some(rule) = expected.as_object() else { return equal(found, expected) };
    let number = found.as_f64();
    let limit = |name: &str| rule.get(name).and_then(Value::as_f64);
    if let Some(length) = rule.get("length") {
        found
            .as_array()
            .is_some_and(|items| Some(items.len()) == length.as_u64().map(|n| n.try_into().unwrap()))
    } else if let Some(choices) = rule.get("any_of") {
        choices.as_array().unwrap().iter().any(|choice| equal(found, choice))
    } else if let (Some(value), Some(tolerance)) = (limit("value"), limit("tol")) {
        number.is_some_and(|number| (number - value).abs() <= tolerance)
    } else if let (Some(min), Some(max)) = (limit("min"), limit("max")) {
        number.is_some_and(|number| (min..=max).contains(&number))
    } else if let Some(wanted) = rule.get("contains") {
        found.as_array().is_some_and(|items| items.iter().any(|item| equal(item, wanted)))
    } else if let Some(unwanted) = rule.get("lacks") {
        found.as_array().is_some_and(|items| items.iter().all(|item| !equal(item, unwanted)))
    } else {
        panic!("unknown expectation {expected}")
    }
}

/// Equality in which 3 and 3.0 are one number.
fn equal(left: &Value, right: &Value) -> bool {
    match (left.as_f64(), right.as_f64()) {
        (Some(left), Some(right)) => left.total_cmp(&right).is_eq(),
        _ => left == right,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_and_rules() {
        let document =
            json!({"a": [{"b": 1, "c": "x"}, {"b": 2.5}], "n": null, "m": {"best": "y", "no": ["p"]}});
        let holds = |path: &str, expected: Value| fault(Some(&document), path, &expected).is_none();
        assert!(holds("a[0].b", json!(1.0)) && !holds("a[0].b", json!(2)));
        assert!(holds("a[1].b", json!({"value": 2.4, "tol": 0.11})));
        assert!(!holds("a[1].b", json!({"value": 2.4, "tol": 0.09})));
        assert!(
            holds("a[1].b", json!({"min": 2.5, "max": 3})) && !holds("a[1].b", json!({"min": 0, "max": 2}))
        );
        assert!(holds("a", json!({"length": 2})) && !holds("a", json!({"length": 1})));
        assert!(holds("a[*].b", json!({"contains": 2.5})) && !holds("a[*].b", json!({"contains": 3})));
        assert!(holds("a[*].b", json!({"contains_any": [3, 1]})));
        assert!(holds("a[*].c", json!({"lacks": "y"})) && !holds("a[*].c", json!({"lacks": "x"})));
        assert!(holds("m.best", json!({"any_of": ["x", "y"]})) && !holds("m.best", json!("x")));
        assert!(holds("m.no", json!({"contains": "p"})) && !holds("m.no", json!({"lacks": "p"})));
        assert!(holds("n", json!({"value": 1, "tol": 1, "or_null": true})) && holds("n", json!(null)));
        assert!(!holds("absent", json!({"value": 1, "tol": 1})));
        assert!(is_present(&document, "a[0].b") && !is_present(&document, "n"));
        assert!(fault(None, "a", &json!(1)).is_some());
    }
}
