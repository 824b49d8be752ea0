//! The threads behind an engine: small, named, and never waited for.

use std::io;
use std::thread;

/// Starts a thread that ends by itself when its stream or its process does.
pub(crate) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).stack_size(256 << 10).spawn(work).map(drop)
}
