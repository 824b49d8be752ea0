//! What an author implements.

use std::error::Error;

use readyok_protocol::session::engine::SearchRequest;
use readyok_protocol::{BestMove, Checkmate, Dialect, Move};

use crate::{Board, Control};

/// Why a search could not be done. Its text is reported as `info string`.
pub type Failure = Box<dyn Error + Send + Sync>;

/// What a search comes to.
pub type Answer = Result<BestMove<'static>, Failure>;

/// An engine, as the runtime sees it. It never sees a line of the protocol.
///
/// All methods are called on one thread, one after the other.
pub trait Engine: Send + 'static {
    /// Where it can be seen which moves are legal, for when a search fails: a board of a crate with
    /// an adapter, one of the author's, or [`NoBoard`](crate::NoBoard) for an engine that says it
    /// in [`fallback`](Self::fallback).
    type Board: Board;

    /// Searches until done or asked to stop, and returns the move.
    ///
    /// Ask [`Control::stopped`] often: it is cheap, and true as soon as the client says `stop` or
    /// the time is up. A search may return early in any case; the runtime holds the move of
    /// `go infinite` and `go ponder` back until the client wants it.
    ///
    /// The runtime enforces time: it stops the search when [`Control::budget`] is used up. The
    /// engine must enforce every other limit of the request:
    ///
    /// - [`depth`](readyok_protocol::Go::depth), [`nodes`](readyok_protocol::Go::nodes), and
    ///   [`mate`](readyok_protocol::Go::mate) with a number of moves: return when one is reached.
    /// - [`search_moves`](readyok_protocol::Go::search_moves): play one of these moves.
    /// - `MultiPV`, if the engine declares this option: send that many lines for each depth.
    ///
    /// On an error, or if the search panics, the move of [`fallback`](Self::fallback) is played.
    ///
    /// # Errors
    /// The position cannot be searched, or the like.
    #[doc(alias("go", "depth", "nodes", "searchmoves", "multipv"))]
    fn search(&mut self, request: &SearchRequest, control: &Control) -> Answer;

    /// Searches for a mate (`go mate` of USI). Engines that cannot need not implement it.
    ///
    /// # Errors
    /// As for [`search`](Self::search). The answer is then that the time ran out.
    fn solve(
        &mut self,
        _request: &SearchRequest,
        _control: &Control,
    ) -> Result<Checkmate<'static>, Failure> {
        Ok(Checkmate::NotImplemented)
    }

    /// Receives which protocol the client speaks. Called once, before everything else.
    fn greeted(&mut self, _dialect: Dialect) {}

    /// Forgets the last game.
    fn new_game(&mut self) {}

    /// Does what takes long before the first search, with the options as they are now.
    fn prepare(&mut self) {}

    /// New messages for the user, sent as `info string`. Called after each option that was set, each new
    /// game and each preparation; a search uses [`Control::say`].
    fn remarks(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Handles a line that is no command of the protocol, such as `bench`, on the engine's thread.
    /// `print` sends lines to the client as they are. Lines that arrive during a search, or that
    /// are longer than 4096 bytes, are ignored.
    fn custom_command(&mut self, _line: &str, _print: &mut dyn FnMut(&str)) {}

    /// The move to play after a search that failed: the first of `wanted` that is legal, or any
    /// that is. `None` if there is none.
    ///
    /// Wanted are the first move of the best line that the search told, and after it those that the
    /// client named, of which a few are enough. Nobody has checked any of them. An engine that plays several
    /// games asks [`Board::legal_move`] of the right board.
    fn fallback(&self, request: &SearchRequest, wanted: &[Move]) -> Option<Move> {
        Self::Board::legal_move(&request.position, wanted)
    }
}
