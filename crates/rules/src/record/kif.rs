//! KIF and KI2, the formats of Kifu for Windows and of most programs for shogi.
//!
//! One reader supports both, since KI2 is KIF with other moves: `▲７六歩` with modifiers where needed,
//! instead of a number, `７六歩(77)` and a time.
//!
//! # Ends
//! Names such as 投了 imply the winner by the side to move. A game that the other side lost, such as by
//! resigning during the opponent's turn, is written with 反則勝ち after a foul and 不戦勝 otherwise.
//! The summary then has the end in brackets: `まで1手で後手の勝ち（投了）`.
//!
//! # Limitations of KIF
//! - Times have seconds. Remaining times, NAGs, marks and comments before a move are not written.
//! - Several comments on a move become one comment of several lines. Blanks around it are lost.
//! - A bookmark `&name` is a comment line `&name`, as in JKF.
//! - Evaluations are written as comment lines (`#評価値=120`, `#深さ=20`, `#詰み=先手勝ち:5手`), and
//!   such lines are read as evaluations.
//! - A result of a variation that does not follow from its end is not written, nor an end without a
//!   result that implies one.
//! - Ends that only chess has are written as the most similar one of shogi.
//! - Headers whose names have another meaning in KIF (`手合割`, `まで…`, `変化`, names of hands) are not
//!   written.
//!
//! # Further limitations of KI2
//! - Times and comments on the end of the game are not written.
//! - A win of unknown cause is read as resignation.

mod board;
mod ends;
mod moves;
mod read;
mod write;

use super::format::Certainty;

pub(super) use moves::relative;
pub(super) use read::KifReader;
pub(super) use write::{KI2, KIF, can_be_a_header, write_ki2, write_kif};

/// Whether a line begins a file of KIF. Headers of KI2 look the same, but KI2 has no line above its moves.
pub(super) fn detect_kif(line: &str, _: &str) -> Option<Certainty> {
    if ["#KIF", "# ---", "手数--", "手合割："].iter().any(|start| line.starts_with(start))
        || line.contains('：')
    {
        return Some(Certainty::Likely);
    }
    let number = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_numbered = number.len() < line.len() && number.starts_with(' ') && !number.is_ascii();
    (is_numbered || begins_a_move(line) && line.contains('(')).then_some(Certainty::Possible)
}

/// Whether a line begins a file of KI2.
pub(super) fn detect_ki2(line: &str, _: &str) -> Option<Certainty> {
    if line.starts_with(SIDE_MARKS) {
        return Some(Certainty::Certain);
    }
    (begins_a_move(line) && !line.contains('(')).then_some(Certainty::Possible)
}

fn begins_a_move(line: &str) -> bool {
    !line.starts_with(|letter: char| letter.is_ascii()) && moves::begins_a_square(line)
}

/// The marks of the sides before moves of KI2.
const SIDE_MARKS: [char; 6] = ['▲', '△', '▼', '▽', '☗', '☖'];
