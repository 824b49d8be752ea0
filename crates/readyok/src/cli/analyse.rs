//! `readyok analyse`.

mod batch;

use std::io::{self, BufWriter, IsTerminal, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use readyok_client::{EngineError, Limit, Search};
use readyok_protocol::{Dialect, Go};
use readyok_rules::record::MoveLine;
use readyok_rules::{Game, Notation, Syzygy};

use self::batch::BatchArgs;
use crate::address::Address;
use crate::analyse::{
    AnalyseError, AnalysisPosition, AnalysisPositionError, Json, Lines, MoveFormatter, Screen,
    SearchSettings, Start, TablebaseReport, View, analyse,
};
use crate::cli::engine::{StartArgs, print_messages};
use crate::connect::{Messages, start_guard};
use crate::dirs;
use crate::exit::{Code, Failure, Interrupts, on_interrupt};
use crate::terminal::terminal_size;

/// Search time without limits.
const DEFAULT_TIME: Duration = Duration::from_secs(10);

const HELP: &str = "\
ENGINE is the first argument: a name from engines.toml, `narikin`, tcp://host:port, a path, a program in PATH, or a quoted command line.

Examples:
  readyok analyse narikin
  readyok analyse stockfish --moves e4 e5 Nf3 --depth 20 --multipv 3
  readyok analyse stockfish --fen '7k/8/8/8/8/8/R7/1R4K1 w - - 0 1' --mate 2
  readyok analyse fairy-stockfish --game shogi --infinite --notation japanese
  readyok analyse stockfish --option Hash=256 --nodes 1000000 --json
  readyok analyse stockfish --searchmoves e2e4 d2d4 --depth 20
  readyok analyse ./slow-engine --timeout 60
  readyok analyse --syzygy ~/syzygy --fen '8/8/8/8/8/4k3/8/R3K3 w - - 0 1'
  readyok analyse stockfish narikin --input wac.epd sts.epd --nodes 100000
  readyok analyse stockfish --input games.pgn --all --depth 12 --jobs 4 \\
      -o analysis.jsonl
  readyok analyse narikin --input tsume.sfen --mate 5000

With --syzygy, the tablebase result is printed before the search; without ENGINE nothing else is.

Without a limit the search takes ten seconds. With several limits the search ends at the first one reached. Ctrl-C stops the search and prints the result. A second Ctrl-C, or one before the search, kills the engine.

The output is a live table on a terminal, and JSON lines otherwise.

With --input, each position of the files is searched, for a second without a limit. A line is an EPD, a FEN, an SFEN, or moves in any notation. Of a game, the last position is analysed; --all, --plies and --every select others. The best moves (bm), moves to avoid (am), mates (dm) and points of an EPD are scored; a mate search in shogi is scored by its moves. The summary compares the engines.

With --output, the progress is stored in FILE.progress. After an interruption, also by SIGKILL, the same command continues. The exit code is 1 if an engine failed or if a part of the input is not analysed.";

/// Analyse a position with an engine, or the positions of files with several
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    /// Engine to analyse with; several with --input
    #[arg(value_name = "ENGINE", required_unless_present_any = ["syzygy", "engine"])]
    engines: Vec<String>,
    /// Another way to name an engine; repeatable
    #[arg(long, value_name = "ENGINE")]
    engine: Vec<String>,
    #[command(flatten)]
    position: PositionArgs,
    #[command(flatten)]
    limit: LimitArgs,
    /// Print the result of all moves by the Syzygy tablebases in this directory; repeatable
    #[arg(long, value_name = "DIR")]
    syzygy: Vec<PathBuf>,
    /// Report N principal variations
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    multipv: Option<u32>,
    /// Set an engine option, or push a button; repeatable
    #[arg(long = "option", value_name = "NAME[=VALUE]")]
    options: Vec<String>,
    #[command(flatten)]
    start: StartArgs,
    /// Write moves in this notation
    #[arg(long, value_enum, default_value_t = NotationArg::Western)]
    notation: NotationArg,
    /// Print JSON lines, even on a terminal
    #[arg(long, conflicts_with = "plain")]
    json: bool,
    /// Print lines of text instead of a table or JSON
    #[arg(long)]
    plain: bool,
    #[command(flatten)]
    batch: BatchArgs,
}

#[derive(Debug, clap::Args)]
struct PositionArgs {
    /// Start from the initial position of the game (default)
    #[arg(long, conflicts_with_all = ["fen", "sfen"])]
    startpos: bool,
    /// Start from this chess position
    #[arg(long, conflicts_with = "sfen")]
    fen: Option<String>,
    /// Start from this shogi position
    #[arg(long)]
    sfen: Option<String>,
    /// Set the game [default: from the position, the protocol or the moves]
    #[arg(long, value_enum)]
    game: Option<Game>,
    /// Play these moves from the start position: UCI, USI, SAN, or a notation of shogi
    #[arg(long, value_name = "MOVE", num_args = 1..)]
    moves: Vec<String>,
}

#[derive(Debug, clap::Args)]
struct LimitArgs {
    /// Limit the depth, in plies
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,
    /// Limit the number of nodes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Limit the time, in milliseconds
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u32).range(1..))]
    movetime: Option<u32>,
    /// Search for a mate in N moves (chess) or for N milliseconds (shogi)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    mate: Option<u32>,
    /// Search only these root moves, in any notation
    #[arg(long, value_name = "MOVE", num_args = 1..)]
    searchmoves: Vec<String>,
    /// Search until Ctrl-C
    #[arg(long, conflicts_with_all = ["depth", "nodes", "movetime", "mate"])]
    infinite: bool,
}

/// The notations for human readers; [`Notation`] has more.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum NotationArg {
    /// SAN for chess, P-7f for shogi
    Western,
    /// SAN for chess, ▲７六歩 for shogi
    Japanese,
}

pub(super) fn run(args: Args) -> Result<Code, Failure> {
    if args.batch.is_requested() {
        return batch::run(args);
    }
    let form = Form::of(args.json, args.plain);
    let mut engines = args.engines.iter().chain(&args.engine);
    let first = engines.next();
    if engines.next().is_some() {
        return Err(Failure::usage("several engines analyse the positions of files; add --input"));
    }
    let Some(name) = first else {
        let setup = args.position.setup(None).map_err(Failure::usage)?;
        let report = probe(&args.syzygy, &setup)?;
        if let Some(error) = report.error() {
            return Err(Failure::usage(error));
        }
        return print_report(&report, form);
    };
    let address = Address::find(name, &dirs::env).map_err(Failure::usage)?;
    let address = args.start.apply(address);
    let setup = args.position.setup(address.dialect).map_err(Failure::usage)?;
    if address.dialect.is_some_and(|dialect| dialect != setup.dialect()) {
        let needed = setup.dialect().handshake().to_uppercase();
        let listed = format!("`{name}` is listed with another protocol");
        return Err(Failure::usage(format!("this game needs {needed}, but {listed}")));
    }
    let limit = args.limit.limit(&setup).map_err(Failure::usage)?;
    if !args.syzygy.is_empty() {
        print_report(&probe(&args.syzygy, &setup)?, form)?;
    }
    let interrupts = Interrupts::default();
    let handler = interrupts.clone();
    on_interrupt(move || handler.interrupt()).map_err(Failure::failed)?;
    let guard = start_guard().map_err(Failure::failed)?;
    let mut engine = address.open(Some(setup.dialect()), &guard).map_err(Failure::failed)?;
    let mut messages = Messages::of(&address);
    messages.collect(&mut engine);
    for option in &args.options {
        match option.split_once('=') {
            Some((name, value)) => engine.set_option(name.trim(), value),
            None => engine.push_button(option),
        }
        .map_err(Failure::usage)?;
    }
    let mut search = Search::new(limit);
    if let Some(multipv) = args.multipv {
        search = search.lines(multipv);
    }
    let name = &engine.identity().name;
    let title = format!("{name} · {}", setup.position);
    let formatter = MoveFormatter::new(setup.position.clone(), args.notation.into());
    let mut view = view(form, &title, formatter);
    let done = analyse(&mut engine, &setup, search, view.as_mut(), &interrupts);
    messages.collect(&mut engine);
    let error = match &done {
        Err(AnalyseError::Engine(error)) => Some(error),
        Ok(_) | Err(AnalyseError::Output(_)) => None,
    };
    if error.is_some_and(|error| error.problem().is_copy_protection()) {
        messages.forget_copy_protection();
    }
    print_messages(&mut messages, &engine, error.and_then(EngineError::message));
    match done {
        // The reader has closed the pipe.
        Err(AnalyseError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            Ok(Code::Done)
        }
        done => done.map_err(Failure::failed),
    }
}

/// The form of the output.
#[derive(Clone, Copy, Debug)]
enum Form {
    Lines,
    Json,
    Screen,
}

impl Form {
    fn of(json: bool, plain: bool) -> Self {
        let is_terminal = io::stdout().is_terminal();
        let dumb = dirs::env("TERM").is_some_and(|term| term == "dumb");
        if plain || (!json && dumb && is_terminal) {
            Self::Lines
        } else if json || !is_terminal {
            Self::Json
        } else {
            Self::Screen
        }
    }
}

fn view(form: Form, title: &str, formatter: MoveFormatter) -> Box<dyn View> {
    let out = io::stdout();
    match form {
        Form::Lines => Box::new(Lines::new(BufWriter::new(out), formatter)),
        Form::Json => Box::new(Json::new(BufWriter::new(out), formatter)),
        Form::Screen => Box::new(Screen::new(out, terminal_size, title, formatter)),
    }
}

fn probe<'a>(
    directories: &[PathBuf],
    setup: &'a AnalysisPosition,
) -> Result<TablebaseReport<'a>, Failure> {
    let tables = Syzygy::open(directories).map_err(Failure::usage)?;
    Ok(TablebaseReport::new(&tables, &setup.position))
}

fn print_report(report: &TablebaseReport<'_>, form: Form) -> Result<Code, Failure> {
    let mut out = BufWriter::new(io::stdout());
    let written = match form {
        Form::Json => report.write_json(&mut out),
        Form::Lines | Form::Screen => report.write_table(&mut out),
    };
    match written.and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::failed(error)),
        Ok(()) | Err(_) => Ok(Code::Done),
    }
}

impl PositionArgs {
    /// Without `--game`, the position, the protocol or else the moves determine the game.
    fn setup(self, dialect: Option<Dialect>) -> Result<AnalysisPosition, AnalysisPositionError> {
        let start = match (self.fen, self.sfen) {
            (Some(fen), _) => Start::Fen(fen),
            (None, Some(sfen)) => Start::Sfen(sfen),
            (None, None) => Start::Initial,
        };
        let moves = self.moves.join(" ");
        let game = match (self.game, &start, dialect) {
            (Some(game), ..) => game,
            (None, Start::Sfen(_), _) | (None, Start::Initial, Some(Dialect::Usi)) => Game::Shogi,
            (None, Start::Initial, None) => {
                // Of moves that are legal in neither game, the error is that of chess.
                MoveLine::read(&moves, &[Game::Chess, Game::Shogi])
                    .map_or(Game::Chess, |line| line.end().game())
            }
            (None, Start::Fen(_) | Start::Initial, _) => Game::Chess,
        };
        AnalysisPosition::new(game, &start, &moves)
    }
}

impl LimitArgs {
    /// The limits that do not depend on the protocol.
    fn go(&self) -> Go<'static> {
        Go {
            depth: self.depth,
            nodes: self.nodes,
            move_time: self.movetime.map(|time| Duration::from_millis(time.into())),
            ..Go::default()
        }
    }

    fn limit(&self, setup: &AnalysisPosition) -> Result<Limit, AnalysisPositionError> {
        let dialect = setup.dialect();
        let mate = self.mate.map(|limit| SearchSettings::mate_limit(dialect, limit));
        let go = Go { mate, infinite: self.infinite, ..self.go() };
        let moves = self.searchmoves.iter().flat_map(|moves| moves.split_whitespace());
        let search_moves = setup.search_moves(moves)?;
        let move_time = if go.is_bare() { Some(DEFAULT_TIME) } else { go.move_time };
        Ok(Limit::Go(Box::new(Go { move_time, search_moves, ..go })))
    }
}

impl From<NotationArg> for Notation {
    fn from(notation: NotationArg) -> Self {
        match notation {
            NotationArg::Western => Self::Western,
            NotationArg::Japanese => Self::Japanese,
        }
    }
}
