//! Where streams cannot be polled: each has a thread.

use std::io::{self, Read, Write};
use std::process::ChildStderr;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::task::Waker;
use std::time::{Duration, Instant};

use readyok_protocol::Dialect;

use super::{Link, Reader};
use crate::intake;
use crate::process::Process;
use crate::sync::park_until;
use crate::threads;

/// How long the last words of a process that has ended may take, if another one holds its pipes.
const LAST_WORDS: Duration = Duration::from_millis(200);

impl Link {
    pub(super) fn polled(
        output: impl Read + Send + 'static,
        input: impl Write + Send + 'static,
        dialect: Dialect,
        _: Reader,
    ) -> io::Result<Self> {
        Self::streams(output, input, dialect)
    }

    pub(super) fn watch(&mut self, it: Arc<Process>, stderr: ChildStderr) -> io::Result<()> {
        let (ended, has_ended) = channel();
        let errors = Arc::clone(&self.errors);
        threads::spawn("engine-stderr", move || {
            intake::read_errors(stderr, &errors);
            drop(ended);
        })?;
        let inbox = Arc::clone(&self.inbox);
        let on_exit = move || {
            inbox.close_within(LAST_WORDS);
            let _: Result<(), _> = has_ended.recv_timeout(LAST_WORDS);
        };
        let inbox = Arc::clone(&self.inbox);
        it.watch(on_exit, move |_| inbox.wake())?;
        self.process = Some(it);
        Ok(())
    }

    /// What has come is read by a thread.
    pub(crate) fn drain(&self) {}
}

pub(super) fn wait(
    _: &[&Link],
    until: Option<Instant>,
    _timed: bool,
    happened: impl FnMut(&Waker) -> bool,
) {
    park_until(until, happened);
}

pub(super) fn leave(_: &mut Link) {}
