//! Connections to a server that can be cut.

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A port that forwards connections to a server, unless it is cut.
pub(crate) struct Cable {
    pub(crate) port: u16,
    /// The ends of all connections; none while it is cut.
    ends: Arc<Mutex<Option<Vec<TcpStream>>>>,
}

impl Cable {
    pub(crate) fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let ends = Arc::new(Mutex::new(Some(Vec::new())));
        let open = Arc::clone(&ends);
        thread::spawn(move || {
            for here in listener.incoming().map_while(Result::ok) {
                // A connection that is dropped is closed.
                let Ok(there) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                let mut open = open.lock().expect("no panic");
                let Some(ends) = open.as_mut() else { continue };
                for (from, to) in [(&here, &there), (&there, &here)]
                    .map(|(a, b)| (a.try_clone(), b.try_clone()))
                    .map(|(a, b)| (a.expect("a handle"), b.expect("a handle")))
                {
                    thread::spawn(move || forward(&from, &to));
                }
                ends.extend([here, there]);
            }
        });
        Self { port, ends }
    }

    /// Cuts the connections, or permits new ones.
    pub(crate) fn set_connected(&self, is_connected: bool) {
        let mut ends = self.ends.lock().expect("no panic");
        if ends.is_some() == is_connected {
            return;
        }
        let before = std::mem::replace(&mut *ends, is_connected.then(Vec::new));
        for end in before.into_iter().flatten() {
            // The other end may be closed already.
            let _ = end.shutdown(Shutdown::Both);
        }
    }
}

/// Copies all bytes. The end of one connection is that of the other one.
fn forward(mut from: &TcpStream, mut to: &TcpStream) {
    // The ends may be closed.
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}
