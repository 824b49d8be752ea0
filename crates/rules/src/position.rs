//! A position of any of the games, with the moves that led to it.

use std::fmt;

use shakmaty::{CastlingMode, Position as _};

use crate::{
    CastlingForm, ChessBoard, Declaration, EndRules, FenForm, Game, GameOutcome, IllegalReason,
    LineError, Move, MoveError, Notation, PositionError, Setup, ShogiBoard, Side, Square,
    Termination, chess, chess::ChessUndo, shogi::Squares,
};

/// A position and the earlier positions that are needed to detect repetition.
///
/// A position of a record can violate the rules, such as by two pawns on a file of shogi: see
/// [`Position::defect`].
#[derive(Debug, Clone)]
pub struct Position {
    board: GameBoard,
    defect: Option<Box<PositionError>>,
}

#[derive(Debug, Clone)]
enum GameBoard {
    Chess(ChessBoard),
    // Several times larger than the first variant.
    Shogi(Box<ShogiBoard>),
    /// A position in which no moves exist, because a king is missing or a piece cannot be there.
    Diagram(Box<Setup>),
}

/// What takes back a move, in addition to the move.
#[derive(Debug, Clone)]
pub(crate) enum Undo {
    Chess(ChessUndo),
    /// The board has all that is needed.
    Shogi,
}

/// The board of one of the games.
#[derive(Debug, Clone, Copy)]
pub enum BoardRef<'a> {
    /// Chess or Chess960.
    Chess(&'a ChessBoard),
    /// Shogi.
    Shogi(&'a ShogiBoard),
    /// A position of any game that cannot be played: it has a [`Position::defect`] and no moves.
    Diagram(&'a Setup),
}

impl Position {
    /// The start position.
    pub fn start(game: Game) -> Self {
        Self::from(match game {
            Game::Chess => GameBoard::Chess(ChessBoard::start(CastlingMode::Standard)),
            Game::Chess960 => GameBoard::Chess(ChessBoard::start(CastlingMode::Chess960)),
            Game::Shogi => GameBoard::Shogi(Box::new(ShogiBoard::start())),
        })
    }

    /// Reads a FEN of four to six fields, or an SFEN of three or four.
    ///
    /// Castling rights can be written as in FEN, X-FEN or Shredder-FEN. A castling right without king and
    /// rook is an error. An en passant square that no pawn has passed is ignored. A shogi position can
    /// lack one king, as mate problems do.
    pub fn from_text(game: Game, text: &str) -> Result<Self, PositionError> {
        Self::from_setup(&Setup::read(game, text)?)
    }

    /// The position of a setup. [`Position::from_text`] lists the requirements.
    pub fn from_setup(setup: &Setup) -> Result<Self, PositionError> {
        let chess = |mode| ChessBoard::from_setup(setup, mode).map(GameBoard::Chess);
        Ok(Self::from(match setup.game() {
            Game::Chess => chess(CastlingMode::Standard)?,
            Game::Chess960 => chess(CastlingMode::Chess960)?,
            Game::Shogi => GameBoard::Shogi(Box::new(ShogiBoard::from_setup(setup)?)),
        }))
    }

    /// The position of a setup for viewing, even if it violates the rules. Without a defect it is the same
    /// as that of [`Position::from_setup`].
    ///
    /// Moves are possible in spite of too many pieces in chess and of two pawns on a file in shogi. A
    /// position with another defect has no moves.
    pub fn for_viewing(setup: &Setup) -> Self {
        let defect = match Self::from_setup(setup) {
            Ok(position) => return position,
            Err(error) => Some(Box::new(error)),
        };
        let chess = |mode| ChessBoard::from_crowded_setup(setup, mode).map(GameBoard::Chess);
        let board = match setup.game() {
            Game::Chess => chess(CastlingMode::Standard),
            Game::Chess960 => chess(CastlingMode::Chess960),
            Game::Shogi => ShogiBoard::from_setup_with_two_pawns(setup)
                .map(|board| GameBoard::Shogi(Box::new(board))),
        };
        Self { board: board.unwrap_or_else(|| GameBoard::Diagram(Box::new(setup.clone()))), defect }
    }

    /// The violation of the rules of a position that is only for viewing. No engine may search it.
    pub fn defect(&self) -> Option<&PositionError> {
        self.defect.as_deref()
    }

    /// A position of chess with its board.
    pub(crate) fn from_chess(board: ChessBoard) -> Self {
        Self::from(GameBoard::Chess(board))
    }

    /// The position as an editable [`Setup`], without history. It has an en passant square only if a
    /// capture is possible.
    pub fn setup(&self) -> Setup {
        match &self.board {
            GameBoard::Chess(board) => board.setup(),
            GameBoard::Shogi(board) => board.setup(),
            GameBoard::Diagram(setup) => (**setup).clone(),
        }
    }

    /// Writes the position as FEN, in one of its forms, or as SFEN.
    pub fn text(&self, form: FenForm) -> String {
        match &self.board {
            GameBoard::Chess(board) => board.fen(form),
            GameBoard::Shogi(board) => board.sfen(),
            GameBoard::Diagram(setup) => setup.text(form),
        }
    }

    /// This position after moves in UCI or USI notation.
    pub fn after<T: AsRef<str>>(
        mut self,
        moves: impl IntoIterator<Item = T>,
    ) -> Result<Self, LineError> {
        for (index, text) in moves.into_iter().enumerate() {
            let played = self.play_uci(text.as_ref());
            played.map_err(|error| LineError { index, error })?;
        }
        Ok(self)
    }

    /// The game that this is a position of.
    pub fn game(&self) -> Game {
        match &self.board {
            GameBoard::Chess(board) => board.game(),
            GameBoard::Shogi(_) => Game::Shogi,
            GameBoard::Diagram(setup) => setup.game(),
        }
    }

    /// The board of the game, for functions that only one game has.
    pub fn board(&self) -> BoardRef<'_> {
        match &self.board {
            GameBoard::Chess(board) => BoardRef::Chess(board),
            GameBoard::Shogi(board) => BoardRef::Shogi(board),
            GameBoard::Diagram(setup) => BoardRef::Diagram(setup),
        }
    }

    /// The side to move.
    pub fn turn(&self) -> Side {
        match &self.board {
            GameBoard::Chess(board) => board.turn(),
            GameBoard::Shogi(board) => board.turn(),
            GameBoard::Diagram(setup) => setup.turn(),
        }
    }

    /// Whether the side to move is in check.
    pub fn in_check(&self) -> bool {
        match &self.board {
            GameBoard::Chess(board) => board.position().is_check(),
            GameBoard::Shogi(board) => board.position().is_in_check(),
            GameBoard::Diagram(_) => false,
        }
    }

    /// A hash of everything that makes two positions the same: pieces, hands, side to move,
    /// castling rights and a possible en passant capture, but no move numbers and no history.
    pub fn key(&self) -> u64 {
        match &self.board {
            GameBoard::Chess(board) => ChessBoard::key_of(board.position()),
            GameBoard::Shogi(board) => board.key(),
            GameBoard::Diagram(setup) => setup.key(),
        }
    }

    /// All legal moves, in unspecified order.
    pub fn legal_moves(&self) -> Vec<Move> {
        match &self.board {
            GameBoard::Chess(board) => {
                board.position().legal_moves().into_iter().map(Move::Chess).collect()
            }
            GameBoard::Shogi(board) => {
                board.legal_moves().iter().copied().map(Move::Shogi).collect()
            }
            GameBoard::Diagram(_) => Vec::new(),
        }
    }

    /// Reads a move in UCI or USI notation. Castling can have either form.
    pub fn parse_move(&self, text: &str) -> Result<Move, MoveError> {
        match &self.board {
            GameBoard::Chess(board) => board.parse_move(text).map(Move::Chess),
            GameBoard::Shogi(board) => board.parse_move(text).map(Move::Shogi),
            GameBoard::Diagram(_) => Err(IllegalReason::NotPlayable),
        }
        .map_err(|reason| MoveError::new(text, reason))
    }

    /// Plays a move. On an error the position is unchanged.
    pub fn play(&mut self, mv: Move) -> Result<(), MoveError> {
        match (&mut self.board, mv) {
            (GameBoard::Chess(board), Move::Chess(mv)) => board.play(mv),
            (GameBoard::Shogi(board), Move::Shogi(mv)) => board.play(mv),
            (GameBoard::Chess(_), Move::Shogi(_)) | (GameBoard::Shogi(_), Move::Chess(_)) => {
                Err(IllegalReason::InvalidMove)
            }
            (GameBoard::Diagram(_), _) => Err(IllegalReason::NotPlayable),
        }
        .map_err(|reason| MoveError::new(mv.uci(self.game().castling_form()).as_str(), reason))
    }

    /// [`play`](Self::play) for a move that is known to be legal in this position.
    pub(crate) fn play_legal(&mut self, mv: Move) -> Result<(), MoveError> {
        if let (GameBoard::Chess(board), Move::Chess(mv)) = (&mut self.board, mv) {
            board.play_legal(mv);
            return Ok(());
        }
        self.play(mv)
    }

    /// [`play`](Self::play), or [`play_legal`](Self::play_legal) if the move is known to be legal, for moves that are
    /// taken back with [`undo`](Self::undo).
    pub(crate) fn push(&mut self, mv: Move, is_legal: bool) -> Result<Undo, MoveError> {
        if let (GameBoard::Chess(board), Move::Chess(chess)) = (&mut self.board, mv)
            && (is_legal || board.is_legal(chess))
        {
            return Ok(Undo::Chess(board.push_legal(chess)));
        }
        self.play(mv).map(|()| Undo::Shogi)
    }

    /// Takes back the last move.
    pub(crate) fn undo(&mut self, mv: Move, undo: Undo) {
        match (&mut self.board, mv, undo) {
            (GameBoard::Chess(board), _, Undo::Chess(undo)) => board.undo(undo),
            (GameBoard::Shogi(board), Move::Shogi(mv), Undo::Shogi) => board.undo(mv),
            // No other position has moves.
            (GameBoard::Chess(_) | GameBoard::Shogi(_) | GameBoard::Diagram(_), ..) => {}
        }
    }

    /// Whether a move is legal.
    pub fn is_legal(&self, mv: Move) -> bool {
        match (&self.board, mv) {
            (GameBoard::Chess(board), Move::Chess(mv)) => board.is_legal(mv),
            (GameBoard::Shogi(board), Move::Shogi(mv)) => board.is_legal(mv),
            (GameBoard::Chess(_), Move::Shogi(_))
            | (GameBoard::Shogi(_), Move::Chess(_))
            | (GameBoard::Diagram(_), _) => false,
        }
    }

    /// Plays a null move: passes the turn to the other side. The position has no history afterwards, as
    /// no game contains it. On an error the position is unchanged.
    ///
    /// # Errors
    /// The side to move is in check ([`IllegalReason::KingInCheck`]).
    pub fn play_null(&mut self) -> Result<(), MoveError> {
        let passed = match &self.board {
            GameBoard::Chess(board) => board.passed().map(GameBoard::Chess),
            GameBoard::Shogi(board) => {
                board.passed().map(|board| GameBoard::Shogi(Box::new(board)))
            }
            GameBoard::Diagram(_) => Err(IllegalReason::NotPlayable),
        };
        let passed = passed.map_err(|reason| MoveError::new("--", reason))?;
        self.board = passed;
        Ok(())
    }

    /// Reads a move in UCI or USI notation that can be illegal, for the record of a game that it lost.
    /// `None` if the text is malformed or the side to move has no such piece.
    pub fn parse_unchecked(&self, text: &str) -> Option<Move> {
        match &self.board {
            GameBoard::Chess(board) => board.parse_unchecked(text).map(Move::Chess),
            GameBoard::Shogi(board) => board.parse_unchecked(text).map(Move::Shogi),
            GameBoard::Diagram(_) => None,
        }
    }

    /// Reads a move in UCI or USI notation, in SAN, or in Western or Japanese notation of shogi. The error is that of a
    /// notation that can read the text.
    pub fn parse_any(&self, text: &str) -> Result<Move, MoveError> {
        let mut result = self.parse(text, Notation::Uci);
        for notation in [Notation::Western, Notation::Japanese] {
            match &result {
                Ok(_) => break,
                Err(error) if error.reason != IllegalReason::InvalidMove => {
                    result = self.parse(text, notation).or(result);
                }
                Err(_) => result = self.parse(text, notation),
            }
        }
        result
    }

    /// Reads a move in UCI or USI notation and plays it. Faster than [`Position::parse_move`] followed by
    /// [`Position::play`]. On an error the position is unchanged.
    pub fn play_uci(&mut self, text: &str) -> Result<Move, MoveError> {
        match &mut self.board {
            GameBoard::Chess(board) => board.play_uci(text).map(Move::Chess),
            GameBoard::Shogi(board) => {
                board.parse_move(text).and_then(|mv| board.play(mv).map(|()| Move::Shogi(mv)))
            }
            GameBoard::Diagram(_) => Err(IllegalReason::NotPlayable),
        }
        .map_err(|reason| MoveError::new(text, reason))
    }

    /// Reads a move in a notation, in its exact form or a lenient one.
    ///
    /// Lenient SAN: signs for captures, checks and promotions are missing or superfluous; `0-0`,
    /// figurines and long forms; lower-case pieces where only one move fits. Lenient Japanese notation:
    /// other marks, digits and piece names, and no `不成` or `打`. Lenient Western notation: squares in
    /// either style, and no sign before them. In chess, a pair of squares is read in every notation.
    pub fn parse(&self, text: &str, notation: Notation) -> Result<Move, MoveError> {
        let moves: Result<Vec<Move>, IllegalReason> = match (&self.board, notation) {
            (_, Notation::Uci) | (GameBoard::Chess(_), Notation::Csa) => {
                return self.parse_move(text);
            }
            (GameBoard::Shogi(board), Notation::Csa) => {
                board.parse_csa(text).map(|mv| vec![Move::Shogi(mv)])
            }
            (
                GameBoard::Chess(board),
                Notation::Western | Notation::WesternDigits | Notation::Long | Notation::Japanese,
            ) => board.read_san(text).map(|moves| moves.into_iter().map(Move::Chess).collect()),
            (GameBoard::Shogi(board), Notation::Japanese) => {
                board.read_japanese(text).map(|moves| moves.into_iter().map(Move::Shogi).collect())
            }
            (
                GameBoard::Shogi(board),
                Notation::Western | Notation::WesternDigits | Notation::Long,
            ) => board.read_western(text).map(|moves| moves.into_iter().map(Move::Shogi).collect()),
            (GameBoard::Diagram(_), _) => Err(IllegalReason::NotPlayable),
        };
        match moves.as_deref() {
            Ok(&[mv]) => Ok(mv),
            Ok([]) => Err(MoveError::new(text, IllegalReason::InvalidMove)),
            Ok(several) => {
                let form = self.game().castling_form();
                let candidates = several.iter().map(|mv| mv.to_uci(form)).collect();
                Err(MoveError::ambiguous(text, candidates))
            }
            Err(&reason) => Err(MoveError::new(text, reason)),
        }
    }

    /// Writes a legal move. A move of another game is written in UCI or USI notation.
    pub fn notation(&self, mv: Move, notation: Notation) -> String {
        match (&self.board, mv) {
            (GameBoard::Chess(board), Move::Chess(chess)) => match notation {
                Notation::Uci | Notation::Csa => mv.to_uci(board.game().castling_form()),
                Notation::Long => board.long(chess),
                Notation::Western | Notation::WesternDigits | Notation::Japanese => {
                    board.san(chess)
                }
            },
            (GameBoard::Shogi(board), Move::Shogi(shogi)) => match notation {
                Notation::Uci => shogi.to_usi(),
                Notation::Western => board.western(shogi, Squares::Letters, false),
                Notation::WesternDigits => board.western(shogi, Squares::Digits, false),
                Notation::Long => board.western(shogi, Squares::Letters, true),
                Notation::Japanese => board.japanese(shogi),
                Notation::Csa => board.csa(shogi),
            },
            (GameBoard::Chess(_), Move::Shogi(_))
            | (GameBoard::Shogi(_), Move::Chess(_))
            | (GameBoard::Diagram(_), _) => mv.to_uci(CastlingForm::KingMove),
        }
    }

    /// Writes a line of moves in a notation, such as a principal variation. From the first illegal move
    /// on, the texts are returned unchanged.
    pub fn notate<T: AsRef<str>>(
        &self,
        moves: impl IntoIterator<Item = T>,
        notation: Notation,
    ) -> Vec<String> {
        let mut position = Some(self.clone());
        let mut written = Vec::new();
        for uci in moves {
            let uci = uci.as_ref();
            let text = position.as_mut().and_then(|position| {
                let mv = position.parse_move(uci).ok()?;
                let text = position.notation(mv, notation);
                position.play(mv).ok().map(|()| text)
            });
            if text.is_none() {
                position = None;
            }
            written.push(text.unwrap_or_else(|| uci.to_owned()));
        }
        written
    }

    /// Whether the side to move can declare a win under [`EndRules::BOARD`]: by the 27-point rule of
    /// shogi, which counts the pieces that a handicap leaves out.
    pub fn can_declare(&self) -> bool {
        let ending = self.declare(&EndRules::BOARD);
        ending.is_some_and(|outcome| outcome.termination == Termination::Declaration)
    }

    /// The facts that decide a declaration by the side to move. `None` in chess.
    pub fn declaration(&self) -> Option<Declaration> {
        match &self.board {
            GameBoard::Shogi(board) => Some(board.declaration()),
            GameBoard::Chess(_) | GameBoard::Diagram(_) => None,
        }
    }

    /// The outcome if the game is over under [`EndRules::BOARD`]. Draws that a player of chess would have
    /// to claim count.
    pub fn outcome(&self) -> Option<GameOutcome> {
        self.outcome_under(&EndRules::BOARD)
    }

    /// Whether the game may be over by a rule that does not follow from the position alone, such as repetition. Fast.
    pub(crate) fn may_be_drawn(&self) -> bool {
        match &self.board {
            GameBoard::Chess(board) => board.may_be_drawn(),
            GameBoard::Shogi(board) => board.may_be_drawn(),
            GameBoard::Diagram(_) => false,
        }
    }

    /// The outcome if the game is over under some rules.
    ///
    /// Checkmate takes precedence. Declarations of shogi ([`Position::declare`]) and claims of chess
    /// ([`Position::claims`]) are not included.
    pub fn outcome_under(&self, rules: &EndRules) -> Option<GameOutcome> {
        match &self.board {
            GameBoard::Chess(board) => board.outcome(&rules.chess),
            GameBoard::Shogi(board) => board.outcome(&rules.shogi),
            GameBoard::Diagram(_) => None,
        }
    }

    /// The draws that the side to move can claim in this position: threefold repetition (FIDE 9.2.2)
    /// and the fifty-move rule (FIDE 9.3.2). Empty in shogi.
    ///
    /// A player may also claim with the move that leads to such a position (FIDE 9.2.1 and 9.3.1).
    pub fn claims(&self) -> Vec<Termination> {
        match &self.board {
            GameBoard::Chess(board) => board.claims(),
            GameBoard::Shogi(_) | GameBoard::Diagram(_) => Vec::new(),
        }
    }

    /// The outcome if the side to move declares (shogi). `None` in chess and under rules without
    /// declarations.
    pub fn declare(&self, rules: &EndRules) -> Option<GameOutcome> {
        self.declaration()?.outcome(rules.shogi.impasse)
    }

    /// Whether a side has enough material to give mate (chess). Always true in shogi.
    pub fn has_mating_material(&self, side: Side) -> bool {
        match &self.board {
            GameBoard::Chess(board) => board.has_mating_material(chess::color(side)),
            GameBoard::Shogi(_) | GameBoard::Diagram(_) => true,
        }
    }

    /// The outcome when a side exceeds its time: it loses, unless the opponent cannot mate by any line
    /// of moves (FIDE 6.9).
    pub fn outcome_on_timeout(&self, loser: Side) -> GameOutcome {
        match &self.board {
            GameBoard::Chess(board) => board.outcome_on_timeout(chess::color(loser)),
            GameBoard::Shogi(_) | GameBoard::Diagram(_) => {
                GameOutcome::won(loser.other(), Termination::TimeForfeit)
            }
        }
    }

    /// The outcome when an illegal move by the side to move loses: in engine matches, and in shogi, where
    /// every foul does (nifu, uchifuzume, a king left in check). In chess, human players lose by the
    /// second one (FIDE 7.5.5).
    pub fn outcome_on_illegal_move(&self) -> GameOutcome {
        GameOutcome::lost(self.turn(), Termination::IllegalMove)
    }
}

impl From<GameBoard> for Position {
    fn from(board: GameBoard) -> Self {
        Self { board, defect: None }
    }
}

/// The position as FEN (X-FEN, with an en passant square only where it matters) or SFEN.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(FenForm::XFen))
    }
}

impl Setup {
    /// The playable position, without history.
    pub fn position(&self) -> Result<Position, PositionError> {
        Position::from_setup(self)
    }

    /// Removes the castling rights that lack the king or the rook.
    pub fn drop_invalid_castling(&mut self) {
        while let Err(PositionError::InvalidCastlingRight { square }) = self.position() {
            if !self.drop_castling_right(&square) {
                return;
            }
        }
    }

    /// Removes the castling right with the rook on a square. False if the right does not exist.
    pub(crate) fn drop_castling_right(&mut self, square: &str) -> bool {
        let rook = Square::read(self.game(), square);
        let has_right = |side: &Side| self.castling(*side).any(|known| Some(known) == rook);
        let owner = Side::BOTH.into_iter().find(has_right);
        let (Some(rook), Some(owner)) = (rook, owner) else { return false };
        self.set_castling(owner, rook, false).is_ok()
    }
}

impl TryFrom<&Setup> for Position {
    type Error = PositionError;

    fn try_from(setup: &Setup) -> Result<Self, PositionError> {
        setup.position()
    }
}
