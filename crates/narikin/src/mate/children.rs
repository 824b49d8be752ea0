//! The moves of a position, with what is known of the positions after them.

use readyok_rules::rsshogi::board::{ChecksAll, Move32Sink, Position};
use readyok_rules::rsshogi::mate::solve_mate_in_one_in_place;
use readyok_rules::rsshogi::movegen::{
    generate_legal_evasions_all_move32_into, generate_moves_move32_into,
};
use readyok_rules::rsshogi::types::{Hand, Move32, PieceType};

use super::hands;
use super::numbers::{NEVER, Numbers};
use super::path::NO_LOOP;
use super::search::Search;
use super::table::Known;

/// A move and what is known of the position after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Child {
    pub(super) mv: Move32,
    pub(super) gives_check: bool,
    /// The attacker's hand after the move.
    pub(super) hand: Hand,
    pub(super) numbers: Numbers,
    /// For which hands the numbers hold, if they are final.
    pub(super) holds_for: Hand,
    /// How many plies the mate takes after the move.
    pub(super) plies: u16,
    /// If there is no mate because of a repetition: the least distance from the root of a position
    /// that repeats.
    pub(super) loop_from: u16,
    /// Whether the position was searched before.
    pub(super) visited: bool,
    /// Whether it was met closer to the root.
    pub(super) old: bool,
    /// Which of its siblings has to be done with before this one is of interest.
    pub(super) after: Option<u16>,
}

impl Child {
    pub(super) fn learn(&mut self, known: &Known) {
        self.numbers = known.numbers;
        self.holds_for = known.hand;
        self.plies = known.plies;
    }

    fn end_without_mate(&mut self) {
        self.numbers = Numbers::NO_MATE;
        self.holds_for = self.hand;
    }
}

/// Takes moves as they are generated.
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

/// All answers to a check.
pub(super) fn evasions(position: &Position, moves: &mut Vec<Move32>) {
    moves.clear();
    generate_legal_evasions_all_move32_into(position, &mut Sink(moves));
}

impl Search<'_> {
    /// Puts the moves of the position on top of the stack of children: all, or those up to one that
    /// decides. `depth` is that of the position, which is the last on the path.
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
            moves.retain(|mv| self.first.iter().any(|it| it.to_move() == mv.to_move()));
        }
        for (index, &mv) in moves.iter().enumerate() {
            let after = moves
                .get(..index)
                .and_then(|earlier| earlier.iter().rposition(|&it| defers(it, mv, attacking)))
                .and_then(|it| u16::try_from(it).ok());
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

    /// Plays a move, looks at what is known after it, and takes it back.
    fn child(&mut self, mv: Move32, depth: u16, after: Option<u16>) -> Child {
        let gives_check = !depth.is_multiple_of(2) || self.position.gives_check_move32(mv);
        self.position.apply_move32_with_gives_check(mv, gives_check);
        let (key, hand) = (self.key(depth), self.position.hand(self.attacker));
        let mut child = Child {
            mv,
            gives_check,
            hand,
            numbers: Numbers::UNKNOWN,
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
        } else if let Some(known) = self.table.get(key, hand) {
            child.learn(&known);
            child.visited = true;
            child.old = known.depth < depth;
        } else {
            self.first_look(&mut child, depth);
        }
        let undone = self.position.undo_move32(mv);
        debug_assert!(undone.is_ok(), "only the last move is taken back");
        child
    }

    /// What can be seen of a new position at a glance.
    fn first_look(&mut self, child: &mut Child, depth: u16) {
        if depth.is_multiple_of(2) {
            if let Some(mv) = solve_mate_in_one_in_place(&mut self.position) {
                child.numbers = Numbers::MATE;
                child.plies = 1;
                self.position.apply_move32_with_gives_check(mv, true);
                let needed = hands::of_mate(&self.position, Hand::ZERO);
                let undone = self.position.undo_move32(mv);
                debug_assert!(undone.is_ok(), "only the last move is taken back");
                child.holds_for = hands::before(needed, mv, &self.position);
            } else if self.plies_left(depth) <= 1 {
                child.end_without_mate();
            }
        } else if self.position.is_mated() {
            child.numbers = Numbers::MATE;
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

    /// Whether only some moves of a position are looked at: it is the root.
    fn is_restricted(&self, depth: u16) -> bool {
        depth == 0 && !self.first.is_empty()
    }

    /// How the table and the path name the board. If the length of the mate is limited, what is
    /// left of it makes another board, and so do moves that are left out: what holds without them
    /// need not hold where the board is there again.
    pub(super) fn key(&self, depth: u16) -> u64 {
        let board = self.position.board_key().low_u64();
        let board = if self.is_restricted(depth) { super::path::mix(board) } else { board };
        if self.plies == u16::MAX {
            board
        } else {
            board ^ super::path::mix(u64::from(self.plies_left(depth)))
        }
    }
}

/// Whether a move is of interest only when an earlier one is done with: another piece interposed
/// on the same square, or no promotion where it seldom helps.
fn defers(earlier: Move32, later: Move32, attacking: bool) -> bool {
    let same_square = earlier.to_sq() == later.to_sq();
    if attacking {
        let seldom = matches!(
            later.piece_after_move().piece_type(),
            PieceType::PAWN | PieceType::LANCE | PieceType::BISHOP | PieceType::ROOK
        );
        same_square
            && seldom
            && !earlier.is_drop()
            && !later.is_drop()
            && earlier.is_promotion()
            && earlier.from_sq() == later.from_sq()
    } else {
        same_square && earlier.is_drop() && later.is_drop()
    }
}
