//! `readyok analyse --input`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use readyok_client::WinModel;
use readyok_protocol::Go;
use readyok_rules::record::NumberRange;

use super::Args;
use crate::address::Address;
use crate::analyse::{
    Batch, BatchEngine, Form, PlyChoice, SearchSettings, SummaryForm, run as run_batch,
};
use crate::cli::convert::InputArgs;
use crate::convert::FileFormat;
use crate::dirs;
use crate::exit::{Code, Failure};

/// Search time of a position without another limit.
const DEFAULT_TIME: Duration = Duration::from_secs(1);

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Positions of files")]
#[expect(clippy::struct_excessive_bools, reason = "independent flags")]
pub(super) struct BatchArgs {
    /// Analyse the positions of files: EPD, FEN, SFEN, lines of moves, or records in any format; `-` for standard input
    #[arg(
        long,
        value_name = "FILES",
        num_args = 1..,
        conflicts_with_all = ["startpos", "fen", "sfen", "moves", "searchmoves", "infinite", "syzygy", "plain"]
    )]
    input: Vec<OsString>,
    /// Run N processes of each engine; 0 for one per core
    #[arg(short, long, value_name = "N", default_value_t = 1, requires = "input")]
    jobs: usize,
    /// Analyse all positions of each game
    #[arg(long, requires = "input")]
    all: bool,
    /// Analyse the positions of each game after these plies: 20..60, 20.. or 20
    #[arg(long, value_name = "RANGE", requires = "input")]
    plies: Option<NumberRange>,
    /// Analyse the positions of each game at every N plies
    #[arg(long, value_name = "N", requires = "input", value_parser = clap::value_parser!(u32).range(1..))]
    every: Option<u32>,
    /// Write to a file, and continue an interrupted run [default: standard output]
    #[arg(short, long, value_name = "FILE", requires = "input")]
    output: Option<PathBuf>,
    /// Write EPD (chess only) with the operations ce, dm, acd, acn, acs and pv [default: JSON lines, or from the extension of the output]
    #[arg(long, requires = "input", conflicts_with = "json")]
    epd: bool,
    /// Add win percentage and expected score by a model: lichess, sf12 to sf18, or lishogi for shogi
    #[arg(long, value_name = "MODEL", requires = "input", value_parser = win_model)]
    win_model: Option<WinModel>,
    /// Print the summary in this form, on standard error or, with --output, on standard output
    #[arg(long, value_enum, value_name = "FORM", default_value_t, requires = "input")]
    summary: SummaryForm,
    /// Do not send `ucinewgame` before each position
    #[arg(long, requires = "input")]
    keep_hash: bool,
    /// End at the first line or game that cannot be read
    #[arg(long, requires = "input")]
    strict: bool,
    /// Discard the progress of an earlier run
    #[arg(long, requires = "output")]
    restart: bool,
    #[command(flatten)]
    files: InputArgs,
}

fn win_model(name: &str) -> Result<WinModel, String> {
    WinModel::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = WinModel::NAMES.iter().map(|(name, _)| *name).collect();
        format!("expected one of {}", names.join(", "))
    })
}

impl BatchArgs {
    pub(super) fn is_requested(&self) -> bool {
        !self.input.is_empty()
    }
}

pub(super) fn run(args: Args) -> Result<Code, Failure> {
    let Args {
        engines,
        engine,
        position,
        limit,
        multipv,
        options,
        start,
        notation,
        json,
        batch,
        ..
    } = args;
    let (files, read) = batch.files.files(&batch.input)?;
    let go = limit.go();
    let is_bare = go.is_bare() && limit.mate.is_none();
    let go = if is_bare { Go { move_time: Some(DEFAULT_TIME), ..go } } else { go };
    let mut named: Vec<BatchEngine> = Vec::new();
    for text in engines.into_iter().chain(engine) {
        let address = Address::find(&text, &dirs::env).map_err(Failure::usage)?;
        let same = named.iter().filter(|known| known.name == text).count();
        // Engines of the same name differ by their number.
        let name = if same == 0 { text } else { format!("{text} ({})", named.len() + 1) };
        named.push(BatchEngine { name, address: start.apply(address) });
    }
    if named.is_empty() {
        return Err(Failure::usage("--input needs an engine"));
    }
    let output = batch.output.filter(|path| path.as_os_str() != "-");
    let extension = output.as_deref().and_then(FileFormat::of);
    let is_epd = batch.epd || !json && extension == Some(FileFormat::Epd);
    if is_epd && named.len() > 1 {
        return Err(Failure::usage("annotated EPD has the analysis of one engine; use --json"));
    }
    let plies = match (batch.all, batch.plies, batch.every) {
        (true, None, None) => Some(NumberRange { min: 0, max: i64::MAX }),
        (_, plies, _) => plies,
    };
    run_batch(&Batch {
        files,
        read,
        choice: PlyChoice { plies, every: batch.every },
        game: position.game,
        engines: named,
        jobs: match batch.jobs {
            0 => thread::available_parallelism().map_or(1, usize::from),
            number => number,
        },
        search: SearchSettings {
            go,
            mate: limit.mate,
            multipv,
            options,
            keep_hash: batch.keep_hash,
        },
        form: Form { is_epd, notation: notation.into(), model: batch.win_model },
        output,
        summary: batch.summary,
        restart: batch.restart,
        is_strict: batch.strict,
        is_lenient: batch.files.lenient,
    })
}
