//! Chess and Chess960: `shakmaty`'s position and the history that repetition needs.

mod exact;
mod san;
mod setup;

use shakmaty::{
    Bitboard, Board, CastlingMode, Chess, Color, EnPassantMode, FromSetup, Move, Piece, Position,
    Rank, Role, Square, attacks, uci::UciMove, zobrist::Zobrist64,
};

use crate::{
    ChessRules, DeadPositions, FenForm, Game, GameOutcome, IllegalReason, PositionError, Setup,
    Side, Termination,
};

pub(crate) use exact::{candidates, read_exact, write_san};
pub(crate) use san::long_notation;

/// A position of chess or Chess960 and the positions before it.
#[derive(Debug, Clone)]
pub struct ChessBoard {
    position: Chess,
    /// The positions that can still be repeated, oldest first.
    earlier: Vec<Earlier>,
}

#[derive(Debug, Clone)]
struct Earlier {
    key: u64,
    position: Chess,
}

impl ChessBoard {
    pub(crate) fn start(mode: CastlingMode) -> Self {
        let position = Chess::from_setup(shakmaty::Setup::initial(), mode).unwrap_or_default();
        Self { position, earlier: Vec::new() }
    }

    pub(crate) fn from_setup(setup: &Setup, mode: CastlingMode) -> Result<Self, PositionError> {
        Ok(Self { position: setup::to_position(setup, mode)?, earlier: Vec::new() })
    }

    /// The board of a setup with more pieces than promotions allow. `None` if it has another defect.
    pub(crate) fn from_crowded_setup(setup: &Setup, mode: CastlingMode) -> Option<Self> {
        Some(Self { position: setup::to_crowded_position(setup, mode)?, earlier: Vec::new() })
    }

    pub(crate) fn without_history(position: Chess) -> Self {
        Self { position, earlier: Vec::new() }
    }

    pub(crate) fn setup(&self) -> Setup {
        Setup::of(&self.contents(EnPassantMode::Legal))
    }

    fn contents(&self, en_passant: EnPassantMode) -> setup::Contents<'_> {
        setup::Contents { board: self, en_passant }
    }

    /// The position without its history.
    pub fn position(&self) -> &Chess {
        &self.position
    }

    /// The earlier positions that can still be repeated, oldest first.
    pub fn earlier(&self) -> impl Iterator<Item = &Chess> {
        self.earlier.iter().map(|earlier| &earlier.position)
    }

    /// The number of earlier positions with this key.
    pub(crate) fn repetitions(&self, key: u64) -> usize {
        self.earlier.iter().filter(|earlier| earlier.key == key).count()
    }

    /// The key of a position, equal for positions that are the same under the rules of repetition.
    pub fn key_of(position: &Chess) -> u64 {
        let Zobrist64(key) = position.zobrist_hash(EnPassantMode::Legal);
        key
    }

    pub(crate) fn game(&self) -> Game {
        match self.position.castles().mode() {
            CastlingMode::Standard => Game::Chess,
            CastlingMode::Chess960 => Game::Chess960,
        }
    }

    pub(crate) fn turn(&self) -> Side {
        side(self.position.turn())
    }

    pub(crate) fn parse_move(&self, text: &str) -> Result<Move, IllegalReason> {
        if let Some(mv) = self.parse_unchecked(text)
            && exact::is_legal(&self.position, mv)
        {
            return Ok(mv);
        }
        // Castling, en passant, and the reason for the rejection of another move.
        let wanted: UciMove = text.parse().map_err(|_| IllegalReason::InvalidMove)?;
        let moves = self.position.legal_moves();
        // In Chess960 castling can have both forms, and the king's move of one castling can also be an
        // ordinary king move, which has precedence.
        moves
            .iter()
            .find(|&&mv| UciMove::from_chess960(mv) == wanted)
            .or_else(|| moves.iter().find(|&&mv| UciMove::from_standard(mv) == wanted))
            .copied()
            .ok_or_else(|| illegal_reason(&self.position, wanted))
    }

    pub(crate) fn play(&mut self, mv: Move) -> Result<(), IllegalReason> {
        if !self.is_legal(mv) {
            return Err(illegal_reason(&self.position, UciMove::from_chess960(mv)));
        }
        self.play_legal(mv);
        Ok(())
    }

    pub(crate) fn is_legal(&self, mv: Move) -> bool {
        exact::is_legal(&self.position, mv)
    }

    /// Reads a move and plays it without a second check of legality.
    pub(crate) fn play_uci(&mut self, text: &str) -> Result<Move, IllegalReason> {
        let mv = self.parse_move(text)?;
        self.play_legal(mv);
        Ok(mv)
    }

    /// The position after a null move.
    pub(crate) fn passed(&self) -> Result<Self, IllegalReason> {
        let position = after_null(&self.position).ok_or(IllegalReason::KingInCheck)?;
        Ok(Self { position, earlier: Vec::new() })
    }

    pub(crate) fn parse_unchecked(&self, text: &str) -> Option<Move> {
        let UciMove::Normal { from, to, promotion } = text.parse().ok()? else { return None };
        let board = self.position.board();
        let piece = board.piece_at(from).filter(|piece| piece.color == self.position.turn())?;
        Some(Move::Normal { role: piece.role, from, capture: board.role_at(to), to, promotion })
    }

    pub(crate) fn play_legal(&mut self, mv: Move) {
        if self.position.is_irreversible(mv) {
            self.earlier.clear();
        } else {
            let key = Self::key_of(&self.position);
            self.earlier.push(Earlier { key, position: self.position.clone() });
        }
        self.position.play_unchecked(mv);
    }

    pub(crate) fn fen(&self, form: FenForm) -> String {
        let en_passant = match form {
            FenForm::Fen => EnPassantMode::Always,
            FenForm::XFen | FenForm::Shredder => EnPassantMode::Legal,
        };
        crate::setup::text(&self.contents(en_passant), form)
    }
}

/// What takes back a move.
#[derive(Debug, Clone)]
pub(crate) enum ChessUndo {
    /// The last of the earlier positions is that before the move.
    Reversible,
    /// The board before a move after which no earlier position can be repeated.
    Board(Box<ChessBoard>),
}

impl ChessBoard {
    /// Plays a legal move that can be taken back.
    pub(crate) fn push_legal(&mut self, mv: Move) -> ChessUndo {
        if !self.position.is_irreversible(mv) {
            self.play_legal(mv);
            return ChessUndo::Reversible;
        }
        let mut position = self.position.clone();
        position.play_unchecked(mv);
        ChessUndo::Board(Box::new(std::mem::replace(self, Self::without_history(position))))
    }

    /// Takes back the last move.
    pub(crate) fn undo(&mut self, undo: ChessUndo) {
        match undo {
            ChessUndo::Reversible => {
                if let Some(Earlier { position, .. }) = self.earlier.pop() {
                    self.position = position;
                }
            }
            ChessUndo::Board(before) => *self = *before,
        }
    }
}

/// The position after a null move. `None` if the side to move is in check.
pub(crate) fn after_null(position: &Chess) -> Option<Chess> {
    if position.is_check() {
        return None;
    }
    let mut setup = position.to_setup(EnPassantMode::Always);
    setup.ep_square = None;
    setup.halfmoves = setup.halfmoves.saturating_add(1);
    if setup.turn == Color::Black {
        setup.fullmoves = setup.fullmoves.saturating_add(1);
    }
    setup.turn = !setup.turn;
    let passed = Chess::from_setup(setup, position.castles().mode());
    passed.or_else(shakmaty::PositionError::ignore_impossible_check).ok()
}

fn side(color: Color) -> Side {
    color.fold_wb(Side::First, Side::Second)
}

pub(crate) fn color(side: Side) -> Color {
    match side {
        Side::First => Color::White,
        Side::Second => Color::Black,
    }
}

impl ChessBoard {
    pub(crate) fn outcome(&self, rules: &ChessRules) -> Option<GameOutcome> {
        let position = self.position();
        if position.legal_moves().is_empty() {
            return Some(if position.is_check() {
                GameOutcome::won(self.turn().other(), Termination::Checkmate)
            } else {
                GameOutcome::drawn(Termination::Stalemate)
            });
        }
        let dead = match rules.dead {
            DeadPositions::Ignored => None,
            DeadPositions::Material => self.without_material(),
            DeadPositions::MaterialAndLocked => self
                .without_material()
                .or_else(|| is_locked(position).then_some(Termination::DeadPosition)),
        };
        let repeated = || rules.repetition.filter(|&times| self.is_repeated(times));
        let repeated = || {
            repeated().map(|times| {
                if times >= 5 { Termination::FivefoldRepetition } else { Termination::Repetition }
            })
        };
        let quiet = || rules.quiet_moves.filter(|&moves| self.is_quiet_for(moves));
        let quiet = || {
            quiet().map(|moves| {
                if moves >= 75 {
                    Termination::SeventyFiveMoveRule
                } else {
                    Termination::FiftyMoveRule
                }
            })
        };
        dead.or_else(repeated).or_else(quiet).map(GameOutcome::drawn)
    }

    pub(crate) fn claims(&self) -> Vec<Termination> {
        let mut claims = Vec::new();
        if self.position().legal_moves().is_empty() {
            return claims;
        }
        if self.is_repeated(3) {
            claims.push(Termination::Repetition);
        }
        if self.is_quiet_for(50) {
            claims.push(Termination::FiftyMoveRule);
        }
        claims
    }

    fn without_material(&self) -> Option<Termination> {
        self.position().is_insufficient_material().then_some(Termination::InsufficientMaterial)
    }

    /// Whether the position has occurred at least this number of times.
    /// Whether the fifty-move rule or the third repetition may end the game.
    pub(crate) fn may_be_drawn(&self) -> bool {
        // The key of the position takes time.
        self.is_quiet_for(50) || 8 <= self.earlier.len() && self.is_repeated(3)
    }

    fn is_repeated(&self, times: u32) -> bool {
        let now_and_before = self.repetitions(Self::key_of(self.position())).saturating_add(1);
        u32::try_from(now_and_before).is_ok_and(|count| count >= times)
    }

    fn is_quiet_for(&self, moves: u32) -> bool {
        self.position().halfmoves() >= moves.saturating_mul(2)
    }

    pub(crate) fn has_mating_material(&self, color: Color) -> bool {
        !self.position().has_insufficient_material(color)
    }
}

/// Whether the position is blocked: only kings and pawns, no pawn can move or capture, and no king
/// can reach an enemy pawn that it could capture. Kings cannot mate, so the position is dead.
fn is_locked(position: &Chess) -> bool {
    let board = position.board();
    let only_pawns = board.occupied() == board.kings() | board.pawns();
    only_pawns
        && position.legal_ep_square().is_none()
        && Color::ALL.into_iter().all(|color| pawns_are_stopped(board, color))
        && Color::ALL.into_iter().all(|color| !king_reaches_a_pawn(board, color))
}

fn pawns_are_stopped(board: &Board, color: Color) -> bool {
    let pawns = board.by_piece(color.pawn());
    let ahead = match color {
        Color::White => pawns.shift(8),
        Color::Black => pawns.shift(-8),
    };
    // A king can step aside, but a pawn ahead blocks permanently.
    ahead.is_subset(board.pawns())
        && attacked_by_pawns(board, color).is_disjoint(board.by_piece((!color).pawn()))
}

/// Whether a king could reach an enemy pawn by any number of its own moves. The opponent's moves are
/// ignored, so a king that cannot reach a pawn this way never can.
fn king_reaches_a_pawn(board: &Board, color: Color) -> bool {
    let Some(start) = board.king_of(color) else { return false };
    let walls = board.pawns() | attacked_by_pawns(board, !color);
    let prey = board.by_piece((!color).pawn()) & !attacked_by_pawns(board, !color);
    let mut reached = Bitboard::from_square(start);
    loop {
        let next = reached
            .into_iter()
            .fold(Bitboard::EMPTY, |next, square| next | attacks::king_attacks(square));
        if !next.is_disjoint(prey) {
            return true;
        }
        let wider = reached | (next & !walls);
        if wider == reached {
            return false;
        }
        reached = wider;
    }
}

fn attacked_by_pawns(board: &Board, color: Color) -> Bitboard {
    let pawn = Piece { color, role: Role::Pawn };
    board
        .by_piece(pawn)
        .into_iter()
        .fold(Bitboard::EMPTY, |attacked, square| attacked | attacks::pawn_attacks(color, square))
}

impl ChessBoard {
    pub(crate) fn outcome_on_timeout(&self, loser: Color) -> GameOutcome {
        if self.has_mating_material(!loser) {
            GameOutcome::won(side(!loser), Termination::TimeForfeit)
        } else {
            GameOutcome::drawn(Termination::TimeoutInsufficientMaterial)
        }
    }
}

/// The reason why an illegal move is illegal.
pub(super) fn illegal_reason(position: &Chess, mv: UciMove) -> IllegalReason {
    let UciMove::Normal { from, to, promotion } = mv else { return IllegalReason::InvalidMove };
    let board = position.board();
    let Some(piece) = board.piece_at(from) else { return IllegalReason::EmptyOriginSquare };
    if piece.color != position.turn() {
        return IllegalReason::OpponentPiece;
    }
    if position.legal_moves().iter().any(|mv| mv.from() == Some(from) && mv.to() == to) {
        return match promotion {
            None => IllegalReason::PromotionRequired,
            Some(_) => IllegalReason::InvalidPromotion,
        };
    }
    let own_rook = board.piece_at(to) == Some(piece.color.rook());
    if piece.role == Role::King
        && from.rank() == to.rank()
        && (own_rook || from.file().distance(to.file()) > 1)
    {
        return IllegalReason::CastlingNotAllowed;
    }
    if board.color_at(to) == Some(piece.color) {
        return IllegalReason::OccupiedByOwnPiece;
    }
    if reaches(position, piece, from, to) {
        IllegalReason::KingInCheck
    } else {
        IllegalReason::Unreachable
    }
}

/// Whether the piece can move to the square if checks are ignored.
fn reaches(position: &Chess, piece: Piece, from: Square, to: Square) -> bool {
    let occupied = position.board().occupied();
    if piece.role != Role::Pawn {
        return attacks::attacks(from, piece, occupied).contains(to);
    }
    if from.file() != to.file() {
        return attacks::pawn_attacks(piece.color, from).contains(to)
            && (occupied.contains(to) || position.maybe_ep_square() == Some(to));
    }
    let (forward, start) = match piece.color {
        Color::White => (8, Rank::Second),
        Color::Black => (-8, Rank::Seventh),
    };
    let path_is_free = attacks::between(from, to).with(to).is_disjoint(occupied);
    let one_step = from.offset(forward) == Some(to);
    let two_steps = from.rank() == start && from.offset(2 * forward) == Some(to);
    path_is_free && (one_step || two_steps)
}
