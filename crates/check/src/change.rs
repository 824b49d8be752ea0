//! Changes of a dialogue. A failed check is repeated with one of them: if it passes then, the change names the cause.

use crate::message::{Message, message};

/// One difference between a dialogue that fails and one that works.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum Change {
    /// `bestmove` without a search is removed, after the next `isready` at the latest.
    ExtraBestMove,
    /// `info` without a search is removed.
    LateInfo,
    /// Lines before `uci`, and a second handshake, are removed.
    UnpromptedHandshake,
    /// Text before a message is removed.
    PlainLines,
    /// Lines that are no messages of the protocol are removed.
    OtherLines,
    /// Castling is rewritten in the form of the protocol.
    CastlingForm,
    /// Moves are rewritten in the form of the protocol.
    MoveForm,
    /// Scores of the second player are negated.
    ScoreSide,
    /// Mates are counted in the unit of the protocol.
    MateUnit,
    /// Tokens are separated by single spaces.
    SingleSpaces,
    /// Lines end with a line feed.
    LineFeeds,
    /// Each line is one write.
    WholeLines,
    /// Each write is one line.
    SingleLines,
    /// Empty lines are not sent.
    NoEmptyLines,
    /// Unknown commands are not sent.
    NoUnknownCommands,
    /// A `position` that is longer than 500 bytes is sent as its last position.
    ShortLines,
    /// The position is sent again before `go`.
    PositionAgain,
    /// `ucinewgame` is sent before the first search.
    NewGameFirst,
    /// `ucinewgame` is sent before each position that does not continue the last one.
    NewGameEach,
    /// The colors of a position with the second player to move are exchanged.
    FirstPlayerMoves,
    /// A FEN or SFEN is sent as moves from the start position.
    MovesFromStart,
    /// Moves after a position are sent as the resulting FEN or SFEN.
    FenAfterMoves,
    /// The times of White and Black are exchanged.
    SwappedClocks,
    /// A search with `movestogo` has none.
    NoMovesToGo,
    /// A search with increments has none.
    NoIncrement,
    /// `isready` is not sent in a search.
    NoReadyInSearch,
    /// `bestmove` of `go infinite` is held until `stop`.
    HeldInfinite,
    /// `bestmove` of `go ponder` is held until `ponderhit` or `stop`.
    HeldPonder,
    /// `stop` follows `go` after a pause.
    LaterStop,
    /// `go nodes` is sent as `go depth`.
    NodesAsDepth,
    /// `go movetime` is sent as `go depth`.
    MoveTimeAsDepth,
    /// `go mate` is sent as `go depth`.
    MateAsDepth,
    /// `go` with clocks is sent as `go depth`.
    ClocksAsDepth,
    /// `isready` is not sent.
    NoReady,
    /// `stop` is sent before `quit`.
    StopBeforeQuit,
    /// The input ends after `quit`.
    EndAfterQuit,
    /// `quit` is sent before the input ends.
    QuitBeforeEnd,
    /// `searchmoves` restricts the replies.
    SearchMoves,
    /// Each command follows the one before it after a pause.
    Pauses,
    /// An illegal `bestmove` is replaced by a legal move.
    LegalMoves,
}

impl Change {
    /// All changes. Of two that repair the same failure the first one is the more specific.
    pub(crate) const ALL: [Self; 40] = [
        Self::ExtraBestMove,
        Self::LateInfo,
        Self::UnpromptedHandshake,
        Self::PlainLines,
        Self::OtherLines,
        Self::CastlingForm,
        Self::MoveForm,
        Self::ScoreSide,
        Self::MateUnit,
        Self::SingleSpaces,
        Self::LineFeeds,
        Self::WholeLines,
        Self::SingleLines,
        Self::NoEmptyLines,
        Self::NoUnknownCommands,
        Self::ShortLines,
        Self::PositionAgain,
        Self::NewGameFirst,
        Self::NewGameEach,
        Self::FirstPlayerMoves,
        Self::MovesFromStart,
        Self::FenAfterMoves,
        Self::SwappedClocks,
        Self::NoMovesToGo,
        Self::NoIncrement,
        Self::NoReadyInSearch,
        Self::HeldInfinite,
        Self::HeldPonder,
        Self::LaterStop,
        Self::NodesAsDepth,
        Self::MoveTimeAsDepth,
        Self::MateAsDepth,
        Self::ClocksAsDepth,
        Self::NoReady,
        Self::StopBeforeQuit,
        Self::EndAfterQuit,
        Self::QuitBeforeEnd,
        Self::SearchMoves,
        Self::Pauses,
        Self::LegalMoves,
    ];

    /// Changes of which the first one is the cause if it also repairs what the second one repairs: an engine that
    /// ignores the FEN plays as the first player, whose scores are not those of the second one.
    pub(crate) const INCLUDED: [(Self, Self); 3] = [
        (Self::FirstPlayerMoves, Self::ScoreSide),
        (Self::MovesFromStart, Self::ScoreSide),
        (Self::MovesFromStart, Self::FirstPlayerMoves),
    ];

    /// The name in JSON, and the checks of the rules that an engine violates which needs this change. The first one
    /// is that of the cause.
    const fn names(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::ExtraBestMove => ("extra-bestmove", &["search.one-bestmove"]),
            Self::LateInfo => ("late-info", &["lexical.idle-info"]),
            Self::UnpromptedHandshake => (
                "unprompted-handshake",
                &["handshake.waits", "handshake.late-declaration", "handshake.ok-once"],
            ),
            Self::PlainLines => ("plain-lines", &["options.readable", "handshake.known-messages"]),
            Self::OtherLines => ("other-lines", &["handshake.known-messages"]),
            Self::CastlingForm => (
                "castling-form",
                &["positions.castling", "positions.chess960", "positions.move-form"],
            ),
            Self::MoveForm => (
                "move-form",
                &["positions.move-form", "positions.promotions", "positions.shogi-promotions"],
            ),
            Self::ScoreSide => ("score-side", &["info.score-side", "scores.mated"]),
            Self::MateUnit => ("mate-unit", &["info.mate-score"]),
            Self::SingleSpaces => ("single-spaces", &["lexical.spaces", "lexical.tabs"]),
            Self::LineFeeds => ("line-feeds", &["lexical.crlf", "lexical.lone-cr"]),
            Self::WholeLines => ("whole-lines", &["lexical.fragments"]),
            Self::SingleLines => ("single-lines", &["lexical.batch"]),
            Self::NoEmptyLines => ("no-empty-lines", &["lexical.empty-lines"]),
            Self::NoUnknownCommands => {
                ("no-unknown-commands", &["lexical.unknown-command", "lexical.before-handshake"])
            }
            Self::ShortLines => ("short-lines", &["lexical.long-line"]),
            Self::PositionAgain => ("position-again", &["state.position-kept"]),
            Self::NewGameFirst => ("new-game-first", &["search.new-game"]),
            Self::NewGameEach => ("new-game-each", &["positions.startpos"]),
            Self::FirstPlayerMoves => ("first-player-moves", &["positions.fen-sfen"]),
            Self::MovesFromStart => ("moves-from-start", &["positions.fen-sfen"]),
            Self::FenAfterMoves => (
                "fen-after-moves",
                &[
                    "positions.startpos",
                    "positions.random-game",
                    "positions.random-lines",
                    "positions.special-moves",
                    "positions.shogi-moves",
                ],
            ),
            Self::SwappedClocks => {
                ("swapped-clocks", &["search.clock", "usi.byoyomi", "usi.byoyomi-time"])
            }
            Self::NoMovesToGo => ("no-movestogo", &["search.moves-to-go"]),
            Self::NoIncrement => ("no-increment", &["search.clock", "usi.clocks"]),
            Self::HeldInfinite => {
                ("held-infinite", &["search.infinite", "search.no-early-bestmove"])
            }
            Self::HeldPonder => {
                ("held-ponder", &["search.ponder.holds-bestmove", "search.no-early-bestmove"])
            }
            Self::LaterStop => ("later-stop", &["search.immediate-stop"]),
            Self::NodesAsDepth => ("nodes-as-depth", &["search.nodes"]),
            Self::MoveTimeAsDepth => ("movetime-as-depth", &["search.movetime.ends"]),
            Self::MateAsDepth => ("mate-as-depth", &["search.mate", "usi.mate"]),
            Self::ClocksAsDepth => (
                "clocks-as-depth",
                &["search.clock", "usi.byoyomi", "usi.byoyomi-time", "usi.clocks"],
            ),
            Self::NoReadyInSearch => ("no-isready-in-search", &["search.ready"]),
            Self::NoReady => ("no-isready", &["handshake.ready"]),
            Self::StopBeforeQuit => {
                ("stop-before-quit", &["exit.quit.searching", "exit.quit.pondering"])
            }
            Self::EndAfterQuit => ("end-after-quit", &["exit.quit.idle"]),
            Self::QuitBeforeEnd => ("quit-before-end", &["exit.eof.idle", "exit.eof.searching"]),
            Self::SearchMoves => (
                "searchmoves",
                &["search.searchmoves", "search.searchmoves-lines", "search.searchmoves-first"],
            ),
            Self::Pauses => ("pauses", &[]),
            Self::LegalMoves => ("legal-moves", &["search.legal-move"]),
        }
    }

    /// The name in JSON.
    pub(crate) const fn key(self) -> &'static str {
        self.names().0
    }

    /// The checks of the rules that an engine violates which needs this change.
    pub(crate) const fn rules(self) -> &'static [&'static str] {
        self.names().1
    }

    /// Whether a session with the change is one of a client with an engine that works. Otherwise the replies are not
    /// those of a search as it was requested.
    pub(crate) const fn is_genuine(self) -> bool {
        !matches!(
            self,
            Self::SearchMoves
                | Self::NoMovesToGo
                | Self::NoIncrement
                | Self::NodesAsDepth
                | Self::MoveTimeAsDepth
                | Self::MateAsDepth
                | Self::ClocksAsDepth
                | Self::HeldInfinite
                | Self::HeldPonder
                | Self::NoReadyInSearch
                | Self::NoReady
                | Self::StopBeforeQuit
                | Self::EndAfterQuit
                | Self::QuitBeforeEnd
                | Self::LegalMoves
        )
    }

    /// Whether another limit replaces one that does not work.
    pub(crate) const fn is_limit(self) -> bool {
        matches!(
            self,
            Self::NodesAsDepth | Self::MoveTimeAsDepth | Self::MateAsDepth | Self::ClocksAsDepth
        )
    }

    /// The cause of a failure that this change repairs.
    pub(crate) fn cause(self) -> Message {
        match self {
            Self::ExtraBestMove => message!("change.extra-bestmove"),
            Self::LateInfo => message!("change.late-info"),
            Self::UnpromptedHandshake => message!("change.unprompted-handshake"),
            Self::PlainLines => message!("change.plain-lines"),
            Self::OtherLines => message!("change.other-lines"),
            Self::SingleSpaces => message!("change.single-spaces"),
            Self::LineFeeds => message!("change.line-feeds"),
            Self::WholeLines => message!("change.whole-lines"),
            Self::SingleLines => message!("change.single-lines"),
            Self::NoEmptyLines => message!("change.no-empty-lines"),
            Self::NoUnknownCommands => message!("change.no-unknown-commands"),
            Self::ShortLines => message!("change.short-lines"),
            Self::PositionAgain => message!("change.position-again"),
            Self::NewGameFirst => message!("change.new-game-first"),
            Self::NewGameEach => message!("change.new-game-each"),
            Self::FirstPlayerMoves => message!("change.first-player-moves"),
            Self::MovesFromStart => message!("change.moves-from-start"),
            Self::FenAfterMoves => message!("change.fen-after-moves"),
            Self::CastlingForm => message!("change.castling-form"),
            Self::MoveForm => message!("change.move-form"),
            Self::SearchMoves => message!("change.searchmoves"),
            Self::SwappedClocks => message!("change.swapped-clocks"),
            Self::NoMovesToGo => message!("change.no-movestogo"),
            Self::NoIncrement => message!("change.no-increment"),
            Self::NodesAsDepth => message!("change.nodes-as-depth"),
            Self::MoveTimeAsDepth => message!("change.movetime-as-depth"),
            Self::MateAsDepth => message!("change.mate-as-depth"),
            Self::ClocksAsDepth => message!("change.clocks-as-depth"),
            Self::HeldInfinite => message!("change.held-infinite"),
            Self::HeldPonder => message!("change.held-ponder"),
            Self::LaterStop => message!("change.later-stop"),
            Self::NoReadyInSearch => message!("change.no-isready-in-search"),
            Self::NoReady => message!("change.no-isready"),
            Self::ScoreSide => message!("change.score-side"),
            Self::MateUnit => message!("change.mate-unit"),
            Self::StopBeforeQuit => message!("change.stop-before-quit"),
            Self::EndAfterQuit => message!("change.end-after-quit"),
            Self::QuitBeforeEnd => message!("change.quit-before-end"),
            Self::Pauses => message!("change.pauses"),
            Self::LegalMoves => message!("change.legal-moves"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Change;

    #[test]
    fn each_change_has_its_own_name_and_the_check_of_a_rule() {
        let names: BTreeSet<&str> = Change::ALL.into_iter().map(Change::key).collect();
        assert_eq!(names.len(), Change::ALL.len());
        for change in Change::ALL {
            for rule in change.rules() {
                assert!(crate::all().any(|check| check.id == *rule), "{change:?}");
            }
            assert!(change.cause().to_string().len() > 10, "{change:?}");
        }
        assert!(Change::ALL.is_sorted());
    }
}
