//! How the words of an engine relate to those of the game.

use readyok_client::{Dialect, Game as WireGame, Move as WireMove};
use readyok_protocol::MoveList;
use readyok_rules::{FenForm, Game, Move, Position, fairy};

/// How an engine writes the moves of a game.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Wording {
    /// As the game does.
    Same(Dialect),
    /// Shogi as UCI engines write it.
    Fairy,
}

impl Wording {
    /// What an engine that speaks this dialect makes of a game; none if it cannot play it.
    pub(crate) fn new(dialect: Dialect, game: Game) -> Option<Self> {
        match (dialect, game) {
            (Dialect::Uci, Game::Chess | Game::Chess960) | (Dialect::Usi, Game::Shogi) => {
                Some(Self::Same(dialect))
            }
            (Dialect::Uci, Game::Shogi) => Some(Self::Fairy),
            (Dialect::Usi, Game::Chess | Game::Chess960) => None,
        }
    }

    /// A game of its own, from a position on and with moves. None if it cannot be written.
    pub(crate) fn game(self, root: &Position, moves: &[Move]) -> Option<WireGame> {
        let game = root.game();
        let text = root.text(FenForm::default());
        let usual = game != Game::Chess960 && text == Position::start(game).to_string();
        let mut it = match (self, usual) {
            (_, true) => WireGame::startpos(),
            (Self::Same(Dialect::Uci), false) => WireGame::from_fen(&text).ok()?,
            (Self::Same(Dialect::Usi), false) => WireGame::from_sfen(&text).ok()?,
            (Self::Fairy, false) => WireGame::from_fen(&fairy::fen(&text)?).ok()?,
        };
        it = match (self, game) {
            (Self::Fairy, _) => it.variant("shogi"),
            (_, Game::Chess960) => it.chess960(),
            (_, Game::Chess | Game::Shogi) => it,
        };
        for mv in moves {
            it.play(self.told(&mv.word(game.castling_form()))?);
        }
        Some(it)
    }

    /// A word of the game as the engine reads it.
    pub(crate) fn told(self, word: &str) -> Option<WireMove> {
        match self {
            Self::Same(dialect) => WireMove::read(word, dialect).ok(),
            Self::Fairy => WireMove::read(&fairy::uci_word(word)?, Dialect::Uci).ok(),
        }
    }

    /// A word of the engine as a word of the game. What is none stays as it is.
    pub(crate) fn heard(self, word: &str) -> String {
        let turned = match self {
            Self::Same(_) => None,
            Self::Fairy => fairy::usi_word(word),
        };
        turned.unwrap_or_else(|| word.to_owned())
    }

    /// Words of the engine as words of the game.
    pub(crate) fn line(self, moves: &MoveList<'_>) -> Vec<String> {
        moves
            .as_str()
            .split(' ')
            .filter(|word| !word.is_empty())
            .map(|word| self.heard(word))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(dialect: Dialect, game: Game, start: &Position, word: &str, expected: &str) {
        let wording = Wording::new(dialect, game).expect("it can play it");
        let mv = start.parse_move(word).expect("it is legal");
        let it = wording.game(start, &[mv]).expect("it can be written");
        assert_eq!(it.position().moves.as_str(), expected);
        assert_eq!(wording.heard(expected), mv.word(game.castling_form()));
    }

    #[test]
    fn words_are_those_of_the_engine() {
        let shogi = Position::start(Game::Shogi);
        check(Dialect::Usi, Game::Shogi, &shogi, "7g7f", "7g7f");
        check(Dialect::Uci, Game::Shogi, &shogi, "7g7f", "c3c4");
        check(Dialect::Uci, Game::Chess, &Position::start(Game::Chess), "e2e4", "e2e4");
        let castles = Position::from_text(Game::Chess960, "4k3/8/8/8/8/8/8/4KR2 w F - 0 1");
        check(Dialect::Uci, Game::Chess960, &castles.expect("it can be played"), "e1f1", "e1f1");
        assert_eq!(Wording::new(Dialect::Usi, Game::Chess), None);
    }
}
