//! The searcher as an engine: options, positions and moves as the protocols write them.

use std::collections::TryReserveError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use readyok_engine::protocol::{MateLimit, MoveError, Root};
use readyok_engine::{
    Answer, Best, BestMove, Check, Control, Dialect, Engine, Failure, Info, Move, MoveList,
    Options, Runner, SearchRequest, Spin,
};
use readyok_rules::{CastlingForm, Game, Position};

use crate::{Bounds, Limits, Report, Score, Searcher};

/// The size of the hash table at first, and at most, in megabytes.
const HASH: i64 = 16;
const MOST_HASH: i64 = 65_536;

/// Before that, nobody reads which move is being searched.
const QUIET: Duration = Duration::from_secs(1);

/// Narikin, ready to serve a client in either protocol.
///
/// # Errors
/// There is no memory for the hash table.
pub fn runner() -> Result<Runner<Narikin>, TryReserveError> {
    let mut options = Options::new();
    let clear_hash = Arc::new(AtomicBool::new(false));
    let pressed = Arc::clone(&clear_hash);
    let hash = options.spin("Hash", HASH, 1..=MOST_HASH);
    options.button("Clear Hash", move || pressed.store(true, Ordering::Relaxed));
    options.spin("Threads", 1, 1..=1);
    let multipv = options.spin("MultiPV", 1, 1..=256);
    let move_overhead = options.spin("Move Overhead", 10, 0..=5000);
    // The client decides on pondering and analysis; the engine need not know.
    options.check("Ponder", false);
    options.check("UCI_AnalyseMode", false);
    let chess960 = options.check("UCI_Chess960", false);
    options.only_in(Dialect::Uci, "UCI_Chess960");
    let engine = Narikin {
        searcher: Searcher::new(megabytes(HASH))?,
        size: HASH,
        hash,
        clear_hash,
        multipv,
        chess960,
    };
    Ok(Runner::new(concat!("Narikin ", env!("CARGO_PKG_VERSION")), engine)
        .author("the Readyok authors")
        .dialects(Dialect::ALL)
        .options(options)
        .move_overhead(&move_overhead))
}

/// The engine.
#[derive(Debug)]
pub struct Narikin {
    searcher: Searcher,
    /// The size of the searcher's table in megabytes.
    size: i64,
    hash: Spin,
    clear_hash: Arc<AtomicBool>,
    multipv: Spin,
    chess960: Check,
}

impl Engine for Narikin {
    fn search(&mut self, request: &SearchRequest, control: &Control) -> Answer {
        self.prepare();
        if self.size != self.hash.get() {
            control.say(&format!("no memory for more than {} MB of hash", self.size));
        }
        let position = self.position(request)?;
        let castling = position.game().castling_form();
        if request.go.search_moves.is_none() && position.can_declare() {
            return Ok(Best::Win.into());
        }
        let limits = self.limits(request, &position);
        let talk = Talk { control, castling, ranked: 1 < limits.multipv };
        let outcome = self.searcher.search(&position, &limits, &talk);
        let Some(best) = outcome.best() else {
            let score = Some(score(outcome.score));
            control.info(Info { depth: Some(0), score, ..Info::default() });
            return Ok(Best::None.into());
        };
        let mut answer = BestMove::from(word(best, castling)?);
        answer.ponder = outcome.ponder().map(|reply| word(reply, castling)).transpose()?;
        Ok(answer)
    }

    fn new_game(&mut self) {
        self.searcher.clear();
    }

    fn prepare(&mut self) {
        let wanted = self.hash.get();
        if self.size != wanted && self.searcher.resize(megabytes(wanted)).is_ok() {
            self.size = wanted;
        }
        if self.clear_hash.swap(false, Ordering::Relaxed) {
            self.searcher.clear();
        }
    }

    fn fallback(&self, request: &SearchRequest) -> Option<Move> {
        let position = self.position(request).ok()?;
        let any = position.legal_moves().into_iter().next()?;
        word(any, position.game().castling_form()).ok()
    }
}

impl Narikin {
    fn position(&self, request: &SearchRequest) -> Result<Position, Failure> {
        let game = match request.dialect {
            Dialect::Uci if self.chess960.get() => Game::Chess960,
            Dialect::Uci => Game::Chess,
            Dialect::Usi => Game::Shogi,
        };
        let root = match &request.position.root {
            Root::StartPos => Position::start(game),
            Root::Fen(fen) => Position::from_text(game, fen.as_str())?,
            Root::Sfen(sfen) => Position::from_text(game, sfen.as_str())?,
        };
        Ok(root.after(request.position.moves.words())?)
    }

    fn limits(&self, request: &SearchRequest, position: &Position) -> Limits {
        let go = &request.go;
        // A mate in so many moves of the side that gives it.
        let mate = match go.mate {
            Some(MateLimit::Moves(moves)) => Some(moves.saturating_mul(2).saturating_sub(1)),
            Some(MateLimit::Time(_) | MateLimit::Infinite) | None => None,
        };
        let named = go.search_moves.iter().flat_map(MoveList::words);
        Limits {
            depth: go.depth,
            nodes: go.nodes,
            mate,
            searchmoves: named.filter_map(|word| position.parse_move(word).ok()).collect(),
            threads: 1,
            multipv: usize::try_from(self.multipv.get()).unwrap_or(1),
            ..Limits::default()
        }
    }
}

/// Tells the client what the search tells.
struct Talk<'a> {
    control: &'a Control,
    castling: CastlingForm,
    /// Whether lines have ranks: there is more than one.
    ranked: bool,
}

impl crate::Control for Talk<'_> {
    fn stopped(&self) -> bool {
        self.control.stopped()
    }

    fn elapsed(&self) -> Duration {
        self.control.elapsed()
    }

    fn bounds(&self) -> Bounds {
        let budget = self.control.budget();
        Bounds { soft: budget.soft, hard: budget.hard }
    }

    fn report(&self, report: &Report<'_>) {
        let micros = report.time.as_micros().max(1);
        let nps = u128::from(report.nodes) * 1_000_000 / micros;
        self.control.info(Info {
            depth: Some(report.depth),
            seldepth: Some(report.seldepth),
            multipv: self.ranked.then(|| u32::try_from(report.multipv).unwrap_or(u32::MAX)),
            score: Some(score(report.score)),
            nodes: Some(report.nodes),
            nps: u64::try_from(nps).ok(),
            hashfull: Some(report.hashfull),
            time: u64::try_from(report.time.as_millis()).ok(),
            pv: Some(report.pv.iter().filter_map(|&mv| word(mv, self.castling).ok()).collect()),
            ..Info::default()
        });
    }

    fn currmove(&self, mv: readyok_rules::Move, number: usize) {
        if QUIET <= self.elapsed() {
            self.control.info(Info {
                currmove: word(mv, self.castling).ok(),
                currmovenumber: u32::try_from(number).ok(),
                ..Info::default()
            });
        }
    }
}

fn word(mv: readyok_rules::Move, castling: CastlingForm) -> Result<Move, MoveError> {
    mv.word(castling).parse()
}

fn score(score: Score) -> readyok_engine::Score {
    match score {
        Score::Centipawns(value) => readyok_engine::Score::Cp(value),
        Score::Wins { plies } => readyok_engine::Score::MateIn { plies },
        Score::Loses { plies: 0 } => readyok_engine::Score::Mated,
        Score::Loses { plies } => readyok_engine::Score::MatedIn { plies },
    }
}

fn megabytes(size: i64) -> usize {
    usize::try_from(size).unwrap_or(0)
}
