//! Principal variations on a board.

use std::borrow::Cow;

use crate::{
    ChessRules, CodecError, DeadPositions, EndRules, LineError, MoveCodec, MoveError, Position,
    PositionHistory, ShogiRules, Termination,
};

/// Plays the variations of searches on one board, so that moves that a line shares with the line before it are played
/// once.
#[derive(Clone, Debug)]
pub struct LineBoard {
    codec: MoveCodec,
    history: PositionHistory,
    /// Number of moves to the searched position.
    searched: usize,
    /// The texts of all moves on the board, and where each of them ends.
    text: String,
    ends: Vec<usize>,
    /// Whether the game is over in the searched position by a rule that searches need not know, such as repetition.
    is_over: Option<bool>,
}

/// A fault of a PV.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PvFault {
    /// A move is illegal.
    #[error("{0} in the PV")]
    Illegal(MoveError),
    /// A move follows the end of the game.
    #[error("`{text}` follows the end of the game ({})", termination.text())]
    BeyondEnd {
        /// The move, shortened.
        text: String,
        /// The end.
        termination: Termination,
    },
}

impl LineBoard {
    /// Longer PVs are played up to this length.
    pub const MAX_PLIES: usize = 1024;

    /// A board with the searched position. Moves are read in the notation of `codec`.
    pub fn new(position: Position, codec: MoveCodec) -> Self {
        Self {
            codec,
            history: PositionHistory::new(position),
            searched: 0,
            text: String::new(),
            ends: Vec::new(),
            is_over: None,
        }
    }

    /// The position on the board: that after the last PV, or the searched one.
    pub fn position(&self) -> &Position {
        self.history.position()
    }

    /// Returns to the searched position.
    pub fn reset(&mut self) {
        self.truncate(self.searched);
    }

    /// The texts of the moves to the searched position, if it is on the board.
    pub(super) fn moves(&self) -> impl DoubleEndedIterator<Item = &str> + Clone {
        (0..self.ends.len()).map(|ply| self.move_at(ply))
    }

    /// Replaces the moves to the searched position, and returns to it.
    pub(super) fn set_moves<'t>(
        &mut self,
        moves: impl Iterator<Item = &'t str>,
    ) -> Result<(), CodecError> {
        self.reset();
        let (mut moves, shared) = self.skip_shared(0, moves);
        self.truncate(shared);
        let result = moves.try_for_each(|text| {
            let index = self.ends.len();
            self.push(text).map_err(|error| CodecError::Moves(LineError { index, error }))
        });
        self.searched = self.ends.len();
        self.is_over = None;
        result
    }

    /// Plays a PV from the searched position, up to its first fault. A token such as `resign` ends it. Returns the number
    /// of its moves.
    ///
    /// # Errors
    /// The first fault. A PV may continue after insufficient material, which searches need not detect, and if the game
    /// was already over in the searched position.
    pub fn play<'t>(&mut self, pv: impl Iterator<Item = &'t str>) -> Result<usize, PvFault> {
        let ends = |token: &&str| matches!(*token, "resign" | "win") || token.starts_with("rep_");
        let pv = pv.take_while(|token| !ends(token)).take(Self::MAX_PLIES);
        let (moves, shared) = self.skip_shared(self.searched, pv);
        if self.is_over.is_none() {
            self.reset();
            self.is_over = Some(end_of_pv(self.position()).is_some());
        }
        let judges_end = self.is_over == Some(false);
        self.truncate(shared.min(self.ends.len()));
        for text in moves {
            if judges_end
                && self.position().may_be_drawn()
                && let Some(termination) = end_of_pv(self.position())
            {
                return Err(beyond_end(text, termination));
            }
            if let Err(error) = self.push(text) {
                // After mate and stalemate every move is illegal.
                let end = end_of_pv(self.position()).filter(|_| judges_end);
                return Err(match end {
                    Some(termination) => beyond_end(text, termination),
                    None => PvFault::Illegal(error),
                });
            }
        }
        Ok(self.ends.len() - self.searched)
    }

    fn move_at(&self, ply: usize) -> &str {
        let begin = ply.checked_sub(1).and_then(|before| self.ends.get(before));
        let end = self.ends.get(ply).copied().unwrap_or_default();
        self.text.get(begin.copied().unwrap_or_default()..end).unwrap_or_default()
    }

    /// Skips the moves that are on the board after a number of plies. Returns the others, and the number of plies to the
    /// last shared one.
    fn skip_shared<'t, I: Iterator<Item = &'t str>>(
        &self,
        from: usize,
        moves: I,
    ) -> (std::iter::Peekable<I>, usize) {
        let (mut moves, mut ply) = (moves.peekable(), from);
        while ply < self.ends.len() && moves.next_if(|text| *text == self.move_at(ply)).is_some() {
            ply += 1;
        }
        (moves, ply)
    }

    fn truncate(&mut self, plies: usize) {
        self.history.truncate(plies);
        self.ends.truncate(plies);
        self.text.truncate(self.ends.last().copied().unwrap_or_default());
    }

    fn push(&mut self, text: &str) -> Result<(), MoveError> {
        let decoded = self.codec.decode_text(text);
        self.history.push_uci(&decoded).map_err(|error| match decoded {
            Cow::Borrowed(_) => error,
            Cow::Owned(_) => MoveError::new(text, error.reason),
        })?;
        self.text.push_str(text);
        self.ends.push(self.text.len());
        Ok(())
    }
}

fn beyond_end(text: &str, termination: Termination) -> PvFault {
    PvFault::BeyondEnd { text: crate::error::shortened(text), termination }
}

/// The end of the game after which a PV must not continue. As in fastchess, a PV may continue after insufficient material,
/// and then also after repetitions.
fn end_of_pv(position: &Position) -> Option<Termination> {
    const WITHOUT_REPETITION: EndRules = EndRules {
        chess: ChessRules {
            repetition: None,
            dead: DeadPositions::Ignored,
            ..ChessRules::ENGINE_MATCH
        },
        shogi: ShogiRules::BOARD,
    };
    // The fifty-move rule precedes the others.
    let outcome = position.outcome_under(&WITHOUT_REPETITION).or_else(|| position.outcome());
    outcome
        .map(|outcome| outcome.termination)
        .filter(|end| *end != Termination::InsufficientMaterial)
}
