//! What the formats of shogi share: names of pieces and squares, set-up boards, handicaps, and a
//! record that is being read.

mod board;
mod draft;
mod notes;
mod walk;
mod words;

pub(super) use board::{Handicap, Setup};
pub(super) use draft::Draft;
pub(super) use notes::{evaluation_lines, flat_comment, take_comment};
pub(super) use walk::{Step, Walk};
pub(super) use words::{
    csa_name, kanji_name, kanji_rank, piece_by_csa, piece_by_kanji, square, square_of, wide_digit,
    wide_file,
};
