//! Logs behind `http://`, `gs://` and `az://`: a small web server over a folder that notes what it is asked.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

const TARGET: &str = "--accept-length 3.5 --max-accept-length 6";

/// Paths that were asked for, each with its method.
type Asked = Arc<Mutex<Vec<String>>>;

/// Serves the files of a folder, whole or by range; `breaks` says after how many bytes of content a connection ends.
fn server(root: &Path, breaks: usize) -> (SocketAddr, Asked) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Asked::default();
    let (noted, root) = (Arc::clone(&asked), root.to_owned());
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let (noted, root) = (Arc::clone(&noted), root.clone());
            thread::spawn(move || serve(client, &root, breaks, &noted));
        }
    });
    (address, asked)
}

/// One request, and the end of the connection.
fn serve(mut client: TcpStream, root: &Path, breaks: usize, asked: &Asked) -> Option<()> {
    // A greeting of TLS has no end of a line.
    client.set_read_timeout(Some(Duration::from_secs(2))).ok()?;
    let mut lines = BufReader::new(client.try_clone().ok()?).lines().map_while(Result::ok);
    let request = lines.next()?;
    let mut words = request.split(' ');
    let (method, path) = (words.next()?, words.next()?);
    let mut range = None;
    for line in lines.take_while(|line| !line.is_empty()) {
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("range")
        {
            let (first, last) = value.trim().strip_prefix("bytes=")?.split_once('-')?;
            range = Some((first.parse::<usize>().ok()?, last.parse::<usize>().ok()?));
        }
    }
    asked.lock().ok()?.push(format!("{method} {path}"));
    // Google's client asks for `a%2Elog`.
    let file = root.join(path.split('?').next()?.trim_start_matches('/').replace("%2E", "."));
    let close = "Connection: close\r\n";
    if method == "PROPFIND" || !file.is_file() {
        let answer = format!("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n{close}\r\n");
        return client.write_all(answer.as_bytes()).ok();
    }
    let bytes = fs::read(file).ok()?;
    let (first, last) = range.unwrap_or((0, bytes.len().saturating_sub(1)));
    let last = last.min(bytes.len().saturating_sub(1));
    let part = bytes.get(first..=last)?;
    let status = if range.is_some() { "206 Partial Content" } else { "200 OK" };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nContent-Range: bytes {first}-{last}/{}\r\nETag: \"one\"\r\n\
         Last-Modified: Mon, 12 Oct 2026 01:02:03 GMT\r\nAccept-Ranges: bytes\r\n{close}\r\n",
        part.len(),
        bytes.len()
    );
    client.write_all(head.as_bytes()).ok()?;
    if method == "HEAD" {
        return Some(());
    }
    client.write_all(part.get(..breaks).unwrap_or(part)).ok()
}

fn accsim(folder: &Path, settings: &[(&str, &str)], words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_accsim-stores"));
    command.current_dir(folder).args(words.split_whitespace());
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if ["GOOGLE_", "AZURE_", "AWS_", "ACCSIM_"].iter().any(|start| name.starts_with(start)) {
            command.env_remove(name);
        }
    }
    command.envs(settings.iter().copied()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A folder `runs` with a log of some pieces and a small packed one.
fn runs() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("runs");
    fs::create_dir(&root).unwrap();
    for (name, lines) in [("big.log", 50_000), ("a.log", 60)] {
        let words = format!("simulate {TARGET} --seed 1 --emit-log runs/{name} --lines {lines}");
        let output = accsim(folder.path(), &[], &words);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    assert!(fs::metadata(root.join("big.log")).unwrap().len() > 8 << 20);
    let packed = Command::new("tar").current_dir(&root).args(["czf", "a.tar.gz", "a.log"]).status().unwrap();
    assert!(packed.success());
    (folder, root)
}

/// Audits `url` + name and the file, and compares.
fn compare(folder: &Path, settings: &[(&str, &str)], url: &str, name: &str) {
    let output = accsim(folder, settings, &format!("audit {url}{name} {TARGET} --json"));
    let found: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
    let output = accsim(folder, &[], &format!("audit runs/{name} {TARGET} --json"));
    let expected = text(&output.stdout).replace("\"runs/", &format!("\"{url}"));
    assert_eq!(found, serde_json::from_str::<Value>(&expected).unwrap(), "{url}{name}");
}

#[test]
fn objects_of_web_servers_are_read_as_files_are() {
    let (folder, _) = runs();
    for breaks in [usize::MAX, 1_500_000] {
        let (address, asked) = server(folder.path(), breaks);
        let url = format!("http://{address}/runs/");
        for name in ["a.log", "a.tar.gz", "big.log"] {
            compare(folder.path(), &[("ACCSIM_ALLOW_HTTP", "true")], &url, name);
        }
        // Piece by piece, and again where a connection broke.
        let asked = asked.lock().unwrap();
        let pieces = asked.iter().filter(|asked| *asked == "GET /runs/big.log").count();
        assert!(pieces >= if breaks == usize::MAX { 3 } else { 6 }, "{asked:?}");
    }
}

#[test]
fn plain_http_is_read_only_where_it_is_allowed() {
    let (folder, _) = runs();
    let (address, asked) = server(folder.path(), usize::MAX);
    let output = accsim(folder.path(), &[], &format!("audit http://{address}/runs/a.log {TARGET}"));
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("ACCSIM_ALLOW_HTTP"), "{}", text(&output.stderr));
    // Nor is a server without TLS one of https.
    let output = accsim(folder.path(), &[], &format!("audit https://{address}/runs/a.log {TARGET}"));
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("cannot read https://"), "{}", text(&output.stderr));
    assert_eq!(*asked.lock().unwrap(), Vec::<String>::new());
}

#[test]
fn google_and_azure_are_asked_at_their_endpoints() {
    let (folder, _) = runs();
    let (address, asked) = server(folder.path(), usize::MAX);
    let endpoint = format!("http://{address}");
    let google = [("GOOGLE_BASE_URL", endpoint.as_str()), ("GOOGLE_ALLOW_HTTP", "true")];
    let azure = [
        ("AZURE_STORAGE_ENDPOINT", endpoint.as_str()),
        ("AZURE_STORAGE_ACCOUNT_NAME", "someone"),
        ("AZURE_SKIP_SIGNATURE", "true"),
        ("AZURE_ALLOW_HTTP", "true"),
    ];
    for (settings, url) in [(&google[..], "gs://runs/"), (&azure[..], "az://runs/")] {
        for name in ["a.log", "a.tar.gz", "big.log"] {
            compare(folder.path(), settings, url, name);
        }
        let output = accsim(folder.path(), settings, &format!("audit {url}none.log {TARGET}"));
        assert_eq!(output.status.code(), Some(2));
        assert!(
            text(&output.stderr).contains(&format!("cannot read {url}none.log")),
            "{}",
            text(&output.stderr)
        );
    }
    let asked = asked.lock().unwrap();
    assert!(asked.iter().any(|asked| asked.starts_with("GET /runs/big")), "{asked:?}");
}
