//! Start positions.

use super::Setup;
use crate::{Game, Piece, PieceKind, Side, Square};

/// A handicap of shogi: the stronger player, who is the second side and moves first, leaves out
/// pieces.
///
/// Left and right are those of the player who gives the handicap: their left lance is on 1a. The names
/// are those of game records. The professional association plays lance, bishop, rook, rook and lance,
/// two, four, six, eight and ten pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Handicap {
    /// The left lance (1a).
    Lance,
    /// The right lance (9a).
    RightLance,
    /// The bishop.
    Bishop,
    /// The rook.
    Rook,
    /// The rook and the left lance.
    RookLance,
    /// The rook and the bishop.
    TwoPieces,
    /// The rook, the bishop and the left lance.
    ThreePieces,
    /// The rook, the bishop and both lances.
    FourPieces,
    /// Four pieces and the right knight (8a).
    FivePieces,
    /// Four pieces and the left knight (2a).
    LeftFivePieces,
    /// Four pieces and both knights.
    SixPieces,
    /// Six pieces and the right silver (7a).
    RightSevenPieces,
    /// Six pieces and the left silver (3a).
    LeftSevenPieces,
    /// Six pieces and both silvers.
    EightPieces,
    /// Eight pieces and both golds.
    TenPieces,
    /// Everything except the king.
    NakedKing,
}

impl Handicap {
    /// All handicaps, the smallest first.
    pub const ALL: [Self; 16] = [
        Self::Lance,
        Self::RightLance,
        Self::Bishop,
        Self::Rook,
        Self::RookLance,
        Self::TwoPieces,
        Self::ThreePieces,
        Self::FourPieces,
        Self::FivePieces,
        Self::LeftFivePieces,
        Self::SixPieces,
        Self::RightSevenPieces,
        Self::LeftSevenPieces,
        Self::EightPieces,
        Self::TenPieces,
        Self::NakedKing,
    ];

    /// The name in English.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lance => "lance",
            Self::RightLance => "right lance",
            Self::Bishop => "bishop",
            Self::Rook => "rook",
            Self::RookLance => "rook and lance",
            Self::TwoPieces => "two pieces",
            Self::ThreePieces => "three pieces",
            Self::FourPieces => "four pieces",
            Self::FivePieces => "five pieces",
            Self::LeftFivePieces => "left five pieces",
            Self::SixPieces => "six pieces",
            Self::RightSevenPieces => "right seven pieces",
            Self::LeftSevenPieces => "left seven pieces",
            Self::EightPieces => "eight pieces",
            Self::TenPieces => "ten pieces",
            Self::NakedKing => "naked king",
        }
    }

    /// The Japanese name, as in game records.
    pub fn japanese(self) -> &'static str {
        match self {
            Self::Lance => "香落ち",
            Self::RightLance => "右香落ち",
            Self::Bishop => "角落ち",
            Self::Rook => "飛車落ち",
            Self::RookLance => "飛香落ち",
            Self::TwoPieces => "二枚落ち",
            Self::ThreePieces => "三枚落ち",
            Self::FourPieces => "四枚落ち",
            Self::FivePieces => "五枚落ち",
            Self::LeftFivePieces => "左五枚落ち",
            Self::SixPieces => "六枚落ち",
            Self::RightSevenPieces => "右七枚落ち",
            Self::LeftSevenPieces => "左七枚落ち",
            Self::EightPieces => "八枚落ち",
            Self::TenPieces => "十枚落ち",
            Self::NakedKing => "裸玉",
        }
    }

    /// The handicap of a name, in English or in Japanese. English names can also be written as on command
    /// lines (`rook-and-lance`) and with digits (`2-piece`).
    pub fn from_name(name: &str) -> Option<Self> {
        let parts = name.replace(['-', '_'], " ").to_ascii_lowercase();
        let is_called = |known: &Self| {
            known.name() == parts || known.japanese() == name || known.in_digits() == parts
        };
        Self::ALL.into_iter().find(is_called)
    }

    /// The name with its number in digits and in the singular: `left 5 piece`.
    fn in_digits(self) -> String {
        const NUMBERS: [(&str, &str); 8] = [
            ("two", "2"),
            ("three", "3"),
            ("four", "4"),
            ("five", "5"),
            ("six", "6"),
            ("seven", "7"),
            ("eight", "8"),
            ("ten", "10"),
        ];
        let digits =
            |part| NUMBERS.iter().find(|(name, _)| *name == part).map(|(_, digits)| *digits);
        let parts = self.name().split(' ').map(|part| match part {
            "pieces" => "piece",
            part => digits(part).unwrap_or(part),
        });
        parts.collect::<Vec<_>>().join(" ")
    }

    /// The first and the second row of the second side, and whether it has pawns.
    fn rows(self) -> (&'static str, &'static str, bool) {
        const FULL: &str = "lnsgkgsnl";
        let (first, second) = match self {
            Self::Lance => ("lnsgkgsn.", ".r.....b."),
            Self::RightLance => (".nsgkgsnl", ".r.....b."),
            Self::Bishop => (FULL, ".r......."),
            Self::Rook => (FULL, ".......b."),
            Self::RookLance => ("lnsgkgsn.", ".......b."),
            Self::TwoPieces => (FULL, "........."),
            Self::ThreePieces => ("lnsgkgsn.", "........."),
            Self::FourPieces => (".nsgkgsn.", "........."),
            Self::FivePieces => ("..sgkgsn.", "........."),
            Self::LeftFivePieces => (".nsgkgs..", "........."),
            Self::SixPieces => ("..sgkgs..", "........."),
            Self::RightSevenPieces => ("...gkgs..", "........."),
            Self::LeftSevenPieces => ("..sgkg...", "........."),
            Self::EightPieces => ("...gkg...", "........."),
            Self::TenPieces | Self::NakedKing => ("....k....", "........."),
        };
        (first, second, self != Self::NakedKing)
    }
}

impl Setup {
    /// The usual start position of a game.
    pub fn start(game: Game) -> Self {
        let mut setup = Self::empty(game);
        match game {
            Game::Chess | Game::Chess960 => {
                for side in Side::BOTH {
                    setup.fill_first_rank(side, first_rank(STANDARD));
                }
            }
            Game::Shogi => {
                setup.fill_shogi(Side::First, "lnsgkgsnl", ".b.....r.", true);
                setup.fill_shogi(Side::Second, "lnsgkgsnl", ".r.....b.", true);
            }
        }
        setup
    }

    /// A start position of Chess960 by its number, 0 to 959, after Reinhard Scharnagl
    /// (*Fischer-Random-Schach*, 2004); 518 is that of chess.
    ///
    /// `None` if the number is not below 960.
    pub fn chess960(number: u16) -> Option<Self> {
        Self::double_chess960(number, number)
    }

    /// A start position of double Chess960, where each side has its own first rank, by the numbers
    /// of White's and Black's as [`Setup::chess960`] counts them.
    ///
    /// `None` if a number is not below 960.
    pub fn double_chess960(white: u16, black: u16) -> Option<Self> {
        if white >= 960 || black >= 960 {
            return None;
        }
        let mut setup = Self::empty(Game::Chess960);
        setup.fill_first_rank(Side::First, first_rank(white));
        setup.fill_first_rank(Side::Second, first_rank(black));
        Some(setup)
    }

    /// The numbers of White's and Black's first rank, if this is a start position of Chess960 or
    /// double Chess960.
    pub fn chess960_numbers(&self) -> Option<(u16, u16)> {
        let number = |side: Side| {
            let row = self.game.first_row(side);
            let rank = [0, 1, 2, 3, 4, 5, 6, 7].map(|column| {
                let piece = self.piece_on(Square::new(Game::Chess, column, row)?)?;
                (piece.side == side).then_some(piece.kind)
            });
            (0..960).find(|&number| first_rank(number).map(Some) == rank)
        };
        let (white, black) = (number(Side::First)?, number(Side::Second)?);
        let start = Self::double_chess960(white, black)?;
        (Self { game: Game::Chess960, ..self.clone() } == start).then_some((white, black))
    }

    /// The start position of a handicap of shogi: the second side moves first.
    pub fn handicap(handicap: Handicap) -> Self {
        let mut setup = Self::empty(Game::Shogi);
        let (first, second, pawns) = handicap.rows();
        setup.fill_shogi(Side::First, "lnsgkgsnl", ".b.....r.", true);
        setup.fill_shogi(Side::Second, first, second, pawns);
        setup.set_turn(Side::Second);
        setup
    }

    /// The handicap of which this is the start position.
    pub fn as_handicap(&self) -> Option<Handicap> {
        Handicap::ALL.into_iter().find(|&handicap| Self::handicap(handicap) == *self)
    }

    fn fill_first_rank(&mut self, side: Side, rank: [PieceKind; 8]) {
        let row = self.game.first_row(side);
        let pawns = if row == 0 { 1 } else { row.saturating_sub(1) };
        for (column, kind) in (0..).zip(rank) {
            self.fill(column, row, Piece { side, kind });
            self.fill(column, pawns, Piece { side, kind: PieceKind::Pawn });
            if kind == PieceKind::Rook {
                let files = match side {
                    Side::First => &mut self.castling[0],
                    Side::Second => &mut self.castling[1],
                };
                *files |= 1 << column;
            }
        }
    }

    fn fill_shogi(&mut self, side: Side, first: &str, second: &str, pawns: bool) {
        let rows = match side {
            Side::First => [8, 7, 6],
            Side::Second => [0, 1, 2],
        };
        let pawns = if pawns { "ppppppppp" } else { "" };
        for (row, letters) in rows.into_iter().zip([first, second, pawns]) {
            for (column, letter) in (0..).zip(letters.chars()) {
                if let Some(kind) = PieceKind::from_letter(Game::Shogi, letter) {
                    self.fill(column, row, Piece { side, kind });
                }
            }
        }
    }

    fn fill(&mut self, column: u8, row: u8, piece: Piece) {
        let index = Square::new(self.game, column, row).and_then(|square| self.index(square));
        if let Some(place) = index.and_then(|index| self.board.get_mut(index)) {
            *place = Some(piece);
        }
    }
}

/// The number of the first rank of chess.
const STANDARD: u16 = 518;

/// The first rank of a number: the bishops on light and dark squares, the queen on one of the six
/// files left, the knights on two of five, and the king between the rooks on the rest.
fn first_rank(number: u16) -> [PieceKind; 8] {
    const KNIGHTS: [(usize, usize); 10] =
        [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)];
    let mut rank: [Option<PieceKind>; 8] = [None; 8];
    let (number, light) = (usize::from(number / 4), usize::from(number % 4));
    let (number, dark) = (number / 4, number % 4);
    let (number, queen) = (number / 6, number % 6);
    place(&mut rank, light * 2 + 1, PieceKind::Bishop);
    place(&mut rank, dark * 2, PieceKind::Bishop);
    place_free(&mut rank, queen, PieceKind::Queen);
    if let Some(&(first, second)) = KNIGHTS.get(number) {
        // The further one first, because the nearer one would change the count.
        place_free(&mut rank, second, PieceKind::Knight);
        place_free(&mut rank, first, PieceKind::Knight);
    }
    for kind in [PieceKind::Rook, PieceKind::King, PieceKind::Rook] {
        place_free(&mut rank, 0, kind);
    }
    rank.map(|kind| kind.unwrap_or(PieceKind::Rook))
}

fn place(rank: &mut [Option<PieceKind>; 8], file: usize, kind: PieceKind) {
    if let Some(place) = rank.get_mut(file) {
        *place = Some(kind);
    }
}

/// Puts a piece on the free file with this index.
fn place_free(rank: &mut [Option<PieceKind>; 8], free: usize, kind: PieceKind) {
    if let Some(place) = rank.iter_mut().filter(|place| place.is_none()).nth(free) {
        *place = Some(kind);
    }
}
