//! The words for how a game ended, and the sentence that sums it up.

use crate::Side;

use super::super::{GameResult, Termination};

/// Each end with its word. Where two share a word, the first is read.
const ENDS: [(Termination, &str); 21] = [
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
    (Termination::Try, "トライ"),
    (Termination::FailedDeclaration, "宣言失敗"),
    (Termination::EngineFailure, "エンジン異常"),
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
        Termination::FiftyMoves
        | Termination::InsufficientMaterial
        | Termination::TimeWithoutMaterial => "引き分け".to_owned(),
        Termination::Other(text) => {
            let word = writable(text);
            if word.is_empty() { "中断".to_owned() } else { word }
        }
        end => ENDS.iter().find(|(it, _)| it == end).map_or("中断", |(_, word)| word).to_owned(),
    }
}

/// The end to name in the line of the end, when it is this side's turn: one that other programs
/// know, and that implies the result where any does. The summary names the end itself.
pub(super) fn known_end(end: &Termination, result: GameResult, turn: Side) -> Termination {
    match (end, result) {
        // These imply no winner, and the summary names it.
        (
            Termination::Adjudication
            | Termination::Interrupted
            | Termination::NoMate
            | Termination::TakeBack
            | Termination::Error
            | Termination::Try
            | Termination::Other(_),
            _,
        ) => end.clone(),
        // Programs know this by the word for any foul.
        (Termination::PerpetualCheck | Termination::FailedDeclaration, GameResult::Win(_)) => {
            Termination::IllegalMove.with_result(result, turn)
        }
        (_, _) => end.implying(result, turn),
    }
}

/// What a line like `まで57手で先手の勝ち` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) result: GameResult,
    /// None where a side has won, and nobody says how.
    pub(super) end: Option<Termination>,
    /// The end stands in brackets behind the result, and is more exact than the line of the end.
    pub(super) is_exact: bool,
}

pub(super) fn read_summary(line: &str) -> Summary {
    let text = line.trim_start_matches("まで");
    let text = text.trim_start_matches(|it| super::super::shogi::wide_digit(it).is_some());
    let text = text.trim_start_matches("手").trim_start_matches("で").trim();
    let (text, exact) = exact_end(text);
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
    if let Some(end) = exact {
        return Summary { result, end: Some(end), is_exact: true };
    }
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
    Summary { result, end, is_exact: false }
}

/// Takes the end in brackets from a verdict such as `後手の勝ち（投了）`.
fn exact_end(text: &str) -> (&str, Option<Termination>) {
    let split = text.strip_suffix('）').and_then(|text| text.rsplit_once('（'));
    match split.map(|(verdict, word)| (verdict, read(word))) {
        None | Some((_, Termination::Other(_))) => (text, None),
        Some((verdict, end)) => (verdict, Some(end)),
    }
}

/// The line that sums a game up, when it is this side's turn at its end; none if there is nothing to
/// say.
pub(super) fn write_summary(
    moves: usize,
    end: Option<&Termination>,
    result: GameResult,
    turn: Side,
    handicap: bool,
) -> Option<String> {
    let name = |side| match (side, handicap) {
        (Side::First, false) => "先手",
        (Side::First, true) => "下手",
        (Side::Second, false) => "後手",
        (Side::Second, true) => "上手",
    };
    let known = end.map(|end| known_end(end, result, turn));
    let words = match (&known, result) {
        (None, GameResult::Unknown) => return None,
        (None, GameResult::Draw) => "引き分け".to_owned(),
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
        (Some(Termination::Forfeit), GameResult::Win(side)) if known.as_ref() == end => {
            format!("{}の不戦敗", name(side.other()))
        }
        (Some(Termination::WinByForfeit), GameResult::Win(side)) if known.as_ref() == end => {
            format!("{}の不戦勝", name(side))
        }
        (
            None
            | Some(
                Termination::Resignation
                | Termination::Forfeit
                | Termination::WinByForfeit
                | Termination::Adjudication
                | Termination::Try,
            ),
            GameResult::Win(side),
        ) => format!("{}の勝ち", name(side)),
        // No result follows from these.
        (
            Some(
                known @ (Termination::Adjudication
                | Termination::Interrupted
                | Termination::NoMate
                | Termination::TakeBack
                | Termination::Error
                | Termination::Try
                | Termination::EngineFailure
                | Termination::Other(_)),
            ),
            GameResult::Win(_) | GameResult::Draw,
        ) => match result {
            GameResult::Win(side) => format!("{}により{}の勝ち", write(known), name(side)),
            GameResult::Draw | GameResult::Unknown => format!("{}により引き分け", write(known)),
        },
        (Some(known), _) => write(known),
    };
    let is_named = match (&known, result) {
        (Some(Termination::Adjudication | Termination::Try), GameResult::Win(_)) => false,
        (_, GameResult::Unknown) => true,
        (known, _) => known.as_ref() == end,
    };
    let end = end.filter(|_| !is_named);
    let exact = end.map(|end| format!("（{}）", write(end))).unwrap_or_default();
    Some(format!("まで{moves}手で{words}{exact}"))
}
