//! Conversion between a protocol's notation and positions and moves of the rules.

use std::borrow::Cow;

use readyok_protocol::session::client::NewGame;
use readyok_protocol::{self as protocol, Dialect, Fen, MoveList, Root, Sfen};

use crate::{Game, LineError, Move, MoveError, Position, PositionError, Setup, fairy};

/// The notation in which a client and an engine exchange the positions and moves of one game.
///
/// UCI engines that play shogi (`UCI_Variant shogi`, as Fairy-Stockfish) use the squares and FENs of
/// [`fairy`]; every other engine uses the notation of the rules.
///
/// ```
/// use readyok_protocol::Dialect;
/// use readyok_rules::{Game, MoveCodec, Position};
///
/// let codec = MoveCodec::new(Dialect::Uci, Game::Shogi).ok_or("supported")?;
/// let position = Position::start(Game::Shogi);
/// let mv = codec.decode(&position, "c3c4")?;
/// assert_eq!(mv, position.parse_move("7g7f")?);
/// assert_eq!(codec.encode(mv)?.as_str(), "c3c4");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoveCodec {
    dialect: Dialect,
    game: Game,
}

/// A position that a client sent and that cannot be played.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// The FEN is not one of shogi.
    #[error("not a shogi position: `{fen}`")]
    NotShogi {
        /// The FEN.
        fen: String,
    },
    /// The position before the moves is invalid.
    #[error(transparent)]
    Position(#[from] PositionError),
    /// A move is illegal. The error has the move in the notation of the client.
    #[error("{0}")]
    Moves(LineError),
}

impl MoveCodec {
    /// The codec for a game in a dialect. `None` for chess in USI, which no engine supports.
    pub fn new(dialect: Dialect, game: Game) -> Option<Self> {
        match (dialect, game) {
            (Dialect::Usi, Game::Chess | Game::Chess960) => None,
            (Dialect::Uci, _) | (Dialect::Usi, Game::Shogi) => Some(Self { dialect, game }),
        }
    }

    /// The codec of the game's usual protocol: UCI for chess, USI for shogi.
    pub fn usual(game: Game) -> Self {
        let dialect = match game {
            Game::Chess | Game::Chess960 => Dialect::Uci,
            Game::Shogi => Dialect::Usi,
        };
        Self { dialect, game }
    }

    /// The protocol.
    pub fn dialect(self) -> Dialect {
        self.dialect
    }

    /// The options that select the game in the engine.
    pub fn new_game(self) -> NewGame {
        NewGame {
            chess960: self.game == Game::Chess960,
            variant: self.is_fairy().then(|| "shogi".to_owned()),
            ..NewGame::default()
        }
    }

    /// Writes a move.
    ///
    /// # Errors
    /// The move belongs to another game and has no notation in this dialect.
    pub fn encode(self, mv: Move) -> Result<protocol::Move, protocol::MoveError> {
        let mv = mv.uci(self.game.castling_form());
        let text = self.encoded(mv.as_str()).unwrap_or(Cow::Borrowed(mv.as_str()));
        protocol::Move::read(&text, self.dialect)
    }

    /// Writes a move that is given in UCI or USI notation. `None` if the text is not a move.
    pub fn encode_text(self, text: &str) -> Option<protocol::Move> {
        protocol::Move::read(&self.encoded(text)?, self.dialect).ok()
    }

    /// Reads a legal move.
    ///
    /// # Errors
    /// The move is unreadable or illegal. The error has the move as it was given.
    pub fn decode(self, position: &Position, text: &str) -> Result<Move, MoveError> {
        position.parse_move(&self.decode_text(text)).map_err(|error| given(error, text))
    }

    /// A move of the engine in UCI or USI notation, legal or not. Other text is returned as it is.
    pub fn decode_text(self, text: &str) -> Cow<'_, str> {
        let decoded = if self.is_fairy() { fairy::uci_to_usi(text) } else { None };
        decoded.map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// Moves of the engine in UCI or USI notation, legal or not.
    pub fn decode_line<'a>(
        self,
        moves: &'a MoveList<'_>,
    ) -> impl Iterator<Item = Cow<'a, str>> + use<'a> {
        moves.tokens().map(move |text| self.decode_text(text))
    }

    /// Writes a position and the moves that follow it. `None` if the dialect cannot express them, or if
    /// the position cannot be played ([`Position::defect`]).
    pub fn encode_position(
        self,
        root: &Position,
        moves: &[Move],
    ) -> Option<protocol::Position<'static>> {
        if root.defect().is_some() {
            return None;
        }
        let text = root.to_string();
        let root = if text == Position::start(self.game).to_string() {
            Root::StartPos
        } else if self.is_fairy() {
            Root::Fen(fairy::sfen_to_fen(&text)?.parse::<Fen<'static>>().ok()?)
        } else {
            match self.dialect {
                Dialect::Uci => Root::Fen(text.parse::<Fen<'static>>().ok()?),
                Dialect::Usi => Root::Sfen(text.parse::<Sfen<'static>>().ok()?),
            }
        };
        let mut list = MoveList::EMPTY;
        for &mv in moves {
            list.push(self.encode(mv).ok()?);
        }
        Some(protocol::Position { root, moves: list })
    }

    /// Reads a position with the moves that follow it. Castling rights of a FEN without king or rook
    /// are ignored.
    ///
    /// # Errors
    /// The position is invalid, or a move is illegal.
    pub fn decode_position(
        self,
        position: &protocol::Position<'_>,
    ) -> Result<Position, CodecError> {
        let root = self.decode_root(&position.root)?;
        let moves = position.moves.tokens().map(|text| self.decode_text(text));
        root.after(moves).map_err(|mut line| {
            let text = position.moves.tokens().nth(line.index).unwrap_or_default();
            line.error = given(line.error, text);
            CodecError::Moves(line)
        })
    }

    /// Reads the position before the moves. See [`decode_position`](Self::decode_position).
    ///
    /// # Errors
    /// The position is invalid.
    pub fn decode_root(self, root: &Root<'_>) -> Result<Position, CodecError> {
        Ok(match root {
            Root::StartPos => Position::start(self.game),
            Root::Fen(fen) if self.is_fairy() => {
                let sfen = fairy::fen_to_sfen(fen.as_str());
                let sfen = sfen.ok_or_else(|| CodecError::NotShogi { fen: fen.to_string() })?;
                Position::from_text(self.game, &sfen)?
            }
            Root::Fen(fen) => {
                // Missing fields are common, and other engines play such positions.
                let mut setup = Setup::read_partial(self.game, fen.as_str())?;
                setup.drop_invalid_castling();
                setup.position()?
            }
            Root::Sfen(sfen) => Setup::read_partial(self.game, sfen.as_str())?.position()?,
        })
    }

    fn is_fairy(self) -> bool {
        (self.dialect, self.game) == (Dialect::Uci, Game::Shogi)
    }

    fn encoded(self, text: &str) -> Option<Cow<'_, str>> {
        if self.is_fairy() {
            fairy::usi_to_uci(text).map(Cow::Owned)
        } else {
            Some(Cow::Borrowed(text))
        }
    }
}

fn given(error: MoveError, text: &str) -> MoveError {
    MoveError { candidates: error.candidates, ..MoveError::new(text, error.reason) }
}

#[cfg(test)]
mod tests {
    use readyok_protocol::Command;

    use super::*;

    fn codec(dialect: Dialect, game: Game) -> MoveCodec {
        MoveCodec::new(dialect, game).expect("a supported game")
    }

    #[track_caller]
    fn round_trip(dialect: Dialect, game: Game, root: &Position, mv: &str, expected: &str) {
        let codec = codec(dialect, game);
        let mv = root.parse_move(mv).expect("a legal move");
        let text = codec.encode(mv).expect("a move of the dialect");
        assert_eq!(text.as_str(), expected);
        assert_eq!(codec.decode(root, expected), Ok(mv));
        assert_eq!(codec.decode_text(expected), mv.to_uci(game.castling_form()));
        let sent = codec.encode_position(root, &[mv]).expect("a position of the dialect");
        assert_eq!(sent.moves.as_str(), expected);
        let read = codec.decode_position(&sent).expect("a legal position");
        assert_eq!(
            read.key(),
            root.clone().after([mv.to_uci(game.castling_form())]).unwrap().key()
        );
    }

    /// Such positions are common in scripts, and Stockfish plays them.
    #[test]
    fn positions_with_missing_fields_are_read() {
        for (dialect, game, line, expected) in [
            (
                Dialect::Uci,
                Game::Chess,
                "fen 4k3/8/8/8/8/8/8/4K2R b",
                "4k3/8/8/8/8/8/8/4K2R b - - 0 1",
            ),
            (
                Dialect::Uci,
                Game::Chess,
                "fen 4k3/8/8/8/8/8/8/4K2R w K",
                "4k3/8/8/8/8/8/8/4K2R w K - 0 1",
            ),
            (
                Dialect::Usi,
                Game::Shogi,
                "sfen 4k4/9/9/9/9/9/9/9/4K4 w",
                "4k4/9/9/9/9/9/9/9/4K4 w - 1",
            ),
        ] {
            let line = format!("position {line}");
            let Command::Position(position) = Command::read(&line, dialect).value else {
                panic!("{line}")
            };
            let position = codec(dialect, game).decode_position(&position).expect("a position");
            assert_eq!(position.to_string(), expected);
        }
    }

    #[test]
    fn moves_have_the_notation_of_the_engine() {
        let shogi = Position::start(Game::Shogi);
        round_trip(Dialect::Usi, Game::Shogi, &shogi, "7g7f", "7g7f");
        round_trip(Dialect::Uci, Game::Shogi, &shogi, "7g7f", "c3c4");
        let drops = "4k4/9/9/9/9/9/9/9/4K4 b P 1";
        let drops = Position::from_text(Game::Shogi, drops).expect("a position");
        round_trip(Dialect::Usi, Game::Shogi, &drops, "P*5e", "P*5e");
        round_trip(Dialect::Uci, Game::Shogi, &drops, "P*5e", "P@e5");
        let chess = Position::start(Game::Chess);
        round_trip(Dialect::Uci, Game::Chess, &chess, "e2e4", "e2e4");
        let castles = Position::from_text(Game::Chess960, "4k3/8/8/8/8/8/8/4KR2 w F - 0 1");
        let castles = castles.expect("a position");
        round_trip(Dialect::Uci, Game::Chess960, &castles, "e1f1", "e1f1");
        assert_eq!(MoveCodec::new(Dialect::Usi, Game::Chess), None);
    }

    #[test]
    fn the_start_position_is_startpos() {
        for (dialect, game) in [
            (Dialect::Uci, Game::Chess),
            (Dialect::Uci, Game::Chess960),
            (Dialect::Uci, Game::Shogi),
            (Dialect::Usi, Game::Shogi),
        ] {
            let sent = codec(dialect, game).encode_position(&Position::start(game), &[]);
            assert_eq!(sent.expect("a position").root, Root::StartPos);
        }
    }

    #[test]
    fn text_that_is_not_a_move_is_unchanged() {
        let codec = codec(Dialect::Uci, Game::Shogi);
        assert_eq!(codec.decode_text("(none)"), "(none)");
        assert_eq!(codec.encode_text("(none)"), None);
        assert_eq!(codec.encode_text("7g7f").map(|mv| mv.to_string()).as_deref(), Some("c3c4"));
    }

    #[test]
    fn an_illegal_move_is_reported_in_the_notation_of_the_client() {
        let error = |dialect, line: &str| {
            let Command::Position(position) = Command::read(line, dialect).value else {
                return None;
            };
            let read = codec(dialect, Game::Shogi).decode_position(&position);
            read.err().map(|error| error.to_string())
        };
        let uci = error(Dialect::Uci, "position startpos moves c3c4 c7c6 a1a5");
        let usi = error(Dialect::Usi, "position startpos moves 7g7f 7c7d 9i9e");
        assert_eq!(
            uci.as_deref(),
            Some("move 3: illegal move `a1a5`: the piece cannot reach the target square")
        );
        assert_eq!(usi.map(|text| text.replace("9i9e", "a1a5")), uci);
    }

    #[test]
    fn castling_rights_without_king_and_rook_are_ignored() {
        let codec = codec(Dialect::Uci, Game::Chess);
        let read = |fen: &str| {
            let root = Root::Fen(fen.parse::<Fen<'static>>().expect("a FEN"));
            codec.decode_position(&protocol::Position { root, moves: MoveList::EMPTY })
        };
        for (sent, expected) in [
            ("4k3/8/8/8/8/8/4P3/4K3 w KQkq - 0 1", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"),
            ("r3k3/8/8/8/8/8/8/4K2R w KQkq - 0 1", "r3k3/8/8/8/8/8/8/4K2R w Kq - 0 1"),
            ("r3k2r/8/8/8/4K3/8/8/R6R w KQkq - 0 1", "r3k2r/8/8/8/4K3/8/8/R6R w kq - 0 1"),
        ] {
            assert_eq!(read(sent).map(|position| position.to_string()).as_deref(), Ok(expected));
        }
        assert!(read("8/8/8/8/8/8/8/4K3 w KQ - 0 1").is_err());
    }
}
