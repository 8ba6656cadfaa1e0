//! Logs in an S3 server, over lines that fail.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hyper_util::rt::{TokioExecutor, TokioIo};
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use serde_json::Value;
use tempfile::TempDir;

const KEY: &str = "a-key";
const SECRET: &str = "a-secret";
const TARGET: &str = "--accept-length 3.5 --max-accept-length 6";

/// What a line does to the connections over it.
#[derive(Clone, Copy, Debug)]
enum Fault {
    None,
    /// Every connection breaks after so many bytes of answers.
    Break(usize),
    /// So many requests are answered by 503.
    Busy(usize),
    /// Connections are closed before any answer.
    HangUp,
    /// Answers come in small pieces, each after a rest.
    Slow,
}

/// A server over a folder; returns its address.
fn server(root: &Path) -> SocketAddr {
    let files = s3s_fs::FileSystem::new(root).unwrap();
    let mut builder = S3ServiceBuilder::new(files);
    builder.set_auth(SimpleAuth::from_single(KEY, SECRET));
    let service = builder.build();
    let (sender, receiver) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            sender.send(listener.local_addr().unwrap()).unwrap();
            let http = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                let (http, service) = (http.clone(), service.clone());
                tokio::spawn(async move {
                    let _ = http.serve_connection(TokioIo::new(socket), service).await;
                });
            }
        });
    });
    receiver.recv().unwrap()
}

/// A line to the server with a fault; returns its address and how often it struck.
fn line(server: SocketAddr, fault: Fault) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let struck = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&struck);
    thread::spawn(move || {
        for client in listener.incoming() {
            let (Ok(client), struck) = (client, Arc::clone(&counted)) else { continue };
            thread::spawn(move || connection(client, server, fault, &struck));
        }
    });
    (address, struck)
}

fn connection(mut client: TcpStream, server: SocketAddr, fault: Fault, struck: &AtomicUsize) {
    if let Fault::Busy(most) = fault
        && struck.fetch_add(1, Ordering::SeqCst) < most
    {
        let mut request = [0; 8192];
        let _ = client.read(&mut request);
        let _ = client.write_all(b"HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        let _ = client.shutdown(Shutdown::Both);
        return;
    }
    if matches!(fault, Fault::HangUp) {
        struck.fetch_add(1, Ordering::SeqCst);
        let _ = client.shutdown(Shutdown::Both);
        return;
    }
    let mut upstream = TcpStream::connect(server).unwrap();
    let (mut from_client, mut to_server) = (client.try_clone().unwrap(), upstream.try_clone().unwrap());
    thread::spawn(move || {
        let _ = std::io::copy(&mut from_client, &mut to_server);
        let _ = to_server.shutdown(Shutdown::Write);
    });
    let mut passed = 0;
    let mut bytes = vec![0; if matches!(fault, Fault::Slow) { 32 << 10 } else { 64 << 10 }];
    while let Ok(count @ 1..) = upstream.read(&mut bytes) {
        if matches!(fault, Fault::Slow) {
            struck.fetch_add(1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(5));
        }
        if client.write_all(&bytes[..count]).is_err() {
            break;
        }
        passed += count;
        if let Fault::Break(most) = fault
            && passed > most
        {
            struck.fetch_add(1, Ordering::SeqCst);
            break;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
    let _ = upstream.shutdown(Shutdown::Both);
}

fn accsim(folder: &Path, endpoint: Option<SocketAddr>, words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_accsim-stores"));
    command.current_dir(folder).args(words.split_whitespace());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("AWS_") {
            command.env_remove(name);
        }
    }
    if let Some(endpoint) = endpoint {
        command
            .env("AWS_ACCESS_KEY_ID", KEY)
            .env("AWS_SECRET_ACCESS_KEY", SECRET)
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ALLOW_HTTP", "true")
            .env("AWS_ENDPOINT_URL", format!("http://{endpoint}"));
    }
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A bucket `runs` with a log of some pieces, a packed one, and a folder of two; and its server.
fn bucket() -> (TempDir, SocketAddr) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("runs");
    fs::create_dir_all(root.join("run/logs")).unwrap();
    for (name, seed, lines) in [("big.log", 1, 40_000), ("run/a.log", 2, 60), ("run/logs/b.log", 3, 60)] {
        let words = format!("simulate {TARGET} --seed {seed} --emit-log runs/{name} --lines {lines}");
        let output = accsim(folder.path(), None, &words);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    assert!(fs::metadata(root.join("big.log")).unwrap().len() > 10 << 20);
    let packed = Command::new("tar").current_dir(&root).args(["czf", "run.tar.gz", "run"]).status().unwrap();
    assert!(packed.success());
    let address = server(folder.path());
    (folder, address)
}

/// The same audit of files, with the names that objects have.
fn expected(folder: &Path, path: &str) -> Value {
    let output = accsim(folder, None, &format!("audit runs/{path} {TARGET} --json"));
    let document = text(&output.stdout).replace("\"runs/", "\"s3://runs/");
    serde_json::from_str(&document).unwrap()
}

fn found(folder: &Path, endpoint: SocketAddr, path: &str) -> Value {
    let output = accsim(folder, Some(endpoint), &format!("audit s3://runs/{path} {TARGET} --json"));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)))
}

#[test]
fn objects_are_read_as_files_are() {
    let (folder, server) = bucket();
    for path in ["big.log", "run.tar.gz", "run/a.log", "run/"] {
        assert_eq!(found(folder.path(), server, path), expected(folder.path(), path), "{path}");
    }
    fs::write(folder.path().join("m.csv"), "path\ns3://runs/run/a.log\ns3://runs/none.log\nruns/run/a.log\n")
        .unwrap();
    let output =
        accsim(folder.path(), Some(server), &format!("audit --manifest m.csv {TARGET} --format csv"));
    assert_eq!(output.status.code(), Some(2));
    let table = text(&output.stdout);
    let rows: Vec<&str> = table.lines().collect();
    assert!(rows[1].contains("s3://runs/run/a.log,consistent"), "{table}");
    assert!(rows[2].contains("cannot read s3://runs/none.log"), "{table}");
    assert!(rows[3].contains("runs/run/a.log,consistent"), "{table}");
}

#[test]
fn lines_that_break_or_are_slow_change_nothing() {
    let (folder, server) = bucket();
    let expected = expected(folder.path(), "big.log");
    for (fault, least) in
        [(Fault::Break(1_500_000), 6), (Fault::Busy(3), 4), (Fault::Slow, 300), (Fault::None, 0)]
    {
        let (endpoint, struck) = line(server, fault);
        assert_eq!(found(folder.path(), endpoint, "big.log"), expected, "{fault:?}");
        let struck = struck.load(Ordering::SeqCst);
        assert!(struck >= least, "{fault:?} struck {struck} times");
    }
}

/// A server that never answers well is given up, in bounded time, and named.
#[test]
fn a_server_that_stays_busy_is_given_up() {
    let (folder, server) = bucket();
    for fault in [Fault::Busy(usize::MAX), Fault::HangUp] {
        let (endpoint, struck) = line(server, fault);
        let began = Instant::now();
        let output = accsim(folder.path(), Some(endpoint), &format!("audit s3://runs/big.log {TARGET}"));
        assert_eq!(output.status.code(), Some(2), "{fault:?}");
        assert!(text(&output.stderr).contains("cannot read s3://runs/big.log"), "{}", text(&output.stderr));
        assert!(began.elapsed() < Duration::from_secs(90), "{fault:?}: {:?}", began.elapsed());
        assert!(struck.load(Ordering::SeqCst) < 100, "{fault:?}");
    }
}

#[test]
fn credentials_come_from_the_environment_and_are_not_told() {
    let (folder, server) = bucket();
    let mut command = Command::new(env!("CARGO_BIN_EXE_accsim-stores"));
    command
        .args(["audit", "s3://runs/run/a.log"])
        .env("AWS_ACCESS_KEY_ID", KEY)
        .env("AWS_SECRET_ACCESS_KEY", "wrong-secret");
    command
        .env("AWS_ALLOW_HTTP", "true")
        .env("AWS_ENDPOINT_URL", format!("http://{server}"))
        .env("AWS_REGION", "us-east-1");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("cannot read s3://runs/run/a.log") && !said.contains("wrong-secret"), "{said}");
    for url in ["https://user:pass@host/a.log", "https://host/a.log?X-Amz-Signature=abc", "s3://"] {
        let output = accsim(folder.path(), Some(server), &format!("audit {url}"));
        assert_eq!(output.status.code(), Some(2), "{url}");
    }
}
