//! Which game is spoken of, and in whose words.

use readyok_engine::protocol::{MoveError, Position as Told, Root};
use readyok_engine::{Dialect, Failure, Move};
use readyok_rules::{CastlingForm, Game, Position, fairy};

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
            (Root::Fen(fen), Self::Own(_)) => Position::from_text(game, fen.as_str())?,
            (Root::Sfen(sfen), _) => Position::from_text(game, sfen.as_str())?,
        };
        let words = told.moves.words();
        Ok(match self {
            Self::Own(_) => root.after(words)?,
            Self::Fairy => {
                root.after(words.map(|it| fairy::usi_word(it).unwrap_or_else(|| it.to_owned())))?
            }
        })
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
