//! What holds for every recipe: inject, then check finds nothing; twice is once; what is not a pin stays.

use accsim::golden::{Catalogue, Severity};
use accsim::recipe::inject::{Request, plan};
use accsim::recipe::{FindingCode, Options, Role, judge, read};
use accsim::yaml::{Node, parse};
use proptest::prelude::*;
use serde_json::Value;

/// A recipe with pins or none, in one of several shapes.
fn recipe() -> impl Strategy<Value = (String, &'static str)> {
    let env = prop_oneof![
        Just(None),
        Just(Some("A: b")),
        Just(Some("SGLANG_SIMULATE_ACC_LEN: '2.10'")),
        Just(Some("SGLANG_SIMULATE_ACC_LEN: 3  # c")),
        Just(Some("SGLANG_SIMULATE_ACC_METHOD: multinomial")),
        Just(Some("TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS: \"2.99\"")),
    ];
    let json = prop_oneof![
        Just(""),
        Just(",\"rejection_sample_method\":\"block\""),
        Just(",\"synthetic_acceptance_length\":1.5,\"rejection_sample_method\":\"synthetic\""),
        Just(", \"rejection_sample_method\": \"synthetic\", \"synthetic_acceptance_length\": 2.99"),
    ];
    let engine = prop_oneof![Just("sglang"), Just("vllm"), Just("trtllm")];
    let steps = prop::collection::vec(1_u32..=5, 2);
    (engine, prop::collection::vec(env, 3), steps, json, any::<[bool; 5]>()).prop_map(
        |(engine, env, steps, json, flags)| {
            let [is_two, is_flow, has_base, has_prefill, is_crlf] = flags;
            let args = |steps: u32| match engine {
                "sglang" => format!("speculative-algorithm: EAGLE\nspeculative-num-steps: {steps}"),
                "vllm" => format!(
                    "speculative-config: '{{\"method\":\"mtp\",\"num_speculative_tokens\":{steps}{json}}}'"
                ),
                _ => format!("speculative_config:\n  decoding_type: MTP\n  max_draft_len: {steps}"),
            };
            let block = |text: &str, indent: usize| {
                text.lines().map(|line| format!("{}{line}\n", " ".repeat(indent))).collect::<String>()
            };
            let environment = |env: Option<&str>, key: &str, indent: usize| match env {
                None => String::new(),
                Some(env) if is_flow => {
                    format!(
                        "{}{key}: {{ X: \"1\", {} }}\n",
                        " ".repeat(indent),
                        env.split("  #").next().unwrap()
                    )
                }
                Some(env) => format!(
                    "{}{key}:\n{}",
                    " ".repeat(indent),
                    block(&format!("X: \"1\"\n{env}"), indent + 2)
                ),
            };
            let mut roles = vec![("decode", "decode_environment", steps[0], env[0])];
            if has_prefill {
                roles.insert(0, ("prefill", "prefill_environment", steps[0], env[1]));
            }
            let mut text = String::from("name: x\nmodel:\n  path: zai-org/GLM-5.2\n");
            text += &environment(env[2], "environment", 0);
            if is_two {
                text += "roles:\n";
                for (role, _, steps, env) in roles {
                    text += &format!("  {role}:\n    engine: {engine}\n");
                    text += &environment(env, "env", 4);
                    text += &format!("    args:\n{}", block(&args(steps), 6));
                }
            } else {
                text += &format!("backend:\n  type: {engine}\n");
                for (_, environment_key, _, env) in &roles {
                    text += &environment(*env, environment_key, 2);
                }
                text += &format!("  {engine}_config:\n");
                for (role, _, steps, _) in roles {
                    text += &format!("    # {role}\n    {role}:\n{}", block(&args(steps), 6));
                }
            }
            text += "benchmark:\n  command: bash agentic_srt.sh\n";
            if has_base {
                let path = if is_two {
                    "roles:\n  decode:\n    args:\n"
                } else {
                    "backend:\n  CONFIG:\n    decode:\n"
                };
                let path = path.replace("CONFIG", &format!("{engine}_config"));
                let over = format!("{path}{}", block(&args(steps[1]), 6));
                text = format!("base:\n{}override_x:\n{}", block(&text, 2), block(&over, 2));
            }
            if is_crlf {
                text = text.replace('\n', "\r\n");
            }
            (text, engine)
        },
    )
}

/// A tree without places; JSON in a text is a tree of its own.
fn without_places(node: &Node) -> Value {
    match node {
        Node::Scalar(text) => serde_json::from_str(&text.text)
            .ok()
            .filter(Value::is_object)
            .unwrap_or_else(|| Value::from(text.text.to_string())),
        Node::Sequence(list) => list.items.iter().map(without_places).collect(),
        Node::Mapping(map) => Value::Object(
            map.entries
                .iter()
                .map(|entry| (entry.key.text.to_string(), without_places(&entry.value)))
                .collect(),
        ),
    }
}

/// The same without pins, and without blocks in which nothing else stands.
fn without_pins(node: &Node) -> Value {
    fn stripped(value: Value) -> Value {
        let Value::Object(map) = value else { return value };
        let is_pin = |key: &str| {
            ["SGLANG_SIMULATE_ACC_", "TLLM_SPEC_DECODE_", "synthetic_", "rejection_sample_method"]
                .iter()
                .any(|start| key.starts_with(start))
        };
        let kept = map.into_iter().filter(|(key, _)| !is_pin(key)).map(|(key, value)| (key, stripped(value)));
        let is_empty = |value: &Value| value.as_object().is_some_and(serde_json::Map::is_empty);
        Value::Object(kept.filter(|(_, value)| !is_empty(value)).collect())
    }
    let tree = without_places(node);
    let Some(base) = tree.get("base").cloned() else { return stripped(tree) };
    // An override may repeat what the base has: what counts is what each variant is.
    let over = tree.get("override_x").cloned().unwrap_or_default();
    [stripped(base.clone()), stripped(laid_over(base, over))].into_iter().collect()
}

/// An override laid over a base.
fn laid_over(base: Value, over: Value) -> Value {
    match (base, over) {
        (Value::Object(mut base), Value::Object(over)) => {
            for (key, value) in over {
                let held = base.remove(&key).unwrap_or_default();
                base.insert(key, laid_over(held, value));
            }
            Value::Object(base)
        }
        (_, over) => over,
    }
}

fn request(framework: &str, eval_only: bool) -> Request<'_> {
    Request { framework, model: Some("glm5.2"), thinking: None, eval_only, selector: None, unset: &[] }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn inject_then_check_finds_nothing_and_twice_is_once((text, engine) in recipe()) {
        let catalogue = Catalogue::builtin();
        let once = plan("r.yaml", &text, &catalogue, &request(engine, false)).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let document = read("r.yaml", &once.text).unwrap().unwrap();
        let judged = judge(&document, "r.yaml", &catalogue, &Options::default());
        // A prefill that drafts less than the generation role gets its value all the same, and a warning says so.
        let is_clean = judged.findings.iter().all(|finding| {
            finding.code == FindingCode::AlAboveMax && finding.role == Role::Prefill && finding.severity == Severity::Warning
        });
        prop_assert!(is_clean, "{:?}\n{}\n{}", judged.findings, text, once.text);
        let twice = plan("r.yaml", &once.text, &catalogue, &request(engine, false)).unwrap();
        prop_assert_eq!(&twice.text, &once.text);
        // Lines that hold no pin are the same lines in the same order.
        let kept = |text: &str| -> Vec<String> {
            let is_pin = |line: &&str| ["ACC_", "FORCE_NUM", "synthetic", "speculative-config", "env", "X: "].iter().any(|word| line.contains(word));
            text.lines().filter(|line| !is_pin(line)).map(str::to_owned).collect()
        };
        // A variant may need folders of its own above its pin.
        let new = kept(&once.text);
        let mut rest = new.iter();
        for line in kept(&text) {
            prop_assert!(rest.any(|new| *new == line), "{line}\n{}", once.text);
        }
    }

    #[test]
    fn an_evaluation_then_has_no_pin((text, engine) in recipe()) {
        let catalogue = Catalogue::builtin();
        let clean = plan("r.yaml", &text, &catalogue, &request(engine, true)).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let document = read("eval.yaml", &clean.text).unwrap().unwrap();
        let judged = judge(&document, "eval.yaml", &catalogue, &Options::default());
        prop_assert!(judged.findings.is_empty(), "{:?}\n{}", judged.findings, clean.text);
        let twice = plan("r.yaml", &clean.text, &catalogue, &request(engine, true)).unwrap();
        prop_assert_eq!(&twice.text, &clean.text);
    }

    #[test]
    fn what_is_written_reads_back_as_the_same_recipe_but_for_its_pins((text, engine) in recipe(), eval_only in any::<bool>()) {
        let new = plan("r.yaml", &text, &Catalogue::builtin(), &request(engine, eval_only)).unwrap().text;
        let (before, after) = (parse(&text).unwrap(), parse(&new).unwrap());
        prop_assert_eq!(without_pins(&before), without_pins(&after), "{}\n{}", text, new);
        // Taken away again, every pin is gone, and nothing else.
        let clean = plan("r.yaml", &new, &Catalogue::builtin(), &request(engine, true)).unwrap().text;
        let clean = parse(&clean).unwrap();
        prop_assert_eq!(without_pins(&before), without_pins(&clean));
        let is_gone = !without_places(&clean).to_string().contains("SIMULATE_ACC_LEN");
        prop_assert!(is_gone || engine != "sglang");
    }

    #[test]
    fn no_text_makes_a_reader_fail(text in "\\PC{0,200}", name in prop_oneof![Just("a.sh"), Just("a.yaml"), Just(".env"), Just("Dockerfile"), Just("a.json")]) {
        let _ = read(name, &text);
    }
}
