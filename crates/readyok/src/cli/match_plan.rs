//! The arguments of `readyok match` that describe a plan.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::ValueEnum;
use readyok_arena::plan::{
    Adjudication, BookFormat, Colours, DrawAdjudication, EnginePatience, EnginePlan, Format,
    GamesPerPairing, Impasse, KnockoutTie, MeetingOrder, OpeningOrder, OpeningPolicy,
    OpeningSource, Openings, Plan, Protocol, ResignAdjudication, SprtPlan, TablebaseAdjudication,
    TablebaseScope, TimeControl, Variations,
};
use readyok_arena::stats::Model;

use crate::cli::engine::GameArg;
use crate::dirs;
use crate::exit::Failure;
use crate::matches::{FlagError, PerEngine, engine_plan};

/// What is played.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "What is played")]
pub(super) struct PlanArgs {
    /// The engines: names from engines.toml, `narikin`, paths, programs in PATH, quoted command
    /// lines, tcp://host:port
    #[arg(value_name = "ENGINE")]
    engines: Vec<String>,
    /// Read everything that is played from a file in TOML
    #[arg(long, value_name = "FILE.toml", conflicts_with = "engines")]
    pub(super) plan: Option<PathBuf>,
    #[command(flatten)]
    tournament: TournamentArgs,
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..),
        conflicts_with = "plan",
        help = "How often each pairing is met; for swiss, how many rounds [1]"
    )]
    pub(super) rounds: Option<u32>,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    manner: MannerArgs,
    #[command(flatten)]
    openings: OpeningArgs,
    #[command(flatten)]
    ends: EndArgs,
}

/// Who meets whom at what, and how it is called.
#[derive(Debug, clap::Args)]
#[group(conflicts_with = "plan", requires = "engines")]
struct TournamentArgs {
    /// The game
    #[arg(long, value_enum, default_value_t = GameArg::Chess)]
    game: GameArg,
    /// round-robin, gauntlet, gauntlet=N with N engines under test, pyramid, knockout or swiss
    #[arg(long, value_name = "FORMAT", default_value = "round-robin", value_parser = format)]
    format: Format,
    /// In which order they meet in a round robin or a gauntlet
    #[arg(long, value_enum, default_value_t = MeetingsArg::Berger)]
    meetings: MeetingsArg,
    #[arg(
        long,
        value_name = "N",
        help = "How often a tied match of a knockout is played again [1]"
    )]
    replays: Option<u32>,
    /// Who goes on when a match of a knockout is tied still [higher-seed]
    #[arg(long, value_enum)]
    tie: Option<TieArg>,
    /// How many pairings two engines play each time they meet
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    legs: u32,
    /// How many games from each opening: 2 with reversed colours, or 1
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=2))]
    games: u32,
    /// The first engine always has the first move (with --games 1)
    #[arg(long)]
    fixed_colours: bool,
    /// Reverse all colours
    #[arg(long)]
    reversed_colours: bool,
    /// For everything that is drawn by lot; by default another one each time
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// The name of the event in records
    #[arg(long, value_name = "TEXT", default_value = "")]
    event: String,
    /// The place in records
    #[arg(long, value_name = "TEXT", default_value = "")]
    site: String,
}

/// How the engines play. `2=VALUE` is for the second engine only.
#[derive(Debug, clap::Args)]
#[group(conflicts_with = "plan", requires = "engines")]
#[command(next_help_heading = "How the engines play (2=VALUE is for the second engine only)")]
struct LimitArgs {
    /// What an engine is called
    #[arg(long, value_name = "N=NAME")]
    name: Vec<PerEngine<NameArg>>,
    #[arg(
        long,
        value_name = "TC",
        help = "A clock: [moves/][minutes:]seconds[+increment], or an hourglass: hg[minutes:]seconds"
    )]
    tc: Vec<PerEngine<TimeControl>>,
    /// Seconds for each move when the main time is used up
    #[arg(long, value_name = "SECONDS")]
    byoyomi: Vec<PerEngine<Seconds>>,
    /// Milliseconds for each move
    #[arg(long, value_name = "MS")]
    movetime: Vec<PerEngine<NonZeroU64>>,
    /// Nodes for each move
    #[arg(long, value_name = "N")]
    nodes: Vec<PerEngine<NonZeroU64>>,
    /// Plies for each move
    #[arg(long, value_name = "PLIES")]
    depth: Vec<PerEngine<NonZeroU32>>,
    /// Milliseconds by which a clock may be overrun
    #[arg(long, value_name = "MS")]
    margin: Vec<PerEngine<u64>>,
    /// Think on the opponent's time; with N only one engine does
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "0")]
    ponder: Vec<usize>,
    /// Start engines anew for each game; with N only one engine
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "0")]
    restart: Vec<usize>,
    /// Believe engines that they mate, which wins their game; with N only one engine
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "0")]
    trust_mates: Vec<usize>,
    /// Engines tell scores from the side of who moves first, and not their own; with N only one does
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "0")]
    whitepov: Vec<usize>,
    /// Set an option of the engines
    #[arg(long = "option", value_name = "NAME[=VALUE]")]
    options: Vec<PerEngine<String>>,
    /// uci or usi; by default what the game has, or the engine list says
    #[arg(long, value_name = "PROTOCOL")]
    protocol: Vec<PerEngine<ProtocolArg>>,
}

#[derive(Debug, clap::Args)]
#[group(conflicts_with = "plan", requires = "engines")]
#[command(next_help_heading = "How engines are waited for and listened to")]
struct MannerArgs {
    #[arg(
        long,
        value_name = "SECONDS[,SECONDS]",
        help = "Seconds that an engine may be silent at its start, and at isready if that is another number \
                [10,60]"
    )]
    patience: Vec<PerEngine<PatienceArg>>,
    /// Look at the variations of engines to their end, and warn; with =mate they have to end with
    /// mate where the score says so
    #[arg(long, value_name = "HOW", value_enum, require_equals = true, num_args = 0..=1, default_missing_value = "moves")]
    check_pv: Option<VariationsArg>,
    /// Milliseconds to wait between two games of a player
    #[arg(long, value_name = "MS")]
    wait: Option<NonZeroU64>,
}

#[derive(Debug, clap::Args)]
#[group(conflicts_with = "plan", requires = "engines")]
#[command(next_help_heading = "Openings")]
struct OpeningArgs {
    /// A file: EPD, FEN, PGN, SFEN, KIF, KI2, CSA, JKF or Polyglot; or a folder of records of shogi
    #[arg(long, value_name = "FILE", conflicts_with_all = ["chess960_numbers", "double_chess960", "handicap"])]
    openings: Option<String>,
    /// The format of the file, if its name does not tell
    #[arg(long, value_enum, requires = "openings")]
    book_format: Option<BookArg>,
    /// Draw them by lot
    #[arg(long)]
    random: bool,
    /// When the next one is taken
    #[arg(long, value_enum, default_value_t = PolicyArg::Pairing)]
    opening_policy: PolicyArg,
    /// Use each so often in succession
    #[arg(long, value_name = "N")]
    repeat: Option<NonZeroU32>,
    /// Leave out so many at the beginning
    #[arg(long, value_name = "N")]
    skip: Option<u64>,
    /// Play at most so many plies of each
    #[arg(long, value_name = "N", requires = "openings")]
    plies: Option<u32>,
    /// Start positions of Chess960 by number [all of them, with --game chess960]
    #[arg(long, value_name = "N", value_delimiter = ',', conflicts_with_all = ["double_chess960", "handicap"])]
    chess960_numbers: Vec<u16>,
    /// Chess960 with different first ranks for White and Black: all of them, or pairs of numbers
    #[arg(long, value_name = "WHITE/BLACK", require_equals = true, num_args = 0.., value_delimiter = ',', conflicts_with = "handicap")]
    double_chess960: Option<Vec<RanksArg>>,
    /// A handicap of shogi, such as `2-piece`
    #[arg(long, value_name = "NAME")]
    handicap: Option<String>,
}

#[derive(Debug, clap::Args)]
#[group(conflicts_with = "plan", requires = "engines")]
#[command(next_help_heading = "When a game or the match ends")]
struct EndArgs {
    /// A draw from move MOVE on, when for COUNT moves no side is ahead by more than CP centipawns
    #[arg(long, value_name = "MOVE,COUNT,CP")]
    draw: Option<DrawArg>,
    /// A loss when for COUNT moves an engine is CP centipawns behind by its own score; with
    /// `,both` its opponent must agree
    #[arg(long, value_name = "COUNT,CP[,both]")]
    resign: Option<ResignArg>,
    /// A draw after so many moves: full ones in chess, single ones in shogi
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_moves: Option<u32>,
    #[arg(
        long,
        value_name = "SECONDS",
        help = "How long a search may take on which no clock runs, as with --nodes and --depth, \
                whatever the engine says meanwhile [600]"
    )]
    stall: Option<Stall>,
    /// Folders with Syzygy tablebases, which end games
    #[arg(long, value_name = "FOLDER")]
    syzygy: Vec<String>,
    /// Ask tablebases only about positions with at most so many pieces
    #[arg(long, value_name = "N", default_value_t = 0, requires = "syzygy")]
    syzygy_pieces: u32,
    /// Wins of tablebases count that the fifty-move rule would spoil
    #[arg(long, requires = "syzygy")]
    syzygy_ignore_fifty: bool,
    /// Which results of tablebases end games
    #[arg(long, value_enum, default_value_t = ScopeArg::Both, requires = "syzygy")]
    syzygy_scope: ScopeArg,
    /// The rule for kings that have entered the other camp (shogi) [27-points]
    #[arg(long, value_enum)]
    impasse: Option<ImpasseArg>,
    /// End the match when a sequential test has decided between two strengths in Elo
    #[arg(long, value_name = "ELO0,ELO1[,ALPHA,BETA]", allow_hyphen_values = true)]
    sprt: Option<SprtArg>,
    /// What the Elo of the test is: normalized, logistic, bayesian (that of fastchess), bayeselo
    /// (that of cutechess) or unscaled-bayeselo
    #[arg(long, value_name = "MODEL", default_value_t = Model::Normalized, requires = "sprt")]
    sprt_model: Model,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum PolicyArg {
    /// For each pairing
    Pairing,
    /// Each time two engines meet
    Meeting,
    /// For each round
    Round,
    /// Each time two engines meet, and from the first again after as many as there are rounds
    Cycle,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MeetingsArg {
    /// By the Berger tables
    Berger,
    /// As with fastchess: the first engine meets all after it, then the second
    Rows,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TieArg {
    /// Who stands first
    HigherSeed,
    /// The lot
    Lot,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum VariationsArg {
    /// Their moves are legal
    Moves,
    /// And they end with mate where the score says so
    Mate,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ScopeArg {
    /// All
    Both,
    /// Wins and losses
    WinLoss,
    /// Draws
    Draw,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum BookArg {
    Epd,
    Pgn,
    Sfen,
    Kif,
    Polyglot,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ImpasseArg {
    /// 27 points win by declaration
    #[value(name = "27-points")]
    Points27,
    /// 31 points win, 24 draw
    #[value(name = "24-points")]
    Points24,
    /// A king on the other king's start square wins
    Try,
    /// Nothing
    None,
}

/// What stands in records, and tells engines apart.
#[derive(Clone, Debug)]
struct NameArg(String);

#[derive(Clone, Copy, Debug)]
struct ProtocolArg(Protocol);

#[derive(Clone, Copy, Debug)]
struct Seconds(u64);

/// The numbers of White's first rank and of Black's.
#[derive(Clone, Copy, Debug)]
struct RanksArg {
    white: u16,
    black: u16,
}

/// Milliseconds, written as seconds.
#[derive(Clone, Copy, Debug)]
struct Stall(NonZeroU64);

#[derive(Clone, Copy, Debug)]
struct PatienceArg(EnginePatience);

#[derive(Clone, Copy, Debug)]
struct DrawArg(DrawAdjudication);

#[derive(Clone, Copy, Debug)]
struct ResignArg(ResignAdjudication);

#[derive(Clone, Copy, Debug)]
struct SprtArg {
    elo: [f64; 2],
    errors: [f64; 2],
}

impl PlanArgs {
    /// The plan that the arguments describe. `seed` is used if they have none.
    pub(super) fn plan(&self, seed: u64) -> Result<Plan, Failure> {
        let mut engines = self.engines()?;
        self.limits.apply(&mut engines).map_err(Failure::usage)?;
        PerEngine::apply(&self.manner.patience, &mut engines, |engine, patience| {
            engine.patience = patience.0;
        })
        .map_err(Failure::usage)?;
        name(&mut engines);
        if let Some(engine) = engines.iter().find(|engine| engine.limits.is_empty()) {
            let hint = "give --tc, --byoyomi, --movetime, --nodes or --depth";
            return Err(Failure::usage(format!("engine `{}` has no limit: {hint}", engine.name)));
        }
        let game = self.tournament.game;
        self.openings.check(game).map_err(Failure::usage)?;
        self.ends.check(game).map_err(Failure::usage)?;
        Ok(Plan {
            game: game.into(),
            event: self.tournament.event.clone(),
            site: self.tournament.site.clone(),
            engines,
            format: self.tournament.format(self.engines.len())?,
            meetings: self.tournament.meetings.into(),
            rounds: self.rounds.unwrap_or(1),
            legs: self.tournament.legs,
            colours: Colours {
                fixed: self.tournament.fixed_colours,
                reversed: self.tournament.reversed_colours,
            },
            games: if self.tournament.games == 1 {
                GamesPerPairing::One
            } else {
                GamesPerPairing::Two
            },
            stall_ms: self.ends.stall.map(|Stall(most)| most),
            wait_ms: self.manner.wait,
            variations: self.manner.check_pv.map_or(Variations::Trusted, Into::into),
            openings: self.openings.openings(game),
            adjudication: self.ends.adjudication(),
            sprt: self.ends.sprt(),
            seed: self.tournament.seed.unwrap_or(seed),
        })
    }

    /// Whether nothing is said about what is played.
    pub(super) fn is_empty(&self) -> bool {
        self.engines.is_empty() && self.plan.is_none()
    }

    fn engines(&self) -> Result<Vec<EnginePlan>, Failure> {
        if self.engines.len() < 2 {
            return Err(Failure::usage("a match needs two engines or a --plan"));
        }
        let mut plans = Vec::with_capacity(self.engines.len());
        for text in &self.engines {
            let mut plan = engine_plan(text, &dirs::env).map_err(Failure::usage)?;
            plan.name = called(text);
            plans.push(plan);
        }
        Ok(plans)
    }
}

/// What an engine is called: as its file, without what says only of which kind that is. Versions have points
/// as well.
fn called(text: &str) -> String {
    const KINDS: [&str; 9] = ["bat", "cmd", "com", "exe", "jar", "js", "pl", "py", "sh"];
    let words = shlex::split(text).unwrap_or_default();
    // A file may have blanks in its name.
    let first = words.first().filter(|_| !Path::new(text).is_file()).map_or(text, String::as_str);
    let path = Path::new(first);
    let kind =
        path.extension().is_some_and(|it| KINDS.iter().any(|kind| it.eq_ignore_ascii_case(kind)));
    let name = if kind { path.file_stem() } else { path.file_name() };
    name.unwrap_or_default().to_string_lossy().into_owned()
}

/// Engines of one name get numbers: the name is what tells them apart in records.
fn name(engines: &mut [EnginePlan]) {
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
    /// The format, with what else is said of it.
    fn format(&self, engines: usize) -> Result<Format, Failure> {
        if let Format::Gauntlet { seeds } = self.format
            && usize::try_from(seeds).is_ok_and(|seeds| seeds >= engines)
        {
            let text =
                format!("--format gauntlet={seeds} leaves none of {engines} engines to meet");
            return Err(Failure::usage(text));
        }
        match (self.format, self.replays, self.tie) {
            (Format::Knockout { replays, tie }, asked, word) => Ok(Format::Knockout {
                replays: asked.unwrap_or(replays),
                tie: word.map_or(tie, Into::into),
            }),
            (format, None, None) => Ok(format),
            (_, Some(_), _) => Err(Failure::usage("--replays is for --format knockout")),
            (_, None, Some(_)) => Err(Failure::usage("--tie is for --format knockout")),
        }
    }
}

impl LimitArgs {
    fn apply(&self, engines: &mut [EnginePlan]) -> Result<(), FlagError> {
        let named = |numbers: &[usize]| -> Vec<PerEngine<()>> {
            let engine = |&number: &usize| (number > 0).then_some(number);
            numbers.iter().map(|n| PerEngine { engine: engine(n), value: () }).collect()
        };
        PerEngine::apply(&self.name, engines, |engine, name| {
            engine.name.clone_from(&name.0);
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
        PerEngine::apply(&self.options, engines, |engine, option| {
            // A button has no value.
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            engine.options.insert(name.trim().to_owned(), value.to_owned());
        })
    }
}

impl OpeningArgs {
    /// Looks for what would do nothing.
    fn check(&self, game: GameArg) -> Result<(), String> {
        let is_one = match self.openings(game).source {
            OpeningSource::Start | OpeningSource::Handicap { .. } => true,
            OpeningSource::File { .. }
            | OpeningSource::Positions { .. }
            | OpeningSource::Chess960 { .. }
            | OpeningSource::DoubleChess960 { .. } => false,
        };
        let flags = [
            ("--random", self.random),
            ("--skip", self.skip.is_some()),
            ("--repeat", self.repeat.is_some()),
        ];
        match flags.into_iter().find(|(_, is_given)| *is_given && is_one) {
            Some((flag, _)) => Err(format!("{flag} needs --openings: all games start alike")),
            None => Ok(()),
        }
    }

    fn openings(&self, game: GameArg) -> Openings {
        let source = if let Some(path) = &self.openings {
            OpeningSource::File { path: path.clone(), format: self.book_format.map(Into::into) }
        } else if let Some(name) = &self.handicap {
            OpeningSource::Handicap { name: name.clone() }
        } else if let Some(ranks) = &self.double_chess960 {
            let numbers = ranks.iter().map(|ranks| (ranks.white, ranks.black)).collect();
            OpeningSource::DoubleChess960 { numbers }
        } else if matches!(game, GameArg::Chess960) || !self.chess960_numbers.is_empty() {
            OpeningSource::Chess960 { numbers: self.chess960_numbers.clone() }
        } else {
            OpeningSource::Start
        };
        let order = if self.random { OpeningOrder::Random } else { OpeningOrder::Sequential };
        let (skip, plies, repeat) = (self.skip.unwrap_or_default(), self.plies, self.repeat);
        Openings { source, order, skip, plies, policy: self.opening_policy.into(), repeat }
    }
}

impl EndArgs {
    /// Looks for what is of another game.
    fn check(&self, game: GameArg) -> Result<(), &'static str> {
        match game {
            GameArg::Chess | GameArg::Chess960 if self.impasse.is_some() => {
                Err("--impasse is for --game shogi")
            }
            GameArg::Shogi if !self.syzygy.is_empty() => {
                Err("--syzygy is for chess: there are no such tablebases of shogi")
            }
            GameArg::Chess | GameArg::Chess960 | GameArg::Shogi => Ok(()),
        }
    }

    fn adjudication(&self) -> Adjudication {
        let tablebases = (!self.syzygy.is_empty()).then(|| TablebaseAdjudication {
            paths: self.syzygy.clone(),
            pieces: self.syzygy_pieces,
            ignore_fifty_moves: self.syzygy_ignore_fifty,
            scope: self.syzygy_scope.into(),
        });
        Adjudication {
            draw: self.draw.map(|draw| draw.0),
            resign: self.resign.map(|resign| resign.0),
            max_moves: self.max_moves,
            tablebases,
            impasse: self.impasse.map(Into::into).unwrap_or_default(),
            as_fastchess: false,
        }
    }

    fn sprt(&self) -> Option<SprtPlan> {
        let SprtArg { elo: [elo0, elo1], errors: [alpha, beta] } = self.sprt?;
        Some(SprtPlan { model: self.sprt_model, elo0, elo1, alpha, beta })
    }
}

fn format(text: &str) -> Result<Format, String> {
    match (text, text.split_once('=')) {
        ("round-robin", _) => Ok(Format::RoundRobin),
        ("gauntlet", _) => Ok(Format::Gauntlet { seeds: 1 }),
        ("knockout", _) => Ok(Format::Knockout { replays: 1, tie: KnockoutTie::default() }),
        ("pyramid", _) => Ok(Format::Pyramid),
        ("swiss", _) => Ok(Format::Swiss),
        (_, Some(("gauntlet", seeds))) => match seeds.parse() {
            Ok(seeds @ 1..) => Ok(Format::Gauntlet { seeds }),
            Ok(0) | Err(_) => Err(format!("`{seeds}` is no number of engines")),
        },
        _ => Err("it is round-robin, gauntlet, gauntlet=N, pyramid, knockout or swiss".to_owned()),
    }
}

/// Splits at commas and reads each part.
fn list<T: FromStr>(text: &str) -> Option<Vec<T>> {
    text.split(',').map(|part| part.trim().parse().ok()).collect()
}

impl FromStr for NameArg {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim() {
            "" => Err("it is empty"),
            name => Ok(Self(name.to_owned())),
        }
    }
}

impl FromStr for PatienceArg {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (hello, ready) = text.split_once(',').unwrap_or((text, text));
        let millis = |text: &str| {
            let seconds = text.trim().parse().ok();
            let millis = seconds.and_then(|Seconds(millis)| NonZeroU64::new(millis));
            millis.ok_or("it is a number of seconds over 0, or two with a comma")
        };
        let (hello_ms, ready_ms) = (Some(millis(hello)?), Some(millis(ready)?));
        Ok(Self(EnginePatience { hello_ms, ready_ms }))
    }
}

impl FromStr for DrawArg {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match list(text).as_deref() {
            Some(&[from_move, moves, score]) if moves > 0 => {
                Ok(Self(DrawAdjudication { from_move, moves, score }))
            }
            _ => Err("it has the form MOVE,COUNT,CP, such as 40,8,10"),
        }
    }
}

impl FromStr for ResignArg {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (numbers, two_sided) =
            text.strip_suffix(",both").map_or((text, false), |numbers| (numbers, true));
        match list(numbers).as_deref() {
            Some(&[moves, score]) if moves > 0 => {
                Ok(Self(ResignAdjudication { moves, score, two_sided }))
            }
            _ => Err("it has the form COUNT,CP or COUNT,CP,both, such as 3,600"),
        }
    }
}

impl FromStr for SprtArg {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (elo, errors): ([f64; 2], [f64; 2]) = match list(text).as_deref() {
            Some(&[elo0, elo1]) => ([elo0, elo1], [0.05, 0.05]),
            Some(&[elo0, elo1, alpha, beta]) => ([elo0, elo1], [alpha, beta]),
            _ => return Err("it has the form ELO0,ELO1 or ELO0,ELO1,ALPHA,BETA"),
        };
        let [elo0, elo1] = elo;
        let [alpha, beta] = errors;
        if !(elo0.is_finite() && elo1.is_finite() && elo0 < elo1) {
            return Err("the first Elo must be less than the second");
        }
        if !(alpha > 0.0 && beta > 0.0 && alpha + beta < 1.0) {
            return Err("the probabilities must be over 0, and their sum less than 1");
        }
        Ok(Self { elo, errors })
    }
}

impl FromStr for Seconds {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = "it is a number of seconds";
        let time: TimeControl = text.parse().map_err(|_| error)?;
        if time.moves.is_some() || !time.increment.is_zero() {
            return Err(error);
        }
        u64::try_from(time.time.as_millis()).map(Self).map_err(|_| error)
    }
}

impl FromStr for RanksArg {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |text: &str| text.parse().ok().filter(|number| *number < 960);
        let ranks = text.split_once('/').map(|(white, black)| (number(white), number(black)));
        match ranks {
            Some((Some(white), Some(black))) => Ok(Self { white, black }),
            _ => Err("it has the form WHITE/BLACK with numbers from 0 to 959, such as 518/0"),
        }
    }
}

impl FromStr for Stall {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Seconds(millis) = text.parse()?;
        NonZeroU64::new(millis).map(Self).ok_or("it is a number of seconds over 0")
    }
}

impl FromStr for ProtocolArg {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "uci" => Ok(Self(Protocol::Uci)),
            "usi" => Ok(Self(Protocol::Usi)),
            _ => Err("it is uci or usi"),
        }
    }
}

impl From<PolicyArg> for OpeningPolicy {
    fn from(policy: PolicyArg) -> Self {
        match policy {
            PolicyArg::Pairing => Self::Pairing,
            PolicyArg::Meeting => Self::Meeting,
            PolicyArg::Round => Self::Round,
            PolicyArg::Cycle => Self::Cycle,
        }
    }
}

impl From<MeetingsArg> for MeetingOrder {
    fn from(order: MeetingsArg) -> Self {
        match order {
            MeetingsArg::Berger => Self::Berger,
            MeetingsArg::Rows => Self::Rows,
        }
    }
}

impl From<TieArg> for KnockoutTie {
    fn from(rule: TieArg) -> Self {
        match rule {
            TieArg::HigherSeed => Self::HigherSeed,
            TieArg::Lot => Self::Lot,
        }
    }
}

impl From<VariationsArg> for Variations {
    fn from(how: VariationsArg) -> Self {
        match how {
            VariationsArg::Moves => Self::Followed,
            VariationsArg::Mate => Self::ToMate,
        }
    }
}

impl From<ScopeArg> for TablebaseScope {
    fn from(scope: ScopeArg) -> Self {
        match scope {
            ScopeArg::Both => Self::Both,
            ScopeArg::WinLoss => Self::WinLoss,
            ScopeArg::Draw => Self::Draw,
        }
    }
}

impl From<BookArg> for BookFormat {
    fn from(format: BookArg) -> Self {
        match format {
            BookArg::Epd => Self::Epd,
            BookArg::Pgn => Self::Pgn,
            BookArg::Sfen => Self::Sfen,
            BookArg::Kif => Self::Kif,
            BookArg::Polyglot => Self::Polyglot,
        }
    }
}

impl From<ImpasseArg> for Impasse {
    fn from(rule: ImpasseArg) -> Self {
        match rule {
            ImpasseArg::Points27 => Self::Points27,
            ImpasseArg::Points24 => Self::Points24,
            ImpasseArg::Try => Self::TryRule,
            ImpasseArg::None => Self::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_called_as_their_files() {
        for (text, name) in [
            ("stockfish", "stockfish"),
            ("./engine-1.25", "engine-1.25"),
            ("/opt/engine-1.26 --uci", "engine-1.26"),
            ("'my folder/my engine.exe' --uci", "my engine"),
            ("engine.py", "engine"),
            ("", ""),
        ] {
            assert_eq!(called(text), name, "{text}");
        }
    }
}
