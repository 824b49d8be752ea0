//! The match that tests the result of a tuning.

use std::path::{Path, PathBuf};

use clap::Parser as _;
use clap::ValueEnum as _;
use readyok_arena::plan::{
    Adjudication, EnginePlan, Impasse, Limits, OpeningOrder, OpeningPolicy, OpeningSource,
    Openings, Plan, SprtPlan,
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
        let command: Vec<String> = arguments.iter().map(|argument| quoted(argument)).collect();
        Self { command: command.join(" "), plan }
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

/// An argument for a shell, without quotes where none are needed.
fn quoted(argument: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./+=,:".contains(letter);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        return argument.to_owned();
    }
    join_command_line([argument]).unwrap_or_default()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The arguments of the plan. Some settings have none: see [`describe`].
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
        if rules.impasse != Impasse::default() {
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

#[cfg(test)]
mod tests {
    use std::fs;

    use readyok_arena::tune::{TuneFile, TuneState};

    use super::*;
    use crate::dirs;
    use crate::matches::find_engine;

    const FILE: &str = r#"
        game = "chess"
        pairs = 10
        parameters = [{ name = "Move Overhead", start = 10, min = 0, max = 90, c_end = 4 }]
        [engine]
        name = "new"
        command = "narikin"
        options = { Hash = "16" }
        limits = { tc = "40/10+0.1", nodes = 500, margin_ms = 20 }
        timeouts = { ready_ms = 2500 }
        restart = true
        [openings]
        source = { kind = "built-in" }
        order = "random"
        skip = 3
        [adjudication]
        draw = { from_move = 40, moves = 8, score = 10 }
        resign = { moves = 3, score = 600, two_sided = true }
        max_moves = 100
    "#;

    fn test_of(file: &str) -> TestMatch {
        let mut plan = toml::from_str::<TuneFile>(file).expect(file).into_plan(7);
        plan.engines.iter_mut().try_for_each(|engine| find_engine(engine, &dirs::env)).expect("it");
        let status = TuneState::new(&plan).expect("a tuning").status();
        let directory = tempfile::tempdir().expect("a directory");
        let (tuned, start) = (OptionsFile::tuned(&status), OptionsFile::start(&status));
        let [tuned_path, start_path] =
            ["a b.toml", "start.toml"].map(|name| directory.path().join(name));
        for (path, file) in [(&tuned_path, &tuned), (&start_path, &start)] {
            fs::write(path, toml::to_string(file).expect("a table")).expect("space");
        }
        let tuned = Options { path: &tuned_path, file: &tuned };
        let test = TestMatch::new(&plan, tuned, Options { path: &start_path, file: &start }, 3);
        let command = test.command.replace(&text(directory.path()), "DIR");
        TestMatch { command, ..test }
    }

    #[test]
    fn the_arguments_describe_the_conditions_of_the_tuning() {
        let test = test_of(FILE);
        assert_eq!(
            test.command,
            "readyok match narikin narikin --name 1=tuned --name 2=start --options-file \
             '1=DIR/a b.toml' --options-file 2=DIR/start.toml --option Hash=16 --tc 40/10+0.1 \
             --nodes 500 --margin 20 --ready-timeout 2.5 --restart --openings built-in --random \
             --skip 3 --draw 40,8,10 --resign 3,600,both --max-moves 100 --sprt 0,5 --concurrency 3"
        );
        assert!(test.plan.is_none());
        let shogi = FILE.replace("\"chess\"", "\"shogi\"").replace("40/10+0.1", "10");
        assert!(test_of(&shogi).command.contains(" --game shogi "));
    }

    #[test]
    fn settings_without_an_argument_need_a_plan() {
        let test = test_of(&FILE.replace("restart = true", "env = { NET = \"a.nnue\" }"));
        assert_eq!(test.command, "readyok match --plan 'DIR/a b.test.toml' --concurrency 3");
        let (_, plan) = test.plan.expect("a plan");
        let text = toml::to_string(&plan).expect("a table");
        let read = Plan::from_toml(&text).expect(&text);
        assert_eq!(read, plan);
        let [tuned, start] = read.engines.as_slice() else { panic!("{read:?}") };
        assert_eq!((tuned.name.as_str(), start.options["Move Overhead"].as_str()), ("tuned", "10"));
        assert!(read.is_unlimited() && read.sprt == Some(SPRT) && read.tune.is_none());
    }
}
