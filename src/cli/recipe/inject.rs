//! `accsim recipe inject`.

use std::fs;
use std::io::{self, Read as _, Write};
use std::path::Path;

use anyhow::{Context as _, anyhow, bail, ensure};

use crate::cli::apart::apart;
use crate::cli::global::Global;
use crate::cli::output::{whole_file, write_to};
use crate::cli::{Exit, catalogue};
use crate::golden::{Severity, Thinking};
use crate::recipe::inject::{Plan, Request, plan};
use crate::recipe::{MOST_BYTES, Selector};

use super::command::InjectArgs;

pub(super) fn run(
    args: &InjectArgs,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let (path, selector) = match Selector::split(&args.recipe) {
        (_, Some(_)) if Path::new(&args.recipe).exists() => (args.recipe.as_str(), None),
        split => split,
    };
    let path = Path::new(path);
    let is_stdin = path == Path::new("-");
    ensure!(!(is_stdin && args.in_place), "stdin cannot be replaced; give a file, or -o");
    let bytes = bytes(path).with_context(|| format!("cannot read {}", path.display()))?;
    let name = if is_stdin { "stdin".to_owned() } else { path.display().to_string() };
    let text = String::from_utf8(bytes).map_err(|_| anyhow!("{name}: not UTF-8; expected text"))?;
    let asked = Asked::of(args)?;
    let request = Request {
        framework: &args.framework,
        model: asked.model.as_deref(),
        thinking: asked.thinking,
        eval_only: asked.eval_only,
        selector: selector.as_ref(),
        unset: &args.unset,
    };
    let plan = plan(&name, &text, &catalogue::open(global)?, &request)
        .map_err(|error| anyhow!("{name}: {error}"))?;
    for warning in &plan.warnings {
        catalogue::tell(global, Severity::Warning, warning, err)?;
    }
    write(args, path, &text, &plan, out).map(|()| Exit::Ok)
}

/// One byte more than is read at most.
fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let bound = u64::try_from(MOST_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        io::stdin().lock().take(bound).read_to_end(&mut bytes)?;
    } else {
        fs::File::open(path)?.take(bound).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

fn write(args: &InjectArgs, path: &Path, old: &str, plan: &Plan, out: &mut dyn Write) -> anyhow::Result<()> {
    if args.overrides {
        for argument in plan.overrides()? {
            writeln!(out, "{argument}")?;
        }
        for path in &args.unset {
            writeln!(out, "--unset\n{path}")?;
        }
        return Ok(());
    }
    if !args.in_place {
        apart([path], [args.output.as_deref()])?;
        return write_to(args.output.as_deref(), out, |out| out.write_all(plan.text.as_bytes()));
    }
    if plan.text == old {
        return Ok(());
    }
    let permissions = fs::metadata(path).map(|file| file.permissions());
    let written = whole_file(path, |created| {
        created.write_all(plan.text.as_bytes())?;
        if let Ok(permissions) = permissions {
            created.set_permissions(permissions)?;
        }
        created.sync_all()?;
        // Right before the rename: what somebody else wrote meanwhile is not thrown away.
        if bytes(path)? != old.as_bytes() {
            return Err(io::Error::other("it was changed meanwhile; nothing was written"));
        }
        Ok(())
    });
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// What flags and environment ask for.
struct Asked {
    model: Option<String>,
    thinking: Option<Thinking>,
    eval_only: bool,
}

impl Asked {
    fn of(args: &InjectArgs) -> anyhow::Result<Self> {
        let mut asked = Self {
            model: args.model.clone(),
            thinking: args.thinking.map(Into::into),
            eval_only: args.eval_only,
        };
        if !args.from_env {
            return Ok(asked);
        }
        asked.eval_only = asked.eval_only || !is_synthetic()?;
        if asked.eval_only {
            return Ok(asked);
        }
        if asked.model.is_none() {
            asked.model = Some(needed("MODEL_PREFIX")?);
        }
        if asked.thinking.is_none() {
            let mode = needed("THINKING_MODE")?;
            asked.thinking = Some(match mode.to_ascii_lowercase().as_str() {
                "on" | "thinking_on" | "enabled" | "true" | "1" => Thinking::On,
                "off" | "thinking_off" | "disabled" | "false" | "0" => Thinking::Off,
                _ => bail!("THINKING_MODE is '{mode}'; expected on or off"),
            });
        }
        Ok(asked)
    }
}

/// `EVAL_ONLY != "true" and IS_AGENTIC in {"1","true"} and SPEC_DECODING != "none"`.
fn is_synthetic() -> anyhow::Result<bool> {
    if needed("EVAL_ONLY")? == "true" {
        return Ok(false);
    }
    if !matches!(needed("IS_AGENTIC")?.as_str(), "1" | "true") {
        return Ok(false);
    }
    Ok(needed("SPEC_DECODING")? != "none")
}

fn needed(name: &str) -> anyhow::Result<String> {
    match std::env::var(name) {
        Ok(value) if !value.is_empty() => Ok(value),
        Ok(_) => bail!("{name} is empty; --from-env needs it"),
        Err(_) => bail!("{name} is not set; --from-env needs it"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::Catalogue;

    const RECIPE: &str = "backend:\n  type: sglang\n  sglang_config:\n    aggregated: {speculative-algorithm: EAGLE, \
                          speculative-num-steps: 3}\n";

    fn args(file: &Path) -> InjectArgs {
        InjectArgs {
            recipe: file.display().to_string(),
            framework: "sglang".to_owned(),
            model: Some("glm5.2".to_owned()),
            thinking: None,
            eval_only: false,
            from_env: false,
            unset: Vec::new(),
            in_place: true,
            output: None,
            overrides: false,
        }
    }

    fn planned(args: &InjectArgs) -> Plan {
        let request = Request {
            framework: &args.framework,
            model: args.model.as_deref(),
            thinking: None,
            eval_only: false,
            selector: None,
            unset: &args.unset,
        };
        plan("r.yaml", RECIPE, &Catalogue::builtin(), &request).unwrap()
    }

    #[test]
    fn a_file_that_changed_between_plan_and_write_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("r.yaml");
        let args = args(&file);
        let plan = planned(&args);
        // Somebody writes while the plan is made.
        for other in ["name: somebody else's\n", ""] {
            fs::write(&file, other).unwrap();
            let error = write(&args, &file, RECIPE, &plan, &mut Vec::new()).unwrap_err();
            assert!(format!("{error:#}").contains("changed meanwhile"), "{error:#}");
            assert_eq!(fs::read_to_string(&file).unwrap(), other);
        }
        // Somebody takes it away.
        fs::remove_file(&file).unwrap();
        write(&args, &file, RECIPE, &plan, &mut Vec::new()).unwrap_err();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left beside it");
        // Nobody does.
        fs::write(&file, RECIPE).unwrap();
        write(&args, &file, RECIPE, &plan, &mut Vec::new()).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), plan.text);
        assert_ne!(plan.text, RECIPE);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
