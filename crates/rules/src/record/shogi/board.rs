//! Digits, board setups with the pieces of records, and the usual handicaps.

use rsshogi::types::PieceType;

use crate::{
    Game, Handicap as RulesHandicap, Piece, PieceKind, Position, Setup, Side,
    setup::MAX_HAND,
    shogi::{our_kind, their_kind},
};

const WIDE: &str = "０１２３４５６７８９";
const KANJI: &str = "〇一二三四五六七八九";

/// A digit of half or full width, or in kanji.
pub(in super::super) fn wide_digit(letter: char) -> Option<u32> {
    let digit = letter.to_digit(10);
    let found =
        || [WIDE, KANJI].iter().find_map(|row| row.chars().position(|known| known == letter));
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

/// Files and ranks of 1 to 9, and the piece types of records.
impl Setup {
    /// Puts a piece on a square. False if there is no such square.
    pub(in super::super) fn put_at(
        &mut self,
        file: u32,
        rank: u32,
        side: Side,
        kind: PieceType,
    ) -> bool {
        let piece = our_kind(kind).map(|kind| Piece { side, kind });
        let placed = board_square(file, rank).zip(piece);
        placed.is_some_and(|(square, piece)| self.put(square, piece).is_ok())
    }

    /// Removes a piece. `None` if the square is empty.
    pub(in super::super) fn remove_at(
        &mut self,
        file: u32,
        rank: u32,
    ) -> Option<(Side, PieceType)> {
        let piece = self.remove(board_square(file, rank)?)?;
        Some((piece.side, their_kind(piece.kind)))
    }

    pub(in super::super) fn at(&self, file: u32, rank: u32) -> Option<(Side, PieceType)> {
        let piece = self.piece_on(board_square(file, rank)?)?;
        Some((piece.side, their_kind(piece.kind)))
    }

    /// Adds pieces to a hand. Kinds that cannot be in hand are ignored.
    pub(in super::super) fn add_to_hand(&mut self, side: Side, kind: PieceType, count: u32) {
        let Some(kind) = our_kind(kind) else { return };
        // The maximum is already an invalid position.
        let count = self.hand(side, kind).saturating_add(count).min(MAX_HAND);
        let _ = self.set_hand(side, kind, count);
    }

    /// Adds all pieces that are neither on the board nor in hand, except kings, to a hand.
    pub(in super::super) fn add_rest_to_hand(&mut self, side: Side) {
        for (kind, limit) in PieceKind::IN_HAND.into_iter().zip([2_u32, 2, 4, 4, 4, 4, 18]) {
            let is_kind = |(_, piece): &(_, Piece)| piece.kind.unpromoted() == kind;
            let on_board = self.pieces().filter(is_kind).fold(0_u32, |count, _| count + 1);
            let in_hands = Side::BOTH.map(|side| self.hand(side, kind));
            let used = in_hands.into_iter().fold(on_board, u32::saturating_add);
            self.add_to_hand(side, their_kind(kind), limit.saturating_sub(used));
        }
    }

    /// The pieces of a hand, in the order of SFEN.
    pub(in super::super) fn in_hand(&self, side: Side) -> Vec<(PieceType, u32)> {
        let pieces = PieceKind::IN_HAND.map(|kind| (their_kind(kind), self.hand(side, kind)));
        pieces.into_iter().filter(|&(_, count)| count > 0).collect()
    }
}

fn board_square(file: u32, rank: u32) -> Option<crate::Square> {
    let column = u8::try_from(9_u32.checked_sub(file)?).ok()?;
    let row = u8::try_from(rank.checked_sub(1)?).ok()?;
    crate::Square::new(Game::Shogi, column, row)
}

/// A start position with a name: the usual one, or one with a handicap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Handicap(Option<RulesHandicap>);

/// Handicaps with their names in JKF. Records have no name for the naked king.
const JKF_NAMES: [(RulesHandicap, &str); 15] = [
    (RulesHandicap::Lance, "KY"),
    (RulesHandicap::RightLance, "KY_R"),
    (RulesHandicap::Bishop, "KA"),
    (RulesHandicap::Rook, "HI"),
    (RulesHandicap::RookLance, "HIKY"),
    (RulesHandicap::TwoPieces, "2"),
    (RulesHandicap::ThreePieces, "3"),
    (RulesHandicap::FourPieces, "4"),
    (RulesHandicap::FivePieces, "5"),
    (RulesHandicap::LeftFivePieces, "5_L"),
    (RulesHandicap::SixPieces, "6"),
    (RulesHandicap::LeftSevenPieces, "7_L"),
    (RulesHandicap::RightSevenPieces, "7_R"),
    (RulesHandicap::EightPieces, "8"),
    (RulesHandicap::TenPieces, "10"),
];

const EVEN_KIF: &str = "平手";
const EVEN_JKF: &str = "HIRATE";

impl Handicap {
    fn find(matches: impl Fn(RulesHandicap, &str) -> bool) -> Option<Self> {
        let found = JKF_NAMES.into_iter().find(|&(handicap, jkf)| matches(handicap, jkf));
        found.map(|(handicap, _)| Self(Some(handicap)))
    }

    pub(in super::super) fn by_kif(name: &str) -> Option<Self> {
        if name == EVEN_KIF {
            return Some(Self(None));
        }
        Self::find(|handicap, _| handicap.japanese() == name)
    }

    pub(in super::super) fn by_jkf(name: &str) -> Option<Self> {
        if name == EVEN_JKF {
            return Some(Self(None));
        }
        Self::find(|_, jkf| jkf == name)
    }

    /// The name in KIF.
    pub(in super::super) fn kif(self) -> &'static str {
        self.0.map_or(EVEN_KIF, RulesHandicap::japanese)
    }

    /// The name in JKF.
    pub(in super::super) fn jkf(self) -> &'static str {
        let name = JKF_NAMES.into_iter().find(|&(handicap, _)| Some(handicap) == self.0);
        name.map_or(EVEN_JKF, |(_, jkf)| jkf)
    }

    /// The handicap of a start position.
    pub(in super::super) fn of(position: &Position) -> Option<Self> {
        let setup = position.setup();
        if setup == Setup::start(Game::Shogi) {
            return Some(Self(None));
        }
        let handicap = setup.as_handicap()?;
        Self::find(|known, _| known == handicap)
    }

    /// Whether both sides have all their pieces.
    pub(in super::super) fn is_even(self) -> bool {
        self.0.is_none()
    }

    pub(in super::super) fn setup(self) -> Setup {
        self.0.map_or_else(|| Setup::start(Game::Shogi), Setup::handicap)
    }
}
