//! HTTP servers of tests: connections, requests and answers.

use std::io::{self, BufRead, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// Serves each connection in a thread, until the process ends. Returns the address.
pub(crate) fn listen(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = Arc::clone(&serve);
            thread::spawn(move || serve(stream));
        }
    });
    address
}

/// The head of a request.
pub(crate) struct Head {
    pub(crate) method: String,
    pub(crate) path: String,
    headers: Vec<(String, String)>,
}

impl Head {
    /// Reads a head. `None` at the end of the connection.
    pub(crate) fn read(reader: &mut impl BufRead) -> Option<Self> {
        let mut line = String::new();
        let mut next = |reader: &mut dyn BufRead| {
            line.clear();
            let length = reader.read_line(&mut line).ok()?;
            (0 < length).then(|| line.trim_end().to_owned())
        };
        let first = next(reader)?;
        let mut parts = first.split(' ').map(str::to_owned);
        let (method, path) = (parts.next()?, parts.next()?);
        let mut headers = Vec::new();
        loop {
            let line = next(reader)?;
            if line.is_empty() {
                return Some(Self { method, path, headers });
            }
            let (name, value) = line.split_once(": ").expect("a header");
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
    }

    /// The value of a header; empty without it.
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).unwrap_or_default()
    }

    /// Reads the body.
    pub(crate) fn body(&self, reader: &mut impl BufRead) -> String {
        let mut body = vec![0; self.header("content-length").parse().unwrap_or(0)];
        reader.read_exact(&mut body).expect("a body");
        String::from_utf8(body).expect("UTF-8")
    }
}

/// Answers a request. Additional headers end with CR LF.
pub(crate) fn answer(
    stream: &mut TcpStream,
    status: u16,
    headers: &str,
    body: &str,
) -> io::Result<()> {
    let length =
        if status == 204 { String::new() } else { format!("content-length: {}\r\n", body.len()) };
    let head = format!("HTTP/1.1 {status} Status\r\n{headers}{length}\r\n");
    stream.write_all(format!("{head}{body}").as_bytes())
}
