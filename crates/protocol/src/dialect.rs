//! All differences between the protocols, except for clocks, option names and root positions; and their keywords.

#[cfg(feature = "ts")]
use std::string::{String, ToString as _};

/// A protocol.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[cfg_attr(feature = "ts", ts(rename = "Protocol"))]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Dialect {
    /// The Universal Chess Interface.
    ///
    /// It has the edition of April 2006 and the modern one.
    #[default]
    Uci,
    /// The Universal Shogi Interface.
    ///
    /// It is draft 1 as deployed by shogi GUIs today.
    Usi,
}

/// The unit of the number after `score mate`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum MateUnit {
    /// Moves of the side that mates (UCI).
    Moves,
    /// Moves of both sides (USI).
    Plies,
}

impl Dialect {
    /// All dialects, the most common one first.
    pub const ALL: [Self; 2] = [Self::Uci, Self::Usi];

    /// The command that starts a session: `uci` or `usi`.
    pub const fn handshake(self) -> &'static str {
        match self {
            Self::Uci => "uci",
            Self::Usi => "usi",
        }
    }

    /// The engine's answer to [`handshake`](Self::handshake): `uciok` or `usiok`.
    pub const fn handshake_ok(self) -> &'static str {
        match self {
            Self::Uci => "uciok",
            Self::Usi => "usiok",
        }
    }

    /// The command before the first search of a game: `ucinewgame` or `usinewgame`.
    pub const fn new_game(self) -> &'static str {
        match self {
            Self::Uci => "ucinewgame",
            Self::Usi => "usinewgame",
        }
    }

    /// The token before the text of a position: `fen` or `sfen`.
    pub const fn position_keyword(self) -> &'static str {
        match self {
            Self::Uci => "fen",
            Self::Usi => "sfen",
        }
    }

    /// The token for a position without legal moves: `(none)` in UCI, `resign` in USI.
    pub const fn no_move(self) -> &'static str {
        match self {
            Self::Uci => "(none)",
            Self::Usi => "resign",
        }
    }

    /// The unit of the number after `score mate`: moves in UCI, plies in USI (draft 1 §4).
    pub const fn mate_unit(self) -> MateUnit {
        match self {
            Self::Uci => MateUnit::Moves,
            Self::Usi => MateUnit::Plies,
        }
    }

    /// Whether clocks may follow `ponderhit` after a `go ponder` without clocks. Shogi GUIs start to
    /// ponder before the clocks are known.
    pub const fn clocks_with_ponder_hit(self) -> bool {
        match self {
            Self::Uci => false,
            Self::Usi => true,
        }
    }

    /// Whether a byoyomi is sent if there is no increment. Shogi engines expect one of the two.
    pub const fn needs_byoyomi(self) -> bool {
        match self {
            Self::Uci => false,
            Self::Usi => true,
        }
    }

    /// Whether `readyok` is required after the new-game command (UCI) or before it (USI as deployed,
    /// where each game starts with `isready`).
    pub const fn ready_after_new_game(self) -> bool {
        match self {
            Self::Uci => true,
            Self::Usi => false,
        }
    }

    /// Whether `isready` is cheap between two searches of a game. In USI as deployed it starts a game:
    /// engines clear their hash and may load files for seconds.
    pub const fn ping_between_searches(self) -> bool {
        match self {
            Self::Uci => true,
            Self::Usi => false,
        }
    }

    /// Whether `go mate` takes milliseconds and is answered by `checkmate` (USI as deployed), instead
    /// of a number of moves.
    pub const fn mate_search_is_timed(self) -> bool {
        match self {
            Self::Uci => false,
            Self::Usi => true,
        }
    }

    /// Whether the GUI reports the end of a game with `gameover`.
    pub const fn has_game_over(self) -> bool {
        match self {
            Self::Uci => false,
            Self::Usi => true,
        }
    }

    /// Whether option names may contain spaces.
    pub const fn spaces_in_option_names(self) -> bool {
        match self {
            Self::Uci => true,
            Self::Usi => false,
        }
    }
}

/// Whether a token ends a list of moves: it introduces the next field of `go` or `info`.
pub(crate) fn ends_a_list(token: &str) -> bool {
    is_go_key(token) || is_info_key(token) || matches!(token, "moves" | "cp")
}

/// Whether engines print the token after the last move of a line, or instead of a move.
pub(crate) fn ends_a_game(token: &str) -> bool {
    matches!(
        token,
        "resign"
            | "win"
            | "draw"
            | "none"
            | "(none)"
            | "null"
            | "NULL"
            | "pass"
            | "rep_draw"
            | "rep_win"
            | "rep_lose"
            | "rep_sup"
            | "rep_inf"
    )
}

/// Whether a token introduces a field of `go` or `ponderhit`.
pub(crate) fn is_go_key(token: &str) -> bool {
    matches!(
        token,
        "searchmoves"
            | "ponder"
            | "wtime"
            | "btime"
            | "winc"
            | "binc"
            | "byoyomi"
            | "movestogo"
            | "depth"
            | "nodes"
            | "mate"
            | "movetime"
            | "rtime"
            | "infinite"
            | "perft"
    )
}

/// Whether a token introduces a field of `info`.
pub(crate) fn is_info_key(token: &str) -> bool {
    matches!(
        token,
        "depth"
            | "seldepth"
            | "time"
            | "nodes"
            | "pv"
            | "multipv"
            | "score"
            | "wdl"
            | "lowerbound"
            | "upperbound"
            | "currmove"
            | "currmovenumber"
            | "hashfull"
            | "nps"
            | "eps"
            | "tbhits"
            | "sbhits"
            | "cpuload"
            | "movesleft"
            | "string"
            | "refutation"
            | "currline"
    )
}

/// Whether a token starts a message of the client.
pub(crate) fn is_command(token: &str) -> bool {
    matches!(
        token,
        "uci"
            | "usi"
            | "debug"
            | "isready"
            | "setoption"
            | "register"
            | "ucinewgame"
            | "usinewgame"
            | "position"
            | "go"
            | "stop"
            | "ponderhit"
            | "gameover"
            | "quit"
    )
}

/// Whether a token starts a message of the engine.
pub(crate) fn is_reply(token: &str) -> bool {
    matches!(
        token,
        "id" | "uciok"
            | "usiok"
            | "readyok"
            | "bestmove"
            | "checkmate"
            | "copyprotection"
            | "registration"
            | "info"
            | "option"
    )
}
