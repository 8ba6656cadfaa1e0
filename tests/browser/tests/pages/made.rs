//! Pages that accsim writes, for the tests to open.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The program under test.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    if let Some(named) = std::env::var_os("ACCSIM") {
        return PathBuf::from(named);
    }
    let mut build = Command::new(env!("CARGO"));
    build.current_dir(root()).args("build --locked --bin accsim --message-format=json".split(' '));
    let output = build.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let messages = String::from_utf8(output.stdout).unwrap();
    let built = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let names = built.filter_map(|message| Some(PathBuf::from(message["executable"].as_str()?)));
    names.last().expect("cargo names the program")
});

/// Runs accsim in a folder; the last argument but those given is `--html` and a page, whose path is returned.
pub(crate) fn page(folder: &Path, arguments: &[&str], to: &Path) -> PathBuf {
    let mut command = Command::new(&*PROGRAM);
    command.current_dir(folder).args(arguments).arg("--html").arg(to);
    command.env_remove("ACCSIM_GOLDEN_DIR");
    let output = command.output().unwrap();
    assert!(
        output.status.code().is_some_and(|code| code != 2),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    to.to_owned()
}

/// Where recorded logs are.
pub(crate) fn logs() -> PathBuf {
    root().join("tests/data/h200")
}

/// Six points: honest ones, two ranks that are one sample, a rounded one, one without acceptance, one of another method.
pub(crate) fn audit(folder: &Path) -> PathBuf {
    let line = "audit e3k5_al351.log var_k5_al351.log dp2_k5_al351.log dspark_k5_al351.log base.log \
                e3k5_multinomial351.log --accept-length 3.51 --max-accept-length 6";
    let arguments: Vec<&str> = line.split_whitespace().collect();
    page(&logs(), &arguments, &folder.join("audit.html"))
}

/// The pages of all other commands.
pub(crate) fn others(folder: &Path) -> Vec<PathBuf> {
    let data = root().join("tests/data/throughput");
    let lines = [
        "throughput predict h200_k3_k5.json --draft-length 5 --accept-length 2,2.75,3.51,4.5",
        "throughput simulate h200_k3_k5.json --draft-length 5 --accept-length 3.51 --concurrency 1,4,16,32 --isl 100 --osl 400 \
         --duration 20",
        "throughput sweep h200_k3_k5.json --curve glm5.2_mtp --duration 20 --replicates 3",
        "throughput pareto signoff_points.csv --x e2e_p75_s --y tps_per_gpu",
        "curves plot",
        "curves plot dsv41flash_dspark glm5.2_mtp",
    ];
    let each = lines.iter().enumerate().map(|(number, line)| {
        let arguments: Vec<&str> = line.split_whitespace().collect();
        page(&data, &arguments, &folder.join(format!("page{number}.html")))
    });
    each.collect()
}
