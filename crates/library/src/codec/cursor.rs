//! Keys of the positions of a main line, and of their material.

use readyok_rules::record::{GameRecord, MaterialSignature, Node, PiecePlacement, RecordMove};
use readyok_rules::shakmaty::zobrist::Zobrist64;
use readyok_rules::shakmaty::{Chess, EnPassantMode, Position as _};
use readyok_rules::{BoardRef, ChessBoard, Game, Move, Opening, Position, rsshogi};

use super::moves::{NULL, code_of, main_line, move_of, play_code};
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
    /// The positions with the moves that followed, and the material with its [`material_run`].
    pub(crate) postings: Vec<(Key, u16)>,
    pub(crate) opening: Option<Opening>,
    /// Whether the last position can end the game. To find out costs a replay.
    pub(crate) may_be_over: bool,
}

/// The material of the positions of a game, with the number of successive positions that have it.
struct MaterialRuns {
    placement: PiecePlacement,
    material: MaterialSignature,
    length: u16,
    /// The longest run of each material.
    runs: Vec<(MaterialSignature, u16)>,
}

/// The bit of a posting of material that the last position has.
const IS_LAST: u16 = 1 << 15;

/// The number of successive positions that is stored for a larger one: few numbers make short postings.
fn stored_length(length: u16) -> u16 {
    const LENGTHS: [u16; 12] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128];
    LENGTHS.into_iter().rfind(|stored| *stored <= length).unwrap_or(1)
}

/// The least number of successive positions of a posting of material, and whether the last position has it.
pub(crate) fn material_run(stored: u16) -> (u32, bool) {
    ((stored & !IS_LAST).into(), stored & IS_LAST != 0)
}

impl MaterialRuns {
    fn new(start: &Position) -> Self {
        let placement = PiecePlacement::new(start);
        let material = MaterialSignature::new(&placement);
        Self { placement, material, length: 1, runs: Vec::new() }
    }

    /// Adds a position.
    fn add(&mut self, is_changed: bool) {
        if is_changed {
            let material = MaterialSignature::new(&self.placement);
            if material != self.material {
                self.end_run(0);
                (self.material, self.length) = (material, 0);
            }
        }
        self.length = self.length.saturating_add(1);
    }

    fn end_run(&mut self, is_last: u16) {
        let length = stored_length(self.length);
        match self.runs.iter_mut().find(|(known, _)| *known == self.material) {
            Some((_, known)) => *known = (*known).max(length) | is_last,
            None => self.runs.push((self.material, length | is_last)),
        }
    }

    /// The postings.
    fn finish(mut self) -> impl Iterator<Item = (Key, u16)> {
        self.end_run(IS_LAST);
        self.runs.into_iter().map(|(material, run)| (Key::of_material(material), run))
    }
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
    let mut material = MaterialRuns::new(record.start());
    for node in record.mainline() {
        match node.mv() {
            Some(RecordMove::Legal(mv)) => {
                add(board.key(), code_of(mv));
                board.play(mv);
                let is_changed = material.placement.play(mv);
                material.add(is_changed);
            }
            Some(RecordMove::Null) => {
                add(board.key(), NULL);
                material.placement.pass();
                material.add(false);
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
    postings.extend(material.finish());
    BoardCursor { may_be_over: is_repeated || board.may_be_over(), postings, opening }
}

/// Postings of encoded moves.
pub(crate) fn of_moves(mut position: Position, moves: &[u8]) -> Result<Vec<(Key, u16)>, Error> {
    let mut postings = Vec::with_capacity(moves.len() / 2 + 1);
    let mut material = MaterialRuns::new(&position);
    for code in main_line(moves) {
        postings.push((Key::of(position.key()), code));
        let is_changed = play_code(&mut material.placement, code);
        material.add(is_changed);
        let mv = match code {
            NULL => RecordMove::Null,
            _ => RecordMove::Legal(move_of(&position, code).ok_or(Corrupt)?),
        };
        mv.play(&mut position).map_err(|_| Corrupt)?;
    }
    postings.push((Key::of(position.key()), END_OF_GAME));
    postings.extend(material.finish());
    Ok(postings)
}
