//! Pieces and squares.

use std::fmt;

use crate::{Game, Side};

/// A kind of piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PieceKind {
    /// The king (both games).
    King,
    /// The queen (chess).
    Queen,
    /// The rook (both games).
    Rook,
    /// The bishop (both games).
    Bishop,
    /// The gold general (shogi).
    Gold,
    /// The silver general (shogi).
    Silver,
    /// The knight (both games).
    Knight,
    /// The lance (shogi).
    Lance,
    /// The pawn (both games).
    Pawn,
    /// The dragon, a promoted rook (shogi).
    Dragon,
    /// The horse, a promoted bishop (shogi).
    Horse,
    /// The promoted silver general (shogi).
    PromotedSilver,
    /// The promoted knight (shogi).
    PromotedKnight,
    /// The promoted lance (shogi).
    PromotedLance,
    /// The tokin, a promoted pawn (shogi).
    Tokin,
}

impl PieceKind {
    /// The kinds that can be in hand, in the order of SFEN.
    pub const IN_HAND: [Self; 7] =
        [Self::Rook, Self::Bishop, Self::Gold, Self::Silver, Self::Knight, Self::Lance, Self::Pawn];

    /// Whether the kind is a promoted one (shogi).
    pub fn is_promoted(self) -> bool {
        self.unpromoted() != self
    }

    /// The kind before promotion, which is also the kind in hand.
    #[must_use]
    pub fn unpromoted(self) -> Self {
        match self {
            Self::Dragon => Self::Rook,
            Self::Horse => Self::Bishop,
            Self::PromotedSilver => Self::Silver,
            Self::PromotedKnight => Self::Knight,
            Self::PromotedLance => Self::Lance,
            Self::Tokin => Self::Pawn,
            Self::King
            | Self::Queen
            | Self::Rook
            | Self::Bishop
            | Self::Gold
            | Self::Silver
            | Self::Knight
            | Self::Lance
            | Self::Pawn => self,
        }
    }

    /// The kind after promotion in shogi.
    pub fn promoted(self) -> Option<Self> {
        match self {
            Self::Rook => Some(Self::Dragon),
            Self::Bishop => Some(Self::Horse),
            Self::Silver => Some(Self::PromotedSilver),
            Self::Knight => Some(Self::PromotedKnight),
            Self::Lance => Some(Self::PromotedLance),
            Self::Pawn => Some(Self::Tokin),
            Self::King
            | Self::Queen
            | Self::Gold
            | Self::Dragon
            | Self::Horse
            | Self::PromotedSilver
            | Self::PromotedKnight
            | Self::PromotedLance
            | Self::Tokin => None,
        }
    }

    /// Whether a game has this kind.
    pub fn belongs_to(self, game: Game) -> bool {
        let chess = matches!(
            self,
            Self::King | Self::Queen | Self::Rook | Self::Bishop | Self::Knight | Self::Pawn
        );
        match game {
            Game::Chess | Game::Chess960 => chess,
            Game::Shogi => self != Self::Queen,
        }
    }

    /// The upper-case letter in notations. Promoted kinds have the letter of the unpromoted one.
    pub fn letter(self) -> char {
        match self.unpromoted() {
            Self::Queen => 'Q',
            Self::Rook => 'R',
            Self::Bishop => 'B',
            Self::Gold => 'G',
            Self::Silver => 'S',
            Self::Knight => 'N',
            Self::Lance => 'L',
            Self::Pawn => 'P',
            Self::King
            | Self::Dragon
            | Self::Horse
            | Self::PromotedSilver
            | Self::PromotedKnight
            | Self::PromotedLance
            | Self::Tokin => 'K',
        }
    }

    /// The unpromoted kind of a letter in a game, in either case.
    pub fn from_letter(game: Game, letter: char) -> Option<Self> {
        let kind = match letter.to_ascii_uppercase() {
            'K' => Self::King,
            'Q' => Self::Queen,
            'R' => Self::Rook,
            'B' => Self::Bishop,
            'G' => Self::Gold,
            'S' => Self::Silver,
            'N' => Self::Knight,
            'L' => Self::Lance,
            'P' => Self::Pawn,
            _ => return None,
        };
        kind.belongs_to(game).then_some(kind)
    }
}

/// A piece of a side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Piece {
    /// The side that owns the piece.
    pub side: Side,
    /// The kind of the piece.
    pub kind: PieceKind,
}

impl Piece {
    /// Reads a piece of FEN or SFEN: `N`, `p`, `+r`.
    pub fn read(game: Game, text: &str) -> Option<Self> {
        let (letter, promoted) = match text.strip_prefix('+') {
            Some(letter) => (letter, true),
            None => (text, false),
        };
        let mut letters = letter.chars();
        let (letter, None) = (letters.next()?, letters.next()) else { return None };
        let kind = PieceKind::from_letter(game, letter)?;
        let kind = match (promoted, game) {
            (false, _) => kind,
            (true, Game::Shogi) => kind.promoted()?,
            (true, Game::Chess | Game::Chess960) => return None,
        };
        Some(Self { side: Side::of_letter(letter), kind })
    }

    /// The letter, in lower case for the second player.
    pub fn letter(self) -> char {
        self.side.case(self.kind.letter())
    }
}

/// The piece in FEN or SFEN.
impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind.is_promoted() {
            f.write_str("+")?;
        }
        write!(f, "{}", self.letter())
    }
}

/// A square of either board, counted from the top left of a diagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Square {
    row: u8,
    column: u8,
}

impl Square {
    /// The square in a column from the left and a row from the top, both counted from 0.
    pub fn new(game: Game, column: u8, row: u8) -> Option<Self> {
        (column < game.width() && row < game.width()).then_some(Self { row, column })
    }

    /// A square that is known to be on the board.
    pub(crate) fn on_board(column: u8, row: u8) -> Self {
        Self { row, column }
    }

    /// Reads the name of a square: `e4` in chess, `7f` in shogi.
    pub fn read(game: Game, name: &str) -> Option<Self> {
        let &[file, rank] = name.as_bytes() else { return None };
        let (column, row) = match game {
            Game::Chess | Game::Chess960 => (file.checked_sub(b'a')?, b'8'.checked_sub(rank)?),
            Game::Shogi => (b'9'.checked_sub(file)?, rank.checked_sub(b'a')?),
        };
        Self::new(game, column, row)
    }

    /// The name of the square in a game: `e4` in chess, `7f` in shogi.
    pub fn name(self, game: Game) -> String {
        self.letters(game).iter().collect()
    }

    /// The letters of the name.
    pub(crate) fn letters(self, game: Game) -> [char; 2] {
        [game.file_name(self.column), game.rank_name(self.row)]
    }

    /// The column, counted from 0 at the left: the a-file of chess, the 9th file of shogi.
    pub fn column(self) -> u8 {
        self.column
    }

    /// The row, counted from 0 at the top: the 8th rank of chess, the rank `a` of shogi.
    pub fn row(self) -> u8 {
        self.row
    }

    /// All squares of a board, row by row.
    pub fn all(game: Game) -> impl Iterator<Item = Self> {
        let width = game.width();
        (0..width).flat_map(move |row| (0..width).map(move |column| Self { row, column }))
    }
}
