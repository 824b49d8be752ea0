//! Passes bytes on from one side to the other, and reports them.

use std::io::{self, Read, Write};
use std::sync::mpsc::SyncSender;
use std::thread;

use readyok_protocol::Party;

use super::Event;
use crate::clock::now;

/// How much is passed on at once.
const CHUNK: usize = 64 * 1024;

/// Starts a thread that reads from one side until its end and passes everything on at once.
///
/// The bytes are reported before they are passed on, so that an answer to them is never reported
/// first. When a client is gone its engine's output is closed, so that the engine learns of it as it
/// would without us. A client's cannot be closed: when the engine is gone the rest is read and reported
/// all the same, since the client would otherwise be stuck. When `from` ends, `to` is closed, and the
/// end reported.
pub(super) fn start(
    side: Party,
    from: impl Read + Send + 'static,
    to: impl Write + Send + 'static,
    events: SyncSender<Event>,
) -> io::Result<()> {
    let name = format!("relay of the {side}");
    // Nobody joins the thread: the client may keep its end open for ever.
    thread::Builder::new().name(name).spawn(move || pass_on(side, from, to, &events)).map(drop)
}

fn pass_on(side: Party, mut from: impl Read, to: impl Write, events: &SyncSender<Event>) {
    let mut to = Some(to);
    let mut chunk = vec![0; CHUNK];
    loop {
        let bytes = match from.read(&mut chunk) {
            Ok(count) if 0 < count => chunk.get(..count).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(_) | Err(_) => break,
        };
        if events.send(Event::Said { side, at: now(), bytes: bytes.into() }).is_err() {
            return;
        }
        to = to.and_then(|mut to| to.write_all(bytes).and_then(|()| to.flush()).ok().map(|()| to));
        if to.is_none() && side == Party::Engine {
            let _ = events.send(Event::Deaf);
            break;
        }
    }
    // Without a receiver the tap is at its end already. What follows from the end is told after it.
    let _ = events.send(Event::Closed(side));
    drop(to);
    drop(from);
}
