//! Shared code for the formats of shogi: names of pieces and squares, board setups, handicaps, and
//! the record under construction.

mod board;
mod draft;
mod walk;

pub(super) use board::{
    Handicap, Setup, csa_name, kanji_name, kanji_rank, piece_by_csa, piece_by_kanji, square,
    square_of, wide_digit, wide_file,
};
pub(super) use draft::{Draft, evaluation_lines, flat_comment};
pub(super) use walk::{Step, Walk};
