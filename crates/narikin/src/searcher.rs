//! What a search gives, and what stays from one search to the next.

use std::{
    collections::TryReserveError,
    fmt,
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    thread,
    time::Duration,
};

use readyok_rules::{BoardRef, Move, Position};

use crate::{
    board::{Board, Chess, Shogi},
    control::{Control, Limits, Report},
    deepening::{Progress, Root, RootMove},
    history::Histories,
    pace::Pace,
    score::{MAX_PLY, Score},
    search::{Reductions, Search, Shared},
    table::Table,
};

/// What a search has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The value for the side to move.
    pub score: Score,
    /// The best line; empty only if there is no legal move.
    pub pv: Vec<Move>,
    /// How deep it was searched, in plies; 0 if the search was stopped before anything else.
    pub depth: u32,
    /// Positions searched.
    pub nodes: u64,
}

impl Outcome {
    /// The move to play; none if there is no legal one.
    pub fn best(&self) -> Option<Move> {
        self.pv.first().copied()
    }

    /// The answer to expect.
    pub fn ponder(&self) -> Option<Move> {
        self.pv.get(1).copied()
    }
}

/// An engine's memory, with which it searches one position after the other.
pub struct Searcher {
    table: Table,
    /// What each thread has learnt; made when it is needed.
    chess: Vec<Histories<Chess>>,
    shogi: Vec<Histories<Shogi>>,
}

impl fmt::Debug for Searcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Searcher").finish_non_exhaustive()
    }
}

impl Searcher {
    /// A searcher with a hash table of so many megabytes; 0 is next to none.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn new(hash: usize) -> Result<Self, TryReserveError> {
        Ok(Self { table: Table::new(hash)?, chess: Vec::new(), shogi: Vec::new() })
    }

    /// Replaces the hash table by one of so many megabytes. If there is not enough memory, the old
    /// one stays.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn resize(&mut self, hash: usize) -> Result<(), TryReserveError> {
        self.table = Table::new(hash)?;
        Ok(())
    }

    /// Forgets everything, as for a new game.
    pub fn clear(&mut self) {
        self.table.clear(thread::available_parallelism().map_or(1, usize::from));
        self.chess.iter_mut().for_each(Histories::clear);
        self.shogi.iter_mut().for_each(Histories::clear);
    }

    /// Searches a position until a limit is reached or the control stops it. With one thread, the
    /// same searches on the same memory give the same results.
    ///
    /// A position whose game is over by repetition or the fifty-move rule is searched like any
    /// other, and so is one where a win could be declared. A position that cannot come up in a game,
    /// and that the search's board does not take, is not searched: any legal move is as good.
    pub fn search(
        &mut self,
        position: &Position,
        limits: &Limits,
        control: &dyn Control,
    ) -> Outcome {
        self.table.begin_search();
        let found = match position.board() {
            BoardRef::Chess(_) => {
                run::<Chess>(position, &self.table, &mut self.chess, limits, control)
            }
            BoardRef::Shogi(_) => {
                run::<Shogi>(position, &self.table, &mut self.shogi, limits, control)
            }
        };
        found.unwrap_or_else(|| unsearched(position, control))
    }
}

/// Any legal move, for a position that cannot be searched.
fn unsearched(position: &Position, control: &dyn Control) -> Outcome {
    let pv: Vec<Move> = position.legal_moves().into_iter().take(1).collect();
    let score = if pv.is_empty() && position.in_check() {
        Score::Loses { plies: 0 }
    } else {
        Score::Centipawns(0)
    };
    if !pv.is_empty() {
        control.report(&Report {
            depth: 0,
            seldepth: 0,
            multipv: 1,
            score,
            nodes: 0,
            time: control.elapsed(),
            hashfull: 0,
            pv: &pv,
        });
    }
    Outcome { score, pv, depth: 0, nodes: 0 }
}

fn run<B: Board>(
    position: &Position,
    table: &Table,
    memory: &mut Vec<Histories<B>>,
    limits: &Limits,
    control: &dyn Control,
) -> Option<Outcome> {
    let board = B::new(position, limits)?;
    let threads = limits.threads.clamp(1, MOST_THREADS);
    memory.resize_with(threads.max(memory.len()), Histories::new);
    let reductions = Reductions::new(B::TUNING.reduction);
    let shared = Shared {
        table,
        reductions: &reductions,
        stop: AtomicBool::new(false),
        nodes: AtomicU64::new(0),
        draw: limits.draw,
        full_width: limits.mate.is_some_and(|plies| plies <= FULL_WIDTH),
    };
    let wanted = |mv: B::Move| {
        let word = B::word(mv);
        limits
            .searchmoves
            .iter()
            .any(|wanted| position.parse_move(&word).is_ok_and(|mv| mv == *wanted))
    };
    let mut memory = memory.iter_mut();
    let own = memory.next()?;
    thread::scope(|scope| {
        for (number, histories) in memory.take(threads - 1).enumerate() {
            let (board, shared) = (board.clone(), &shared);
            let multipv = limits.multipv;
            let wanted = &wanted;
            let spawned =
                thread::Builder::new().name("search".into()).spawn_scoped(scope, move || {
                    let mut poll = |_: &[B::Move]| false;
                    let search = Search::new(board, shared, histories, None, &mut poll);
                    let mut root = Root::new(search, wanted, multipv, false);
                    // Different depths keep the threads from doing the same.
                    let first = 1 + i32::from(number % 2 == 0);
                    root.deepen(first, i32::MAX, &mut |_, _| true);
                    root.search.count();
                });
            // With fewer threads it takes longer, and that is all.
            drop(spawned);
        }
        let outcome = lead(position, board, &shared, own, &wanted, limits, control);
        shared.stop.store(true, Relaxed);
        Some(outcome)
    })
}

/// The most threads of one search.
pub(crate) const MOST_THREADS: usize = 1024;

/// How often the line that is looked at is told.
const LINE_INTERVAL: Duration = Duration::from_secs(1);

/// Mates within so many plies are searched for without leaving anything out.
const FULL_WIDTH: u32 = 5;

/// Searches with the thread that talks to the control.
fn lead<B: Board>(
    position: &Position,
    board: B,
    shared: &Shared<'_>,
    histories: &mut Histories<B>,
    wanted: &dyn Fn(B::Move) -> bool,
    limits: &Limits,
    control: &dyn Control,
) -> Outcome {
    let without_moves = Root::<B>::value_without_moves(&board);
    let node_limit = limits.nodes;
    let alone = limits.threads <= 1;
    let told = Told { position, shared, control };
    let mut line_told = Duration::ZERO;
    let mut poll = |path: &[B::Move]| {
        let stopped = control.stopped();
        let elapsed = control.elapsed();
        if elapsed.saturating_sub(line_told) >= LINE_INTERVAL {
            line_told = elapsed;
            control.currline(&told.moves::<B>(path), 0);
        }
        stopped
            || control.bounds().hard.is_some_and(|end| elapsed >= end)
            || !alone && node_limit.is_some_and(|limit| shared.nodes.load(Relaxed) >= limit)
    };
    let search = Search::new(board, shared, histories, node_limit, &mut poll);
    let mut root = Root::new(search, wanted, limits.multipv, limits.refutations);
    if root.moves.is_empty() {
        return Outcome {
            score: Score::from_value(without_moves),
            pv: Vec::new(),
            depth: 0,
            nodes: 0,
        };
    }
    let within = |limit: Option<u32>| {
        limit.map_or(i32::MAX, |it| i32::try_from(it).unwrap_or(i32::MAX).max(1))
    };
    let mate = limits.mate.filter(|_| shared.full_width);
    let last = within(limits.depth).min(within(mate));
    let mut pace = Pace::default();
    root.deepen(1, last, &mut |root, progress| match progress {
        Progress::Move(index) => {
            if let Some(first) = root.moves.get(index)
                && let Some(&mv) = told.moves::<B>(&[first.mv]).first()
            {
                control.currmove(mv, index + 1);
            }
            true
        }
        Progress::Iteration => {
            told.report(root);
            for other in root.moves.iter().skip(root.told().len()) {
                if let (Some(answer), [mv]) = (other.refutation, other.pv.as_slice())
                    && let [mv, answers @ ..] = told.moves::<B>(&[*mv, answer]).as_slice()
                {
                    control.refutation(*mv, answers);
                }
            }
            pace.update(root);
            let only = root.moves.len() == 1 && root.search.depth >= 5;
            !(found_mate(limits, root.best())
                || control.stopped()
                || pace.is_over(control.elapsed(), control.bounds(), only))
        }
    });
    root.search.count();
    if root.search.is_stopped() || root.best().is_some_and(|best| best.depth == 0) {
        // The last word on a search that was broken off is what will be played.
        told.report(&root);
    }
    let nodes = if alone { root.search.nodes } else { shared.nodes.load(Relaxed) };
    match root.best() {
        Some(best) => Outcome {
            score: Score::from_value(best.value),
            pv: told.moves::<B>(&best.pv),
            depth: best.depth.unsigned_abs(),
            nodes,
        },
        None => Outcome { score: Score::Centipawns(0), pv: Vec::new(), depth: 0, nodes },
    }
}

fn found_mate<M>(limits: &Limits, best: Option<&RootMove<M>>) -> bool {
    match (limits.mate, best.map(|best| Score::from_value(best.value))) {
        (Some(limit), Some(Score::Wins { plies })) => plies <= limit,
        _ => false,
    }
}

/// What is told about a search.
struct Told<'a> {
    position: &'a Position,
    shared: &'a Shared<'a>,
    control: &'a dyn Control,
}

impl Told<'_> {
    /// Moves from the root on, as the rules know them.
    fn moves<B: Board>(&self, line: &[B::Move]) -> Vec<Move> {
        let mut position = self.position.clone();
        let mut moves = Vec::with_capacity(line.len());
        for &mv in line {
            let Ok(mv) = position.parse_move(&B::word(mv)) else { break };
            moves.push(mv);
            if position.play(mv).is_err() {
                break;
            }
        }
        moves
    }

    fn report<B: Board>(&self, root: &Root<'_, B>) {
        for (index, line) in root.told().iter().enumerate() {
            let pv = self.moves::<B>(&line.pv);
            let longest = line.longest.max(usize::try_from(line.depth).unwrap_or(0)).min(MAX_PLY);
            self.control.report(&Report {
                depth: line.depth.unsigned_abs(),
                seldepth: u32::try_from(longest).unwrap_or(u32::MAX),
                multipv: index + 1,
                score: Score::from_value(line.value),
                nodes: self.shared.nodes.load(Relaxed).max(root.search.nodes),
                time: self.control.elapsed(),
                hashfull: self.shared.table.permille_used(),
                pv: &pv,
            });
        }
    }
}
