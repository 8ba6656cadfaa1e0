//! Objects of S3, Google Cloud Storage, Azure and HTTP servers, piece by piece.
//!
//! A piece is some megabytes, asked for by its range. A connection that breaks, a server that is busy or says nothing: what
//! was received counts, and the rest is asked for again, a bounded number of times without a new byte. Credentials come from
//! the environment variables of each service, and from nowhere else.

use std::collections::HashMap;
use std::env;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use futures_util::StreamExt as _;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{
    ClientOptions, Error, GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt as _, RetryConfig,
};
use tokio::runtime::{Builder, Runtime};
use tokio::time::{sleep, timeout};

use super::failure::{Failure, Limit};
use super::input::Input;
use super::limits::Limits;
use super::unpack::Asked;
use super::walk::Found;

/// Bytes that are asked for at a time.
const PIECE: u64 = 4 << 20;

/// Attempts without a new byte.
const ATTEMPTS: u32 = 6;

/// The wait before the second attempt; each further one is twice as long, up to a limit.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// A server that sends nothing for so long is asked again.
const SILENCE: Duration = Duration::from_secs(20);

type Store = Arc<dyn ObjectStore>;

/// One object, read from its beginning.
pub(super) struct Object {
    store: Store,
    path: Path,
    size: u64,
    /// Its content when it was opened: pieces of another one are refused.
    etag: Option<String>,
    at: u64,
    held: Vec<u8>,
    taken: usize,
}

/// The objects at and below a URL, in the order of a walk through folders.
pub(super) fn walk(url: &str, limits: &Limits) -> Result<Vec<Found>, Failure> {
    let (base, store, path) = find(url)?;
    let found = |url: String, meta: &ObjectMeta, asked| Found {
        source: Input::Url(url),
        asked,
        length: Some(meta.size),
    };
    if !url.ends_with('/') {
        match again(|| store.head(&path)) {
            Ok(meta) => return Ok(vec![found(url.to_owned(), &meta, Asked::ByName)]),
            Err(Error::NotFound { .. }) => {}
            Err(error) => return Err(failure(&error)),
        }
    }
    let listing = async {
        let mut all = Vec::new();
        let mut listing = store.list(Some(&path));
        while let Some(meta) = listing.next().await {
            all.push(meta?);
            if super::budget::count(all.len()) > limits.entries {
                break;
            }
        }
        Ok::<_, Error>(all)
    };
    let runtime = runtime().map_err(|error| Failure::of_system(&error))?;
    let mut all = runtime.block_on(listing).map_err(|error| failure(&error))?;
    if super::budget::count(all.len()) > limits.entries {
        return Err(Failure::OverLimit(Limit::Entries(limits.entries)));
    }
    if all.is_empty() {
        return Err(Failure::of_system(&io::Error::new(
            io::ErrorKind::NotFound,
            "no object and no objects below it",
        )));
    }
    all.sort_by_cached_key(|meta| {
        let steps: Vec<&str> = meta.location.as_ref().split('/').collect();
        let last = steps.len().saturating_sub(1);
        steps.iter().enumerate().map(|(at, step)| (at < last, (*step).to_owned())).collect::<Vec<_>>()
    });
    Ok(all.iter().map(|meta| found(format!("{base}{}", meta.location), meta, Asked::Found)).collect())
}

/// Opens an object.
pub(super) fn open(url: &str) -> Result<Object, Failure> {
    let (_, store, path) = find(url)?;
    let meta = again(|| store.head(&path)).map_err(|error| failure(&error))?;
    Ok(Object { store, path, size: meta.size, etag: meta.e_tag, at: 0, held: Vec::new(), taken: 0 })
}

impl Read for Object {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.taken >= self.held.len() {
            self.held.clear();
            self.taken = 0;
            if self.at >= self.size {
                return Ok(0);
            }
            runtime()?.block_on(self.fetch())?;
        }
        let held = self.held.get(self.taken..).unwrap_or(&[]);
        let count = held.len().min(out.len());
        out.iter_mut().zip(held).for_each(|(to, from)| *to = *from);
        self.taken += count;
        Ok(count)
    }
}

impl Object {
    /// Fetches the next piece, as much of it as comes before attempts are used up.
    async fn fetch(&mut self) -> io::Result<()> {
        let end = self.at.saturating_add(PIECE).min(self.size);
        let mut attempts = 0;
        while self.at < end {
            let before = self.at;
            let Err(error) = self.attempt(end).await else { continue };
            attempts = if self.at > before { 1 } else { attempts + 1 };
            if attempts >= ATTEMPTS || !is_passing(&error) {
                return Err(failure(&error).into());
            }
            sleep(wait(attempts)).await;
        }
        Ok(())
    }

    /// One request; what comes is kept whatever becomes of the rest.
    async fn attempt(&mut self, end: u64) -> Result<(), Error> {
        let options = GetOptions {
            range: Some(GetRange::Bounded(self.at..end)),
            if_match: self.etag.clone(),
            ..GetOptions::default()
        };
        let got = in_time(self.store.get_opts(&self.path, options)).await?;
        // A server that knows no ranges sends another one.
        if got.range.start != self.at {
            return Err(Error::NotSupported { source: "the server does not serve ranges".into() });
        }
        let mut pieces = got.into_stream();
        while self.at < end {
            let piece = async { pieces.next().await.transpose() };
            let Some(piece) = in_time(piece).await? else {
                return Err(generic("the connection was closed before the end"));
            };
            let most = usize::try_from(end - self.at).unwrap_or(usize::MAX);
            let piece = piece.get(..most).unwrap_or(&piece);
            self.held.extend_from_slice(piece);
            self.at += super::budget::count(piece.len());
        }
        Ok(())
    }
}

async fn in_time<T>(asked: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    timeout(SILENCE, asked).await.unwrap_or_else(|_| Err(generic("the server sends nothing")))
}

/// Asks until there is an answer, a bounded number of times.
fn again<T, F: Future<Output = Result<T, Error>>>(ask: impl Fn() -> F) -> Result<T, Error> {
    let runtime = runtime().map_err(|error| generic(&error.to_string()))?;
    runtime.block_on(async {
        let mut attempts = 0;
        loop {
            match in_time(ask()).await {
                Err(error) if is_passing(&error) && attempts + 1 < ATTEMPTS => {
                    attempts += 1;
                    sleep(wait(attempts)).await;
                }
                answer => return answer,
            }
        }
    })
}

fn wait(attempt: u32) -> Duration {
    FIRST_WAIT
        .saturating_mul(1_u32.checked_shl(attempt.saturating_sub(1)).unwrap_or(u32::MAX))
        .min(LONGEST_WAIT)
}

fn generic(text: &str) -> Error {
    Error::Generic { store: "object store", source: text.to_owned().into() }
}

/// Whether the next attempt may end otherwise.
fn is_passing(error: &Error) -> bool {
    matches!(error, Error::Generic { .. } | Error::JoinError { .. })
}

/// Without the addresses and headers that errors of libraries carry.
fn failure(error: &Error) -> Failure {
    let (kind, message) = match error {
        Error::NotFound { .. } => (io::ErrorKind::NotFound, "no such object".to_owned()),
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => (
            io::ErrorKind::PermissionDenied,
            "the object store refuses these credentials, or none".to_owned(),
        ),
        Error::Precondition { .. } => {
            (io::ErrorKind::Other, "the object changed while it was read".to_owned())
        }
        Error::NotSupported { source } => (io::ErrorKind::Unsupported, source.to_string()),
        other => (io::ErrorKind::Other, super::name::escaped(&cause(other)).into_owned()),
    };
    Failure::Io { kind, message }
}

/// What an error says at its bottom, cut to a line.
fn cause(error: &Error) -> String {
    let mut next: &(dyn std::error::Error + 'static) = error;
    while let Some(below) = next.source() {
        next = below;
    }
    next.to_string().lines().next().unwrap_or_default().chars().take(200).collect()
}

/// The threads that requests run on, one pair for the process.
fn runtime() -> io::Result<&'static Runtime> {
    static RUNTIME: OnceLock<io::Result<Runtime>> = OnceLock::new();
    let made = RUNTIME.get_or_init(|| {
        // Another one was chosen by whoever runs this library: it does as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Builder::new_multi_thread().worker_threads(2).enable_all().build()
    });
    made.as_ref().map_err(|error| io::Error::new(error.kind(), error.to_string()))
}

/// The store of a URL, what stands before the paths of its objects, and the path. Stores are kept: they hold connections.
fn find(url: &str) -> Result<(String, Store, Path), Failure> {
    static STORES: Mutex<Option<HashMap<String, Store>>> = Mutex::new(None);
    let unsupported = |what: &str| Failure::Unsupported(what.to_owned());
    if url.contains(['?', '#']) || url.split('/').nth(2).is_none_or(|host| host.contains('@')) {
        return Err(unsupported("a URL with a query or a user name (credentials come from the environment)"));
    }
    let (scheme, rest) = url.split_once("://").ok_or_else(|| unsupported("a URL without a scheme"))?;
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let base = format!("{scheme}://{host}/");
    let path = Path::parse(path.trim_end_matches('/')).map_err(|_| unsupported("a URL with such a path"))?;
    let mut stores = STORES.lock().map_err(|_| unsupported("an object store"))?;
    let stores = stores.get_or_insert_default();
    if let Some(store) = stores.get(&base) {
        return Ok((base, Arc::clone(store), path));
    }
    runtime().map_err(|error| Failure::of_system(&error))?;
    let store = build(scheme, &base).map_err(|error| failure(&error))?;
    stores.insert(base.clone(), Arc::clone(&store));
    Ok((base, store, path))
}

fn build(scheme: &str, base: &str) -> Result<Store, Error> {
    let retry =
        RetryConfig { max_retries: 2, retry_timeout: Duration::from_secs(20), ..RetryConfig::default() };
    // The time of a whole request says nothing: a piece may be on a slow line.
    let client = |allows_http| {
        ClientOptions::new()
            .with_timeout_disabled()
            .with_connect_timeout(Duration::from_secs(10))
            .with_allow_http(allows_http)
    };
    let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_true = |name: &str| env::var(name).is_ok_and(|value| value == "true" || value == "1");
    Ok(match scheme {
        "s3" => {
            let known = [
                "AWS_ACCESS_KEY_ID",
                "AWS_WEB_IDENTITY_TOKEN_FILE",
                "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                "AWS_CONTAINER_CREDENTIALS_FULL_URI",
            ];
            let builder = AmazonS3Builder::from_env()
                .with_url(base)
                .with_client_options(client(is_true("AWS_ALLOW_HTTP")))
                .with_retry(retry)
                .with_skip_signature(!known.iter().any(|name| is_set(name)));
            Arc::new(builder.build()?)
        }
        "gs" => {
            let known = [
                "GOOGLE_APPLICATION_CREDENTIALS",
                "GOOGLE_SERVICE_ACCOUNT",
                "GOOGLE_SERVICE_ACCOUNT_PATH",
                "GOOGLE_SERVICE_ACCOUNT_KEY",
            ];
            let builder = GoogleCloudStorageBuilder::from_env()
                .with_url(base)
                .with_client_options(client(is_true("GOOGLE_ALLOW_HTTP")))
                .with_retry(retry)
                .with_skip_signature(!known.iter().any(|name| is_set(name)));
            Arc::new(builder.build()?)
        }
        "az" => {
            let builder = MicrosoftAzureBuilder::from_env()
                .with_url(base)
                .with_client_options(client(is_true("AZURE_ALLOW_HTTP")))
                .with_retry(retry);
            Arc::new(builder.build()?)
        }
        _ => {
            let allows_http = is_true("ACCSIM_ALLOW_HTTP");
            if scheme == "http" && !allows_http {
                return Err(Error::NotSupported {
                    source: "http:// can be read and changed on its way; use https://, or set ACCSIM_ALLOW_HTTP=true".into(),
                });
            }
            let options = client(allows_http);
            Arc::new(
                HttpBuilder::new().with_url(base).with_client_options(options).with_retry(retry).build()?,
            )
        }
    })
}
