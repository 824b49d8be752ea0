//! CSA, the format of the Computer Shogi Association: versions 2.2 and 3.0.
//!
//! Written as 2.2, or as 3.0 where a game needs it (times with fractions, the end `%MAX_MOVES`).
//! The first line names the encoding, as 3.0 wants; to 2.2 it is a comment.
//!
//! # Ends
//! A word with `%` implies the winner by the side to move. A game that the other side lost, such as
//! by resigning during the opponent's turn, is written as an illegal action of the loser. An end that
//! its word does not tell stands in a summary in the form of shogi-server:
//! `'summary:toryo:Alice lose:Bob win`.
//!
//! # What CSA does not hold
//! - Variations: the main line alone is written.
//! - Times finer than a millisecond, the time left, signs (NAGs), marks, comments before a move.
//! - Several comments on a move: they become one of several lines. Blanks around its lines are lost.
//! - Lines of a comment that look like an evaluation, which become one.
//! - A result without an end, and an end without a result that has one.
//! - Headers with line ends or control characters, several players of one side, 上手 and 下手.

mod read;
mod write;

pub(super) use read::Reader;
pub(super) use write::write;

use crate::Side;

use super::{GameRecord, GameResult, Termination};

/// Headers of CSA, with the names that KIF has for them.
const HEADERS: [(&str, &str); 8] = [
    ("EVENT", "棋戦"),
    ("SITE", "場所"),
    ("START_TIME", "開始日時"),
    ("END_TIME", "終了日時"),
    ("TIME_LIMIT", "持ち時間"),
    ("OPENING", "戦型"),
    ("NOTE", "備考"),
    ("ROUND", "回戦"),
];

/// Ends without `%`, but for illegal actions, which name their side.
const ENDS: [(Termination, &str); 13] = [
    (Termination::Resignation, "TORYO"),
    (Termination::Interrupted, "CHUDAN"),
    (Termination::Repetition, "SENNICHITE"),
    (Termination::TimeForfeit, "TIME_UP"),
    (Termination::IllegalMove, "ILLEGAL_MOVE"),
    (Termination::Impasse, "JISHOGI"),
    (Termination::Declaration, "KACHI"),
    (Termination::Draw, "HIKIWAKE"),
    (Termination::MoveLimit, "MAX_MOVES"),
    (Termination::TakeBack, "MATTA"),
    (Termination::Checkmate, "TSUMI"),
    (Termination::NoMate, "FUZUMI"),
    (Termination::Error, "ERROR"),
];

/// Names of ends in the summary that shogi-server writes behind a game:
/// `'summary:toryo:Alice lose:Bob win`. It tells what a word with `%` cannot: the winner of a game
/// that ends during the opponent's turn, and ends that CSA has no word for. The last four are known
/// here only.
const SUMMARIES: [(Termination, &str); 20] = [
    (Termination::Resignation, "toryo"),
    (Termination::TimeForfeit, "time up"),
    (Termination::IllegalMove, "illegal move"),
    (Termination::PerpetualCheck, "oute_sennichite"),
    (Termination::Declaration, "kachi"),
    (Termination::FailedDeclaration, "illegal kachi"),
    (Termination::Forfeit, "abnormal"),
    (Termination::Repetition, "sennichite"),
    (Termination::MoveLimit, "max_moves"),
    (Termination::Impasse, "jishogi"),
    (Termination::Interrupted, "chudan"),
    (Termination::Checkmate, "tsumi"),
    (Termination::NoMate, "fuzumi"),
    (Termination::TakeBack, "matta"),
    (Termination::Draw, "hikiwake"),
    (Termination::Error, "error"),
    (Termination::Try, "try"),
    (Termination::Stalemate, "stalemate"),
    (Termination::Adjudication, "adjudication"),
    (Termination::EngineFailure, "engine failure"),
];

/// The end of a word without `%`, when it is this side's turn.
pub(super) fn end_of(word: &str, turn: Side) -> Termination {
    let known = ENDS.iter().find(|(_, known)| *known == word).map(|(end, _)| end.clone());
    known.unwrap_or_else(|| match word.strip_suffix("ILLEGAL_ACTION") {
        Some(sign) if sign.starts_with(sign_of(turn.other())) => Termination::IllegalAction,
        Some(_) => Termination::IllegalMove,
        None => Termination::Other(word.to_owned()),
    })
}

/// The word without `%` from which the result follows, when it is this side's turn, and the
/// summary without its quote where the word does not tell everything.
pub(super) fn words_of(
    end: &Termination,
    result: GameResult,
    turn: Side,
    record: &GameRecord,
) -> (String, Option<String>) {
    let word = match end.implying(result, turn) {
        // As shogi-server does.
        Termination::Forfeit => "TORYO".to_owned(),
        end => word_of(&end, turn),
    };
    let told = end_of(&word, turn);
    let known = if told == end.clone().with_result(result, turn) {
        None
    } else {
        summary_name(end).map(|name| summary(&name, result, record))
    };
    (word, known)
}

/// The word for an end; the nearest one if it is not known here.
fn word_of(end: &Termination, turn: Side) -> String {
    let near = match end {
        // The side to move wins, as it does by declaration, but for what the other did.
        Termination::IllegalAction | Termination::PerpetualCheck | Termination::WinByForfeit => {
            return format!("{}ILLEGAL_ACTION", sign_of(turn.other()));
        }
        Termination::FailedDeclaration => &Termination::IllegalMove,
        Termination::Stalemate => &Termination::Checkmate,
        Termination::FiftyMoves
        | Termination::InsufficientMaterial
        | Termination::TimeWithoutMaterial => &Termination::Draw,
        Termination::Forfeit => &Termination::Resignation,
        Termination::Adjudication | Termination::Try | Termination::EngineFailure => {
            &Termination::Interrupted
        }
        Termination::Other(text) => {
            let word: String = text
                .chars()
                .filter(|letter| letter.is_ascii_alphanumeric() || "_+-".contains(*letter))
                .collect();
            return if word.is_empty() { "CHUDAN".to_owned() } else { word };
        }
        end => end,
    };
    ENDS.iter().find(|(it, _)| it == near).map_or("CHUDAN", |(_, word)| word).to_owned()
}

fn summary_name(end: &Termination) -> Option<String> {
    let near = match end {
        Termination::IllegalAction => &Termination::IllegalMove,
        Termination::WinByForfeit => &Termination::Forfeit,
        Termination::Other(text) => {
            let name = text.replace(|letter: char| letter.is_control() || letter == ':', " ");
            return Some(name.trim().to_owned()).filter(|name| !name.is_empty());
        }
        end => end,
    };
    SUMMARIES.iter().find(|(it, _)| it == near).map(|(_, name)| (*name).to_owned())
}

fn summary(name: &str, result: GameResult, record: &GameRecord) -> String {
    let side = |side: Side| {
        let outcome = match result {
            GameResult::Win(winner) if winner == side => "win",
            GameResult::Win(_) => "lose",
            GameResult::Draw => "draw",
            GameResult::Unknown => "censored",
        };
        let player = record.player(side).unwrap_or_default();
        format!("{} {outcome}", player.replace(char::is_control, " ").trim())
    };
    format!("summary:{name}:{}:{}", side(Side::First), side(Side::Second))
}

/// The end and the result that a summary tells when it is this side's turn; none if the text is no
/// summary.
pub(super) fn read_summary(text: &str, turn: Side) -> Option<(Termination, GameResult)> {
    let (name, players) = text.trim().strip_prefix("summary:")?.split_once(':')?;
    // Names of players can contain anything, but the last word is the outcome of the second.
    let result = match players.rsplit(' ').next()? {
        "win" => GameResult::Win(Side::Second),
        "lose" => GameResult::Win(Side::First),
        "draw" => GameResult::Draw,
        "censored" => GameResult::Unknown,
        _ => return None,
    };
    let name = name.trim();
    let known = SUMMARIES.iter().find(|(_, known)| *known == name).map(|(end, _)| end.clone());
    let end = match known {
        Some(end) => end.with_result(result, turn),
        None if name.is_empty() => return None,
        None => Termination::Other(name.to_owned()),
    };
    Some((end, result))
}

/// The sign of a side.
fn sign_of(side: Side) -> char {
    match side {
        Side::First => '+',
        Side::Second => '-',
    }
}
