//! Which single moves join two positions of chess: a cuckoo table of key differences.
//!
//! Idea: M. van Kervinck, "The design and implementation of the Rookie 2.0 chess playing program"
//! (2002), section on repetitions.

use std::sync::LazyLock;

use cozy_chess::{
    BitBoard, BoardBuilder, Color, Piece, Square, get_bishop_moves, get_king_moves,
    get_knight_moves, get_rook_moves,
};

const SIZE: usize = 8192;

/// For each difference of keys, the squares that a piece can have gone between.
pub(super) struct Cuckoo {
    entries: Vec<Option<(u64, Square, Square)>>,
}

impl Cuckoo {
    /// The table, made at the first call.
    pub(super) fn get() -> &'static Self {
        static TABLE: LazyLock<Cuckoo> = LazyLock::new(Cuckoo::new);
        &TABLE
    }

    /// The squares of the reversible move with this difference.
    pub(super) fn move_between(&self, difference: u64) -> Option<(Square, Square)> {
        [first(difference), second(difference)].into_iter().find_map(|slot| {
            let &(key, from, to) = self.entries.get(slot)?.as_ref()?;
            (key == difference).then_some((from, to))
        })
    }

    fn new() -> Self {
        let mut table = Self { entries: vec![None; SIZE] };
        for color in Color::ALL {
            for piece in Piece::ALL {
                for from in Square::ALL {
                    for to in reach(piece, from).into_iter().filter(|&to| from < to) {
                        if let Some(key) = difference(piece, color, from, to) {
                            table.insert((key, from, to));
                        }
                    }
                }
            }
        }
        table
    }

    fn insert(&mut self, mut entry: (u64, Square, Square)) {
        let mut slot = first(entry.0);
        // Moving entries on ends soon; the bound only keeps a bad table from hanging.
        for _ in 0..SIZE {
            let Some(place) = self.entries.get_mut(slot) else { return };
            match place.replace(entry) {
                None => return,
                Some(moved) => {
                    slot = if slot == first(moved.0) { second(moved.0) } else { first(moved.0) };
                    entry = moved;
                }
            }
        }
    }
}

fn first(key: u64) -> usize {
    usize::from(u16::try_from(key & 0x1FFF).unwrap_or(0))
}

fn second(key: u64) -> usize {
    first(key >> 16)
}

/// Where a piece can go and come back.
fn reach(piece: Piece, from: Square) -> BitBoard {
    match piece {
        Piece::Pawn => BitBoard::EMPTY,
        Piece::Knight => get_knight_moves(from),
        Piece::Bishop => get_bishop_moves(from, BitBoard::EMPTY),
        Piece::Rook => get_rook_moves(from, BitBoard::EMPTY),
        Piece::Queen => {
            get_bishop_moves(from, BitBoard::EMPTY) | get_rook_moves(from, BitBoard::EMPTY)
        }
        Piece::King => get_king_moves(from),
    }
}

/// The difference of the keys before and after a move, read off two positions with little else.
fn difference(piece: Piece, color: Color, from: Square, to: Square) -> Option<u64> {
    let hash = |square: Square, turn: Color, kings: [Square; 2]| {
        let mut board = BoardBuilder::empty();
        board.side_to_move = turn;
        for (king, side) in kings.into_iter().zip(Color::ALL) {
            if !(piece == Piece::King && side == color) {
                *board.square_mut(king) = Some((Piece::King, side));
            }
        }
        *board.square_mut(square) = Some((piece, color));
        board.build().ok().map(|board| board.hash())
    };
    let free = |square: Square| square != from && square != to;
    // Somewhere there are kings out of everybody's way.
    let corners = [Square::A1, Square::H1, Square::A8, Square::H8, Square::D3, Square::E6];
    let places = corners.into_iter().chain(Square::ALL).filter(|&square| free(square));
    places.clone().find_map(|white| {
        places.clone().filter(|&black| black != white).find_map(|black| {
            let kings = [white, black];
            Some(hash(from, color, kings)? ^ hash(to, !color, kings)?)
        })
    })
}
