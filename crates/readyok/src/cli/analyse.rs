//! `readyok analyse`.

use std::io::{self, BufWriter, IsTerminal};
use std::time::Duration;

use clap::ValueEnum;
use readyok_client::{EngineError, Limit, MateLimit, Search};
use readyok_protocol::{Dialect, Go};
use readyok_rules::{Game, Notation};

use crate::address::Address;
use crate::analyse::{
    AnalyseError, Json, Lines, Screen, Scribe, Setup, SetupError, Start, View, analyse,
};
use crate::cli::game::GameArg;
use crate::cli::start::{self, StartArgs};
use crate::dirs;
use crate::exit::{Code, Failure};
use crate::guardian;
use crate::messages::Messages;
use crate::signals::{Interrupts, on_interrupt};

/// How long to search if no limit is given.
const DEFAULT_TIME: Duration = Duration::from_secs(10);

const HELP: &str = "\
ENGINE comes first. It is a name from engines.toml, `narikin`, tcp://host:port, a path, a program in
PATH, or a quoted command line.

Examples:
  readyok analyse narikin
  readyok analyse stockfish --moves e2e4 e7e5 --depth 20 --multipv 3
  readyok analyse stockfish --fen '7k/8/8/8/8/8/R7/1R4K1 w - - 0 1' --mate 2
  readyok analyse fairy-stockfish --game shogi --infinite --notation japanese
  readyok analyse stockfish --option Hash=256 --nodes 1000000 --json
  readyok analyse stockfish --searchmoves e2e4 d2d4 --depth 20
  readyok analyse ./slow-engine --timeout 60

Without a limit the search takes ten seconds. Of several limits the first one that is reached counts.
Ctrl-C stops the search and prints the result; a second Ctrl-C, or one before the search, ends the engine.

On a terminal there is a live table; elsewhere there are JSON lines. docs/readyok.md describes them.";

/// Search a position with an engine, and show what it thinks
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    /// Which engine
    engine: String,
    #[command(flatten)]
    position: PositionArgs,
    #[command(flatten)]
    limit: LimitArgs,
    /// Show so many variations
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    multipv: Option<u32>,
    /// Set an option of the engine, or press a button; may be given many times
    #[arg(long = "option", value_name = "NAME[=VALUE]")]
    options: Vec<String>,
    #[command(flatten)]
    start: StartArgs,
    /// How moves are written
    #[arg(long, value_enum, default_value_t = NotationArg::Western)]
    notation: NotationArg,
    /// Print JSON lines, on a terminal too
    #[arg(long, conflicts_with = "plain")]
    json: bool,
    /// Print lines of text instead of a table or JSON
    #[arg(long)]
    plain: bool,
}

#[derive(Debug, clap::Args)]
struct PositionArgs {
    /// The start position of chess, or of the game that --game says [the default]
    #[arg(long, conflicts_with_all = ["fen", "sfen"])]
    startpos: bool,
    /// A position of chess
    #[arg(long, conflicts_with = "sfen")]
    fen: Option<String>,
    /// A position of shogi
    #[arg(long)]
    sfen: Option<String>,
    /// Which game is played
    #[arg(long, value_enum)]
    game: Option<GameArg>,
    /// The moves that were played since, as UCI or USI writes them
    #[arg(long, value_name = "MOVE", num_args = 1..)]
    moves: Vec<String>,
}

#[derive(Debug, clap::Args)]
struct LimitArgs {
    /// Search so many plies deep
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,
    /// Search so many positions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Search for so many milliseconds
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u32).range(1..))]
    movetime: Option<u32>,
    /// Look for a mate: in so many moves (chess) or for so many milliseconds (shogi)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    mate: Option<u32>,
    /// Search only these first moves, as UCI or USI writes them
    #[arg(long, value_name = "MOVE", num_args = 1..)]
    searchmoves: Vec<String>,
    /// Search until Ctrl-C
    #[arg(long, conflicts_with_all = ["depth", "nodes", "movetime", "mate"])]
    infinite: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum NotationArg {
    /// SAN for chess, P-7f for shogi
    Western,
    /// SAN for chess, ▲７六歩 for shogi
    Japanese,
}

pub(super) fn run(args: Args) -> Result<Code, Failure> {
    let address = Address::find(&args.engine, &dirs::env).map_err(Failure::usage)?;
    let address = args.start.apply(address);
    let setup = args.position.setup(address.dialect).map_err(Failure::usage)?;
    if address.dialect.is_some_and(|settled| settled != setup.dialect()) {
        let needed = setup.dialect().handshake().to_uppercase();
        let settled = format!("`{}` is listed with another protocol", args.engine);
        return Err(Failure::usage(format!("this game needs {needed}, and {settled}")));
    }
    let limit = args.limit.limit(&setup).map_err(Failure::usage)?;
    let interrupts = Interrupts::default();
    let handler = interrupts.clone();
    on_interrupt(move || handler.interrupt()).map_err(Failure::failed)?;
    let guard = guardian::start().map_err(Failure::failed)?;
    let mut engine = address.open(Some(setup.dialect()), &guard).map_err(Failure::failed)?;
    let mut messages = Messages::default();
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
    let scribe = Scribe::new(setup.position.clone(), args.notation.into());
    let mut view = view(args.json, args.plain, &title, scribe);
    let done = analyse(&mut engine, &setup, search, view.as_mut(), &interrupts);
    messages.collect(&mut engine);
    let error = match &done {
        Err(AnalyseError::Engine(error)) => Some(error),
        Ok(_) | Err(AnalyseError::Output(_)) => None,
    };
    if error.is_some_and(|error| error.problem().is_copy_protection()) {
        messages.forget_copy_protection();
    }
    start::report(&mut messages, &engine, error.and_then(EngineError::message));
    match done {
        // The reader has closed the pipe.
        Err(AnalyseError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            Ok(Code::Done)
        }
        done => done.map_err(Failure::failed),
    }
}

fn view(json: bool, plain: bool, title: &str, scribe: Scribe) -> Box<dyn View> {
    let out = io::stdout();
    let dumb = dirs::env("TERM").is_some_and(|term| term == "dumb");
    if plain || (!json && dumb && out.is_terminal()) {
        Box::new(Lines::new(BufWriter::new(out), scribe))
    } else if json || !out.is_terminal() {
        Box::new(Json::new(BufWriter::new(out), scribe))
    } else {
        Box::new(Screen::new(out, super::terminal_size, title, scribe))
    }
}

impl PositionArgs {
    /// The game is that of the position, or else that of the protocol.
    fn setup(self, settled: Option<Dialect>) -> Result<Setup, SetupError> {
        let start = match (self.fen, self.sfen) {
            (Some(fen), _) => Start::Fen(fen),
            (None, Some(sfen)) => Start::Sfen(sfen),
            (None, None) => Start::Usual,
        };
        let game = match (self.game, &start, settled) {
            (Some(game), ..) => game.into(),
            (None, Start::Sfen(_), _) | (None, Start::Usual, Some(Dialect::Usi)) => Game::Shogi,
            (None, Start::Fen(_) | Start::Usual, _) => Game::Chess,
        };
        let words = self.moves.iter().flat_map(|words| words.split_whitespace());
        let words: Vec<_> = words.map(str::to_owned).collect();
        Setup::new(game, &start, &words)
    }
}

impl LimitArgs {
    fn limit(&self, setup: &Setup) -> Result<Limit, SetupError> {
        let dialect = setup.dialect();
        let mate = self.mate.map(|limit| {
            if dialect.mate_search_is_timed() {
                MateLimit::Time(Duration::from_millis(limit.into()))
            } else {
                MateLimit::Moves(limit)
            }
        });
        let go = Go {
            depth: self.depth,
            nodes: self.nodes,
            move_time: self.movetime.map(|time| Duration::from_millis(time.into())),
            mate,
            infinite: self.infinite,
            ..Go::default()
        };
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
