//! Shared code for the formats of shogi: names of squares, board setups, handicaps, and
//! the record under construction.

mod board;
mod builder;
mod cursor;
mod reader;
mod text;

pub(super) use crate::shogi::{
    csa_name, kanji_name, piece_by_csa, piece_by_kanji, square, square_of,
};
pub(super) use board::{Handicap, kanji_rank, wide_digit, wide_file};
pub(super) use builder::{RecordBuilder, evaluation_lines, flat_comment};
pub(super) use cursor::{BoardCursor, Step};
pub(super) use reader::{Head, Part, RANKS, ReadShogi};
pub(super) use text::{Totals, comment_text, one_line};
