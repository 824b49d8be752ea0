//! The names of ends of a game, and the summary line.

use crate::{GameOutcome, GameResult, Side, Termination};

use super::super::End;

/// Each termination with its name.
const ENDS: [(Termination, &str); 19] = [
    (Termination::Resignation, "投了"),
    (Termination::Checkmate, "詰み"),
    (Termination::Repetition, "千日手"),
    (Termination::PerpetualCheck, "連続王手の千日手"),
    (Termination::Impasse, "持将棋"),
    (Termination::Declaration, "入玉勝ち"),
    (Termination::TimeForfeit, "切れ負け"),
    (Termination::IllegalMove, "反則負け"),
    (Termination::Forfeit, "不戦敗"),
    (Termination::DrawAgreement, "引き分け"),
    (Termination::MoveLimit, "最大手数"),
    (Termination::Aborted, "中断"),
    (Termination::NoMate, "不詰"),
    (Termination::TakeBack, "待った"),
    (Termination::Adjudication, "裁定"),
    (Termination::Error, "エラー"),
    (Termination::TryRule, "トライ"),
    (Termination::FailedDeclaration, "宣言失敗"),
    (Termination::EngineFailure, "エンジン異常"),
];

/// Names of terminations by which the side to move wins.
const WINS: [(Termination, &str); 2] =
    [(Termination::IllegalMove, "反則勝ち"), (Termination::Forfeit, "不戦勝")];

/// Other names, which are read only.
const MORE_ENDS: [(Termination, &str); 4] = [
    (Termination::Declaration, "入玉宣言"),
    (Termination::Declaration, "宣言勝ち"),
    (Termination::TimeForfeit, "時間切れ"),
    (Termination::Checkmate, "詰"),
];

/// The end with a name when it is this side's turn.
pub(super) fn read(name: &str, turn: Side) -> End {
    // Reading must not turn a name into a known one that was not known when it was written.
    let name = writable(name);
    let find = |names: &[(Termination, &str)]| {
        names.iter().find(|(_, known)| *known == name).map(|(termination, _)| *termination)
    };
    if let Some(termination) = find(&WINS) {
        return GameOutcome::won(turn, termination).into();
    }
    match find(&ENDS).or_else(|| find(&MORE_ENDS)) {
        Some(termination) => End::implied(termination, turn),
        None => End::other(name),
    }
}

/// The part of an end's name that can be written. A name that begins like a move would be read as one.
fn writable(name: &str) -> String {
    let name =
        name.replace(|letter: char| letter.is_control() || matches!(letter, '(' | '+' | '：'), " ");
    let name = name.trim_start_matches(|letter: char| {
        letter == '同'
            || letter.is_whitespace()
            || super::super::shogi::wide_digit(letter).is_some()
    });
    name.trim_end().to_owned()
}

/// The name of a termination with this result when it is this side's turn.
pub(super) fn write(
    termination: Termination,
    text: Option<&str>,
    result: GameResult,
    turn: Side,
) -> String {
    let termination = match termination.general() {
        Termination::Stalemate => Termination::Checkmate,
        Termination::FiftyMoveRule
        | Termination::InsufficientMaterial
        | Termination::TimeoutInsufficientMaterial => Termination::DrawAgreement,
        Termination::Other => {
            let name = writable(text.unwrap_or_default());
            return if name.is_empty() { "中断".to_owned() } else { name };
        }
        other => other,
    };
    let wins = WINS.iter().filter(|_| result == GameResult::Win(turn));
    let found = wins.chain(&ENDS).find(|(known, _)| *known == termination);
    found.map_or("中断", |(_, name)| name).to_owned()
}

/// The termination for the line of the end when it is this side's turn: one that other programs know,
/// and that implies the result if any does. The summary has the exact one.
pub(super) fn known_end(termination: Termination, result: GameResult, turn: Side) -> Termination {
    match (termination.general(), result) {
        // These imply no winner; the summary states it.
        (
            known @ (Termination::Adjudication
            | Termination::Aborted
            | Termination::NoMate
            | Termination::TakeBack
            | Termination::Error
            | Termination::TryRule
            | Termination::Other),
            _,
        ) => known,
        // Other programs know these as fouls.
        (Termination::PerpetualCheck | Termination::FailedDeclaration, GameResult::Win(_)) => {
            Termination::IllegalMove
        }
        (known, _) => known.implying(result, turn),
    }
}

/// The content of a line like `まで57手で先手の勝ち`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) result: GameResult,
    /// `None` if the line states only the winner.
    pub(super) end: Option<End>,
    /// The end is in brackets after the result, and more specific than the line of the end.
    pub(super) is_exact: bool,
}

pub(super) fn read_summary(line: &str, turn: Side) -> Summary {
    let text = line.trim_start_matches("まで");
    let text = text.trim_start_matches(|letter| super::super::shogi::wide_digit(letter).is_some());
    let text = text.trim_start_matches("手").trim_start_matches("で").trim();
    let (text, exact) = exact_end(text, turn);
    // The reason can also name a side: 先手の反則により後手の勝ち.
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
    // The last names are parts of other ones.
    let mut known = MORE_ENDS.iter().take(3).chain(&WINS).chain(ENDS.iter().rev());
    let end = if let Some((_, name)) = known.find(|(_, name)| text.contains(name)) {
        Some(read(name, turn))
    } else if text.ends_with("の勝ち") {
        Some(writable(reason)).filter(|reason| !reason.is_empty()).map(End::other)
    } else if text == "詰" {
        Some(End::implied(Termination::Checkmate, turn))
    } else if text.is_empty() {
        Some(End::implied(Termination::Aborted, turn))
    } else {
        Some(End::other(text))
    };
    Summary { result, end, is_exact: false }
}

/// Splits the end in brackets from a verdict such as `後手の勝ち（投了）`.
fn exact_end(text: &str, turn: Side) -> (&str, Option<End>) {
    let split = text.strip_suffix('）').and_then(|text| text.rsplit_once('（'));
    match split.map(|(verdict, name)| (verdict, read(name, turn))) {
        Some((verdict, end)) if end.outcome.termination != Termination::Other => {
            (verdict, Some(end))
        }
        None | Some(_) => (text, None),
    }
}

/// The summary line when it is this side's turn at the end. `None` if nothing is known.
pub(super) fn write_summary(
    moves: usize,
    end: Option<&End>,
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
    let text = end.and_then(|end| end.text.as_deref());
    let exact = end.map(|end| end.outcome.termination.general());
    let known = exact.map(|termination| known_end(termination, result, turn));
    let written = |termination| write(termination, text, result, turn);
    let verdict = match (known, result) {
        (None, GameResult::Unknown) => return None,
        (None, GameResult::Draw) => "引き分け".to_owned(),
        (Some(Termination::TimeForfeit), GameResult::Win(side)) => {
            format!("時間切れにより{}の勝ち", name(side))
        }
        (Some(Termination::IllegalMove), GameResult::Win(side)) if side == turn => {
            format!("{}の反則勝ち", name(side))
        }
        (Some(Termination::IllegalMove), GameResult::Win(side)) => {
            format!("{}の反則負け", name(side.other()))
        }
        (Some(Termination::Declaration), GameResult::Win(side)) => {
            format!("{}の入玉勝ち", name(side))
        }
        (Some(Termination::Forfeit), GameResult::Win(side)) if known == exact && side == turn => {
            format!("{}の不戦勝", name(side))
        }
        (Some(Termination::Forfeit), GameResult::Win(side)) if known == exact => {
            format!("{}の不戦敗", name(side.other()))
        }
        (
            None
            | Some(
                Termination::Resignation
                | Termination::Forfeit
                | Termination::Adjudication
                | Termination::TryRule,
            ),
            GameResult::Win(side),
        ) => format!("{}の勝ち", name(side)),
        // These imply no result.
        (
            Some(
                known @ (Termination::Adjudication
                | Termination::Aborted
                | Termination::NoMate
                | Termination::TakeBack
                | Termination::Error
                | Termination::TryRule
                | Termination::EngineFailure
                | Termination::Other),
            ),
            GameResult::Win(_) | GameResult::Draw,
        ) => match result {
            GameResult::Win(side) => format!("{}により{}の勝ち", written(known), name(side)),
            GameResult::Draw | GameResult::Unknown => format!("{}により引き分け", written(known)),
        },
        (Some(known), _) => written(known),
    };
    let is_named = match (known, result) {
        (Some(Termination::Adjudication | Termination::TryRule), GameResult::Win(_)) => false,
        (_, GameResult::Unknown) => true,
        (known, _) => known == exact,
    };
    let exact = exact.filter(|_| !is_named);
    let exact = exact.map(|exact| format!("（{}）", written(exact))).unwrap_or_default();
    Some(format!("まで{moves}手で{verdict}{exact}"))
}
