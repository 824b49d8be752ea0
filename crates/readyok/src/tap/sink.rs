//! Writes text in a thread of its own, so that whoever has something to write never waits for a disk.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// So many bytes may wait to be written. What comes after them is left out until all are written.
const BACKLOG: usize = 16 << 20;

/// How long the last bytes may take.
const LAST_WAIT: Duration = Duration::from_secs(2);

/// Where text goes. Dropping it waits a little for what is not written yet.
pub(super) struct Sink(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Something has changed.
    news: Condvar,
}

#[derive(Default)]
struct State {
    waiting: String,
    /// So many entries came after as much as may wait.
    lost: u64,
    /// Nothing more will come.
    is_closed: bool,
    /// The thread has ended, or is not waited for any longer.
    is_over: bool,
    failure: Option<io::Error>,
}

impl Sink {
    /// Starts the thread.
    ///
    /// # Errors
    /// There can be no more threads.
    pub(super) fn new(out: impl Write + Send + 'static) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let of_thread = Arc::clone(&shared);
        thread::Builder::new().name("log".to_owned()).spawn(move || of_thread.write_all(out))?;
        Ok(Self(shared))
    }

    /// Adds an entry, which is a line or more.
    pub(super) fn add(&self, entry: &str) {
        let mut state = self.0.lock();
        if state.is_over {
            return;
        }
        if 0 < state.lost || BACKLOG < state.waiting.len().saturating_add(entry.len()) {
            state.lost += 1;
        } else {
            state.waiting.push_str(entry);
        }
        self.0.news.notify_all();
    }

    /// Waits until everything is written, but not for ever. Gives back what went wrong.
    pub(super) fn finish(&self) -> Option<io::Error> {
        let mut state = self.0.lock();
        state.is_closed = true;
        self.0.news.notify_all();
        let waited = self.0.news.wait_timeout_while(state, LAST_WAIT, |state| !state.is_over);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let is_late = !std::mem::replace(&mut state.is_over, true);
        let failure = state.failure.take();
        failure.or_else(|| is_late.then(|| io::ErrorKind::TimedOut.into()))
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_all(&self, mut out: impl Write) {
        let mut failure = None;
        while let (None, Some(text)) = (&failure, self.next()) {
            // While nothing else is there to be written somebody may look at it.
            failure = out.write_all(text.as_bytes()).and_then(|()| out.flush()).err();
        }
        let mut state = self.lock();
        (state.is_over, state.failure) = (true, failure);
        self.news.notify_all();
    }

    /// Waits for something to write. `None` if nothing more comes.
    fn next(&self) -> Option<String> {
        let idle = |state: &mut State| state.waiting.is_empty() && !state.is_closed;
        let waited = self.news.wait_while(self.lock(), idle);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let mut text = std::mem::take(&mut state.waiting);
        if let lost @ 1.. = std::mem::take(&mut state.lost) {
            text.push_str(&left_out(lost));
        }
        (!text.is_empty()).then_some(text)
    }
}

fn left_out(lost: u64) -> String {
    format!("# {lost} entries are left out: the log could not keep up\n")
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// Writes nothing until it is told to.
    struct Stalled {
        go_on: Receiver<()>,
        written: Sender<Vec<u8>>,
    }

    impl Write for Stalled {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // Without a sender it goes on.
            let _ = self.go_on.recv();
            self.written.send(bytes.to_vec()).map_err(io::Error::other)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_cannot_wait_is_counted_and_nobody_waits_for_it() {
        let (go_on, on_go) = channel();
        let (written, on_written) = channel();
        let sink = Sink::new(Stalled { go_on: on_go, written }).expect("a thread");
        let entry = format!("{}\n", "x".repeat(1 << 20));
        let entries = 2 * BACKLOG / entry.len() + 2;
        for _ in 0..entries {
            sink.add(&entry);
        }
        drop(go_on);
        assert!(sink.finish().is_none());
        let text: Vec<u8> = on_written.try_iter().flatten().collect();
        let text = String::from_utf8(text).expect("text");
        let kept = text.lines().filter(|line| line.starts_with('x')).count();
        let last = text.lines().last().expect("a line");
        let lost = entries - kept;
        assert!(0 < lost && 0 < kept, "{kept} of {entries}");
        assert_eq!(last, format!("# {lost} entries are left out: the log could not keep up"));
    }

    #[test]
    fn a_failure_is_told_in_the_end() {
        let (written, on_written) = channel();
        let sink = Sink::new(Stalled { go_on: channel().1, written }).expect("a thread");
        drop(on_written);
        sink.add("entry\n");
        assert!(sink.finish().is_some());
    }

    #[test]
    fn a_writer_that_never_goes_on_is_not_waited_for() {
        let (_go_on, on_go) = channel();
        let sink = Sink::new(Stalled { go_on: on_go, written: channel().0 }).expect("a thread");
        sink.add("entry\n");
        let failure = sink.finish().expect("a failure");
        assert_eq!(failure.kind(), io::ErrorKind::TimedOut);
    }
}
