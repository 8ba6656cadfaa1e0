//! A hundred thousand lines.

use std::fmt::Write as _;
use std::time::Instant;

use serde_json::json;

use crate::browser::Browser;
use crate::made;

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_thousand_lines_open_as_one_small_page() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = String::from(
        "[2026-10-12 00:00:00] server_args=ServerArgs(model_path='m', speculative_algorithm='EAGLE3', \
         speculative_num_steps=5, speculative_eagle_topk=1, speculative_num_draft_tokens=6, decode_log_interval=40)\n",
    );
    // Four ranks; one line stands out far, and must be seen.
    for line in 0..100_000_u32 {
        let (rank, second) = (line % 4, line / 8);
        let value = if line == 54_321 { 599 } else { 300 + line.wrapping_mul(2_654_435_761) % 41 * 5 / 2 };
        writeln!(
            log,
            "[2026-10-12 {:02}:{:02}:{:02} DP{rank}] Decode batch, #running-req: {}, #token: 100, token usage: 0.05, accept len: \
             {}.{:02}, accept rate: 0.50, cuda graph: True, gen throughput (token/s): {}.00, #queue-req: 0",
            second / 3600,
            second / 60 % 60,
            second % 60,
            8 + line % 7,
            value / 100,
            value % 100,
            500 + line % 90,
        )
        .unwrap();
    }
    std::fs::write(folder.path().join("long.log"), log).unwrap();
    let arguments = ["audit", "long.log", "--accept-length", "3.51", "--max-accept-length", "6"];
    let page = made::page(folder.path(), &arguments, &folder.path().join("long.html"));
    let bytes = std::fs::metadata(&page).unwrap().len();
    assert!(bytes < 2_000_000, "{bytes} bytes");

    let browser = Browser::start().await;
    let began = Instant::now();
    browser.open(&page).await;
    println!("{bytes} bytes, open after {:?}", began.elapsed());
    let captions = browser
        .run("return [...document.querySelectorAll('figcaption')].map((caption) => caption.textContent)")
        .await;
    let first = captions[0].as_str().unwrap();
    assert!(first.contains("100,000 decode lines of 4 ranks") && first.contains("Downsampled"), "{first}");
    // The line that stands out is still in the band.
    let highest = browser.run("return Math.max(...[...document.querySelectorAll('#p1 svg')][0].querySelectorAll('.tick.end').values().map((tick) => parseFloat(tick.textContent)))");
    assert_eq!(highest.await, json!(6));
    browser.end().await;
}
