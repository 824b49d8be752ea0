//! A NATS server with its counters.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// A server, which is killed on drop.
pub(crate) struct Server {
    child: Child,
    port: u16,
    monitor: u16,
    _store: TempDir,
}

/// The counters of a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counters {
    pub(crate) received: f64,
    pub(crate) sent: f64,
}

impl Server {
    pub(crate) fn start() -> Self {
        let store = TempDir::new().expect("a directory");
        let [port, monitor] = free_ports();
        let mut command = Command::new("nats-server");
        command.args(["-js", "-a", "127.0.0.1", "-p", &port.to_string()]);
        command.args(["-m", &monitor.to_string(), "-sd"]).arg(store.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().expect("nats-server is installed");
        let server = Self { child, port, monitor, _store: store };
        for port in [port, monitor] {
            while TcpStream::connect(("127.0.0.1", port)).is_err() {
                thread::sleep(Duration::from_millis(20));
            }
        }
        server
    }

    pub(crate) fn address(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn counters(&self) -> Counters {
        let all = self.read("varz");
        let number = |name: &str| all[name].as_f64().expect("a number");
        Counters { received: number("in_msgs"), sent: number("out_msgs") }
    }

    /// The number of consumers of streams.
    pub(crate) fn consumers(&self) -> f64 {
        self.read("jsz")["consumers"].as_f64().expect("a number")
    }

    fn read(&self, page: &str) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.monitor)).expect("a server");
        write!(stream, "GET /{page} HTTP/1.0\r\n\r\n").expect("a server");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("an answer");
        let (_, body) = text.split_once("\r\n\r\n").expect("a body");
        serde_json::from_str(body).expect("JSON")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_ports() -> [u16; 2] {
    // Both are open at the same time, so that they differ.
    let listeners = [0, 0].map(|port| TcpListener::bind(("127.0.0.1", port)).expect("a port"));
    listeners.map(|listener| listener.local_addr().expect("an address").port())
}
