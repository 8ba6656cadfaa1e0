//! Logs that want to write the page themselves.

use std::fmt::Write as _;

use serde_json::json;

use crate::browser::Browser;
use crate::made;

/// Texts that close elements, attributes, styles and scripts, and run what follows.
const ATTACK: &str =
    "x'\"><script>window.hit=1<\\x2fscript><img src=x onerror='window.hit=2'><svg onload=window.hit=3>";

#[tokio::test(flavor = "multi_thread")]
async fn hostile_logs_run_nothing_and_mark_up_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let name = "\"'><img src=x onerror=window.hit=4><style>*{display:none}<b>& {{ 7*7 }} {% raw %}.log";
    let mut log = format!(
        "+ export SGLANG_SIMULATE_ACC_LEN='</pre><script>window.hit=5</script>'\n\
         [2026-10-12 01:02:00] server_args=ServerArgs(model_path='m', speculative_algorithm='{}', speculative_num_steps=5, \
         speculative_eagle_topk=1, speculative_num_draft_tokens=6, decode_log_interval=40)\n",
        ATTACK.replace('\'', "`")
    );
    for (second, value) in ["3.50", "3.52", "9.60", "3.48", "3.55", "3.45"].iter().enumerate() {
        writeln!(
            log,
            "[2026-10-12 01:02:0{second} TP0 <b>] Decode batch, #running-req: 4, #token: 100, token usage: 0.05, accept len: {value}, \
             accept rate: 0.50, cuda graph: <i>False</i>, gen throughput (token/s): 500.00, #queue-req: 0\n\
             [2026-10-12 01:02:0{second}] Decode batch, #running-req: 4, #token: 100, token usage: 0.05, accept len: {value}, \
             accept rate: 0.50, cuda graph: False, gen throughput (token/s): 500.00, #queue-req: 0"
        )
        .unwrap();
    }
    std::fs::write(folder.path().join(name), &log).unwrap();
    std::fs::write(
        folder.path().join("</title><script>window.hit=6</script>".replace('/', "\u{2215}")),
        &log,
    )
    .unwrap();
    let table = "a,\"</td><script>window.hit=7</script>\"\n1,2\n2,1\n";
    std::fs::write(folder.path().join("points.csv"), table).unwrap();

    let target = ["--accept-length", "3.5", "--max-accept-length", "6"];
    let audit: Vec<&str> = ["audit", name, "."].into_iter().chain(target).collect();
    let pareto =
        ["throughput", "pareto", "points.csv", "--x", "a", "--y", "</td><script>window.hit=7</script>"];
    let out = tempfile::tempdir().unwrap();
    let pages = [
        made::page(folder.path(), &audit, &out.path().join("audit.html")),
        made::page(folder.path(), &pareto, &out.path().join("pareto.html")),
    ];
    let browser = Browser::start().await;
    for page in &pages {
        browser.open(page).await;
        let found = "return [window.hit === undefined, document.scripts.length, document.querySelectorAll('style').length, \
                     document.querySelectorAll('img,b,i,iframe,object,embed,form,meta[http-equiv=refresh]').length, \
                     [...document.querySelectorAll('*')].filter((element) => [...element.attributes].some((attribute) => \
                     attribute.name.startsWith('on') || attribute.name === 'style')).length]";
        assert_eq!(browser.run(found).await, json!([true, 1, 1, 0, 0]), "{}", page.display());
        // The names are there, as text.
        let text = browser.run("return document.body.textContent").await;
        assert!(text.as_str().unwrap().contains("<script>window.hit="), "{}", page.display());
        // Were a script to slip in, the policy would stop it.
        let slipped = "const script = document.createElement('script'); script.textContent = 'window.hit=8'; \
                       document.body.append(script); return window.hit === undefined";
        assert_eq!(browser.run(slipped).await, json!(true), "{}", page.display());
        let blocked = browser.client.execute_async(
            "const done = arguments[0]; document.addEventListener('securitypolicyviolation', (event) => \
             done(event.effectiveDirective)); const image = new Image(); image.src = 'http://127.0.0.1:9/x.png'",
            Vec::new(),
        );
        assert_eq!(blocked.await.unwrap(), json!("img-src"), "{}", page.display());
        let console = browser.console().await;
        let refused = console.as_array().unwrap().iter().filter(|entry| entry["source"] == "security");
        assert_eq!(refused.count(), 2, "{console}");
    }
    browser.end().await;
}
