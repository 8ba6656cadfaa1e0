//! The draws against PyTorch itself, where a Python has it: `ACCSIM_PYTORCH` names one, else `python3` is asked.

use std::process::{Command, Stdio};

use accsim::law::Setting;
use accsim::replay::{DrawLaw, DrawMethod, Sequence};

/// The engine's sampler by its own statements: 600 draws for each seed and law, one line each.
const SCRIPT: &str = r#"
import torch
for seed in (0, 320846001, 1 << 30):
    for method, target, largest in (("match-expected", 3.51, 6), ("match-expected", 2.99, 4), ("multinomial", 3.51, 6), ("multinomial", 2.78, 3)):
        torch.manual_seed(seed)
        drawn = []
        for _ in range(600):
            if method == "multinomial":
                value = torch.normal(mean=target, std=1.0, size=(1,), device="cpu")
                drawn.append(int(torch.clamp(value, min=1.0, max=float(largest)).round().item()))
            else:
                length = max(1.0, min(float(largest), target))
                low = int(length // 1)
                weight = length - low
                weights = torch.tensor([1 - weight, weight], dtype=torch.float32, device="cpu")
                drawn.append(low + torch.multinomial(weights, num_samples=1).item())
        print(seed, method, target, largest, "".join(map(str, drawn)))
"#;

/// Says so when there is no PyTorch: then nothing was compared.
#[test]
fn draws_are_those_of_pytorch() {
    let python = std::env::var("ACCSIM_PYTORCH");
    let is_named = python.is_ok();
    let python = python.unwrap_or_else(|_| "python3".to_owned());
    let output = Command::new(&python).arg("-c").arg(SCRIPT).stdin(Stdio::null()).output();
    let output = match output {
        Ok(output) if output.status.success() => output,
        other => {
            assert!(!is_named, "{python} has no PyTorch: {other:?}");
            println!("skipped: no PyTorch in {python}; ACCSIM_PYTORCH names a Python that has it");
            return;
        }
    };
    let text = String::from_utf8(output.stdout).unwrap();
    let mut compared = 0;
    for line in text.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let method =
            if fields[1] == "multinomial" { DrawMethod::Multinomial } else { DrawMethod::MatchExpected };
        let setting = Setting::new(fields[2].parse().unwrap(), fields[3].parse().unwrap()).unwrap();
        let law = DrawLaw::new(method, setting).unwrap();
        let mut sequence = Sequence::new(fields[0].parse().unwrap(), &law);
        let drawn: String = sequence.window(0, 600).iter().map(u8::to_string).collect();
        assert_eq!(drawn, fields[4], "{line}");
        compared += 1;
    }
    assert_eq!(compared, 12);
}
