//! The `bench` command: searches a fixed set of positions, and counts nodes and speed.
use crate::{
    Bounds, Control, Limits, Report, Searcher,
    board::{Board, Chess, MoveList, Shogi},
    platform::fits,
};
use readyok_rules::{BoardRef, Game, Position};
use std::{
    collections::TryReserveError,
    fmt, fs, io,
    ops::RangeInclusive,
    path::{Path, PathBuf},
    str::FromStr,
    time::{Duration, Instant},
};

/// Chess and Chess960 positions of many game phases.
const CHESS: [&str; 12] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r1bqk2r/pp2bppp/2n1pn2/2pp4/3P4/2N1PN2/PP2BPPP/R1BQ1RK1 w kq - 0 8",
    "2r2rk1/pp1bqppp/2n1pn2/3p4/3P4/P1NBPN2/1P2QPPP/2R2RK1 b - - 4 15",
    "r2q1rk1/1b1nbppp/p2ppn2/1p6/3NPP2/1BN1B3/PPP3PP/R2Q1R1K w - - 0 13",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "4rrk1/pp1n3p/3q2pQ/2p1pb2/2PP4/2P3N1/P2B2PP/4RRK1 b - - 7 19",
    "8/8/1p1r1k2/p1pPN1p1/P3KnP1/1P6/8/3R4 b - - 0 1",
    "6k1/5pp1/4p2p/3pP3/1r1P2PP/R7/5PK1/8 w - - 3 35",
    "r1b2rk1/2q1b1pp/p2ppn2/1p6/3QP3/1BN1B3/PPP3PP/R4RK1 w - - 0 1",
    "8/1p3k2/p1p2p2/P1P2P2/1P2K3/8/8/8 w - - 0 1",
    "3r1rk1/p5pp/bpp1pp2/8/q1PP1P2/b3P3/P2NQRPP/1R2B1K1 b - - 6 22",
];

/// Shogi positions: opening, castles, attacks, entering kings.
const SHOGI: [&str; 6] = [
    "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
    "ln1gk2nl/1r1s1sgb1/p1pppp1pp/1p4p2/9/2P4P1/PP1PPPP1P/1BSGKS1R1/LN3G1NL b - 13",
    "l4S2l/4g1gs1/5p1p1/pr2N1pkp/4Gn3/PP3PPPP/2GPP4/1K7/L3r+s2L w BS2N5Pb 1",
    "6n1l/2+S1k4/2lp4p/1np1B2b1/3PP4/1N1S3rP/1P2+pPP+p1/1p1G5/3KG2r1 b GSN2L4Pgs2p 1",
    "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
    "8k/9/9/9/4R4/9/9/9/4K4 b B2G2S2N2L9Prb2g2s2n2l9p 1",
];

/// Default depths.
const CHESS_DEPTH: u32 = 11;
const SHOGI_DEPTH: u32 = 9;

const DEFAULT_HASH_MB: i64 = 16;
const MAX_HASH_MB: i64 = 33_554_432;
const MAX_THREADS: usize = 1024;

/// A benchmark, by default of the built-in positions with one thread. Its number of nodes is then the
/// same on all hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bench {
    game: Game,
    hash_mb: i64,
    threads: usize,
    limit: BenchLimit,
    /// A file with one position per line, instead of the built-in ones.
    file: Option<PathBuf>,
}

/// The limit of each position. Unlike other limits, it is one value, which can be a perft depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BenchLimit {
    Depth(u32),
    Nodes(u64),
    MoveTime(Duration),
    Perft(u32),
}

/// The result of a benchmark. As text, it ends with the two lines that OpenBench parses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchResult {
    /// The name of the evaluation.
    pub evaluation: String,
    /// Nodes searched.
    pub nodes: u64,
    /// Time of all searches.
    pub time: Duration,
}

/// Why a benchmark cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// An argument has no valid value.
    #[error("invalid {name} `{}`", text.escape_debug())]
    Argument {
        /// The name of the argument.
        name: &'static str,
        /// Its text.
        text: String,
    },
    /// There are more arguments than the command has.
    #[error("unexpected argument `{}`", .0.escape_debug())]
    ExtraArgument(String),
    /// The file of positions cannot be read.
    #[error("`{}`: {}", .0.display(), .1)]
    Read(PathBuf, io::Error),
    /// A line of the file is not a position of the game. Chess includes Chess960.
    #[error("`{}`, line {line}: invalid position", path.display())]
    Position {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
    },
    /// The file has no positions.
    #[error("`{}` has no positions", .0.display())]
    NoPositions(PathBuf),
    /// There is not enough memory for the hash table.
    #[error("not enough memory for the hash table")]
    Memory,
}

impl Bench {
    /// The default benchmark of a game. Chess960 counts as chess.
    pub const fn new(game: Game) -> Self {
        let depth = match game {
            Game::Chess | Game::Chess960 => CHESS_DEPTH,
            Game::Shogi => SHOGI_DEPTH,
        };
        let limit = BenchLimit::Depth(depth);
        Self { game, hash_mb: DEFAULT_HASH_MB, threads: 1, limit, file: None }
    }

    /// Parses the arguments after `bench`, all of which are optional:
    /// `[chess|shogi] [HASH_MB] [THREADS] [LIMIT] [FILE|default] [depth|nodes|movetime|perft]`.
    ///
    /// # Errors
    /// An argument is invalid.
    pub fn parse<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Result<Self, BenchError> {
        let mut arguments = arguments.into_iter().peekable();
        let game = arguments.next_if(|argument| matches!(*argument, "chess" | "shogi"));
        let mut bench = Self::new(if game == Some("shogi") { Game::Shogi } else { Game::Chess });
        if let Some(text) = arguments.next() {
            bench.hash_mb = number("hash size", text, &(1..=MAX_HASH_MB))?;
        }
        if let Some(text) = arguments.next() {
            bench.threads = number("number of threads", text, &(1..=MAX_THREADS))?;
        }
        let limit = arguments.next();
        bench.file = arguments.next().filter(|file| *file != "default").map(PathBuf::from);
        let kind = arguments.next();
        if let Some(text) = limit {
            const NAME: &str = "limit";
            bench.limit = match kind.unwrap_or("depth") {
                "depth" => BenchLimit::Depth(number(NAME, text, &(1..=u32::MAX))?),
                "nodes" => BenchLimit::Nodes(number(NAME, text, &(1..=u64::MAX))?),
                "movetime" => BenchLimit::MoveTime(Duration::from_millis(number(
                    NAME,
                    text,
                    &(1..=u64::MAX),
                )?)),
                "perft" => BenchLimit::Perft(number(NAME, text, &(1..=u32::MAX))?),
                text => {
                    return Err(BenchError::Argument { name: "limit type", text: text.to_owned() });
                }
            };
        }
        match arguments.next() {
            None => Ok(bench),
            Some(extra) => Err(BenchError::ExtraArgument(extra.to_owned())),
        }
    }

    /// Searches the positions, each with an empty hash table.
    ///
    /// # Errors
    /// The file of positions is unusable, or there is not enough memory.
    pub fn run(&self) -> Result<BenchResult, BenchError> {
        self.run_with(|_| ())
    }

    /// [`run`](Self::run) with the evaluation of another searcher.
    pub(crate) fn run_like(&self, other: &Searcher) -> Result<BenchResult, BenchError> {
        self.run_with(|searcher| searcher.copy_networks(other))
    }

    fn run_with(&self, prepare: impl FnOnce(&mut Searcher)) -> Result<BenchResult, BenchError> {
        let positions = self.positions()?;
        if !fits(self.hash_mb, 0) {
            return Err(BenchError::Memory);
        }
        let mut searcher = Searcher::new(usize::try_from(self.hash_mb).unwrap_or(usize::MAX))?;
        searcher.prepare(self.game);
        prepare(&mut searcher);
        let start = now();
        let nodes = positions.iter().map(|position| self.count(&mut searcher, position)).sum();
        let evaluation = searcher.evaluation_name(self.game);
        Ok(BenchResult { evaluation, nodes, time: start.elapsed() })
    }

    fn count(&self, searcher: &mut Searcher, position: &Position) -> u64 {
        let mut limits = Limits { threads: self.threads, ..Limits::default() };
        let mut time = None;
        match self.limit {
            BenchLimit::Depth(depth) => limits.depth = Some(depth),
            BenchLimit::Nodes(nodes) => limits.nodes = Some(nodes),
            BenchLimit::MoveTime(limit) => {
                limits.exact_time = true;
                time = Some(limit);
            }
            BenchLimit::Perft(depth) => return perft(position, depth).unwrap_or(0),
        }
        searcher.clear();
        searcher.search(position, &limits, &Timer { start: now(), time }).nodes
    }

    fn positions(&self) -> Result<Vec<Position>, BenchError> {
        let Some(path) = &self.file else {
            let texts = match self.game {
                Game::Chess | Game::Chess960 => CHESS.as_slice(),
                Game::Shogi => SHOGI.as_slice(),
            };
            return Ok(texts
                .iter()
                .filter_map(|text| Position::from_text(self.game, text).ok())
                .collect());
        };
        let positions = read_positions(self.game, path)?;
        if positions.is_empty() {
            Err(BenchError::NoPositions(path.clone()))
        } else {
            Ok(positions)
        }
    }
}

fn read_positions(game: Game, path: &Path) -> Result<Vec<Position>, BenchError> {
    let text = fs::read_to_string(path).map_err(|error| BenchError::Read(path.into(), error))?;
    let lines = text.lines().map(str::trim).enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let read = |(index, line)| {
        let error = BenchError::Position { path: path.into(), line: index + 1 };
        Position::from_text(game, line)
            .or_else(|error| match game {
                Game::Chess => Position::from_text(Game::Chess960, line),
                Game::Chess960 | Game::Shogi => Err(error),
            })
            .map_err(|_| error)
    };
    lines.map(read).collect()
}

fn number<N: FromStr + PartialOrd>(
    name: &'static str,
    text: &str,
    allowed: &RangeInclusive<N>,
) -> Result<N, BenchError> {
    let value = text.parse().ok().filter(|value| allowed.contains(value));
    value.ok_or_else(|| BenchError::Argument { name, text: text.to_owned() })
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn now() -> Instant {
    Instant::now()
}

/// Stops each search after a fixed time, if there is one.
struct Timer {
    start: Instant,
    time: Option<Duration>,
}

impl Control for Timer {
    fn stopped(&self) -> bool {
        false
    }

    fn elapsed(&self) -> Duration {
        // Other limits need no clock.
        if self.time.is_some() { self.start.elapsed() } else { Duration::ZERO }
    }

    fn bounds(&self) -> Bounds {
        Bounds { soft: self.time, hard: self.time, ..Bounds::default() }
    }

    fn report(&self, _report: &Report<'_>) {}
}

impl fmt::Display for BenchResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let speed = u128::from(self.nodes) * 1_000_000 / self.time.as_micros().max(1);
        writeln!(f, "Evaluation      : {}", self.evaluation)?;
        writeln!(f, "Total time (ms) : {}", self.time.as_millis())?;
        writeln!(f, "Nodes searched  : {}", self.nodes)?;
        write!(f, "Nodes/second    : {speed}")
    }
}

impl From<TryReserveError> for BenchError {
    fn from(_: TryReserveError) -> Self {
        Self::Memory
    }
}

/// Counts the leaf nodes of the move generator at a depth; none if the position is not supported.
/// Ends of games by rule are ignored.
pub fn perft(position: &Position, depth: u32) -> Option<u64> {
    match position.board() {
        BoardRef::Chess(_) => start::<Chess>(position, depth),
        BoardRef::Shogi(_) => start::<Shogi>(position, depth),
        BoardRef::Diagram(_) => None,
    }
}

fn start<B: Board>(position: &Position, depth: u32) -> Option<u64> {
    let mut board = B::new(position, &Limits::default())?;
    let mut lists = vec![MoveList::new(); usize::try_from(depth).ok()?];
    Some(count(&mut board, &mut lists))
}

fn count<B: Board>(board: &mut B, lists: &mut [MoveList<B::Move>]) -> u64 {
    let Some((list, deeper)) = lists.split_first_mut() else { return 1 };
    list.clear();
    board.generate_all(list);
    if deeper.is_empty() {
        return u64::try_from(list.len()).unwrap_or(u64::MAX);
    }
    let mut sum = 0_u64;
    for &(_, mv) in list.iter() {
        board.play(mv);
        sum = sum.saturating_add(count(board, deeper));
        board.undo(mv);
    }
    sum
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::board::SearchMove;

    #[test]
    fn built_in_positions_are_valid() {
        for (game, texts) in [(Game::Chess, CHESS.as_slice()), (Game::Shogi, SHOGI.as_slice())] {
            for text in texts {
                let read = Position::from_text(game, text);
                assert!(read.is_ok_and(|position| !position.legal_moves().is_empty()), "{text}");
            }
        }
    }

    /// Changes of the search or the evaluation change these node counts.
    #[test]
    fn node_counts_are_unchanged() {
        let nodes = |game| Bench::new(game).run().expect("memory").nodes;
        assert_eq!([Game::Chess, Game::Shogi].map(nodes), [213_440, 298_791]);
    }

    #[track_caller]
    fn check(arguments: &str, expected: &Bench) {
        let parsed = Bench::parse(arguments.split_ascii_whitespace());
        assert_eq!(parsed.expect("valid arguments"), *expected, "{arguments}");
    }

    #[test]
    fn parses_the_arguments_of_other_engines() {
        let chess = Bench::new(Game::Chess);
        check("", &chess);
        check("chess", &chess);
        check("shogi", &Bench::new(Game::Shogi));
        check("64", &Bench { hash_mb: 64, ..chess.clone() });
        check("64 2", &Bench { hash_mb: 64, threads: 2, ..chess.clone() });
        check("16 1 11 default depth", &chess);
        let limit = BenchLimit::Nodes(5000);
        check("16 1 5000 default nodes", &Bench { limit, ..chess.clone() });
        let limit = BenchLimit::MoveTime(Duration::from_millis(5));
        check("16 1 5 default movetime", &Bench { limit, ..chess.clone() });
        let limit = BenchLimit::Perft(4);
        check("shogi 16 1 4 default perft", &Bench { limit, ..Bench::new(Game::Shogi) });
        let limit = BenchLimit::Depth(3);
        check("16 1 3 a.fen", &Bench { limit, file: Some("a.fen".into()), ..chess });
    }

    /// Positions of standard chess keep its rules of castling.
    #[test]
    fn reads_positions_of_chess960() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("positions.fen");
        let castling = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9";
        fs::write(&path, format!("{}\n{castling}\n", CHESS[1])).expect("a file");
        let limit = BenchLimit::Perft(2);
        let bench = Bench { limit, file: Some(path), ..Bench::new(Game::Chess) };
        // Perft Results of the Chess Programming Wiki: Kiwipete, and position 1 of Chess960.
        assert_eq!(bench.run().expect("memory").nodes, 2_039 + 528);
    }

    #[test]
    fn errors_name_invalid_arguments() {
        for (arguments, error) in [
            ("go", "invalid hash size `go`"),
            ("0", "invalid hash size `0`"),
            ("16 0", "invalid number of threads `0`"),
            ("16 1 -3", "invalid limit `-3`"),
            ("16 1 3 default mate", "invalid limit type `mate`"),
            ("16 1 3 default depth now", "unexpected argument `now`"),
        ] {
            let parsed = Bench::parse(arguments.split_ascii_whitespace());
            assert_eq!(parsed.expect_err(arguments).to_string(), error);
        }
        let missing = Bench { file: Some("/no/such/file".into()), ..Bench::new(Game::Chess) };
        assert!(matches!(missing.run(), Err(BenchError::Read(..))));
    }

    #[test]
    fn output_ends_with_the_lines_that_openbench_parses() {
        let result = BenchResult {
            evaluation: "network test-1".into(),
            nodes: 344_874,
            time: Duration::from_secs(2),
        };
        let text = result.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "Evaluation      : network test-1");
        assert_eq!(lines[2..], ["Nodes searched  : 344874", "Nodes/second    : 172437"]);
    }

    /// Known counts: <https://www.chessprogramming.org/Perft_Results> and, for shogi, YaneuraOu.
    #[test]
    fn perft_counts_match_known_values() {
        let check = |game, text: &str, depth, expected| {
            let position = Position::from_text(game, text).expect("a position");
            assert_eq!(perft(&position, depth), Some(expected), "{text}");
        };
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        check(Game::Chess, start, 4, 197_281);
        let middle = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
        check(Game::Chess, middle, 3, 97_862);
        let castling = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9";
        check(Game::Chess960, castling, 3, 12_189);
        let hirate = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";
        check(Game::Shogi, hirate, 3, 25_470);
        let most = "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1";
        check(Game::Shogi, most, 1, 593);
    }

    /// Lines are converted to the moves that their notation denotes.
    fn check_moves<B: Board>(root: &Position, depth: u32) {
        fn check<B: Board>(
            root: &Position,
            position: &Position,
            board: &mut B,
            line: &mut Vec<B::Move>,
            depth: u32,
        ) {
            let mut all = MoveList::new();
            board.generate_all(&mut all);
            for &(_, mv) in &all {
                line.push(mv);
                let expected = position.parse_move(&B::notation(mv)).expect("a legal move");
                let converted = B::moves(root, line).last();
                assert_eq!(converted, Some(expected), "{}", B::notation(mv));
                if depth > 1 {
                    let mut after = position.clone();
                    after.play(expected).expect("a legal move");
                    board.play(mv);
                    check(root, &after, board, line, depth - 1);
                    board.undo(mv);
                }
                line.pop();
            }
        }
        let mut board = B::new(root, &Limits::default()).expect("a board");
        check(root, root, &mut board, &mut Vec::new(), depth);
    }

    /// The stages generate all legal moves, each once.
    fn check_stages<B: Board>(board: &mut B, depth: u32) {
        let packed = |list: &MoveList<B::Move>| -> BTreeSet<u16> {
            list.iter().filter(|(_, mv)| board.is_legal(*mv)).map(|(_, mv)| mv.packed()).collect()
        };
        let mut all = MoveList::new();
        board.generate_all(&mut all);
        let (mut noisy, mut quiet) = (MoveList::new(), MoveList::new());
        board.generate_noisy(&mut noisy);
        board.generate_quiets(&mut quiet);
        assert!(noisy.iter().all(|&(_, mv)| board.is_noisy(mv)));
        assert!(quiet.iter().all(|&(_, mv)| !board.is_noisy(mv)));
        let (noisy, quiet) = (packed(&noisy), packed(&quiet));
        assert!(noisy.is_disjoint(&quiet));
        let staged: BTreeSet<u16> = noisy.union(&quiet).copied().collect();
        let legal = packed(&all);
        assert!(staged.is_subset(&legal), "{:?}", staged.difference(&legal));
        for &(_, mv) in &all {
            assert!(board.unpack(mv.packed()) == Some(mv), "{}", B::notation(mv));
            // The stages omit useless non-promotions.
            let left_out = !staged.contains(&mv.packed());
            assert!(!left_out || B::STALEMATE_LOSES, "{}", B::notation(mv));
            let check = board.gives_check(mv);
            let (key, parts) = (board.key(), board.correction_keys());
            board.play(mv);
            assert_eq!(board.in_check(), check, "{}", B::notation(mv));
            if depth > 1 {
                check_stages(board, depth - 1);
            }
            board.undo(mv);
            assert_eq!((board.key(), board.correction_keys()), (key, parts), "{}", B::notation(mv));
        }
    }

    #[test]
    fn boards_generate_and_convert_every_move_once() {
        for (game, text) in [
            (Game::Chess, "rnbq1k1r/pP1Pbppp/2p5/8/2B5/8/P1P1NnPP/RNBQK2R w KQ - 1 8"),
            (Game::Chess, "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1"),
            (Game::Chess960, "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"),
        ] {
            let position = Position::from_text(game, text).expect("a position");
            let mut board = Chess::new(&position, &Limits::default()).expect("a board");
            check_stages(&mut board, 3);
            check_moves::<Chess>(&position, 2);
        }
        for text in [
            "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
            "6n1l/2+S1k4/2lp4p/1np1B2b1/3PP4/1N1S3rP/1P2+pPP+p1/1p1G5/3KG2r1 b GSN2L4Pgs2p 1",
        ] {
            let position = Position::from_text(Game::Shogi, text).expect("a position");
            let mut board = Shogi::new(&position, &Limits::default()).expect("a board");
            check_stages(&mut board, 2);
            check_moves::<Shogi>(&position, 1);
        }
    }

    #[test]
    fn incremental_correction_keys_match_recomputed_ones() {
        let text = "rnbq1k1r/pP1Pbppp/2p5/8/2B5/8/P1P1NnPP/RNBQK2R w KQ - 1 8";
        let position = Position::from_text(Game::Chess, text).expect("a position");
        let board = Chess::new(&position, &Limits::default()).expect("a board");
        for mv in position.legal_moves() {
            let mut after = position.clone();
            after.play(mv).expect("a legal move");
            let fresh = Chess::new(&after, &Limits::default()).expect("a board");
            let mut played = board.clone();
            let mut list = MoveList::new();
            played.generate_all(&mut list);
            let notation = mv.to_uci(readyok_rules::CastlingForm::KingTakesRook);
            let found = list.iter().find(|(_, mv)| Chess::notation(*mv) == notation);
            let &(_, mv) = found.expect("the same move");
            played.play(mv);
            assert_eq!(played.correction_keys(), fresh.correction_keys(), "{notation}");
        }
    }
}
