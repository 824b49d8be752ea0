//! Names of openings in Japanese, put together of phrases.
//!
//! `opening/japanese.tsv` has a line for each word of the names and for phrases that are more than their
//! words, sorted by bytes. Those that Japanese players know are written as they write them (シシリアン,
//! ルイ・ロペス), the words of English as they sound, and people and places as in their own language. It was
//! written for this crate.

use super::find;

const PHRASES: &str = include_str!("japanese.tsv");

/// A name in Japanese. Words that the table does not have stay as they are: moves and numbers.
pub(super) fn translated(name: &str) -> String {
    let mut text = String::new();
    let mut rest = name;
    // `with e6` comes last in Japanese.
    let mut kind = "";
    while let Some(letter) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("with ") {
            kind = "型";
            rest = after;
        } else if let Some(sign) = sign(letter) {
            if matches!(letter, ':' | ',') {
                text.push_str(std::mem::take(&mut kind));
            }
            text.push_str(sign);
            rest = rest.strip_prefix(letter).unwrap_or_default();
        } else {
            let (phrase, after) = phrase(rest);
            text.push_str(between(&text, phrase));
            text.push_str(phrase);
            rest = after;
        }
    }
    text + kind
}

/// What a sign between words becomes; none if it belongs to a word.
fn sign(letter: char) -> Option<&'static str> {
    match letter {
        ' ' | '-' => Some(""),
        ':' => Some("："),
        ',' => Some("、"),
        '(' => Some("（"),
        ')' => Some("）"),
        _ => None,
    }
}

/// What stands between two parts: nothing between Japanese and a move.
fn between(text: &str, next: &str) -> &'static str {
    let (Some(last), Some(first)) = (text.chars().next_back(), next.chars().next()) else {
        return "";
    };
    match (last.is_alphanumeric() && first.is_alphanumeric(), last.is_ascii(), first.is_ascii()) {
        (true, true, true) => " ",
        (true, false, false) => "・",
        _ => "",
    }
}

/// The longest phrase of the table at the beginning, in Japanese, and what follows it.
fn phrase(text: &str) -> (&str, &str) {
    let most = text.find([':', ',', '(', ')']).unwrap_or(text.len());
    let mut end = most;
    loop {
        let (words, rest) = text.split_at(end);
        if let Some(japanese) = find(PHRASES, words) {
            return (japanese, rest);
        }
        let Some(shorter) = words.rfind([' ', '-']) else {
            // Whose it is, Japanese does not say.
            let stem = words.strip_suffix("'s").or_else(|| words.strip_suffix('\''));
            return (stem.and_then(|stem| find(PHRASES, stem)).unwrap_or(words), rest);
        };
        end = shorter;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::opening::NAMES;

    fn names() -> BTreeSet<&'static str> {
        NAMES.lines().filter_map(|line| line.split('\t').nth(2)).collect()
    }

    fn is_move(word: &str) -> bool {
        word.contains(|letter: char| letter.is_ascii_digit())
    }

    fn words(name: &str) -> impl Iterator<Item = &str> {
        name.split([' ', '-', ':', ',', '(', ')']).filter(|word| !word.is_empty())
    }

    #[test]
    fn well_known_openings_are_called_as_players_call_them() {
        for (name, japanese) in [
            (
                "Sicilian Defense: Najdorf Variation",
                "シシリアン・ディフェンス：ナイドルフ・バリエーション",
            ),
            ("Ruy Lopez", "ルイ・ロペス"),
            ("Ruy Lopez: Berlin Defense", "ルイ・ロペス：ベルリン・ディフェンス"),
            ("Queen's Gambit Declined", "クイーンズ・ギャンビット・ディクラインド"),
            ("King's Indian Defense", "キングズ・インディアン・ディフェンス"),
            ("English Opening", "イングリッシュ・オープニング"),
            ("Petrov's Defense", "ペトロフ・ディフェンス"),
            ("Italian Game: Giuoco Piano", "イタリアン・ゲーム：ジオッコ・ピアノ"),
            ("Caro-Kann Defense", "カロ・カン・ディフェンス"),
            ("Réti Opening", "レティ・オープニング"),
            ("Bird Opening: From's Gambit", "バード・オープニング：フロム・ギャンビット"),
        ] {
            assert!(names().contains(name), "{name}");
            assert_eq!(translated(name), japanese);
        }
    }

    #[test]
    fn moves_stay_as_they_are() {
        for (name, japanese) in [
            ("King's Indian Attack, with Bf5", "キングズ・インディアン・アタック、Bf5型"),
            ("with Bc4 and h6", "Bc4とh6型"),
            ("with a4 a5", "a4 a5型"),
            ("with .. d6", "…d6型"),
            ("150 Attack", "150アタック"),
            ("Modern Bc4 Variation", "モダンBc4バリエーション"),
            ("Anti-Qxd4 Move Order", "アンチQxd4ムーブ・オーダー"),
            ("with e3, Bb4+ Line", "e3型、Bb4+ライン"),
        ] {
            assert!(names().iter().any(|one| one.contains(name)), "{name}");
            assert_eq!(translated(name), japanese);
        }
    }

    /// A word is Latin only where it is a move.
    #[test]
    fn every_name_is_japanese() {
        for name in names() {
            let mut japanese = translated(name);
            let moves = words(name).filter(|word| is_move(word));
            for word in moves {
                japanese = japanese.replacen(word, "", 1);
            }
            let is_foreign = |letter: char| {
                letter.is_ascii_alphabetic() || ('\u{c0}'..'\u{250}').contains(&letter)
            };
            assert!(!japanese.contains(is_foreign), "{name}: {japanese}");
            assert!(!japanese.contains(['\'', '-', '.', ',', ':']), "{name}: {japanese}");
        }
    }

    /// Nothing is lost: a name in Japanese has as many parts, and belongs to one opening.
    #[test]
    fn what_differs_in_more_than_a_possessive_differs_in_japanese() {
        let mut meant = BTreeMap::new();
        for name in names() {
            let japanese = translated(name);
            for (english, sign) in [(':', '：'), (',', '、')] {
                assert_eq!(japanese.matches(sign).count(), name.matches(english).count(), "{name}");
            }
            let plain = name.replace("'s ", " ");
            let other = meant.insert(japanese, plain.clone());
            assert!(other.is_none_or(|other| other == plain), "{name}");
        }
    }

    #[test]
    fn the_table_is_sorted_katakana_and_all_of_it_is_used() {
        let used: BTreeSet<_> = names().into_iter().flat_map(phrases).collect();
        let mut last = "";
        for line in PHRASES.lines() {
            let (phrase, japanese) = line.split_once('\t').expect(line);
            assert!(last < phrase, "{line}");
            assert!(used.contains(phrase), "{line}");
            let is_kana =
                |letter| matches!(letter, 'ァ'..='ヺ' | 'ー' | '・' | 'と' | 'の' | '…' | '3');
            assert!(!japanese.is_empty() && japanese.chars().all(is_kana), "{line}");
            last = phrase;
        }
    }

    /// The phrases that a name is made of.
    fn phrases(name: &'static str) -> Vec<&'static str> {
        let mut found = Vec::new();
        let mut rest = name.strip_prefix("with ").unwrap_or(name);
        while !rest.is_empty() {
            let start = rest.trim_start_matches([' ', '-', ':', ',', '(', ')']);
            let start = start.strip_prefix("with ").unwrap_or(start);
            if start.is_empty() {
                break;
            }
            let (_, after) = phrase(start);
            let taken = &start[..start.len() - after.len()];
            let stem = taken.strip_suffix("'s").or_else(|| taken.strip_suffix('\''));
            found.push(if find(PHRASES, taken).is_some() { taken } else { stem.unwrap_or(taken) });
            rest = after;
        }
        found
    }
}
