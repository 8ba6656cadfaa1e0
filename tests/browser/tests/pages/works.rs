//! Tables sort, the sign-off text is copied, findings lead to their place and back.

use fantoccini::Locator;
use fantoccini::key::Key;
use serde_json::json;

use crate::browser::Browser;
use crate::made;

/// The texts of one column of the first table.
const COLUMN: &str = "return [...document.querySelectorAll('table.sortable')[0].tBodies[0].rows].map((row) => row.cells[0].textContent)";

#[tokio::test(flavor = "multi_thread")]
async fn an_audit_works() {
    let folder = tempfile::tempdir().unwrap();
    let page = made::audit(folder.path());
    let browser = Browser::start().await;
    browser.open(&page).await;
    assert_eq!(browser.client.title().await.unwrap(), "Accept length audit");

    let order = browser.run(COLUMN).await;
    assert_eq!(order[0], "e3k5_al351.log");
    // By mouse: the mean, rising; points without one come last.
    let heads = browser.client.find_all(Locator::Css("table.sortable th button")).await.unwrap();
    heads[3].click().await.unwrap();
    let rising = browser.run(COLUMN).await;
    assert_eq!(
        rising,
        json!([
            "var_k5_al351.log",
            "dp2_k5_al351.log",
            "e3k5_al351.log",
            "e3k5_multinomial351.log",
            "dspark_k5_al351.log",
            "base.log"
        ])
    );
    // By keyboard: once more turns it round.
    heads[3].send_keys(&Key::Enter.to_string()).await.unwrap();
    assert_eq!(browser.run(COLUMN).await[1], "dspark_k5_al351.log");
    let said = browser.run(
        "return [...document.querySelectorAll('th[aria-sort]')].map((th) => th.getAttribute('aria-sort'))",
    );
    assert_eq!(said.await, json!(["descending"]));

    // A finding leads to its place in the plot, and the place to the finding.
    let link = browser.client.find(Locator::Css("#p4-f1 a[href='#p4-m1']")).await.unwrap();
    link.click().await.unwrap();
    let target = "const mark = document.querySelector('.mark:target'); const box = mark.getBoundingClientRect(); \
                  return [mark.id, box.top >= 0 && box.bottom <= innerHeight]";
    assert_eq!(browser.run(target).await, json!(["p4-m1", true]));
    browser.run("document.querySelector('#p4-m1').focus()").await;
    let mark = browser.client.find(Locator::Css("#p4-m1")).await.unwrap();
    mark.send_keys(&Key::Enter.to_string()).await.unwrap();
    assert_eq!(browser.run("return document.querySelector('li:target').id").await, "p4-f1");
    browser.quiet(&page).await;
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sign_off_text_is_copied_with_and_without_leave() {
    let folder = tempfile::tempdir().unwrap();
    let page = made::audit(folder.path());
    let browser = Browser::start().await;
    for (leave, fresh) in [("granted", "one"), ("denied", "two")] {
        browser.open(&page).await;
        for name in ["clipboard-write", "clipboard-read"] {
            let setting = if name == "clipboard-read" { "granted" } else { leave };
            let permission = json!({ "permission": { "name": name }, "setting": setting });
            browser.chromium("Browser.setPermission", permission).await;
        }
        let script = format!("await navigator.clipboard.writeText('{fresh}').catch(() => undefined)");
        browser.run(&format!("{script}; return 0").replace("await ", "")).await;
        browser.client.find(Locator::Css("button.copy")).await.unwrap().click().await.unwrap();
        let wait = browser.client.wait();
        wait.for_element(Locator::XPath("//*[@id='copied'][text()='Copied']")).await.unwrap();
        let text = browser.run("return document.getElementById('signoff').textContent").await;
        let pasted = browser.client.execute_async(
            "const done = arguments[0]; navigator.clipboard.readText().then(done, (error) => done(String(error)))",
            Vec::new(),
        );
        let pasted = pasted.await.unwrap();
        assert!(text.as_str().unwrap().starts_with("### Accept length audit: inconsistent"));
        assert!(pasted == text, "{leave}");
        browser.quiet(&page).await;
    }
    browser.end().await;
}

/// Without a script the page shows the same; only what would do nothing is away.
#[tokio::test(flavor = "multi_thread")]
async fn every_page_is_quiet_and_fetches_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut pages = made::others(folder.path());
    pages.push(made::audit(folder.path()));
    let browser = Browser::start().await;
    for page in &pages {
        browser.open(page).await;
        let counts = "return ['svg', 'svg > title', 'svg > desc', 'table.sortable th button'].map((what) => \
                      document.querySelectorAll(what).length)";
        let counts = browser.run(counts).await;
        let count = |index: usize| counts[index].as_u64().unwrap();
        assert!(count(0) > 0 && count(3) > 0, "{}: {counts}", page.display());
        assert_eq!((count(1), count(2)), (count(0), count(0)), "{}", page.display());
        let doubled = "const all = [...document.querySelectorAll('[id]')].map((element) => element.id); \
                       return all.filter((id, index) => all.indexOf(id) !== index)";
        assert_eq!(browser.run(doubled).await, json!([]), "ids of {}", page.display());
        let dead = "return [...document.querySelectorAll('a[href^=\"#\"]')].map((link) => link.getAttribute('href').slice(1))\
                    .filter((id) => !document.getElementById(id))";
        assert_eq!(browser.run(dead).await, json!([]), "links of {}", page.display());
    }
    browser.chromium("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await;
    browser.client.goto(&format!("file://{}", pages.last().unwrap().display())).await.unwrap();
    let button = browser.client.find(Locator::Css("button.copy")).await.unwrap();
    assert!(!button.is_displayed().await.unwrap());
    browser.end().await;
}
