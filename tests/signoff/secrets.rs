//! Nothing secret leaves.

use crate::support::{FLAGS, Folder, text};

/// A token in every kind of file, in every form in which one turns up there.
fn with_tokens() -> Folder {
    let folder = Folder::several_points();
    let log = "run/c4/logs/node1_agg_w0.out";
    folder.edit("run/c4/env.txt", "hf_0123456789secret", "TOPSECRET1");
    folder.write(
        "run/launcher.sh",
        "#!/bin/bash\nexport HF_TOKEN=TOPSECRET2\nexport SGLANG_API_KEY=TOPSECRET3\npython3 -m sglang.launch_server \
         --model-path models/qwen3 --api-key TOPSECRET4 --speculative-algorithm EAGLE3 --speculative-num-steps 5\n",
    );
    folder.edit(log, "api_key=None", "api_key='TOPSECRET5'");
    folder.edit(log, "\"POST /v1/chat/completions HTTP", "\"POST /v1/chat/completions?key=TOPSECRET6 HTTP");
    folder.edit(log, "\"POST /v1/chat/completions HTTP", "\"POST /v1/completions?key=TOPSECRET7 HTTP");
    folder.edit(
        "run/c4/logs/agentic/profile_export_aiperf.json",
        "\"error_summary\": []",
        "\"api_key\": \"TOPSECRET8\", \"error_summary\": [{\"count\": 2, \"error_details\": {\"message\": \"TOPSECRET9\"}}]",
    );
    folder.edit(
        "run/recipe.yaml",
        "    engine: sglang\n",
        "    engine: sglang\n    env:\n      HF_TOKEN: TOPSECRETA\n",
    );
    folder.edit("run/c4/config.yaml", "container: ", "container: docker://user:TOPSECRETB@");
    folder
}

#[test]
fn no_token_comes_out_in_any_format() {
    let folder = with_tokens();
    for format in ["markdown", "json", "junit"] {
        let output = folder.run(&format!("signoff run {FLAGS} --format {format} -v"));
        // It found enough to fail, so it has read the files.
        assert_eq!(output.status.code(), Some(1), "{format}");
        let shown = text(&output.stdout) + &text(&output.stderr);
        assert!(shown.contains("POST /v1/completions"), "{format}");
        assert!(!shown.contains("SECRET"), "{format}: {shown}");
    }
}

#[test]
fn no_token_comes_out_of_a_comparison() {
    let folder = with_tokens();
    folder.write(
        "other.sh",
        "export HF_TOKEN=TOPSECRETC\npython3 -m sglang.launch_server --model-path models/qwen3 --api-key TOPSECRETD\n",
    );
    for (left, right) in [
        ("run/launcher.sh", "other.sh"),
        ("run/c4/logs/node1_agg_w0.out", "other.sh"),
        ("run/recipe.yaml", "run/launcher.sh"),
    ] {
        for format in ["markdown", "json", "junit"] {
            let output = folder.run(&format!("signoff launch-diff {left} {right} --format {format}"));
            assert_eq!(output.status.code(), Some(1), "{left} {right} {format}");
            let shown = text(&output.stdout) + &text(&output.stderr);
            assert!(!shown.contains("SECRET"), "{left} {right} {format}: {shown}");
        }
    }
}
