//! The game and the position that a client has sent.

use readyok_protocol::{self as protocol, Dialect, OptionDecl, OptionKind, Root, SetOption};

use super::LineBoard;
use crate::{CodecError, Game, MoveCodec, Position};

/// Follows the options that select the game, and `position`.
#[derive(Clone, Debug)]
pub struct SentPosition {
    dialect: Dialect,
    chess960: bool,
    /// The value of `UCI_Variant`.
    variant: Variant,
    root: Root<'static>,
    /// `None` if no legal position was sent, or one of an unknown game.
    board: Option<LineBoard>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    /// The game of the protocol.
    Standard,
    /// In UCI.
    Shogi,
    Unknown,
}

impl SentPosition {
    /// Positions after more moves are not known.
    pub const MAX_PLIES: usize = 20_000;

    /// The start position.
    pub fn new(dialect: Dialect) -> Self {
        let variant = Variant::Standard;
        let mut new = Self { dialect, chess960: false, variant, root: Root::StartPos, board: None };
        new.board = new.codec().map(|codec| LineBoard::new(Position::start(new.game()), codec));
        new
    }

    /// The position, if it is known, with the variation that was played last.
    pub fn board(&mut self) -> Option<&mut LineBoard> {
        self.board.as_mut()
    }

    /// The position, if it is known.
    pub fn position(&mut self) -> Option<&Position> {
        let board = self.board.as_mut()?;
        board.reset();
        Some(board.position())
    }

    /// The position before the moves, and the moves, if they are known.
    pub(super) fn moves(&mut self) -> Option<(&Root<'static>, impl Iterator<Item = &str> + Clone)> {
        let board = self.board.as_mut()?;
        board.reset();
        Some((&self.root, board.moves()))
    }

    /// The notation of moves. `None` for an unknown variant.
    pub fn codec(&self) -> Option<MoveCodec> {
        if self.variant == Variant::Unknown {
            return None;
        }
        MoveCodec::new(self.dialect, self.game())
    }

    fn game(&self) -> Game {
        match (self.dialect, self.variant) {
            (Dialect::Usi, _) | (Dialect::Uci, Variant::Shogi) => Game::Shogi,
            (Dialect::Uci, Variant::Standard | Variant::Unknown) if self.chess960 => Game::Chess960,
            (Dialect::Uci, Variant::Standard | Variant::Unknown) => Game::Chess,
        }
    }

    /// Applies the default of an option of the engine.
    pub fn declare(&mut self, decl: &OptionDecl<'_>) {
        match &decl.kind {
            OptionKind::Check { default: Some(on) } => {
                self.select(&decl.name, if *on { "true" } else { "false" });
            }
            OptionKind::Combo { default: Some(value), .. } => self.select(&decl.name, value),
            _ => (),
        }
    }

    /// Applies an option.
    pub fn set_option(&mut self, set: &SetOption<'_>) {
        self.select(&set.name, set.value.as_deref().unwrap_or_default());
    }

    fn select(&mut self, name: &str, value: &str) {
        if self.dialect != Dialect::Uci {
            return;
        }
        let before = self.codec();
        if self.dialect.same_option(name, "UCI_Chess960") {
            self.chess960 = value.eq_ignore_ascii_case("true");
        } else if self.dialect.same_option(name, "UCI_Variant") {
            self.variant = match value {
                "" | "chess" | "standard" | "normal" => Variant::Standard,
                "shogi" => Variant::Shogi,
                "chess960" | "fischerandom" => {
                    self.chess960 = true;
                    Variant::Standard
                }
                _ => Variant::Unknown,
            };
        }
        if self.codec() == before {
            return;
        }
        let is_start = self.root == Root::StartPos
            && self.moves().is_none_or(|(_, mut moves)| moves.next().is_none());
        // Whether the engine keeps another position is unknown.
        self.forget();
        if is_start {
            let game = self.game();
            self.board = self.codec().map(|codec| LineBoard::new(Position::start(game), codec));
        }
    }

    /// Forgets the position: it is unknown whether the engine has read the last one.
    pub fn forget(&mut self) {
        self.board = None;
    }

    /// Applies `position`. Afterwards the position is known unless it is illegal, too long, or one of an unknown game.
    ///
    /// # Errors
    /// The position is illegal.
    pub fn set(&mut self, position: &protocol::Position<'_>) -> Result<(), CodecError> {
        let before = self.board.take();
        let Some(codec) = self.codec() else { return Ok(()) };
        if Self::MAX_PLIES < position.moves.len() {
            return Ok(());
        }
        let kept = before
            .filter(|board| self.root == position.root && board.position().game() == self.game());
        let mut board = if let Some(board) = kept {
            board
        } else {
            self.root = position.root.clone().into_owned();
            LineBoard::new(codec.decode_root(&self.root)?, codec)
        };
        board.set_moves(position.moves.tokens())?;
        self.board = Some(board);
        Ok(())
    }
}
