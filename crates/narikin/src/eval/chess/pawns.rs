//! Terms of pawns: their structure, and passed pawns with the pieces around them.

use cozy_chess::{BitBoard, Piece, Rank, Square};

use super::{
    Context,
    terms::TermSink,
    view::{View, adjacent, distance, down, fill_down, fill_up, from_edge, pawn_attacks_down, up},
    weights::{
        BACKWARD, CANDIDATE, DOUBLED, ISOLATED, PASSED, PASSED_BLOCKED, PASSED_ENEMY_KING,
        PASSED_FILE, PASSED_FREE, PASSED_KING, PASSED_RACE, PASSED_ROOK, PASSED_SAFE,
        PASSED_SUPPORTED, PHALANX, SUPPORTED,
    },
};

/// Pawn structure used by other terms.
pub(super) struct Pawns {
    /// Passed pawns.
    pub(super) passed: BitBoard,
    /// Squares that enemy pawns attack or can attack after advancing.
    pub(super) enemy_span: BitBoard,
    /// Files of own and enemy pawns.
    pub(super) files: BitBoard,
    pub(super) enemy_files: BitBoard,
}

impl Pawns {
    pub(super) fn new(view: &View) -> Self {
        let (own, enemy) = (view.own(Piece::Pawn), view.enemy(Piece::Pawn));
        let stopped = fill_down(down(enemy));
        let enemy_span = pawn_attacks_down(enemy | stopped);
        Self {
            passed: own - stopped - enemy_span - fill_down(down(own)),
            enemy_span,
            files: fill_up(own) | fill_down(own),
            enemy_files: fill_up(enemy) | stopped,
        }
    }
}

#[inline(always)]
pub(super) fn pawns(view: &View, pawns: &Pawns, terms: &mut impl TermSink) {
    let (own, enemy) = (view.own(Piece::Pawn), view.enemy(Piece::Pawn));
    let supported = own & up(adjacent(own));
    let phalanx = own & adjacent(own);
    let isolated = own - adjacent(pawns.files);
    let opposed = own & fill_down(down(enemy));
    // Backward: no pawn can support it, and the stop square is attacked by a pawn.
    let helped = fill_up(up(adjacent(own)));
    let backward = (own - helped - phalanx - isolated) & down(pawn_attacks_down(enemy));
    terms.add_each(DOUBLED.at(0), own & fill_down(down(own)) & supported);
    terms.add_each(DOUBLED.at(1), (own & fill_down(down(own))) - supported);
    terms.add_each(BACKWARD.at(0), backward & opposed);
    terms.add_each(BACKWARD.at(1), backward - opposed);
    for square in isolated {
        let open = usize::from(!opposed.has(square));
        terms.add(ISOLATED.at(open * 4 + from_edge(square)));
    }
    for square in supported {
        terms.add(SUPPORTED.at(square.rank() as usize - 2));
    }
    for square in phalanx {
        terms.add(PHALANX.at(square.rank() as usize - 1));
    }
    for square in pawns.passed {
        let rank = square.rank() as usize - 1;
        terms.add(PASSED.at(rank));
        terms.add(PASSED_FILE.at(from_edge(square)));
        if (supported | phalanx).has(square) {
            terms.add(PASSED_SUPPORTED.at(rank));
        }
    }
    for square in own - opposed - pawns.passed {
        // Candidate: at least as many helpers as enemy pawns on adjacent files ahead.
        let pawn = square.bitboard();
        let watched = (fill_up(up(adjacent(pawn))) & enemy).len();
        let helped = (fill_down(adjacent(pawn)) & own).len();
        let doubled = fill_up(up(pawn)) & own;
        if helped >= watched && doubled.is_empty() {
            terms.add(CANDIDATE.at(square.rank() as usize - 1));
        }
    }
}

#[inline(always)]
pub(super) fn passed(context: &Context<'_>, terms: &mut impl TermSink) {
    let Context { view, enemy, .. } = context;
    let enemy_pieces = view.all_enemy - view.enemy(Piece::Pawn) - view.enemy(Piece::King);
    for square in context.pawns.passed {
        let rank = square.rank() as usize - 1;
        let Some(stop) = Square::try_index(square as usize + 8) else { continue };
        let path = fill_up(stop.bitboard());
        if view.occupied.has(stop) {
            let by_enemy = usize::from(view.all_enemy.has(stop));
            terms.add(PASSED_BLOCKED.at(by_enemy * 6 + rank));
        } else if (path & (view.occupied | enemy.all)).is_empty() {
            terms.add(PASSED_FREE.at(rank));
        } else if !enemy.all.has(stop) {
            terms.add(PASSED_SAFE.at(rank));
        }
        let behind = fill_down(square.bitboard());
        terms.add_each(PASSED_ROOK.at(0), behind & view.own(Piece::Rook));
        terms.add_each(PASSED_ROOK.at(1), behind & view.enemy(Piece::Rook));
        // King distances count for advanced pawns only.
        if rank >= 2 {
            let far = (rank - 2) * 8;
            terms.add(PASSED_KING.at(far + distance(view.king, stop)));
            terms.add(PASSED_ENEMY_KING.at(far + distance(view.enemy_king, stop)));
        }
        if enemy_pieces.is_empty() && (path & view.occupied).is_empty() {
            let goal = Square::new(square.file(), Rank::Eighth);
            // Double step.
            let moves = distance(square, goal) - usize::from(rank == 0);
            if distance(view.enemy_king, goal) > moves + usize::from(!view.to_move) {
                terms.add(PASSED_RACE.at(0));
            }
        }
    }
}
