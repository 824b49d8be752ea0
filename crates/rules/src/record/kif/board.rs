//! Board diagrams (BOD) of start positions in KIF.

use rsshogi::types::PieceType;

use crate::{PositionError, Setup, Side};

use super::super::shogi::{kanji_name, kanji_rank, piece_by_kanji, wide_digit};

/// Reads a row such as `| ・v飛 ・ … ・|二`, and returns its rank.
///
/// The kanji after the row is its rank; without one, the row has the expected rank. A position whose
/// rows cannot be read, or do not follow each other, is unknown: it is rejected, not shifted.
pub(super) fn read_row(line: &str, expected: u32, setup: &mut Setup) -> Result<u32, PositionError> {
    let rank = rank_of(line).unwrap_or(expected);
    let wrong_length = |rank| PositionError::RankLength { rank: rank_letter(rank) };
    if rank != expected {
        // A row before this one is missing, or this one is repeated.
        return Err(wrong_length(rank.min(expected)));
    }
    let mut rest = line.strip_prefix('|').unwrap_or(line);
    for file in (1..=9).rev() {
        rest = rest.trim_start_matches([' ', '\t']);
        let (side, name) = match rest.strip_prefix(['v', 'V', 'ｖ']) {
            Some(name) => (Side::Second, name),
            None => (Side::First, rest.strip_prefix('^').unwrap_or(rest)),
        };
        rest = if let Some((kind, after)) = piece_by_kanji(name) {
            setup.put_at(file, rank, side, kind);
            after
        } else if let Some(after) = rest.strip_prefix(['・', '　']) {
            after
        } else {
            return Err(match name.chars().next() {
                Some(piece) if piece != '|' && wide_digit(piece).is_none() => {
                    let square = format!("{file}{}", rank_letter(rank));
                    PositionError::UnknownPiece { letter: piece, square }
                }
                _ => wrong_length(rank),
            });
        };
    }
    let end = rest.trim_start();
    let is_complete = match end.strip_prefix('|') {
        Some(_) => true,
        // The closing sign is missing.
        None => end.chars().next().is_none_or(|letter| wide_digit(letter) == Some(rank)),
    };
    if is_complete { Ok(rank) } else { Err(wrong_length(rank)) }
}

/// The rank that a row states after its squares.
fn rank_of(line: &str) -> Option<u32> {
    let (_, after) = line.rsplit_once('|')?;
    let rank = wide_digit(after.trim_start().chars().next()?)?;
    (1..=9).contains(&rank).then_some(rank)
}

/// The letter of a rank in USI.
fn rank_letter(rank: u32) -> char {
    rank.checked_sub(1).and_then(|rank| char::from_digit(rank + 10, 36)).unwrap_or('?')
}

/// Reads `飛　角二　歩十八`. False for any other text.
pub(super) fn read_hand(text: &str, side: Side, setup: &mut Setup) -> bool {
    let mut rest = text.trim();
    if rest.is_empty() || rest == "なし" {
        return true;
    }
    while let Some((kind, next)) = piece_by_kanji(rest) {
        let (count, next) = kanji_number(next);
        setup.add_to_hand(side, kind, count.unwrap_or(1));
        rest = next.trim_start();
    }
    rest.is_empty()
}

/// `二`, `十八` or `18`.
fn kanji_number(text: &str) -> (Option<u32>, &str) {
    let mut total = None;
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let so_far = total.unwrap_or(0_u32);
        total = Some(match (letter, wide_digit(letter)) {
            ('十', _) => so_far.max(1).saturating_mul(10),
            // Digits after a ten are added to it; digits of half width are decimal places.
            (_, Some(digit)) if so_far > 0 && letter.is_ascii_digit() => {
                so_far.saturating_mul(10).saturating_add(digit)
            }
            (_, Some(digit)) => so_far.saturating_add(digit),
            _ => break,
        });
        rest = rest.get(letter.len_utf8()..).unwrap_or_default();
    }
    (total, rest)
}

/// The lines of a diagram, without the players' names.
pub(super) fn write(setup: &Setup, names: [&str; 2]) -> Vec<String> {
    let [first, second] = names;
    let mut lines = vec![
        format!("{second}の持駒：{}", hand(&setup.in_hand(Side::Second))),
        "  ９ ８ ７ ６ ５ ４ ３ ２ １".to_owned(),
        "+---------------------------+".to_owned(),
    ];
    for rank in 1..=9 {
        let mut line = "|".to_owned();
        for file in (1..=9).rev() {
            match setup.at(file, rank) {
                Some((side, kind)) => {
                    line.push(if side == Side::First { ' ' } else { 'v' });
                    line.push_str(short_name(kind));
                }
                None => line.push_str(" ・"),
            }
        }
        line.push('|');
        line.push(kanji_rank(rank));
        lines.push(line);
    }
    lines.push("+---------------------------+".to_owned());
    lines.push(format!("{first}の持駒：{}", hand(&setup.in_hand(Side::First))));
    if setup.move_number() > 1 {
        lines.push(format!("手数＝{}", setup.move_number() - 1));
    }
    if setup.turn() == Side::Second {
        lines.push(format!("{second}番"));
    }
    lines
}

/// The name in a diagram, which has room for one character.
fn short_name(kind: PieceType) -> &'static str {
    match kind {
        PieceType::PRO_LANCE => "杏",
        PieceType::PRO_KNIGHT => "圭",
        PieceType::PRO_SILVER => "全",
        kind => kanji_name(kind),
    }
}

fn hand(hand: &[(PieceType, u32)]) -> String {
    if hand.is_empty() {
        return "なし".to_owned();
    }
    let parts: Vec<String> = hand
        .iter()
        .map(|&(kind, count)| {
            let ones = match count % 10 {
                0 => String::new(),
                ones => kanji_rank(ones).to_string(),
            };
            let count = match count / 10 {
                0 if count <= 1 => String::new(),
                0 => ones,
                1 => format!("十{ones}"),
                tens => format!("{}十{ones}", kanji_rank(tens)),
            };
            format!("{}{count}", kanji_name(kind))
        })
        .collect();
    parts.join("　")
}
