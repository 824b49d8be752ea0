//! Lines on their way to an engine. Handing them over never blocks, though the engine may not read.

use std::io::Write;
use std::sync::{Condvar, Mutex};

#[cfg(unix)]
pub(crate) use direct::Direct;

use crate::sync::{lock, wait_until};

/// An engine that leaves so much unread is dead. Its next answer will be late.
const MAX_BYTES: usize = 16 << 20;

/// What waits to be written.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    bytes: Vec<u8>,
    closed: bool,
    /// Takes what it can at once. Without it a thread writes.
    #[cfg(unix)]
    direct: Option<Direct>,
}

impl Outbox {
    /// Hands lines over and leaves `text` empty.
    pub(crate) fn push(&self, text: &mut String) {
        if text.is_empty() {
            return;
        }
        let mut state = lock(&self.state);
        if MAX_BYTES < state.bytes.len() {
            state.closed = true;
        }
        if !state.closed && !state.push_directly(text.as_bytes()) {
            state.bytes.extend_from_slice(text.as_bytes());
            self.changed.notify_all();
        }
        text.clear();
    }

    /// Ends the input of the engine after what was handed over.
    pub(crate) fn close(&self) {
        let mut state = lock(&self.state);
        state.closed = true;
        #[cfg(unix)]
        state.resume();
        self.changed.notify_all();
    }

    /// Writes what is handed over until the end. For a thread of its own.
    pub(crate) fn write(&self, mut to: impl Write) {
        loop {
            let state = lock(&self.state);
            let ready = |state: &State| state.closed || !state.bytes.is_empty();
            let mut state = wait_until(&self.changed, state, None, ready);
            let bytes = std::mem::take(&mut state.bytes);
            if bytes.is_empty() {
                return;
            }
            drop(state);
            if to.write_all(&bytes).and_then(|()| to.flush()).is_err() {
                // The engine closed its input. What that means is seen in its output.
                self.close();
                return;
            }
        }
    }
}

#[cfg(not(unix))]
impl State {
    /// There is no file that could be polled.
    fn push_directly(&mut self, _: &[u8]) -> bool {
        false
    }
}

#[cfg(unix)]
mod direct {
    use std::fs::File;
    use std::io::{ErrorKind, Write};
    use std::sync::Arc;
    use std::task::Waker;

    use super::{Outbox, State};
    use crate::sync::lock;

    /// A file that does not block, and whom to wake when it has taken less than all.
    #[derive(Debug)]
    pub(crate) struct Direct {
        pub(crate) file: Arc<File>,
        pub(crate) rest: Waker,
    }

    impl Outbox {
        pub(crate) fn over(direct: Direct) -> Self {
            let outbox = Self::default();
            lock(&outbox.state).direct = Some(direct);
            outbox
        }

        /// The file that was too full to take everything.
        pub(crate) fn blocked(&self) -> Option<Arc<File>> {
            let state = lock(&self.state);
            let direct = state.direct.as_ref().filter(|_| !state.bytes.is_empty())?;
            Some(Arc::clone(&direct.file))
        }

        /// Goes on writing.
        pub(crate) fn resume(&self) {
            lock(&self.state).resume();
        }
    }

    impl State {
        /// Writes what the file takes at once, and keeps the rest. Tells whether there is a file.
        pub(super) fn push_directly(&mut self, bytes: &[u8]) -> bool {
            if self.direct.is_none() {
                return false;
            }
            let written = if self.bytes.is_empty() { self.write(bytes) } else { 0 };
            self.bytes.extend_from_slice(bytes.get(written..).unwrap_or_default());
            if let Some(direct) = self.direct.as_ref().filter(|_| !self.bytes.is_empty()) {
                direct.rest.wake_by_ref();
            }
            true
        }

        /// Writes more of the rest, and closes the file after the last of it.
        pub(super) fn resume(&mut self) {
            if self.direct.is_none() {
                return;
            }
            let bytes = std::mem::take(&mut self.bytes);
            self.push_directly(&bytes);
            if self.closed && self.bytes.is_empty() {
                self.direct = None;
            }
        }

        /// How much the file takes at once. One that takes nothing any more takes everything.
        fn write(&mut self, bytes: &[u8]) -> usize {
            let Some(direct) = &self.direct else { return 0 };
            let mut written = 0;
            while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
                match (&*direct.file).write(rest) {
                    Ok(count) => written += count,
                    Err(error) if error.kind() == ErrorKind::Interrupted => (),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(_) => {
                        // The engine closed its input. What that means is seen in its output.
                        self.closed = true;
                        return bytes.len();
                    }
                }
            }
            written
        }
    }
}
