//! The end of a game of chess.

use shakmaty::{Bitboard, Board, Color, Piece, Position, Role, attacks};

use super::{ChessBoard, side};
use crate::{ChessRules, DeadPositions, GameOutcome, Termination};

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
fn is_locked(position: &shakmaty::Chess) -> bool {
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
    pub(crate) fn time_is_over(&self, loser: Color) -> GameOutcome {
        if self.has_mating_material(!loser) {
            GameOutcome::won(side(!loser), Termination::TimeForfeit)
        } else {
            GameOutcome::drawn(Termination::TimeoutInsufficientMaterial)
        }
    }
}
