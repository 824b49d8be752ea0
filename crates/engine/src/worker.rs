//! The thread that owns the engine and executes jobs sequentially.

use std::sync::mpsc::{Receiver, SyncSender};

use readyok_protocol::session::engine::SearchRequest;
use readyok_protocol::{
    BestMove, Checkmate, Dialect, Move, MoveList, OptionValue, Position, Register,
};

use crate::control::Control;
use crate::corrections;
use crate::engine::Engine;
use crate::event::{Event, catch, info_string, try_catch};
use crate::license::License;
use crate::options::Options;

#[derive(Debug)]
pub(crate) enum Job {
    SetOption { name: String, value: OptionValue },
    SetDialect(Dialect),
    CheckLicense,
    Register(Register<'static>),
    NewGame,
    Prepare,
    Custom(CustomCommand),
    Search(Box<SearchRequest>, Control),
    Solve(Box<SearchRequest>, Control),
}

/// A line outside the protocol, or `go perft`.
#[derive(Debug)]
pub(crate) struct CustomCommand {
    pub(crate) line: String,
    /// `None` if the last one was invalid.
    pub(crate) position: Option<Position<'static>>,
    /// Sent if the engine does not have the command.
    pub(crate) otherwise: Option<&'static str>,
}

/// Executes jobs until the channel is closed.
pub(crate) fn work<E: Engine>(
    mut engine: E,
    mut options: Options,
    mut license: License,
    jobs: &Receiver<Job>,
    events: &SyncSender<Event>,
) {
    for job in jobs {
        let event = match job {
            Job::SetOption { name, value } => {
                catch(events, "an option", || options.apply(&name, &value));
                send_messages(&mut engine, events);
                continue;
            }
            Job::SetDialect(dialect) => {
                catch(events, "the handshake", || engine.set_dialect(dialect));
                continue;
            }
            Job::CheckLicense => {
                license.check(events);
                continue;
            }
            Job::Register(with) => {
                license.register(with, events);
                continue;
            }
            Job::NewGame => {
                catch(events, "the new game", || engine.new_game());
                send_messages(&mut engine, events);
                continue;
            }
            Job::Prepare => {
                catch(events, "the preparation", || engine.prepare());
                send_messages(&mut engine, events);
                Event::Prepared
            }
            Job::Custom(CustomCommand { line, position, otherwise }) => {
                // The receiver is missing if the engine is about to exit.
                let mut print = |text: &str| drop(events.send(Event::Output(text.to_owned())));
                let known = catch(events, "the command", || {
                    engine.custom_command(&line, position.as_ref(), &mut print)
                });
                if let (Some(false), Some(text)) = (known, otherwise) {
                    info_string(events, text.to_owned());
                }
                Event::CommandDone
            }
            Job::Search(request, control) => {
                let found = try_catch(events, "the search", || engine.search(&request, &control));
                let checked = found.and_then(|best| check::<E>(best, &request, events));
                Event::BestMove(
                    checked.unwrap_or_else(|| fallback(&engine, &request, &control, events)),
                )
            }
            Job::Solve(request, control) => {
                let solved = try_catch(events, "the search", || engine.solve(&request, &control));
                Event::Checkmate(solved.unwrap_or(Checkmate::Timeout))
            }
        };
        if events.send(event).is_err() {
            return;
        }
    }
}

fn send_messages(engine: &mut impl Engine, events: &SyncSender<Event>) {
    for text in catch(events, "a message", || engine.drain_messages()).unwrap_or_default() {
        info_string(events, text);
    }
}

/// Checks and corrects the answer of a search. `None` if its move is illegal.
fn check<E: Engine>(
    best: BestMove<'static>,
    request: &SearchRequest,
    events: &SyncSender<Event>,
) -> Option<BestMove<'static>> {
    let checked =
        catch(events, "the board", || corrections::correct_answer::<E::Board>(best, request));
    let (best, corrections) = checked?;
    for (correction, text) in corrections {
        // The receiver is missing if the engine is about to exit.
        let _ = events.send(Event::Corrected(correction, text));
    }
    best
}

/// Maximum number of `searchmoves` that are candidates after a failed search.
const MAX_CANDIDATES: usize = 64;

/// The move after a failed search.
fn fallback(
    engine: &impl Engine,
    request: &SearchRequest,
    control: &Control,
    events: &SyncSender<Event>,
) -> BestMove<'static> {
    let reported = *control.first_move();
    let search_moves =
        request.go.search_moves.iter().flat_map(MoveList::moves).take(MAX_CANDIDATES);
    let candidates: Vec<Move> = reported.into_iter().chain(search_moves).collect();
    let found = catch(events, "the fallback", || engine.fallback(request, &candidates));
    found.unwrap_or_else(|| candidates.first().copied()).into()
}
