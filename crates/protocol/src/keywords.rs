//! The keywords of the protocols.

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
