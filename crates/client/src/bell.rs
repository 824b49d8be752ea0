//! Ends the wait for streams from another thread. Ringing is free while nobody waits.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Wake;

use rustix::io::ioctl_fionbio;

#[derive(Debug)]
pub(crate) struct Bell {
    /// Can be read when it has rung.
    pub(crate) reader: PipeReader,
    writer: PipeWriter,
    armed: AtomicBool,
}

impl Bell {
    pub(crate) fn new() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        ioctl_fionbio(&reader, true)?;
        ioctl_fionbio(&writer, true)?;
        Ok(Self { reader, writer, armed: AtomicBool::new(false) })
    }

    /// Somebody is about to wait. What he looks at afterwards is not missed.
    pub(crate) fn arm(&self) {
        self.armed.store(true, Ordering::SeqCst);
    }

    pub(crate) fn disarm(&self) {
        self.armed.store(false, Ordering::SeqCst);
    }

    /// Makes it silent again.
    pub(crate) fn hush(&self) {
        // It is silent already if nothing can be read.
        let _ = (&self.reader).read(&mut [0; 16]);
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.armed.swap(false, Ordering::SeqCst) {
            // If it is full it rings.
            let _ = (&self.writer).write(&[1]);
        }
    }
}
