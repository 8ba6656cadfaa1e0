//! Nothing secret leaves.

use crate::support::{FLAGS, Folder, IMAGE, text};

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

/// Secrets inside of values that rules do name: in every format, of a sign-off and of a comparison.
#[test]
fn no_secret_comes_out_inside_of_a_value_that_is_shown() {
    let folder = Folder::several_points();
    let log = "run/c4/logs/node1_agg_w0.out";
    let other = |value: &str| format!("speculative_draft_model_path='{value}'");
    folder.edit(log, &other("models/eagle3"), &other("https://hf:TOPSECRET1@host/m?token=TOPSECRET2"));
    folder.edit(
        log,
        "json_model_override_args='{}'",
        "json_model_override_args='{\"hf_token\": \"TOPSECRET3\", \"url\": \"s3://TOPSECRET4@b/c\"}'",
    );
    folder.edit("run/recipe.yaml", IMAGE, "https://user:TOPSECRET5@registry/x:v1?token=TOPSECRET6");
    folder.edit("run/c16/env.txt", "LEN=3.51", "LEN=hf_TOPSECRET7abcdef0123");
    folder.edit("run/c16/env.txt", "METHOD=match-expected", "METHOD=Bearer:TOPSECRET8");
    folder.write("run/broken.yaml", "token: TOPSECRET9\n  a: [1\n{");
    let launch = |secret: &str| {
        format!(
            "python3 -m sglang.launch_server --model-path https://u:TOPSECRET{secret}@h/m --speculative-draft-model-path \
             'm?token=TOPSECRET{secret}' --json-model-override-args '{{\"api_key\": \"TOPSECRET{secret}\"}}'\n"
        )
    };
    folder.write("a.sh", &launch("A"));
    folder.write("b.sh", &launch("B"));
    let vllm = |secret: &str| {
        format!(
            "vllm serve m --speculative-config '{{\"model\": \"d\", \"token\": \"TOPSECRET{secret}\", \"n\": \"{secret}\"}}'\n"
        )
    };
    folder.write("c.sh", &vllm("C"));
    folder.write("d.sh", &vllm("D"));
    for format in ["markdown", "json", "junit"] {
        for (line, code, marks) in [
            (format!("signoff run {FLAGS} -v"), 1, ["https://***@host/m?token=***", "registry/x:v1"]),
            ("signoff launch-diff a.sh b.sh".to_owned(), 1, ["https://***@h/m", "m?token=***"]),
            ("signoff launch-diff c.sh d.sh".to_owned(), 1, ["speculative_config", "***"]),
        ] {
            let output = folder.run(&format!("{line} --format {format}"));
            assert_eq!(output.status.code(), Some(code), "{line} {format}");
            let shown = text(&output.stdout) + &text(&output.stderr);
            assert!(!shown.contains("SECRET"), "{line} {format}: {shown}");
            // Markdown escapes what could be markup.
            let plain = shown.replace("<code>@</code>", "@").replace('\\', "").replace("&#42;", "*");
            for mark in marks {
                assert!(plain.contains(mark), "{line} {format}: {mark}: {plain}");
            }
        }
    }
}
