//! CSA, the format of the Computer Shogi Association: versions 2.2 and 3.0.
//!
//! Games are written as 2.2, or as 3.0 if they need it (times with fractions, the end `%MAX_MOVES`).
//! The first line declares the encoding, as 3.0 requires; in 2.2 it is a comment.
//!
//! # Ends
//! A keyword with `%` implies the winner by the side to move. A game that the other side lost, such as
//! by resigning during the opponent's turn, is written as an illegal action of the loser. An end that
//! has no keyword is written in a summary in the form of shogi-server:
//! `'summary:toryo:Alice lose:Bob win`.
//!
//! # Limitations
//! - Variations are not written.
//! - Times have milliseconds. Remaining times, NAGs, marks and comments before a move are not written.
//! - Several comments on a move become one comment of several lines. Blanks around lines are lost.
//! - Comment lines that look like an evaluation become one.
//! - A result without an end, and an end without a result that has one.
//! - Headers with line ends or control characters, and several players of one side. The players of a
//!   handicap game are read as 下手 and 上手.
//! - Headers that CSA lacks are written with their own names; an ASCII name is read with its `$`.

mod read;
mod write;

pub(super) use read::CsaReader;
pub(super) use write::{HOLDS, write};

use crate::{GameOutcome, GameResult, Side, Termination};

use super::{End, GameRecord, format::Certainty};

/// Whether a line begins a file of CSA.
pub(super) fn detect(line: &str, _: &str) -> Option<Certainty> {
    let digit = |rest: &str| rest.starts_with(|letter: char| letter.is_ascii_digit());
    let is_csa = ["'", "N+", "N-", "$", "PI", "P1"].iter().any(|start| line.starts_with(start))
        || line.strip_prefix(['V', '+', '-']).is_some_and(digit);
    is_csa.then_some(Certainty::Likely)
}

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

/// Headers of KIF for the players, which have lines of their own.
const PLAYERS: [&str; 4] = ["先手", "後手", "下手", "上手"];

/// Keywords of ends without `%`, except for illegal actions, which name their side.
const ENDS: [(Termination, &str); 13] = [
    (Termination::Resignation, "TORYO"),
    (Termination::Aborted, "CHUDAN"),
    (Termination::Repetition, "SENNICHITE"),
    (Termination::TimeForfeit, "TIME_UP"),
    (Termination::IllegalMove, "ILLEGAL_MOVE"),
    (Termination::Impasse, "JISHOGI"),
    (Termination::Declaration, "KACHI"),
    (Termination::DrawAgreement, "HIKIWAKE"),
    (Termination::MoveLimit, "MAX_MOVES"),
    (Termination::TakeBack, "MATTA"),
    (Termination::Checkmate, "TSUMI"),
    (Termination::NoMate, "FUZUMI"),
    (Termination::Error, "ERROR"),
];

/// Names of ends in the summary that shogi-server writes after a game:
/// `'summary:toryo:Alice lose:Bob win`. The summary states the winner of a game that ends during the
/// opponent's turn, and ends that have no keyword. The last four are not names of shogi-server.
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
    (Termination::Aborted, "chudan"),
    (Termination::Checkmate, "tsumi"),
    (Termination::NoMate, "fuzumi"),
    (Termination::TakeBack, "matta"),
    (Termination::DrawAgreement, "hikiwake"),
    (Termination::Error, "error"),
    (Termination::TryRule, "try"),
    (Termination::Stalemate, "stalemate"),
    (Termination::Adjudication, "adjudication"),
    (Termination::EngineFailure, "engine failure"),
];

/// The end of a keyword without `%` when it is this side's turn.
pub(super) fn end_of(name: &str, turn: Side) -> End {
    if let Some((termination, _)) = ENDS.iter().find(|(_, known)| *known == name) {
        return End::implied(*termination, turn);
    }
    match name.strip_suffix("ILLEGAL_ACTION") {
        Some(sign) => {
            let by_opponent = sign.starts_with(sign_of(turn.other()));
            let loser = if by_opponent { turn.other() } else { turn };
            GameOutcome::lost(loser, Termination::IllegalMove).into()
        }
        None => End::other(name),
    }
}

/// The keyword without `%` that implies the result when it is this side's turn. Also the summary
/// without its quote if the keyword does not state everything.
pub(super) fn keyword_and_summary(
    end: &End,
    result: GameResult,
    turn: Side,
    record: &GameRecord,
) -> (String, Option<String>) {
    let termination = end.outcome.termination.general();
    let name = name_of(termination.implying(result, turn), end.text.as_deref(), result, turn);
    let stated = end_of(&name, turn);
    let is_complete = stated.outcome.termination == termination && stated.text == end.text;
    let summary_name = (!is_complete).then(|| summary_name(termination, end.text.as_deref()));
    (name, summary_name.flatten().map(|name| summary(&name, result, record)))
}

/// The keyword of a termination, or of the most similar one that CSA has.
fn name_of(termination: Termination, text: Option<&str>, result: GameResult, turn: Side) -> String {
    let near = match termination {
        Termination::IllegalMove | Termination::Forfeit if result == GameResult::Win(turn) => {
            return format!("{}ILLEGAL_ACTION", sign_of(turn.other()));
        }
        // The side to move wins.
        Termination::PerpetualCheck => return format!("{}ILLEGAL_ACTION", sign_of(turn.other())),
        Termination::FailedDeclaration => Termination::IllegalMove,
        Termination::Stalemate => Termination::Checkmate,
        Termination::FiftyMoveRule
        | Termination::InsufficientMaterial
        | Termination::TimeoutInsufficientMaterial => Termination::DrawAgreement,
        // As shogi-server does.
        Termination::Forfeit => Termination::Resignation,
        Termination::Adjudication | Termination::TryRule | Termination::EngineFailure => {
            Termination::Aborted
        }
        Termination::Other => {
            let name: String = text
                .unwrap_or_default()
                .chars()
                .filter(|letter| letter.is_ascii_alphanumeric() || "_+-".contains(*letter))
                .collect();
            return if name.is_empty() { "CHUDAN".to_owned() } else { name };
        }
        other => other,
    };
    ENDS.iter().find(|(known, _)| *known == near).map_or("CHUDAN", |(_, name)| name).to_owned()
}

fn summary_name(termination: Termination, text: Option<&str>) -> Option<String> {
    if termination == Termination::Other {
        let name = text
            .unwrap_or_default()
            .replace(|letter: char| letter.is_control() || letter == ':', " ");
        return Some(name.trim().to_owned()).filter(|name| !name.is_empty());
    }
    SUMMARIES.iter().find(|(known, _)| *known == termination).map(|(_, name)| (*name).to_owned())
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

/// The end that a summary states. `None` if the text is not a summary.
pub(super) fn read_summary(text: &str) -> Option<End> {
    let (name, players) = text.trim().strip_prefix("summary:")?.split_once(':')?;
    // Players' names can contain anything, but the last token is the result of the second player.
    let result = match players.rsplit(' ').next()? {
        "win" => GameResult::Win(Side::Second),
        "lose" => GameResult::Win(Side::First),
        "draw" => GameResult::Draw,
        "censored" => GameResult::Unknown,
        _ => return None,
    };
    let name = name.trim();
    if name.is_empty() {
        return None;
    }
    let termination = SUMMARIES.iter().find(|(_, known)| *known == name).map(|(known, _)| *known);
    let mut end = match termination {
        Some(termination) => GameOutcome { result, termination }.into(),
        None => End::other(name),
    };
    end.outcome.result = result;
    Some(end)
}

/// The sign of a side.
fn sign_of(side: Side) -> char {
    match side {
        Side::First => '+',
        Side::Second => '-',
    }
}
