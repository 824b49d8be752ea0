//! `readyok library`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ValueEnum;
use readyok_library::{Duplicates, NameKind};
use readyok_rules::record::{Condition, OpeningTreeOptions};
use readyok_rules::{BookFormat, BookOptions, Game};

use super::convert::{ChosenArgs, ContentArgs, InputArgs, OutputArgs};
use super::filter::FilterArgs;
use crate::convert::{Content, Conversion, Mode, Source, StatsForm, run as run_conversion};
use crate::exit::{Code, Failure};
use crate::library::{
    BookRequest, Database, DuplicatesRequest, Form, Import, Listing, MergeRequest, NamesAction,
    RepertoireRequest, SearchKey, back_up, check, duplicates, import, merge, names, parse_position,
    print_explorer, read_trees, repertoire, search, stored_games, write_book, write_repaired,
};

const HELP: &str = "\
The database is that of the app, which can be running, or the file of --database. Games have numbers that never change.

The exit status is 0 if all was done, also if no game matches; 1 if something was lost or failed; 2 if the arguments or the database cannot be used. After an error, all that was stored remains.

Examples:
  readyok library import games.pgn.zst kifu/ --recursive
  readyok library search --player carlsen --result win --sort date
  readyok library explorer 'e4 c5' --rating 2500..
  readyok library export --date 2024 -o games.pgn
  readyok library stats --database club.sqlite";

/// Search, explore, import, export and maintain the database of games
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Import(Box<ImportArgs>),
    Search(Box<SearchArgs>),
    Explorer(Box<ExplorerArgs>),
    Export(Box<ExportArgs>),
    Stats(Box<StatsArgs>),
    Duplicates(DuplicatesArgs),
    Book(Box<BookArgs>),
    Merge(Box<MergeArgs>),
    Repertoire(Box<RepertoireArgs>),
    Names(Box<NamesArgs>),
    Check(CheckArgs),
    Repair(RepairArgs),
    Backup(BackupArgs),
}

/// The database of a command.
#[derive(Debug, clap::Args)]
struct DatabaseArgs {
    /// Use this database [default: that of the app]
    #[arg(long, value_name = "FILE")]
    database: Option<PathBuf>,
}

impl DatabaseArgs {
    fn find(&self) -> Result<Database, Failure> {
        Database::find(self.database.as_deref())
    }
}

/// The filters of `convert`, and those that only a database has.
#[derive(Debug, clap::Args)]
struct LibraryFilter {
    #[command(flatten)]
    filter: FilterArgs,
    /// A label that was set in the app; of several, any
    #[arg(long, value_name = "LABEL", help_heading = "Filters")]
    label: Vec<String>,
}

impl LibraryFilter {
    fn condition(self) -> Condition {
        let labels: Vec<_> = self.label.into_iter().map(Condition::Label).collect();
        let filter = self.filter.condition();
        if labels.is_empty() {
            return filter;
        }
        Condition::all(vec![filter, Condition::Any(labels)])
    }
}

/// The treatment of games that the database has already.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
enum DuplicatesArg {
    /// Do not add them, unless they have more annotations
    #[default]
    Skip,
    /// Add them
    Keep,
    /// Replace the known game if they have more annotations; the app asks if it is running
    Replace,
    /// Let the user decide in the app
    Ask,
}

/// Add the games of record files, or of other databases with their labels and studies
///
/// A database is created if it does not exist. With --json, prints `{"files", "games", "added", "duplicates", "replaced", "undecided", "failed", "labels", "collections", "first", "last"}`: counts, and the numbers of the first and last added game.
#[derive(Debug, clap::Args)]
struct ImportArgs {
    /// Record files, databases, directories with --recursive, or `-` for standard input
    #[arg(value_name = "FILES")]
    files: Vec<OsString>,
    #[command(flatten)]
    database: DatabaseArgs,
    /// Set what is done with games that the database has already
    #[arg(long, value_enum, value_name = "CHOICE", default_value_t)]
    duplicates: DuplicatesArg,
    #[command(flatten)]
    input: InputArgs,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// List the games that match
///
/// With --json, prints a line for each game: `{"game", "variant", "first", "second", "ratings", "event", "date", "result", "plies", "eco", "opening", "labels", "added_ms", "changed_ms"}`. `first` is White in chess, and black (sente) in shogi; times are in ms since 1970.
#[derive(Debug, clap::Args)]
struct SearchArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    filter: LibraryFilter,
    /// Sort the games
    #[arg(long, value_enum, value_name = "PROPERTY", default_value_t, help_heading = "Selection")]
    sort: SearchKey,
    /// Sort in descending order
    #[arg(long, help_heading = "Selection")]
    descending: bool,
    /// Omit the first N games
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Selection")]
    skip: usize,
    /// List at most N games; 0 for all [default: 100, all with --json or --ids]
    #[arg(long, value_name = "N", help_heading = "Selection")]
    limit: Option<usize>,
    /// Print only the numbers of the games
    #[arg(long, conflicts_with = "json")]
    ids: bool,
    /// Print a line of JSON for each game
    #[arg(long)]
    json: bool,
}

/// Show the moves of a position with their results
///
/// With --json, prints `{"position", "games", "first", "draws", "second", "unknown", "moves", "latest"}`. Each move has `move` (UCI or USI), `text`, `games`, the same counts, `score` of the side to move in percent, `average_rating`, `performance`, `last_played` and `game`, the latest game by number.
#[derive(Debug, clap::Args)]
struct ExplorerArgs {
    /// FEN, SFEN, or moves from the start position, such as 'e4 c5' [default: the start position]
    #[arg(value_name = "POSITION", default_value = "startpos")]
    at: String,
    #[command(flatten)]
    database: DatabaseArgs,
    /// Set the game of the position [default: detected]
    #[arg(long, value_enum, value_name = "GAME", ignore_case = true)]
    game: Option<Game>,
    #[command(flatten)]
    filter: LibraryFilter,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Write the games that match to a file in any format
///
/// With --json, prints `{"games"}`: the number of written games; it needs --output.
#[derive(Debug, clap::Args)]
struct ExportArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    content: ContentArgs,
    #[command(flatten)]
    filter: LibraryFilter,
    #[command(flatten)]
    chosen: ChosenArgs,
    /// Print the result as JSON
    #[arg(long, requires = "output")]
    json: bool,
}

/// Show statistics of the games that match
///
/// With --json, prints what `readyok convert --stats=json` prints.
#[derive(Debug, clap::Args)]
struct StatsArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    filter: LibraryFilter,
    #[command(flatten)]
    chosen: ChosenArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// List games that the database has several times, or delete all but one of each
///
/// Duplicates have the same moves, or the first ones of another, and headers that show that they are one game. The game to keep has most comments, glyphs and variations; of several, it is the longest, then that with most other annotations, then the oldest.
///
/// With --json, prints a line for each group: `{"keep", "others", "beginnings"}`, the numbers of games; beginnings have only the first moves.
#[derive(Debug, clap::Args)]
struct DuplicatesArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    /// Ignore games that have only the first moves of another
    #[arg(long)]
    exact: bool,
    /// Delete all games but the one to keep of each group
    #[arg(long)]
    delete: bool,
    /// Print a line of JSON for each group
    #[arg(long)]
    json: bool,
}

/// Write an opening book of the games that match: Polyglot for chess, YaneuraOu for shogi
///
/// The weight of a move is twice its wins plus its draws and unknown results, for the side to move; moves that only lost are omitted. With --json, prints `{"games", "positions", "moves", "unreadable"}`.
#[derive(Debug, clap::Args)]
struct BookArgs {
    /// Write to this file
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    database: DatabaseArgs,
    /// Set the game of the book
    #[arg(long, value_enum, value_name = "GAME", ignore_case = true, default_value = "chess")]
    game: Game,
    /// Use the first N plies of each game
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..))]
    max_ply: u16,
    /// Omit moves of fewer than N games
    #[arg(long, value_name = "N", default_value_t = 1)]
    min_games: u64,
    /// Give all moves the same weight
    #[arg(long)]
    uniform: bool,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    filter: LibraryFilter,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Write the main lines of the games that match as one tree
///
/// Comments have the numbers of games, the score of the player of the move, and the results; where one game remains, its players. An order of moves that reaches a position of another line refers to it. Of the first game is the start position. With --json, prints `{"games","moves","omitted","other_starts","cut","unreadable"}`; it needs --output.
#[derive(Debug, clap::Args)]
struct MergeArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    /// Write to this file, in the format of its extension [default: PGN on standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    /// Use the first N plies of each game
    #[arg(long, value_name = "N", default_value_t = 80, value_parser = clap::value_parser!(u32).range(1..=100))]
    max_ply: u32,
    /// Leave out moves of fewer than N games
    #[arg(long, value_name = "N", default_value_t = 1)]
    min_games: u32,
    /// Leave out the rarest moves if there are more than N
    #[arg(long, value_name = "N", default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    max_moves: u32,
    #[command(flatten)]
    filter: FilterArgs,
    /// Print the result as JSON
    #[arg(long, requires = "output")]
    json: bool,
}

/// List where games leave a repertoire: the games that reach a position of trees of moves
///
/// Games of the record files are trees with their variations. Positions count, by any order of moves; the start position does not. Each game is listed once, where it leaves the deepest position.
///
/// With --json, prints a line for each place: `{"tree","line","move","games","first","draws","second"}` with `unknown`, `score` and `latest`; `move` is null if the games end there, `score` is that of the player of the move in percent, `latest` are numbers of games.
#[derive(Debug, clap::Args)]
struct RepertoireArgs {
    /// Record files with the trees
    #[arg(value_name = "FILES", required = true)]
    files: Vec<OsString>,
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    input: InputArgs,
    /// List at most N places; 0 for all
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// List the latest N games of each place
    #[arg(long, value_name = "N", default_value_t = 0)]
    games: usize,
    #[command(flatten)]
    filter: FilterArgs,
    /// Print a line of JSON for each place
    #[arg(long)]
    json: bool,
}

/// What has a name.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
enum NameKindArg {
    #[default]
    Player,
    Event,
    Site,
}

/// List spelling variants of players, merge names, and undo that
///
/// Without another option, names that are probably one are listed: with other punctuation, case, diacritics or order, with initials, or with one or two other letters. Names with different FIDE ids, and of players who play each other, are not among them. Open games of a running app keep their names.
///
/// With --json, prints a line for each proposal, `{"keep", "games", "variants", "reason"}`; with --list `{"name", "games"}`; with --apply and --merge `{"merge", "keep", "games"}`; with --history `{"merge", "at_ms", "kind", "from", "to", "games"}`; with --undo `{"merge", "games"}`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "independent flags")]
struct NamesArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    /// Set what has the names; variants are found for players and in spelling files
    #[arg(long, value_enum, value_name = "KIND", default_value_t)]
    kind: NameKindArg,
    /// List all names with their numbers of games
    #[arg(long, conflicts_with_all = ["apply", "spelling"])]
    list: bool,
    /// Correct names by this spelling file of SCID (`spelling.ssp`)
    #[arg(long, value_name = "FILE")]
    spelling: Option<PathBuf>,
    /// Merge the listed names
    #[arg(long)]
    apply: bool,
    /// Replace this name by that of --into; repeatable
    #[arg(long, value_name = "NAME", requires = "into", conflicts_with_all = ["apply", "spelling", "list"])]
    merge: Vec<String>,
    /// The name that replaces those of --merge
    #[arg(long, value_name = "NAME", requires = "merge")]
    into: Option<String>,
    /// List the merges that can be undone
    #[arg(long, conflicts_with_all = ["apply", "spelling", "list", "merge"])]
    history: bool,
    /// Undo a merge: that with this number, or the last one
    #[arg(long, value_name = "MERGE", num_args = 0..=1, default_missing_value = "0", conflicts_with_all = ["apply", "spelling", "list", "merge", "history"])]
    undo: Option<u32>,
    /// Print lines of JSON
    #[arg(long)]
    json: bool,
}

/// Examine the database: whether every game can be read, and whether lists and index agree with the games
///
/// The exit status is 1 if there is a defect. With --json, prints a line for each defect, `{"game", "defect"}`, and then `{"games", "defects"}`.
#[derive(Debug, clap::Args)]
struct CheckArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    /// Print a line of JSON for each defect
    #[arg(long)]
    json: bool,
}

/// Write all that can be read of a damaged database to a new file, and list what is lost
///
/// Games keep their numbers, labels and studies. The damaged file is not changed. The exit status is 1 if something is lost. With --json, prints a line for each loss, `{"game", "defect"}`, and then `{"file", "games", "lost", "damaged"}`.
#[derive(Debug, clap::Args)]
struct RepairArgs {
    /// Write to this file
    #[arg(value_name = "FILE")]
    target: PathBuf,
    #[command(flatten)]
    database: DatabaseArgs,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    /// Print a line of JSON for each loss
    #[arg(long)]
    json: bool,
}

/// Copy the database to a file, also while the app uses it
///
/// The copy is checked before it gets its name. With --json, prints `{"file", "bytes", "games"}`.
#[derive(Debug, clap::Args)]
struct BackupArgs {
    /// Write to this file
    #[arg(value_name = "FILE")]
    target: PathBuf,
    #[command(flatten)]
    database: DatabaseArgs,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Default number of listed games.
const LIMIT: usize = 100;

pub(super) fn run(args: Args) -> Result<Code, Failure> {
    match args.command {
        Command::Import(args) => run_import(&args),
        Command::Search(args) => run_search(*args),
        Command::Explorer(args) => run_explorer(*args),
        Command::Export(args) => run_export(*args),
        Command::Stats(args) => run_stats(*args),
        Command::Duplicates(args) => {
            let DuplicatesArgs { database, exact, delete, json } = args;
            let request = DuplicatesRequest { is_exact: exact, deletes: delete, is_json: json };
            duplicates(&database.find()?, request)
        }
        Command::Book(args) => run_book(*args),
        Command::Merge(args) => run_merge(*args),
        Command::Repertoire(args) => run_repertoire(*args),
        Command::Names(args) => run_names(*args),
        Command::Check(args) => check(&args.database.find()?, args.json),
        Command::Repair(args) => {
            write_repaired(&args.database.find()?, &args.target, args.force, args.json)
        }
        Command::Backup(args) => {
            back_up(&args.database.find()?, &args.target, args.force, args.json)
        }
    }
}

fn run_import(args: &ImportArgs) -> Result<Code, Failure> {
    let (files, read) = args.input.files(&args.files)?;
    import(Import {
        database: args.database.find()?,
        files,
        read,
        duplicates: match args.duplicates {
            DuplicatesArg::Skip => Duplicates::Skip,
            DuplicatesArg::Keep => Duplicates::Keep,
            DuplicatesArg::Replace => Duplicates::Replace,
            DuplicatesArg::Ask => Duplicates::Ask,
        },
        is_lenient: args.input.lenient,
        is_json: args.json,
    })
}

fn run_search(args: SearchArgs) -> Result<Code, Failure> {
    let form = match (args.ids, args.json) {
        (true, _) => Form::Numbers,
        (_, true) => Form::Json,
        (false, false) => Form::Table,
    };
    let default = if matches!(form, Form::Table) { LIMIT } else { 0 };
    let limit = args.limit.unwrap_or(default);
    let listing = Listing {
        condition: args.filter.condition(),
        sort: args.sort,
        is_descending: args.descending,
        skip: args.skip,
        limit: if limit == 0 { usize::MAX } else { limit },
        form,
    };
    search(&*args.database.find()?.open()?, &listing)
}

fn run_explorer(args: ExplorerArgs) -> Result<Code, Failure> {
    let position = parse_position(&args.at, args.game).map_err(Failure::usage)?;
    let library = args.database.find()?.open()?;
    print_explorer(&library, &position, &args.filter.condition(), args.json)
}

fn run_names(args: NamesArgs) -> Result<Code, Failure> {
    let kind = match args.kind {
        NameKindArg::Player => NameKind::Player,
        NameKindArg::Event => NameKind::Event,
        NameKindArg::Site => NameKind::Site,
    };
    let action = if args.list {
        NamesAction::List
    } else if args.history {
        NamesAction::History
    } else if let Some(merge) = args.undo {
        NamesAction::Undo(Some(merge).filter(|merge| *merge > 0))
    } else if let Some(into) = args.into {
        NamesAction::Merge(args.merge, into)
    } else {
        NamesAction::Propose { spelling: args.spelling, applies: args.apply }
    };
    names(&args.database.find()?, kind, action, args.json)
}

fn run_book(args: BookArgs) -> Result<Code, Failure> {
    let request = BookRequest {
        condition: args.filter.condition(),
        format: BookFormat::of(args.game),
        output: args.output,
        force: args.force,
        plies: args.max_ply.into(),
        options: BookOptions { min_games: args.min_games, is_uniform: args.uniform },
        is_json: args.json,
    };
    write_book(&*args.database.find()?.open()?, request)
}

fn run_merge(args: MergeArgs) -> Result<Code, Failure> {
    let request = MergeRequest {
        condition: args.filter.condition(),
        options: OpeningTreeOptions {
            plies: args.max_ply as usize,
            min_games: args.min_games,
            moves: args.max_moves as usize,
        },
        output: args.output,
        force: args.force,
        is_json: args.json,
    };
    merge(&*args.database.find()?.open()?, &request)
}

fn run_repertoire(args: RepertoireArgs) -> Result<Code, Failure> {
    let (files, read) = args.input.files(&args.files)?;
    let (trees, is_complete) = read_trees(&files, read, args.input.lenient)?;
    let request = RepertoireRequest {
        trees,
        condition: args.filter.condition(),
        limit: if args.limit == 0 { usize::MAX } else { args.limit },
        games: args.games,
        is_json: args.json,
    };
    let code = repertoire(&*args.database.find()?.open()?, &request)?;
    Ok(if is_complete { code } else { Code::Failed })
}

fn run_export(args: ExportArgs) -> Result<Code, Failure> {
    let mode = args.output.mode()?;
    let content = args.content.content();
    convert(&args.database, (args.filter, &args.chosen), mode, content, args.json)
}

fn run_stats(args: StatsArgs) -> Result<Code, Failure> {
    let mode = Mode::Stats(if args.json { StatsForm::Json } else { StatsForm::Table });
    convert(&args.database, (args.filter, &args.chosen), mode, Content::default(), false)
}

/// Passes the games that match to a conversion.
fn convert(
    database: &DatabaseArgs,
    (filter, chosen): (LibraryFilter, &ChosenArgs),
    mode: Mode,
    content: Content,
    prints_json: bool,
) -> Result<Code, Failure> {
    let database = database.find()?;
    let library = database.open()?;
    let stored = stored_games(library, database.path, &filter.condition())?;
    run_conversion(Conversion {
        source: Source::Stored(stored),
        // The database has evaluated the condition.
        selection: chosen.selection(Condition::default()),
        content,
        mode,
        is_lenient: true,
        prints_json,
    })
}
