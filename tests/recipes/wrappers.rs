//! Programs in front of a server: what they pass on, and the scripts in their words.

use super::launchers::{REST, SERVER, check, codes};

const PIN: &str = "SGLANG_SIMULATE_ACC_LEN=2.10";

/// A script that exports the pin 2.10 and what belongs beside it.
fn exported(command: &str) -> String {
    format!("export {PIN} {REST}\n{command}\n")
}

#[test]
fn what_a_program_in_front_drops_is_no_pin() {
    for front in [
        "env -i",
        "env -",
        "env --ignore-environment PATH=/bin",
        "env -u SGLANG_SIMULATE_ACC_LEN",
        "env -uSGLANG_SIMULATE_ACC_LEN",
        "env --unset=SGLANG_SIMULATE_ACC_LEN A=b",
        "nohup /usr/bin/env -i A=b",
        "srun --export=NONE",
        "srun -N 1 --export NONE",
        "srun --export=PATH,HOME",
        "srun --export=PATH,A=b",
        "ssh host",
        "ssh -p 22 user@host",
        "sudo",
        "sudo -u root",
        "exec -c",
        "docker run --rm image",
        "kubectl exec pod --",
        "singularity exec --cleanenv image.sif",
        "mpirun -genvnone",
    ] {
        let script = exported(&format!("{front} {SERVER}"));
        let json = check(&script);
        assert_eq!(codes(&json), ["al-missing"], "{script}\n{json}");
    }
    let quoted = exported(&format!("ssh host 'cd /x && {SERVER}'"));
    assert_eq!(codes(&check(&quoted)), ["al-missing"]);
    let shell = exported(&format!("env -u SGLANG_SIMULATE_ACC_LEN bash -c '{SERVER}'"));
    assert_eq!(codes(&check(&shell)), ["al-missing"]);
    let batch = format!("#!/bin/bash\n#SBATCH --export=NONE\n{}", exported(&format!("srun {SERVER}")));
    assert_eq!(codes(&check(&batch)), ["al-missing"]);
    let variable = exported(&format!("export SLURM_EXPORT_ENV=NONE\nsrun {SERVER}"));
    assert_eq!(codes(&check(&variable)), ["al-missing"]);
}

#[test]
fn what_a_program_in_front_passes_on_is_the_pin() {
    let given = REST.replace(' ', ",");
    for command in [
        format!("env A=b {SERVER}"),
        format!("env -u OTHER {SERVER}"),
        format!("srun --export=ALL {SERVER}"),
        format!("srun --export=SGLANG_SIMULATE_ACC_LEN,{given} {SERVER}"),
        format!("sudo -E {SERVER}"),
        format!("sudo --preserve-env=SGLANG_SIMULATE_ACC_LEN {REST} {SERVER}"),
        format!("timeout 60 numactl -N 0 nohup {SERVER} &"),
        format!("env -i {PIN} {REST} {SERVER}"),
        format!("ssh host '{PIN} {REST} {SERVER}'"),
        format!("ssh host env {PIN} {REST} {SERVER}"),
        format!("ssh host <<'EOF'\nexport {PIN} {REST}\n{SERVER}\nEOF"),
        format!("bash <<'EOF'\n{SERVER}\nEOF"),
        format!("tmux new-session -d -s x \"{SERVER}\""),
        format!("tmux new-session -d -s x {SERVER}"),
        format!("screen -dmS x {SERVER}"),
        format!("screen -dmS x bash -c \"{SERVER}\""),
        format!("nohup bash -lc 'exec {SERVER}' &"),
        format!("bash -c 'exec \"$@\"' _ {SERVER}"),
        format!("singularity exec image.sif {SERVER}"),
        format!("cat > run.sh <<'EOF'\n{SERVER}\nEOF\nchmod +x run.sh\n./run.sh"),
        format!("cat > run.sh <<'EOF'\n{SERVER}\nEOF\nsrun bash run.sh"),
        format!("docker run -e SGLANG_SIMULATE_ACC_LEN -e {} image {SERVER}", REST.replace(' ', " -e ")),
    ] {
        let json = check(&exported(&command));
        assert_eq!(codes(&json), ["al-mismatch"], "{command}\n{json}");
        assert_eq!(json["findings"][0]["pinned"], 2.1, "{command}");
    }
}

#[test]
fn an_export_list_that_only_the_run_knows_is_said_to_be_one() {
    let json = check(&exported(&format!("srun --export=$LIST {SERVER}")));
    assert_eq!(codes(&json)[0], "unparsable-value", "{json}");
}

#[test]
fn a_command_that_only_the_run_knows_is_undecided() {
    for launch in ["$LAUNCH", "nohup $LAUNCH", "\"${LAUNCH[@]}\""] {
        let command = format!("{launch} --speculative-algorithm EAGLE --speculative-num-steps 3");
        let json = check(&exported(&command).replace("2.10", "2.99"));
        assert_eq!(codes(&json), ["unparsable-value"], "{command}\n{json}");
        assert!(json["findings"][0]["message"].as_str().unwrap().contains("LAUNCH"), "{json}");
        assert_eq!(json["findings"][0]["severity"], "warning");
        // A pin that is wrong for those arguments is wrong all the same.
        let json = check(&exported(&command));
        assert!(codes(&json).contains(&"al-mismatch"), "{json}");
    }
    // A variable in front of a server that is named hides nothing.
    let json = check(&exported(&format!("$LAUNCH {SERVER}")));
    assert_eq!(codes(&json), ["al-mismatch"], "{json}");
}
