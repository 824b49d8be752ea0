//! One search from its beginning to its end: its threads, and what is told about it.

use std::{
    cell::Cell,
    iter,
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    thread,
};

use readyok_rules::{Move, Position};

use super::{
    Reductions, Search, Shared,
    currline::{Viewer, Watch},
    history::Histories,
    root::{Progress, Root, RootMove, value_without_moves},
    timeman::{Pace, Stalls},
    tt::Table,
};
use crate::{
    board::{Board, ByTables},
    control::{Control, Limits, Report},
    eval::{
        Evaluation, HandWritten,
        network::{Network, Sums},
    },
    mate::{
        Solver,
        root::{Looks, RootMates},
    },
    platform::useful,
    score::{DRAW, MAX_PLY, Score, Value, table_win},
    searcher::Outcome,
};

/// Mates within so many plies are searched for without leaving anything out.
const FULL_WIDTH: u32 = 5;

/// What a search is asked for and what it works with.
pub(crate) struct Run<'a> {
    pub(crate) position: &'a Position,
    pub(crate) table: &'a Table,
    pub(crate) limits: &'a Limits,
    pub(crate) control: &'a dyn Control,
    pub(crate) stalls: &'a Stalls,
}

impl Run<'_> {
    /// Searches on one game's board; not if that board does not take the position.
    pub(crate) fn search<B: Board>(
        &self,
        memory: &mut Vec<Histories<B>>,
        network: Option<&Network>,
        solver: Option<&mut Solver>,
    ) -> Option<Outcome> {
        let board = B::new(self.position, self.limits)?;
        let mut search = |run: &Run<'_>, solver| match network {
            Some(network) => run.with(&board, memory, solver, &|board| Sums::new(network, board)),
            None => run.with(&board, memory, solver, &|_| HandWritten),
        };
        let Some(limit) = self.limits.mate.filter(|&plies| plies > FULL_WIDTH) else {
            return search(self, solver);
        };
        // What a search leaves out to see further may be a mate that is near.
        let near = Limits { mate: Some(FULL_WIDTH), ..self.limits.clone() };
        let found = search(&Run { limits: &near, ..*self }, None)?;
        let whole = self.limits.depth.map_or(FULL_WIDTH, |depth| depth.clamp(1, FULL_WIDTH));
        let is_mate = matches!(found.score, Score::Wins { plies } if plies <= limit);
        let nodes = self.limits.nodes.map(|nodes| nodes.saturating_sub(found.nodes));
        if is_mate || found.depth < whole || nodes == Some(0) {
            return Some(found);
        }
        let rest = Limits { nodes, ..self.limits.clone() };
        search(&Run { limits: &rest, ..*self }, solver)
    }

    fn with<B: Board, E: Evaluation<B>>(
        &self,
        board: &B,
        memory: &mut Vec<Histories<B>>,
        solver: Option<&mut Solver>,
        evaluation: &(dyn Fn(&B) -> E + Sync),
    ) -> Option<Outcome> {
        let Self { position, table, limits, .. } = *self;
        let threads = useful(limits.threads);
        memory.resize_with(threads.max(memory.len()), Histories::new);
        let reductions = Reductions::new(B::TUNING.reduction);
        // A table says that a game is won, and not how soon it is mate.
        let tables = limits.tables.as_ref().filter(|_| limits.mate.is_none());
        let shared = Shared {
            table,
            reductions: &reductions,
            stop: AtomicBool::new(false),
            nodes: AtomicU64::new(0),
            draw: limits.draw,
            tbhits: AtomicU64::new(0),
            tables,
            learned: limits.learned.as_deref(),
            full_width: limits.mate.is_some_and(|plies| plies <= FULL_WIDTH),
        };
        let by_tables = tables.and_then(|tables| board.moves_by_tables(tables, table_win(0)));
        if by_tables.is_some() {
            shared.tbhits.fetch_add(1, Relaxed);
        }
        let by_tables = by_tables.unwrap_or_default();
        let wanted = |mv: B::Move| {
            if limits.searchmoves.is_empty() {
                return false;
            }
            let mv = position.parse_move(&B::word(mv));
            limits.searchmoves.iter().any(|wanted| mv.as_ref() == Ok(wanted))
        };
        let mut memory = memory.iter_mut();
        let own = memory.next()?;
        let watch = Watch::new();
        thread::scope(|scope| {
            for (number, histories) in memory.take(threads - 1).enumerate() {
                let (board, shared, wanted) = (board.clone(), &shared, &wanted);
                let watch = &watch;
                let by_tables = by_tables.as_slice();
                let spawned =
                    thread::Builder::new().name("search".into()).spawn_scoped(scope, move || {
                        // The thread that leads may sleep while the others search.
                        let mut answered = 0;
                        let mut poll = |path: &[B::Move]| {
                            watch.answer(&mut answered, number + 2, path);
                            limits.nodes.is_some_and(|limit| shared.nodes.load(Relaxed) >= limit)
                        };
                        let own = evaluation(&board);
                        let search = Search::new(board, own, shared, histories, None, &mut poll);
                        let mut root = Root::new(search, wanted, by_tables, limits.multipv, false);
                        // Different depths keep the threads from doing the same.
                        let first = 1 + i32::from(number.is_multiple_of(2));
                        root.deepen(first, i32::MAX, &mut |_, _| true);
                        root.search.count();
                    });
                // With fewer threads it takes longer, and that is all.
                drop(spawned);
            }
            let viewer = Viewer::new(&watch, threads - 1);
            let own = Own { histories: own, solver, viewer };
            let outcome =
                self.lead(board.clone(), evaluation(board), &shared, own, &wanted, &by_tables);
            shared.stop.store(true, Relaxed);
            Some(outcome)
        })
    }

    /// Searches with the thread that talks to the control.
    fn lead<B: Board, E: Evaluation<B>>(
        &self,
        board: B,
        evaluation: E,
        shared: &Shared<'_>,
        own: Own<'_, B>,
        wanted: &dyn Fn(B::Move) -> bool,
        by_tables: &[ByTables],
    ) -> Outcome {
        let Self { position, limits, control, stalls, .. } = *self;
        let bounds = || stalls.within(control.bounds(), limits.exact_time);
        let without_moves = value_without_moves(&board);
        // What was taught of a position says nothing of some of its moves alone.
        let learned = shared.learned.filter(|_| limits.searchmoves.is_empty());
        let learned = learned.and_then(|learned| learned.of_key(board.key()));
        let node_limit = limits.nodes;
        let alone = limits.threads <= 1;
        let told = Told { position, shared, control, learned };
        let mut viewer = own.viewer;
        let pace = Cell::new(Pace::new(limits.ponders));
        let mut poll = |path: &[B::Move]| {
            let stopped = control.stopped();
            let elapsed = control.elapsed();
            stalls.poll(elapsed);
            if limits.currlines
                && let Some(others) = viewer.look(elapsed)
            {
                control.currline(&told.moves::<B>(path), usize::from(!alone));
                for (thread, line) in others {
                    control.currline(&told.moves::<B>(&line), thread);
                }
            }
            let bounds = bounds();
            stopped
                || bounds.hard.is_some_and(|end| elapsed >= end)
                || pace.get().breaks_off(elapsed, bounds)
                || !alone && node_limit.is_some_and(|limit| shared.nodes.load(Relaxed) >= limit)
        };
        let search = Search::new(board, evaluation, shared, own.histories, node_limit, &mut poll);
        let mut root = Root::new(search, wanted, by_tables, limits.multipv, limits.refutations);
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
        // Several lines are compared, and wanted moves are searched, whatever else is known.
        let compared = limits.multipv > 1 || !limits.searchmoves.is_empty();
        let solver =
            own.solver.filter(|_| enabled!(RootMates) && !compared && root.moves.len() > 1);
        let counted = limits.nodes.is_some() || limits.depth.is_some();
        let often = if counted { Looks::BY_NODES } else { Looks::BY_TIME };
        let mut mates = solver.map(|solver| RootMates::new(solver, often, limits.mate));
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
                let (mut settled, mut refuted, mut stopped) = (false, false, false);
                if let Some(mates) = &mut mates {
                    let mut stop = || {
                        let elapsed = control.elapsed();
                        // The time of the solver is no delay.
                        stalls.poll(elapsed);
                        let end = bounds().hard;
                        stopped = control.stopped() || end.is_some_and(|it| elapsed >= it);
                        stopped
                    };
                    settled = mates.settles(root, &mut stop);
                    while !settled && mates.refutes(root, &mut stop) {
                        refuted = true;
                    }
                }
                told.report(root);
                for other in root.moves.iter().skip(root.told().len()) {
                    let line: Vec<_> = iter::once(other.mv).chain(other.refutation).collect();
                    if let [mv, answers @ ..] = told.moves::<B>(&line).as_slice() {
                        control.refutation(*mv, answers);
                    }
                }
                let mut known = pace.get();
                known.update(root);
                pace.set(known);
                let only = root.moves.len() == 1 && root.search.depth >= 5;
                let hurries = only && !limits.exact_time;
                let must_end =
                    settled || stopped || found_mate(limits, root.best()) || control.stopped();
                // What comes after a move that was taken out has to be searched first.
                let needs_more = refuted && !only;
                let is_over = || known.is_over(control.elapsed(), bounds(), hurries);
                !must_end && (needs_more || !is_over())
            }
        });
        root.search.count();
        if root.search.is_stopped() || root.best().is_some_and(|best| best.depth == 0) {
            // The last word on a search that was broken off is what will be played.
            told.report(&root);
        }
        told.outcome(&root)
    }
}

/// What the thread that leads a search has for itself.
struct Own<'a, B: Board> {
    histories: &'a mut Histories<B>,
    solver: Option<&'a mut Solver>,
    /// What the others are at.
    viewer: Viewer<'a, B::Move>,
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
    /// What the user has taught of the root.
    learned: Option<Value>,
}

impl Told<'_> {
    /// The value of a line as it is told, which is the best one or a later one. The user knows best:
    /// the position is worth what was taught, and no line more. A mate that was found says more than
    /// a table.
    fn score<M>(&self, line: &RootMove<M>, is_best: bool) -> Score {
        let value = match (Score::from_value(line.value), line.by_tables.map(|it| it.value)) {
            (Score::Centipawns(_), Some(DRAW)) => self.shared.draw,
            (Score::Centipawns(_), Some(promised)) => promised,
            _ => line.value,
        };
        Score::from_value(match self.learned {
            Some(learned) if is_best => learned,
            Some(learned) => value.min(learned),
            None => value,
        })
    }

    /// Whether a line's value is that of a draw by tables, and nothing that was taught.
    fn is_drawn<M>(&self, line: &RootMove<M>) -> bool {
        self.learned.is_none()
            && matches!(Score::from_value(line.value), Score::Centipawns(_))
            && line.by_tables.is_some_and(|it| it.value == DRAW)
    }

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

    /// What the search comes to.
    fn outcome<B: Board, E: Evaluation<B>>(&self, root: &Root<'_, B, E>) -> Outcome {
        let nodes = self.shared.nodes.load(Relaxed).max(root.search.nodes);
        match root.best() {
            Some(best) => Outcome {
                score: self.score(best, true),
                pv: self.moves::<B>(&best.pv),
                depth: best.depth.unsigned_abs(),
                nodes,
            },
            None => Outcome { score: Score::Centipawns(0), pv: Vec::new(), depth: 0, nodes },
        }
    }

    fn report<B: Board, E: Evaluation<B>>(&self, root: &Root<'_, B, E>) {
        for (index, line) in root.told().iter().enumerate() {
            let pv = self.moves::<B>(&line.pv);
            let longest = line.longest.max(usize::try_from(line.depth).unwrap_or(0)).min(MAX_PLY);
            self.control.report(&Report {
                depth: line.depth.unsigned_abs(),
                seldepth: u32::try_from(longest).unwrap_or(u32::MAX),
                multipv: index + 1,
                score: self.score(line, index == 0),
                seen: Score::from_value(line.value),
                drawn: self.is_drawn(line),
                nodes: self.shared.nodes.load(Relaxed).max(root.search.nodes),
                time: self.control.elapsed(),
                hashfull: self.shared.table.permille_used(),
                tbhits: self.shared.tbhits.load(Relaxed),
                pv: &pv,
            });
        }
    }
}

/// Any legal move, for a position that cannot be searched.
pub(crate) fn unsearched(position: &Position, limits: &Limits, control: &dyn Control) -> Outcome {
    let legal = position.legal_moves();
    let wanted = legal.iter().find(|mv| limits.searchmoves.contains(mv));
    let pv: Vec<Move> = wanted.or_else(|| legal.first()).copied().into_iter().collect();
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
            seen: score,
            drawn: false,
            nodes: 0,
            time: control.elapsed(),
            hashfull: 0,
            tbhits: 0,
            pv: &pv,
        });
    }
    Outcome { score, pv, depth: 0, nodes: 0 }
}
