//! Reads and writes FEN and SFEN.

use std::fmt;

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

readyok_protocol::names! {
    FenForm: Fen = "fen", XFen = "x-fen", Shredder = "shredder"
}

impl FenForm {
    /// All forms.
    pub const ALL: [Self; 3] = [Self::Fen, Self::XFen, Self::Shredder];
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
        text(self, form)
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
                'k' => Some(outermost_rook(self, side, Wing::King)),
                'q' => Some(outermost_rook(self, side, Wing::Queen)),
                file @ 'a'..='h' => u8::try_from(u32::from(file) - u32::from('a')).ok(),
                _ => None,
            };
            let rook =
                column.and_then(|file| Square::new(self.game, file, self.game.first_row(side)));
            let Some(rook) = rook else { return Err(PositionError::bad(Field::Castling, text)) };
            self.set_castling(side, rook, true)?;
        }
        Ok(())
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
}

/// X-FEN or SFEN.
impl fmt::Display for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(FenForm::XFen))
    }
}

/// The contents of a FEN or an SFEN, which a setup and the boards of the games have.
pub(crate) trait Contents {
    fn game(&self) -> Game;

    /// The piece in a column and a row, both counted from the top left.
    fn piece_at(&self, column: u8, row: u8) -> Option<Piece>;

    fn turn(&self) -> Side;

    /// The files of the rooks with which a side may castle: bit 0 is the a-file. 0 in shogi.
    fn castling_files(&self, side: Side) -> u8;

    fn en_passant(&self) -> Option<Square>;

    /// The number of pieces in hand, in the order of [`PieceKind::IN_HAND`]. 0 in chess.
    fn hand(&self, side: Side) -> [u32; 7];

    fn halfmove_clock(&self) -> u32;

    fn move_number(&self) -> u32;
}

impl Contents for Setup {
    fn game(&self) -> Game {
        self.game
    }

    fn piece_at(&self, column: u8, row: u8) -> Option<Piece> {
        self.piece_on(Square::on_board(column, row))
    }

    fn turn(&self) -> Side {
        self.turn
    }

    fn castling_files(&self, side: Side) -> u8 {
        self.castling_files(side)
    }

    fn en_passant(&self) -> Option<Square> {
        self.en_passant
    }

    fn hand(&self, side: Side) -> [u32; 7] {
        *self.hand_of(side)
    }

    fn halfmove_clock(&self) -> u32 {
        self.halfmove_clock
    }

    fn move_number(&self) -> u32 {
        self.move_number
    }
}

/// Writes a FEN or an SFEN.
pub(crate) fn text(contents: &impl Contents, form: FenForm) -> String {
    // Longer than most texts.
    let mut text = String::with_capacity(96);
    write_board(contents, &mut text);
    let game = contents.game();
    let turn = match (game, contents.turn()) {
        (Game::Shogi, Side::First) | (Game::Chess | Game::Chess960, Side::Second) => " b ",
        (Game::Shogi, Side::Second) | (Game::Chess | Game::Chess960, Side::First) => " w ",
    };
    text.push_str(turn);
    match game {
        Game::Chess | Game::Chess960 => {
            write_castling(contents, form, &mut text);
            text.push(' ');
            match contents.en_passant() {
                Some(square) => text.extend(square.letters(game)),
                None => text.push('-'),
            }
            text.push(' ');
            write_number(contents.halfmove_clock(), &mut text);
        }
        Game::Shogi => write_hands(contents, &mut text),
    }
    text.push(' ');
    write_number(contents.move_number(), &mut text);
    text
}

fn write_board(contents: &impl Contents, text: &mut String) {
    let width = contents.game().width();
    for row in 0..width {
        if row > 0 {
            text.push('/');
        }
        let mut empty = 0;
        for column in 0..width {
            match contents.piece_at(column, row) {
                None => empty += 1,
                Some(piece) => {
                    if empty > 0 {
                        write_number(empty, text);
                        empty = 0;
                    }
                    if piece.kind.is_promoted() {
                        text.push('+');
                    }
                    text.push(piece.letter());
                }
            }
        }
        if empty > 0 {
            write_number(empty, text);
        }
    }
}

fn write_castling(contents: &impl Contents, form: FenForm, text: &mut String) {
    let before = text.len();
    for side in Side::BOTH {
        let files = contents.castling_files(side);
        for column in (0..8).rev().filter(|file| files & (1 << file) != 0) {
            let letter = match form {
                FenForm::Shredder => contents.game().file_name(column),
                FenForm::Fen | FenForm::XFen => {
                    if outermost_rook(contents, side, Wing::King) == column {
                        'k'
                    } else if outermost_rook(contents, side, Wing::Queen) == column {
                        'q'
                    } else {
                        contents.game().file_name(column)
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

fn write_hands(contents: &impl Contents, text: &mut String) {
    let before = text.len();
    for side in Side::BOTH {
        for (kind, count) in PieceKind::IN_HAND.iter().zip(contents.hand(side)) {
            if count > 1 {
                write_number(count, text);
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

/// Writes a number without the machinery of `format!`, which would be half of the time.
fn write_number(number: u32, text: &mut String) {
    if number >= 10 {
        write_number(number / 10, text);
    }
    text.extend(char::from_digit(number % 10, 10));
}

/// The file of the rook that `K` or `Q` refers to: the usual corner in chess and where the wing has
/// no rook, otherwise the outermost rook.
fn outermost_rook(contents: &impl Contents, side: Side, wing: Wing) -> u8 {
    let corner = match wing {
        Wing::King => 7,
        Wing::Queen => 0,
    };
    if contents.game() == Game::Chess {
        return corner;
    }
    rook_on(contents, side, wing).unwrap_or(corner)
}

fn rook_on(contents: &impl Contents, side: Side, wing: Wing) -> Option<u8> {
    let game = contents.game();
    let row = game.first_row(side);
    let holds = |column: u8, kind: PieceKind| {
        column < game.width() && contents.piece_at(column, row) == Some(Piece { side, kind })
    };
    let king = (0..8).find(|&column| holds(column, PieceKind::King))?;
    match wing {
        Wing::King => (king..8).rev().find(|&column| holds(column, PieceKind::Rook)),
        Wing::Queen => (0..king).find(|&column| holds(column, PieceKind::Rook)),
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
