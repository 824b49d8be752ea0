//! The games: numbers of start positions and moves in files, and their boards.

use cozy_chess::{Board, Piece, Square};
use narikin::network::{Features, embedded};
use readyok_rules::{Game, Move, Position, Setup, shakmaty};
use rsshogi::board::{Move32List, Position as ShogiBoard, hirate_position};
use rsshogi::movegen::generate_legal_all_move32;

/// A game for which Narikin is trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum GameKind {
    /// Chess, with some games of Chess960.
    Chess,
    /// Shogi.
    Shogi,
}

impl GameKind {
    /// The number of the game in a file.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Chess => 0,
            Self::Shogi => 1,
        }
    }

    pub(crate) fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::Chess),
            1 => Some(Self::Shogi),
            _ => None,
        }
    }

    /// The name of the game.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chess => "chess",
            Self::Shogi => "shogi",
        }
    }

    /// The number of start positions.
    pub fn starts(self) -> u16 {
        match self {
            Self::Chess => 960,
            Self::Shogi => 1,
        }
    }

    /// The number of the standard start position.
    pub fn usual_start(self) -> u16 {
        match self {
            Self::Chess => 518,
            Self::Shogi => 0,
        }
    }

    /// The start position of a number, if there is one.
    pub fn start(self, number: u16) -> Option<Position> {
        match self {
            Self::Chess => Setup::chess960(number)?.position().ok(),
            Self::Shogi => (number == 0).then(|| Position::start(Game::Shogi)),
        }
    }
}

/// The number of a move in a file. `None` for moves that cannot occur in a game.
pub fn number(mv: Move) -> Option<u16> {
    match mv {
        Move::Chess(mv) => chess_number(mv),
        Move::Shogi(mv) => Some(mv.to_move().raw()),
    }
}

/// The static evaluation by the network in the executable, in centipawns for the side to move.
pub fn evaluate<P: Features>(board: &P) -> i32 {
    let network = embedded(P::GAME);
    network.and_then(|network| network.evaluate(board)).unwrap_or(0)
}

/// A game whose boards can play the numbered moves of a file.
pub trait TrainGame {
    /// The board type.
    type Board: Features + Clone;

    /// The game.
    const KIND: GameKind;

    /// The start position of a number, if there is one.
    fn start(number: u16) -> Option<Self::Board>;

    /// Plays the move of a number. False if it is illegal; the board is then unchanged.
    fn play(board: &mut Self::Board, mv: u16) -> bool;

    /// Whether the side to move is in check.
    fn in_check(board: &Self::Board) -> bool;

    /// Whether a legal move neither captures nor promotes.
    fn is_quiet(board: &Self::Board, mv: u16) -> bool;

    /// The numbers of all legal moves.
    fn legal_moves(board: &Self::Board) -> Vec<u16>;
}

/// Chess and Chess960.
///
/// The number of a move has its origin, a1 to h8 by rank, in the lowest six bits, its target in the next six, then the
/// promotion. Castling is king takes own rook.
#[derive(Debug, Clone, Copy)]
pub struct Chess;

fn chess_number(mv: shakmaty::Move) -> Option<u16> {
    use shakmaty::Role;
    let promotion = match mv.promotion() {
        None => 0,
        Some(Role::Knight) => 1,
        Some(Role::Bishop) => 2,
        Some(Role::Rook) => 3,
        Some(Role::Queen) => 4,
        Some(Role::Pawn | Role::King) => return None,
    };
    Some(u16::from(mv.from()?) | u16::from(mv.to()) << 6 | promotion << 12)
}

fn chess_move(number: u16) -> Option<cozy_chess::Move> {
    let square = |number: u16| Square::try_index(usize::from(number & 63));
    let promotion = match number >> 12 {
        0 => None,
        1 => Some(Piece::Knight),
        2 => Some(Piece::Bishop),
        3 => Some(Piece::Rook),
        4 => Some(Piece::Queen),
        _ => return None,
    };
    Some(cozy_chess::Move { from: square(number)?, to: square(number >> 6)?, promotion })
}

impl TrainGame for Chess {
    type Board = Board;
    const KIND: GameKind = GameKind::Chess;

    fn start(number: u16) -> Option<Board> {
        (number < 960).then(|| Board::chess960_startpos(u32::from(number)))
    }

    fn play(board: &mut Board, mv: u16) -> bool {
        chess_move(mv).is_some_and(|mv| board.try_play(mv).is_ok())
    }

    fn in_check(board: &Board) -> bool {
        !board.checkers().is_empty()
    }

    fn is_quiet(board: &Board, mv: u16) -> bool {
        chess_move(mv).is_some_and(|mv| {
            let en_passant =
                board.piece_on(mv.from) == Some(Piece::Pawn) && mv.from.file() != mv.to.file();
            // A king that moves to its own rook castles.
            let captures = board.color_on(mv.to) == Some(!board.side_to_move());
            mv.promotion.is_none() && !en_passant && !captures
        })
    }

    fn legal_moves(board: &Board) -> Vec<u16> {
        let mut numbers = Vec::new();
        board.generate_moves(|moves| {
            numbers.extend(moves.into_iter().map(|mv| {
                let promotion = match mv.promotion {
                    Some(Piece::Knight) => 1,
                    Some(Piece::Bishop) => 2,
                    Some(Piece::Rook) => 3,
                    Some(Piece::Queen) => 4,
                    _ => 0,
                };
                mv.from as u16 | (mv.to as u16) << 6 | promotion << 12
            }));
            false
        });
        numbers
    }
}

/// Shogi.
///
/// The number of a move is that of YaneuraOu: the target in the lowest seven bits, the origin or the dropped piece in
/// the next seven, then a bit for a drop and a bit for a promotion. Squares are numbered by file: 1a, 1b, …, 9i. Pieces
/// are pawn, lance, knight, silver, bishop, rook, gold, from 1.
#[derive(Debug, Clone, Copy)]
pub struct Shogi;

impl TrainGame for Shogi {
    type Board = ShogiBoard;
    const KIND: GameKind = GameKind::Shogi;

    fn start(number: u16) -> Option<ShogiBoard> {
        (number == 0).then(hirate_position)
    }

    fn play(board: &mut ShogiBoard, mv: u16) -> bool {
        let mv = rsshogi::types::Move::from_raw(mv);
        mv.is_normal()
            && board.is_legal_move(mv)
            && board.try_apply_move32(board.move32_from_move(mv)).is_ok()
    }

    fn in_check(board: &ShogiBoard) -> bool {
        board.is_in_check()
    }

    fn is_quiet(board: &ShogiBoard, mv: u16) -> bool {
        let mv = rsshogi::types::Move::from_raw(mv);
        mv.is_normal() && !mv.is_promotion() && !board.is_capture_move(mv)
    }

    fn legal_moves(board: &ShogiBoard) -> Vec<u16> {
        let mut moves = Move32List::new();
        generate_legal_all_move32(board, &mut moves);
        moves.iter().map(|mv| mv.to_move().raw()).collect()
    }
}
