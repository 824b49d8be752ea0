//! `readyok match`.

use std::error::Error;
use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser as _;
use readyok_arena::build::Builder;
use readyok_arena::event::End;
use readyok_arena::export::{Existing, Export, ExportError, Form, PgnFields, PgnMoves, PgnStyle};
use readyok_arena::fastchess::{self, Invocation, Log, Logger, PgnOut, Printer, Request};
use readyok_arena::game::{GameSettings, StderrObserver};
use readyok_arena::listener::{JsonLines, Listener};
use readyok_arena::plan::{OpeningSource, Plan, PvCheck};
use readyok_arena::queue::Stop;
use readyok_arena::runner::{MatchError, Settings, Summary};
use readyok_arena::schedule::ScheduleError;
use readyok_arena::store::{Reader, StoreDefect, StoreError};
use readyok_client::unstable::split_command_line;
use readyok_client::{Guard, Timeouts, WaitLimit};

use crate::cli::check::run_compliance;
use crate::cli::execution::ExecutionArgs;
use crate::cli::match_plan::PlanArgs;
use crate::cli::queue::short_id;
use crate::cli::worker::{BuildArgs, QueueArgs, TakenOver, queue_failure};
use crate::clock::unix_seconds;
use crate::connect::start_guard;
use crate::dirs;
use crate::exit::{Code, Failure};
use crate::matches::{
    Changes, Extension, Lines, LiveTable, Name, NoQueue, PlayOptions, Results, Run, StartedMatch,
    find_engine, read_plan, stderr_log,
};
use crate::terminal::{print, print_error, printable, terminal_size};

const HELP: &str = "\
Examples:
  readyok match stockfish ethereal-chess --tc 10+0.1 --rounds 50 \\
      --openings book.epd --random
  readyok match ./new ./base --tc 8+0.08 --sprt 0,5 --rounds 50000 \\
      --concurrency 8 --pgn games.pgn
  readyok match narikin fairy-stockfish --game shogi --byoyomi 1 \\
      --protocol 2=usi --kif games
  readyok match --resume match-1700000000.jsonl --concurrency 8
  readyok match --plan tournament.toml --queue nats://10.0.0.1
  readyok match --take-over 3fa1 --queue nats://10.0.0.1
  readyok match --fastchess -engine cmd=a -engine cmd=b -each tc=8+0.08 \\
      -rounds 10

Results are stored in one file with one line per game pair. --resume continues a match after any exit, including `kill -9`. The first Ctrl-C finishes the game pairs in progress, the second one aborts them. After --fastchess the arguments are those of fastchess.

More: readyok help engines, time-controls, openings, sprt, adjudication";

/// Play matches and tournaments between engines, with SPRT
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    #[command(flatten)]
    plan: PlanArgs,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    queue: QueueArgs,
    #[command(flatten)]
    build: BuildArgs,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Execution and output")]
#[expect(clippy::struct_excessive_bools, reason = "independent flags of a command")]
struct RunArgs {
    #[command(flatten)]
    execution: ExecutionArgs,
    /// Append to the PGN file
    #[arg(long, requires = "pgn")]
    pgn_append: bool,
    /// Omit comments and optional tags in the PGN file
    #[arg(long, requires = "pgn")]
    pgn_min: bool,
    /// Notation of moves in the PGN file
    #[arg(long, value_enum, default_value_t = PgnMoves::San, requires = "pgn")]
    pgn_moves: PgnMoves,
    #[arg(
        long,
        value_enum,
        value_name = "FIELD",
        value_delimiter = ',',
        requires = "pgn",
        conflicts_with = "pgn_min",
        help = "Fields of PGN comments in addition to score, depth and time \
                [default: nodes,time-left,latency]"
    )]
    pgn_fields: Vec<PgnFieldArg>,
    /// Write final positions as EPD (chess) or SFEN (shogi)
    #[arg(long, value_name = "FILE")]
    epd: Option<PathBuf>,
    /// Write games as KIF files in this directory (shogi)
    #[arg(long, value_name = "DIR")]
    kif: Option<PathBuf>,
    /// Write games as CSA (shogi)
    #[arg(long, value_name = "FILE")]
    csa: Option<PathBuf>,
    /// Include each move in the events
    #[arg(long)]
    moves: bool,
    /// Write scores in PGN comments from White's point of view instead of the mover's
    #[arg(long, requires = "pgn", conflicts_with = "pgn_min")]
    pgn_whitepov: bool,
    /// Log all engine input and output; a resumed match appends to the file
    #[arg(long, value_name = "FILE", conflicts_with = "queue")]
    log: Option<PathBuf>,
    /// Write the standard error of the engines, each line with the engine name
    #[arg(long, value_name = "FILE", conflicts_with = "queue")]
    stderr: Option<PathBuf>,
    /// Abort the games in progress at the first Ctrl-C
    #[arg(long)]
    abort: bool,
    /// End the match after N crashes or hangs of an engine; a queue compares those of its workers instead
    #[arg(long, value_name = "N", conflicts_with = "queue")]
    max_failures: Option<u64>,
    /// Number of game pairs between printed ratings without a live table; 0: only at the end
    #[arg(long, value_name = "N", default_value_t = 10)]
    rating_interval: u64,
    /// Print lines instead of a live table
    #[arg(long, conflicts_with = "json")]
    plain: bool,
    /// Print events as JSON lines
    #[arg(long)]
    json: bool,
}

/// A field of [`PgnFields`], or none: without the option there are three fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum PgnFieldArg {
    Nodes,
    Seldepth,
    Nps,
    Hashfull,
    Tbhits,
    TimeLeft,
    Latency,
    Pv,
    /// No additional fields
    None,
}

/// A command that starts a match on the queue of a dashboard.
#[derive(Debug, clap::Parser)]
#[command(name = "readyok match", no_binary_name = true, disable_help_flag = true)]
struct TestCommand {
    #[command(flatten)]
    plan: PlanArgs,
    /// Priority on the queue
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    priority: i32,
}

/// Reads a plan and a priority from a `readyok match` command or a TOML file, and replaces its openings by a file, if
/// any.
pub(super) fn read_test(text: &str, openings: Option<&Path>) -> Result<(Plan, i32), String> {
    let args = split_command_line(&text.replace("\\\n", " ")).unwrap_or_default();
    let args = match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [program, "match", ..] if program.ends_with("readyok") => args.get(2..),
        ["match", ..] => args.get(1..),
        _ => None,
    };
    let Some(args) = args else {
        let mut plan = Plan::from_toml(text).map_err(|error| error.to_string())?;
        for engine in &mut plan.engines {
            find_engine(engine, &dirs::env).map_err(|error| error.to_string())?;
        }
        if let Some(path) = openings {
            let path = path.to_string_lossy().into_owned();
            plan.openings.source = OpeningSource::File { path, format: None };
        }
        return Ok((plan, 0));
    };
    let mut args: Vec<OsString> = args.iter().map(OsString::from).collect();
    if let Some(path) = openings {
        args.extend(["--openings".into(), path.into()]);
    }
    let command = TestCommand::try_parse_from(args).map_err(|error| error.to_string())?;
    if command.plan.plan.is_some() {
        return Err("paste the plan instead of its path".to_owned());
    }
    // Files of this host are not those of the user.
    if command.plan.has_options_files() {
        return Err("write --option for each option instead of --options-file".to_owned());
    }
    let plan = command.plan.plan(random_seed()).map_err(|error| error.to_string())?;
    Ok((plan, command.priority))
}

pub(super) fn run(args: Args) -> Result<Code, Failure> {
    let Args { plan, run, queue, build } = args;
    let arguments = queue;
    let mut queue = arguments.queue(&dirs::env)?;
    let (plain, every) = (run.plain, run.rating_interval);
    // With `--events -` standard output contains only events.
    let piped = run.execution.events.as_ref().is_some_and(|path| path.as_os_str() == "-");
    let display = if piped { Display::Stderr } else { Display::new(run.json, plain) };
    let fields = run.pgn_fields()?;
    if run.moves && run.execution.events.is_none() && !run.json {
        return Err(Failure::usage("--moves requires --events or --json"));
    }
    let taken_over = match &queue {
        Some(queue) => arguments.taken_over(queue)?,
        None => None,
    };
    let results = match (taken_over, &mut queue) {
        (Some(TakenOver { found, spec, openings }), Some(queue)) => {
            if !plan.is_empty() {
                return Err(Failure::usage("--take-over uses the plan of the queue"));
            }
            queue.taken_over = Some(Box::new(spec.clone()));
            let name = || PathBuf::from(format!("match-{}.jsonl", short_id(&found.id)));
            let path = run.execution.results.clone().unwrap_or_else(name);
            Results::TakeOver { path, spec: Box::new(spec), openings }
        }
        _ => run.results(&plan)?,
    };
    let log = run.logger()?;
    let stderr_observer = run.stderr_observer()?;
    let guard = start_guard().map_err(Failure::failed)?;
    let builder = build.local(&guard);
    let mut run = run.into_run(results, fields, queue, guard, builder);
    run.play_options.line_observer = log.as_ref().and_then(Logger::line_observer);
    run.play_options.stderr_observer = stderr_observer;
    let summary = run.play(|_| vec![listener(display, every)]);
    Ok(code(&summary.map_err(match_failure)?))
}

/// The failure of a match that could not be played.
pub(super) fn match_failure(error: Box<dyn Error>) -> Failure {
    match (error.downcast_ref::<StoreError>(), error.downcast_ref::<MatchError>()) {
        (Some(StoreError { defect: StoreDefect::OtherFiles { .. }, .. }), _) => {
            Failure::failed(format!("{error}; use --ignore-changes to resume anyway"))
        }
        (_, Some(why)) if is_invalid_plan(why) => Failure::usage(error),
        _ => queue_failure(error),
    }
}

/// Whether the plan is invalid, as opposed to a failure of the host.
fn is_invalid_plan(error: &MatchError) -> bool {
    match error {
        MatchError::Plan(_)
        | MatchError::Test(_)
        | MatchError::Schedule(ScheduleError::Opening(_)) => true,
        MatchError::Schedule(ScheduleError::Pairing(error)) => error.is_of_plan(),
        MatchError::Export(error) => matches!(error, ExportError::Form { .. }),
        _ => false,
    }
}

/// Runs a fastchess command line. As with fastchess, the exit status is 0, or 1 for any failure.
pub(super) fn run_fastchess(args: &[OsString]) -> Code {
    match play_fastchess(args) {
        Ok(Code::Done) => Code::Done,
        Ok(_) => Code::Failed,
        Err(failure) => {
            // fastchess prints errors to standard output.
            print(&printable(&failure.to_string()));
            Code::Failed
        }
    }
}

fn play_fastchess(args: &[OsString]) -> Result<Code, Failure> {
    let args: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let invocation = match fastchess::parse(&args, random_seed()).map_err(Failure::usage)? {
        Request::Play(invocation) => *invocation,
        Request::Version => {
            let version = env!("CARGO_PKG_VERSION");
            print(&format!("readyok {version} (compatible with fastchess alpha 1.8.2)"));
            return Ok(Code::Done);
        }
        Request::Help => {
            print("readyok match --fastchess accepts the options of fastchess: see its manual");
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
    let results = if let Some(path) = options.resume.used().filter(|_| !options.resume.stats) {
        // The same match from its start.
        let failed = |error| Failure::failed(format!("`{}`: {error}", path.display()));
        let mut plan = Reader::open(path).map_err(failed)?.plan().clone();
        plan.rounds = options.resume.rounds.unwrap_or(plan.rounds);
        Results::New(Name::Default(unused_name(&options.resume.outname)), Box::new(plan))
    } else if let Some(path) = options.resume.used() {
        let extension = options.resume.rounds.map_or(Extension::None, Extension::Rounds);
        // Like fastchess, this does not check whether the engines have changed.
        Results::Resume(path.to_owned(), extension, Changes::Ignore)
    } else {
        for engine in &mut plan.engines {
            find_engine(engine, &dirs::env).map_err(Failure::usage)?;
        }
        Results::New(Name::Default(unused_name(&options.resume.outname)), Box::new(plan))
    };
    let logger = options.log.as_ref().map_or(Ok(None), Logger::open);
    let logger = logger.map_err(|error| Failure::failed(format!("the log: {error}")))?;
    let settings = Settings {
        on_interrupt: Stop::Abort,
        failures: if options.recover { None } else { Some(1) },
        ..Settings::default()
    };
    let guard = start_guard().map_err(Failure::failed)?;
    let run: Run<NoQueue> = Run {
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
        builder: BuildArgs::default().local(&guard),
        guard,
        play_options: fastchess_play_options(&options, logger.as_ref()),
    };
    let pgn = run.exports.iter().find(|export| matches!(export.form, Form::Pgn(_)));
    let checked = pgn.filter(|_| options.crc32).map(|pgn| pgn.path.clone());
    let has_failed = Arc::new(AtomicBool::new(false));
    let failed = Arc::clone(&has_failed);
    let summary = run.play(|StartedMatch { plan, pairings, stop, results }| {
        // The printer names the file for `-config file=`.
        let resume = fastchess::Resume { outname: results.to_owned(), ..options.resume.clone() };
        let options = fastchess::Options { resume, ..options };
        let mut printer = Printer::new(plan, pairings, &options, io::stdout()).with_log(logger);
        if let Some(path) = checked {
            printer = printer.with_checksum(path);
        }
        let stop = stop.clone();
        let printer = printer.on_stop(move || {
            failed.store(true, Ordering::Relaxed);
            stop.interrupt();
        });
        vec![Box::new(printer) as Box<dyn Listener>]
    });
    let summary = summary.map_err(Failure::failed)?;
    Ok(if has_failed.load(Ordering::Relaxed) { Code::Failed } else { code(&summary) })
}

/// The timeouts and checks of fastchess.
fn fastchess_play_options(options: &fastchess::Options, logger: Option<&Logger>) -> PlayOptions {
    let PlayOptions { timeouts, setting, .. } = PlayOptions::default();
    let pv_check = if options.check_mate_pvs { PvCheck::Mate } else { PvCheck::Moves };
    let keep_lines = options.pgn.as_ref().map(PgnOut::patterns).unwrap_or_default();
    PlayOptions {
        timeouts: Timeouts {
            handshake: WaitLimit::fixed(options.startup),
            ready: WaitLimit::fixed(options.new_game),
            ..timeouts
        },
        setting: GameSettings {
            pv_check,
            keep_lines,
            ping: options.ping.map(WaitLimit::fixed),
            ..setting
        },
        pause: options.wait,
        line_observer: logger.and_then(Logger::line_observer),
        stderr_observer: None,
    }
}

fn fastchess_exports(options: &fastchess::Options) -> Vec<Export> {
    let existing = |append| if append { Existing::Append } else { Existing::Overwrite };
    let named = |ending: &str| PathBuf::from(format!("fastchess_{}.{ending}", unix_seconds()));
    let mut exports = Vec::new();
    if let Some(pgn) = &options.pgn {
        exports.push(Export {
            path: pgn.file.clone().unwrap_or_else(|| named("pgn")),
            form: Form::Pgn(pgn.style),
            existing: existing(pgn.append),
        });
    }
    if let Some(epd) = &options.epd {
        let path = epd.file.clone().unwrap_or_else(|| named("epd"));
        exports.push(Export { path, form: Form::Positions, existing: existing(epd.append) });
    }
    exports
}

/// The number of parallel games: 0 and below are relative to the number of CPUs.
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
            None if self.execution.resume.is_some() && args.is_empty() => None,
            None => Some(args.plan(self.seed())?),
        };
        match (&self.execution.resume, plan) {
            (Some(path), plan) => {
                let extension = match (plan, args.rounds) {
                    (Some(plan), _) => Extension::Plan(Box::new(plan)),
                    (None, Some(rounds)) => Extension::Rounds(rounds),
                    (None, None) => Extension::None,
                };
                Ok(self.execution.resumed(path, extension))
            }
            (None, Some(plan)) => Ok(Results::New(self.execution.name("match"), Box::new(plan))),
            (None, None) => Err(Failure::usage("a match needs engines or a plan")),
        }
    }

    /// The default seed: a random one, or the seed of the resumed match.
    fn seed(&self) -> u64 {
        // Errors of the file are reported when the match is resumed.
        let stored = self.execution.resume.as_ref().and_then(|path| Reader::open(path).ok());
        stored.map_or_else(random_seed, |stored| stored.plan().seed)
    }

    /// The log of engine input and output.
    fn logger(&self) -> Result<Option<Logger>, Failure> {
        let Some(file) = &self.log else { return Ok(None) };
        let log = Log {
            file: Some(file.clone()),
            append: self.execution.resume.is_some(),
            engine: true,
            ..Log::default()
        };
        let failed = |error| Failure::failed(format!("`{}`: {error}", file.display()));
        Logger::open(&log).map_err(failed)
    }

    /// The file for the standard error of the engines.
    fn stderr_observer(&self) -> Result<Option<StderrObserver>, Failure> {
        let Some(file) = &self.stderr else { return Ok(None) };
        let failed = |error| Failure::failed(format!("`{}`: {error}", file.display()));
        stderr_log(file, self.execution.resume.is_some()).map(Some).map_err(failed)
    }

    /// Additional fields of PGN comments.
    fn pgn_fields(&self) -> Result<PgnFields, Failure> {
        if self.pgn_fields.is_empty() {
            let default =
                PgnFields { nodes: true, time_left: true, latency: true, ..PgnFields::default() };
            return Ok(default);
        }
        let has = |field| self.pgn_fields.contains(&field);
        if has(PgnFieldArg::None) && self.pgn_fields.len() > 1 {
            return Err(Failure::usage("--pgn-fields: `none` excludes other fields"));
        }
        Ok(PgnFields {
            nodes: has(PgnFieldArg::Nodes),
            seldepth: has(PgnFieldArg::Seldepth),
            nps: has(PgnFieldArg::Nps),
            hashfull: has(PgnFieldArg::Hashfull),
            tbhits: has(PgnFieldArg::Tbhits),
            time_left: has(PgnFieldArg::TimeLeft),
            latency: has(PgnFieldArg::Latency),
            pv: has(PgnFieldArg::Pv),
        })
    }

    fn into_run<Q>(
        self,
        results: Results,
        fields: PgnFields,
        queue: Option<Q>,
        guard: Guard,
        builder: Builder,
    ) -> Run<Q> {
        let settings = Settings {
            on_interrupt: if self.abort { Stop::Abort } else { Stop::Finish },
            failures: self.max_failures,
            report_moves: self.moves,
            ..Settings::default()
        };
        let existing = Existing::Replace;
        let mut exports = Vec::new();
        if let Some(path) = self.execution.pgn {
            let existing = if self.pgn_append { Existing::Append } else { existing };
            let style = PgnStyle {
                moves: self.pgn_moves,
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
            slots: usize::from(self.execution.concurrency),
            pin: self.execution.pin,
            exports,
            events: self.execution.events,
            report: self.execution.report,
            queue,
            guard,
            builder,
            play_options: PlayOptions::default(),
        }
    }
}

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Display {
    /// Events as JSON lines.
    Json,
    Lines,
    /// Lines on standard error.
    Stderr,
    Table,
}

impl Display {
    fn new(json: bool, plain: bool) -> Self {
        match (json, plain || !io::stdout().is_terminal()) {
            (true, _) => Self::Json,
            (false, true) => Self::Lines,
            (false, false) => Self::Table,
        }
    }
}

/// The listener that prints a match, with ratings after every `every` game pairs.
fn listener(display: Display, every: u64) -> Box<dyn Listener> {
    let every = if every == 0 { u64::MAX } else { every };
    let out = io::stdout();
    match display {
        Display::Json => Box::new(JsonLines::new(out)),
        Display::Lines => Box::new(Lines::new(out, every)),
        Display::Stderr => Box::new(Lines::new(io::stderr(), every)),
        Display::Table => Box::new(LiveTable::new(out, terminal_size)),
    }
}

/// An unused name for a results file: fastchess overwrites its own, Readyok has one for each match.
fn unused_name(outname: &Path) -> PathBuf {
    if !outname.exists() {
        return outname.to_owned();
    }
    let stem = outname.file_stem().unwrap_or_default().to_string_lossy();
    let name = format!("{stem}-{}.json", unix_seconds());
    print_error(&format!("`{}` exists; writing results to `{name}`", outname.display()));
    outname.with_file_name(name)
}

pub(super) fn code(summary: &Summary) -> Code {
    match summary.end {
        End::Complete | End::Stopped | End::Test { .. } | End::Takes { .. } => Code::Done,
        End::Interrupted => Code::Interrupted,
        End::Failures { .. } | End::Error { .. } => Code::Failed,
    }
}

/// A random seed, short enough to type and exact in JSON.
pub(super) fn random_seed() -> u64 {
    RandomState::new().hash_one(unix_seconds()) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Errors of a file could show its lines to users of the page.
    #[test]
    fn a_pasted_test_reads_no_files_of_options() {
        let command = "readyok match narikin narikin --nodes 1 --options-file 1=/etc/passwd";
        let error = read_test(command, None).expect_err(command);
        assert_eq!(error, "write --option for each option instead of --options-file");
        let engine = |name: &str| {
            format!(
                "[[engines]]\nname = \"{name}\"\ncommand = \"narikin\"\nlimits = {{ nodes = 1 }}\n\
                 options_file = \"/etc/passwd\"\n"
            )
        };
        let plan = format!("game = \"chess\"\n{}{}", engine("a"), engine("b"));
        let (plan, _) = read_test(&plan, None).expect("a plan");
        let error = plan.check().expect_err("a file that was not read").to_string();
        assert!(error.contains("write `options` instead"), "{error}");
    }
}
