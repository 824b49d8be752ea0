//! A terminal that keeps what it gets.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// What a terminal gets.
#[derive(Clone, Default)]
pub(crate) struct Terminal(Arc<Mutex<Vec<u8>>>);

impl Terminal {
    pub(crate) fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut *self.0.lock().expect("one thread"))).expect("UTF-8")
    }
}

impl Write for Terminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("one thread").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
