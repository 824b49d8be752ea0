//! The match that tests the result of a tuning.

use std::path::{Path, PathBuf};

use clap::Parser as _;
use clap::ValueEnum as _;
use readyok_arena::plan::{
    Adjudication, EnginePlan, Limits, OpeningOrder, OpeningPolicy, OpeningSource, Openings, Plan,
    SprtPlan,
};
use readyok_arena::stats::Model;
use readyok_arena::tune::OptionsFile;
use readyok_client::unstable::join_command_line;
use readyok_rules::Game;

use crate::cli::match_plan::PlanArgs;

/// The Elo bounds and error rates of the test.
const SPRT: SprtPlan =
    SprtPlan { model: Model::Normalized, elo0: 0.0, elo1: 5.0, alpha: 0.05, beta: 0.05 };

/// A file of options with its path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options<'a> {
    pub(super) path: &'a Path,
    pub(super) file: &'a OptionsFile,
}

/// How a result is tested.
#[derive(Debug)]
pub(super) struct TestMatch {
    /// The command.
    pub(super) command: String,
    /// The plan that the command reads, and its file: none if arguments describe the match.
    pub(super) plan: Option<(PathBuf, Plan)>,
}

/// A command line with the arguments of a plan.
#[derive(Debug, clap::Parser)]
#[command(no_binary_name = true)]
struct PlanCommand {
    #[command(flatten)]
    plan: PlanArgs,
}

impl TestMatch {
    /// The match of the tuned values against the start values, under the conditions of the tuning. Both files of
    /// options must exist.
    pub(super) fn new(tuning: &Plan, tuned: Options<'_>, start: Options<'_>, slots: u16) -> Self {
        let plan = plan(tuning, tuned.file, start.file);
        let arguments = plan.as_ref().and_then(|plan| {
            let arguments = arguments(plan, tuned, start)?;
            // Settings without an argument, such as environment variables, need a file.
            describe(&arguments, plan).then_some(arguments)
        });
        let (mut arguments, plan) = match (arguments, plan) {
            (Some(arguments), _) => (arguments, None),
            (None, plan) => {
                let path = tuned.path.with_extension("test.toml");
                (vec!["--plan".to_owned(), text(&path)], plan.map(|plan| (path, plan)))
            }
        };
        arguments.splice(0..0, ["readyok".to_owned(), "match".to_owned()]);
        arguments.extend(["--concurrency".to_owned(), slots.to_string()]);
        let command = join_command_line(arguments.iter().map(String::as_str)).unwrap_or_default();
        Self { command, plan }
    }
}

/// The plan of the match. `None` if the tuning has no engine.
fn plan(tuning: &Plan, tuned: &OptionsFile, start: &OptionsFile) -> Option<Plan> {
    let engine = tuning.engines.first()?;
    let side = |name: &str, file: &OptionsFile| {
        let mut options = engine.options.clone();
        options.extend(file.options.clone());
        EnginePlan { name: name.to_owned(), options, ..engine.clone() }
    };
    Some(Plan {
        event: String::new(),
        engines: vec![side("tuned", tuned), side("start", start)],
        rounds: Plan::UNLIMITED_ROUNDS,
        sprt: Some(SPRT),
        tune: None,
        // Other openings and games than those of the tuning.
        seed: tuning.seed.wrapping_add(1),
        ..tuning.clone()
    })
}

/// Whether the arguments describe a match of this plan.
fn describe(arguments: &[String], plan: &Plan) -> bool {
    let parsed = PlanCommand::try_parse_from(arguments);
    parsed.is_ok_and(|command| command.plan.plan(plan.seed).is_ok_and(|found| found == *plan))
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The arguments of the plan, as far as there are any: see [`describe`].
fn arguments(plan: &Plan, tuned: Options<'_>, start: Options<'_>) -> Option<Vec<String>> {
    let engine = plan.engines.first()?;
    let mut list = Arguments(Vec::new());
    let address = address(engine)?;
    list.0.extend([address.clone(), address]);
    list.add("--name", "1=tuned");
    list.add("--name", "2=start");
    if plan.game != Game::Chess {
        list.add("--game", plan.game.to_possible_value()?.get_name());
    }
    for (number, options) in [(1, tuned), (2, start)] {
        list.add("--options-file", &format!("{number}={}", text(options.path)));
    }
    for (name, value) in &engine.options {
        if !tuned.file.options.contains_key(name) {
            list.add("--option", &format!("{name}={value}"));
        }
    }
    list.limits(engine);
    list.openings(&plan.openings)?;
    list.adjudication(&plan.adjudication)?;
    let SprtPlan { elo0, elo1, .. } = SPRT;
    list.add("--sprt", &format!("{elo0},{elo1}"));
    Some(list.0)
}

/// The argument for an engine.
fn address(engine: &EnginePlan) -> Option<String> {
    let own = std::env::current_exe().ok();
    let is_own = own.is_some_and(|own| own.to_str() == Some(&engine.command));
    if is_own && engine.args == ["engine"] {
        return Some("narikin".to_owned());
    }
    if engine.args.is_empty() && !engine.command.contains(char::is_whitespace) {
        return Some(engine.command.clone());
    }
    let tokens = std::iter::once(&engine.command).chain(&engine.args).map(String::as_str);
    join_command_line(tokens)
}

struct Arguments(Vec<String>);

impl Arguments {
    fn add(&mut self, flag: &str, value: &str) {
        self.0.extend([flag.to_owned(), value.to_owned()]);
    }

    fn number(&mut self, flag: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.add(flag, &value.to_string());
        }
    }

    fn flag(&mut self, flag: &str, is_set: bool) {
        if is_set {
            self.0.push(flag.to_owned());
        }
    }

    fn limits(&mut self, engine: &EnginePlan) {
        let Limits { tc, byoyomi_ms, move_time_ms, nodes, depth, margin_ms } = engine.limits;
        self.number("--tc", tc);
        self.number("--byoyomi", byoyomi_ms.map(seconds));
        self.number("--movetime", move_time_ms);
        self.number("--nodes", nodes);
        self.number("--depth", depth);
        self.number("--margin", Some(margin_ms).filter(|margin| *margin > 0));
        self.number(
            "--handshake-timeout",
            engine.timeouts.handshake_ms.map(|ms| seconds(ms.get())),
        );
        self.number("--ready-timeout", engine.timeouts.ready_ms.map(|ms| seconds(ms.get())));
        self.flag("--ponder", engine.ponder);
        self.flag("--restart", engine.restart);
        self.flag("--trust-mates", engine.trust_mates);
        self.flag("--whitepov", engine.whitepov);
    }

    fn openings(&mut self, openings: &Openings) -> Option<()> {
        match &openings.source {
            OpeningSource::Start | OpeningSource::Chess960 { .. } => {}
            OpeningSource::BuiltIn => self.add("--openings", "built-in"),
            OpeningSource::File { path, format } => {
                self.add("--openings", path);
                if let Some(format) = format {
                    self.add("--book-format", format.to_possible_value()?.get_name());
                }
            }
            OpeningSource::Handicap { name } => self.add("--handicap", name),
            OpeningSource::Positions { .. } | OpeningSource::DoubleChess960 { .. } => return None,
        }
        self.flag("--random", openings.order == OpeningOrder::Random);
        self.number("--skip", Some(openings.skip).filter(|skip| *skip > 0));
        self.number("--plies", openings.plies);
        self.number("--repeat", openings.repeat);
        if openings.policy != OpeningPolicy::default() {
            self.add("--opening-policy", openings.policy.to_possible_value()?.get_name());
        }
        Some(())
    }

    fn adjudication(&mut self, rules: &Adjudication) -> Option<()> {
        self.number(
            "--draw",
            rules.draw.map(|draw| format!("{},{},{}", draw.from_move, draw.moves, draw.score)),
        );
        self.number(
            "--resign",
            rules.resign.map(|resign| {
                let both = if resign.two_sided { ",both" } else { "" };
                format!("{},{}{both}", resign.moves, resign.score)
            }),
        );
        self.number("--max-moves", rules.max_moves);
        if let Some(tablebases) = &rules.tablebases {
            tablebases.paths.iter().for_each(|path| self.add("--syzygy", path));
            self.number("--syzygy-pieces", Some(tablebases.pieces).filter(|pieces| *pieces > 0));
            self.flag("--syzygy-ignore-fifty", tablebases.ignore_fifty_moves);
            self.add("--syzygy-scope", tablebases.scope.to_possible_value()?.get_name());
        }
        if rules.impasse != Default::default() {
            self.add("--impasse", rules.impasse.to_possible_value()?.get_name());
        }
        Some(())
    }
}

/// Milliseconds as seconds.
fn seconds(millis: u64) -> String {
    let text = format!("{}.{:03}", millis / 1000, millis % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
