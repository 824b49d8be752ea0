//! The interface of an engine.

use readyok_protocol::session::engine::SearchRequest;
use readyok_protocol::{Checkmate, Dialect, Move, Position};

use crate::board::Board;
use crate::control::Control;
use crate::error::{Answer, Failure};

/// An engine. The runtime handles the protocol.
///
/// All methods are called sequentially on one thread.
pub trait Engine: Send + 'static {
    /// The board for checks of the answer: one with an adapter, one of the author, or
    /// [`NoBoard`](crate::NoBoard) for an engine that implements [`fallback`](Self::fallback).
    ///
    /// With a board, the runtime writes castling in the notation of the client, omits an impossible ponder
    /// move, and replaces an illegal move by that of [`fallback`](Self::fallback). It reports each of these
    /// as `info string`, as a bug of the engine.
    type Board: Board;

    /// Searches until a limit is reached or the search is stopped, and returns the move.
    ///
    /// Poll [`Control::stopped`] often: it is cheap, and becomes true at `stop` and at the time limit. A
    /// search may return early; the runtime delays the answer to `go infinite` and `go ponder` until the
    /// client allows it.
    ///
    /// The runtime enforces time: it stops the search at the end of [`Control::budget`]. The engine must
    /// enforce all other limits of the request:
    ///
    /// - [`depth`](readyok_protocol::Go::depth) and [`nodes`](readyok_protocol::Go::nodes): return when one is
    ///   reached.
    /// - [`mate`](readyok_protocol::Go::mate) with a number of moves, if the engine
    ///   [searches for mates](Self::searches_for_mate).
    /// - [`search_moves`](readyok_protocol::Go::search_moves): answer with one of these moves.
    /// - `MultiPV`, if the engine declares this [option](crate::Options::multipv): report this number of
    ///   variations per depth.
    ///
    /// [`Board::answer`] and [`Board::encode_line`] write moves of the board.
    ///
    /// After an error or a panic, the move of [`fallback`](Self::fallback) is the answer.
    ///
    /// # Errors
    /// The search failed, for example because the position is invalid.
    #[doc(alias("go", "depth", "nodes", "searchmoves", "multipv"))]
    fn search(&mut self, request: &SearchRequest, control: &Control) -> Answer;

    /// Whether [`search`](Self::search) ends at a mate in the given number of moves (`go mate 3` of UCI), and
    /// when none is found. Otherwise it receives no such limit: without another limit the runtime ends the
    /// search after one second ([`SearchRequest::DEFAULT_TIME`]), with an `info string`.
    #[doc(alias = "mate")]
    fn searches_for_mate(&self) -> bool {
        false
    }

    /// Searches for a mate (`go mate` of USI). Optional: without it the answer is `checkmate notimplemented`.
    ///
    /// # Errors
    /// As in [`search`](Self::search). The answer is `checkmate timeout` then.
    fn solve(
        &mut self,
        _request: &SearchRequest,
        _control: &Control,
    ) -> Result<Checkmate<'static>, Failure> {
        Ok(Checkmate::NotImplemented)
    }

    /// Sets the protocol of the client. Called once, before all other methods.
    fn set_dialect(&mut self, _dialect: Dialect) {}

    /// Resets the state of the last game.
    fn new_game(&mut self) {}

    /// Prepares the first search with the current options, for example by loading files.
    fn prepare(&mut self) {}

    /// Returns new messages for the user, which are sent as `info string`. Called after each option, new game
    /// and preparation; a search uses [`Control::info_string`].
    fn drain_messages(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Handles a line that is not a command of the protocol, such as `bench`, on the engine's thread. Returns whether the
    /// engine has this command. The line is also `go perft` with a depth, which counts leaf nodes; an engine without it is reported.
    ///
    /// The position is that of the last `position`, `None` if it was invalid. `print` sends lines to the client unchanged.
    /// Lines that arrive during a search, or that are longer than 4096 bytes, are ignored. A command that arrives before
    /// `quit` or the end of the input is completed.
    #[doc(alias = "perft")]
    fn custom_command(
        &mut self,
        _line: &str,
        _position: Option<&Position<'static>>,
        _print: &mut dyn FnMut(&str),
    ) -> bool {
        false
    }

    /// The move after a failed search, or instead of an illegal one: the first legal one of `candidates`, or
    /// any legal one. `None` if no move is legal.
    ///
    /// The candidates are the first move of the last reported PV, followed by some of the `searchmoves`.
    /// They are not checked. An engine for several games calls [`Board::legal_move`] of the right board.
    fn fallback(&self, request: &SearchRequest, candidates: &[Move]) -> Option<Move> {
        Self::Board::legal_move(request, candidates)
    }
}
