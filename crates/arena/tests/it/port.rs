//! Free ports for servers of tests.

use std::net::TcpListener;
use std::ops::Range;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// Below the ephemeral ports of operating systems, which start at 32768 or later.
const PORTS: Range<u32> = 10_000..32_768;

/// An unused port outside of the ephemeral range: it stays free until its server starts, and while it restarts.
pub(crate) fn free_port() -> u16 {
    static TAKEN: AtomicU32 = AtomicU32::new(0);
    // Consecutive processes start at different ports.
    let first = process::id().wrapping_mul(97);
    let mut next = PORTS.map(|_| {
        let port = first.wrapping_add(TAKEN.fetch_add(1, Ordering::Relaxed));
        u16::try_from(PORTS.start + port % (PORTS.end - PORTS.start)).expect("a port")
    });
    next.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).expect("a free port")
}
