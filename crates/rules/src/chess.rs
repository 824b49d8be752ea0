//! Chess and Chess960: `shakmaty`'s position and the history that repetition needs.

mod ending;
mod explain;
mod san;
mod setup;

use shakmaty::{
    CastlingMode, Chess, Color, EnPassantMode, FromSetup, Move, Position, uci::UciMove,
    zobrist::Zobrist64,
};

use crate::{FenForm, Game, IllegalReason, PositionError, Setup, Side};

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

    pub(crate) fn setup(&self) -> Setup {
        setup::from_board(self, EnPassantMode::Legal)
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
        let wanted: UciMove = text.parse().map_err(|_| IllegalReason::Unreadable)?;
        let moves = self.position.legal_moves();
        // In Chess960 castling can have both forms, and the king's move of one castling can also be an
        // ordinary king move, which has precedence.
        moves
            .iter()
            .find(|&&mv| UciMove::from_chess960(mv) == wanted)
            .or_else(|| moves.iter().find(|&&mv| UciMove::from_standard(mv) == wanted))
            .copied()
            .ok_or_else(|| explain::why(&self.position, wanted))
    }

    pub(crate) fn play(&mut self, mv: Move) -> Result<(), IllegalReason> {
        if !self.position.is_legal(mv) {
            return Err(explain::why(&self.position, UciMove::from_chess960(mv)));
        }
        self.play_legal(mv);
        Ok(())
    }

    /// Reads a move and plays it without a second check of legality.
    pub(crate) fn play_uci(&mut self, text: &str) -> Result<Move, IllegalReason> {
        let mv = self.parse_move(text)?;
        self.play_legal(mv);
        Ok(mv)
    }

    fn play_legal(&mut self, mv: Move) {
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
        setup::from_board(self, en_passant).text(form)
    }
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
