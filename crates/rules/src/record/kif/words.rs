//! The words for how a game ended, and the sentence that sums it up.

use crate::Side;

use super::super::{GameResult, Termination};

/// Each end with its word. Where two share a word, the first is read.
const ENDS: [(Termination, &str); 18] = [
    (Termination::Resignation, "投了"),
    (Termination::Checkmate, "詰み"),
    (Termination::Repetition, "千日手"),
    (Termination::PerpetualCheck, "連続王手の千日手"),
    (Termination::Impasse, "持将棋"),
    (Termination::Declaration, "入玉勝ち"),
    (Termination::TimeForfeit, "切れ負け"),
    (Termination::IllegalMove, "反則負け"),
    (Termination::IllegalAction, "反則勝ち"),
    (Termination::Forfeit, "不戦敗"),
    (Termination::WinByForfeit, "不戦勝"),
    (Termination::Draw, "引き分け"),
    (Termination::MoveLimit, "最大手数"),
    (Termination::Interrupted, "中断"),
    (Termination::NoMate, "不詰"),
    (Termination::TakeBack, "待った"),
    (Termination::Adjudication, "裁定"),
    (Termination::Error, "エラー"),
];

/// Other words for the same.
const MORE_ENDS: [(Termination, &str); 4] = [
    (Termination::Declaration, "入玉宣言"),
    (Termination::Declaration, "宣言勝ち"),
    (Termination::TimeForfeit, "時間切れ"),
    (Termination::Checkmate, "詰"),
];

/// The end that a word names.
pub(super) fn read(word: &str) -> Termination {
    // What is not written would otherwise hide a known word until the next reading.
    let word = writable(word);
    let mut known = ENDS.iter().chain(&MORE_ENDS);
    let end = known.find(|(_, known)| *known == word).map(|(end, _)| end.clone());
    end.unwrap_or(Termination::Other(word))
}

/// What can be written of a word for an end. One that begins like a move would be read as one.
fn writable(word: &str) -> String {
    let word = word.replace(|it: char| it.is_control() || matches!(it, '(' | '+' | '：'), " ");
    let word = word.trim_start_matches(|letter: char| {
        letter == '同'
            || letter.is_whitespace()
            || super::super::shogi::wide_digit(letter).is_some()
    });
    word.trim_end().to_owned()
}

/// The word for an end.
pub(super) fn write(end: &Termination) -> String {
    match end {
        Termination::Stalemate => "詰み".to_owned(),
        Termination::FiftyMoves | Termination::InsufficientMaterial => "引き分け".to_owned(),
        Termination::Other(text) => {
            let word = writable(text);
            if word.is_empty() { "中断".to_owned() } else { word }
        }
        end => ENDS.iter().find(|(it, _)| it == end).map_or("中断", |(_, word)| word).to_owned(),
    }
}

/// What a line like `まで57手で先手の勝ち` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) result: GameResult,
    /// None where a side has won, and nobody says how.
    pub(super) end: Option<Termination>,
}

pub(super) fn read_summary(line: &str) -> Summary {
    let text = line.trim_start_matches("まで");
    let text = text.trim_start_matches(|it| super::super::shogi::wide_digit(it).is_some());
    let text = text.trim_start_matches("手").trim_start_matches("で").trim();
    // The reason can name a side, too: 先手の反則により後手の勝ち.
    let (reason, verdict) = text.rsplit_once("により").unwrap_or(("", text));
    let named = if verdict.contains("先手") || verdict.contains("下手") {
        Some(Side::First)
    } else if verdict.contains("後手") || verdict.contains("上手") {
        Some(Side::Second)
    } else {
        None
    };
    let lost = text.ends_with("負け") || text.ends_with('敗');
    let won = text.ends_with("勝ち") || text.ends_with('勝');
    let result = match named {
        Some(side) if lost => GameResult::Win(side.other()),
        Some(side) if won => GameResult::Win(side),
        None if text.ends_with("引き分け") => GameResult::Draw,
        _ => GameResult::Unknown,
    };
    // The last ones are parts of others' words.
    let mut known = MORE_ENDS.iter().take(3).chain(ENDS.iter().rev());
    let end = if let Some((end, _)) = known.find(|(_, word)| text.contains(word)) {
        Some(end.clone())
    } else if text.ends_with("の勝ち") {
        Some(writable(reason)).filter(|word| !word.is_empty()).map(Termination::Other)
    } else if text.is_empty() {
        Some(Termination::Interrupted)
    } else {
        Some(Termination::Other(text.to_owned()))
    };
    Summary { result, end }
}

/// The line that sums a game up; none if there is nothing to say.
pub(super) fn write_summary(
    moves: usize,
    end: Option<&Termination>,
    result: GameResult,
    handicap: bool,
) -> Option<String> {
    let name = |side| match (side, handicap) {
        (Side::First, false) => "先手",
        (Side::First, true) => "下手",
        (Side::Second, false) => "後手",
        (Side::Second, true) => "上手",
    };
    let words = match (end, result) {
        (None, GameResult::Unknown) => return None,
        (None, GameResult::Draw) => "引き分け".to_owned(),
        (None | Some(Termination::Resignation), GameResult::Win(side)) => {
            format!("{}の勝ち", name(side))
        }
        (Some(Termination::TimeForfeit), GameResult::Win(side)) => {
            format!("時間切れにより{}の勝ち", name(side))
        }
        (Some(Termination::IllegalMove), GameResult::Win(side)) => {
            format!("{}の反則負け", name(side.other()))
        }
        (Some(Termination::IllegalAction), GameResult::Win(side)) => {
            format!("{}の反則勝ち", name(side))
        }
        (Some(Termination::Declaration), GameResult::Win(side)) => {
            format!("{}の入玉勝ち", name(side))
        }
        (Some(Termination::Forfeit), GameResult::Win(side)) => {
            format!("{}の不戦敗", name(side.other()))
        }
        (Some(Termination::WinByForfeit), GameResult::Win(side)) => {
            format!("{}の不戦勝", name(side))
        }
        // From none of these a result follows, so that it has to be told.
        (
            Some(
                end @ (Termination::Adjudication
                | Termination::Interrupted
                | Termination::NoMate
                | Termination::TakeBack
                | Termination::Error
                | Termination::Other(_)),
            ),
            GameResult::Win(_) | GameResult::Draw,
        ) => match result {
            GameResult::Win(side) => format!("{}により{}の勝ち", write(end), name(side)),
            GameResult::Draw | GameResult::Unknown => format!("{}により引き分け", write(end)),
        },
        (Some(end), _) => write(end),
    };
    Some(format!("まで{moves}手で{words}"))
}
