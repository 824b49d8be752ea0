//! `readyok annotate`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use readyok_protocol::Go;
use readyok_rules::record;

use super::convert::InputArgs;
use super::engine::StartArgs;
use crate::address::Address;
use crate::annotate::{Annotation, EngineSettings, run as run_annotation};
use crate::convert::{Destination, FileFormat, Renderer, is_directory, output_encoding};
use crate::dirs;
use crate::exit::{Code, Failure};

/// Search time of a position without another limit.
const DEFAULT_TIME: Duration = Duration::from_millis(500);

const HELP: &str = "\
Each position of the main line is searched; without a limit, for half a second. The output has evaluations, marks at inaccuracies (?!), mistakes (?) and blunders (??), the better lines as variations, and the accuracy of both players in the headers.

With --output, the progress is stored in FILE.progress. After an interruption, also by SIGKILL, the same command continues.

Examples:
  readyok annotate games.pgn --engine stockfish --nodes 500000 \\
      -o annotated.pgn --concurrency 4
  readyok annotate game.kif --engine yaneuraou --movetime 1000 -o out/
  readyok convert games.pgn --player me --first 10 | \\
      readyok annotate --engine narikin --depth 12";

/// Evaluate every move of games with an engine and mark mistakes
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    /// Record files in any format, or `-` for standard input
    #[arg(value_name = "FILES")]
    files: Vec<OsString>,
    #[command(flatten)]
    input: InputArgs,
    /// Engine to evaluate with: a name from engines.toml, `narikin`, a path, or a program in PATH
    #[arg(short, long)]
    engine: String,
    /// Limit the depth of each search, in plies
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,
    /// Limit the number of nodes of each search
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Limit the time of each search, in milliseconds
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u32).range(1..))]
    movetime: Option<u32>,
    /// Search N principal variations, and insert them at mistakes
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    multipv: u32,
    /// Set an engine option, or push a button; repeatable
    #[arg(long = "option", value_name = "NAME[=VALUE]")]
    options: Vec<String>,
    #[command(flatten)]
    start: StartArgs,
    /// Run N engines, each for another game; 0 for one per core
    #[arg(short = 'j', long, value_name = "N", default_value_t = 1)]
    concurrency: usize,
    /// Write to a file, or to a directory with a file for each input file [default: standard output]
    #[arg(short, long, value_name = "FILE|DIR")]
    output: Option<PathBuf>,
    /// Set the output format [default: from the extension of the output, or the input format]
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<FileFormat>,
    /// Set the output encoding, such as `shift_jis` [default: utf-8]
    #[arg(long, value_name = "ENCODING", value_parser = output_encoding)]
    output_encoding: Option<record::Encoding>,
    /// Do not insert better lines
    #[arg(long)]
    no_lines: bool,
    /// Discard the progress of an earlier run
    #[arg(long)]
    restart: bool,
    /// Do not print a line about each game
    #[arg(short, long)]
    quiet: bool,
}

pub(super) fn run(args: Args) -> Result<Code, Failure> {
    let address = Address::find(&args.engine, &dirs::env).map_err(Failure::usage)?;
    let address = args.start.apply(address);
    let (files, read) = args.input.files(&args.files)?;
    let is_lenient = args.input.lenient;
    let go = Go {
        depth: args.depth,
        nodes: args.nodes,
        move_time: args.movetime.map(|time| Duration::from_millis(time.into())),
        ..Go::default()
    };
    let go = if go.is_bare() { Go { move_time: Some(DEFAULT_TIME), ..go } } else { go };
    let path = args.output.filter(|path| path.as_os_str() != "-");
    let extension = path.as_deref().filter(|path| !is_directory(path));
    let format = args.to.or_else(|| extension.and_then(FileFormat::of));
    let concurrency = match args.concurrency {
        0 => thread::available_parallelism().map_or(1, usize::from),
        number => number,
    };
    run_annotation(&Annotation {
        files,
        read,
        engine: EngineSettings { address, options: args.options, go, lines: args.multipv },
        engine_name: args.engine,
        concurrency,
        insert_lines: !args.no_lines,
        renderer: Renderer {
            format,
            encoding: args.output_encoding.unwrap_or_default(),
            ..Renderer::default()
        },
        destination: Destination { path, split: None, compression: None },
        restart: args.restart,
        is_quiet: args.quiet,
        is_lenient,
    })
}
