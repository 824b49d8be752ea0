//! Names of pieces and squares, board setups, and the usual handicaps.

use std::fmt::Write as _;

use rsshogi::types::{File, PieceType, Rank, Square};

use crate::{BoardRef, Game, Position, PositionError, Side};

/// Each kind with its names in CSA and KIF.
const NAMES: [(PieceType, &str, &str); 14] = [
    (PieceType::PAWN, "FU", "歩"),
    (PieceType::LANCE, "KY", "香"),
    (PieceType::KNIGHT, "KE", "桂"),
    (PieceType::SILVER, "GI", "銀"),
    (PieceType::GOLD, "KI", "金"),
    (PieceType::BISHOP, "KA", "角"),
    (PieceType::ROOK, "HI", "飛"),
    (PieceType::KING, "OU", "玉"),
    (PieceType::PRO_PAWN, "TO", "と"),
    (PieceType::PRO_LANCE, "NY", "成香"),
    (PieceType::PRO_KNIGHT, "NK", "成桂"),
    (PieceType::PRO_SILVER, "NG", "成銀"),
    (PieceType::HORSE, "UM", "馬"),
    (PieceType::DRAGON, "RY", "龍"),
];

/// Alternative names, which are only read.
const MORE_NAMES: [(PieceType, &str); 6] = [
    (PieceType::KING, "王"),
    (PieceType::DRAGON, "竜"),
    (PieceType::PRO_LANCE, "杏"),
    (PieceType::PRO_KNIGHT, "圭"),
    (PieceType::PRO_SILVER, "全"),
    (PieceType::PRO_PAWN, "成歩"),
];

pub(in super::super) fn csa_name(kind: PieceType) -> &'static str {
    NAMES.iter().find(|(known, ..)| *known == kind).map_or("", |(_, name, _)| name)
}

pub(in super::super) fn kanji_name(kind: PieceType) -> &'static str {
    NAMES.iter().find(|(known, ..)| *known == kind).map_or("", |(.., name)| name)
}

pub(in super::super) fn piece_by_csa(name: &str) -> Option<PieceType> {
    NAMES.iter().find(|(_, known, _)| *known == name).map(|&(kind, ..)| kind)
}

/// The kind whose name is a prefix of a text, and the rest of the text.
pub(in super::super) fn piece_by_kanji(text: &str) -> Option<(PieceType, &str)> {
    let names = NAMES.iter().map(|&(kind, _, name)| (kind, name)).chain(MORE_NAMES);
    names.into_iter().find_map(|(kind, name)| Some((kind, text.strip_prefix(name)?)))
}

/// The square of a file and a rank, both 1 to 9.
pub(in super::super) fn square(file: u32, rank: u32) -> Option<Square> {
    let raw = |number: u32| i8::try_from(number.checked_sub(1)?).ok().filter(|it| *it < 9);
    Some(Square::from_file_rank(File::new(raw(file)?), Rank::new(raw(rank)?)))
}

/// The file and rank of a square, both 1 to 9.
pub(in super::super) fn square_of(square: Square) -> (u32, u32) {
    let number = |raw: i8| u32::try_from(raw).map_or(0, |raw| raw + 1);
    (number(square.file().raw()), number(square.rank().raw()))
}

const WIDE: &str = "０１２３４５６７８９";
const KANJI: &str = "〇一二三四五六七八九";

/// A digit of half or full width, or in kanji.
pub(in super::super) fn wide_digit(letter: char) -> Option<u32> {
    let digit = letter.to_digit(10);
    let found = || [WIDE, KANJI].iter().find_map(|row| row.chars().position(|it| it == letter));
    digit.or_else(|| u32::try_from(found()?).ok())
}

pub(in super::super) fn wide_file(file: u32) -> char {
    nth(WIDE, file)
}

pub(in super::super) fn kanji_rank(rank: u32) -> char {
    nth(KANJI, rank)
}

fn nth(row: &str, number: u32) -> char {
    row.chars().nth(number as usize).unwrap_or('？')
}

/// A board setup that can be changed.
#[derive(Debug, Clone)]
pub(in super::super) struct Setup {
    squares: [[Option<(Side, PieceType)>; 9]; 9],
    hands: [Vec<(PieceType, u32)>; 2],
    pub(in super::super) turn: Side,
    /// The number of the next move.
    pub(in super::super) number: u32,
}

/// The kinds that can be in hand, in the order of SFEN.
pub(in super::super) const HAND: [PieceType; 7] = [
    PieceType::ROOK,
    PieceType::BISHOP,
    PieceType::GOLD,
    PieceType::SILVER,
    PieceType::KNIGHT,
    PieceType::LANCE,
    PieceType::PAWN,
];

impl Setup {
    pub(in super::super) fn empty() -> Self {
        Self {
            squares: [[None; 9]; 9],
            hands: [Vec::new(), Vec::new()],
            turn: Side::First,
            number: 1,
        }
    }

    /// The pieces of a position.
    pub(in super::super) fn of(position: &Position) -> Self {
        let mut setup = Self { turn: position.turn(), ..Self::empty() };
        let BoardRef::Shogi(board) = position.board() else { return setup };
        let board = board.position();
        for file in 1..=9 {
            for rank in 1..=9 {
                let Some(piece) = square(file, rank).map(|at| board.piece_on(at)) else { continue };
                if piece != rsshogi::types::Piece::NONE {
                    setup.put(file, rank, side(piece.color()), piece.piece_type());
                }
            }
        }
        for color in [rsshogi::types::Color::BLACK, rsshogi::types::Color::WHITE] {
            for kind in HAND {
                let count = rsshogi::types::HandPiece::from_piece_type(kind)
                    .map_or(0, |kind| board.hand(color).count(kind));
                setup.add_to_hand(side(color), kind, count);
            }
        }
        setup.number = u32::from(board.game_ply());
        setup
    }

    /// Puts a piece on a file and rank of 1 to 9. False if there is no such square.
    pub(in super::super) fn put(
        &mut self,
        file: u32,
        rank: u32,
        side: Side,
        kind: PieceType,
    ) -> bool {
        self.square_mut(file, rank).map(|square| *square = Some((side, kind))).is_some()
    }

    /// Removes a piece. `None` if the square is empty.
    pub(in super::super) fn remove(&mut self, file: u32, rank: u32) -> Option<(Side, PieceType)> {
        self.square_mut(file, rank)?.take()
    }

    pub(in super::super) fn at(&self, file: u32, rank: u32) -> Option<(Side, PieceType)> {
        let file = self.squares.get(file.checked_sub(1)? as usize)?;
        *file.get(rank.checked_sub(1)? as usize)?
    }

    /// Adds pieces to a hand.
    pub(in super::super) fn add_to_hand(&mut self, side: Side, kind: PieceType, count: u32) {
        let hand = self.hand_mut(side);
        match hand.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, old)) => *old = old.saturating_add(count),
            None if count > 0 => hand.push((kind, count)),
            None => {}
        }
    }

    /// Adds all pieces that are neither on the board nor in hand, except kings, to a hand.
    pub(in super::super) fn add_rest_to_hand(&mut self, side: Side) {
        for (kind, limit) in HAND.into_iter().zip([2, 2, 4, 4, 4, 4, 18]) {
            let on_board = self.squares.iter().flatten().flatten();
            let on_board = on_board.filter(|(_, it)| it.demote() == kind).count();
            let in_hands: u32 =
                self.hands.iter().flatten().filter(|it| it.0 == kind).map(|it| it.1).sum();
            let used = in_hands.saturating_add(u32::try_from(on_board).unwrap_or(u32::MAX));
            self.add_to_hand(side, kind, u32::saturating_sub(limit, used));
        }
    }

    pub(in super::super) fn hand(&self, side: Side) -> &[(PieceType, u32)] {
        let [first, second] = &self.hands;
        match side {
            Side::First => first,
            Side::Second => second,
        }
    }

    fn hand_mut(&mut self, side: Side) -> &mut Vec<(PieceType, u32)> {
        let [first, second] = &mut self.hands;
        match side {
            Side::First => first,
            Side::Second => second,
        }
    }

    fn square_mut(&mut self, file: u32, rank: u32) -> Option<&mut Option<(Side, PieceType)>> {
        let file = self.squares.get_mut(file.checked_sub(1)? as usize)?;
        file.get_mut(rank.checked_sub(1)? as usize)
    }

    /// The position, if it is playable.
    pub(in super::super) fn position(&self) -> Result<Position, PositionError> {
        Position::from_text(Game::Shogi, &self.sfen())
    }

    fn sfen(&self) -> String {
        let mut text = String::new();
        for rank in 1..=9 {
            let mut empty = 0;
            for file in (1..=9).rev() {
                let Some((side, kind)) = self.at(file, rank) else {
                    empty += 1;
                    continue;
                };
                push_number(&mut text, empty);
                empty = 0;
                text.push_str(&letters(side, kind));
            }
            push_number(&mut text, empty);
            if rank < 9 {
                text.push('/');
            }
        }
        text.push_str(if self.turn == Side::First { " b " } else { " w " });
        let start = text.len();
        for side in [Side::First, Side::Second] {
            for kind in HAND {
                let count = self.hand(side).iter().find(|it| it.0 == kind).map_or(0, |it| it.1);
                if count > 1 {
                    push_number(&mut text, count);
                }
                if count > 0 {
                    text.push_str(&letters(side, kind));
                }
            }
        }
        if text.len() == start {
            text.push('-');
        }
        text.push(' ');
        push_number(&mut text, self.number);
        text
    }
}

fn push_number(text: &mut String, number: u32) {
    if number > 0 {
        // Writing to a string cannot fail.
        let _ = write!(text, "{number}");
    }
}

fn letters(side: Side, kind: PieceType) -> String {
    let letters = kind.to_string();
    if side == Side::First { letters } else { letters.to_ascii_lowercase() }
}

fn side(color: rsshogi::types::Color) -> Side {
    if color == rsshogi::types::Color::BLACK { Side::First } else { Side::Second }
}

/// A named start position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Handicap {
    /// The name in KIF.
    pub(in super::super) kif: &'static str,
    /// The name in JKF.
    pub(in super::super) jkf: &'static str,
    /// The squares of the pieces that the second player leaves out: file and rank.
    missing: &'static [(u32, u32)],
}

const HANDICAPS: [Handicap; 16] = [
    Handicap { kif: "平手", jkf: "HIRATE", missing: &[] },
    Handicap { kif: "香落ち", jkf: "KY", missing: &[(1, 1)] },
    Handicap { kif: "右香落ち", jkf: "KY_R", missing: &[(9, 1)] },
    Handicap { kif: "角落ち", jkf: "KA", missing: &[(2, 2)] },
    Handicap { kif: "飛車落ち", jkf: "HI", missing: &[(8, 2)] },
    Handicap { kif: "飛香落ち", jkf: "HIKY", missing: &[(8, 2), (1, 1)] },
    Handicap { kif: "二枚落ち", jkf: "2", missing: &TWO },
    Handicap { kif: "三枚落ち", jkf: "3", missing: &[(8, 2), (2, 2), (1, 1)] },
    Handicap { kif: "四枚落ち", jkf: "4", missing: &[(8, 2), (2, 2), (1, 1), (9, 1)] },
    Handicap { kif: "五枚落ち", jkf: "5", missing: &[(8, 2), (2, 2), (1, 1), (9, 1), (8, 1)] },
    Handicap {
        kif: "左五枚落ち", jkf: "5_L", missing: &[(8, 2), (2, 2), (1, 1), (9, 1), (2, 1)]
    },
    Handicap { kif: "六枚落ち", jkf: "6", missing: &SIX },
    Handicap {
        kif: "左七枚落ち",
        jkf: "7_L",
        missing: &[(8, 2), (2, 2), (1, 1), (9, 1), (2, 1), (8, 1), (3, 1)],
    },
    Handicap {
        kif: "右七枚落ち",
        jkf: "7_R",
        missing: &[(8, 2), (2, 2), (1, 1), (9, 1), (2, 1), (8, 1), (7, 1)],
    },
    Handicap {
        kif: "八枚落ち",
        jkf: "8",
        missing: &[(8, 2), (2, 2), (1, 1), (9, 1), (2, 1), (8, 1), (3, 1), (7, 1)],
    },
    Handicap {
        kif: "十枚落ち",
        jkf: "10",
        missing: &[(8, 2), (2, 2), (1, 1), (9, 1), (2, 1), (8, 1), (3, 1), (7, 1), (4, 1), (6, 1)],
    },
];

const TWO: [(u32, u32); 2] = [(8, 2), (2, 2)];
const SIX: [(u32, u32); 6] = [(8, 2), (2, 2), (1, 1), (9, 1), (2, 1), (8, 1)];

impl Handicap {
    pub(in super::super) fn by_kif(name: &str) -> Option<Self> {
        HANDICAPS.into_iter().find(|it| it.kif == name)
    }

    pub(in super::super) fn by_jkf(name: &str) -> Option<Self> {
        HANDICAPS.into_iter().find(|it| it.jkf == name)
    }

    /// The handicap of a start position.
    pub(in super::super) fn of(position: &Position) -> Option<Self> {
        let text = position.to_string();
        HANDICAPS.into_iter().find(|it| it.setup().sfen() == text)
    }

    /// Whether both sides have all their pieces.
    pub(in super::super) fn is_even(self) -> bool {
        self.missing.is_empty()
    }

    pub(in super::super) fn setup(self) -> Setup {
        let mut setup = Setup::of(&Position::start(Game::Shogi));
        for &(file, rank) in self.missing {
            setup.remove(file, rank);
        }
        // The player who gives the handicap moves first.
        setup.turn = if self.is_even() { Side::First } else { Side::Second };
        setup
    }
}
