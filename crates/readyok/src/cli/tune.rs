//! `readyok tune`.

mod test_match;

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use readyok_arena::durable::{self, FileAccess};
use readyok_arena::event::Event;
use readyok_arena::export::{Existing, Export, Form, PgnStyle};
use readyok_arena::listener::Listener;
use readyok_arena::match_state::MatchState;
use readyok_arena::runner::Settings;
use readyok_arena::store::Reader;
use readyok_arena::tune::{OptionsFile, TuneFile, TuneState, TunedParameter};

use crate::cli::execution::ExecutionArgs;
use crate::cli::matches::{code, match_failure, random_seed};
use crate::cli::tune::test_match::{Options, TestMatch};
use crate::cli::worker::{BuildArgs, QueueArgs};
use crate::connect::start_guard;
use crate::dirs;
use crate::exit::{Code, Failure};
use crate::matches::{Extension, MatchText, PlayOptions, Results, Run, StartedMatch, find_engine};
use crate::terminal::print;

const HELP: &str = "\
Examples:
  readyok tune tune.toml --concurrency 8 --report tune.html
  readyok tune --resume tune-1700000000.jsonl --concurrency 8
  readyok tune tune.toml --queue nats://10.0.0.1

The file has the engine, the number of game pairs and the options to tune with their ranges and perturbations. The results file can be resumed after any exit.";

/// Tune numeric options of an engine by SPSA
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    /// File with the engine and the options to tune
    #[arg(value_name = "FILE.toml", required_unless_present = "resume", conflicts_with = "resume")]
    file: Option<PathBuf>,
    #[arg(
        long,
        value_name = "FILE.toml",
        help = "File for the tuned options [default: the results file with the extension .options.toml]"
    )]
    options: Option<PathBuf>,
    /// Number of game pairs between two printed lines with the values
    #[arg(long, value_name = "N", default_value_t = 100)]
    interval: u64,
    #[command(flatten)]
    execution: ExecutionArgs,
    #[command(flatten)]
    queue: QueueArgs,
}

pub(super) fn run(args: Args) -> Result<Code, Failure> {
    let queue = args.queue.queue(&dirs::env)?;
    let results = results(&args)?;
    let form = Form::Pgn(PgnStyle::default());
    let execution = args.execution;
    let exports = execution.pgn.map(|path| Export { path, form, existing: Existing::Replace });
    let guard = start_guard().map_err(Failure::failed)?;
    let run = Run {
        results,
        settings: Settings::default(),
        slots: usize::from(execution.concurrency),
        pin: execution.pin,
        exports: exports.into_iter().collect(),
        events: execution.events,
        report: execution.report,
        queue,
        builder: BuildArgs::default().local(&guard),
        guard,
        play_options: PlayOptions::default(),
    };
    let interval = args.interval.max(1);
    let results = Arc::new(Mutex::new(PathBuf::new()));
    let path = Arc::clone(&results);
    let summary = run.play(|started: StartedMatch<'_>| {
        started.results.clone_into(&mut path.lock().unwrap_or_else(PoisonError::into_inner));
        let names = started.plan.tune.iter().flat_map(|tune| &tune.parameters);
        vec![Box::new(Values {
            names: names.map(|parameter| parameter.name.clone()).collect(),
            interval,
            due: false,
        }) as Box<dyn Listener>]
    });
    let summary = summary.map_err(match_failure)?;
    let results = results.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let options = args.options.unwrap_or_else(|| results.with_extension("options.toml"));
    finish(&results, &options, execution.concurrency).map_err(Failure::failed)?;
    Ok(code(&summary))
}

fn results(args: &Args) -> Result<Results, Failure> {
    if let Some(path) = &args.execution.resume {
        let failed =
            |why: &dyn std::fmt::Display| Failure::usage(format!("`{}`: {why}", path.display()));
        let stored = Reader::open(path).map_err(|error| failed(&error))?;
        if stored.plan().tune.is_none() {
            return Err(failed(&"not a tuning; use `readyok match --resume`"));
        }
        return Ok(args.execution.resumed(path, Extension::None));
    }
    let path = args.file.as_deref().unwrap_or_else(|| Path::new(""));
    let failed =
        |why: &dyn std::fmt::Display| Failure::usage(format!("`{}`: {why}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| failed(&error))?;
    let file: TuneFile = toml::from_str(&text).map_err(|error| failed(&error))?;
    let mut plan = file.into_plan(random_seed());
    let directory = path.parent().unwrap_or_else(|| Path::new(""));
    for engine in &mut plan.engines {
        engine.read_options_file(directory).map_err(|error| failed(&error))?;
    }
    for engine in &mut plan.engines {
        find_engine(engine, &dirs::env).map_err(|error| failed(&error))?;
    }
    Ok(Results::New(args.execution.name("tune"), Box::new(plan)))
}

/// Writes the averages of a results file as a TOML file, and prints them with the command that tests them.
fn finish(results: &Path, options: &Path, slots: u16) -> Result<(), Box<dyn std::error::Error>> {
    let reader = Reader::open(results)?;
    let plan = reader.plan().clone();
    let mut tune = TuneState::new(&plan).ok_or("not a tuning")?;
    for pair in reader {
        tune.add(&pair?);
    }
    let (status, total) = (tune.status(), u64::from(plan.rounds));
    let tuned = OptionsFile::tuned(&status);
    let head = format!("# After {} of {total} game pairs. {}", status.pairs, status.gain_text());
    write(options, &format!("{head}\n{}", toml::to_string(&tuned)?))?;
    for tuned in &status.parameters {
        let TunedParameter { name, start, rounded, .. } = tuned;
        let (average, best) = (tuned.average_text(), tuned.interval());
        print(&format!(
            "setoption name {name} value {rounded} (start {start}, average {average}, best value {best})"
        ));
    }
    let moving = status.parameters.iter().filter(|tuned| !tuned.has_arrived());
    let moving: Vec<&str> = moving.map(|tuned| tuned.name.as_str()).collect();
    if !moving.is_empty() {
        print(&format!("not yet at their best values: {}", moving.join(", ")));
    }
    print(&status.gain_text());
    print(&format!("options: {}", options.display()));
    let start_path = options.with_extension("start.toml");
    let start = OptionsFile::start(&status);
    write(&start_path, &format!("# The start values\n{}", toml::to_string(&start)?))?;
    let tuned = Options { path: options, file: &tuned };
    let test = TestMatch::new(&plan, tuned, Options { path: &start_path, file: &start }, slots);
    if let Some((path, plan)) = &test.plan {
        write(path, &toml::to_string(plan)?)?;
    }
    print(&format!("test: {}", test.command));
    if status.pairs < total {
        print(&format!("resume: readyok tune --resume {}", results.display()));
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    durable::replace(path, text.as_bytes(), FileAccess::Default)
        .map_err(|error| format!("`{}`: {error}", path.display()))
}

/// Prints the values at intervals, and warnings.
struct Values {
    names: Vec<String>,
    interval: u64,
    /// The next values are printed.
    due: bool,
}

impl Values {
    fn print(text: &str) {
        // Standard output may be closed.
        let mut out = io::stdout();
        let _ = writeln!(out, "{text}").and_then(|()| out.flush());
    }
}

impl Listener for Values {
    fn on_event(&mut self, event: &Event, state: &MatchState) {
        match event {
            Event::PairEnd { complete, .. } => self.due = complete.is_multiple_of(self.interval),
            Event::Parameters { values, averages } if std::mem::take(&mut self.due) => {
                let values = self.names.iter().zip(values.iter().zip(averages));
                let mut line = format!("{}/{} game pairs", state.pairs(), state.total());
                for (name, (value, average)) in values {
                    let _ = write!(line, "  {name} {value:.2} (average {average:.2})");
                }
                Self::print(&line);
            }
            Event::MatchStart { .. }
            | Event::Warning { .. }
            | Event::Stopping { .. }
            | Event::MatchEnd { .. } => {
                MatchText(state).line(event).iter().for_each(|line| Self::print(line));
            }
            _ => {}
        }
    }
}
