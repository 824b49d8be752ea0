//! KIF and KI2, the formats of Kifu for Windows and of most programs for shogi.
//!
//! One reader takes both, since KI2 is KIF with other moves: `▲７六歩` with words where needed
//! instead of a number, `７六歩(77)` and a time.
//!
//! # Ends
//! Words such as 投了 imply the winner by the side to move. A game that the other side lost, such as by
//! resigning during the opponent's turn, is written with 反則勝ち after a foul and 不戦勝 otherwise.
//! The summary then has the end in brackets: `まで1手で後手の勝ち（投了）`.
//!
//! # What KIF does not hold
//! - Times finer than a second, the time left, signs (NAGs), marks, comments before a move.
//! - Several comments on a move: they become one of several lines. Blanks around it are lost.
//! - Lines of a comment that look like an evaluation (`#評価値=120`, `#深さ=20`, `#詰み=先手勝ち:5手`)
//!   become one, and evaluations are written so.
//! - A result of a variation that does not follow from its end, and an end without a result that has
//!   one.
//! - Ends that only chess knows are written as the word of the nearest one of shogi.
//! - Headers whose names mean something else in KIF (`手合割`, `まで…`, `変化`, names of hands).
//!
//! # What KI2 does not hold beyond that
//! - Any times, and comments on the end of the game.
//! - A win of which nobody knows how: it reads as resignation.

mod board;
mod moves;
mod read;
mod words;
mod write;

pub(super) use moves::relative;
pub(super) use read::Reader;
pub(super) use write::{write_ki2, write_kif};
