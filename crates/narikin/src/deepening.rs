//! Iterative deepening at the root: one line, or several with different first moves.

use readyok_rules::Move;

use crate::{
    board::Board,
    control::{Control, Limits, Report},
    score::{DRAW, INFINITE, MAX_PLY, Score, Value, mated_in},
    search::Search,
    searcher::Outcome,
    table::Table,
};

/// A first move and the line after it, as far as it has been searched.
#[derive(Clone)]
struct RootMove<M> {
    mv: M,
    value: Value,
    depth: i32,
    longest: usize,
    pv: Vec<Move>,
}

struct Root<'a, B: Board> {
    search: Search<'a, B>,
    limits: &'a Limits,
    /// Best first.
    moves: Vec<RootMove<B::Move>>,
}

/// Searches until a limit is reached or the control stops it.
pub(crate) fn deepen<B: Board>(
    board: B,
    table: &mut Table,
    limits: &Limits,
    control: &dyn Control,
) -> Outcome {
    let mut moves = Vec::new();
    // Before anything is searched, any legal move has to do.
    let value = board.evaluate();
    board.for_each_move(|mv| {
        moves.push(RootMove { mv, value, depth: 0, longest: 0, pv: vec![mv.into()] });
    });
    if moves.is_empty() {
        let mated = board.in_check() || B::STALEMATE_LOSES;
        let score = Score::from_value(if mated { mated_in(0) } else { DRAW });
        return Outcome { score, pv: Vec::new(), depth: 0, nodes: 0 };
    }
    if moves.iter().any(|root| limits.searchmoves.contains(&root.mv.into())) {
        moves.retain(|root| limits.searchmoves.contains(&root.mv.into()));
    }
    let search = Search::new(board, table, control, limits.nodes);
    Root { search, limits, moves }.run()
}

impl<B: Board> Root<'_, B> {
    fn run(mut self) -> Outcome {
        let deepest = i32::try_from(MAX_PLY).unwrap_or(i32::MAX) - 1;
        let within = |limit: Option<u32>| {
            limit.and_then(|limit| i32::try_from(limit).ok()).unwrap_or(deepest).clamp(1, deepest)
        };
        // A mate within so many plies shows at that depth or never.
        let last = within(self.limits.depth).min(within(self.limits.mate));
        for depth in 1..=last {
            self.search.depth = depth;
            if !self.iterate() {
                break;
            }
            self.report();
            if self.has_found_mate() || self.is_late() {
                break;
            }
        }
        if self.best().is_some_and(|best| best.depth == 0) || self.search.is_stopped() {
            // The last word on a search that was broken off is what will be played.
            self.report();
        }
        let nodes = self.search.nodes;
        match self.moves.into_iter().next() {
            Some(best) => Outcome {
                score: Score::from_value(best.value),
                pv: best.pv,
                depth: best.depth.unsigned_abs(),
                nodes,
            },
            None => Outcome { score: Score::Centipawns(DRAW), pv: Vec::new(), depth: 0, nodes },
        }
    }

    fn best(&self) -> Option<&RootMove<B::Move>> {
        self.moves.first()
    }

    /// How many lines to give.
    fn lines(&self) -> usize {
        self.limits.multipv.clamp(1, self.moves.len().max(1))
    }

    /// Searches all lines one ply deeper. Returns whether it could; if not, several lines stay as
    /// they were, so that they can be compared, while a single one takes what was found.
    fn iterate(&mut self) -> bool {
        let before = (self.lines() > 1).then(|| self.moves.clone());
        for line in 0..self.lines() {
            self.search_line(line);
            if self.search.is_stopped() {
                if let Some(before) = before {
                    self.moves = before;
                }
                return false;
            }
        }
        let lines = self.lines();
        if let Some(found) = self.moves.get_mut(..lines) {
            found.sort_by_key(|root| -root.value);
        }
        true
    }

    /// Finds the best move that no earlier line has and brings it to its place.
    fn search_line(&mut self, line: usize) {
        let mut best = -INFINITE;
        self.search.longest = 0;
        for index in line..self.moves.len() {
            let Some(root) = self.moves.get_mut(index) else { break };
            self.search.control.currmove(root.mv.into(), index + 1);
            let value = self.search.root_move(root.mv, best, index == line);
            if self.search.is_stopped() {
                break;
            }
            if value <= best {
                continue;
            }
            best = value;
            root.value = value;
            root.depth = self.search.depth;
            root.longest = self.search.longest;
            root.pv.truncate(1);
            root.pv.extend(self.search.line());
            // The others keep their order, in which the best of earlier iterations come first.
            if let Some(better) = self.moves.get_mut(line..=index) {
                better.rotate_right(1);
            }
        }
    }

    fn has_found_mate(&self) -> bool {
        let score = self.best().map(|best| Score::from_value(best.value));
        match (self.limits.mate, score) {
            (Some(limit), Some(Score::Wins { plies })) => plies <= limit,
            _ => false,
        }
    }

    fn is_late(&self) -> bool {
        let control = self.search.control;
        control.stopped() || control.bounds().soft.is_some_and(|end| control.elapsed() >= end)
    }

    fn report(&self) {
        let control = self.search.control;
        for (index, root) in self.moves.iter().take(self.lines()).enumerate() {
            control.report(&Report {
                depth: root.depth.unsigned_abs(),
                seldepth: u32::try_from(root.longest).unwrap_or(u32::MAX),
                multipv: index + 1,
                score: Score::from_value(root.value),
                nodes: self.search.nodes,
                time: control.elapsed(),
                hashfull: self.search.table.permille_used(),
                pv: &root.pv,
            });
        }
    }
}
