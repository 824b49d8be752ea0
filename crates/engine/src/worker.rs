//! The thread that owns the engine and does one job after another.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender};

use readyok_protocol::session::engine::SearchRequest;
use readyok_protocol::{BestMove, Checkmate, Dialect, Move, MoveList, OptionValue, Register};

use crate::licence::Licence;
use crate::server::Event;
use crate::{Control, Engine, Failure, Options};

/// Something for the engine to do.
#[derive(Debug)]
pub(crate) enum Job {
    SetOption { name: String, value: OptionValue },
    Greeted(Dialect),
    CheckLicence,
    Register(Register<'static>),
    NewGame,
    Prepare,
    Custom(String),
    Search(Box<SearchRequest>, Control),
    Solve(Box<SearchRequest>, Control),
}

/// Works until there are no more jobs.
pub(crate) fn work(
    mut engine: impl Engine,
    mut options: Options,
    mut licence: Licence,
    jobs: &Receiver<Job>,
    events: &SyncSender<Event>,
) {
    for job in jobs {
        let done = match job {
            Job::SetOption { name, value } => {
                caught(events, "an option", || options.apply(&name, &value));
                tell_remarks(&mut engine, events);
                continue;
            }
            Job::Greeted(dialect) => {
                caught(events, "the handshake", || engine.greeted(dialect));
                continue;
            }
            Job::CheckLicence => {
                licence.check(events);
                continue;
            }
            Job::Register(with) => {
                licence.register(with, events);
                continue;
            }
            Job::NewGame => {
                caught(events, "the new game", || engine.new_game());
                tell_remarks(&mut engine, events);
                continue;
            }
            Job::Prepare => {
                caught(events, "the preparation", || engine.prepare());
                tell_remarks(&mut engine, events);
                Event::Prepared
            }
            Job::Custom(line) => {
                // Without a receiver the engine is about to end.
                let mut print = |text: &str| drop(events.send(Event::Output(text.to_owned())));
                caught(events, "the command", || engine.custom_command(&line, &mut print));
                continue;
            }
            Job::Search(request, control) => {
                let found = passed(events, "the search", || engine.search(&request, &control));
                Event::Found(found.unwrap_or_else(|| fallback(&engine, &request, &control, events)))
            }
            Job::Solve(request, control) => {
                let solved = passed(events, "the search", || engine.solve(&request, &control));
                Event::Solved(solved.unwrap_or(Checkmate::Timeout))
            }
        };
        if events.send(done).is_err() {
            return;
        }
    }
}

/// Does something of the author's, and tells if it panics.
fn caught<T>(events: &SyncSender<Event>, what: &str, act: impl FnOnce() -> T) -> Option<T> {
    // An engine that has panicked may be in disorder, but it is all that there is to play on with.
    match catch_unwind(AssertUnwindSafe(act)) {
        Ok(value) => Some(value),
        Err(panic) => {
            remark(events, format!("{what} panicked: {}", panic_text(&*panic)));
            None
        }
    }
}

/// Does something of the author's, and tells if it fails or panics.
pub(crate) fn passed<T>(
    events: &SyncSender<Event>,
    what: &str,
    act: impl FnOnce() -> Result<T, Failure>,
) -> Option<T> {
    let done = caught(events, what, act)?;
    done.map_err(|error| remark(events, format!("{what} failed: {error}"))).ok()
}

fn tell_remarks(engine: &mut impl Engine, events: &SyncSender<Event>) {
    for text in caught(events, "a remark", || engine.remarks()).unwrap_or_default() {
        remark(events, text);
    }
}

fn remark(events: &SyncSender<Event>, text: String) {
    // Without a receiver the engine is about to end.
    let _ = events.send(Event::InfoString(text));
}

/// So many of the moves that a client named are looked at for a search that failed.
const NAMED: usize = 64;

/// A move for a search that failed: what it would have played, if that is legal, or any that is.
fn fallback(
    engine: &impl Engine,
    request: &SearchRequest,
    control: &Control,
    events: &SyncSender<Event>,
) -> BestMove<'static> {
    let told = *control.first_move();
    let named = request.go.search_moves.iter().flat_map(MoveList::moves).take(NAMED);
    let wanted: Vec<Move> = told.into_iter().chain(named).collect();
    let found = caught(events, "the fallback", || engine.fallback(request, &wanted));
    found.unwrap_or_else(|| wanted.first().copied()).into()
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}
