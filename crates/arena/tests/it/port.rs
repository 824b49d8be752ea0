//! Ports for the servers of tests.

use std::net::TcpListener;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// Systems take the ports of connections, and those that nobody has named, from 32768 on or later.
const NAMED: std::ops::Range<u32> = 10_000..32_768;

/// A port of this machine that nobody uses, and that nobody is given who does not name it: it stays free until its
/// server starts, and while that starts anew.
pub(crate) fn free_port() -> u16 {
    static TAKEN: AtomicU32 = AtomicU32::new(0);
    // Processes that follow each other do not ask for the same ports.
    let first = process::id().wrapping_mul(97);
    let mut next = NAMED.map(|_| {
        let port = first.wrapping_add(TAKEN.fetch_add(1, Ordering::Relaxed));
        u16::try_from(NAMED.start + port % (NAMED.end - NAMED.start)).expect("a port")
    });
    next.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).expect("a free port")
}
