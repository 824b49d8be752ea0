//! Reads and writes FEN and SFEN.

use std::fmt::{self, Write as _};

use super::Setup;
use crate::{Field, Game, Piece, PieceKind, PositionError, Side, Square, error::shortened};

/// The form of a FEN. Every form can be read; shogi has only one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FenForm {
    /// An en passant square after every double step of a pawn, as in the PGN standard (section
    /// 16.1.3.4). Castling is written as in X-FEN, which is the same for chess.
    Fen,
    /// Castling with the outermost rook of a wing is `K` or `Q`, and with another one its file. The en
    /// passant square is written only if a capture there is possible. This is the form of [`Display`].
    ///
    /// [`Display`]: fmt::Display
    #[default]
    XFen,
    /// Castling is always written as the rook's file, `HAha`; en passant as in X-FEN.
    Shredder,
}

impl Setup {
    /// Reads a FEN of four to six fields, or an SFEN of three or four, in any form.
    ///
    /// Fails only for malformed text; the position can be illegal.
    pub fn read(game: Game, text: &str) -> Result<Self, PositionError> {
        let fields = split(game, text)?;
        let mut fields = known(game).iter().copied().zip(fields);
        let mut setup = Self::empty(game);
        fields.try_for_each(|(field, text)| setup.read_field(field, text))?;
        Ok(setup)
    }

    /// Reads a FEN or an SFEN that can end after any field. The missing fields have their usual values:
    /// the first player to move, no castling rights, no en passant square, no pieces in hand, counters as
    /// at the start of a game.
    pub fn read_partial(game: Game, text: &str) -> Result<Self, PositionError> {
        let usual = match game {
            Game::Chess | Game::Chess960 => ["w", "-", "-"].as_slice(),
            Game::Shogi => &["b", "-"],
        };
        let count = text.split_whitespace().count();
        let missing = usual.iter().skip(count.saturating_sub(1));
        let fields: Vec<&str> = text.split_whitespace().chain(missing.copied()).collect();
        Self::read(game, &fields.join(" "))
    }

    /// Writes the FEN or the SFEN. The en passant square is written as it was set.
    pub fn text(&self, form: FenForm) -> String {
        let mut text = String::new();
        self.write_board(&mut text);
        let turn = match (self.game, self.turn) {
            (Game::Shogi, Side::First) | (Game::Chess | Game::Chess960, Side::Second) => 'b',
            (Game::Shogi, Side::Second) | (Game::Chess | Game::Chess960, Side::First) => 'w',
        };
        text.extend([' ', turn, ' ']);
        match self.game {
            Game::Chess | Game::Chess960 => {
                self.write_castling(form, &mut text);
                let square = self.en_passant.map(|square| square.name(self.game));
                let square = square.as_deref().unwrap_or("-");
                // Writing to a string cannot fail.
                let _ = write!(text, " {square} {} {}", self.halfmove_clock, self.move_number);
            }
            Game::Shogi => {
                self.write_hands(&mut text);
                let _ = write!(text, " {}", self.move_number);
            }
        }
        text
    }

    fn read_field(&mut self, field: Field, text: &str) -> Result<(), PositionError> {
        let bad = || PositionError::bad(field, text);
        match field {
            Field::Board => return self.read_board(text),
            Field::Turn => {
                self.turn = match (self.game, text) {
                    (Game::Shogi, "b") | (Game::Chess | Game::Chess960, "w") => Side::First,
                    (Game::Shogi, "w") | (Game::Chess | Game::Chess960, "b") => Side::Second,
                    _ => return Err(bad()),
                }
            }
            Field::Castling => return self.read_castling(text),
            Field::EnPassant if text == "-" => {}
            Field::EnPassant => {
                self.en_passant = Some(Square::read(self.game, text).ok_or_else(bad)?);
            }
            Field::HalfmoveClock => self.halfmove_clock = number(text).ok_or_else(bad)?,
            Field::FullmoveNumber => self.set_move_number(number(text).ok_or_else(bad)?),
            Field::Hands => return self.read_hands(text),
            Field::MoveNumber => {
                if !is_number(text) {
                    return Err(bad());
                }
                // The field has only digits, so a number that does not fit is too large.
                self.set_move_number(text.parse().unwrap_or(u32::MAX));
            }
        }
        Ok(())
    }

    fn read_board(&mut self, text: &str) -> Result<(), PositionError> {
        let expected = usize::from(self.game.width());
        let count = text.split('/').count();
        if count != expected {
            return Err(PositionError::RankCount { count, expected });
        }
        (0..).zip(text.split('/')).try_for_each(|(row, rank)| self.read_rank(row, rank))
    }

    fn read_rank(&mut self, row: u8, rank: &str) -> Result<(), PositionError> {
        let game = self.game;
        let wrong_length = PositionError::RankLength { rank: game.rank_name(row) };
        let mut column: u8 = 0;
        let mut promoted = false;
        for letter in rank.chars() {
            let Some(square) = Square::new(game, column, row) else { return Err(wrong_length) };
            let unknown = || PositionError::UnknownPiece { letter, square: square.name(game) };
            match letter {
                '+' if !promoted && game == Game::Shogi => promoted = true,
                '1'..='9' if !promoted => {
                    let empty = letter.to_digit(10).and_then(|empty| u8::try_from(empty).ok());
                    column = column.saturating_add(empty.unwrap_or(0));
                }
                _ => {
                    let kind = PieceKind::from_letter(game, letter).ok_or_else(unknown)?;
                    let kind = if promoted { kind.promoted().ok_or_else(unknown)? } else { kind };
                    self.put(square, Piece { side: Side::of_letter(letter), kind })?;
                    promoted = false;
                    column = column.saturating_add(1);
                }
            }
        }
        if promoted || column != game.width() { Err(wrong_length) } else { Ok(()) }
    }

    fn read_castling(&mut self, text: &str) -> Result<(), PositionError> {
        if text == "-" {
            return Ok(());
        }
        for letter in text.chars() {
            let side = Side::of_letter(letter);
            let column = match letter.to_ascii_lowercase() {
                'k' => Some(self.outermost_rook(side, Wing::King)),
                'q' => Some(self.outermost_rook(side, Wing::Queen)),
                file @ 'a'..='h' => u8::try_from(u32::from(file) - u32::from('a')).ok(),
                _ => None,
            };
            let rook = column.and_then(|file| Square::new(self.game, file, self.first_row(side)));
            let Some(rook) = rook else { return Err(PositionError::bad(Field::Castling, text)) };
            self.set_castling(side, rook, true)?;
        }
        Ok(())
    }

    /// The file of the rook that `K` or `Q` refers to: the usual corner in chess and where the wing has
    /// no rook, otherwise the outermost rook.
    fn outermost_rook(&self, side: Side, wing: Wing) -> u8 {
        let corner = match wing {
            Wing::King => 7,
            Wing::Queen => 0,
        };
        if self.game == Game::Chess {
            return corner;
        }
        self.rooks_on(side, wing).unwrap_or(corner)
    }

    fn rooks_on(&self, side: Side, wing: Wing) -> Option<u8> {
        let row = self.first_row(side);
        let holds = |column: u8, kind: PieceKind| {
            let square = Square::new(self.game, column, row);
            square.and_then(|square| self.piece_on(square)) == Some(Piece { side, kind })
        };
        let king = (0..8).find(|&column| holds(column, PieceKind::King))?;
        match wing {
            Wing::King => (king..8).rev().find(|&column| holds(column, PieceKind::Rook)),
            Wing::Queen => (0..king).find(|&column| holds(column, PieceKind::Rook)),
        }
    }

    fn read_hands(&mut self, text: &str) -> Result<(), PositionError> {
        let bad = || PositionError::bad(Field::Hands, text);
        if text == "-" {
            return Ok(());
        }
        let mut count: Option<u32> = None;
        for letter in text.chars() {
            if let Some(digit) = letter.to_digit(10) {
                let tens = count.unwrap_or(0).saturating_mul(10);
                count = Some(tens.saturating_add(digit));
                continue;
            }
            let kind = PieceKind::from_letter(self.game, letter).ok_or_else(bad)?;
            let side = Side::of_letter(letter);
            let more = count.take().unwrap_or(1);
            let held = self.hand(side, kind).saturating_add(more);
            self.set_hand(side, kind, held).map_err(|_| bad())?;
        }
        if count.is_some() { Err(bad()) } else { Ok(()) }
    }

    fn write_board(&self, text: &mut String) {
        for row in 0..self.game.width() {
            if row > 0 {
                text.push('/');
            }
            let mut empty = 0;
            for column in 0..self.game.width() {
                let square = Square::new(self.game, column, row);
                match square.and_then(|square| self.piece_on(square)) {
                    None => empty += 1,
                    Some(piece) => {
                        write_empty(empty, text);
                        empty = 0;
                        let _ = write!(text, "{piece}");
                    }
                }
            }
            write_empty(empty, text);
        }
    }

    fn write_castling(&self, form: FenForm, text: &mut String) {
        let before = text.len();
        for side in Side::BOTH {
            let rooks: Vec<Square> = self.castling(side).collect();
            for rook in rooks.into_iter().rev() {
                let column = rook.column();
                let letter = match form {
                    FenForm::Shredder => self.game.file_name(column),
                    FenForm::Fen | FenForm::XFen => {
                        if self.outermost_rook(side, Wing::King) == column {
                            'k'
                        } else if self.outermost_rook(side, Wing::Queen) == column {
                            'q'
                        } else {
                            self.game.file_name(column)
                        }
                    }
                };
                text.push(side.case(letter));
            }
        }
        if text.len() == before {
            text.push('-');
        }
    }

    fn write_hands(&self, text: &mut String) {
        let before = text.len();
        for side in Side::BOTH {
            for (kind, &count) in PieceKind::IN_HAND.iter().zip(self.hand_of(side)) {
                if count > 1 {
                    let _ = write!(text, "{count}");
                }
                if count > 0 {
                    text.push(side.case(kind.letter()));
                }
            }
        }
        if text.len() == before {
            text.push('-');
        }
    }
}

/// X-FEN or SFEN.
impl fmt::Display for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(FenForm::XFen))
    }
}

/// The side of the board where a castling ends.
#[derive(Clone, Copy)]
enum Wing {
    King,
    Queen,
}

/// The fields of a FEN or an SFEN, in order.
fn known(game: Game) -> &'static [Field] {
    match game {
        Game::Chess | Game::Chess960 => &[
            Field::Board,
            Field::Turn,
            Field::Castling,
            Field::EnPassant,
            Field::HalfmoveClock,
            Field::FullmoveNumber,
        ],
        Game::Shogi => &[Field::Board, Field::Turn, Field::Hands, Field::MoveNumber],
    }
}

/// Splits a text into its fields and checks their number.
fn split(game: Game, text: &str) -> Result<Vec<&str>, PositionError> {
    let fields = known(game);
    let required = match game {
        Game::Chess | Game::Chess960 => 4,
        Game::Shogi => 3,
    };
    // One field more than the maximum suffices to detect extra ones.
    let found: Vec<&str> = text.split_whitespace().take(fields.len() + 1).collect();
    if let Some(text) = found.get(fields.len()) {
        return Err(PositionError::ExtraField { text: shortened(text) });
    }
    match fields.get(found.len()) {
        Some(&field) if found.len() < required => Err(PositionError::MissingField { field }),
        _ => Ok(found),
    }
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn number(text: &str) -> Option<u32> {
    if is_number(text) { text.parse().ok() } else { None }
}

fn write_empty(count: u32, text: &mut String) {
    if count > 0 {
        let _ = write!(text, "{count}");
    }
}
