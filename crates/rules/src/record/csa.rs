//! CSA, the format of the Computer Shogi Association: versions 2.2 and 3.0.
//!
//! Written as 2.2, or as 3.0 where a game needs it (times with fractions, the end `%MAX_MOVES`).
//! The first line names the encoding, as 3.0 wants; to 2.2 it is a comment.
//!
//! # What CSA does not hold
//! - Variations: the main line alone is written.
//! - Times finer than a millisecond, the time left, signs (NAGs), marks, comments before a move.
//! - Several comments on a move: they become one of several lines. Blanks around its lines are lost.
//! - Lines of a comment that look like an evaluation, which become one.
//! - A result that does not follow from the end, and ends that CSA has no word for: `%CHUDAN` or the
//!   nearest is written.
//! - Headers with line ends or control characters, several players of one side, 上手 and 下手.

mod read;
mod write;

pub(super) use read::Reader;
pub(super) use write::write;

use super::Termination;

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

/// The end of a word without `%`; `opponents` is the sign of the side that is not to move.
pub(super) fn end_of(word: &str, opponents: char) -> Termination {
    let known = ENDS.iter().find(|(_, known)| *known == word).map(|(end, _)| end.clone());
    known.unwrap_or_else(|| match word.strip_suffix("ILLEGAL_ACTION") {
        Some(sign) if sign.starts_with(opponents) => Termination::IllegalAction,
        Some(_) => Termination::IllegalMove,
        None => Termination::Other(word.to_owned()),
    })
}

/// The word for an end; none if it is not known here.
pub(super) fn word_of(end: &Termination, opponents: char) -> String {
    let near = match end {
        // The side to move wins, as it does by declaration, but for what the other did.
        Termination::IllegalAction | Termination::PerpetualCheck | Termination::WinByForfeit => {
            return format!("{opponents}ILLEGAL_ACTION");
        }
        Termination::Stalemate => &Termination::Checkmate,
        Termination::FiftyMoves | Termination::InsufficientMaterial => &Termination::Draw,
        Termination::Forfeit => &Termination::TimeForfeit,
        Termination::Adjudication => &Termination::Interrupted,
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
