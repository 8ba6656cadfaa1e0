//! Pipes and standard input: a thread waits for them, so that nobody else has to.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread;

/// Bytes of one read, and reads that wait to be taken.
const CHUNK: usize = 1 << 16;
const WAITING: usize = 16;

/// A stream that is read by a thread of its own. The thread ends with the stream, or at its next read after this is gone.
#[derive(Debug)]
pub(super) struct Pipe(Receiver<io::Result<Vec<u8>>>);

/// What a pipe has.
pub(super) enum Piped {
    Bytes(Vec<u8>),
    Nothing,
    End,
}

impl Pipe {
    pub(super) fn stdin() -> io::Result<Self> {
        Self::read(|| Ok(io::stdin()))
    }

    /// A named pipe: it opens when somebody writes.
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        Self::read(move || File::open(path))
    }

    fn read<R: Read>(open: impl FnOnce() -> io::Result<R> + Send + 'static) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(WAITING);
        thread::Builder::new().name("follow".to_owned()).spawn(move || {
            if let Err(error) = open().and_then(|stream| hand_on(stream, &sender)) {
                // Nobody listens any more: then nobody needs to know.
                let _ = sender.send(Err(error));
            }
        })?;
        Ok(Self(receiver))
    }

    /// The next bytes, without waiting.
    pub(super) fn next(&self) -> io::Result<Piped> {
        match self.0.try_recv() {
            Ok(bytes) => bytes.map(Piped::Bytes),
            Err(TryRecvError::Empty) => Ok(Piped::Nothing),
            Err(TryRecvError::Disconnected) => Ok(Piped::End),
        }
    }
}

fn hand_on(mut stream: impl Read, sender: &SyncSender<io::Result<Vec<u8>>>) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    loop {
        let read = match stream.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        let bytes = buffer.get(..read).unwrap_or(&[]).to_vec();
        if read == 0 || sender.send(Ok(bytes)).is_err() {
            return Ok(());
        }
    }
}
