//! Proof-number search.
//!
//! At an even distance from the root the attacker is to move and gives check; otherwise the defender
//! is to move.

use readyok_rules::rsshogi::board::{ChecksAll, Move32Sink, Position};
use readyok_rules::rsshogi::mate::solve_mate_in_one_in_place;
use readyok_rules::rsshogi::movegen::{
    generate_legal_evasions_all_move32_into, generate_moves_move32_into,
};
use readyok_rules::rsshogi::types::{Color, Hand, Move32, PieceType};

use super::hands;
use super::table::{NEVER, NO_LOOP, NodeData, Path, ProofNumbers, ProofTable, mix};

/// The maximum depth, because the search is recursive.
pub(super) const MAX_DEPTH: u16 = 600;

/// Nodes between two polls of `stop`.
const POLL_INTERVAL: u64 = 64;

pub(super) struct Search<'a> {
    pub(super) position: Position,
    pub(super) attacker: Color,
    pub(super) table: &'a mut ProofTable,
    pub(super) path: &'a mut Path,
    pub(super) stop: &'a mut dyn FnMut(u64) -> bool,
    pub(super) stopped: bool,
    pub(super) nodes: u64,
    pub(super) max_nodes: u64,
    /// The maximum length of the mate; `u16::MAX` for any.
    pub(super) plies: u16,
    /// The allowed root moves; all if empty.
    pub(super) first: &'a [Move32],
    /// Whether a line reached the maximum depth, so the absence of a mate is not proved.
    pub(super) depth_limited: bool,
    /// The children of all nodes on the path.
    pub(super) children: Vec<Child>,
    pub(super) moves: Vec<Move32>,
    pub(super) more_moves: Vec<Move32>,
}

/// The result of a visit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) data: NodeData,
    pub(super) loop_from: u16,
}

/// The proof and disproof numbers from the children.
#[derive(Clone, Copy, Debug)]
struct Sum {
    numbers: ProofNumbers,
    /// The index of the most promising child.
    best: usize,
    /// The selection number of the second-best child.
    second: u32,
    /// The part of the other children in the summed number.
    others: u32,
    old: bool,
}

impl Search<'_> {
    /// The remaining plies of a mate of limited length.
    pub(super) const fn plies_left(&self, depth: u16) -> u16 {
        if self.plies == u16::MAX { u16::MAX } else { self.plies.saturating_sub(depth) }
    }

    /// Searches the position until its numbers reach the thresholds. `extra` is the number of
    /// nodes on the path that may be on a cycle. Their thresholds are raised until a new node is
    /// searched (Kishimoto's threshold control).
    pub(super) fn visit(&mut self, depth: u16, thresholds: ProofNumbers, extra: &mut u32) -> Found {
        let attacking = depth.is_multiple_of(2);
        let (key, hand) = (self.key(depth), self.position.hand(self.attacker));
        let (base, nodes) = (self.children.len(), self.nodes);
        self.path.push(key, hand);
        self.expand(depth, false);
        let mut sum = self.sum(base, attacking);
        let extra_before = *extra;
        if sum.old {
            *extra += 1;
        }
        loop {
            let limits = if *extra == 0 { thresholds } else { raise(thresholds, sum.numbers) };
            if sum.numbers.is_final() || !sum.numbers.are_under(limits) || self.must_stop() {
                break;
            }
            if depth >= MAX_DEPTH {
                self.depth_limited = true;
                sum.numbers = ProofNumbers::NO_MATE;
                break;
            }
            let Some(child) = self.children.get(base + sum.best).copied() else { break };
            let new = !child.visited;
            let under = child_thresholds(limits, &sum, attacking);
            self.position.apply_move32_with_gives_check(child.mv, child.gives_check);
            let found = self.visit(depth + 1, under, extra);
            let undone = self.position.undo_move32(child.mv);
            debug_assert!(undone.is_ok(), "only the last move is unmade");
            if let Some(child) = self.children.get_mut(base + sum.best) {
                child.update(&found.data);
                child.loop_from = found.loop_from;
                child.visited = true;
            }
            if new {
                *extra = extra.saturating_sub(1);
            }
            sum = self.sum(base, attacking);
        }
        *extra = extra_before.min(*extra);
        let mut found = self.conclude(base, attacking, sum.numbers);
        found.data.depth = depth;
        let final_here = found.loop_from >= depth;
        if self.depth_limited && found.data.numbers.is_no_mate() {
            found.loop_from = 0;
        } else if final_here {
            found.loop_from = NO_LOOP;
            let work = u32::try_from(self.nodes - nodes).unwrap_or(u32::MAX);
            self.table.put(key, found.data, work);
        } else {
            self.path.note_loop(found.loop_from);
        }
        self.children.truncate(base);
        self.path.pop();
        found
    }

    fn must_stop(&mut self) -> bool {
        self.stopped = self.stopped
            || self.nodes >= self.max_nodes
            || (self.nodes.is_multiple_of(POLL_INTERVAL) && (self.stop)(self.nodes));
        self.stopped
    }

    /// The numbers of a node from those of its children. One move of the attacker must be proved, but
    /// all moves of the defender.
    fn sum(&self, base: usize, attacking: bool) -> Sum {
        let children = self.children.get(base..).unwrap_or_default();
        let mut sum =
            Sum { numbers: ProofNumbers::NEVER, best: 0, second: NEVER, others: 0, old: false };
        let (mut least, mut total, mut of_best) = (NEVER, 0_u32, 0);
        for (index, child) in children.iter().enumerate() {
            let (choice, cost) = split(child.numbers, attacking);
            if choice == 0 {
                sum.best = index;
                sum.numbers = child.numbers;
                return sum;
            }
            if cost == 0 || self.is_deferred(base, child) {
                continue;
            }
            sum.old |= child.old;
            total = total.saturating_add(cost).min(NEVER - 1);
            if choice < least || (choice == least && cost < of_best) {
                sum.second = least;
                (least, of_best, sum.best) = (choice, cost, index);
            } else if choice < sum.second {
                sum.second = choice;
            }
        }
        sum.others = total - of_best;
        sum.numbers = if attacking {
            ProofNumbers { proof: least, disproof: total }
        } else {
            ProofNumbers { proof: total, disproof: least }
        };
        sum
    }

    /// Whether a sibling must be decided first.
    fn is_deferred(&self, base: usize, child: &Child) -> bool {
        let first = child.after.and_then(|index| self.children.get(base + usize::from(index)));
        first.is_some_and(|child| !child.numbers.is_final())
    }

    /// The result of a node with these numbers, and the hands for which it holds.
    fn conclude(&self, base: usize, attacking: bool, numbers: ProofNumbers) -> Found {
        let hand = self.position.hand(self.attacker);
        let children = self.children.get(base..).unwrap_or_default();
        let mut data = NodeData { numbers, hand, plies: 0, depth: 0 };
        let mut loop_from = NO_LOOP;
        if numbers.is_mate() {
            data.numbers = ProofNumbers::MATE;
            if attacking {
                let mates = children.iter().filter(|child| child.numbers.is_mate());
                if let Some(child) = mates.min_by_key(|mate| mate.plies) {
                    data.hand = hands::before(child.holds_for, child.mv, &self.position);
                    data.plies = child.plies + 1;
                }
            } else {
                let union = |all, child: &Child| hands::union(all, child.holds_for);
                let needed = children.iter().fold(Hand::ZERO, union);
                data.hand = hands::of_mate(&self.position, needed);
                data.plies = children.iter().map(|child| child.plies + 1).max().unwrap_or(0);
            }
        } else if numbers.is_no_mate() {
            data.numbers = ProofNumbers::NO_MATE;
            let all = hands::all(&self.position);
            if attacking {
                loop_from = children.iter().map(|child| child.loop_from).min().unwrap_or(NO_LOOP);
                let intersection = |bound, child: &Child| {
                    hands::intersection(
                        bound,
                        hands::before(child.holds_for, child.mv, &self.position),
                    )
                };
                data.hand =
                    hands::of_no_mate(&self.position, children.iter().fold(all, intersection));
            } else {
                let escapes = children.iter().filter(|child| child.numbers.is_no_mate());
                if let Some(child) = escapes.max_by_key(|escape| escape.loop_from) {
                    loop_from = child.loop_from;
                    data.hand = hands::intersection(all, child.holds_for);
                }
            }
            // A repetition holds for this hand only.
            if loop_from != NO_LOOP {
                data.hand = hand;
            }
        }
        Found { data, loop_from }
    }
}

/// The number that is minimized over the children, and the one that is summed.
const fn split(numbers: ProofNumbers, attacking: bool) -> (u32, u32) {
    if attacking { (numbers.proof, numbers.disproof) } else { (numbers.disproof, numbers.proof) }
}

/// The thresholds of the best child: until another one is better by a quarter, or the parent's
/// threshold is reached. The margin prevents frequent switches between children.
fn child_thresholds(parent: ProofNumbers, sum: &Sum, attacking: bool) -> ProofNumbers {
    let (choice, cost) = split(parent, attacking);
    let choice = choice.min(sum.second.saturating_add(sum.second / 4).saturating_add(1).min(NEVER));
    let cost = cost - sum.others;
    if attacking {
        ProofNumbers { proof: choice, disproof: cost }
    } else {
        ProofNumbers { proof: cost, disproof: choice }
    }
}

/// Thresholds above the numbers.
fn raise(thresholds: ProofNumbers, numbers: ProofNumbers) -> ProofNumbers {
    ProofNumbers {
        proof: thresholds.proof.max(numbers.proof.saturating_add(1).min(NEVER)),
        disproof: thresholds.disproof.max(numbers.disproof.saturating_add(1).min(NEVER)),
    }
}

/// A move and the data of the position after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Child {
    pub(super) mv: Move32,
    pub(super) gives_check: bool,
    /// The attacker's hand after the move.
    pub(super) hand: Hand,
    pub(super) numbers: ProofNumbers,
    /// The hand from which the numbers hold, if they are final.
    pub(super) holds_for: Hand,
    /// The length of the mate after the move, in plies.
    pub(super) plies: u16,
    /// If there is no mate because of a repetition: the least distance from the root of a position
    /// that repeats.
    pub(super) loop_from: u16,
    /// Whether the position was searched before.
    pub(super) visited: bool,
    /// Whether it was visited closer to the root.
    pub(super) old: bool,
    /// The sibling that must be decided before this one is searched.
    pub(super) after: Option<u16>,
}

impl Child {
    pub(super) fn update(&mut self, data: &NodeData) {
        self.numbers = data.numbers;
        self.holds_for = data.hand;
        self.plies = data.plies;
    }

    fn end_without_mate(&mut self) {
        self.numbers = ProofNumbers::NO_MATE;
        self.holds_for = self.hand;
    }
}

/// Collects generated moves.
pub(super) struct Sink<'a>(pub(super) &'a mut Vec<Move32>);

impl Move32Sink for Sink<'_> {
    fn push_move32(&mut self, mv: Move32) {
        self.0.push(mv);
    }

    fn retain_unordered<F: FnMut(Move32) -> bool>(&mut self, mut keep: F) {
        self.0.retain(|&mv| keep(mv));
    }
}

/// The checks of the side to move.
pub(super) fn checks(position: &Position, moves: &mut Vec<Move32>) {
    moves.clear();
    if position.is_in_check() {
        generate_legal_evasions_all_move32_into(position, &mut Sink(moves));
        moves.retain(|&mv| position.gives_check_move32(mv));
    } else {
        generate_moves_move32_into::<ChecksAll, _>(position, &mut Sink(moves));
        moves.retain(|&mv| position.is_legal_move32(mv));
    }
}

/// All evasions of a check.
pub(super) fn evasions(position: &Position, moves: &mut Vec<Move32>) {
    moves.clear();
    generate_legal_evasions_all_move32_into(position, &mut Sink(moves));
}

impl Search<'_> {
    /// Pushes the moves of the position to the stack of children: all, or those up to a decisive one.
    /// `depth` is the depth of the position, which is the last on the path.
    pub(super) fn expand(&mut self, depth: u16, all: bool) {
        self.nodes += 1;
        let attacking = depth.is_multiple_of(2);
        let mut moves = std::mem::take(&mut self.moves);
        if attacking {
            checks(&self.position, &mut moves);
        } else {
            evasions(&self.position, &mut moves);
        }
        if self.is_restricted(depth) {
            moves.retain(|mv| self.first.iter().any(|searched| searched.to_move() == mv.to_move()));
        }
        for (index, &mv) in moves.iter().enumerate() {
            let after = moves
                .get(..index)
                .and_then(|earlier| earlier.iter().rposition(|&other| defers(other, mv, attacking)))
                .and_then(|index| u16::try_from(index).ok());
            let child = self.child(mv, depth + 1, after);
            self.children.push(child);
            let found = child.numbers;
            let decides = if attacking { found.is_mate() } else { found.is_no_mate() };
            if !all && decides && child.loop_from == NO_LOOP {
                break;
            }
        }
        self.moves = moves;
    }

    /// Evaluates a child: repetition, table, or a quick check.
    fn child(&mut self, mv: Move32, depth: u16, after: Option<u16>) -> Child {
        let gives_check = !depth.is_multiple_of(2) || self.position.gives_check_move32(mv);
        self.position.apply_move32_with_gives_check(mv, gives_check);
        let (key, hand) = (self.key(depth), self.position.hand(self.attacker));
        let mut child = Child {
            mv,
            gives_check,
            hand,
            numbers: ProofNumbers::UNKNOWN,
            holds_for: hand,
            plies: 0,
            loop_from: NO_LOOP,
            visited: false,
            old: false,
            after,
        };
        if let Some(from) = self.path.repeats(key, hand).or_else(|| self.path.loops(key, hand)) {
            child.end_without_mate();
            child.loop_from = from;
        } else if self.position.is_repetition(3) {
            child.end_without_mate();
        } else if let Some(data) = self.table.get(key, hand) {
            child.update(&data);
            child.visited = true;
            child.old = data.depth < depth;
        } else {
            self.evaluate_new_child(&mut child, depth);
        }
        let undone = self.position.undo_move32(mv);
        debug_assert!(undone.is_ok(), "only the last move is unmade");
        child
    }

    /// Evaluates a new position without search.
    fn evaluate_new_child(&mut self, child: &mut Child, depth: u16) {
        if depth.is_multiple_of(2) {
            if let Some(mv) = solve_mate_in_one_in_place(&mut self.position) {
                child.numbers = ProofNumbers::MATE;
                child.plies = 1;
                self.position.apply_move32_with_gives_check(mv, true);
                let needed = hands::of_mate(&self.position, Hand::ZERO);
                let undone = self.position.undo_move32(mv);
                debug_assert!(undone.is_ok(), "only the last move is unmade");
                child.holds_for = hands::before(needed, mv, &self.position);
            } else if self.plies_left(depth) <= 1 {
                child.end_without_mate();
            }
        } else if self.position.is_mated() {
            child.numbers = ProofNumbers::MATE;
            child.holds_for = hands::of_mate(&self.position, Hand::ZERO);
        } else if self.plies_left(depth) == 0 {
            child.end_without_mate();
        } else {
            let mut moves = std::mem::take(&mut self.more_moves);
            evasions(&self.position, &mut moves);
            child.numbers.proof = u32::try_from(moves.len()).unwrap_or(NEVER).max(1);
            self.more_moves = moves;
        }
    }

    /// Whether the moves are restricted: only at the root.
    fn is_restricted(&self, depth: u16) -> bool {
        depth == 0 && !self.first.is_empty()
    }

    /// The key of the board in the table and the path. It includes the remaining plies of a mate of
    /// limited length and the restriction of root moves, as results do not hold beyond them.
    pub(super) fn key(&self, depth: u16) -> u64 {
        let board = self.position.board_key().low_u64();
        let board = if self.is_restricted(depth) { mix(board) } else { board };
        if self.plies == u16::MAX { board } else { board ^ mix(u64::from(self.plies_left(depth))) }
    }
}

/// Whether a move is searched only after an earlier one is decided: another piece dropped on the same
/// square, or a non-promotion that seldom helps.
fn defers(earlier: Move32, later: Move32, attacking: bool) -> bool {
    let same_square = earlier.to_sq() == later.to_sq();
    if attacking {
        let rarely_useful = matches!(
            later.piece_after_move().piece_type(),
            PieceType::PAWN | PieceType::LANCE | PieceType::BISHOP | PieceType::ROOK
        );
        same_square
            && rarely_useful
            && !earlier.is_drop()
            && !later.is_drop()
            && earlier.is_promotion()
            && earlier.from_sq() == later.from_sq()
    } else {
        same_square && earlier.is_drop() && later.is_drop()
    }
}
