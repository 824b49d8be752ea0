//! A connection to an engine that somebody else has started.

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// So long an address may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection. Dropping it ends it, whatever the other side does.
#[derive(Debug)]
pub(crate) struct Connection(TcpStream);

/// The end that is written to. Dropping it ends the engine's input, and no more.
#[derive(Debug)]
pub(crate) struct Input(TcpStream);

impl Connection {
    /// Connects to `host:port`.
    pub(crate) fn open(address: &str) -> io::Result<Self> {
        let mut last = io::ErrorKind::AddrNotAvailable.into();
        for address in address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, PATIENCE) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    return Ok(Self(stream));
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Both ends.
    pub(crate) fn ends(&self) -> io::Result<(Input, TcpStream)> {
        Ok((Input(self.0.try_clone()?), self.0.try_clone()?))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

impl Write for Input {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        let _ = self.0.shutdown(Shutdown::Write);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn the_input_ends_alone_and_the_connection_whatever_the_other_side_does() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let connection = Connection::open(&address).expect("it listens");
        let (mut theirs, _) = listener.accept().expect("a connection");
        let (mut input, mut output) = connection.ends().expect("two ends");
        input.write_all(b"uci\n").expect("it is open");
        drop(input);
        let mut heard = String::new();
        theirs.read_to_string(&mut heard).expect("it ends");
        assert_eq!(heard, "uci\n");
        theirs.write_all(b"uciok\n").expect("it is open still");
        drop(connection);
        heard.clear();
        // The other side keeps its end.
        output.read_to_string(&mut heard).expect("it ends");
        assert!(heard.is_empty() || heard == "uciok\n", "{heard}");
    }
}
