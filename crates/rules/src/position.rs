//! A position of any of the games, with the moves that led to it.

use std::fmt;

use shakmaty::{CastlingMode, Position as _};

use crate::{
    CastlingForm, ChessBoard, Declaration, EndRules, FenForm, GameOutcome, IllegalReason,
    LineError, Move, MoveError, PositionError, Setup, ShogiBoard, Termination, chess,
    shogi::Squares,
};

/// A game that can be played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Game {
    /// Chess.
    Chess,
    /// Chess with any of 960 first ranks.
    Chess960,
    /// Shogi.
    Shogi,
}

impl Game {
    /// How UCI wants castling written in this game.
    pub fn castling_form(self) -> CastlingForm {
        match self {
            Self::Chess | Self::Shogi => CastlingForm::KingMove,
            Self::Chess960 => CastlingForm::KingTakesRook,
        }
    }
}

/// One of the two players.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Side {
    /// The player who moves first from the start position: White in chess, Black (sente) in shogi.
    First,
    /// The other: Black in chess, White (gote) in shogi.
    Second,
}

impl Side {
    /// The opponent.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::First => "first",
            Self::Second => "second",
        })
    }
}

/// How a move is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Notation {
    /// UCI or USI notation: `e2e4`, `7g7f`. Castling has the form of
    /// [`Game::castling_form`].
    Uci,
    /// SAN for chess, `Nbd7`; Hodges' notation for shogi, `P-7f`.
    Western,
    /// SAN for chess; for shogi Hodges' notation with digits for the ranks, `P-76`.
    WesternDigits,
    /// The same with the square that the move starts from, always: `Nb8-d7`, `P7g-7f`.
    Long,
    /// SAN for chess, which has no other; the Japanese one for shogi: `▲７六歩`.
    Japanese,
}

/// A position with the earlier positions that repetition depends on.
#[derive(Debug, Clone)]
pub struct Position(Board);

#[derive(Debug, Clone)]
enum Board {
    Chess(ChessBoard),
    // Several times as large as the other.
    Shogi(Box<ShogiBoard>),
}

/// The board of one of the games.
#[derive(Debug, Clone, Copy)]
pub enum BoardRef<'a> {
    /// Chess or Chess960.
    Chess(&'a ChessBoard),
    /// Shogi.
    Shogi(&'a ShogiBoard),
}

impl Position {
    /// The start position.
    pub fn start(game: Game) -> Self {
        Self(match game {
            Game::Chess => Board::Chess(ChessBoard::start(CastlingMode::Standard)),
            Game::Chess960 => Board::Chess(ChessBoard::start(CastlingMode::Chess960)),
            Game::Shogi => Board::Shogi(Box::new(ShogiBoard::start())),
        })
    }

    /// Reads a FEN of four to six fields, or an SFEN of three or four.
    ///
    /// Castling rights can be written as in FEN, X-FEN or Shredder-FEN. Rights that no king and
    /// rook stand for are an error; an en passant square that no pawn has passed is ignored.
    /// A shogi position can lack one king, as mate problems do.
    pub fn from_text(game: Game, text: &str) -> Result<Self, PositionError> {
        Self::from_setup(&Setup::read(game, text)?)
    }

    /// The position of a setup, if it can be played; [`Position::from_text`] says what that needs.
    pub fn from_setup(setup: &Setup) -> Result<Self, PositionError> {
        let chess = |mode| ChessBoard::from_setup(setup, mode).map(Board::Chess);
        Ok(Self(match setup.game() {
            Game::Chess => chess(CastlingMode::Standard)?,
            Game::Chess960 => chess(CastlingMode::Chess960)?,
            Game::Shogi => Board::Shogi(Box::new(ShogiBoard::from_setup(setup)?)),
        }))
    }

    /// What stands where, to be edited. The history is not part of it, and an en passant square only
    /// if a pawn can be taken there.
    pub fn setup(&self) -> Setup {
        match &self.0 {
            Board::Chess(board) => board.setup(),
            Board::Shogi(board) => board.setup(),
        }
    }

    /// Writes the position as FEN, in one of its forms, or as SFEN.
    pub fn text(&self, form: FenForm) -> String {
        match &self.0 {
            Board::Chess(board) => board.fen(form),
            Board::Shogi(board) => board.sfen(),
        }
    }

    /// This position after some moves, given as UCI or USI words.
    pub fn after<W: AsRef<str>>(
        mut self,
        words: impl IntoIterator<Item = W>,
    ) -> Result<Self, LineError> {
        for (index, word) in words.into_iter().enumerate() {
            let played = self.play_uci(word.as_ref());
            played.map_err(|error| LineError { index, error })?;
        }
        Ok(self)
    }

    /// The game that this is a position of.
    pub fn game(&self) -> Game {
        match &self.0 {
            Board::Chess(board) => board.game(),
            Board::Shogi(_) => Game::Shogi,
        }
    }

    /// The board of the game, for those who need more than the games share.
    pub fn board(&self) -> BoardRef<'_> {
        match &self.0 {
            Board::Chess(board) => BoardRef::Chess(board),
            Board::Shogi(board) => BoardRef::Shogi(board),
        }
    }

    /// The side to move.
    pub fn turn(&self) -> Side {
        match &self.0 {
            Board::Chess(board) => board.turn(),
            Board::Shogi(board) => board.turn(),
        }
    }

    /// Whether the side to move is in check.
    pub fn in_check(&self) -> bool {
        match &self.0 {
            Board::Chess(board) => board.position().is_check(),
            Board::Shogi(board) => board.position().is_in_check(),
        }
    }

    /// A hash of everything that makes two positions the same: pieces, hands, side to move,
    /// castling rights and a possible en passant capture, but no move numbers and no history.
    pub fn key(&self) -> u64 {
        match &self.0 {
            Board::Chess(board) => ChessBoard::key_of(board.position()),
            Board::Shogi(board) => board.key(),
        }
    }

    /// All legal moves, in no promised order.
    pub fn legal_moves(&self) -> Vec<Move> {
        match &self.0 {
            Board::Chess(board) => {
                board.position().legal_moves().into_iter().map(Move::Chess).collect()
            }
            Board::Shogi(board) => board.legal_moves().iter().copied().map(Move::Shogi).collect(),
        }
    }

    /// Reads a move from its UCI or USI word. Castling can be written in both forms.
    pub fn parse_move(&self, word: &str) -> Result<Move, MoveError> {
        match &self.0 {
            Board::Chess(board) => board.parse_move(word).map(Move::Chess),
            Board::Shogi(board) => board.parse_move(word).map(Move::Shogi),
        }
        .map_err(|why| MoveError::new(word, why))
    }

    /// Plays a move. On an error nothing has changed.
    pub fn play(&mut self, mv: Move) -> Result<(), MoveError> {
        match (&mut self.0, mv) {
            (Board::Chess(board), Move::Chess(mv)) => board.play(mv),
            (Board::Shogi(board), Move::Shogi(mv)) => board.play(mv),
            (Board::Chess(_), Move::Shogi(_)) | (Board::Shogi(_), Move::Chess(_)) => {
                Err(IllegalReason::Unreadable)
            }
        }
        .map_err(|why| MoveError::new(&mv.to_uci(self.game().castling_form()), why))
    }

    /// Reads a move from its UCI or USI word and plays it, which takes less time than one after the other.
    /// On an error nothing has changed.
    pub fn play_uci(&mut self, word: &str) -> Result<Move, MoveError> {
        match &mut self.0 {
            Board::Chess(board) => board.play_uci(word).map(Move::Chess),
            Board::Shogi(board) => {
                board.parse_move(word).and_then(|mv| board.play(mv).map(|()| Move::Shogi(mv)))
            }
        }
        .map_err(|why| MoveError::new(word, why))
    }

    /// Reads a move in a notation, whether it is written exactly or loosely.
    ///
    /// Loosely written are: in SAN signs for captures, checks and promotions that are missing or too
    /// many, `0-0`, figurines, long forms, and pieces in lower case where only one move fits; in the
    /// Japanese notation other marks, digits and names of pieces, and `不成` and `打` left out; in
    /// the Western one both ways to write squares, and no sign before them. Squares alone are read
    /// in all notations of chess.
    pub fn parse(&self, text: &str, notation: Notation) -> Result<Move, MoveError> {
        let moves: Result<Vec<Move>, IllegalReason> = match (&self.0, notation) {
            (_, Notation::Uci) => return self.parse_move(text),
            (
                Board::Chess(board),
                Notation::Western | Notation::WesternDigits | Notation::Long | Notation::Japanese,
            ) => board.read_san(text).map(|moves| moves.into_iter().map(Move::Chess).collect()),
            (Board::Shogi(board), Notation::Japanese) => {
                board.read_japanese(text).map(|moves| moves.into_iter().map(Move::Shogi).collect())
            }
            (Board::Shogi(board), Notation::Western | Notation::WesternDigits | Notation::Long) => {
                board.read_western(text).map(|moves| moves.into_iter().map(Move::Shogi).collect())
            }
        };
        match moves.as_deref() {
            Ok(&[mv]) => Ok(mv),
            Ok([]) => Err(MoveError::new(text, IllegalReason::Unreadable)),
            Ok(several) => {
                let form = self.game().castling_form();
                let words = several.iter().map(|mv| mv.to_uci(form)).collect();
                Err(MoveError::ambiguous(text, words))
            }
            Err(&why) => Err(MoveError::new(text, why)),
        }
    }

    /// Writes a legal move. A move of another game is written as its word.
    pub fn notation(&self, mv: Move, notation: Notation) -> String {
        match (&self.0, mv) {
            (Board::Chess(board), Move::Chess(chess)) => match notation {
                Notation::Uci => mv.to_uci(board.game().castling_form()),
                Notation::Long => board.long(chess),
                Notation::Western | Notation::WesternDigits | Notation::Japanese => {
                    board.san(chess)
                }
            },
            (Board::Shogi(board), Move::Shogi(shogi)) => match notation {
                Notation::Uci => shogi.to_usi(),
                Notation::Western => board.western(shogi, Squares::Letters, false),
                Notation::WesternDigits => board.western(shogi, Squares::Digits, false),
                Notation::Long => board.western(shogi, Squares::Letters, true),
                Notation::Japanese => board.japanese(shogi),
            },
            (Board::Chess(_), Move::Shogi(_)) | (Board::Shogi(_), Move::Chess(_)) => {
                mv.to_uci(CastlingForm::KingMove)
            }
        }
    }

    /// Writes a line of moves for people to read, such as a principal variation. From the first
    /// word on that is no legal move, the words are given as they stand.
    pub fn notate<W: AsRef<str>>(
        &self,
        words: impl IntoIterator<Item = W>,
        notation: Notation,
    ) -> Vec<String> {
        let mut position = Some(self.clone());
        let mut written = Vec::new();
        for word in words {
            let word = word.as_ref();
            let text = position.as_mut().and_then(|position| {
                let mv = position.parse_move(word).ok()?;
                let text = position.notation(mv, notation);
                position.play(mv).ok().map(|()| text)
            });
            if text.is_none() {
                position = None;
            }
            written.push(text.unwrap_or_else(|| word.to_owned()));
        }
        written
    }

    /// Whether the side to move can declare a win under [`EndRules::BOARD`]: by the 27-point rule of
    /// shogi, which counts what a handicap leaves out.
    pub fn can_declare(&self) -> bool {
        let ending = self.declare(&EndRules::BOARD);
        ending.is_some_and(|outcome| outcome.termination == Termination::Declaration)
    }

    /// What counts if the side to move declares; none in chess.
    pub fn declaration(&self) -> Option<Declaration> {
        match &self.0 {
            Board::Chess(_) => None,
            Board::Shogi(board) => Some(board.declaration()),
        }
    }

    /// Whether the game is over here, and how, under [`EndRules::BOARD`]: draws that a player of
    /// chess would have to claim count.
    pub fn ending(&self) -> Option<GameOutcome> {
        self.ending_under(&EndRules::BOARD)
    }

    /// Whether the game is over here, and how, under some rules.
    ///
    /// Mate goes before everything else. A declaration of shogi is a player's to make, see
    /// [`Position::declare`], and so is a claim of chess, see [`Position::claims`].
    pub fn ending_under(&self, rules: &EndRules) -> Option<GameOutcome> {
        match &self.0 {
            Board::Chess(board) => board.ending(&rules.chess),
            Board::Shogi(board) => board.ending(&rules.shogi),
        }
    }

    /// The draws that the player to move can claim in this position: the third repetition (FIDE
    /// 9.2.2) and fifty moves (FIDE 9.3.2). None in shogi.
    ///
    /// A player may also claim with a move that leads there (9.2.1 and 9.3.1): ask the position
    /// after it.
    pub fn claims(&self) -> Vec<Termination> {
        match &self.0 {
            Board::Chess(board) => board.claims(),
            Board::Shogi(_) => Vec::new(),
        }
    }

    /// How the game ends if the side to move declares (shogi); none under rules without
    /// declarations, and in chess.
    pub fn declare(&self, rules: &EndRules) -> Option<GameOutcome> {
        self.declaration()?.ending(rules.shogi.impasse)
    }

    /// Whether a side could still give mate by some line of moves, as far as its pieces tell (chess).
    /// In shogi it always could.
    pub fn has_mating_material(&self, side: Side) -> bool {
        match &self.0 {
            Board::Chess(board) => board.has_mating_material(chess::color(side)),
            Board::Shogi(_) => true,
        }
    }

    /// How the game ends when a side's time is over: it loses, unless the opponent could not give
    /// mate by any line of moves (FIDE 6.9).
    pub fn time_is_over(&self, loser: Side) -> GameOutcome {
        match &self.0 {
            Board::Chess(board) => board.time_is_over(chess::color(loser)),
            Board::Shogi(_) => GameOutcome::won(loser.other(), Termination::TimeForfeit),
        }
    }

    /// How the game ends when the side to move has played an illegal move and that loses: always in
    /// shogi, where it is a foul (nifu, uchifuzume, a king left in check and all others), and in
    /// engine matches; human players lose by the second one (FIDE 7.5.5).
    pub fn illegal_move(&self) -> GameOutcome {
        GameOutcome::lost(self.turn(), Termination::IllegalMove)
    }
}

/// The position as FEN (X-FEN, with an en passant square only where it matters) or SFEN.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(FenForm::XFen))
    }
}
