// Names of values. Generated from the lists of `readyok-rules` by `cargo xtask docs`.

/** A game. */
export type GameName =
  | "chess"
  | "chess960"
  | "shogi";

/** A player: the first is White in chess and Black (sente) in shogi. */
export type Side =
  | "first"
  | "second";

/** A notation of moves. `usi`, `western` and `long` are other names of `uci`, `san` and `lan`. */
export type Notation =
  | "uci"
  | "usi"
  | "san"
  | "western"
  | "western-digits"
  | "lan"
  | "long"
  | "japanese"
  | "csa";

/** A form of FEN. */
export type FenForm =
  | "fen"
  | "x-fen"
  | "shredder";

/** A format of game records. */
export type Format =
  | "pgn"
  | "kif"
  | "ki2"
  | "csa"
  | "jkf"
  | "uci"
  | "usi";

/** A result of a game; `*` is an unfinished or unknown one. */
export type Result =
  | "1-0"
  | "0-1"
  | "1/2-1/2"
  | "*";

/** What ended a game. */
export type Termination =
  | "checkmate"
  | "stalemate"
  | "repetition"
  | "fivefold-repetition"
  | "perpetual-check"
  | "fifty-moves"
  | "seventy-five-moves"
  | "insufficient-material"
  | "dead-position"
  | "move-limit"
  | "declaration"
  | "wrong-declaration"
  | "impasse"
  | "try"
  | "resignation"
  | "agreement"
  | "time-forfeit"
  | "time-without-material"
  | "illegal-move"
  | "forfeit"
  | "adjudication"
  | "draw-adjudication"
  | "resign-adjudication"
  | "mate-claim"
  | "tablebase"
  | "engine-failure"
  | "crash"
  | "stall"
  | "no-start"
  | "aborted"
  | "no-mate"
  | "take-back"
  | "error"
  | "other";

/** A handicap of shogi. */
export type Handicap =
  | "lance"
  | "right lance"
  | "bishop"
  | "rook"
  | "rook and lance"
  | "two pieces"
  | "three pieces"
  | "four pieces"
  | "five pieces"
  | "left five pieces"
  | "six pieces"
  | "right seven pieces"
  | "left seven pieces"
  | "eight pieces"
  | "ten pieces"
  | "naked king";
