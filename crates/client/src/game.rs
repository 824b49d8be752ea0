//! A game as an engine is told of it: where it started, what was played, and that it is this game.

use std::sync::atomic::{AtomicU64, Ordering};

use readyok_protocol::session::client::NewGame;
use readyok_protocol::{Fen, Move, Position, PositionError, Sfen};

/// A game: a position, the moves that led on from it, and an identity.
///
/// When a search is about another game than the one before, the engine is told so
/// (`ucinewgame`, `usinewgame`), and drops what it remembers. A clone is the same game.
///
/// ```
/// use readyok_client::Game;
/// let mut game = Game::startpos();
/// game.play("e2e4".parse()?);
/// assert_eq!(game.position().moves.as_str(), "e2e4");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Game {
    id: GameId,
    position: Position<'static>,
    about: NewGame,
}

/// Tells games apart.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct GameId(u64);

impl GameId {
    fn new() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

impl Game {
    /// A new game from the usual start position.
    pub fn startpos() -> Self {
        Self::from(Position::default())
    }

    /// A new game from a position of chess or a variant.
    ///
    /// # Errors
    /// The text breaks the syntax of FEN.
    pub fn from_fen(fen: &str) -> Result<Self, PositionError> {
        fen.parse::<Fen<'static>>().map(|fen| Self::from(Position::from(fen)))
    }

    /// A new game from a position of shogi.
    ///
    /// # Errors
    /// The text breaks the syntax of SFEN.
    pub fn from_sfen(sfen: &str) -> Result<Self, PositionError> {
        sfen.parse::<Sfen<'static>>().map(|sfen| Self::from(Position::from(sfen)))
    }

    /// A new game of Chess960: castling is the king taking his rook (`UCI_Chess960`).
    #[must_use]
    pub fn chess960(mut self) -> Self {
        self.id = GameId::new();
        self.about.chess960 = true;
        self
    }

    /// A new game of a variant (`UCI_Variant`).
    #[must_use]
    pub fn variant(mut self, variant: impl Into<String>) -> Self {
        self.id = GameId::new();
        self.about.variant = Some(variant.into());
        self
    }

    /// A new game against an opponent, in the form of `UCI_Opponent`:
    /// `GM 2800 human Gary Kasparov`.
    #[must_use]
    pub fn against(mut self, opponent: impl Into<String>) -> Self {
        self.id = GameId::new();
        self.about.opponent = Some(opponent.into());
        self
    }

    /// Plays a move. Whether it is legal is not asked.
    pub fn play(&mut self, it: Move) {
        self.position.moves.push(it);
    }

    /// Another position of the same game: an earlier one, a variation.
    #[must_use]
    pub fn at(&self, position: Position<'static>) -> Self {
        Self { id: self.id, position, about: self.about.clone() }
    }

    /// Where the game stands.
    pub fn position(&self) -> &Position<'static> {
        &self.position
    }

    pub(crate) fn id(&self) -> GameId {
        self.id
    }

    pub(crate) fn about(&self) -> &NewGame {
        &self.about
    }
}

impl Default for Game {
    fn default() -> Self {
        Self::startpos()
    }
}

impl Extend<Move> for Game {
    fn extend<I: IntoIterator<Item = Move>>(&mut self, moves: I) {
        moves.into_iter().for_each(|it| self.play(it));
    }
}

/// A new game.
impl From<Position<'static>> for Game {
    fn from(position: Position<'static>) -> Self {
        Self { id: GameId::new(), position, about: NewGame::default() }
    }
}
