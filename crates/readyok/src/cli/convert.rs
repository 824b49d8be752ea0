//! `readyok convert`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ValueEnum;
use readyok_rules::Notation;
use readyok_rules::record::{self, Condition, Feature, InputEncoding, PgnOptions};

use super::filter::FilterArgs;
use crate::convert::{
    Compression, Content, Conversion, Destination, Duplicates, FileFormat, Files, MAX_RATIO, Mode,
    Order, PositionChoice, ReadOptions, Renderer, Selection, SortKey, Source, Split, SplitKey,
    StatsForm, input_encoding, is_directory, output_encoding, run as run_conversion,
};
use crate::exit::{Code, Failure};

const HELP: &str = "\
FILES are record files, patterns, directories with --recursive, or `-` for standard input (the default). Compressed files are read directly.

Games that lose moves are reported on standard error, and the exit code is 1 unless --lenient is given. A summary names what the output format cannot hold, such as variations in CSA.

All conditions must hold; of several values of one option, any. Texts match in any case, and their parts in any order: `--player 'magnus carlsen'`. Ranges have the form 2400..2600, 2400.. or ..2600.

Terms of --pattern, which hold in one position:
  on=Nd5,-e4,[bn]f6   pieces on squares; - is no piece, ! any piece, and A and a
                      any piece of the first and of the second side
  board=PLACEMENT     a FEN or an SFEN with these wildcards; ? is any square,
                      * the rest of a row
  pawns=PLACEMENT     exactly these pawns
  R=1..2 p=4 B*=1..   pieces on the board, in lower case of the second side;
                      with * in hand (shogi)
  material=KRPvKR     the pieces of both sides, of either color
  balance=2..         the value of the first side's pieces minus the other's
  bishops=opposite    bishops on squares of opposite colors, or the same
  turn=w ply=20..60   the side to move, and the number of moves before
  for=8               for this number of successive positions
  flip=sides,files    also with the sides or the files exchanged

Examples:
  readyok convert games.pgn.zst --player carlsen --result win -o wins.pgn
  readyok convert -r kifu/ --to csa -o csa/
  readyok convert *.pgn --no-duplicates --sort date -o all.pgn.gz
  readyok convert games.pgn --moves 'e4 c5 Nf3' --date 2020.. \\
      --rating 2500.. --count
  readyok convert games.pgn --stats \\
      --position 'r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b'
  readyok convert games.pgn --pattern 'bishops=opposite R=0 r=0 for=10'
  readyok convert games.pgn --check";

/// Convert, filter, sort, split and check game records
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    /// Record files: PGN, KIF, KI2, CSA, JKF, USI, FEN or EPD
    #[arg(value_name = "FILES")]
    files: Vec<OsString>,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    content: ContentArgs,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    selection: SelectionArgs,
    #[command(flatten)]
    report: ReportArgs,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Input")]
pub(super) struct InputArgs {
    /// Read the record files in directories and their subdirectories
    #[arg(short, long)]
    recursive: bool,
    /// Read only files in directories whose name or path matches; repeatable
    #[arg(short, long, value_name = "GLOB")]
    glob: Vec<String>,
    /// Set the input format [default: from the file extension or the content]
    #[arg(long, value_enum, value_name = "FORMAT")]
    from: Option<FileFormat>,
    /// Set the input encoding, such as windows-1252 or `shift_jis` [default: detected]
    #[arg(long, value_name = "ENCODING", value_parser = input_encoding)]
    encoding: Option<InputEncoding>,
    /// Read compressed files up to N times their size, and always 64 MiB; 0 for no limit
    #[arg(long, value_name = "N", default_value_t = MAX_RATIO)]
    max_ratio: u32,
    /// Exit with 0 although moves of games were lost
    #[arg(long)]
    pub(super) lenient: bool,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(super) struct OutputArgs {
    /// Set the output format [default: from the extension of the output, or the input format]
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<FileFormat>,
    /// Write to a file, or to a directory with a file for each input file [default: standard output]
    #[arg(short, long, value_name = "FILE|DIR")]
    output: Option<PathBuf>,
    /// Compress the output [default: from the extension .gz, .bz2 or .zst of the output]
    #[arg(long, value_enum, value_name = "FORMAT")]
    compress: Option<Compression>,
    /// Set the output encoding, such as `shift_jis` [default: utf-8]
    #[arg(long, value_name = "ENCODING", value_parser = output_encoding)]
    output_encoding: Option<record::Encoding>,
    /// Set the notation of moves in PGN
    #[arg(long, value_enum, default_value_t = NotationArg::San)]
    notation: NotationArg,
    /// Write these positions of each game in FEN, SFEN and EPD: first, last, all, or a ply
    #[arg(long, value_name = "WHICH", default_value = "last")]
    positions: PositionChoice,
    /// Write N games per file
    #[arg(long, value_name = "N", conflicts_with = "split_by", value_parser = clap::value_parser!(u64).range(1..))]
    split: Option<u64>,
    /// Write a file for each value of a property
    #[arg(long, value_enum, value_name = "PROPERTY")]
    split_by: Option<SplitKey>,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Content")]
#[expect(clippy::struct_excessive_bools, reason = "independent flags")]
pub(super) struct ContentArgs {
    /// Remove comments
    #[arg(short = 'C', long, visible_alias = "nocomments")]
    no_comments: bool,
    /// Remove variations
    #[arg(short = 'V', long, visible_alias = "novars")]
    no_variations: bool,
    /// Remove numeric annotation glyphs such as `!` and `?`
    #[arg(short = 'N', long, visible_alias = "nonags")]
    no_nags: bool,
    /// Remove clock times and times of moves
    #[arg(long)]
    no_clocks: bool,
    /// Remove evaluations
    #[arg(long)]
    no_evals: bool,
    /// Remove marked squares and arrows
    #[arg(long)]
    no_marks: bool,
    /// Remove all of these
    #[arg(long)]
    bare: bool,
    /// Write only the seven headers of the PGN roster
    #[arg(short = '7', long, visible_alias = "seven")]
    roster: bool,
    /// Write at most N plies of each game
    #[arg(long, value_name = "N", visible_alias = "plylimit")]
    truncate: Option<usize>,
    /// Set the headers ECO and Opening from the moves
    #[arg(short = 'e', long)]
    classify: bool,
    /// Set the header `PlyCount`
    #[arg(long, visible_alias = "plycount")]
    ply_count: bool,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Selection")]
pub(super) struct SelectionArgs {
    /// Of games with the same moves, and the same known players or event, keep the most annotated one
    #[arg(short = 'D', long, visible_alias = "noduplicates")]
    no_duplicates: bool,
    /// Select only the games that --no-duplicates omits
    #[arg(short = 'U', long, conflicts_with = "no_duplicates")]
    only_duplicates: bool,
    #[command(flatten)]
    chosen: ChosenArgs,
}

/// The number and order of the selected games.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Selection")]
pub(super) struct ChosenArgs {
    /// Select N games at random
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// Set the seed of --sample
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Sort the games, by several properties if separated by commas
    #[arg(long, value_enum, value_name = "PROPERTY", value_delimiter = ',')]
    sort: Vec<SortKey>,
    /// Sort the games in descending order
    #[arg(
        long,
        value_enum,
        value_name = "PROPERTY",
        value_delimiter = ',',
        conflicts_with = "sort"
    )]
    sortr: Vec<SortKey>,
    /// Omit the first N selected games
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: u64,
    /// Stop after N selected games
    #[arg(short = 'm', long, value_name = "N", visible_alias = "max-count")]
    first: Option<u64>,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Reports")]
#[group(multiple = false)]
struct ReportArgs {
    /// Print the number of selected games
    #[arg(short, long)]
    count: bool,
    /// Print statistics of the selected games
    #[arg(long, value_enum, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "table")]
    stats: Option<StatsForm>,
    /// Print every defect with its location; the exit code is 1 if there is one
    #[arg(long)]
    check: bool,
    /// Print the names of the files with selected games
    #[arg(short = 'l', long)]
    files_with_matches: bool,
}

/// The notations that PGN readers know, by their usual names; [`Notation`] has more.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum NotationArg {
    /// Standard algebraic notation, `Nbd7`
    San,
    /// Long algebraic notation, `Nb8-d7`
    #[value(alias = "lalg")]
    Lan,
    /// UCI notation, `b8d7`
    Uci,
}

pub(super) fn run(args: Args) -> Result<Code, Failure> {
    let Args { files, input, output, content, filter, selection, report } = args;
    let condition = filter.condition();
    let is_lenient = input.lenient;
    let (files, read) = input.files(&files)?;
    let mode = if report.count {
        Mode::Count
    } else if let Some(form) = report.stats {
        Mode::Stats(form)
    } else if report.check {
        Mode::Check
    } else if report.files_with_matches {
        Mode::List
    } else {
        output.mode()?
    };
    let duplicates = if selection.no_duplicates {
        Some(Duplicates::Remove)
    } else {
        selection.only_duplicates.then_some(Duplicates::Only)
    };
    let selection = Selection { duplicates, ..selection.chosen.selection(condition) };
    let content = content.content();
    run_conversion(Conversion {
        source: Source::Files(files, read),
        selection,
        content,
        mode,
        is_lenient,
        prints_json: false,
    })
}

impl ChosenArgs {
    pub(super) fn selection(&self, condition: Condition) -> Selection {
        let sort = if self.sort.is_empty() { &self.sortr } else { &self.sort };
        Selection {
            condition,
            duplicates: None,
            sample: self.sample,
            seed: self.seed,
            order: (!sort.is_empty())
                .then(|| Order { keys: sort.clone(), is_descending: !self.sortr.is_empty() }),
            skip: self.skip,
            first: self.first,
        }
    }
}

impl InputArgs {
    pub(super) fn files(&self, files: &[OsString]) -> Result<(Files, ReadOptions), Failure> {
        let read = ReadOptions {
            format: self.from.map(FileFormat::as_input),
            encoding: self.encoding,
            max_ratio: (self.max_ratio > 0).then_some(self.max_ratio),
        };
        let files = Files::find(files, self.recursive, &self.glob).map_err(Failure::usage)?;
        Ok((files, read))
    }
}

impl OutputArgs {
    pub(super) fn mode(self) -> Result<Mode, Failure> {
        let path = self.output.filter(|path| path.as_os_str() != "-");
        let extension = path.as_deref().filter(|path| !is_directory(path));
        let format = self.to.or_else(|| extension.and_then(FileFormat::of));
        let split = self.split.map(Split::Count).or_else(|| self.split_by.map(Split::By));
        if split.is_some() && path.is_none() {
            return Err(Failure::usage("splitting needs --output"));
        }
        let notation = match self.notation {
            NotationArg::San => Notation::Western,
            NotationArg::Lan => Notation::Long,
            NotationArg::Uci => Notation::Uci,
        };
        let renderer = Renderer {
            format,
            pgn: PgnOptions { notation, ..PgnOptions::default() },
            positions: self.positions,
            encoding: self.output_encoding.unwrap_or_default(),
        };
        let destination = Destination { path, split, compression: self.compress };
        Ok(Mode::Write(Box::new((renderer, destination))))
    }
}

impl ContentArgs {
    pub(super) fn content(&self) -> Content {
        let flags = [
            (self.no_comments, Feature::Comments),
            (self.no_variations, Feature::Variations),
            (self.no_nags, Feature::Nags),
            (self.no_clocks, Feature::Clocks),
            (self.no_evals, Feature::Evaluations),
            (self.no_marks, Feature::Marks),
        ];
        let strip = flags.into_iter().filter(|(is_set, _)| *is_set || self.bare);
        Content {
            strip: strip.map(|(_, feature)| feature).collect(),
            roster: self.roster,
            plies: self.truncate,
            classify: self.classify,
            ply_count: self.ply_count,
        }
    }
}
