//! Converts a command line of fastchess to a plan.

use std::path::PathBuf;
use std::time::Duration;

use readyok_client::unstable::split_command_line;
use readyok_rules::Game;

use crate::plan::{
    Adjudication, BookFormat, Colors, DrawAdjudication, EnginePlan, Format, GamesPerPairing,
    OpeningOrder, OpeningPolicy, OpeningSource, Openings, PairingOrder, Plan, PvCheck,
    ResignAdjudication, SprtPlan, TablebaseAdjudication, TablebaseScope, TimeControl,
};
use crate::stats::Model;

use super::arguments::{
    ArgumentError, Flag, boolean, cpus, each, epd_out, log, number, pgn_out, split,
};
use super::options::{Options, OutputFormat};
use crate::fastchess::arguments;

/// The action of a command line.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Play a match.
    Play(Box<Invocation>),
    /// Print the version.
    Version,
    /// Print help.
    Help,
    /// Check an engine.
    Compliance {
        /// The executable.
        command: String,
        /// The arguments of the executable.
        args: Vec<String>,
    },
}

/// A match described by a command line.
#[derive(Clone, Debug, PartialEq)]
pub struct Invocation {
    /// The plan.
    pub plan: Plan,
    /// Options about the host and the output.
    pub options: Options,
}

/// Parses command line arguments without the name of the executable. `seed` is the default of
/// `-srand`.
///
/// # Errors
/// The first invalid argument.
pub fn parse(args: &[String], seed: u64) -> Result<Request, ArgumentError> {
    if args.is_empty() {
        return Ok(Request::Help);
    }
    let flags = split(args)?;
    let mut reader = Reader::new(seed);
    for flag in &flags {
        match flag.name {
            "-version" | "--version" | "-v" | "--v" => return Ok(Request::Version),
            "-help" | "--help" => return Ok(Request::Help),
            "-compliance" | "--compliance" => return compliance(&flag.values),
            "-debug" => {
                let text = "`-debug` is not supported: use `-log` with `engine=true`";
                return Err(ArgumentError::Conflict(text));
            }
            // Applies to all engines, regardless of its position.
            "-each" => {}
            _ => reader.apply(flag)?,
        }
    }
    for flag in flags.iter().filter(|flag| flag.name == "-each") {
        for (key, value) in &flag.pairs {
            for engine in &mut reader.plan.engines {
                arguments::set(flag.name, engine, key, value)?;
            }
        }
    }
    reader.finish().map(|invocation| Request::Play(Box::new(invocation)))
}

/// An engine to check and its arguments: a list, or one text with shell quoting.
fn compliance(values: &[String]) -> Result<Request, ArgumentError> {
    let (command, args) = values.split_first().ok_or(ArgumentError::EngineWithoutCommand)?;
    let args = match args {
        [line] => split_command_line(line).ok_or_else(|| ArgumentError::BadValue {
            option: "--compliance",
            value: line.clone(),
            expected: "balanced quotes",
        })?,
        args => args.to_vec(),
    };
    Ok(Request::Compliance { command: command.clone(), args })
}

struct Reader {
    plan: Plan,
    options: Options,
    games: u32,
    gauntlet: bool,
    seeds: u32,
    tablebases: Option<Vec<String>>,
    tb: (u32, bool, TablebaseScope),
}

impl Reader {
    fn new(seed: u64) -> Self {
        let plan = Plan {
            game: Game::Chess,
            event: "Fastchess Tournament".to_owned(),
            site: "?".to_owned(),
            engines: Vec::new(),
            format: Format::RoundRobin,
            pairing_order: PairingOrder::Fastchess,
            rounds: 2,
            pairs_per_encounter: 1,
            games: GamesPerPairing::Two,
            colors: Colors::default(),
            search_timeout_ms: None,
            wait_ms: None,
            pv_check: PvCheck::default(),
            openings: Openings::default(),
            adjudication: Adjudication { as_fastchess: true, ..Adjudication::default() },
            sprt: None,
            tune: None,
            seed,
        };
        let tb = (0, false, TablebaseScope::Both);
        Self {
            plan,
            options: Options::default(),
            games: 2,
            gauntlet: false,
            seeds: 1,
            tablebases: None,
            tb,
        }
    }

    fn apply(&mut self, flag: &Flag) -> Result<(), ArgumentError> {
        let bad = |expected| ArgumentError::BadValue {
            option: flag.name,
            value: flag.value().to_owned(),
            expected,
        };
        match flag.name {
            "-engine" => {
                let mut plan = EnginePlan::default();
                for (key, value) in &flag.pairs {
                    arguments::set(flag.name, &mut plan, key, value)?;
                }
                self.plan.engines.push(plan);
            }
            "-quick" => self.quick(flag)?,
            "-event" => self.plan.event = flag.values.concat(),
            "-site" => self.plan.site = flag.values.concat(),
            "-variant" => {
                self.plan.game = match flag.value() {
                    "standard" => Game::Chess,
                    "fischerandom" => Game::Chess960,
                    // Beyond fastchess.
                    "shogi" => Game::Shogi,
                    _ => return Err(bad("standard or fischerandom")),
                }
            }
            "-tournament" => {
                self.gauntlet = match flag.value() {
                    "roundrobin" => false,
                    "gauntlet" => true,
                    _ => return Err(bad("roundrobin or gauntlet")),
                }
            }
            "-seeds" => self.seeds = number(flag)?,
            "-rounds" => {
                self.plan.rounds = number(flag)?;
                self.options.resume.rounds = Some(self.plan.rounds);
            }
            "-games" => self.games = number(flag)?,
            "-repeat" => {
                self.games = match flag.values.as_slice() {
                    [games] => games.parse().unwrap_or(2),
                    _ => 2,
                }
            }
            "-noswap" => self.options.noswap = true,
            "-reverse" => self.options.reverse = true,
            "-srand" => self.plan.seed = number(flag)?,
            "-openings" => self.openings(flag)?,
            "-sprt" => self.sprt(flag)?,
            "-draw" => self.draw(flag)?,
            "-resign" => self.resign(flag)?,
            "-maxmoves" => self.plan.adjudication.max_moves = Some(number(flag)?),
            "-tb" => {
                let separator = if cfg!(windows) { ';' } else { ':' };
                let paths = flag.value().split([separator, ';']);
                let paths = paths.filter(|path| !path.is_empty());
                self.tablebases = Some(paths.map(str::to_owned).collect());
            }
            "-tbpieces" => self.tb.0 = number(flag)?,
            "-tbignore50" => self.tb.1 = true,
            "-tbadjudicate" => {
                self.tb.2 = match flag.value() {
                    "WIN_LOSS" => TablebaseScope::WinLoss,
                    "DRAW" => TablebaseScope::Draw,
                    "BOTH" => TablebaseScope::Both,
                    _ => return Err(bad("WIN_LOSS, DRAW or BOTH")),
                }
            }
            _ => self.option(flag)?,
        }
        Ok(())
    }

    /// Applies an option about the host or the output.
    fn option(&mut self, flag: &Flag) -> Result<(), ArgumentError> {
        let options = &mut self.options;
        let interval = || number(flag).map(|every: u32| Some(every).filter(|&every| every > 0));
        let millis = || number(flag).map(Duration::from_millis);
        match flag.name {
            "-concurrency" => options.concurrency = number(flag)?,
            "-force-concurrency" => options.force_concurrency = true,
            "-use-affinity" => options.affinity = Some(cpus(flag)?),
            "-recover" => options.recover = true,
            "-wait" => options.wait = millis()?,
            "-startup-ms" => options.startup = millis()?,
            "-ucinewgame-ms" => options.new_game = millis()?,
            "-ping-ms" => options.ping = Some(millis()?),
            "-ratinginterval" => options.rating_interval = interval()?,
            "-scoreinterval" => options.score_interval = interval()?,
            "-autosaveinterval" => options.resume.autosave = interval()?,
            "-strict" => options.strict = true,
            "-check-mate-pvs" => options.check_mate_pvs = true,
            "-testEnv" => options.test_env = true,
            "-pgnout" => options.pgn = Some(pgn_out(flag)?),
            "-epdout" => options.epd = Some(epd_out(flag)?),
            "-log" => options.log = Some(log(flag)?),
            "-report" => each(flag, |key, value| match key {
                "penta" => boolean(value).map(|penta| options.penta = penta),
                _ => None,
            })?,
            "-crc32" => each(flag, |key, value| match key {
                "pgn" => boolean(value).map(|crc32| options.crc32 = crc32),
                _ => None,
            })?,
            "-output" => each(flag, |key, value| {
                options.output = match (key, value) {
                    ("format", "fastchess") => OutputFormat::Fastchess,
                    ("format", "cutechess") => OutputFormat::Cutechess,
                    _ => return None,
                };
                Some(())
            })?,
            "-config" => {
                let resume = &mut options.resume;
                each(flag, |key, value| {
                    match key {
                        "file" => resume.file = Some(PathBuf::from(value)),
                        "outname" => resume.outname = PathBuf::from(value),
                        "discard" => resume.discard = boolean(value)?,
                        "stats" => resume.stats = boolean(value)?,
                        _ => return None,
                    }
                    Some(())
                })?;
            }
            // `-show-latency` is ignored: `-pgnout latency=true` has the latency of each move. `split` accepts no other
            // options.
            _ => {}
        }
        Ok(())
    }

    fn openings(&mut self, flag: &Flag) -> Result<(), ArgumentError> {
        let openings = &mut self.plan.openings;
        let (mut file, mut format) = (None, None);
        each(flag, |key, value| {
            match key {
                "file" => file = Some(value.to_owned()),
                "format" => {
                    format = Some(match value {
                        "epd" => BookFormat::Epd,
                        "pgn" => BookFormat::Pgn,
                        // Beyond fastchess.
                        "sfen" => BookFormat::Sfen,
                        "kif" => BookFormat::Kif,
                        "polyglot" => BookFormat::Polyglot,
                        _ => return None,
                    });
                }
                "order" => {
                    openings.order = match value {
                        "sequential" => OpeningOrder::Sequential,
                        "random" => OpeningOrder::Fastchess,
                        _ => return None,
                    }
                }
                "plies" => {
                    // -1 means all plies in fastchess.
                    let plies: i64 = value.parse().ok()?;
                    openings.plies = u32::try_from(plies).ok();
                }
                "start" => {
                    let start: u64 = value.parse().ok()?;
                    openings.skip = start.checked_sub(1)?;
                }
                "policy" if value == "round" => {}
                _ => return None,
            }
            Some(())
        })?;
        if let Some(path) = file {
            openings.source = OpeningSource::File { path, format };
        }
        Ok(())
    }

    fn sprt(&mut self, flag: &Flag) -> Result<(), ArgumentError> {
        let model = Model::Normalized;
        let mut sprt = SprtPlan { model, elo0: 0.0, elo1: 0.0, alpha: 0.0, beta: 0.0 };
        each(flag, |key, value| {
            let decimal = || value.parse().ok().filter(|number: &f64| number.is_finite());
            match key {
                "elo0" => sprt.elo0 = decimal()?,
                "elo1" => sprt.elo1 = decimal()?,
                "alpha" => sprt.alpha = decimal()?,
                "beta" => sprt.beta = decimal()?,
                "model" => {
                    sprt.model = match value {
                        "normalized" => Model::Normalized,
                        "logistic" => Model::Logistic,
                        "bayesian" => Model::FastchessBayesian,
                        _ => return None,
                    }
                }
                _ => return None,
            }
            Some(())
        })?;
        self.plan.sprt = Some(sprt);
        Ok(())
    }

    fn draw(&mut self, flag: &Flag) -> Result<(), ArgumentError> {
        let mut draw = DrawAdjudication { from_move: 0, moves: 1, score: 0 };
        each(flag, |key, value| {
            let field = match key {
                "movenumber" => &mut draw.from_move,
                "movecount" => &mut draw.moves,
                "score" => &mut draw.score,
                _ => return None,
            };
            *field = value.parse().ok()?;
            Some(())
        })?;
        self.plan.adjudication.draw = Some(draw);
        Ok(())
    }

    fn resign(&mut self, flag: &Flag) -> Result<(), ArgumentError> {
        let mut resign = ResignAdjudication { moves: 1, score: 0, two_sided: false };
        each(flag, |key, value| {
            match key {
                "movecount" => resign.moves = value.parse().ok()?,
                "score" => resign.score = value.parse().ok()?,
                "twosided" => resign.two_sided = boolean(value)?,
                _ => return None,
            }
            Some(())
        })?;
        self.plan.adjudication.resign = Some(resign);
        Ok(())
    }

    /// Applies `-quick`: two engines and a book with default settings.
    fn quick(&mut self, flag: &Flag) -> Result<(), ArgumentError> {
        let mut books = Vec::new();
        let engines = &mut self.plan.engines;
        let before = engines.len();
        each(flag, |key, value| {
            match key {
                "cmd" => {
                    let tc = Some(TimeControl {
                        moves: None,
                        time: Duration::from_secs(10),
                        increment: Duration::from_millis(100),
                        hourglass: false,
                    });
                    let mut plan = EnginePlan { command: value.to_owned(), ..Default::default() };
                    plan.name.clone_from(&plan.command);
                    plan.limits.tc = tc;
                    engines.push(plan);
                }
                "book" => books.push(value.to_owned()),
                _ => return None,
            }
            Some(())
        })?;
        let (2, Some(path)) = (engines.len() - before, books.pop()) else {
            return Err(ArgumentError::Conflict("`-quick` requires two `cmd` and a `book`"));
        };
        if let [.., one, other] = engines.as_mut_slice()
            && one.name == other.name
        {
            one.name.push('1');
            other.name.push('2');
        }
        self.plan.openings.source = OpeningSource::File { path, format: None };
        self.plan.openings.order = OpeningOrder::Fastchess;
        self.plan.adjudication.draw = Some(DrawAdjudication { from_move: 30, moves: 8, score: 8 });
        self.plan.rounds = 25_000;
        self.games = 2;
        self.options.recover = true;
        self.options.output = OutputFormat::Cutechess;
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        self.options.concurrency = i64::try_from(cpus.saturating_sub(2).max(1)).unwrap_or(1);
        Ok(())
    }

    fn finish(mut self) -> Result<Invocation, ArgumentError> {
        let plan = &mut self.plan;
        if self.gauntlet {
            plan.format = Format::Gauntlet { seeds: self.seeds };
        }
        // As in fastchess, more than two games per round are swapped with the rounds.
        if self.games > 2 {
            std::mem::swap(&mut self.games, &mut plan.rounds);
            self.options.resume.rounds = Some(plan.rounds);
        }
        if self.options.resume.used().is_some() {
            // The plan is that of the results file.
            return Ok(Invocation { plan: self.plan, options: self.options });
        }
        plan.colors = Colors { fixed: self.options.noswap, reversed: self.options.reverse };
        self.options.penta &= self.games == 2 && self.options.output == OutputFormat::Fastchess;
        let bayesian = plan.sprt.is_some_and(|test| test.model == Model::FastchessBayesian);
        self.options.bayesian_instead = bayesian && self.options.penta;
        self.options.penta &= !bayesian;
        (plan.games, plan.pairs_per_encounter) = match self.games {
            1 => (GamesPerPairing::One, 1),
            2 if self.options.penta => (GamesPerPairing::Two, 1),
            // Games that count alone, also in an SPRT, are separate pairings.
            2 => (GamesPerPairing::One, 2),
            _ => return Err(ArgumentError::Conflict("`-games` and `-rounds` are both above 2")),
        };
        if plan.engines.len() > 2 {
            plan.openings.policy = OpeningPolicy::Cycle;
        } else if plan.pairs_per_encounter > 1 {
            plan.openings.policy = OpeningPolicy::Encounter;
        }
        if let Some(paths) = self.tablebases {
            if paths.is_empty() {
                return Err(ArgumentError::ExpectsOneValue("-tb"));
            }
            let (pieces, ignore_fifty_moves, scope) = self.tb;
            plan.adjudication.tablebases =
                Some(TablebaseAdjudication { paths, pieces, ignore_fifty_moves, scope });
        }
        if let Some(test) = &plan.sprt {
            test.test().map_err(ArgumentError::Test)?;
        }
        if plan.game == Game::Chess960 && plan.openings.source == OpeningSource::Start {
            return Err(ArgumentError::NeedsBook);
        }
        if plan.engines.len() < 2 {
            return Err(ArgumentError::TooFewEngines);
        }
        plan.engines.iter_mut().try_for_each(arguments::finish)?;
        number_equal_names(&mut plan.engines);
        Ok(Invocation { plan: self.plan, options: self.options })
    }
}

/// Appends `_2`, `_3` and so on to equal names.
fn number_equal_names(engines: &mut [EnginePlan]) {
    let names: Vec<String> = engines.iter().map(|engine| engine.name.clone()).collect();
    for (index, engine) in engines.iter_mut().enumerate() {
        let earlier = names.iter().take(index).filter(|&name| *name == engine.name).count();
        if earlier > 0 {
            engine.name = format!("{}_{}", engine.name, earlier + 1);
        }
    }
}
