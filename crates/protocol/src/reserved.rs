//! The words of the protocols, and which message each belongs to.

/// Whether a word ends a list of moves: it introduces the next field of `go` or `info`.
pub(crate) fn ends_a_list(word: &str) -> bool {
    is_go_key(word) || is_info_key(word) || matches!(word, "moves" | "cp")
}

/// Whether a word stands in lines of engines after the last move, or for a move.
pub(crate) fn ends_a_game(word: &str) -> bool {
    matches!(
        word,
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

/// Whether a word introduces a field of `go` or `ponderhit`.
pub(crate) fn is_go_key(word: &str) -> bool {
    matches!(
        word,
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

/// Whether a word introduces a field of `info`.
pub(crate) fn is_info_key(word: &str) -> bool {
    matches!(
        word,
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

/// Whether a word starts a message of the client.
pub(crate) fn is_command(word: &str) -> bool {
    matches!(
        word,
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

/// Whether a word starts a message of the engine.
pub(crate) fn is_reply(word: &str) -> bool {
    matches!(
        word,
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
