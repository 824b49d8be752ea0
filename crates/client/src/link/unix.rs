//! Where streams can be polled: a pump reads and writes all of them.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::task::Waker;
use std::time::Instant;

use readyok_protocol::Dialect;
use smallvec::SmallVec;

use super::{Link, Reader};
use crate::inbox::Inbox;
use crate::process::Process;
use crate::pump::{Ends, Pump};
use crate::sync::park_until;
use crate::threads;

impl Link {
    /// Talks over files that can be polled.
    pub(super) fn polled(
        output: impl Into<OwnedFd>,
        input: impl Into<OwnedFd>,
        dialect: Dialect,
        reader: Reader,
    ) -> io::Result<Self> {
        let ends = Ends { input: input.into(), output: output.into(), stderr: None };
        Self::pumped(ends, None, dialect, reader)
    }

    pub(super) fn pumped(
        ends: Ends,
        process: Option<Arc<Process>>,
        dialect: Dialect,
        reader: Reader,
    ) -> io::Result<Self> {
        let pump = Arc::new(Pump::new(ends, process.clone(), Inbox::new(dialect))?);
        let (inbox, outbox) = (Arc::clone(&pump.inbox), Arc::clone(&pump.outbox));
        if reader == Reader::Thread {
            let pump = Arc::clone(&pump);
            threads::spawn("engine-pump", move || pump.run())?;
        }
        let mut link = Self::new(inbox, outbox, Arc::clone(&pump.errors));
        (link.process, link.pump, link.reader) = (process, Some(pump), reader);
        Ok(link)
    }

    /// Reads whatever has come, without waiting.
    pub(crate) fn drain(&self) {
        if let Some(pump) = &self.pump {
            pump.drain();
        }
    }
}

pub(super) fn wait(
    links: &[&Link],
    until: Option<Instant>,
    timed: bool,
    mut happened: impl FnMut(&Waker) -> bool,
) {
    let by_caller = links.iter().filter(|link| link.reader == Reader::Caller);
    let pumps: SmallVec<[&Pump; 2]> = by_caller.filter_map(|link| link.pump.as_deref()).collect();
    match pumps.first() {
        Some(first) => Pump::turn(&pumps, until, timed, || happened(first.waker())),
        None => park_until(until, happened),
    }
}

/// Has a thread reap a process that nobody else will.
pub(super) fn leave(link: &mut Link) {
    let Some(pump) = link.pump.take().filter(|_| link.reader == Reader::Caller) else { return };
    let Some(process) = link.process.as_ref().filter(|it| it.status().is_none()) else {
        return;
    };
    if threads::spawn("engine-reap", move || pump.run()).is_err() {
        process.kill_and_reap();
    }
}
