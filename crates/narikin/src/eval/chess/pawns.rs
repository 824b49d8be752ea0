//! Pawns among themselves: nothing here looks at other pieces, so that it could be remembered.

use cozy_chess::{BitBoard, Piece};

use super::{
    count::Count,
    layout::{
        BACKWARD, CANDIDATE, DOUBLED, ISOLATED, PASSED, PASSED_FILE, PASSED_SUPPORTED, PHALANX,
        SUPPORTED,
    },
    view::{View, beside, down, fill_down, fill_up, from_edge, pawn_attacks_down, up},
};

/// What other terms need to know of the pawns.
pub(super) struct Pawns {
    /// Pawns that no enemy's pawn can stop or take.
    pub(super) passed: BitBoard,
    /// The squares that pawns of the enemy attack or could after moving.
    pub(super) enemy_span: BitBoard,
    /// The files of the own pawns and of the enemy's.
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

pub(super) fn count(view: &View, pawns: &Pawns, terms: &mut impl Count) {
    let (own, enemy) = (view.own(Piece::Pawn), view.enemy(Piece::Pawn));
    let supported = own & up(beside(own));
    let phalanx = own & beside(own);
    let isolated = own - beside(pawns.files);
    let opposed = own & fill_down(down(enemy));
    // No neighbour can come to its help, and it would be taken if it advanced.
    let helped = fill_up(up(beside(own)));
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
        // Can its neighbours exchange those who watch its way?
        let pawn = square.bitboard();
        let watched = (fill_up(up(beside(pawn))) & enemy).len();
        let helped = (fill_down(beside(pawn)) & own).len();
        let doubled = fill_up(up(pawn)) & own;
        if helped >= watched && doubled.is_empty() {
            terms.add(CANDIDATE.at(square.rank() as usize - 1));
        }
    }
}
