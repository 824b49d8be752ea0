//! `readyok convert`: reads, filters, sorts and writes the games of record files.

mod duplicates;
mod encoding;
mod format;
mod input;
mod losses;
mod output;
mod progress;
mod render;
mod run;
mod select;
mod sort;
mod stats;

pub(crate) use encoding::{input_encoding, output_encoding};
pub(crate) use format::FileFormat;
pub(crate) use input::{Files, Games, ReadOptions};
pub(crate) use losses::{LossReport, Origin};
pub(crate) use output::{
    Destination, Output, Rendered, Split, SplitKey, is_directory, replace_file,
};
pub(crate) use progress::{Progress, grouped};
pub(crate) use render::{PositionChoice, Renderer};
pub(crate) use run::{Conversion, Mode, Source, StoredGames, run};
pub(crate) use select::{Content, Duplicates, Selection};
pub(crate) use sort::{Order, SortKey};
pub(crate) use stats::StatsForm;

use readyok_rules::Game;
pub(crate) use readyok_rules::record::compression::{Compression, MAX_RATIO};

/// The name of a game in output.
pub(crate) fn game_name(game: Game) -> &'static str {
    match game {
        Game::Chess => "chess",
        Game::Chess960 => "chess960",
        Game::Shogi => "shogi",
    }
}
