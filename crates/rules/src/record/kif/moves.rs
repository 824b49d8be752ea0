//! Moves in Japanese: `７六歩(77)`, `同　銀不成(31)`, `５五角打`, and KI2's `▲５八金右`.

use rsshogi::{
    board::{Move32List, Position},
    movegen::generate_legal_all_move32,
    types::{Color, Move, Move32, PieceType, Square},
};

use super::super::shogi::{
    kanji_name, kanji_rank, piece_by_kanji, square, square_of, wide_digit, wide_file,
};

/// The text of a move, parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written<'a> {
    to: Square,
    kind: PieceType,
    /// Modifiers such as 右, 直 and 引.
    modifiers: Vec<char>,
    /// 成 (true) or 不成 (false), if given.
    promotion: Option<bool>,
    drop: bool,
    from: Option<Square>,
    /// The text after the move.
    pub(super) rest: &'a str,
}

/// Whether a text begins with a square.
pub(in super::super) fn begins_a_square(text: &str) -> bool {
    let mut letters = text.chars();
    [letters.next(), letters.next()]
        .into_iter()
        .all(|letter| letter.is_some_and(|letter| wide_digit(letter).is_some()))
}

/// Whether a text begins like a move.
pub(super) fn begins_a_move(text: &str) -> bool {
    text.starts_with(|letter| letter == '同' || wide_digit(letter).is_some())
}

/// Reads a move at the beginning of a text. `last` is the target of the last move.
pub(super) fn read(text: &str, last: Option<Square>) -> Option<Written<'_>> {
    let (to, rest) = if let Some(rest) = text.strip_prefix('同') {
        (last?, rest)
    } else {
        let mut letters = text.chars();
        let file = wide_digit(letters.next()?)?;
        let rank = wide_digit(letters.next()?)?;
        (square(file, rank)?, letters.as_str())
    };
    let rest = rest.trim_start_matches(['　', ' ']);
    let (kind, mut rest) = piece_by_kanji(rest)?;
    let mut written =
        Written { to, kind, modifiers: Vec::new(), promotion: None, drop: false, from: None, rest };
    loop {
        if let Some(next) = rest.strip_prefix("不成") {
            written.promotion = Some(false);
            rest = next;
        } else if let Some(next) = rest.strip_prefix('成') {
            written.promotion = Some(true);
            rest = next;
        } else if let Some(next) = rest.strip_prefix('打') {
            written.drop = true;
            rest = next;
        } else if let Some(letter) =
            rest.chars().next().filter(|letter| "右左直上行入引寄".contains(*letter))
        {
            written.modifiers.push(letter);
            rest = rest.get(letter.len_utf8()..).unwrap_or_default();
        } else {
            break;
        }
    }
    if let Some((from, next)) = origin(rest) {
        written.from = Some(from);
        rest = next;
    }
    Some(Written { rest, ..written })
}

/// `(77)`
fn origin(text: &str) -> Option<(Square, &str)> {
    let mut letters = text.strip_prefix(['(', '（'])?.chars();
    let from = square(wide_digit(letters.next()?)?, wide_digit(letters.next()?)?)?;
    Some((from, letters.as_str().strip_prefix([')', '）'])?))
}

/// The move that a text means on a board; it can be illegal. `None` if no legal move fits, or more than
/// one.
pub(super) fn resolve(board: &Position, written: &Written<'_>) -> Option<Move> {
    if let Some(from) = written.from {
        let fits = board.piece_on(from).piece_type() == written.kind;
        let promotes = written.promotion == Some(true);
        let to = written.to;
        return fits
            .then(|| if promotes { Move::promotion(from, to) } else { Move::normal(from, to) });
    }
    let dropped = written.kind.is_hand_piece().then(|| Move::drop(written.kind, written.to));
    if written.drop {
        return dropped;
    }
    let mut moves = Move32List::new();
    generate_legal_all_move32(board, &mut moves);
    let mut candidates: Vec<Move32> = moves
        .iter()
        .copied()
        .filter(|mv| {
            !mv.is_drop()
                && mv.to_sq() == written.to
                && board.piece_on(mv.from_sq()).piece_type() == written.kind
                && mv.is_promotion() == (written.promotion == Some(true))
        })
        .collect();
    if candidates.is_empty() {
        // KI2 leaves out 打 if no piece on the board can move there.
        return dropped.filter(|_| written.modifiers.is_empty() && written.promotion.is_none());
    }
    // The modifiers of the origin come last.
    for letter in written.modifiers.iter().filter(|letter| !"右左".contains(**letter)) {
        candidates.retain(|mv| comes(board.turn(), *mv, *letter));
    }
    for letter in &written.modifiers {
        let side = |mv: &Move32| {
            let file = i32::from(mv.from_sq().file().raw());
            if (board.turn() == Color::BLACK) == (*letter == '右') { -file } else { file }
        };
        if "右左".contains(*letter)
            && let Some(max) = candidates.iter().map(side).max()
        {
            candidates.retain(|mv| side(mv) == max);
        }
    }
    match candidates.as_slice() {
        [only] => Some(only.to_move()),
        _ => None,
    }
}

/// Whether a move has the direction of a modifier: forward, back, sideways or straight.
fn comes(turn: Color, mv: Move32, modifier: char) -> bool {
    let (from, to) = (mv.from_sq(), mv.to_sq());
    let ahead = i32::from(from.rank().raw()) - i32::from(to.rank().raw());
    let ahead = if turn == Color::BLACK { ahead } else { -ahead };
    let same_file = from.file().raw() == to.file().raw();
    match modifier {
        '上' | '行' | '入' => ahead > 0,
        '引' => ahead < 0,
        '寄' => ahead == 0,
        '直' => ahead == 1 && same_file,
        _ => true,
    }
}

/// A move in KIF: `７六歩(77)`.
pub(super) fn written(board: &Position, mv: Move32, last: Option<Move32>) -> String {
    let to = mv.to_sq();
    let (file, rank) = square_of(to);
    let target = if last.is_some_and(|last| last.to_sq() == to) {
        "同　".to_owned()
    } else {
        format!("{}{}", wide_file(file), kanji_rank(rank))
    };
    if let Some(kind) = mv.dropped_piece() {
        return format!("{target}{}打", kanji_name(kind));
    }
    let from = mv.from_sq();
    let (file, rank) = square_of(from);
    let kind = kanji_name(board.piece_on(from).piece_type());
    let promotion = if mv.is_promotion() { "成" } else { "" };
    format!("{target}{kind}{promotion}({file}{rank})")
}

/// A move in KI2 without the sign for the side: `５八金右`.
pub(in super::super) fn relative(board: &Position, mv: Move32, last: Option<Move32>) -> String {
    let to = mv.to_sq();
    // Rsshogi writes the modifiers. It has no last move at the start of a record.
    let text = mv.to_ki2(board).unwrap_or_else(|| mv.to_usi());
    let text = text.trim_start_matches(['▲', '△', '☗', '☖']);
    let text = match text.strip_prefix('同') {
        Some(rest) => rest.trim_start_matches(['　', ' ']),
        None => text.char_indices().nth(2).map_or("", |(index, _)| text.get(index..).unwrap_or("")),
    };
    let (file, rank) = square_of(to);
    if last.is_some_and(|last| last.to_sq() == to) {
        let blank = if text.chars().count() == 1 { "　" } else { "" };
        format!("同{blank}{text}")
    } else {
        format!("{}{}{text}", wide_file(file), kanji_rank(rank))
    }
}
