//! A NATS server for tests.

use std::ffi::OsString;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, SystemTime};

/// Timeout of the start.
const TIMEOUT: Duration = Duration::from_mins(2);

/// A server with JetStream, which is killed on drop.
pub(crate) struct NatsServer(pub(crate) Child);

impl NatsServer {
    /// Starts `nats-server` with a data directory and additional arguments.
    pub(crate) fn start(program: &Path, port: u16, store: &Path, more: &[OsString]) -> Self {
        let mut command = Command::new(program);
        command.args(["-js", "-sd"]).arg(store).args(more);
        Self::spawn(command.args(address(port)), port)
    }

    /// Starts `nats-server` without JetStream.
    pub(crate) fn start_without_jetstream(program: &Path, port: u16) -> Self {
        Self::spawn(Command::new(program).args(address(port)), port)
    }

    /// Starts a command, and waits until it listens on the port.
    pub(crate) fn spawn(command: &mut Command, port: u16) -> Self {
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("nats-server starts");
        let mut server = Self(child);
        let until = SystemTime::now() + TIMEOUT;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(server.0.try_wait().expect("a process").is_none(), "nats-server has ended");
            assert!(SystemTime::now() < until, "nats-server does not listen");
            thread::yield_now();
        }
        server
    }
}

/// Arguments that let the server listen on this port.
fn address(port: u16) -> [String; 4] {
    ["-a", "127.0.0.1", "-p", &port.to_string()].map(str::to_owned)
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        // It may have exited.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
