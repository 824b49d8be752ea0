//! `readyok match`.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use readyok_arena::event::{End, JsonLines, Listener};
use readyok_arena::export::{Existing, Export, ExportError, Form, PgnFields, PgnMoves, PgnStyle};
use readyok_arena::fastchess::{
    self, Invocation, Level, Log, Logger, PgnNotation, PgnOut, Printer, Request,
};
use readyok_arena::game::{GameSettings, StderrObserver};
use readyok_arena::plan::{Plan, Variations};
use readyok_arena::queue::Stop;
use readyok_arena::runner::{MatchError, Settings, Summary};
use readyok_arena::schedule::ScheduleError;
use readyok_arena::store::{Reader, StoreError};
use readyok_client::{Guard, Timeouts, WaitLimit};

use crate::cli::check::run_compliance;
use crate::cli::match_plan::PlanArgs;
use crate::cli::worker::QueueArgs;
use crate::connect::start_guard;
use crate::dirs;
use crate::exit::{Code, Failure};
use crate::matches::{
    Begun, Changes, Continued, Lines, Live, Manner, Name, Nobody, Results, Run, complaints,
    find_engine, read_plan,
};
use crate::terminal::{print, print_error, printable, terminal_size};

const HELP: &str = "\
Examples:
  readyok match stockfish ethereal-chess --tc 10+0.1 --rounds 50 --openings book.epd --random
  readyok match ./new ./base --tc 8+0.08 --sprt 0,5 --rounds 50000 --concurrency 8 --pgn games.pgn
  readyok match narikin fairy-stockfish --game shogi --byoyomi 1 --protocol 2=usi --kif games
  readyok match --resume match-1700000000.jsonl --concurrency 8
  readyok match --plan tournament.toml --queue nats://10.0.0.1
  readyok match --fastchess -engine cmd=a -engine cmd=b -each tc=8+0.08 -rounds 10

Results are kept in one file, one line for each pairing; a match that was ended in any way, even by
`kill -9`, goes on with --resume. Ctrl-C ends the match after the games that are being played; a
second one at once. After --fastchess everything is as fastchess has it. docs/match.md tells more.";

/// Play engines against each other: matches, tournaments, tests of strength
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    #[command(flatten)]
    plan: PlanArgs,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    queue: QueueArgs,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "How the match is run")]
#[expect(clippy::struct_excessive_bools, reason = "independent flags of a command")]
struct RunArgs {
    /// Play so many pairings at once; 0: as many as the processors carry, with threads and pondering
    #[arg(long, value_name = "N", default_value_t = 1)]
    concurrency: u16,
    /// Bind engines to processors: to these, or to all that there are
    #[arg(long, value_name = "CPU", value_delimiter = ',', num_args = 0..)]
    pin: Option<Vec<usize>>,
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "resume",
        help = "Keep results in this file [match-<time>.jsonl]"
    )]
    results: Option<PathBuf>,
    /// Go on with the match of this file; a plan beside it may have more rounds
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Go on although engines or openings have changed since
    #[arg(long, requires = "resume")]
    despite_changes: bool,
    /// Write games as PGN (chess); a file that holds others gets the ending .old
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
    /// Add to what the PGN file holds
    #[arg(long, requires = "pgn")]
    pgn_append: bool,
    /// Write no comments and only the main tags into the PGN file
    #[arg(long, requires = "pgn")]
    pgn_min: bool,
    /// How the PGN file has moves
    #[arg(long, value_enum, default_value_t = MovesArg::San, requires = "pgn")]
    pgn_moves: MovesArg,
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        value_delimiter = ',',
        requires = "pgn",
        conflicts_with = "pgn_min",
        help = "What comments of the PGN file tell besides score, depth and time \
                [nodes,time-left,latency]"
    )]
    pgn_tell: Vec<TellArg>,
    /// Write last positions as EPD (chess) or SFEN (shogi)
    #[arg(long, value_name = "FILE")]
    epd: Option<PathBuf>,
    /// Write games as KIF into this folder (shogi)
    #[arg(long, value_name = "FOLDER")]
    kif: Option<PathBuf>,
    /// Write games as CSA (shogi)
    #[arg(long, value_name = "FILE")]
    csa: Option<PathBuf>,
    /// Write a report at the end
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write what happens as lines of JSON; `-` is standard output
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// Tell each move in the events
    #[arg(long)]
    moves: bool,
    /// Tell White's scores in the comments of the PGN file, and not those of the side that moved
    #[arg(long, requires = "pgn", conflicts_with = "pgn_min")]
    pgn_whitepov: bool,
    /// Write what is said to engines and by them; of a match that goes on, at the end of the file
    #[arg(long, value_name = "FILE", conflicts_with = "queue")]
    log: Option<PathBuf>,
    /// Write what engines print as errors, each line with the engine's name
    #[arg(long, value_name = "FILE", conflicts_with = "queue")]
    stderr: Option<PathBuf>,
    /// Break games off at the first Ctrl-C
    #[arg(long)]
    abort: bool,
    /// End the match when an engine has crashed or stalled so often
    #[arg(long, value_name = "N")]
    failures: Option<u64>,
    /// After how many pairings the strength of the engines is printed, where there is no table; 0:
    /// at the end
    #[arg(long, value_name = "N", default_value_t = 10)]
    rating_interval: u64,
    /// Print lines instead of a table
    #[arg(long, conflicts_with = "json")]
    plain: bool,
    /// Print what happens as lines of JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum MovesArg {
    /// Nf3
    San,
    /// Ng1-f3
    Lan,
    /// g1f3
    Uci,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum TellArg {
    Nodes,
    Seldepth,
    Nps,
    Hashfull,
    Tbhits,
    TimeLeft,
    Latency,
    Pv,
    /// Nothing
    None,
}

pub(super) fn run(args: Args) -> Result<Code, Failure> {
    let Args { plan, run, queue } = args;
    let queue = queue.queue(&dirs::env)?;
    let (plain, every) = (run.plain, run.rating_interval);
    // One stream of events is enough, and nothing else may stand between its lines.
    let piped = run.events.as_ref().is_some_and(|path| path.as_os_str() == "-");
    let shows = if piped { Shows::Elsewhere } else { Shows::new(run.json, plain) };
    let fields = run.pgn_fields()?;
    if run.moves && run.events.is_none() && !run.json {
        return Err(Failure::usage("--moves needs --events or --json, which tell them"));
    }
    let results = run.results(&plan)?;
    let log = run.logger()?;
    let stderr_observer = run.stderr_observer()?;
    let guard = start_guard().map_err(Failure::failed)?;
    let mut run = run.into_run(results, fields, queue, guard);
    run.manner.line_observer = log.as_ref().and_then(Logger::line_observer);
    run.manner.stderr_observer = stderr_observer;
    let summary = run.play(|begun| vec![shown(begun.plan, begun.pairings, shows, every)]);
    let summary = summary.map_err(|error| match error.downcast_ref() {
        Some(StoreError::OtherFiles { .. }) => {
            Failure::failed(format!("{error}; with --despite-changes it goes on all the same"))
        }
        _ => match error.downcast_ref() {
            Some(why) if is_of_the_plan(why) => Failure::usage(error),
            _ => Failure::failed(error),
        },
    });
    Ok(code(&summary?))
}

/// Whether what was asked for makes no sense, so that nothing could ever come of it.
fn is_of_the_plan(error: &MatchError) -> bool {
    match error {
        MatchError::Plan(_) | MatchError::Test(_) | MatchError::TestOf(_) => true,
        MatchError::Schedule(error) => matches!(
            error,
            ScheduleError::TooFewEngines { .. }
                | ScheduleError::TooManyEngines { .. }
                | ScheduleError::Zero { .. }
                | ScheduleError::KnockoutRounds { .. }
                | ScheduleError::FixedPairs
                | ScheduleError::TooLarge
                | ScheduleError::Opening(_)
        ),
        MatchError::Export(error) => matches!(error, ExportError::Form { .. }),
        _ => false,
    }
}

/// Takes the command line of fastchess, and ends as it does: with 0, or with 1 for whatever reason,
/// which it prints.
pub(super) fn run_fastchess(words: &[OsString]) -> Code {
    match play_fastchess(words) {
        Ok(Code::Done) => Code::Done,
        Ok(_) => Code::Failed,
        Err(failure) => {
            // It has one stream for everything.
            print(&printable(&failure.to_string()));
            Code::Failed
        }
    }
}

fn play_fastchess(words: &[OsString]) -> Result<Code, Failure> {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let invocation = match fastchess::parse(&words, seconds()).map_err(Failure::usage)? {
        Request::Play(invocation) => *invocation,
        Request::Version => {
            let version = env!("CARGO_PKG_VERSION");
            print(&format!("readyok {version} (in the manner of fastchess alpha 1.8.2)"));
            return Ok(Code::Done);
        }
        Request::Help => {
            print("readyok match --fastchess takes the options of fastchess: see its manual");
            return Ok(Code::Done);
        }
        Request::Compliance { command, args } => return run_compliance(&command, &args),
    };
    let Invocation { mut plan, options } = invocation;
    if let Some(path) = &options.resume.file {
        print(&format!("Loading config file: {}", path.display()));
    }
    if options.resume.discard {
        print("Discarding config file");
    }
    let slots = slots(options.concurrency, options.force_concurrency)?;
    if options.concurrency <= 0 {
        print(&format!(
            "Info: Adjusted concurrency to {slots} based on number of available hardware threads."
        ));
    }
    let results = if let Some(path) = options.resume.used() {
        let continued = options.resume.rounds.map_or(Continued::AsItWas, Continued::Rounds);
        // As with fastchess, nobody looks whether the engines are still the same.
        Results::GoOn(path.to_owned(), continued, Changes::Accepted)
    } else {
        for engine in &mut plan.engines {
            find_engine(engine, &dirs::env).map_err(Failure::usage)?;
        }
        Results::New(Name::Like(fresh(&options.resume.outname)), Box::new(plan))
    };
    let logger = options.log.as_ref().map_or(Ok(None), Logger::open);
    let logger = logger.map_err(|error| Failure::failed(format!("the log: {error}")))?;
    let wants_moves = logger.as_ref().is_some_and(|logger| logger.takes(Level::Info));
    let settings = Settings {
        on_interrupt: Stop::Abort,
        report_moves: options.show_latency && wants_moves,
        failures: if options.recover { None } else { Some(1) },
        ..Settings::default()
    };
    let run: Run<Nobody> = Run {
        results,
        settings,
        slots,
        pin: options
            .affinity
            .as_ref()
            .map(|cpus| cpus.iter().filter_map(|&cpu| usize::try_from(cpu).ok()).collect()),
        exports: fastchess_exports(&options),
        events: None,
        report: None,
        queue: None,
        guard: start_guard().map_err(Failure::failed)?,
        manner: fastchess_manner(&options, logger.as_ref()),
    };
    let pgn = run.exports.iter().find(|export| matches!(export.form, Form::Pgn(_)));
    let checked = pgn.filter(|_| options.crc32).map(|pgn| pgn.path.clone());
    let is_odd = Arc::new(AtomicBool::new(false));
    let odd = Arc::clone(&is_odd);
    let summary = run.play(|Begun { plan, pairings, stop, results }| {
        // Whoever is to go on with it needs the name that it has got.
        let resume = fastchess::Resume { outname: results.to_owned(), ..options.resume.clone() };
        let options = fastchess::Options { resume, ..options };
        let mut printer = Printer::new(plan, pairings, &options, io::stdout()).logging(logger);
        if let Some(path) = checked {
            printer = printer.checking(path);
        }
        let stop = stop.clone();
        let printer = printer.stopping_by(move || {
            odd.store(true, Ordering::Relaxed);
            stop.interrupt();
        });
        vec![Box::new(printer) as Box<dyn Listener>]
    });
    let summary = summary.map_err(Failure::failed)?;
    // Whatever it came to, a match that was stopped for something odd has failed.
    Ok(if is_odd.load(Ordering::Relaxed) { Code::Failed } else { code(&summary) })
}

/// How fastchess waits for engines and listens to them.
fn fastchess_manner(options: &fastchess::Options, logger: Option<&Logger>) -> Manner {
    let Manner { patience, setting, .. } = Manner::default();
    let variations = if options.check_mate_pvs { Variations::ToMate } else { Variations::Followed };
    let keep_lines = options.pgn.as_ref().map(PgnOut::patterns).unwrap_or_default();
    let ready = options.ping.max(options.new_game);
    Manner {
        patience: Timeouts {
            handshake: WaitLimit::fixed(options.startup),
            ready: WaitLimit::fixed(ready),
            ..patience
        },
        setting: GameSettings { variations, keep_lines, ..setting },
        pause: options.wait,
        line_observer: logger.and_then(Logger::line_observer),
        stderr_observer: None,
    }
}

fn fastchess_exports(options: &fastchess::Options) -> Vec<Export> {
    let existing = |append| if append { Existing::Append } else { Existing::Overwrite };
    let named = |ending: &str| PathBuf::from(format!("fastchess_{}.{ending}", seconds()));
    let mut exports = Vec::new();
    if let Some(pgn) = &options.pgn {
        let moves = match pgn.notation {
            PgnNotation::San => PgnMoves::San,
            PgnNotation::Lan => PgnMoves::Lan,
            PgnNotation::Uci => PgnMoves::Uci,
        };
        let fields = PgnFields {
            nodes: pgn.nodes,
            seldepth: pgn.seldepth,
            nps: pgn.nps,
            hashfull: pgn.hashfull,
            tbhits: pgn.tbhits,
            time_left: pgn.timeleft,
            latency: pgn.latency,
            pv: pgn.pv,
        };
        exports.push(Export {
            path: pgn.file.clone().unwrap_or_else(|| named("pgn")),
            form: Form::Pgn(PgnStyle {
                moves,
                min: pgn.min,
                fields,
                as_fastchess: true,
                ..PgnStyle::default()
            }),
            existing: existing(pgn.append),
        });
    }
    if let Some(epd) = &options.epd {
        let path = epd.file.clone().unwrap_or_else(|| named("epd"));
        exports.push(Export { path, form: Form::Positions, existing: existing(epd.append) });
    }
    exports
}

/// How many games run at once: 0 and less is the number of processors minus so many.
fn slots(concurrency: i64, force: bool) -> Result<usize, Failure> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    if concurrency <= 0 {
        let less = usize::try_from(concurrency.unsigned_abs()).unwrap_or(usize::MAX);
        return Ok(cpus.saturating_sub(less).max(1));
    }
    let slots = usize::try_from(concurrency).unwrap_or(usize::MAX);
    if slots > cpus && !force {
        let text = "Error: Concurrency exceeds number of CPUs. Use -force-concurrency to override.";
        return Err(Failure::usage(text));
    }
    Ok(slots)
}

impl RunArgs {
    fn results(&self, args: &PlanArgs) -> Result<Results, Failure> {
        let plan = match &args.plan {
            Some(path) => {
                let failed = |why: &dyn std::fmt::Display| {
                    Failure::usage(format!("`{}`: {why}", path.display()))
                };
                let mut plan = read_plan(path).map_err(|error| failed(&error))?;
                for engine in &mut plan.engines {
                    find_engine(engine, &dirs::env).map_err(|error| failed(&error))?;
                }
                Some(plan)
            }
            None if self.resume.is_some() && args.is_empty() => None,
            None => Some(args.plan(self.seed())?),
        };
        match (&self.resume, plan) {
            (Some(path), plan) => {
                let changes =
                    if self.despite_changes { Changes::Accepted } else { Changes::Refused };
                let continued = match (plan, args.rounds) {
                    (Some(plan), _) => Continued::Plan(Box::new(plan)),
                    (None, Some(rounds)) => Continued::Rounds(rounds),
                    (None, None) => Continued::AsItWas,
                };
                Ok(Results::GoOn(path.clone(), continued, changes))
            }
            (None, Some(plan)) => {
                let like = || Name::Like(PathBuf::from(format!("match-{}.jsonl", seconds())));
                let name = self.results.clone().map_or_else(like, Name::Given);
                Ok(Results::New(name, Box::new(plan)))
            }
            (None, None) => Err(Failure::usage("a match needs engines or a plan")),
        }
    }

    /// The seed of a plan whose arguments name none: another one each time, and for a match that goes
    /// on its own.
    fn seed(&self) -> u64 {
        // What is wrong with the file is told when it is opened to go on.
        let begun = self.resume.as_ref().and_then(|path| Reader::open(path).ok());
        begun.map_or_else(seconds, |begun| begun.plan().seed)
    }

    /// The log of all conversations.
    fn logger(&self) -> Result<Option<Logger>, Failure> {
        let Some(file) = &self.log else { return Ok(None) };
        let log = Log {
            file: Some(file.clone()),
            append: self.resume.is_some(),
            engine: true,
            ..Log::default()
        };
        let failed = |error| Failure::failed(format!("`{}`: {error}", file.display()));
        Logger::open(&log).map_err(failed)
    }

    /// The file for error output.
    fn stderr_observer(&self) -> Result<Option<StderrObserver>, Failure> {
        let Some(file) = &self.stderr else { return Ok(None) };
        let failed = |error| Failure::failed(format!("`{}`: {error}", file.display()));
        complaints(file, self.resume.is_some()).map(Some).map_err(failed)
    }

    /// Additional fields of comments in PGN.
    fn pgn_fields(&self) -> Result<PgnFields, Failure> {
        if self.pgn_tell.is_empty() {
            let usual =
                PgnFields { nodes: true, time_left: true, latency: true, ..PgnFields::default() };
            return Ok(usual);
        }
        let has = |what| self.pgn_tell.contains(&what);
        if has(TellArg::None) && self.pgn_tell.len() > 1 {
            return Err(Failure::usage("--pgn-tell is none or something, not both"));
        }
        Ok(PgnFields {
            nodes: has(TellArg::Nodes),
            seldepth: has(TellArg::Seldepth),
            nps: has(TellArg::Nps),
            hashfull: has(TellArg::Hashfull),
            tbhits: has(TellArg::Tbhits),
            time_left: has(TellArg::TimeLeft),
            latency: has(TellArg::Latency),
            pv: has(TellArg::Pv),
        })
    }

    fn into_run<Q>(
        self,
        results: Results,
        fields: PgnFields,
        queue: Option<Q>,
        guard: Guard,
    ) -> Run<Q> {
        let settings = Settings {
            on_interrupt: if self.abort { Stop::Abort } else { Stop::Finish },
            failures: self.failures,
            report_moves: self.moves,
            ..Settings::default()
        };
        let existing = Existing::Replace;
        let mut exports = Vec::new();
        if let Some(path) = self.pgn {
            let existing = if self.pgn_append { Existing::Append } else { existing };
            let moves = match self.pgn_moves {
                MovesArg::San => PgnMoves::San,
                MovesArg::Lan => PgnMoves::Lan,
                MovesArg::Uci => PgnMoves::Uci,
            };
            let style = PgnStyle {
                moves,
                min: self.pgn_min,
                fields,
                white_scores: self.pgn_whitepov,
                as_fastchess: false,
            };
            exports.push(Export { path, form: Form::Pgn(style), existing });
        }
        let others = [(self.epd, Form::Positions), (self.kif, Form::Kif), (self.csa, Form::Csa)];
        for (path, form) in others {
            exports.extend(path.map(|path| Export { path, form, existing }));
        }
        Run {
            results,
            settings,
            slots: usize::from(self.concurrency),
            pin: self.pin,
            exports,
            events: self.events,
            report: self.report,
            queue,
            guard,
            manner: Manner::default(),
        }
    }
}

/// How a match is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shows {
    /// As events, each a line of JSON.
    Json,
    Lines,
    /// As lines on standard error.
    Elsewhere,
    Table,
}

impl Shows {
    fn new(json: bool, plain: bool) -> Self {
        match (json, plain || !io::stdout().is_terminal()) {
            (true, _) => Self::Json,
            (false, true) => Self::Lines,
            (false, false) => Self::Table,
        }
    }
}

/// Who shows a match, with the strength of its engines after every so many pairings.
fn shown(plan: &Plan, total: u64, how: Shows, every: u64) -> Box<dyn Listener> {
    let every = if every == 0 { u64::MAX } else { every };
    let out = io::stdout();
    match how {
        Shows::Json => Box::new(JsonLines::new(out)),
        Shows::Lines => Box::new(Lines::new(out, plan, total, every)),
        Shows::Elsewhere => Box::new(Lines::new(io::stderr(), plan, total, every)),
        Shows::Table => Box::new(Live::new(out, terminal_size, plan, total)),
    }
}

/// A name for a new state: fastchess writes its own over and over, here a match has its file.
fn fresh(outname: &std::path::Path) -> PathBuf {
    if !outname.exists() {
        return outname.to_owned();
    }
    let stem = outname.file_stem().unwrap_or_default().to_string_lossy();
    let name = format!("{stem}-{}.json", seconds());
    print_error(&format!("`{}` is there already; results go to `{name}`", outname.display()));
    outname.with_file_name(name)
}

fn code(summary: &Summary) -> Code {
    match summary.end {
        End::Complete | End::Test { .. } => Code::Done,
        End::Interrupted => Code::Interrupted,
        End::Failures { .. } | End::Error { .. } => Code::Failed,
    }
}

fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
