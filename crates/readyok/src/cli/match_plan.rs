//! The arguments of `readyok match` that describe the plan.

mod values;

use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Path, PathBuf};

use readyok_arena::plan::{
    Adjudication, BookFormat, Colors, EnginePlan, Format, GamesPerPairing, GitSource, Impasse,
    KnockoutTie, OpeningOrder, OpeningPolicy, OpeningSource, Openings, PairingOrder, Plan, PvCheck,
    SprtPlan, TablebaseAdjudication, TablebaseScope, TimeControl,
};
use readyok_arena::stats::Model;
use readyok_arena::tune::{OptionsFile, OptionsFileError};
use readyok_client::unstable::split_command_line;
use readyok_rules::Game;

use crate::dirs;
use crate::exit::Failure;
use crate::matches::{FlagError, PerEngine, engine_plan, find_engine, git_source};
use crate::terminal::{print_error, printable};

pub(super) use values::SprtArg;
use values::{
    DrawArg, FileArg, NameArg, PositiveSeconds, ProtocolArg, RanksArg, ResignArg, Seconds, format,
};

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Tournament")]
pub(super) struct PlanArgs {
    /// Engines: names from engines.toml, `narikin`, paths, programs in PATH, quoted command lines,
    /// tcp://host:port, or git:REPOSITORY@REVISION
    #[arg(value_name = "ENGINE")]
    engines: Vec<String>,
    #[arg(
        long,
        value_name = "ENGINE",
        num_args = 1..,
        requires_all = ["engines", "sprt"],
        conflicts_with_all = ["format", "plan"],
        help = "Test several takes of one idea against one engine: the first accepted take ends the match"
    )]
    takes: Vec<String>,
    /// Read the plan from a TOML file
    #[arg(long, value_name = "FILE.toml", conflicts_with = "engines")]
    pub(super) plan: Option<PathBuf>,
    #[command(flatten)]
    tournament: TournamentArgs,
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..),
        conflicts_with = "plan",
        help = "Number of repetitions of the tournament format; for swiss, number of rounds [default: 1; with \
                --sprt, until the test ends]"
    )]
    pub(super) rounds: Option<u32>,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    timing: TimingArgs,
    #[command(flatten)]
    openings: OpeningArgs,
    #[command(flatten)]
    ends: EndArgs,
}

#[derive(Debug, clap::Args)]
#[group(conflicts_with = "plan", requires = "engines")]
struct TournamentArgs {
    /// Game to play
    #[arg(long, value_enum, default_value_t = Game::Chess)]
    game: Game,
    /// Tournament format: round-robin, gauntlet, gauntlet=N with N engines under test, pyramid,
    /// knockout or swiss
    #[arg(long, value_name = "FORMAT", default_value = "round-robin", value_parser = format)]
    format: Format,
    /// Order of the encounters of a round robin or gauntlet
    #[arg(long, value_enum, default_value_t = PairingOrder::Berger)]
    pairing_order: PairingOrder,
    #[arg(
        long,
        value_name = "N",
        help = "Maximum number of replays of a tied knockout match [default: 1]"
    )]
    replays: Option<u32>,
    #[arg(
        long,
        value_enum,
        help = "Tie-break of a knockout match after the replays [default: higher-seed]"
    )]
    tie: Option<KnockoutTie>,
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..),
        help = "Number of game pairs per encounter of two engines [default: 1; with --takes, 10 pairs of \
                a take until the next one is chosen]"
    )]
    pairs_per_encounter: Option<u32>,
    /// Number of games per opening: 2 with reversed colors, or 1
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=2))]
    games: u32,
    /// Always give the first move to the first engine (with --games 1)
    #[arg(long)]
    fixed_colors: bool,
    /// Reverse all colors
    #[arg(long)]
    reversed_colors: bool,
    #[arg(long, value_name = "N", help = "Seed of the random number generator [default: random]")]
    seed: Option<u64>,
    /// Event in game records
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    event: String,
    /// Site in game records
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    site: String,
}

#[derive(Debug, clap::Args)]
#[group(conflicts_with = "plan", requires = "engines")]
#[command(next_help_heading = "Engines (2=VALUE applies to the second engine only)")]
struct LimitArgs {
    /// Name of an engine in game records
    #[arg(long, value_name = "N=NAME")]
    name: Vec<PerEngine<NameArg>>,
    #[arg(
        long,
        value_name = "TC",
        help = "Time control: [moves/][minutes:]seconds[+increment], or hourglass: hg[minutes:]seconds"
    )]
    tc: Vec<PerEngine<TimeControl>>,
    /// Byoyomi: seconds per move after the main time
    #[arg(long, value_name = "SECONDS")]
    byoyomi: Vec<PerEngine<Seconds>>,
    /// Time per move in milliseconds
    #[arg(long, value_name = "MS")]
    movetime: Vec<PerEngine<NonZeroU64>>,
    /// Nodes per move
    #[arg(long, value_name = "N")]
    nodes: Vec<PerEngine<NonZeroU64>>,
    /// Search depth in plies
    #[arg(long, value_name = "PLIES")]
    depth: Vec<PerEngine<NonZeroU32>>,
    /// Tolerated overrun of the clock in milliseconds
    #[arg(long, value_name = "MS")]
    margin: Vec<PerEngine<u64>>,
    /// Ponder; with N only engine N
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "0")]
    ponder: Vec<usize>,
    /// Restart engines between games; with N only engine N
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "0")]
    restart: Vec<usize>,
    /// Count a reported forced mate as a win; with N only of engine N
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "0")]
    trust_mates: Vec<usize>,
    /// Expect scores from the first player's point of view; with N only from engine N
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "0")]
    whitepov: Vec<usize>,
    /// Set an engine option
    #[arg(long = "option", value_name = "NAME[=VALUE]")]
    options: Vec<PerEngine<String>>,
    /// Set the engine options of a file, such as the result of `readyok tune`; --option takes precedence
    #[arg(long, value_name = "FILE.toml")]
    options_file: Vec<PerEngine<FileArg>>,
    #[arg(
        long,
        value_name = "COMMAND",
        help = "Build command of an engine git:REPOSITORY@REVISION [default: make EXE=engine]"
    )]
    build: Vec<PerEngine<String>>,
    #[arg(
        long,
        value_name = "PATH",
        help = "Program that the build command makes, relative to its directory [default: engine]"
    )]
    program: Vec<PerEngine<String>>,
    /// Directory of the repository in which the build command runs
    #[arg(long, value_name = "DIR")]
    build_directory: Vec<PerEngine<String>>,
    #[arg(
        long,
        value_name = "NODES",
        help = "Number of nodes that the built program prints for `bench` [default: that in the commit message]"
    )]
    bench: Vec<PerEngine<u64>>,
    #[arg(
        long,
        value_name = "PROTOCOL",
        help = "Protocol: uci or usi [default: that of the engine list, or of the game]"
    )]
    protocol: Vec<PerEngine<ProtocolArg>>,
}

#[derive(Debug, clap::Args)]
#[group(conflicts_with = "plan", requires = "engines")]
#[command(next_help_heading = "Timeouts and checks")]
struct TimingArgs {
    #[arg(
        long,
        value_name = "SECONDS",
        help = "Maximum silence of an engine before uciok or usiok, in seconds [default: 10]"
    )]
    handshake_timeout: Vec<PerEngine<PositiveSeconds>>,
    #[arg(
        long,
        value_name = "SECONDS",
        help = "Maximum silence of an engine before readyok, in seconds [default: 60]"
    )]
    ready_timeout: Vec<PerEngine<PositiveSeconds>>,
    #[arg(
        long,
        value_name = "SECONDS",
        help = "Maximum duration of a search without a clock (--nodes, --depth), in seconds \
                [default: 600]"
    )]
    search_timeout: Option<PositiveSeconds>,
    /// Warn of illegal moves in PVs; with =mate also of mate scores whose PV does not end with mate
    #[arg(long, value_name = "LEVEL", value_enum, require_equals = true, num_args = 0..=1, default_missing_value = "moves")]
    check_pv: Option<PvCheck>,
    /// Pause between two games of a worker in milliseconds
    #[arg(long, value_name = "MS")]
    wait: Option<NonZeroU64>,
}

/// The name of the built-in openings. A file with this name is `./built-in`.
const BUILT_IN: &str = "built-in";

#[derive(Debug, clap::Args)]
#[group(conflicts_with = "plan", requires = "engines")]
#[command(next_help_heading = "Openings")]
struct OpeningArgs {
    /// Opening file in EPD, FEN, PGN, SFEN, KIF, KI2, CSA, JKF or Polyglot format, a directory of
    /// shogi records, or `built-in`: usual openings of chess or shogi
    #[arg(long, value_name = "FILE", conflicts_with_all = ["chess960_numbers", "double_chess960", "handicap"])]
    openings: Option<String>,
    #[arg(
        long,
        value_enum,
        requires = "openings",
        help = "Format of the opening file [default: by its extension]"
    )]
    book_format: Option<BookFormat>,
    /// Shuffle the openings
    #[arg(long)]
    random: bool,
    /// When to use the next opening
    #[arg(long, value_enum, default_value_t = OpeningPolicy::Pairing)]
    opening_policy: OpeningPolicy,
    #[arg(
        long,
        value_name = "N",
        help = "Number of consecutive uses of each opening [default: 1]"
    )]
    repeat: Option<NonZeroU32>,
    /// Skip the first N openings
    #[arg(long, value_name = "N")]
    skip: Option<u64>,
    /// Maximum number of plies of each opening
    #[arg(long, value_name = "N", requires = "openings")]
    plies: Option<u32>,
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        conflicts_with_all = ["double_chess960", "handicap"],
        help = "Start positions of Chess960 by number [default: all, with --game chess960]"
    )]
    chess960_numbers: Vec<u16>,
    /// Double Chess960, with different first ranks of White and Black: all, or pairs of numbers
    #[arg(long, value_name = "WHITE/BLACK", require_equals = true, num_args = 0.., value_delimiter = ',', conflicts_with = "handicap")]
    double_chess960: Option<Vec<RanksArg>>,
    /// Shogi handicap, such as `2-piece`
    #[arg(long, value_name = "NAME")]
    handicap: Option<String>,
}

#[derive(Debug, clap::Args)]
#[group(conflicts_with = "plan", requires = "engines")]
#[command(next_help_heading = "Adjudication and SPRT")]
struct EndArgs {
    /// Adjudicate a draw from move MOVE on if both scores are within CP centipawns for COUNT moves
    #[arg(long, value_name = "MOVE,COUNT,CP")]
    draw: Option<DrawArg>,
    /// Adjudicate a loss if an engine's own score is CP centipawns behind for COUNT moves; with
    /// `,both` the opponent's score must agree
    #[arg(long, value_name = "COUNT,CP[,both]")]
    resign: Option<ResignArg>,
    /// Adjudicate a draw after N moves: full moves in chess, plies in shogi
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_moves: Option<u32>,
    /// Adjudicate by the Syzygy tablebases in this directory
    #[arg(long, value_name = "DIR")]
    syzygy: Vec<String>,
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        hide_default_value = true,
        requires = "syzygy",
        help = "Probe only positions with at most N pieces [default: all]"
    )]
    syzygy_pieces: u32,
    /// Count cursed wins as wins (ignore the fifty-move rule)
    #[arg(long, requires = "syzygy")]
    syzygy_ignore_fifty: bool,
    /// Tablebase results that end games
    #[arg(long, value_enum, default_value_t = TablebaseScope::Both, requires = "syzygy")]
    syzygy_scope: TablebaseScope,
    #[arg(long, value_enum, help = "Impasse rule of shogi [default: 27-points]")]
    impasse: Option<Impasse>,
    /// End the match by a sequential probability ratio test of ELO0 against ELO1
    #[arg(long, value_name = "ELO0,ELO1[,ALPHA,BETA]", allow_hyphen_values = true)]
    sprt: Option<SprtArg>,
    /// Elo model of the test: normalized, logistic, bayesian (fastchess), bayeselo (cutechess) or
    /// unscaled-bayeselo
    #[arg(long, value_name = "MODEL", default_value_t = Model::Normalized, requires = "sprt")]
    sprt_model: Model,
}

/// The default number of game pairs of a take until the next one is chosen: few, as each choice uses all results, but
/// not one, as engines are restarted.
const TAKES_BATCH: u32 = 10;

impl PlanArgs {
    /// The plan that the arguments describe. `seed` is the default of `--seed`.
    pub(super) fn plan(&self, seed: u64) -> Result<Plan, Failure> {
        let mut engines = self.engines()?;
        let files = self.limits.options_files().map_err(Failure::usage)?;
        self.limits.apply(&files, &mut engines).map_err(Failure::usage)?;
        self.timing.apply(&mut engines).map_err(Failure::usage)?;
        number_equal_names(&mut engines);
        for engine in engines.iter_mut().filter(|engine| engine.source.is_some()) {
            find_engine(engine, &dirs::env).map_err(Failure::usage)?;
            warn_without_bench(engine);
        }
        if let Some(engine) = engines.iter().find(|engine| engine.limits.is_empty()) {
            let hint = "use --tc, --byoyomi, --movetime, --nodes or --depth";
            return Err(Failure::usage(format!("engine `{}` has no limit: {hint}", engine.name)));
        }
        let game = self.tournament.game;
        self.openings.check(game).map_err(Failure::usage)?;
        self.ends.check(game).map_err(Failure::usage)?;
        let plan = Plan {
            game,
            event: self.tournament.event.clone(),
            site: self.tournament.site.clone(),
            engines,
            format: if self.takes.is_empty() {
                self.tournament.format(self.engines.len())?
            } else {
                Format::Takes
            },
            pairing_order: self.tournament.pairing_order,
            rounds: self.rounds.unwrap_or_default(),
            pairs_per_encounter: self
                .tournament
                .pairs_per_encounter
                .unwrap_or(if self.takes.is_empty() { 1 } else { TAKES_BATCH }),
            colors: Colors {
                fixed: self.tournament.fixed_colors,
                reversed: self.tournament.reversed_colors,
            },
            games: if self.tournament.games == 1 {
                GamesPerPairing::One
            } else {
                GamesPerPairing::Two
            },
            search_timeout_ms: self.timing.search_timeout.map(|PositiveSeconds(ms)| ms),
            wait_ms: self.timing.wait,
            pv_check: self.timing.check_pv.unwrap_or_default(),
            openings: self.openings.openings(game),
            adjudication: self.ends.adjudication(),
            sprt: self.ends.sprt(),
            tune: None,
            seed: self.tournament.seed.unwrap_or(seed),
        };
        Ok(if self.rounds.is_some() { plan } else { plan.with_default_rounds() })
    }

    /// Whether files of this host are read for the options of engines.
    pub(super) fn has_options_files(&self) -> bool {
        !self.limits.options_file.is_empty()
    }

    /// Whether neither engines nor a plan are given.
    pub(super) fn is_empty(&self) -> bool {
        self.engines.is_empty() && self.plan.is_none()
    }

    fn engines(&self) -> Result<Vec<EnginePlan>, Failure> {
        if !self.takes.is_empty() && self.engines.len() != 1 {
            return Err(Failure::usage("--takes needs one other engine, which all takes play"));
        }
        let all = || self.engines.iter().chain(&self.takes);
        if all().count() < 2 {
            return Err(Failure::usage("a match needs two engines or a --plan"));
        }
        let mut plans = Vec::new();
        for text in all() {
            let mut plan = match git_source(text) {
                Some(source) => EnginePlan::of_source(source.map_err(Failure::usage)?),
                None => engine_plan(text, &dirs::env).map_err(Failure::usage)?,
            };
            plan.name = match &plan.source {
                Some(source) => source.revision.clone(),
                None => default_name(text),
            };
            plans.push(plan);
        }
        Ok(plans)
    }
}

/// The default name of an engine: the file name without the extension of an executable. Other
/// extensions may be parts of a version number.
fn default_name(text: &str) -> String {
    const EXTENSIONS: [&str; 9] = ["bat", "cmd", "com", "exe", "jar", "js", "pl", "py", "sh"];
    let args = split_command_line(text).unwrap_or_default();
    // A file name may contain spaces.
    let first = args.first().filter(|_| !Path::new(text).is_file()).map_or(text, String::as_str);
    let path = Path::new(first);
    let is_executable = path.extension().is_some_and(|extension| {
        EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known))
    });
    let name = if is_executable { path.file_stem() } else { path.file_name() };
    name.unwrap_or_default().to_string_lossy().into_owned()
}

/// The program of a build command with `EXE=program`, the convention of OpenBench.
fn program_of(build: &str) -> Option<String> {
    let tokens = split_command_line(build)?;
    tokens.iter().find_map(|token| token.strip_prefix("EXE=").map(str::to_owned))
}

fn warn_without_bench(engine: &EnginePlan) {
    if engine.source.as_ref().is_some_and(|source| source.bench.is_none()) {
        print_error(&format!(
            "warning: the build of `{}` is not verified: its commit message has no bench, and --bench is not given",
            printable(&engine.name)
        ));
    }
}

/// Appends numbers to equal names, because names identify engines in game records.
fn number_equal_names(engines: &mut [EnginePlan]) {
    let names: Vec<String> = engines.iter().map(|engine| engine.name.clone()).collect();
    for (index, engine) in engines.iter_mut().enumerate() {
        let same = |name: &&String| **name == engine.name;
        if names.iter().filter(same).count() > 1 {
            let number = names.iter().take(index + 1).filter(same).count();
            engine.name = format!("{} {number}", engine.name);
        }
    }
}

impl TournamentArgs {
    /// The format with the settings of `--replays` and `--tie`.
    fn format(&self, engines: usize) -> Result<Format, Failure> {
        if let Format::Gauntlet { seeds } = self.format
            && usize::try_from(seeds).is_ok_and(|seeds| seeds >= engines)
        {
            let text =
                format!("--format gauntlet={seeds} leaves no opponents among {engines} engines");
            return Err(Failure::usage(text));
        }
        match (self.format, self.replays, self.tie) {
            (Format::Knockout { replays, tie }, replays_arg, tie_arg) => Ok(Format::Knockout {
                replays: replays_arg.unwrap_or(replays),
                tie: tie_arg.unwrap_or(tie),
            }),
            (format, None, None) => Ok(format),
            (_, Some(_), _) => Err(Failure::usage("--replays requires --format knockout")),
            (_, None, Some(_)) => Err(Failure::usage("--tie requires --format knockout")),
        }
    }
}

impl LimitArgs {
    /// Reads the files of options.
    fn options_files(&self) -> Result<Vec<PerEngine<OptionsFile>>, OptionsFileError> {
        let read = |file: &PerEngine<FileArg>| {
            let PerEngine { engine, value: FileArg(path) } = file;
            Ok(PerEngine { engine: *engine, value: OptionsFile::read(path)? })
        };
        self.options_file.iter().map(read).collect()
    }

    fn apply(
        &self,
        files: &[PerEngine<OptionsFile>],
        engines: &mut [EnginePlan],
    ) -> Result<(), FlagError> {
        let named = |numbers: &[usize]| -> Vec<PerEngine<()>> {
            let engine = |&number: &usize| (number > 0).then_some(number);
            numbers.iter().map(|n| PerEngine { engine: engine(n), value: () }).collect()
        };
        PerEngine::apply(&self.name, engines, |engine, name| {
            engine.name.clone_from(&name.0);
        })?;
        let source = |engine: &mut EnginePlan, set: &dyn Fn(&mut GitSource)| {
            if let Some(source) = &mut engine.source {
                set(source);
            }
        };
        PerEngine::apply(&self.build, engines, |engine, build| {
            source(engine, &|source| {
                source.build.clone_from(build);
                if let Some(program) = program_of(build) {
                    source.program = program;
                }
            });
        })?;
        PerEngine::apply(&self.program, engines, |engine, program| {
            source(engine, &|source| source.program.clone_from(program));
        })?;
        PerEngine::apply(&self.build_directory, engines, |engine, directory| {
            source(engine, &|source| source.directory.clone_from(directory));
        })?;
        PerEngine::apply(&self.bench, engines, |engine, bench| {
            source(engine, &|source| source.bench = Some(*bench));
        })?;
        PerEngine::apply(&self.tc, engines, |engine, tc| engine.limits.tc = Some(*tc))?;
        PerEngine::apply(&self.byoyomi, engines, |engine, seconds| {
            engine.limits.byoyomi_ms = Some(seconds.0);
        })?;
        PerEngine::apply(&self.movetime, engines, |engine, time| {
            engine.limits.move_time_ms = Some(time.get());
        })?;
        PerEngine::apply(&self.nodes, engines, |engine, nodes| {
            engine.limits.nodes = Some(nodes.get());
        })?;
        PerEngine::apply(&self.depth, engines, |engine, depth| {
            engine.limits.depth = Some(depth.get());
        })?;
        PerEngine::apply(&self.margin, engines, |engine, margin| {
            engine.limits.margin_ms = *margin;
        })?;
        PerEngine::apply(&named(&self.ponder), engines, |engine, ()| engine.ponder = true)?;
        PerEngine::apply(&named(&self.restart), engines, |engine, ()| engine.restart = true)?;
        PerEngine::apply(&named(&self.trust_mates), engines, |engine, ()| {
            engine.trust_mates = true;
        })?;
        PerEngine::apply(&named(&self.whitepov), engines, |engine, ()| engine.whitepov = true)?;
        PerEngine::apply(&self.protocol, engines, |engine, protocol| {
            engine.protocol = Some(protocol.0);
        })?;
        PerEngine::apply(files, engines, |engine, file| {
            engine.options.extend(file.options.clone());
        })?;
        PerEngine::apply(&self.options, engines, |engine, option| {
            // A button has no value.
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            engine.options.insert(name.trim().to_owned(), value.to_owned());
        })
    }
}

impl TimingArgs {
    fn apply(&self, engines: &mut [EnginePlan]) -> Result<(), FlagError> {
        PerEngine::apply(&self.handshake_timeout, engines, |engine, timeout| {
            engine.timeouts.handshake_ms = Some(timeout.0);
        })?;
        PerEngine::apply(&self.ready_timeout, engines, |engine, timeout| {
            engine.timeouts.ready_ms = Some(timeout.0);
        })
    }
}

impl OpeningArgs {
    /// Rejects arguments without effect.
    fn check(&self, game: Game) -> Result<(), String> {
        let has_one_opening = match self.openings(game).source {
            OpeningSource::Start | OpeningSource::Handicap { .. } => true,
            OpeningSource::BuiltIn
            | OpeningSource::File { .. }
            | OpeningSource::Positions { .. }
            | OpeningSource::Chess960 { .. }
            | OpeningSource::DoubleChess960 { .. } => false,
        };
        let flags = [
            ("--random", self.random),
            ("--skip", self.skip.is_some()),
            ("--repeat", self.repeat.is_some()),
        ];
        match flags.into_iter().find(|(_, is_given)| *is_given && has_one_opening) {
            Some((flag, _)) => {
                Err(format!("{flag} requires --openings: there is only one start position"))
            }
            None => Ok(()),
        }
    }

    fn openings(&self, game: Game) -> Openings {
        let source = if self.openings.as_deref() == Some(BUILT_IN) {
            OpeningSource::BuiltIn
        } else if let Some(path) = &self.openings {
            OpeningSource::File { path: path.clone(), format: self.book_format }
        } else if let Some(name) = &self.handicap {
            OpeningSource::Handicap { name: name.clone() }
        } else if let Some(ranks) = &self.double_chess960 {
            let numbers = ranks.iter().map(|ranks| (ranks.white, ranks.black)).collect();
            OpeningSource::DoubleChess960 { numbers }
        } else if game == Game::Chess960 || !self.chess960_numbers.is_empty() {
            OpeningSource::Chess960 { numbers: self.chess960_numbers.clone() }
        } else {
            OpeningSource::Start
        };
        let order = if self.random { OpeningOrder::Random } else { OpeningOrder::Sequential };
        let (skip, plies, repeat) = (self.skip.unwrap_or_default(), self.plies, self.repeat);
        Openings { source, order, skip, plies, policy: self.opening_policy, repeat }
    }
}

impl EndArgs {
    /// Rejects arguments of another game.
    fn check(&self, game: Game) -> Result<(), &'static str> {
        match game {
            Game::Chess | Game::Chess960 if self.impasse.is_some() => {
                Err("--impasse requires --game shogi")
            }
            Game::Shogi if !self.syzygy.is_empty() => {
                Err("--syzygy requires chess: there are no Syzygy tablebases for shogi")
            }
            Game::Chess | Game::Chess960 | Game::Shogi => Ok(()),
        }
    }

    fn adjudication(&self) -> Adjudication {
        let tablebases = (!self.syzygy.is_empty()).then(|| TablebaseAdjudication {
            paths: self.syzygy.clone(),
            pieces: self.syzygy_pieces,
            ignore_fifty_moves: self.syzygy_ignore_fifty,
            scope: self.syzygy_scope,
        });
        Adjudication {
            draw: self.draw.map(|draw| draw.0),
            resign: self.resign.map(|resign| resign.0),
            max_moves: self.max_moves,
            tablebases,
            impasse: self.impasse.unwrap_or_default(),
            as_fastchess: false,
        }
    }

    fn sprt(&self) -> Option<SprtPlan> {
        self.sprt.map(|sprt| sprt.plan(self.sprt_model))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_names_are_file_names() {
        for (text, name) in [
            ("stockfish", "stockfish"),
            ("./engine-1.25", "engine-1.25"),
            ("/opt/engine-1.26 --uci", "engine-1.26"),
            ("'my engines/my engine.exe' --uci", "my engine"),
            ("engine.py", "engine"),
            ("", ""),
        ] {
            assert_eq!(default_name(text), name, "{text}");
        }
    }
}
