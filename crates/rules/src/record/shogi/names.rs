//! Names of pieces and squares.

use rsshogi::types::{File, PieceType, Rank, Square};

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
