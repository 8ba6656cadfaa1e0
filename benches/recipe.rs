//! A repository of 1,300 files checked by the command: it should take less than a second on two cores.
//!
//! The tree is generated: 700 recipes of both schemas, 400 launchers, 200 files of other kinds; sizes as in
//! SemiAnalysisAI/InferenceX, 3 to 7 KiB.

#![expect(clippy::format_collect, reason = "texts are generated once, before anything is measured")]

use std::fs;
use std::io;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};

const RECIPES: usize = 700;
const LAUNCHERS: usize = 400;
const OTHERS: usize = 200;

fn recipe(index: usize) -> String {
    let steps = 1 + index % 5;
    let filler: String =
        (0..60).map(|line| format!("      NCCL_SETTING_{line}: '{}'\n", line * index)).collect();
    let arguments: String = (0..40).map(|line| format!("        some-flag-{line}: {line}\n")).collect();
    if index.is_multiple_of(2) {
        format!(
            "name: r{index}\nmodel:\n  path: zai-org/GLM-5.2\nbackend:\n  type: sglang\n  decode_environment:\n{filler}      \
             SGLANG_SIMULATE_ACC_LEN: '2.99'\n      SGLANG_SIMULATE_ACC_METHOD: match-expected\n      \
             SGLANG_SIMULATE_ACC_TOKEN_MODE: real-draft-token\n  sglang_config:\n    prefill:\n        x: 1\n    decode:\n{arguments}        \
             speculative-algorithm: EAGLE\n        speculative-num-steps: {steps}\nbenchmark:\n  command: bash agentic_srt.sh\n"
        )
    } else {
        format!(
            "schema: 2\nbase:\n  model:\n    path: moonshotai/Kimi-K3\n  roles:\n    agg:\n     engine: vllm\n     env:\n{filler}     \
             args:\n{arguments}        speculative-config: '{{\"method\":\"dspark\",\"num_speculative_tokens\":{steps},\
             \"draft_sample_method\":\"probabilistic\",\"rejection_sample_method\":\"synthetic\",\"synthetic_acceptance_length\":3.0}}'\n  \
             benchmark:\n    command: bash agentic_srt.sh\noverride_a:\n  name: a\nzip_override_b:\n  name: [x, y, z]\n"
        )
    }
}

fn launcher(index: usize) -> String {
    let filler: String = (0..60)
        .map(|line| {
            format!("if [[ \"${{MODE_{line}:-x}}\" == y ]]; then\n  export SETTING_{line}={index}\nfi\n")
        })
        .collect();
    format!(
        "#!/usr/bin/env bash\nset -euo pipefail\nMODEL=\"${{MODEL:-zai-org/GLM-5.2}}\"\nSTEPS=\"${{STEPS:-{}}}\"\n{filler}case \"$STEPS\" in\n  \
         1) LEN=1.84 ;;\n  2) LEN=2.50 ;;\n  *) LEN=2.99 ;;\nesac\nif [[ \"${{EVAL_ONLY:-false}}\" != true ]]; then\n  export \
         SGLANG_SIMULATE_ACC_LEN=\"$LEN\" SGLANG_SIMULATE_ACC_METHOD=match-expected SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token\nfi\n\
         ARGS=(--model-path \"$MODEL\" --speculative-algorithm EAGLE --speculative-num-steps \"$STEPS\")\n\
         python3 -m sglang.launch_server \"${{ARGS[@]}}\" > log 2>&1 &\nwait\n",
        1 + index % 4
    )
}

fn tree(root: &Path) -> io::Result<()> {
    for index in 0..RECIPES + LAUNCHERS + OTHERS {
        let folder = root.join(format!("part{}/agentic", index % 37));
        fs::create_dir_all(&folder)?;
        let (name, text) = if index < RECIPES {
            (format!("r{index}.yaml"), recipe(index))
        } else if index < RECIPES + LAUNCHERS {
            (format!("l{index}.sh"), launcher(index))
        } else {
            (format!("o{index}.md"), "# notes\n".repeat(400))
        };
        fs::write(folder.join(name), text)?;
    }
    Ok(())
}

fn check(criterion: &mut Criterion) {
    let Ok(folder) = tempfile::tempdir() else { return };
    if tree(folder.path()).is_err() {
        return;
    }
    let root = folder.path().display().to_string();
    let mut group = criterion.benchmark_group("recipe check");
    group.sample_size(20);
    group.bench_function("1300 files", |bencher| {
        bencher.iter(|| {
            let (mut out, mut err) = (Vec::new(), Vec::new());
            let exit = accsim::cli::run(
                ["accsim", "recipe", "check", &root, "--no-config", "--json"],
                &mut out,
                &mut err,
            );
            assert_eq!(exit.code(), 1);
            out.len()
        });
    });
    group.finish();
}

criterion_group!(benches, check);
criterion_main!(benches);
