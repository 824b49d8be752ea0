//! The conditions of a match, for its page, its report and the terminal. Made from the plan and the hashes of its files.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use readyok_rules::Game;
use serde::{Deserialize, Serialize};

use crate::contents::directory_of;
use crate::plan::{
    DrawAdjudication, EngineId, EnginePlan, Format, GamesPerPairing, GitSource, Limits,
    OpeningOrder, OpeningSource, Plan, ResignAdjudication, SprtPlan,
};
use crate::queue::MatchSpec;
use crate::store::ContentHash;
use crate::takes::BASE;

/// Everything that a reader must know to judge or repeat a match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct MatchConditions {
    /// The game.
    pub game: Game,
    /// The tournament format.
    pub format: Format,
    /// The number of rounds; `None` until the sequential test ends.
    pub rounds: Option<u32>,
    /// The number of pairings of two engines in a round.
    pub pairs_per_encounter: u32,
    /// The number of games of a pairing: 1 or 2.
    pub games_per_pair: u32,
    /// The engines, in the order of the plan.
    pub engines: Vec<EngineConditions>,
    /// The openings.
    pub openings: OpeningConditions,
    /// The adjudication of games.
    pub adjudication: AdjudicationConditions,
    /// The sequential test.
    pub test: Option<SprtPlan>,
    /// The tuning.
    pub tune: Option<TuneConditions>,
    /// The seed of all random choices, in decimal digits: JSON numbers are exact up to 2^53 only.
    pub seed: String,
    /// Where the games are played, if it is known.
    pub source: Option<MatchSource>,
    /// Its start in milliseconds since 1970, if it is known.
    pub started_ms: Option<u64>,
}

/// The conditions of an engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct EngineConditions {
    /// The name in the match.
    pub name: String,
    /// The command with its arguments.
    pub command: String,
    /// The commit from which the program is built.
    #[serde(default)]
    pub source: Option<SourceConditions>,
    /// The SHA-256 of the program, if it is known.
    #[cfg_attr(feature = "ts", ts(as = "Option<String>"))]
    pub hash: Option<ContentHash>,
    /// The value of the option for the number of threads.
    pub threads: Option<String>,
    /// The value of the option for the size of the transposition table, in MiB.
    pub hash_mb: Option<String>,
    /// The options that name files, such as networks.
    pub files: Vec<NamedFile>,
    /// The other options.
    pub options: BTreeMap<String, String>,
    /// The limits of a search.
    pub limits: Limits,
    /// Whether the engine searches on the opponent's time.
    pub ponder: bool,
}

/// The commit of an engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct SourceConditions {
    /// The source.
    pub source: GitSource,
    /// The address of the page of the commit, on a known host.
    pub page: Option<String>,
    /// The address of the page with the difference from the base, on a known host. The base is the second of two engines,
    /// or the first engine of several takes.
    pub difference: Option<String>,
}

/// An option that names a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct NamedFile {
    /// The option.
    pub option: String,
    /// Its value: the path.
    pub path: String,
    /// The SHA-256 of the file, if it is known.
    #[cfg_attr(feature = "ts", ts(as = "Option<String>"))]
    pub hash: Option<ContentHash>,
}

/// The openings of a match, without their moves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct OpeningConditions {
    /// The source.
    pub kind: OpeningKind,
    /// The path of a file, or the name of a handicap.
    pub name: Option<String>,
    /// The number of listed positions; 0 without a list.
    pub count: usize,
    /// The order.
    pub order: OpeningOrder,
    /// The number of openings that are skipped at the start.
    pub skip: u64,
    /// Maximum number of plies.
    pub plies: Option<u32>,
    /// The SHA-256 of the file, if it is known.
    #[cfg_attr(feature = "ts", ts(as = "Option<String>"))]
    pub hash: Option<ContentHash>,
}

/// The kind of a source of openings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum OpeningKind {
    /// The start position.
    Start,
    /// The built-in openings.
    BuiltIn,
    /// A file or a directory.
    File,
    /// A list of positions.
    Positions,
    /// Start positions of Chess960.
    Chess960,
    /// Chess960 with different first ranks.
    DoubleChess960,
    /// A handicap.
    Handicap,
}

/// The adjudication of games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct AdjudicationConditions {
    /// A draw by score.
    pub draw: Option<DrawAdjudication>,
    /// A loss by score.
    pub resign: Option<ResignAdjudication>,
    /// Maximum number of moves.
    pub max_moves: Option<u32>,
    /// Whether tablebases end games.
    pub tablebases: bool,
}

/// The settings of a tuning.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct TuneConditions {
    /// The number of parameters.
    pub parameters: usize,
    /// The exponent of the step sizes.
    pub alpha: f64,
    /// The exponent of the perturbations.
    pub gamma: f64,
    /// The stability constant A, as a fraction of the number of pairs.
    pub stability: f64,
}

/// Where games are played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum MatchSource {
    /// On the computer of the coordinator.
    Local {
        /// The number of games at the same time.
        concurrency: u32,
    },
    /// On the workers of a farm.
    Farm {
        /// The number of workers that have played or play.
        workers: usize,
        /// The number of CPUs of those that are connected; 0 if it is unknown.
        cores: usize,
    },
}

/// Options whose values are names of files even if no such file is found.
const FILE_OPTIONS: [&str; 3] = ["EvalFile", "EvalFileSmall", "WeightsFile"];

impl MatchConditions {
    /// The conditions of a plan. `hashes` are those of its files by command or path, as
    /// [`Origin::programs`](crate::store::Origin::programs).
    pub fn new(plan: &Plan, hashes: &BTreeMap<String, ContentHash>) -> Self {
        Self::of(plan, |_, path| hashes.get(path).copied())
    }

    /// The conditions of a specification, with the plan that is shown: without values of environment variables.
    pub fn of_spec(spec: &MatchSpec, plan: &Plan) -> Self {
        Self::of(plan, |engine, path| {
            // The openings are the only file of all engines.
            let Some(engine) = engine else { return spec.openings };
            let file = spec.file(engine, path).map(|file| file.content);
            file.or_else(|| spec.programs.get(path).copied())
        })
    }

    fn of(plan: &Plan, hash_of: impl Fn(Option<EngineId>, &str) -> Option<ContentHash>) -> Self {
        let engines = (0..).map(EngineId).zip(&plan.engines);
        let rules = &plan.adjudication;
        Self {
            game: plan.game,
            format: plan.format,
            rounds: Some(plan.rounds).filter(|_| !plan.is_unlimited()),
            pairs_per_encounter: plan.pairs_per_encounter,
            games_per_pair: match plan.games {
                GamesPerPairing::One => 1,
                GamesPerPairing::Two => 2,
            },
            engines: engines
                .map(|(id, engine)| EngineConditions {
                    source: source_of(plan, id, engine),
                    ..EngineConditions::of(engine, |path| hash_of(Some(id), path))
                })
                .collect(),
            openings: OpeningConditions::of(plan, |path| hash_of(None, path)),
            adjudication: AdjudicationConditions {
                draw: rules.draw,
                resign: rules.resign,
                max_moves: rules.max_moves,
                tablebases: rules.tablebases.is_some(),
            },
            test: plan.sprt,
            tune: plan.tune.as_ref().map(|tune| TuneConditions {
                parameters: tune.parameters.len(),
                alpha: tune.alpha,
                gamma: tune.gamma,
                stability: tune.stability,
            }),
            seed: plan.seed.to_string(),
            source: None,
            started_ms: None,
        }
    }

    /// The conditions that all engines share, as names and English texts.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![
            ("Rounds", self.rounds_text()),
            ("Openings", self.openings.to_string()),
            ("Seed", self.seed.clone()),
            ("Adjudication", self.adjudication.to_string()),
        ];
        if let Some(SprtPlan { model, elo0, elo1, alpha, beta }) = &self.test {
            let text = format!("{elo0} against {elo1} ({model}), α {alpha}, β {beta}");
            facts.push(("Sequential test", text));
        }
        if let Some(TuneConditions { parameters, alpha, gamma, stability }) = &self.tune {
            let text = format!("{parameters} parameters, α {alpha}, γ {gamma}, A {stability}");
            facts.push(("Tuning", text));
        }
        if let Some(source) = &self.source {
            facts.push(("Source", source.to_string()));
        }
        facts
    }

    fn rounds_text(&self) -> String {
        let plural =
            |count: u32, name: &str| format!("{count} {name}{}", if count == 1 { "" } else { "s" });
        let pairs = plural(self.pairs_per_encounter, "game pair");
        let rounds = self.rounds.map(|rounds| plural(rounds, "round"));
        format!("{}, {pairs} per encounter", rounds.as_deref().unwrap_or("until the test ends"))
    }
}

/// The commit of an engine, with the difference from the base.
fn source_of(plan: &Plan, id: EngineId, engine: &EnginePlan) -> Option<SourceConditions> {
    let source = engine.source.clone()?;
    let base = match (plan.format, plan.engines.len()) {
        (Format::Takes, _) => BASE,
        (_, 2) => EngineId(1),
        _ => id,
    };
    let base = plan.engine(base).filter(|_| base != id).and_then(|base| base.source.as_ref());
    let difference = base.and_then(|base| source.difference_page(base));
    Some(SourceConditions { page: source.commit_page(), difference, source })
}

impl EngineConditions {
    fn of(engine: &EnginePlan, hash_of: impl Fn(&str) -> Option<ContentHash>) -> Self {
        let directory = directory_of(engine, Some(Path::new(&engine.command)));
        let mut conditions = Self {
            name: engine.name.clone(),
            command: [&engine.command].into_iter().chain(&engine.args).fold(
                String::new(),
                |text, part| {
                    if text.is_empty() { part.clone() } else { format!("{text} {part}") }
                },
            ),
            source: None,
            hash: hash_of(&engine.command),
            threads: None,
            hash_mb: None,
            files: Vec::new(),
            options: BTreeMap::new(),
            limits: engine.limits,
            ponder: engine.ponder,
        };
        for (name, value) in &engine.options {
            let is = |other: &str| name.eq_ignore_ascii_case(other);
            let hash = hash_of(value)
                .or_else(|| hash_of(&directory.join(value).display().to_string()))
                .filter(|_| !value.is_empty());
            if is("Threads") {
                conditions.threads = Some(value.clone());
            } else if is("Hash") || is("USI_Hash") {
                conditions.hash_mb = Some(value.clone());
            } else if hash.is_some() || !value.is_empty() && FILE_OPTIONS.into_iter().any(is) {
                let (option, path) = (name.clone(), value.clone());
                conditions.files.push(NamedFile { option, path, hash });
            } else {
                conditions.options.insert(name.clone(), value.clone());
            }
        }
        conditions
    }

    /// The limits of a search as English text.
    pub fn limits_text(&self) -> String {
        let Limits { tc, byoyomi_ms, move_time_ms, nodes, depth, margin_ms } = &self.limits;
        let texts = [
            tc.map(|tc| tc.to_string()),
            byoyomi_ms.map(|ms| format!("byoyomi {ms} ms")),
            move_time_ms.map(|ms| format!("{ms} ms per move")),
            nodes.map(|nodes| format!("{nodes} nodes")),
            depth.map(|depth| format!("depth {depth}")),
            (*margin_ms > 0).then(|| format!("margin {margin_ms} ms")),
            self.ponder.then(|| "pondering".to_owned()),
        ];
        texts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// All options as text, `–` without any.
    pub fn options_text(&self) -> String {
        let known = [("Threads", &self.threads), ("Hash", &self.hash_mb)];
        let known = known.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
        let files = self.files.iter().map(|file| (file.option.as_str(), file.path.as_str()));
        let others = self.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let texts = known.chain(files).chain(others).map(|(name, value)| format!("{name}={value}"));
        let text = texts.collect::<Vec<_>>().join(", ");
        if text.is_empty() { "–".to_owned() } else { text }
    }
}

impl OpeningConditions {
    fn of(plan: &Plan, hash_of: impl Fn(&str) -> Option<ContentHash>) -> Self {
        let openings = &plan.openings;
        let (kind, name, count) = match &openings.source {
            OpeningSource::Start => (OpeningKind::Start, None, 0),
            OpeningSource::BuiltIn => (OpeningKind::BuiltIn, None, 0),
            OpeningSource::File { path, format: _ } => (OpeningKind::File, Some(path.clone()), 0),
            OpeningSource::Positions { list } => (OpeningKind::Positions, None, list.len()),
            OpeningSource::Chess960 { numbers } => (OpeningKind::Chess960, None, numbers.len()),
            OpeningSource::DoubleChess960 { numbers } => {
                (OpeningKind::DoubleChess960, None, numbers.len())
            }
            OpeningSource::Handicap { name } => (OpeningKind::Handicap, Some(name.clone()), 0),
        };
        let hash = name.as_deref().filter(|_| kind == OpeningKind::File).and_then(hash_of);
        let (order, skip, plies) = (openings.order, openings.skip, openings.plies);
        Self { kind, name, count, order, skip, plies, hash }
    }
}

impl fmt::Display for OpeningConditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_deref().unwrap_or_default();
        match self.kind {
            OpeningKind::Start => {
                return f.write_str("none: all games start from the start position");
            }
            OpeningKind::BuiltIn => f.write_str("built-in openings"),
            OpeningKind::File => f.write_str(name),
            OpeningKind::Positions => write!(f, "{} positions", self.count),
            OpeningKind::Chess960 => match self.count {
                0 => f.write_str("all start positions of Chess960"),
                count => write!(f, "{count} start positions of Chess960"),
            },
            OpeningKind::DoubleChess960 => match self.count {
                0 => f.write_str("all start positions of double Chess960"),
                count => write!(f, "{count} start positions of double Chess960"),
            },
            OpeningKind::Handicap => write!(f, "handicap {name}"),
        }?;
        f.write_str(match self.order {
            OpeningOrder::Sequential => ", sequential",
            OpeningOrder::Random => ", random",
            OpeningOrder::Fastchess => ", random as in fastchess",
        })?;
        if let Some(plies) = self.plies {
            write!(f, ", {plies} plies")?;
        }
        if self.skip > 0 {
            write!(f, ", skipping {}", self.skip)?;
        }
        Ok(())
    }
}

impl fmt::Display for AdjudicationConditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts = [
            self.draw.map(|DrawAdjudication { from_move, moves, score }| {
                format!("draw: {moves} moves within {score} cp from move {from_move}")
            }),
            self.resign.map(|ResignAdjudication { moves, score, two_sided }| {
                let sides = if two_sided { ", both sides" } else { "" };
                format!("loss: {moves} moves below -{score} cp{sides}")
            }),
            self.max_moves.map(|moves| format!("draw after {moves} moves")),
            self.tablebases.then(|| "Syzygy tablebases".to_owned()),
        ];
        let text = texts.into_iter().flatten().collect::<Vec<_>>().join("; ");
        f.write_str(if text.is_empty() { "none" } else { &text })
    }
}

impl fmt::Display for MatchSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        match *self {
            Self::Local { concurrency: 1 } => f.write_str("this computer, one game at a time"),
            Self::Local { concurrency } => {
                write!(f, "this computer, {concurrency} games at the same time")
            }
            Self::Farm { workers, cores: 0 } => {
                write!(f, "farm, {workers} worker{}", plural(workers))
            }
            Self::Farm { workers, cores } => {
                let (of_workers, of_cores) = (plural(workers), plural(cores));
                write!(f, "farm, {workers} worker{of_workers}, {cores} core{of_cores}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{OpeningSource, Openings};

    #[test]
    fn networks_threads_and_hash_are_separated_from_other_options() {
        let options = [
            ("Threads", "2"),
            ("Hash", "16"),
            ("EvalFile", "nets/a.nnue"),
            ("EvalFileSmall", "b.nnue"),
            ("Contempt", "3"),
            ("SyzygyPath", ""),
        ];
        let options = options.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let engine = EnginePlan {
            name: "new".to_owned(),
            command: "/opt/new/engine".to_owned(),
            args: vec!["-q".to_owned()],
            options: options.into(),
            ..EnginePlan::default()
        };
        let source = OpeningSource::File { path: "book.epd".to_owned(), format: None };
        let openings = Openings { source, order: OpeningOrder::Random, ..Openings::default() };
        let plan = Plan { engines: vec![engine], openings, ..Plan::new(Game::Chess) };
        let hash = ContentHash::of;
        let hashes = [
            ("/opt/new/engine", hash(b"program")),
            ("/opt/new/nets/a.nnue", hash(b"network")),
            ("book.epd", hash(b"book")),
        ];
        let hashes = hashes.map(|(path, hash)| (path.to_owned(), hash)).into();
        let conditions = MatchConditions::new(&plan, &hashes);
        let [engine] = conditions.engines.as_slice() else { panic!("one engine") };
        assert_eq!(
            (engine.command.as_str(), engine.hash),
            ("/opt/new/engine -q", Some(hash(b"program")))
        );
        assert_eq!((engine.threads.as_deref(), engine.hash_mb.as_deref()), (Some("2"), Some("16")));
        let files = engine.files.iter().map(|file| (file.option.as_str(), file.hash));
        let files: Vec<_> = files.collect();
        assert_eq!(files, [("EvalFile", Some(hash(b"network"))), ("EvalFileSmall", None)]);
        assert_eq!(engine.options.keys().collect::<Vec<_>>(), ["Contempt", "SyzygyPath"]);
        assert_eq!(conditions.openings.hash, Some(hash(b"book")));
        assert_eq!(conditions.openings.to_string(), "book.epd, random");
    }
}
