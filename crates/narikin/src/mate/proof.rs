//! Extracts the moves of a mate from a proof.

use readyok_rules::rsshogi::board::Position;
use readyok_rules::rsshogi::types::Move32;

use super::search::{Child, MAX_DEPTH, Search};
use super::table::ProofNumbers;
use super::{Solution, Solver, SolverLimits};

pub(super) fn solve(
    solver: &mut Solver,
    position: &Position,
    limits: &SolverLimits,
    stop: &mut dyn FnMut(u64) -> bool,
) -> Solution {
    let Solver { table, path, nodes } = solver;
    table.begin_search();
    path.clear();
    let mut search = Search {
        position: position.clone(),
        attacker: position.turn(),
        table,
        path,
        stop,
        stopped: false,
        nodes: 0,
        max_nodes: limits.nodes.unwrap_or(u64::MAX),
        plies: limits.plies.unwrap_or(u16::MAX),
        first: &limits.searchmoves,
        depth_limited: false,
        children: Vec::new(),
        moves: Vec::new(),
        more_moves: Vec::new(),
    };
    let solution = search.solve(limits.shorten);
    *nodes = search.nodes;
    solution
}

impl Search<'_> {
    fn solve(&mut self, shorten: u64) -> Solution {
        if self.position.king_square(self.attacker.flip()).is_none() {
            return Solution::NoMate;
        }
        let mut best = match self.prove_root() {
            Solution::Mate(line) => line,
            other => return other,
        };
        if shorten == 0 {
            return Solution::Mate(best);
        }
        let max_nodes = self.max_nodes;
        // Tries lengths in ascending order, so the first mate is the shortest.
        self.max_nodes = max_nodes.min(self.nodes.saturating_add(shorten));
        for plies in (1..best.len()).step_by(2) {
            self.plies = u16::try_from(plies).unwrap_or(MAX_DEPTH);
            match self.prove_root() {
                Solution::Mate(line) => return Solution::Mate(line),
                Solution::NoMate => {}
                Solution::Unknown => break,
            }
        }
        // If that exceeds the node limit, tries slightly shorter mates.
        self.stopped = false;
        self.max_nodes = max_nodes.min(self.nodes.saturating_add(shorten));
        while let Some(plies) = best.len().checked_sub(2) {
            self.plies = u16::try_from(plies).unwrap_or(MAX_DEPTH);
            match self.prove_root() {
                Solution::Mate(line) => best = line,
                Solution::NoMate | Solution::Unknown => break,
            }
        }
        Solution::Mate(best)
    }

    fn prove_root(&mut self) -> Solution {
        let numbers = self.visit(0, ProofNumbers::NEVER, &mut 0).data.numbers;
        if numbers.is_mate() {
            let mut line = Vec::new();
            return if self.follow(&mut line) { Solution::Mate(line) } else { Solution::Unknown };
        }
        if numbers.is_no_mate() && !self.depth_limited {
            Solution::NoMate
        } else {
            Solution::Unknown
        }
    }

    /// Follows the proof to the mate: the shortest known attack, the longest known defense. Results that
    /// the table has lost are proved again.
    fn follow(&mut self, line: &mut Vec<Move32>) -> bool {
        let start = self.position.clone();
        let ended = self.walk(line);
        self.position = start;
        self.path.truncate(0);
        ended
    }

    fn walk(&mut self, line: &mut Vec<Move32>) -> bool {
        for depth in 0..MAX_DEPTH {
            let attacking = depth.is_multiple_of(2);
            let hand = self.position.hand(self.attacker);
            self.path.push(self.key(depth), hand);
            let Some(next) = self.step(depth, attacking) else {
                return !attacking && self.position.is_in_check() && self.position.is_mated();
            };
            self.position.apply_move32(next);
            line.push(next);
        }
        false
    }

    /// The next move of the proof. `None` without a legal move or without a proof. Proves every reply of
    /// the defender.
    fn step(&mut self, depth: u16, attacking: bool) -> Option<Move32> {
        let base = self.children.len();
        self.expand(depth, true);
        let end = self.children.len();
        for index in base..end {
            if attacking && self.mates_since(base).next().is_some() {
                break;
            }
            self.prove(index, depth);
        }
        let next = if attacking {
            self.mates_since(base).min_by_key(|mate| mate.plies)
        } else if self.mates_since(base).count() == end - base {
            // The first one of the longest.
            self.mates_since(base)
                .reduce(|best, mate| if best.plies < mate.plies { mate } else { best })
        } else {
            None
        };
        let next = next.map(|child| child.mv);
        self.children.truncate(base);
        next
    }

    fn mates_since(&self, base: usize) -> impl Iterator<Item = &Child> {
        let children = self.children.get(base..).unwrap_or_default();
        children.iter().filter(|child| child.numbers.is_mate())
    }

    /// Searches a child until it is decided.
    fn prove(&mut self, index: usize, depth: u16) {
        let Some(child) = self.children.get(index).copied() else { return };
        if child.numbers.is_final() {
            return;
        }
        self.position.apply_move32(child.mv);
        let found = self.visit(depth + 1, ProofNumbers::NEVER, &mut 0);
        let undone = self.position.undo_move32(child.mv);
        debug_assert!(undone.is_ok(), "only the last move is unmade");
        if let Some(child) = self.children.get_mut(index) {
            child.update(&found.data);
        }
    }
}
