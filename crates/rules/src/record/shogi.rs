//! Shared code for the formats of shogi: names of pieces and squares, board setups, handicaps, and
//! the record under construction.

mod board;
mod draft;
mod names;
mod notes;
mod walk;

pub(super) use board::{Handicap, Setup};
pub(super) use draft::Draft;
pub(super) use names::{
    csa_name, kanji_name, kanji_rank, piece_by_csa, piece_by_kanji, square, square_of, wide_digit,
    wide_file,
};
pub(super) use notes::{evaluation_lines, extract_comment, flat_comment};
pub(super) use walk::{Step, Walk};
