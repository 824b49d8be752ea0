//! Keys of the positions of a main line.

use readyok_rules::record::{GameRecord, Node, RecordMove};
use readyok_rules::shakmaty::zobrist::Zobrist64;
use readyok_rules::shakmaty::{Chess, EnPassantMode, Position as _};
use readyok_rules::{BoardRef, ChessBoard, Game, Move, Opening, Position, rsshogi};

use super::moves::{NULL, code_of, main_line, move_of};
use crate::error::Error;
use crate::postings::{END_OF_GAME, Key};
use crate::varint::Corrupt;

/// A position without its history, for legal moves.
enum ReplayedBoard {
    Chess(Chess, Option<Zobrist64>),
    Shogi(Box<rsshogi::board::Position>),
    /// A position without moves, by its key.
    Diagram(u64),
}

impl ReplayedBoard {
    fn of(position: &Position) -> Self {
        match position.board() {
            BoardRef::Chess(board) => Self::Chess(board.position().clone(), None),
            BoardRef::Shogi(board) => Self::Shogi(Box::new(board.position().clone())),
            BoardRef::Diagram(_) => Self::Diagram(position.key()),
        }
    }

    /// Equal to [`Position::key`].
    fn key(&mut self) -> u64 {
        match self {
            Self::Chess(board, hash) => {
                let hash = hash.get_or_insert_with(|| Zobrist64(ChessBoard::key_of(board)));
                hash.0
            }
            Self::Shogi(board) => board.key().low_u64(),
            Self::Diagram(key) => *key,
        }
    }

    /// Whether the position can end the game without regard to repetitions: those that certainly do not are most.
    fn may_be_over(&self) -> bool {
        match self {
            // Positions with a rook or a queen are not dead.
            Self::Chess(board, _) => {
                board.board().rooks_and_queens().is_empty()
                    || board.halfmoves() >= 100
                    || board.legal_moves().is_empty()
            }
            Self::Shogi(_) => true,
            Self::Diagram(_) => false,
        }
    }

    /// Plays a legal move.
    fn play(&mut self, mv: Move) {
        match (self, mv) {
            (Self::Chess(board, hash), Move::Chess(mv)) => {
                *hash =
                    hash.and_then(|hash| board.update_zobrist_hash(hash, mv, EnPassantMode::Legal));
                board.play_unchecked(mv);
            }
            (Self::Shogi(board), Move::Shogi(mv)) => board.apply_move32(mv),
            (Self::Chess(..), Move::Shogi(_))
            | (Self::Shogi(_), Move::Chess(_))
            | (Self::Diagram(_), _) => (),
        }
    }
}

/// What the positions of a main line show.
pub(crate) struct BoardCursor {
    pub(crate) postings: Vec<(Key, u16)>,
    pub(crate) opening: Option<Opening>,
    /// Whether the last position can end the game. To find out costs a replay.
    pub(crate) may_be_over: bool,
}

/// The positions of the main line of a record.
pub(crate) fn of_record(record: &GameRecord) -> BoardCursor {
    let mut postings = Vec::with_capacity(record.node(record.last()).map_or(0, Node::ply) + 1);
    let mut opening = None;
    // A null move ends the line of the opening.
    let mut has_opening = record.game() == Game::Chess;
    let mut add = |key: u64, code: u16| {
        if has_opening && postings.len() <= Opening::PLIES {
            opening = Opening::with_key(key).or(opening);
        }
        has_opening &= code != NULL;
        postings.push((Key::of(key), code));
    };
    let mut board = ReplayedBoard::of(record.start());
    for node in record.mainline() {
        match node.mv() {
            Some(RecordMove::Legal(mv)) => {
                add(board.key(), code_of(mv));
                board.play(mv);
            }
            Some(RecordMove::Null) => {
                add(board.key(), NULL);
                match record.position_after(node.id()) {
                    Some(after) => board = ReplayedBoard::of(&after),
                    None => break,
                }
            }
            Some(RecordMove::Illegal(_)) | None => break,
        }
    }
    add(board.key(), END_OF_GAME);
    let last = postings.last().map(|(key, _)| *key);
    // The third repetition ends a game of chess.
    let is_repeated = postings.iter().filter(|(key, _)| Some(*key) == last).count() > 2;
    BoardCursor { may_be_over: is_repeated || board.may_be_over(), postings, opening }
}

/// Postings of encoded moves.
pub(crate) fn of_moves(mut position: Position, moves: &[u8]) -> Result<Vec<(Key, u16)>, Error> {
    let mut postings = Vec::with_capacity(moves.len() / 2 + 1);
    for code in main_line(moves) {
        postings.push((Key::of(position.key()), code));
        let mv = match code {
            NULL => RecordMove::Null,
            _ => RecordMove::Legal(move_of(&position, code).ok_or(Corrupt)?),
        };
        mv.play(&mut position).map_err(|_| Corrupt)?;
    }
    postings.push((Key::of(position.key()), END_OF_GAME));
    Ok(postings)
}
