//! Which game is spoken of, and in whose words.

use std::mem;

use readyok_engine::protocol::{MoveError, Position as Told, Root};
use readyok_engine::{Dialect, Failure, Move};
use readyok_rules::{CastlingForm, Game, Position, PositionError, Setup, Side, fairy};

/// How the moves of a game are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wording {
    /// Chess and Chess960 in UCI, and shogi in USI.
    Own(Game),
    /// Shogi in UCI, under `UCI_Variant shogi`.
    Fairy,
}

impl Wording {
    /// The words for a game that is spoken of in a dialect.
    pub(super) fn new(dialect: Dialect, game: Game) -> Self {
        match (dialect, game) {
            (Dialect::Uci, Game::Shogi) => Self::Fairy,
            (Dialect::Uci, Game::Chess | Game::Chess960) | (Dialect::Usi, _) => Self::Own(game),
        }
    }

    fn game(self) -> Game {
        match self {
            Self::Own(game) => game,
            Self::Fairy => Game::Shogi,
        }
    }

    /// The position that a client speaks of.
    pub(super) fn position(self, told: &Told<'_>) -> Result<Position, Failure> {
        let game = self.game();
        let root = match (&told.root, self) {
            (Root::StartPos, _) => Position::start(game),
            (Root::Fen(fen), Self::Fairy) => {
                let sfen = fairy::sfen(fen.as_str());
                let sfen = sfen.ok_or_else(|| format!("no position of shogi: `{fen}`"))?;
                Position::from_text(game, &sfen)?
            }
            (Root::Fen(fen), Self::Own(_)) => with_rights_that_are(game, fen.as_str())?,
            (Root::Sfen(sfen), _) => Position::from_text(game, sfen.as_str())?,
        };
        let words = told.moves.words();
        let played = match self {
            Self::Own(_) => root.after(words),
            Self::Fairy => {
                let words = words.map(|it| fairy::usi_word(it).unwrap_or_else(|| it.to_owned()));
                root.after(words).map_err(|mut broken| {
                    let word = &mut broken.error.word;
                    *word = fairy::uci_word(word).unwrap_or_else(|| mem::take(word));
                    broken
                })
            }
        };
        Ok(played?)
    }

    /// A move of the client, if it is legal.
    pub(super) fn read(self, position: &Position, word: &str) -> Option<readyok_rules::Move> {
        match self {
            Self::Own(_) => position.parse_move(word).ok(),
            Self::Fairy => position.parse_move(&fairy::usi_word(word)?).ok(),
        }
    }

    /// A move for the client.
    pub(super) fn word(self, mv: readyok_rules::Move) -> Result<Move, MoveError> {
        match self {
            Self::Own(game) => mv.word(game.castling_form()).parse(),
            Self::Fairy => {
                let word = mv.word(CastlingForm::KingMove);
                fairy::uci_word(&word).unwrap_or(word).parse()
            }
        }
    }
}

/// A position whose text may give castling rights without the king or the rook for them, as many do that are
/// made by hand. There are no such rights.
fn with_rights_that_are(game: Game, text: &str) -> Result<Position, PositionError> {
    let mut setup = Setup::read(game, text)?;
    loop {
        let error = match Position::from_setup(&setup) {
            Err(error @ PositionError::CastlingRight { .. }) => error,
            done => return done,
        };
        let PositionError::CastlingRight { square } = &error else { return Err(error) };
        let rights = [Side::First, Side::Second].map(|side| {
            let rooks = setup.castling(side).filter(|rook| rook.name(game) == *square);
            rooks.map(|rook| (side, rook)).collect::<Vec<_>>()
        });
        if rights.iter().all(Vec::is_empty) {
            return Err(error);
        }
        for (side, rook) in rights.into_iter().flatten() {
            setup.set_castling(side, rook, false)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use readyok_engine::protocol::Command;

    use super::*;

    #[test]
    fn what_is_wrong_with_a_move_is_told_in_the_words_of_the_client() {
        let fault = |dialect, line: &str| {
            let Command::Position(told) = Command::read(line, dialect).value else { return None };
            let wording = Wording::new(dialect, Game::Shogi);
            wording.position(&told).err().map(|it| it.to_string())
        };
        let uci = fault(Dialect::Uci, "position startpos moves c3c4 c7c6 a1a5");
        let usi = fault(Dialect::Usi, "position startpos moves 7g7f 7c7d 9i9e");
        assert_eq!(uci.as_deref(), Some("move 3: illegal move `a1a5`: the piece does not move so"));
        assert_eq!(usi.map(|it| it.replace("9i9e", "a1a5")), uci);
    }

    #[test]
    fn a_castling_right_without_king_and_rook_is_none() {
        let same = [
            ("4k3/8/8/8/8/8/4P3/4K3 w KQkq - 0 1", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"),
            ("r3k3/8/8/8/8/8/8/4K2R w KQkq - 0 1", "r3k3/8/8/8/8/8/8/4K2R w Kq - 0 1"),
            ("r3k2r/8/8/8/4K3/8/8/R6R w KQkq - 0 1", "r3k2r/8/8/8/4K3/8/8/R6R w kq - 0 1"),
        ];
        for (told, meant) in same {
            let read = with_rights_that_are(Game::Chess, told).map(|it| it.to_string());
            let meant = Position::from_text(Game::Chess, meant).map(|it| it.to_string());
            assert_eq!(read, meant, "{told}");
        }
        assert!(with_rights_that_are(Game::Chess, "8/8/8/8/8/8/8/4K3 w KQ - 0 1").is_err());
    }
}
