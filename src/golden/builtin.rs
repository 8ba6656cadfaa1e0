//! The curves of `golden_al/`, compiled in. A test compares this list with the directory.

/// One curve file with the provenance beside it.
#[derive(Clone, Copy, Debug)]
pub(super) struct BuiltinFile {
    pub(super) name: &'static str,
    pub(super) curve: &'static str,
    pub(super) provenance: &'static str,
}

macro_rules! builtin {
    ($($name:literal),+ $(,)?) => {
        &[$(BuiltinFile {
            name: $name,
            curve: include_str!(concat!("../../golden_al/", $name, ".yaml")),
            provenance: include_str!(concat!("../../golden_al/provenance/", $name, ".yaml")),
        }),+]
    };
}

/// Every compiled-in curve, by name.
pub(super) const BUILTIN: &[BuiltinFile] = builtin![
    "dsv4-pro-0813-dspark",
    "dsv41flash_dspark",
    "dsv4_mtp",
    "glm5.2_mtp",
    "glm5.3_mtp",
    "kimik2.5_eagle3",
    "kimik3_dspark",
    "kimik3_dspark_probabilistic_sample_method_block_rejection_sample_method",
    "minimaxm3_eagle3",
    "minimaxm3_eagle3_gqa",
    "qwen3.5_mtp",
    "qwen3.8next_mtp",
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    fn files(directory: &str) -> BTreeSet<String> {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
        let names = std::fs::read_dir(directory).unwrap().map(|file| file.unwrap().file_name());
        names.filter_map(|name| Some(name.to_str().unwrap().strip_suffix(".yaml")?.to_owned())).collect()
    }

    #[test]
    fn the_list_is_the_directory() {
        let listed: BTreeSet<String> = BUILTIN.iter().map(|file| file.name.to_owned()).collect();
        assert_eq!(listed.len(), BUILTIN.len());
        assert_eq!(listed, files("golden_al"));
        assert_eq!(listed, files("golden_al/provenance"));
    }
}
