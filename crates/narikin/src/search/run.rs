//! Runs a search: threads, limits and reports.

use std::{
    cell::Cell,
    iter,
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    thread,
};

use readyok_engine::protocol::Bound;
use readyok_rules::{Move, Position};

use super::{
    Reductions, Search, Shared, Tuning,
    currline::{CurrLineReporter, CurrLines},
    history::Histories,
    root::{Progress, Root, RootMove, value_without_moves},
    timeman::{SchedulingDelays, TimeManager},
    tt::TranspositionTable,
    vote,
};
use crate::{
    board::{Board, TbMove},
    control::{Control, Limits, Report, SearchResult},
    mate::{
        Solver,
        root::{MateSearchShare, RootMateSearch},
    },
    network::Network,
    platform::thread_count,
    score::{DRAW, MAX_PLY, Score, Value, tb_win},
};

/// Mate searches up to this many plies use a full-width search.
const FULL_WIDTH: u32 = 5;

/// The inputs of a search.
pub(crate) struct Run<'a> {
    pub(crate) position: &'a Position,
    /// A network for the game.
    pub(crate) network: &'a Network,
    pub(crate) tt: &'a TranspositionTable,
    pub(crate) limits: &'a Limits,
    pub(crate) control: &'a dyn Control,
    pub(crate) delays: &'a SchedulingDelays,
}

impl Run<'_> {
    /// Searches on the board of a game; none if that board does not support the position.
    pub(crate) fn search<B: Board>(
        &self,
        memory: &mut Vec<Histories<B>>,
        solver: Option<&mut Solver>,
    ) -> Option<SearchResult> {
        let board = B::new(self.position, self.limits)?;
        let mut search = |run: &Run<'_>, solver| run.with(&board, memory, solver);
        let Some(limit) = self.limits.mate.filter(|&plies| plies > FULL_WIDTH) else {
            return search(self, solver);
        };
        // Pruning may miss a short mate, so a full-width search comes first.
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

    fn with<B: Board>(
        &self,
        board: &B,
        memory: &mut Vec<Histories<B>>,
        solver: Option<&mut Solver>,
    ) -> Option<SearchResult> {
        let Self { position, network, tt, limits, control, .. } = *self;
        let threads = thread_count(limits.threads);
        memory.resize_with(threads.max(memory.len()), Histories::new);
        let reductions = Reductions::new(Tuning::of::<B>().reduction);
        // Tablebases have no distance to mate.
        let tables = limits.tables.as_ref().filter(|_| limits.mate.is_none());
        let shared = Shared {
            tt,
            reductions: &reductions,
            stop: AtomicBool::new(false),
            nodes: AtomicU64::new(0),
            draw: limits.draw,
            tbhits: AtomicU64::new(0),
            tables,
            position_values: limits.position_values.as_deref(),
            full_width: limits.mate.is_some_and(|plies| plies <= FULL_WIDTH),
        };
        let tb = tables.and_then(|tables| board.probe_root(tables, tb_win(0)));
        if tb.is_some() {
            shared.tbhits.fetch_add(1, Relaxed);
        }
        let tb = tb.unwrap_or_default();
        let requested = |mv: B::Move| {
            if limits.searchmoves.is_empty() {
                return false;
            }
            let mv = B::moves(position, &[mv]).next();
            limits.searchmoves.iter().any(|requested| mv.as_ref() == Some(requested))
        };
        let mut memory = memory.iter_mut();
        let own = memory.next()?;
        // A value set for the position does not apply to a subset of its moves.
        let position_values = shared.position_values.filter(|_| limits.searchmoves.is_empty());
        let position_values = position_values.and_then(|values| values.get_by_key(board.key()));
        let reporter =
            Reporter { position, shared: &shared, control, position_values, depth: Cell::new(0) };
        // Other results are of a fixed depth, or complete only in the main thread.
        let votes = limits.multipv <= 1 && limits.depth.is_none() && limits.mate.is_none();
        let lines = CurrLines::new();
        thread::scope(|scope| {
            let mut helpers = Vec::new();
            for (number, histories) in memory.take(threads - 1).enumerate() {
                let (board, shared, requested) = (board.clone(), &shared, &requested);
                let lines = &lines;
                let tb = tb.as_slice();
                let spawned =
                    thread::Builder::new().name("search".into()).spawn_scoped(scope, move || {
                        // Helper threads check the node limit as well, as the main thread may be
                        // descheduled.
                        let mut submitted = 0;
                        let mut poll = |path: &[B::Move]| {
                            lines.submit(&mut submitted, number + 2, path);
                            limits.nodes.is_some_and(|limit| shared.nodes.load(Relaxed) >= limit)
                        };
                        let search =
                            Search::new(board, network, shared, histories, None, &mut poll);
                        let mut root = Root::new(search, requested, tb, limits.multipv, false);
                        // Different depths diversify the threads.
                        let first = 1 + i32::from(number.is_multiple_of(2));
                        root.deepen(first, i32::MAX, &mut |_, _| true);
                        root.search.count();
                        root.moves.into_iter().next()
                    });
                // A thread that fails to start is ignored.
                helpers.extend(spawned.ok());
            }
            let viewer = CurrLineReporter::new(&lines, threads - 1);
            let own = MainThread { histories: own, solver, viewer };
            let (result, best) = self.main_thread(board.clone(), &reporter, own, &requested, &tb);
            shared.stop.store(true, Relaxed);
            let mut lines: Vec<_> = best.into_iter().collect();
            for helper in helpers {
                lines.extend(helper.join().ok().flatten());
            }
            let Some(selected) = vote::select(&lines).filter(|_| votes) else {
                return Some(result);
            };
            if lines.first().is_some_and(|main| main.mv == selected.mv) {
                return Some(result);
            }
            // Clients expect that the depth does not decrease.
            let mut selected = selected.clone();
            selected.depth = selected.depth.max(reporter.depth.get());
            reporter.report_line::<B>(&selected, 0, Bound::Exact, result.nodes);
            Some(reporter.result::<B>(Some(&selected), result.nodes))
        })
    }

    /// The main thread, which reports to the control.
    fn main_thread<B: Board>(
        &self,
        board: B,
        reporter: &Reporter<'_>,
        own: MainThread<'_, B>,
        requested: &dyn Fn(B::Move) -> bool,
        tb: &[TbMove],
    ) -> (SearchResult, Option<RootMove<B::Move>>) {
        let Self { position, limits, control, delays, .. } = *self;
        let shared = reporter.shared;
        let bounds = || delays.within(control.bounds(), limits.exact_time);
        let without_moves = value_without_moves(&board);
        let node_limit = limits.nodes;
        let alone = limits.threads <= 1;
        let mut viewer = own.viewer;
        let timeman = Cell::new(TimeManager::new(limits.ponders, limits.full_seconds));
        let mut poll = |path: &[B::Move]| {
            let stopped = control.stopped();
            let elapsed = control.elapsed();
            delays.poll(elapsed);
            if limits.currlines
                && let Some(others) = viewer.poll(elapsed)
            {
                control.currline(&reporter.moves::<B>(path), usize::from(!alone));
                for (thread, line) in others {
                    control.currline(&reporter.moves::<B>(&line), thread);
                }
            }
            let bounds = bounds();
            stopped
                || bounds.hard.is_some_and(|end| elapsed >= end)
                || timeman.get().should_abort(elapsed, bounds)
                || !alone && node_limit.is_some_and(|limit| shared.nodes.load(Relaxed) >= limit)
        };
        let search = Search::new(board, self.network, shared, own.histories, node_limit, &mut poll);
        let mut root = Root::new(search, requested, tb, limits.multipv, limits.refutations);
        if root.moves.is_empty() {
            let score = Score::from_value(without_moves);
            return (SearchResult { score, pv: Vec::new(), depth: 0, nodes: 0 }, None);
        }
        let within = |limit: Option<u32>| {
            limit.map_or(i32::MAX, |limit| i32::try_from(limit).unwrap_or(i32::MAX).max(1))
        };
        let mate = limits.mate.filter(|_| shared.full_width);
        let last = within(limits.depth).min(within(mate));
        // Mate solver results would distort MultiPV and `searchmoves`.
        let compared = limits.multipv > 1 || !limits.searchmoves.is_empty();
        let solver = own.solver.filter(|_| !compared && root.moves.len() > 1);
        let reported_nodes = limits.nodes.is_some() || limits.depth.is_some();
        let often =
            if reported_nodes { MateSearchShare::BY_NODES } else { MateSearchShare::BY_TIME };
        let mut mates = solver.map(|solver| RootMateSearch::new(solver, often, limits.mate));
        root.deepen(1, last, &mut |root, progress| match progress {
            Progress::Move(index) => {
                if let Some(first) = root.moves.get(index)
                    && let Some(mv) = B::moves(position, &[first.mv]).next()
                {
                    control.currmove(mv, index + 1);
                }
                true
            }
            Progress::Bound(index, bound) => {
                if control.reports_bounds() {
                    reporter.report_bound(root, index, bound);
                }
                true
            }
            Progress::Iteration => {
                let (mut settled, mut refuted, mut stopped) = (false, false, false);
                if let Some(mates) = &mut mates {
                    let mut stop = || {
                        let elapsed = control.elapsed();
                        // The solver's time is not a scheduling delay.
                        delays.poll(elapsed);
                        let end = bounds().hard;
                        stopped = control.stopped() || end.is_some_and(|end| elapsed >= end);
                        stopped
                    };
                    settled = mates.finds_mate(root, &mut stop);
                    while !settled && mates.drops_mated(root, &mut stop) {
                        refuted = true;
                    }
                }
                reporter.report(root);
                for other in root.moves.iter().skip(root.reported_lines().len()) {
                    let line: Vec<_> = iter::once(other.mv).chain(other.refutation).collect();
                    if let [mv, replies @ ..] = reporter.moves::<B>(&line).as_slice() {
                        control.refutation(*mv, replies);
                    }
                }
                let mut known = timeman.get();
                known.update(root);
                timeman.set(known);
                let only = root.moves.len() == 1 && root.search.depth >= 5;
                let hurries = only && !limits.exact_time;
                let must_end =
                    settled || stopped || found_mate(limits, root.best()) || control.stopped();
                // After a refuted best move another iteration is needed.
                let needs_more = refuted && !only;
                let should_stop_iterating =
                    || known.should_stop_iterating(control.elapsed(), bounds(), hurries);
                !must_end && (needs_more || !should_stop_iterating())
            }
        });
        root.search.count();
        if root.search.is_stopped() || root.best().is_some_and(|best| best.depth == 0) {
            // Reports the move that will be played after an aborted search.
            reporter.report(&root);
        }
        let nodes = reporter.nodes(&root);
        (reporter.result::<B>(root.best(), nodes), root.moves.into_iter().next())
    }
}

/// State of the main thread.
struct MainThread<'a, B: Board> {
    histories: &'a mut Histories<B>,
    solver: Option<&'a mut Solver>,
    /// Current lines of the helper threads.
    viewer: CurrLineReporter<'a, B::Move>,
}

fn found_mate<M>(limits: &Limits, best: Option<&RootMove<M>>) -> bool {
    match (limits.mate, best.map(|best| Score::from_value(best.value))) {
        (Some(limit), Some(Score::Wins { plies })) => plies <= limit,
        _ => false,
    }
}

/// Converts search results to reports.
struct Reporter<'a> {
    position: &'a Position,
    shared: &'a Shared<'a>,
    control: &'a dyn Control,
    /// The value set for the root by the user.
    position_values: Option<Value>,
    /// The greatest depth of a reported best line.
    depth: Cell<i32>,
}

impl Reporter<'_> {
    /// The reported score of a line. A value set by the user has priority and bounds all lines; a
    /// mate found by the search has priority over tablebases.
    fn score<M>(&self, line: &RootMove<M>, is_best: bool) -> Score {
        let value = match (Score::from_value(line.value), line.tb.map(|tb| tb.value)) {
            (Score::Centipawns(_), Some(DRAW)) => self.shared.draw,
            (Score::Centipawns(_), Some(promised)) => promised,
            _ => line.value,
        };
        Score::from_value(match self.position_values {
            Some(position_values) if is_best => position_values,
            Some(position_values) => value.min(position_values),
            None => value,
        })
    }

    /// Whether the score is a tablebase draw.
    fn is_drawn<M>(&self, line: &RootMove<M>) -> bool {
        self.position_values.is_none()
            && matches!(Score::from_value(line.value), Score::Centipawns(_))
            && line.tb.is_some_and(|tb| tb.value == DRAW)
    }

    /// Converts moves from the root on to moves of the rules.
    fn moves<B: Board>(&self, line: &[B::Move]) -> Vec<Move> {
        B::moves(self.position, line).collect()
    }

    fn nodes<B: Board>(&self, root: &Root<'_, B>) -> u64 {
        self.shared.nodes.load(Relaxed).max(root.search.nodes)
    }

    fn result<B: Board>(&self, best: Option<&RootMove<B::Move>>, nodes: u64) -> SearchResult {
        match best {
            Some(best) => SearchResult {
                score: self.score(best, true),
                pv: self.moves::<B>(&best.pv),
                depth: best.depth.unsigned_abs(),
                nodes,
            },
            None => SearchResult { score: Score::Centipawns(0), pv: Vec::new(), depth: 0, nodes },
        }
    }

    fn report<B: Board>(&self, root: &Root<'_, B>) {
        for (index, line) in root.reported_lines().iter().enumerate() {
            self.report_line::<B>(line, index, Bound::Exact, self.nodes(root));
        }
    }

    /// Reports a line that is searched again with a wider window, at the depth of the iteration.
    fn report_bound<B: Board>(&self, root: &Root<'_, B>, index: usize, bound: Bound) {
        if let Some(line) = root.moves.get(index) {
            let mut line = line.clone();
            line.depth = root.search.depth;
            self.report_line::<B>(&line, index, bound, self.nodes(root));
        }
    }

    fn report_line<B: Board>(
        &self,
        line: &RootMove<B::Move>,
        index: usize,
        bound: Bound,
        nodes: u64,
    ) {
        if index == 0 && bound == Bound::Exact {
            self.depth.set(self.depth.get().max(line.depth));
        }
        let pv = self.moves::<B>(&line.pv);
        let sel_depth = line.sel_depth.max(usize::try_from(line.depth).unwrap_or(0)).min(MAX_PLY);
        self.control.report(&Report {
            depth: line.depth.unsigned_abs(),
            seldepth: u32::try_from(sel_depth).unwrap_or(u32::MAX),
            multipv: index + 1,
            score: self.score(line, index == 0),
            bound,
            seen: Score::from_value(line.value),
            drawn: self.is_drawn(line),
            nodes,
            time: self.control.elapsed(),
            hashfull: self.shared.tt.permille_used(),
            tbhits: self.shared.tbhits.load(Relaxed),
            pv: &pv,
        });
    }
}

/// The result for a position that the search does not support: any legal move.
pub(crate) fn unsearched(
    position: &Position,
    limits: &Limits,
    control: &dyn Control,
) -> SearchResult {
    let legal = position.legal_moves();
    let requested = legal.iter().find(|mv| limits.searchmoves.contains(mv));
    let pv: Vec<Move> = requested.or_else(|| legal.first()).copied().into_iter().collect();
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
            bound: Bound::Exact,
            seen: score,
            drawn: false,
            nodes: 0,
            time: control.elapsed(),
            hashfull: 0,
            tbhits: 0,
            pv: &pv,
        });
    }
    SearchResult { score, pv, depth: 0, nodes: 0 }
}
