//! Cuckoo tables of key differences, which detect upcoming repetitions in chess.
//!
//! Idea: M. van Kervinck, "The design and implementation of the Rookie 2.0 chess playing program"
//! (2002), section on repetitions.

use std::sync::LazyLock;

use cozy_chess::{
    BitBoard, BoardBuilder, Color, Piece, Square, get_bishop_moves, get_king_moves,
    get_knight_moves, get_rook_moves,
};

const SIZE: usize = 8192;

/// Reversible moves by key difference.
pub(super) struct Cuckoo {
    entries: Vec<Option<(u64, Square, Square)>>,
}

impl Cuckoo {
    pub(super) fn get() -> &'static Self {
        static TABLE: LazyLock<Cuckoo> = LazyLock::new(Cuckoo::new);
        &TABLE
    }

    /// The squares of the reversible move with this key difference.
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
                    for to in pseudo_attacks(piece, from).into_iter().filter(|&to| from < to) {
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
        // The bound prevents an endless loop of evictions.
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

/// Targets of reversible moves on an empty board.
fn pseudo_attacks(piece: Piece, from: Square) -> BitBoard {
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

/// The key difference of a move, from two positions with little else.
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
    // Kings on squares that do not interfere.
    let corners = [Square::A1, Square::H1, Square::A8, Square::H8, Square::D3, Square::E6];
    let places = corners.into_iter().chain(Square::ALL).filter(|&square| free(square));
    places.clone().find_map(|white| {
        places.clone().filter(|&black| black != white).find_map(|black| {
            let kings = [white, black];
            Some(hash(from, color, kings)? ^ hash(to, !color, kings)?)
        })
    })
}

#[cfg(test)]
mod tests {
    use readyok_rules::{Game, Position};

    use crate::Limits;
    use crate::board::{Board, Chess, MoveList};

    /// Whether a repetition is upcoming after the moves, with `plies` of them in the search.
    #[track_caller]
    fn has_upcoming_repetition(fen: &str, moves: &str, plies: usize) -> bool {
        let position = Position::from_text(Game::Chess, fen).expect("a position");
        let mut board = Chess::new(&position, &Limits::default()).expect("a board");
        for mv_text in moves.split(' ') {
            let mut list = MoveList::new();
            board.generate_all(&mut list);
            let found = list.iter().find(|(_, mv)| Chess::notation(*mv) == mv_text);
            let &(_, mv) = found.unwrap_or_else(|| panic!("{mv_text} is not legal"));
            board.play(mv);
        }
        board.has_upcoming_repetition(plies)
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    #[test]
    fn a_move_back_repeats_a_position_of_the_search() {
        let there_and_back = "g1f3 g8f6 f3g1";
        assert!(has_upcoming_repetition(START, there_and_back, 3));
        assert!(
            !has_upcoming_repetition(START, there_and_back, 2),
            "before the search it was there only once"
        );
        assert!(
            !has_upcoming_repetition(START, "g1f3 g8f6", 2),
            "the other side's knight is not back"
        );
        assert!(!has_upcoming_repetition(START, "g1f3 g8f6 b1c3", 3), "another knight has moved");
        assert!(
            !has_upcoming_repetition(START, "g1f3 g8f6 f3g1 e7e5", 4),
            "a pawn does not go back"
        );
        assert!(has_upcoming_repetition(START, "e2e4 e7e5 g1f3 g8f6 f3g1", 5));
        assert!(
            !has_upcoming_repetition(START, "g1f3 g8f6 e2e4 f6g8 f3g1", 5),
            "the pawn has moved since then"
        );
    }

    #[test]
    fn only_a_way_that_is_free_leads_back() {
        // The rook went around, and the king's way back to its square differs.
        let round = "g2h3 a8b8 h3g3 b8b1 g3h2 b1a1 h2g2";
        assert!(has_upcoming_repetition("r3k3/8/8/8/8/8/6K1/8 w - - 0 1", round, 7));
        assert!(!has_upcoming_repetition("r3k3/8/8/8/P7/8/6K1/8 w - - 0 1", round, 7));
    }
}
