//! Chromium behind its driver, with what a test asks of it.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use fantoccini::wd::{Capabilities, WebDriverCompatibleCommand};
use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};

/// The driver; it ends with the test.
struct Driver(Child);

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// One browser with one window.
pub(crate) struct Browser {
    pub(crate) client: Client,
    _driver: Driver,
    _profile: tempfile::TempDir,
}

/// A request that only Chromium's driver knows: a path below the session, and its body.
#[derive(Debug)]
struct Vendor(&'static str, Value);

impl WebDriverCompatibleCommand for Vendor {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.0))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(self.1.to_string()))
    }
}

impl Browser {
    /// Starts one with a fresh profile.
    pub(crate) async fn start() -> Self {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver starts (Debian: chromium-driver)");
        let lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let driver = Driver(driver);
        let port = lines
            .map_while(Result::ok)
            .find_map(|line| {
                Some(line.split_once("started successfully on port ")?.1.trim_end_matches('.').to_owned())
            })
            .expect("chromedriver names its port");
        let profile = tempfile::tempdir().unwrap();
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            "--window-size=1180,900",
            &format!("--user-data-dir={}", profile.path().display()),
        ];
        let capabilities = json!({
            "browserName": "chrome",
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        let Value::Object(capabilities) = capabilities else { unreachable!() };
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(Capabilities::from_iter(capabilities))
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .expect("chromium starts");
        Self { client, _driver: driver, _profile: profile }
    }

    pub(crate) async fn end(self) {
        self.client.close().await.unwrap();
    }

    /// Opens a page; it may have nothing to say on the console, nor ask for anything.
    pub(crate) async fn open(&self, page: &Path) {
        self.client.goto(&format!("file://{}", page.display())).await.unwrap();
        let fetched =
            self.run("return performance.getEntriesByType('resource').map((entry) => entry.name)").await;
        assert_eq!(fetched, json!([]), "{} asks for more than itself", page.display());
        self.quiet(page).await;
    }

    /// What the console holds since it was asked last: nothing.
    pub(crate) async fn quiet(&self, page: &Path) {
        assert_eq!(self.console().await, json!([]), "the console of {}", page.display());
    }

    /// What came to the console since it was asked last.
    pub(crate) async fn console(&self) -> Value {
        self.client.issue_cmd(Vendor("se/log", json!({ "type": "browser" }))).await.unwrap()
    }

    pub(crate) async fn run(&self, script: &str) -> Value {
        self.client.execute(script, Vec::new()).await.unwrap()
    }

    /// A command of Chromium's own protocol.
    pub(crate) async fn chromium(&self, name: &str, parameters: Value) -> Value {
        let body = json!({ "cmd": name, "params": parameters });
        self.client.issue_cmd(Vendor("goog/cdp/execute", body)).await.unwrap()
    }

    /// `light` or `dark`, as the reader's system has it.
    pub(crate) async fn scheme(&self, scheme: &str) {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.chromium("Emulation.setEmulatedMedia", features).await;
    }

    /// A screen of this size.
    pub(crate) async fn screen(&self, width: u32, height: u32) {
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.chromium("Emulation.setDeviceMetricsOverride", metrics).await;
    }
}
