//! The recorded engines and their scenarios.

use std::time::Duration;

/// One engine in one dialect.
#[derive(Debug)]
pub(super) struct Engine {
    /// Prefix of the names of its transcripts.
    pub name: &'static str,
    pub command: &'static [&'static str],
    /// Debian package.
    pub package: &'static str,
    /// Handshake command: `uci` or `usi`.
    pub dialect: &'static str,
    /// Timeout of a required reply.
    pub timeout: Duration,
    /// Steps after the handshake.
    pub setup: &'static str,
    /// Names of scenarios and their scripts. Each scenario has its own process.
    pub scenarios: &'static [(&'static str, &'static str)],
}

impl Engine {
    /// The script of a session: the handshake, the setup and `rest`.
    pub(super) fn session(&self, rest: &str) -> String {
        let Self { dialect, setup, .. } = self;
        format!("> {dialect}\n< {dialect}ok\n{setup}> isready\n< readyok\n{rest}")
    }
}

const DEFAULT: Duration = Duration::from_secs(10);
/// For engines that load large tables before `readyok`.
const LOADING: Duration = Duration::from_mins(1);

pub(super) const ENGINES: &[Engine] = &[
    Engine {
        name: "stockfish",
        command: &["stockfish"],
        package: "stockfish",
        dialect: "uci",
        timeout: DEFAULT,
        setup: "",
        scenarios: &[
            ("handshake", UCI_HANDSHAKE),
            ("search", UCI_SEARCH),
            ("multipv", UCI_MULTIPV),
            ("mate", UCI_MATE),
            ("ponder", UCI_PONDER),
            ("long", UCI_LONG),
            ("infinite", UCI_INFINITE),
            ("chess960", UCI_CHESS960),
            ("wdl", UCI_WDL),
            ("unexpected", UCI_UNEXPECTED),
        ],
    },
    Engine {
        name: "fairy-stockfish",
        command: &["fairy-stockfish"],
        package: "fairy-stockfish",
        dialect: "uci",
        timeout: DEFAULT,
        setup: "",
        scenarios: &[
            ("handshake", UCI_HANDSHAKE),
            ("search", UCI_SEARCH),
            ("multipv", UCI_MULTIPV),
            ("mate", UCI_MATE),
            ("ponder", UCI_PONDER),
            ("long", UCI_LONG),
            ("infinite", UCI_INFINITE),
            ("chess960", UCI_CHESS960),
            ("crazyhouse", UCI_CRAZYHOUSE),
            ("shogi", UCI_SHOGI),
            ("unexpected", UCI_UNEXPECTED),
        ],
    },
    Engine {
        name: "fairy-stockfish-usi",
        command: &["fairy-stockfish"],
        package: "fairy-stockfish",
        dialect: "usi",
        timeout: DEFAULT,
        setup: "",
        scenarios: &[
            ("handshake", USI_HANDSHAKE),
            ("search", USI_SEARCH),
            ("multipv", USI_MULTIPV),
            ("mate", USI_MATE),
            ("ponder", USI_PONDER),
            ("infinite", USI_INFINITE),
            ("unexpected", USI_UNEXPECTED),
        ],
    },
    Engine {
        name: "ethereal-chess",
        command: &["ethereal-chess"],
        package: "ethereal-chess",
        dialect: "uci",
        timeout: DEFAULT,
        setup: "",
        scenarios: &[
            ("handshake", UCI_HANDSHAKE),
            ("search", UCI_SEARCH),
            ("multipv", UCI_MULTIPV),
            ("mate", UCI_MATE),
            ("ponder", UCI_PONDER),
            ("infinite", UCI_INFINITE),
            ("chess960", UCI_CHESS960),
            ("unexpected", UCI_UNEXPECTED),
        ],
    },
    Engine {
        name: "gnuchess",
        command: &["gnuchess", "--uci"],
        package: "gnuchess",
        dialect: "uci",
        timeout: DEFAULT,
        setup: "> setoption name OwnBook value false\n",
        scenarios: &[
            ("handshake", UCI_HANDSHAKE),
            ("search", UCI_SEARCH),
            ("mate", UCI_MATE),
            ("ponder", UCI_PONDER),
            ("infinite", UCI_INFINITE),
            ("unexpected", UCI_UNEXPECTED),
        ],
    },
    Engine {
        name: "toga2",
        command: &["toga2"],
        package: "toga2",
        dialect: "uci",
        timeout: DEFAULT,
        setup: "> setoption name OwnBook value false\n",
        scenarios: &[
            ("handshake", UCI_HANDSHAKE),
            ("search", UCI_SEARCH),
            ("multipv", UCI_MULTIPV),
            ("mate", UCI_MATE),
            ("ponder", UCI_PONDER),
            ("infinite", UCI_INFINITE),
            ("unexpected", UCI_UNEXPECTED),
        ],
    },
    Engine {
        name: "glaurung",
        command: &["glaurung"],
        package: "glaurung",
        dialect: "uci",
        timeout: DEFAULT,
        setup: "> setoption name OwnBook value false\n> setoption name Threads value 1\n",
        scenarios: &[
            ("handshake", UCI_HANDSHAKE),
            ("search", UCI_SEARCH),
            ("multipv", UCI_MULTIPV),
            ("mate", UCI_MATE),
            ("ponder", UCI_PONDER),
            ("currline", UCI_CURRLINE),
            ("infinite", UCI_INFINITE),
            ("unexpected", UCI_UNEXPECTED),
        ],
    },
    Engine {
        name: "sjaakii",
        command: &["sjaakii"],
        package: "sjaakii",
        dialect: "uci",
        timeout: DEFAULT,
        setup: "",
        scenarios: &[
            ("handshake", UCI_HANDSHAKE),
            ("search", UCI_SEARCH),
            ("mate", UCI_MATE),
            ("ponder", UCI_PONDER),
            ("infinite", UCI_INFINITE),
            ("chess960", UCI_CHESS960),
            ("crazyhouse", UCI_CRAZYHOUSE),
            ("unexpected", UCI_UNEXPECTED),
        ],
    },
    Engine {
        name: "sjaakii-usi",
        command: &["sjaakii"],
        package: "sjaakii",
        dialect: "usi",
        timeout: DEFAULT,
        setup: "",
        scenarios: &[
            ("handshake", USI_HANDSHAKE),
            ("search", USI_SEARCH),
            ("mate", USI_MATE),
            ("ponder", USI_PONDER),
            ("infinite", USI_INFINITE),
            ("unexpected", USI_UNEXPECTED),
        ],
    },
    Engine {
        name: "gpsusi",
        command: &["gpsusi"],
        package: "gpsshogi",
        dialect: "usi",
        timeout: LOADING,
        setup: "",
        // It aborts in every search; only its book and its mate solver reply.
        scenarios: &[("handshake", USI_HANDSHAKE), ("book", GPSUSI_BOOK), ("mate", GPSUSI_MATE)],
    },
];

const UCI_HANDSHAKE: &str = "
> setoption name Hash value 8
> ucinewgame
> isready
< readyok
";

const UCI_SEARCH: &str = "
> setoption name Hash value 8
> ucinewgame
> isready
< readyok
> position startpos moves e2e4 e7e5 g1f3
> go depth 6
< bestmove
> position startpos moves e2e4 e7e5 g1f3 b8c6 f1b5
> go wtime 2000 btime 2000 winc 100 binc 100
< bestmove
> position startpos moves e2e4 e7e5 g1f3 b8c6 f1b5 a7a6
> go wtime 4000 btime 4000 movestogo 20
< bestmove
> position fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1
> go movetime 300
< bestmove
> position fen 8/P6k/8/8/8/8/7K/8 w - - 0 1
> go depth 5
< bestmove
> position fen 8/P6k/8/8/8/8/7K/8 w - - 0 1
> go depth 3 searchmoves a7a8n
< bestmove
> position startpos
> go depth 4 searchmoves a2a3 h2h3
< bestmove
> ucinewgame
> isready
< readyok
> position startpos
> go nodes 20000
? bestmove
> stop
. 200
> isready
< readyok
";

const UCI_MULTIPV: &str = "
> setoption name MultiPV value 3
> isready
< readyok
> position startpos moves d2d4 g8f6
> go depth 7
< bestmove
> position fen 7k/8/8/8/8/8/R7/1R5K w - - 0 1
> go depth 4
< bestmove
";

const UCI_MATE: &str = "
> position fen 7k/8/8/8/8/8/R7/1R5K w - - 0 1
> go mate 2
? bestmove
> stop
. 200
> isready
< readyok
> position fen 7k/8/8/8/8/8/R7/1R5K w - - 0 1
> go depth 6
< bestmove
> position fen 7k/8/8/8/8/8/R7/1R5K w - - 0 1 moves a2a7
> go depth 6
< bestmove
> position startpos moves f2f3 e7e5 g2g4 d8h4
> go depth 3
? bestmove
> position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1
> go depth 3
? bestmove
> isready
? readyok
";

const UCI_PONDER: &str = "
> setoption name Ponder value true
> ucinewgame
> isready
< readyok
> position startpos moves e2e4 e7e5
> go ponder wtime 2000 btime 2000 winc 100 binc 100
. 200
> ponderhit
< bestmove
> position startpos moves e2e4 e7e5 g1f3 b8c6
> go ponder wtime 2000 btime 2000 winc 100 binc 100
. 200
> stop
< bestmove
> isready
< readyok
";

const UCI_INFINITE: &str = "
> position startpos moves e2e4 c7c5
> go infinite
. 300
> isready
? readyok
> stop
< bestmove
> position fen 7k/8/8/8/8/8/R7/1R5K w - - 0 1 moves a2a7
> go infinite
. 500
> stop
. 300
> isready
< readyok
";

const UCI_LONG: &str = "
> position startpos moves e2e4 e7e5 g1f3
> go movetime 4500
< bestmove
";

const UCI_CURRLINE: &str = "
> setoption name UCI_ShowCurrLine value true
> position startpos moves e2e4 e7e5 g1f3
> go movetime 4500
< bestmove
";

const UCI_CHESS960: &str = "
> setoption name UCI_Chess960 value true
> ucinewgame
> isready
< readyok
> position fen bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9
> go depth 6
< bestmove
> position fen rk2r3/pppppppp/8/8/8/8/PPPPPPPP/RK2R3 w EAea - 0 1 moves b1e1 b8a8
> go depth 5
< bestmove
> position fen 4k3/8/8/8/8/8/8/RK4R1 w GA - 0 1
> go depth 4 searchmoves b1g1
< bestmove
";

const UCI_WDL: &str = "
> setoption name UCI_ShowWDL value true
> isready
< readyok
> position startpos moves e2e4 e7e5
> go depth 10
< bestmove
> position fen 7k/8/8/8/8/8/R7/1R5K w - - 0 1
> go depth 6
< bestmove
> position startpos moves f2f3 e7e5 g2g4 d8h4
> go depth 3
< bestmove
";

const UCI_CRAZYHOUSE: &str = "
> setoption name UCI_Variant value crazyhouse
> ucinewgame
> isready
< readyok
> position startpos moves e2e4 d7d5 e4d5 d8d5 b1c3 d5d8 P@d5
> go depth 5
< bestmove
> position fen 6k1/5ppp/8/8/8/8/8/K7[Rn] w - - 0 1
> go depth 5
< bestmove
";

const UCI_SHOGI: &str = "
> setoption name UCI_Variant value shogi
> ucinewgame
> isready
< readyok
> position startpos moves c3c4 g7g6
> go depth 5
< bestmove
> position startpos moves c3c4 g7g6
> go depth 3 searchmoves b2h8+
< bestmove
> position fen 4k4/9/4P4/9/9/9/9/9/4K4[G] w - - 0 1
> go depth 3
< bestmove
";

const UCI_UNEXPECTED: &str = "
> joho isready
. 300
>  isready\t
. 300
> stop
. 200
> ponderhit
. 200
> setoption name No Such Option value 1
. 200
> debug on
. 200
> isready
< readyok
";

const USI_HANDSHAKE: &str = "
> setoption name USI_Ponder value true
> setoption name USI_Hash value 32
> isready
< readyok
> usinewgame
. 200
> isready
< readyok
";

const USI_SEARCH: &str = "
> usinewgame
> position startpos moves 7g7f 3c3d
> go btime 1000 wtime 1000 byoyomi 200
< bestmove
> position startpos moves 7g7f 3c3d 2g2f 8c8d
> go btime 2000 wtime 2000 binc 100 winc 100
< bestmove
> position startpos moves 7g7f 3c3d
> go btime 0 wtime 0 byoyomi 300
< bestmove
> position sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1 moves 7g7f 3c3d 8h2b+ 3a2b
> go movetime 300
< bestmove
> position sfen l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1
> go depth 4
? bestmove
> stop
. 200
> position sfen 4k4/9/9/9/9/9/9/4R4/4K4 b - 1
> go depth 4
? bestmove
> stop
. 200
> position startpos
> go nodes 20000
? bestmove
> stop
. 200
> isready
< readyok
";

const USI_MULTIPV: &str = "
> setoption name MultiPV value 3
> isready
< readyok
> position startpos moves 7g7f 3c3d
> go depth 5
< bestmove
";

const USI_MATE: &str = "
> position sfen 4k4/9/4P4/9/9/9/9/9/4K4 b G 1
> go mate 2000
? bestmove
> stop
. 200
> position sfen 4k4/9/4P4/9/9/9/9/9/4K4 b G 1
> go btime 1000 wtime 1000 byoyomi 200
< bestmove
> position sfen 4k4/4G4/4P4/9/9/9/9/9/4K4 w - 2
> go btime 1000 wtime 1000 byoyomi 200
? bestmove
> isready
? readyok
";

const USI_PONDER: &str = "
> usinewgame
> position startpos moves 7g7f 3c3d
> go ponder btime 1000 wtime 1000 byoyomi 200
. 200
> ponderhit
< bestmove
> position startpos moves 7g7f 3c3d 2g2f 8c8d
> go ponder btime 1000 wtime 1000 byoyomi 200
. 200
> stop
< bestmove
> isready
< readyok
";

const USI_INFINITE: &str = "
> position startpos moves 7g7f 3c3d
> go infinite
. 300
> isready
? readyok
> stop
< bestmove
> isready
< readyok
";

const USI_UNEXPECTED: &str = "
> joho isready
. 300
> stop
. 200
> ponderhit
. 200
> gameover win
. 200
> setoption name No_Such_Option value 1
. 200
> isready
< readyok
";

const GPSUSI_BOOK: &str = "
> usinewgame
> position startpos
> go btime 60000 wtime 60000 byoyomi 1000
< bestmove
> position startpos moves 7g7f
> go btime 60000 wtime 60000 byoyomi 1000
< bestmove
> gameover win
. 200
> isready
< readyok
";

const GPSUSI_MATE: &str = "
> position sfen 4k4/9/4P4/9/9/9/9/9/4K4 b G 1
> go mate 2000
< checkmate
> position sfen 4k4/9/9/9/9/9/9/9/4K4 b G 1
> go mate 2000
< checkmate
> position sfen 4k4/4G4/4P4/9/9/9/9/9/4K4 w - 2
> go btime 1000 wtime 1000 byoyomi 200
< bestmove
> isready
< readyok
";
