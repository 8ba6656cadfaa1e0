//! The model prefix in a model's name.

/// Names of models, in lower case, with the prefix of their curves. Of several that match, the longest holds.
///
/// Source: the launch resolver of SemiAnalysisAI/InferenceX.
const MODELS: [(&str, &str); 10] = [
    ("deepseek-v4.1-flash", "dsv41flash"),
    ("deepseek-v4-pro", "dsv4"),
    ("glm-5.2", "glm5.2"),
    ("glm-5.3", "glm5.3"),
    ("glm-5", "glm5"),
    ("qwen3.5", "qwen3.5"),
    ("kimi-k3", "kimik3"),
    ("kimi-k2.5", "kimik2.5"),
    ("minimax-m3", "minimaxm3"),
    ("kimik3", "kimik3"),
];

/// The prefix of the model of this name. `DeepSeek-V4` alone is none: V4.1 and V4-Flash have it too.
///
/// ```text
/// nvidia/GLM-5.2-NVFP4 -> glm5.2
/// ```
pub(crate) fn of_name(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let matching = MODELS.iter().filter(|(model, _)| contains(&name, model));
    matching.max_by_key(|(model, _)| model.len()).map(|(_, prefix)| *prefix)
}

/// Whether the model's name stands in `name` and does not go on to another version: GLM-5 is not in GLM-5.2, nor Kimi-K3
/// in Kimi-K30.
fn contains(name: &str, model: &str) -> bool {
    name.match_indices(model).any(|(at, _)| {
        let behind = name.get(at + model.len()..).unwrap_or_default();
        let mut next = behind.chars();
        let first = next.next();
        let goes_on = first.is_some_and(|first| first.is_ascii_digit())
            || (first == Some('.') && next.next().is_some_and(|second| second.is_ascii_digit()));
        let before = name.get(..at).unwrap_or_default();
        let is_word = !before.ends_with(|last: char| last.is_ascii_alphanumeric());
        is_word && !goes_on
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_holds_and_versions_are_told_apart() {
        for (name, prefix) in [
            ("deepseek-ai/DeepSeek-V4.1-Flash", Some("dsv41flash")),
            ("deepseek-ai/DeepSeek-V4-Pro", Some("dsv4")),
            ("DeepSeek-V4", None),
            ("deepseek-ai/DeepSeek-V4-Flash", None),
            ("nvidia/GLM-5.2-NVFP4", Some("glm5.2")),
            ("/models/glm-5.3-fp8", Some("glm5.3")),
            ("nvidia/GLM-5-NVFP4", Some("glm5")),
            ("GLM-5.1", None),
            ("nvidia/Qwen3.5-397B-A17B-NVFP4-V2", Some("qwen3.5")),
            ("moonshotai/Kimi-K3", Some("kimik3")),
            ("kimik3", Some("kimik3")),
            ("moonshotai/Kimi-K2.7", None),
            ("moonshotai/Kimi-K2.5", Some("kimik2.5")),
            ("nvidia/MiniMax-M3-NVFP4", Some("minimaxm3")),
            ("MiniMax-M30", None),
            ("meta/Llama", None),
        ] {
            assert_eq!(of_name(name), prefix, "{name}");
        }
    }
}
