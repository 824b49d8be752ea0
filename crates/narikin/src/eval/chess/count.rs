//! What the terms of one side are told to.

use cozy_chess::{BitBoard, Piece};

use super::view::few;

/// Takes what counts for one side.
pub(super) trait Count {
    /// The weight counts once.
    fn add(&mut self, weight: usize);

    /// The weight counts so many times.
    fn add_n(&mut self, weight: usize, times: u32);

    /// The weight counts as often as there are squares.
    fn add_each(&mut self, weight: usize, squares: BitBoard) {
        // Most are empty, and asking takes no time.
        if !squares.is_empty() {
            self.add_n(weight, few(squares));
        }
    }

    /// A piece other than a king stands so to both kings.
    fn piece(&mut self, piece: Piece, own: Stand, enemy: Stand);

    /// The king's place.
    fn king(&mut self, place: usize);
}

/// How a piece stands to a king.
#[derive(Clone, Copy)]
pub(super) struct Stand {
    /// The zone of the king.
    pub(super) zone: usize,
    /// The place of the piece, the king being in the right half.
    pub(super) place: usize,
}
