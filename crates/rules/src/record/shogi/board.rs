//! Names of pieces, board setups, and the usual handicaps.

use rsshogi::types::PieceType;

use crate::{
    Game, Handicap as RulesHandicap, Piece, PieceKind, Position, Setup as RulesSetup, Side,
    setup::MAX_HAND,
    shogi::{our_kind, their_kind},
};

/// Each kind with its name in KIF.
const NAMES: [(PieceType, &str); 14] = [
    (PieceType::PAWN, "歩"),
    (PieceType::LANCE, "香"),
    (PieceType::KNIGHT, "桂"),
    (PieceType::SILVER, "銀"),
    (PieceType::GOLD, "金"),
    (PieceType::BISHOP, "角"),
    (PieceType::ROOK, "飛"),
    (PieceType::KING, "玉"),
    (PieceType::PRO_PAWN, "と"),
    (PieceType::PRO_LANCE, "成香"),
    (PieceType::PRO_KNIGHT, "成桂"),
    (PieceType::PRO_SILVER, "成銀"),
    (PieceType::HORSE, "馬"),
    (PieceType::DRAGON, "龍"),
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

pub(in super::super) fn kanji_name(kind: PieceType) -> &'static str {
    NAMES.iter().find(|(known, _)| *known == kind).map_or("", |(_, name)| name)
}

/// The kind whose name is a prefix of a text, and the rest of the text.
pub(in super::super) fn piece_by_kanji(text: &str) -> Option<(PieceType, &str)> {
    let names = NAMES.into_iter().chain(MORE_NAMES);
    names.into_iter().find_map(|(kind, name)| Some((kind, text.strip_prefix(name)?)))
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

/// A setup with the files, ranks and piece types of records.
#[derive(Debug, Clone)]
pub(in super::super) struct Setup(RulesSetup);

impl Setup {
    pub(in super::super) fn empty() -> Self {
        Self(RulesSetup::empty(Game::Shogi))
    }

    /// The setup of a position.
    pub(in super::super) fn of(position: &Position) -> Self {
        Self(position.setup())
    }

    pub(in super::super) fn turn(&self) -> Side {
        self.0.turn()
    }

    pub(in super::super) fn set_turn(&mut self, side: Side) {
        self.0.set_turn(side);
    }

    /// The number of the next move.
    pub(in super::super) fn move_number(&self) -> u32 {
        self.0.move_number()
    }

    pub(in super::super) fn set_move_number(&mut self, number: u32) {
        self.0.set_move_number(number);
    }

    /// Puts a piece on a file and rank of 1 to 9. False if there is no such square.
    pub(in super::super) fn put(
        &mut self,
        file: u32,
        rank: u32,
        side: Side,
        kind: PieceType,
    ) -> bool {
        let piece = our_kind(kind).map(|kind| Piece { side, kind });
        let placed = board_square(file, rank).zip(piece);
        placed.is_some_and(|(square, piece)| self.0.put(square, piece).is_ok())
    }

    /// Removes a piece. `None` if the square is empty.
    pub(in super::super) fn remove(&mut self, file: u32, rank: u32) -> Option<(Side, PieceType)> {
        let piece = self.0.remove(board_square(file, rank)?)?;
        Some((piece.side, their_kind(piece.kind)))
    }

    pub(in super::super) fn at(&self, file: u32, rank: u32) -> Option<(Side, PieceType)> {
        let piece = self.0.piece_on(board_square(file, rank)?)?;
        Some((piece.side, their_kind(piece.kind)))
    }

    /// Adds pieces to a hand. Kinds that cannot be in hand are ignored.
    pub(in super::super) fn add_to_hand(&mut self, side: Side, kind: PieceType, count: u32) {
        let Some(kind) = our_kind(kind) else { return };
        // The maximum is already an invalid position.
        let count = self.0.hand(side, kind).saturating_add(count).min(MAX_HAND);
        let _ = self.0.set_hand(side, kind, count);
    }

    /// Adds all pieces that are neither on the board nor in hand, except kings, to a hand.
    pub(in super::super) fn add_rest_to_hand(&mut self, side: Side) {
        for (kind, limit) in PieceKind::IN_HAND.into_iter().zip([2_u32, 2, 4, 4, 4, 4, 18]) {
            let is_kind = |(_, piece): &(_, Piece)| piece.kind.unpromoted() == kind;
            let on_board = self.0.pieces().filter(is_kind).fold(0_u32, |count, _| count + 1);
            let in_hands = Side::BOTH.map(|side| self.0.hand(side, kind));
            let used = in_hands.into_iter().fold(on_board, u32::saturating_add);
            self.add_to_hand(side, their_kind(kind), limit.saturating_sub(used));
        }
    }

    /// The pieces of a hand, in the order of SFEN.
    pub(in super::super) fn hand(&self, side: Side) -> Vec<(PieceType, u32)> {
        let pieces = PieceKind::IN_HAND.map(|kind| (their_kind(kind), self.0.hand(side, kind)));
        pieces.into_iter().filter(|&(_, count)| count > 0).collect()
    }

    /// The position, which can violate the rules.
    pub(in super::super) fn position(&self) -> Position {
        Position::for_viewing(&self.0)
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
        if setup == RulesSetup::start(Game::Shogi) {
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
        Setup(self.0.map_or_else(|| RulesSetup::start(Game::Shogi), RulesSetup::handicap))
    }
}
