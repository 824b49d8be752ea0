//! Board diagrams (BOD) of start positions in KIF.

use rsshogi::types::PieceType;

use crate::Side;

use super::super::shogi::{Setup, kanji_name, kanji_rank, piece_by_kanji, wide_digit};

/// Reads a row between `|` and `|` before the kanji of its rank. False if the text is not a row.
pub(super) fn read_row(line: &str, rank: u32, setup: &mut Setup) -> bool {
    let Some((row, _)) = line.strip_prefix('|').and_then(|line| line.rsplit_once('|')) else {
        return false;
    };
    let mut rest = row;
    let mut file = 9;
    while file > 0 {
        let Some(sign) = rest.chars().next() else { return false };
        rest = rest.get(sign.len_utf8()..).unwrap_or_default();
        let side = match sign {
            ' ' | '^' => Side::First,
            'v' | 'V' => Side::Second,
            _ => return false,
        };
        if let Some((kind, next)) = piece_by_kanji(rest) {
            setup.put(file, rank, side, kind);
            rest = next;
        } else if let Some(next) = rest.strip_prefix(['・', '　']) {
            rest = next;
        } else {
            return false;
        }
        file -= 1;
    }
    rest.trim().is_empty()
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
        format!("{second}の持駒：{}", hand(&setup.hand(Side::Second))),
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
    lines.push(format!("{first}の持駒：{}", hand(&setup.hand(Side::First))));
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
