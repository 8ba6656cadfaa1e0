//! Both colour schemes, a phone, paper; and the pictures of the documentation.

use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;

use crate::browser::Browser;
use crate::made;

/// Most bytes of a picture in the documentation.
const MOST_BYTES: usize = 150_000;

/// Texts whose contrast with the page is too low (WCAG 2.2, 1.4.3: 4.5 to 1), with their ratio.
const PALE: &str = r"
const channel = (value) => { value /= 255; return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4; };
const light = (colour) => { const [r, g, b] = colour.match(/[\d.]+/g).map(Number); return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b); };
const paper = light(getComputedStyle(document.documentElement).backgroundColor);
const ratio = (colour) => { const own = light(colour); return (Math.max(own, paper) + 0.05) / (Math.min(own, paper) + 0.05); };
const faults = [];
for (const element of document.querySelectorAll('h1,h2,h3,p,a:not(.mark),li,dt,dd,td,th,caption,figcaption,code,pre,button,.badge,footer,svg text')) {
  const style = getComputedStyle(element);
  const colour = element.ownerSVGElement ? style.fill : style.color;
  if (ratio(colour) < 4.5) faults.push([element.tagName, element.textContent.slice(0, 30), ratio(colour)]);
}
// Strokes that carry meaning: 3 to 1 (1.4.11).
for (const element of document.querySelectorAll('svg .line,svg .dots')) {
  const colour = getComputedStyle(element).stroke;
  if (ratio(colour) < 3) faults.push([element.getAttribute('class'), colour, ratio(colour)]);
}
return faults;";

/// Texts of one plot that lie over each other or reach beyond it.
const CROWDED: &str = r"
const faults = [];
for (const svg of document.querySelectorAll('svg')) {
  const frame = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll('text')].map((text) => [text.textContent, text.getBoundingClientRect()]);
  texts.forEach(([name, box], index) => {
    if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1) faults.push(['beyond', name]);
    for (const [other, second] of texts.slice(index + 1)) {
      const wide = Math.min(box.right, second.right) - Math.max(box.left, second.left);
      const high = Math.min(box.bottom, second.bottom) - Math.max(box.top, second.top);
      if (wide > 1 && high > 4) faults.push([name, other]);
    }
  });
}
return faults;";

/// Takes a picture of the page from the element on.
async fn picture(browser: &Browser, name: &str, from: &str, (width, height): (u32, u32)) {
    let top = format!("return document.querySelector('{from}').getBoundingClientRect().top + scrollY");
    let top = browser.run(&top).await;
    let clip = json!({ "x": 0, "y": top, "width": width, "height": height, "scale": 1 });
    let options = json!({ "format": "png", "clip": clip, "captureBeyondViewport": true });
    let shot = browser.chromium("Page.captureScreenshot", options).await;
    let bytes = BASE64_STANDARD.decode(shot["data"].as_str().unwrap()).unwrap();
    assert!(bytes.starts_with(b"\x89PNG"));
    assert!(bytes.len() < MOST_BYTES, "{name}: {} bytes", bytes.len());
    let folder = if std::env::var("SCREENSHOTS").as_deref() == Ok("overwrite") {
        made::root().join("docs/img")
    } else {
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("screenshots")
    };
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(name), bytes).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn both_schemes_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut pages = made::others(folder.path());
    pages.push(made::audit(folder.path()));
    let browser = Browser::start().await;
    browser.screen(1000, 900).await;
    let mut papers = Vec::new();
    for (scheme, from, height) in [("light", "body", 900), ("dark", "#p3", 640)] {
        browser.scheme(scheme).await;
        for page in &pages {
            browser.open(page).await;
            assert_eq!(browser.run(PALE).await, json!([]), "{scheme}: {}", page.display());
            assert_eq!(browser.run(CROWDED).await, json!([]), "{scheme}: {}", page.display());
        }
        papers.push(browser.run("return getComputedStyle(document.documentElement).backgroundColor").await);
        picture(&browser, &format!("audit-{scheme}.png"), from, (1000, height)).await;
    }
    assert_ne!(papers[0], papers[1]);
    browser.scheme("light").await;
    for (name, page) in [("throughput-predict.png", 0), ("throughput-sweep.png", 2)] {
        browser.open(&pages[page]).await;
        picture(&browser, name, "body", (1000, 900)).await;
    }
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_phone_shows_everything_without_scrolling_aside() {
    let folder = tempfile::tempdir().unwrap();
    let mut pages = made::others(folder.path());
    pages.push(made::audit(folder.path()));
    let browser = Browser::start().await;
    browser.screen(390, 844).await;
    for page in &pages {
        browser.open(page).await;
        let widths = browser.run("return [document.documentElement.scrollWidth, innerWidth]").await;
        assert_eq!(widths, json!([390, 390]), "{}", page.display());
        assert_eq!(browser.run(CROWDED).await, json!([]), "{}", page.display());
        let small = "return [...document.querySelectorAll('svg text')].filter((text) => \
                     parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a < 8.9 && text.getScreenCTM().b === 0).map((text) => text.textContent)";
        assert_eq!(browser.run(small).await, json!([]), "{}", page.display());
        // What is wider scrolls by itself, and by keys.
        let wide = "return [...document.querySelectorAll('.wide')].every((box) => box.tabIndex === 0 && box.getAttribute('aria-label'))";
        assert_eq!(browser.run(wide).await, json!(true));
    }
    picture(&browser, "audit-phone.png", "#p6", (390, 1400)).await;
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_prints() {
    let folder = tempfile::tempdir().unwrap();
    let page = made::audit(folder.path());
    let browser = Browser::start().await;
    browser.scheme("dark").await;
    browser.open(&page).await;
    let pdf = browser.chromium("Page.printToPDF", json!({ "printBackground": true })).await;
    let pdf = BASE64_STANDARD.decode(pdf["data"].as_str().unwrap()).unwrap();
    assert!(pdf.starts_with(b"%PDF-") && pdf.len() > 20_000);
    let pages = pdf.windows(12).filter(|window| window.starts_with(b"/Type /Page\n")).count();
    // A page a point, at least.
    assert!(pages >= 7, "{pages}");
    // On paper there are no buttons, and the ink is dark whatever the screen is.
    browser.chromium("Emulation.setEmulatedMedia", json!({ "media": "print" })).await;
    let shown = "return [getComputedStyle(document.querySelector('button.copy')).display, \
                 getComputedStyle(document.documentElement).backgroundColor]";
    assert_eq!(browser.run(shown).await, json!(["none", "rgb(255, 255, 255)"]));
    browser.end().await;
}
