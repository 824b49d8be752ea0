// Generated from crates/server/src/wire by `READYOK_BLESS=1 cargo test -p readyok-server`. Do not edit.

/** An account whose games are imported. */
export type Account = {
/** The first day of the games, `2026-11-21`; all by default. */
since: string | null,
/** Unix time of the last complete import in milliseconds. */
imported: number | null,
/** What the next import continues after. */
cursor: AccountCursor, site: AccountSite,
/** Upper and lower case are equal. */
name: string, };

/** The end of the games that were imported. */
export type AccountCursor = {
/**
 * Unix time of the last game in milliseconds: of its start on Lichess, of its end on chess.com. The next import
 * requests games since then.
 */
time: number | null,
/** The address of the last game. */
game: string | null,
/** The last monthly archive of chess.com, `2026/11`, and its version. */
archive: [string, string] | null, };

/** The name of an account. */
export type AccountName = { site: AccountSite,
/** Upper and lower case are equal. */
name: string, };

/** A site with accounts of players. */
export type AccountSite = "lichess" | "chesscom";

/** The adjudication of games. */
export type AdjudicationConditions = {
/** A draw by score. */
draw: DrawRule | null,
/** A loss by score. */
resign: ResignRule | null,
/** Maximum number of moves. */
max_moves: number | null,
/** Whether tablebases end games. */
tablebases: boolean, };

/** Changes of the analysis. */
export type AnalysisDelta = {
/** New or changed engines, with their complete states. */
engines: Array<EngineAnalysis>, removed: Array<number>, };

/** The end of an analysis. */
export type AnalysisGoal = { "kind": "infinite" } | { "kind": "depth",
/** In plies. */
depth: number, } | { "kind": "nodes", nodes: number, } | { "kind": "time",
/** In milliseconds. */
time: number, } | { "kind": "mate",
/** In moves in chess, in milliseconds in shogi (0: no limit). */
limit: number, };

/** The settings of an analysis. */
export type AnalysisSettings = {
/** The number of variations, 0 to 20. With 0, the engine searches one, which is not shown. */
lines: number, goal: AnalysisGoal,
/** Only these moves, in UCI or USI notation, and only at the node where they were chosen; empty for all. */
only: Array<string>,
/** Analyzes the position after a null move, which is not possible in check. */
threat: boolean,
/** The node of the analysis does not follow the cursor. */
locked: boolean, };

/** The engines that analyze the position at the cursor of a game. */
export type AnalysisState = { engines: Array<EngineAnalysis>, };

/** The status of an engine that analyzes. */
export type AnalysisStatus = "starting" | "turning" | "searching" | "done" | "stopped" | "failed";

/** The result of a request. */
export type Answer = { "kind": "done" } | { "kind": "game", game: number, } | { "kind": "node",
/** Its (last) node. */
node: number, } | { "kind": "engine", engine: number, } | { "kind": "found_engines", found: FoundEngines, } | { "kind": "preview",
/** How it would be reached; exactly this is run, without a shell. */
entry: EngineEntry, } | { "kind": "process", process: number, } | { "kind": "match", id: number, } | { "kind": "job", id: number, } | { "kind": "deleted", count: number,
/** Whether they can be restored. */
restorable: boolean,
/** The number of collections that had some of the deleted games. */
collections: number, } | { "kind": "collection", id: number, } | { "kind": "tried",
/** The loss in percent of winning chances. */
loss: number,
/** Whether the loss is at most 2 percent. */
good: boolean,
/** The side of the move. */
side: Side, } | { "kind": "merged", game: number, merged: MergedGames, } | { "kind": "opening_tree", game: number, tree: BuiltTree, } | { "kind": "exercises_added", added: number,
/** The number of exercises that were known. */
known: number, } | { "kind": "exercise_position", position: PositionView,
/** The position before the first move of the line, as FEN or SFEN. */
start: string,
/** The moves that lead to the position. */
line: NumberedLine,
/** The position before the last of these moves. */
before: PositionView | null,
/** Milliseconds to the next review, for each grade from “again” to “easy”. */
intervals: [number, number, number, number], } | { "kind": "exercise_tried", attempt: ExerciseAttempt, } | { "kind": "exercise_solution", line: Array<LineMove>, } | { "kind": "training_set", set: number,
/** The number of its positions that are new. */
added: number, } | { "kind": "exercise_graded",
/** Unix time of the next review in milliseconds. */
due: number, };

/** Why a request failed. Nothing has changed. */
export type ApiError = { category: ErrorCategory, error: ErrorInfo, };

/**
 * The status of registration or copy protection, in the letter case of the page; `readyok_protocol::Status` is a part of
 * messages in JSON.
 */
export type Approval = "checking" | "ok" | "error";

/** Why no audits are made. */
export type AuditGap = "no-other-owner" | "no-other-worker" | "not-deterministic";

/** The audits of a match: pairs that workers of other owners have played again, or replayed. */
export type AuditStatus = {
/** The number of audited pairs. */
made: number,
/** The number of open audits. */
open: number,
/** The number of audits in which the games of two workers have differed. */
differing: number,
/** The number of workers whose games are replayed with too few equal moves. */
flagged: number,
/** The number of audits that were due and were not made. */
not_made: number,
/** Why no audits are made. */
gap: AuditGap | null, };

/** An opening book for a game. */
export type Book = {
/** A file below the data directory or a root of the file picker: PGN, EPD, SFEN lines or Polyglot. */
path: string,
/** Maximum number of book moves. */
plies: number, };

/** Whether a score is exact or a bound. */
export type Bound = "exact" | "lower" | "upper";

/** A violated rule. */
export type Breach = {
/** Whether it makes the line invalid. */
serious: boolean, english: BreachText, japanese: BreachText,
/** The start and the end of the violation, in characters of the line. */
span: [number, number] | null, };

/** A violated rule in a language. */
export type BreachText = { text: string,
/** The clause of the rule. */
clause: string, };

/** A tree that [`Command::BuildOpeningTree`](super::Command::BuildOpeningTree) has made. */
export type BuiltTree = {
/** The number of games in the tree. */
games: number,
/** The number of moves. */
moves: number,
/** The number of moves that were left out, of too few games. */
omitted: number,
/** The number of games with another start position. */
unconnected: number,
/** The number of games whose last moves were left out because there were too many positions. */
cut: number, };

/** A [`WarningKind`] with its cause as the page shows it. */
export type CausedWarning = { "code": "option_not_set", name: string, value: string, cause: ErrorInfo, } | { "code": "restarted", cause: ErrorInfo, } | { "code": "protocol_violation", cause: LocalizedText, };

/** A game of a collection. */
export type Chapter = { id: number, name: string, game: LibraryGame, };

/** What is known of a chapter of a repertoire. A position that several chapters reach is in the first. */
export type ChapterStats = { name: string, total: number, learned: number, learning: number, due: number,
/** The number of reviews, and of those with the grade “again”. */
reviews: number, lapses: number, };

/** The result of `POST /api/library/chapters`: a collection with its chapters in their order. */
export type Chapters = { collection: Collection, chapters: Array<Chapter>,
/** The chapters that contain the text of the query; null without one. */
found: Array<number> | null, };

/** The result of a check. */
export type CheckResult = { id: string,
/** `must`, `should` or `may`. */
severity: string,
/** `pass`, `fail`, `skip` or `inconclusive`. */
verdict: string, english: CheckText, japanese: CheckText, };

/** A run of the conformance checker. */
export type CheckRun = { "kind": "running", since: number,
/** Number of checks that have ended. */
done: number,
/** Number of checks; 0 until the handshake. */
total: number,
/** The failed checks so far. */
failed: Array<CheckResult>, } | { "kind": "canceled", at: number, done: number, total: number, failed: Array<CheckResult>, } | { "kind": "done", at: number,
/** Whether no check of severity `must` has failed. */
conforms: boolean, checks: Array<CheckResult>, } | { "kind": "failed", error: ErrorInfo, };

/** The text of a check and its result in a language. */
export type CheckText = { rule: string,
/** The observation, or the reason for a skipped check. Empty for a pass. */
detail: string,
/** The clauses of the rule, by the names of the documents. */
clauses: Array<string>, };

export type Choice = { value: string,
/** The label by language. */
labels: { [key in string]: string }, };

/** The choices for the setup of a game, by `GET /api/choices`. */
export type Choices = {
/** The handicaps of shogi. */
handicaps: Array<HandicapChoice>, };

/** A claim of a human, with its result. */
export type Claim = "draw" | "declare_win" | "declare_draw";

/** The clocks at a moment. The page extrapolates the running one; only the server decides when a flag falls. */
export type ClockState = {
/** The remaining time at `sent_at`, negative after the fall of a flag; none for a side without a clock. */
remaining: Sides<number | null>,
/** The byoyomi of each move after `remaining` is used up. */
byoyomi: Sides<number>,
/** Added after each move. */
increment: Sides<number>,
/** The number of moves to the next time control. */
moves_to_go: Sides<number | null>, running: Side | null, sent_at: number, };

/** A code without parameters. */
export type Code<T> = { code: T, };

/** A named, ordered list of games. */
export type Collection = { id: number, name: string,
/** The number of chapters. */
chapters: number, added: number, changed: number, };

/**
 * A change of a collection. Places are counted from 0; one behind the last is the end.
 * `Games` are the games to add: their numbers, or a selection of them.
 */
export type CollectionEdit<Games = Array<number>> = { "kind": "create", name: string, of: Games, } | { "kind": "rename", collection: number, name: string, } | { "kind": "delete", collection: number, } | { "kind": "add", collection: number, of: Games, place: number | null, } | { "kind": "rename_chapter", chapter: number, name: string, } | { "kind": "move_chapter", chapter: number, place: number, collection?: number, } | { "kind": "remove_chapter", chapter: number, };

/** The result of `POST /api/library/collections`: all collections, the last changed one first. */
export type Collections = { collections: Array<Collection>, };

/** A command of a tab. The answer is [`Answer::Done`] unless stated otherwise. */
export type Command = { "kind": "subscribe", topic: Topic, } | { "kind": "unsubscribe", topic: Topic, } | { "kind": "new_game", game: NewGame,
/** The board that the new one takes the place of, if that is an untouched draft. */
replaces?: number, } | { "kind": "open_game", game: number, } | { "kind": "close_game", game: number, } | { "kind": "save_draft", game: number, } | { "kind": "delete_game", game: number, } | { "kind": "delete_games", of: Selection, } | { "kind": "restore_games" } | { "kind": "decide_duplicates",
/** None for all. */
games: Array<number> | null, decision: DuplicateDecision, } | { "kind": "set_label", of: Selection, label: string,
/** False removes the label. */
set: boolean, } | { "kind": "edit_collection", edit: CollectionEdit<Selection>, } | { "kind": "merge_games",
/** None for a new game of the library, which begins as a copy of the first one. */
game?: number, of: Selection,
/** Adds only the line to this node with everything after it. */
part?: number, } | { "kind": "build_opening_tree", of: Selection,
/** The number of plies, at most 100. */
plies: number,
/** The smallest number of games of a move. */
min_games: number, } | { "kind": "split_game", game: number, node: number, } | { "kind": "copy_chapter", game: number,
/** The collection with the chapter. The copy follows it there. */
collection: number,
/** The collection that gets the copy as its last chapter. */
to?: number, } | { "kind": "move", game: number,
/** The node of the position that the user saw. */
node: number,
/** In UCI, USI, SAN, or Japanese notation. */
text: string, } | { "kind": "go_to", game: number, node: number, } | { "kind": "edit", game: number, edit: Edit, } | { "kind": "take_back", game: number, } | { "kind": "resign", game: number, } | { "kind": "offer_draw", game: number, } | { "kind": "accept_draw", game: number, } | { "kind": "claim", game: number, } | { "kind": "hint", game: number,
/** None for the engine that plays, or else the built-in one. */
engine: number | null, } | { "kind": "move_now", game: number, } | { "kind": "pause", game: number, } | { "kind": "resume", game: number,
/** The line to this node becomes the game. None for the last move. */
from: number | null,
/** New players; none for the same ones. */
players: Sides<Player> | null, } | { "kind": "abort", game: number, } | { "kind": "rematch", game: number, } | { "kind": "analyse", game: number, engine: number, settings: AnalysisSettings, } | { "kind": "stop_analysis", game: number,
/** None for all engines. */
engine: number | null, } | { "kind": "end_analysis", game: number, engine: number, } | { "kind": "add_engine", entry: EngineEntry,
/** Option values. Those that the engine rejects are reported by its processes. */
values?: { [key in string]: string }, } | { "kind": "find_engines" } | { "kind": "cancel_find_engines" } | { "kind": "read_engine_list", text: string, } | { "kind": "copy_engine", engine: number, } | { "kind": "preview_engine",
/** A path, a command line, or `tcp://host:port`. */
text: string, } | { "kind": "change_engine", engine: number, entry: EngineEntry, } | { "kind": "remove_engine", engine: number, } | { "kind": "inspect_engine", engine: number, } | { "kind": "set_options", engine: number, of: ValuesFor,
/** By name; null resets a value to the default. */
values: { [key in string]: string | null }, } | { "kind": "press_button", engine: number, option: string, } | { "kind": "save_preset", engine: number, preset: Preset, } | { "kind": "delete_preset", engine: number, name: string, } | { "kind": "apply_preset", engine: number, name: string, of: ValuesFor, } | { "kind": "register_engine", engine: number,
/** None for `register later`. */
with: Registration | null, } | { "kind": "check_engine", engine: number, } | { "kind": "cancel_check", engine: number, } | { "kind": "open_console", engine: number, } | { "kind": "send_line", process: number, line: string, } | { "kind": "restart_process", process: number, } | { "kind": "quit_process", process: number, } | { "kind": "kill_process", process: number, } | { "kind": "start_match", plan: MatchPlan, } | { "kind": "stop_match", id: number,
/** Whether to play the games that are on to their ends. */
finish: boolean, } | { "kind": "resume_match", id: number, } | { "kind": "open_match_game", id: number,
/** Its number in the match. */
number: number, } | { "kind": "delete_match", id: number, } | { "kind": "start_report",
/** Of which. */
on: ReportOn, settings: ReportSettings, } | { "kind": "stop_report",
/** Of which game; none for all. */
game: number | null, } | { "kind": "import_directory",
/** A path that the file picker can show. */
path: string,
/** They are skipped by default. */
duplicates?: DuplicateChoice, } | { "kind": "stop_job", id: number, } | { "kind": "resume_job", id: number, } | { "kind": "delete_job", id: number, } | { "kind": "try_move", game: number,
/** Before the mistake. */
node: number,
/** The move, in any notation. */
text: string,
/** How long to think about it. */
limits: SearchLimits, } | { "kind": "add_syzygy", path: string, } | { "kind": "remove_syzygy", path: string, } | { "kind": "add_book", path: string, } | { "kind": "remove_book", path: string, } | { "kind": "import_account", account: AccountName,
/** The first day of the games of a new account, `2026-11-21`; all by default. */
since: string | null, } | { "kind": "remove_account", account: AccountName, } | { "kind": "set_lichess_token", token: string | null, } | { "kind": "collect_exercises", game: number | null,
/** The side of the game; both by default. */
side: Side | null, } | { "kind": "open_exercise", id: number, } | { "kind": "try_exercise", id: number,
/** The moves of both sides so far. */
moves: Array<string>,
/** The move in any notation. */
text: string, } | { "kind": "solve_exercise", id: number,
/** The moves of both sides so far. */
moves: Array<string>, } | { "kind": "grade_exercise", id: number, grade: ExerciseGrade, } | { "kind": "delete_exercises", ids: Array<number>, } | { "kind": "make_repertoire", of: Selection, name: string,
/** The side of the user. */
side: Side,
/** Only moves with one of these NAGs are trained; all moves if it is empty. */
marks: Array<number>, } | { "kind": "rename_training_set", set: number, name: string, } | { "kind": "delete_training_set", set: number, } | { "kind": "set_settings",
/** All of them. */
settings: Settings, };

/** A compression format. */
export type Compression = "gzip" | "bzip2" | "Zstandard";

/** The current line of a thread (`currline`). */
export type CurrentLine = {
/** From 1. */
cpu: number, moves: Array<LineMove>, };

/** The move that is searched at the root (`currmove`). */
export type CurrentMove = { it: LineMove,
/** From 1. */
number: number | null, };

/** A cursor with its position. */
export type CursorView = { cursor: number, position: PositionView,
/** The named opening of the moves to the cursor. */
opening: OpeningName | null, };

/** The result of a match of two engines after a number of pairs: a point of its curves. */
export type CurvePoint = {
/** The number of pairs. */
pairs: number,
/** The number of games. */
games: number,
/** Its score as a fraction. */
score: number | null,
/** The log-likelihood ratio, in a test. */
llr: number | null,
/** The maximum-likelihood estimate. */
elo: number | null,
/** Half the width of the 95 % confidence interval. */
error: number | null, };

/** A damaged file of the data directory. */
export type DamagedFile = { path: string,
/** Its path since it was found damaged; a new file has its place. None if it is damaged in part and still used. */
moved_to: string | null,
/** The open game whose last changes are damaged. The rest of the file is used. */
game: number | null, };

/** Why a compressed file is not read to its end. It is the inner error of an [`io::Error`]. */
export type DecompressionError = { "code": "compressed_twice", compression: Compression, } | { "code": "compression_ratio", limit: number, } | { "code": "decompression_time" };

/** A change of a topic. */
export type Delta = { "kind": "games", "delta": GamesDelta } | { "kind": "engines", "delta": EnginesDelta } | { "kind": "matches", "delta": MatchesDelta } | { "kind": "jobs", "delta": JobsDelta } | { "kind": "settings", "delta": Settings } | { "kind": "game", "delta": GameDelta } | { "kind": "analysis", "delta": AnalysisDelta } | { "kind": "log", "delta": LogDelta } | { "kind": "match", "delta": MatchDelta } | { "kind": "report", "delta": ReportDelta };

/** A directory of the file picker, by `GET /api/files?path=…` (without a path: the roots). */
export type Directory = {
/** The absolute path; none for the list of roots. */
path: string | null,
/** The parent directory, unless the directory is a root. */
parent: string | null,
/** At most 2000 entries: directories first, by name. */
entries: Array<DirectoryEntry>,
/** Whether entries were omitted. */
truncated: boolean, };

/** An entry of a directory. */
export type DirectoryEntry = { name: string,
/** The absolute path. */
path: string, directory: boolean,
/** Whether it is an executable file. */
program: boolean,
/** In bytes. */
size: number, };

/** The result of a request for the address of a download. */
export type DownloadAddress = {
/** Relative to the page. It is valid for some hours, and needs no session. */
address: string, };

/** A draw by score. */
export type DrawRule = {
/**
 * The first move number at which a draw is possible, after both sides have played it: full
 * moves in chess, plies in shogi.
 */
from_move: number,
/**
 * Number of consecutive moves of each side; in chess without a capture or pawn move after the
 * first of them.
 */
moves: number,
/** Maximum absolute score in centipawns. Mate scores always exceed it. */
score: number, };

/**
 * The treatment of new games that equal games of the database or of the same import: the same moves, known and equal
 * players or an equal event and site, and dates that do not contradict each other. Chapters of a study are different
 * games.
 */
export type DuplicateChoice = "skip" | "keep" | "replace" | "ask";

/** The treatment of duplicates that wait for a decision. */
export type DuplicateDecision = "skip" | "keep" | "replace";

/** Games that are one game. */
export type DuplicateGroup = {
/**
 * First the game to keep: that with most comments, glyphs and variations; of several, the longest, then that with
 * most other annotations, then the oldest.
 */
games: Array<LibraryGame>,
/** Those that have only the first moves of another one. */
beginnings: Array<number>, };

/**
 * The result of `POST /api/library/duplicates`: games with the same moves, or the first ones of another, of the same
 * players, or of unknown ones at the same event and site.
 */
export type DuplicateGroups = {
/** The first 200 groups. */
groups: Array<DuplicateGroup>,
/** The number of all groups. */
total: number,
/** The number of all games that a group has besides the one to keep. */
surplus: number, };

/** An edit of the tree of a game. */
export type Edit = { "kind": "comment", node: number,
/** Before the move, at the start of a variation. */
before: Array<string>,
/** After the move. */
comments: Array<string>, } | { "kind": "nags", node: number, nags: Array<number>, } | { "kind": "marks", node: number, marks: Array<Mark>, } | { "kind": "delete", node: number, } | { "kind": "promote",
/** A node of the variation. */
node: number,
/** Promotes it to the main line. */
to_main: boolean, } | { "kind": "insert",
/** The node before the line. */
node: number,
/** In UCI or USI notation. */
moves: Array<string>,
/** Added to the first move of the line. */
evaluation: Evaluation | null, } | { "kind": "headers", headers: Array<Header>, } | { "kind": "result",
/** `1-0`, `0-1`, `1/2-1/2` or `*`. */
result: string, } | { "kind": "remove_judgements" } | { "kind": "undo" } | { "kind": "redo" };

/** The score of two engines. */
export type EncounterScore = {
/** The engine with the lower ID, whose wins are counted. */
engine: EngineId,
/** Its opponent. */
opponent: EngineId,
/** Games won. */
wins: number,
/** Games drawn. */
draws: number,
/** Games lost. */
losses: number,
/**
 * Pentanomial counts, with separate counts of win and loss and of two draws: LL, LD, WL, DD, WD, WW. All 0 if
 * pairings have one game.
 */
pairs: [number, number, number, number, number, number], };

/** An engine that analyzes a game. */
export type EngineAnalysis = { engine: number, settings: AnalysisSettings, status: AnalysisStatus, process: number | null,
/** The node of the fields below. They must not be shown at another node. */
node: number, info: SearchInfo, error: ErrorInfo | null, };

/** The conditions of an engine. */
export type EngineConditions = {
/** The name in the match. */
name: string,
/** The command with its arguments. */
command: string,
/** The commit from which the program is built. */
source: SourceConditions | null,
/** The SHA-256 of the program, if it is known. */
hash: string | null,
/** The value of the option for the number of threads. */
threads: string | null,
/** The value of the option for the size of the transposition table, in MiB. */
hash_mb: string | null,
/** The options that name files, such as networks. */
files: Array<NamedFile>,
/** The other options. */
options: { [key in string]: string },
/** The limits of a search. */
limits: PlanLimits,
/** Whether the engine searches on the opponent's time. */
ponder: boolean, };

/** The registration of an engine. */
export type EngineEntry = {
/** Empty for the name that the engine reports. */
name: string, source: EngineSource,
/** None for detection by the handshake. */
protocol: Protocol | null, };

/** The failure of an engine that interrupted a game. */
export type EngineFailure = { side: Side,
/** None if the process exited without an error. */
error: ErrorInfo | null, };

/** A detail in the text of an [`EngineFailure`]. */
export type EngineFailureDetail = { "detail": "timeout", timeout_ms: number, } | { "detail": "exit", exit: ExitDescription, } | { "detail": "message", text: string, } | { "detail": "stderr", line: string, };

/** The kind of an [`EngineFailure`]. */
export type EngineFailureKind = { "code": "program_not_found" } | { "code": "program_not_executable" } | { "code": "connection_refused" } | { "code": "start_failed" } | { "code": "handshake_timeout" } | { "code": "ready_timeout" } | { "code": "stop_timeout" } | { "code": "exit_timeout" } | { "code": "overrun", overrun_ms: number, } | { "code": "output_closed" } | { "code": "not_running" } | { "code": "copy_protected" } | { "code": "unknown_option", name: string, } | { "code": "managed_option", name: string, } | { "code": "forbidden_value", name: string, } | { "code": "unsupported_game" } | { "code": "unsupported_position" } | { "code": "other" } | OptionError;

/** The index of an engine in the plan. */
export type EngineId = number;

/** The format of an engine list. */
export type EngineList = "cute_chess" | "en_croissant" | "arena" | "shogi_home";

/** An option that an engine has declared. */
export type EngineOption = { name: string, kind: OptionKind,
/** The label by language (`en`, `ja`), from the engine's translation file or the server. */
labels: { [key in string]: string },
/** The help text by language. */
help: { [key in string]: string },
/**
 * Who sets it: the user, or the server by itself (such as `UCI_AnalyseMode`, `Ponder`, `MultiPV`), which the
 * dialog shows as such and does not offer to change.
 */
set_by_server: boolean, };

/** An engine that plays. */
export type EnginePlayer = { engine: number, time: Time,
/** Limits of each search in addition to the clock. */
limits: SearchLimits, ponder: boolean,
/** None for full strength. */
strength: Strength | null,
/** Values of options for this game only; they override the engine's values. */
options: { [key in string]: string }, };

/** A program that is an engine. */
export type EngineProgram = {
/** The absolute path. */
path: string,
/** The arguments, which no shell expands. */
args: Array<string>,
/** The working directory; none for the directory of the program. */
dir: string | null,
/** Environment variables in addition to the inherited ones. */
env: { [key in string]: string }, };

/** A search for engines. */
export type EngineSearch = { running: boolean,
/** Number of programs whose handshakes have ended. */
done: number,
/** Number of programs; 0 until the directories are read. */
total: number,
/** Engines and other programs so far, as they were found. */
found: FoundEngines, };

/** The source of an engine. */
export type EngineSource = { "kind": "program" } & EngineProgram | { "kind": "tcp",
/** `host:port` */
address: string, } | { "kind": "built_in" };

/** A registered engine. */
export type EngineState = { id: number,
/** The built-in engine cannot be changed or removed. */
built_in: boolean,
/** The identity of the last handshake. */
identity: Identity | null,
/** The supported variants, by protocol and options. */
variants: Array<Variant>,
/** The options of the last handshake. */
options: Array<EngineOption>,
/** Option values that suit the machine. */
recommended: { [key in string]: string },
/** None if the strength cannot be limited. */
strength: StrengthRange | null,
/** The same in shogi, for which the engine may use another protocol. */
strength_in_shogi: StrengthRange | null,
/** The error of the last probe. */
error: ErrorInfo | null, registration: Approval | null, copy_protection: Approval | null,
/** The response to a required registration; none for `register later`. */
registered_as: string | null,
/** The last run of the conformance checker. */
check: CheckRun | null,
/** Empty for the name that the engine reports. */
name: string, source: EngineSource,
/** None for detection by the handshake. */
protocol: Protocol | null,
/** They override the defaults. */
values: { [key in string]: string },
/** Values for play, which override `values`. */
play_values: { [key in string]: string },
/** Values for analysis, which override `values`. */
analyse_values: { [key in string]: string }, presets: Array<Preset>, };

/** Changes of the engines and processes. */
export type EnginesDelta = {
/** New or changed engines. */
engines: Array<EngineState>, removed: Array<number>,
/** New or changed processes. */
processes: Array<ProcessState>,
/** Removed processes, whose logs no longer exist. */
forgotten: Array<number>,
/** None if the search has not changed. */
search: EngineSearch | null, };

/** All engines and processes. */
export type EnginesState = {
/** The first one is the built-in engine. */
engines: Array<EngineState>,
/** Running processes and the last exited ones, by number. */
processes: Array<ProcessState>, machine: Machine,
/** The last search for engines. */
search: EngineSearch | null, };

/** A defect of the operations of an EPD. */
export type EpdDefect = { "code": "unclosed_quote" } | { "code": "too_many_operations" } | { "code": "invalid_opcode", text: string, } | { "code": "missing_operand", opcode: string, } | { "code": "invalid_operand", opcode: string, text: string, };

/** The categories of failed requests. */
export type ErrorCategory = "invalid_request" | "not_found" | "illegal_move" | "ambiguous_move" | "invalid_position" | "invalid_record" | "conflict" | "engine" | "limit" | "invalid_path" | "storage" | "online";

/** The object and the location of an error. */
export type ErrorContext = {
/** The variant of the sides, squares and pieces in the parameters. */
variant?: Variant,
/** The name of the engine. */
engine?: string, path?: string,
/** The number of the game in the file. */
game?: number,
/** The number of the entry in the list. */
entry?: number, line?: number, column?: number,
/** The text of the rejected move. */
move?: string,
/** The part of a defective game that was read; absent if nothing else is missing. */
kept?: KeptMoves,
/** The details of an engine failure. In games and jobs of earlier versions, this is the last stderr line. */
details?: Array<EngineFailureDetail>, };

/** An error: its code and its context. */
export type ErrorInfo = { context?: ErrorContext, } & ({ "code": "declaration_rejected" } | { "code": "invalid_best_move", answer: string, } | { "code": "no_output", time: number, } | { "code": "draw_adjudication" } | { "code": "resign_adjudication" } | { "code": "mate_adjudication" } | { "code": "tablebase_adjudication" } | { "code": "killed_by_user" } | { "code": "engine_stopped" } | { "code": "check_failed", text: LocalizedText, } | { "code": "null_move_not_allowed" } | { "code": "no_score" } | { "code": "too_many_processes" } | { "code": "shutting_down" } | { "code": "game_changed" } | { "code": "game_closed" } | { "code": "open_game_not_replaced" } | { "code": "system", text: string, } | { "code": "not_found", subject: ErrorSubject, } | { "code": "unknown_name", subject: ErrorSubject, name: string, } | { "code": "too_many", subject: ErrorSubject, } | { "code": "too_long", subject: ErrorSubject, } | { "code": "invalid_text", subject: ErrorSubject, } | { "code": "permission_denied" } | { "code": "path_not_allowed" } | { "code": "not_executable", name: string, } | { "code": "unknown_engine_list" } | { "code": "other_protocol", text: string, } | { "code": "incomplete_command" } | { "code": "path_not_absolute" } | { "code": "invalid_address" } | { "code": "built_in_engine" } | { "code": "not_logged_in" } | { "code": "foreign_origin" } | { "code": "unknown_host" } | { "code": "cross_site_request" } | { "code": "no_response" } | { "code": "too_many_imports" } | { "code": "too_many_downloads" } | { "code": "unreadable" } | { "code": "game_damaged" } | { "code": "other_position" } | { "code": "nothing_to_merge" } | { "code": "nothing_to_split" } | { "code": "game_tree_full" } | { "code": "shape_off_board" } | { "code": "start_position_not_deletable" } | { "code": "reorder_during_game" } | { "code": "nothing_to_undo" } | { "code": "nothing_to_redo" } | { "code": "undo_during_game" } | { "code": "no_players" } | { "code": "game_in_progress" } | { "code": "game_not_in_progress" } | { "code": "game_over" } | { "code": "game_not_over" } | { "code": "engine_turn" } | { "code": "not_your_turn" } | { "code": "no_human_player" } | { "code": "no_engine_on_side" } | { "code": "no_engine_thinking" } | { "code": "no_draw_offer" } | { "code": "draw_declined" } | { "code": "nothing_to_claim" } | { "code": "nothing_to_take_back" } | { "code": "invalid_time_control" } | { "code": "start_of_other_variant" } | { "code": "book_requires_standard_start" } | { "code": "line_count", limit: number, } | { "code": "not_analyzing" } | { "code": "check_running" } | { "code": "input_not_accepted" } | { "code": "directory_not_imported" } | { "code": "no_games" } | { "code": "report_running" } | { "code": "no_report_running" } | { "code": "no_evaluation" } | { "code": "attempt_replaced" } | { "code": "no_solution" } | { "code": "missing_column", name: string, } | { "code": "invalid_rating", text: string, } | { "code": "no_repertoire_moves" } | { "code": "job_running" } | { "code": "job_not_running" } | { "code": "no_tablebases" } | { "code": "no_tablebase_directory" } | { "code": "tablebase_castling" } | { "code": "tablebase_pieces", pieces: number, limit: number, } | { "code": "not_a_book" } | { "code": "unsorted_book" } | { "code": "service_off", host: OnlineService, } | { "code": "token_required", host: OnlineService, } | { "code": "token_rejected", host: OnlineService, } | { "code": "service_unreachable", host: OnlineService, text: string, } | { "code": "service_interrupted", host: OnlineService, } | { "code": "service_timeout", host: OnlineService, } | { "code": "service_status", host: OnlineService, status: number, } | { "code": "rate_limited", host: OnlineService, seconds: number, } | { "code": "answer_too_large", host: OnlineService, } | { "code": "answer_malformed", host: OnlineService, } | { "code": "unsupported_format" } | { "code": "match_too_large", rounds: number, pairs: number, engines: number, concurrency: number, } | { "code": "authors_test_commits" } | { "code": "repository_not_permitted", repository: string, } | { "code": "authors_name_no_files", option: string, } | { "code": "source_unavailable", cause: string, } | { "code": "duplicate_name", name: string, } | { "code": "missing_limit" } | { "code": "zero_time" } | { "code": "time_too_long" } | { "code": "missing_move_count" } | { "code": "match_running" } | { "code": "match_not_running" } | { "code": "match_finished" } | { "code": "match_failed" } | { "code": "accepted_h0" } | { "code": "accepted_h1" } | { "code": "take_accepted" } | { "code": "takes_dropped" } | { "code": "engine_failures", count: number, } | { "code": "engine_failures_by", count: number, cause: ErrorInfo, } | { "code": "games_replayed" } | { "code": "opening_skipped", cause: ErrorInfo, } | { "code": "openings_skipped", count: number, cause: ErrorInfo, } | PositionError | Code<IllegalReason> | RecordDefect | PatternDefect | Code<RecordLimit> | EpdDefect | DecompressionError | OpeningDefect | PairingError | StoreDefect | LibraryDefect | SprtError | EngineFailureKind | ExitDescription | CausedWarning | WarningKind);

/** The object of an error: not found, too many, too long, or invalid. */
export type ErrorSubject = "account" | "argument" | "book" | "button" | "chapter" | "chapter_name" | "collection" | "collection_name" | "comment" | "date" | "engine" | "engine_name" | "exercise" | "file" | "game" | "handicap" | "header" | "job" | "line" | "match" | "match_name" | "move" | "node" | "note" | "open_game" | "option" | "player_name" | "position" | "preset" | "process" | "query" | "registration" | "result" | "settings" | "start_number" | "tablebase_directory" | "text" | "theme" | "token" | "topic" | "training_set" | "training_set_name";

/** The evaluation of a position by an engine or an annotator. */
export type Evaluation = {
/** From the view of the side that moves first in the game (White in chess). */
score: Score,
/** Search depth in plies. */
depth: number | null, };

/** The evaluation file of a shogi engine, without which it cannot search. */
export type EvaluationFile = {
/** Where it is, or where the engine expects it. */
path: string, exists: boolean, };

/** An exercise with its schedule. */
export type Exercise = { id: number, variant: Variant, kind: ExerciseKind,
/** The side to move. */
side: Side,
/** The length of the mate if it is known: in moves in chess, in plies in shogi. */
mate: number | null,
/** None if it is unknown. */
rating: number | null, themes: Array<string>,
/** The last moves before the position of a repertoire; none in the queue. */
line: NumberedLine | null,
/** The index of the chapter in a repertoire. */
chapter: number | null, source: ExerciseSource, stage: ExerciseStage,
/** Unix time in milliseconds; none before the first review. */
due: number | null, reviews: number,
/** The number of reviews with the grade “again”. */
lapses: number,
/** Unix time in milliseconds. */
added: number, };

/** The result of a move in an exercise. */
export type ExerciseAttempt = { move: LineMove, right: boolean,
/** Whether the exercise is solved. */
solved: boolean,
/** The answer of the opponent. */
reply: LineMove | null,
/** The loss of a move that replaces a mistake, in percent of winning chances. */
loss: number | null,
/** Whether the move leads to a mate that is too long. */
longer: boolean,
/** The position after the move and the answer; none after a wrong move. */
position: PositionView | null, };

/** The user's grade of a solution. */
export type ExerciseGrade = "again" | "hard" | "good" | "easy";

/** The task of an exercise. */
export type ExerciseKind = "mistake" | "mate" | "best_move" | "repertoire";

/** The origin of an exercise. */
export type ExerciseSource = {
/** The players of the game, or the name of the problem or its file. */
name: string,
/** The game in the library; none for a problem from a file. */
game: number | null, node: number | null,
/** The move that was played in the game. */
played: LineMove | null, };

/** How well an exercise is known. */
export type ExerciseStage = "new" | "learning" | "learned";

/** Why a process was killed. */
export type ExitCause = "illegal_instruction" | "segmentation_fault" | "bus_error" | "stack_overflow" | "arithmetic_error" | "aborted" | "missing_library" | "killed" | "terminated" | "broken_pipe";

/** The text of an [`Exit`], without the engine as its subject. */
export type ExitDescription = { "code": "exited", status: number, } | { "code": "signal", signal: number, } | { "code": "fatal_signal", signal: number, name: string, exit_cause: ExitCause, } | { "code": "exception", status: string, name: string, exit_cause: ExitCause, } | { "code": "killed", exit_cause: ExitCause, } | { "code": "crashed", exit_cause: ExitCause, } | { "code": "ended" };

/** The moves of a position. */
export type Explorer = { "kind": "book",
/** In descending order of weights, then of evaluations. */
moves: Array<ExplorerBookMove>,
/** Whether the book is for another game. */
other_game: boolean, } | { "kind": "library",
/** The results of all games that reached the position, by any moves. */
counts: ResultCounts,
/** In descending order of games. */
moves: Array<ExplorerMove>,
/** The latest games. */
games: Array<LibraryGame>, } | { "kind": "lichess", counts: ResultCounts,
/** In descending order of games. */
moves: Array<ExplorerMove>, games: Array<LichessGame>, };

/** A move of a book. */
export type ExplorerBookMove = { uci: string, text: MoveText,
/** The relative weight, or the number of games with the move. */
weight: number | null,
/** The share of all weights, from 0 to 1. */
share: number | null,
/** The evaluation for the side to move, in centipawns. */
score: number | null,
/** The depth of the evaluation, in plies. */
depth: number | null,
/** The expected reply. */
reply: MoveText | null, };

/** A move of games. */
export type ExplorerMove = { uci: string, text: MoveText, counts: ResultCounts,
/** Average rating of the players of the move. */
rating: number | null,
/** Performance rating of the players of the move. */
performance: number | null,
/** The date of the latest game. */
last_played: string | null, };

/** A position to explore. `POST /api/explorer`. */
export type ExplorerQuery = { variant: Variant,
/** The position as FEN or SFEN. */
position: string, source: ExplorerSource, };

/** A source of moves. */
export type ExplorerSource = { "kind": "book", path: string, } | { "kind": "library", filter: LibraryFilter, } | { "kind": "lichess", database: LichessDatabase, };

/** A build of an engine that failed on a worker. */
export type FailedBuild = {
/** The worker. */
worker: WorkerId,
/** The name of the engine in the plan. */
engine: string,
/** The reason. */
why: string,
/** The last part of the output of git, the compiler or the program. */
output: string,
/** The time of its arrival in milliseconds since 1970. */
at_ms: number, };

/** An operation on a file that failed. */
export type FileOperation = "create" | "lock" | "open" | "read" | "rename" | "replace" | "rewrite" | "truncate" | "write";

/** An engine for selection. */
export type FoundEngine = {
/** With the name that the engine or the list reports. */
entry: EngineEntry,
/** Empty if it is unknown. */
author: string,
/** The option values of the list. */
values: { [key in string]: string },
/** Option values that suit the machine. */
recommended: { [key in string]: string },
/** None if the engine needs none, or is unknown. */
evaluation: EvaluationFile | null,
/** The list of the engine; none for one that was found in a directory. */
list: EngineList | null,
/** Whether the program is registered. */
registered: boolean, };

/** Engines for selection, which are not registered yet. */
export type FoundEngines = { engines: Array<FoundEngine>, rejected: Array<RejectedProgram>, };

/** Changes of a game. Absent fields are unchanged. */
export type GameDelta = {
/** New or changed nodes. Parents come before their children. */
nodes?: Array<Node>,
/** Removed nodes, with their descendants. */
removed?: Array<number>,
/** All headers. */
headers?: Array<Header>,
/** Present with the headers, and if the comment of the start position was changed. */
ratings?: Sides<number | null>,
/** The cursor of the tab with its position, if it was moved. */
at?: CursorView,
/** A new outcome, which is null if play continues. */
outcome_change?: OutcomeChange, play?: Play, undo?: Undo, save_status?: SaveStatus, };

/** The summary of a game. */
export type GameLine = { id: number, variant: Variant, names: Sides<string>,
/** The event, the round and the date as in the library distinguish games of the same players. */
event: string, round: string, date: string | null,
/** The number of moves of the main line. */
plies: number, playing: boolean,
/** `1-0`, `0-1`, `1/2-1/2` or `*`. */
result: string, changed: number,
/** Whether it is a draft: it is not in the library. */
draft: boolean,
/** Whether it is a draft that the user has changed. Other games are saved with each change. */
unsaved: boolean, };

/** The result of `POST /api/library/order`: the place of a game in a collection. */
export type GameOrder = { collection: Collection,
/** The name of the chapter. */
chapter: string,
/** From 0. */
place: number, previous: number | null, next: number | null, };

/** The result of `POST /api/library/preview`: a position of a game, and its main line. */
export type GamePreview = { variant: Variant,
/** The side to move and the number of the first move. */
first_turn: Side, first_number: number, ply: number, position: PositionView,
/** The first 1000 moves. */
moves: Array<PreviewMove>,
/** The number of all moves of the main line. */
plies: number, };

/** The result of a game. */
export type GameResult = "*" | "1-0" | "0-1" | "1/2-1/2";

/** A game. */
export type GameState = { id: number, variant: Variant,
/** The start position in FEN or SFEN. */
start: string,
/** Whether the start position is a handicap of shogi. */
handicap: boolean,
/** The number of the first move in chess notation. */
first_number: number,
/** The side to move at the root. */
first_turn: Side,
/** Headers as in files (`White`, `Event`, `先手`, …), without those that follow from the other fields. */
headers: Array<Header>,
/** The ratings of the players by the record. */
ratings: Sides<number | null>,
/** All nodes, parents before their children. The first is the root. */
nodes: Array<Node>,
/** The cursor of the tab. */
cursor: number, position: PositionView,
/** The named opening of the moves to the cursor. */
opening: OpeningName | null, outcome: OutcomeView | null,
/** Present during play and afterwards. */
play: Play | null, undo: Undo,
/** Why the last change could not be saved. */
save_error: ErrorInfo | null, };

/** Changes of the list of games. */
export type GamesDelta = { changed: Array<GameLine>, removed: Array<number>, };

/** The open games. */
export type GamesState = {
/** The latest first. */
games: Array<GameLine>, };

/**
 * A program that is built from a commit of a Git repository, on each host that plays with it.
 *
 * The conventions are those of OpenBench and fishtest: a build command such as `make EXE=engine` or `cargo build
 * --release`, and a program whose argument `bench` prints a number of nodes that identifies its search.
 */
export type GitSource = {
/** A URL (`https`, `ssh`, `git` or `file`), or the absolute path of a repository. */
repository: string,
/** The branch, tag or commit that the author named, for display. */
revision?: string,
/** The full hash of the commit. */
commit: string,
/** The directory of the repository in which the build command runs; the root if it is empty. */
directory?: string,
/** The build command: a program and its arguments, separated by spaces. No shell interprets it. */
build: string,
/** The path of the program after the build, relative to that directory. */
program: string,
/** The number of nodes that the program prints for the argument `bench`. Not verified if absent. */
bench?: number | null, };

/** A handicap of shogi. */
export type HandicapChoice = {
/** The name in commands and in English. */
name: string, japanese: string, sfen: string, };

/** A header of a game. */
export type Header = { name: string, value: string, };

export type Hint = { node: number, hint: LineMove, };

/** The identity of an engine. The texts are untrusted. */
export type Identity = {
/** `id name`. */
name: string,
/** `id author`. */
author: string, };

/**
 * Why a move is illegal.
 *
 * In shogi an illegal move is a foul under the rules for games of the Japan Shogi Association (JSA,
 * chapter 3, article 8) and loses immediately. Its list of forbidden moves (kinjite) names the fouls.
 * Articles of chess are those of the FIDE Laws of Chess (2023).
 */
export type IllegalReason = "invalid_move" | "empty_origin_square" | "opponent_piece" | "occupied_by_own_piece" | "unreachable" | "castling_not_allowed" | "promotion_required" | "invalid_promotion" | "king_in_check" | "not_in_hand" | "square_occupied" | "second_pawn_on_file" | "no_further_move" | "pawn_drop_mate" | "game_too_long" | "ambiguous_move" | "missing_piece" | "wrong_side" | "no_previous_move" | "not_playable";

/**
 * The result of an import. `POST /api/import?name=…` with the file or text as the body. With `&open=true` a single game
 * is opened as a draft, which is not in the library, and several as a collection.
 */
export type Imported = {
/** The first 1000 of the imported games. */
games: Array<LibraryGame>,
/** The number of imported games. */
total: number,
/** The number of games that the library had already, which were not added (`&duplicates=keep` adds them). */
duplicates: number,
/** The number of duplicates that wait for a decision (`&duplicates=ask`). */
undecided: number,
/** What [`CollectionEdit::Create`] needs to open the file as a collection, if it has 2 to 5000 games. */
collection: ImportedCollection | null,
/** The number of the opened board (`&open=true`): a draft, or the first game of a collection. */
opened: number | null,
/** The entry of the import among the jobs; none if nothing was added to the library. */
job: number | null,
/** Errors with line and column, at most 100. */
errors: Array<ErrorInfo>,
/** Warnings with line and column, at most 100 about games that were read in part and 100 others. */
warnings: Array<ErrorInfo>,
/** The number of all errors. */
total_errors: number,
/** The number of all warnings. */
total_warnings: number, };

/** What a collection of imported games contains. */
export type ImportedCollection = {
/** The number of the collection that was created (`&open=true`). */
id: number | null,
/** The name of the study or of the file. */
name: string,
/** The games in the order of the file, known ones included. */
games: Array<number>, };

/**
 * The result of an import of problems, or of a repertoire (`&side=first`). `POST /api/training/import?name=…` with the
 * file or text as the body. It is added to the set of the same kind and name, which is created if it is missing.
 */
export type ImportedExercises = {
/** None if nothing was found. */
set: number | null, added: number,
/** The number of exercises that were known. */
known: number,
/** The number of exercises of a repertoire that are not in its lines any more. */
removed: number,
/** The number of entries that are no problems, such as complete games. */
skipped: number,
/** Errors with their lines, at most 100. The other entries are imported. */
errors: Array<ErrorInfo>,
/** The number of all errors. */
total_errors: number, };

/** A job on many games. It can be resumed after a restart of the server. */
export type Job = { id: number, added: number,
/** The directory or file that is imported first. */
directory: string | null,
/** The name of a file that a tab has sent. Such a job cannot be resumed; the last 20 are kept. */
upload: string | null,
/** The account whose games are imported. */
account: AccountName | null,
/** The number of games of variants that are not supported. */
skipped: number,
/** Unix time in milliseconds until which the job waits, because the service has requested it or has failed. */
waiting: number | null,
/** How long the games were read, in milliseconds. */
elapsed: number,
/** None if the games are only imported. */
settings: ReportSettings | null, status: ReportStatus,
/** The number of imported files. */
files_done: number,
/** The number of files; 0 until they are counted. */
files: number,
/** The number of games: of imported ones, or of those to report on. */
games: number,
/** The number of games that the library had already, which were not added. */
duplicates: number,
/** The number of duplicates that wait for a decision. */
undecided: number,
/** The number of bytes that were read. */
bytes: number,
/** The size of all files in bytes; 0 until it is known. */
total_bytes: number,
/** The number of finished reports. */
done: number,
/** The number of failed reports. */
failed: number,
/** The game of the running report. */
current: number | null,
/** Unreadable files and failed games, at most 20. */
errors: Array<JobError>,
/** Defects of imported records that were read in part, at most 20. */
notices: Array<JobError>,
/** The number of all errors. */
total_errors: number,
/** The number of all defects. */
total_notices: number, };

/** An error of a job. */
export type JobError = { of: JobErrorOf, why: ErrorInfo, };

/** The object of an error of a job. */
export type JobErrorOf = { "kind": "file", name: string, } | { "kind": "game", game: number, } | { "kind": "engine", engine: number, };

/** The result of `POST /api/library/faults`: what was wrong with the files of a job. */
export type JobFaults = {
/** Unreadable files and failed games, at most 200. */
errors: Array<JobError>,
/** Defects of imported records that were read in part, at most 200. */
notices: Array<JobError>,
/** The number of all errors. */
total_errors: number,
/** The number of all defects. */
total_notices: number, };

/** Changes of the jobs. */
export type JobsDelta = {
/** New or changed jobs, with their complete states. */
changed: Array<Job>,
/** Deleted jobs. */
removed: Array<number>, };

/** All jobs, the latest first. */
export type JobsState = { jobs: Array<Job>, };

/** A judged position of the main line, with the move before it. */
export type Judged = {
/** From the root. */
ply: number, node: number,
/** For the first side. */
score: Score,
/** The winning chances of the first side, 0 to 100 percent. */
winning: number,
/** The principal variation. */
best: Array<LineMove>,
/** In plies. */
depth: number | null,
/**
 * What the move that led here cost its player, in percent of winning chances; none at the root and where
 * the position before is not judged yet.
 */
loss: number | null, label: Label | null, };

/** The part of a defective game that was read. */
export type KeptMoves = { "line": "main", plies: number, } | { "line": "variation", plies: number, };

/** The winner of a knockout match that is tied after all replays. */
export type KnockoutTie = "higher-seed" | "random";

/** The label of a move. */
export type Label = "inaccuracy" | "mistake" | "blunder" | "best" | "forced";

/** A label with its number of games. */
export type LabelCount = { label: string, games: number, };

/** The squares of a move. */
export type LastMove = {
/** None for a drop. */
from: string | null,
/** The target square; the king's square for castling. */
to: string, };

/** A legal move for the board. */
export type LegalMove = {
/** In UCI or USI notation. In Chess960, castling is written as the king capturing the rook. */
uci: string,
/** The origin square, `e2` or `7g`; none for a drop. */
from: string | null,
/** The dropped piece in upper case, `P`. */
drop: string | null,
/**
 * Where it can be pointed to. The first is where the piece is shown to land. Castling has two: the king's
 * square and the rook's (one, if the other would mean another move).
 */
to: Array<string>,
/** The promotion: `q`, `r`, `b` or `n` in chess, `+` in shogi. */
promotion: string | null, text: MoveText, };

/** A column to sort by. */
export type LibraryColumn = "changed" | "added" | "date" | "first" | "second" | "rating" | "result" | "plies" | "event" | "opening";

/** Why a library cannot be used. */
export type LibraryDefect = { "code": "library_version",
/** The version of the file. */
found: number,
/** The version that this program reads and writes. */
expected: number, } | { "code": "no_library" } | { "code": "library_damaged" } | { "code": "library_closed" } | { "code": "library_full" } | { "code": "library_in_use" } | { "code": "library_read_only" } | { "code": "disk_full" };

/** Conditions on games of the library, as the page enters them. A game must match all fields. */
export type LibraryFilter = { variant: Variant | null,
/** A position, moves from the start position, or parts of the name of a player, an opening or an event. */
text: string | null,
/** Parts of the name of a player. */
player: string | null,
/** The side of the player; any by default. */
side: Side | null,
/** Parts of the name of an engine that played. Players that are not known to be human match. */
engine: string | null,
/** Parts of the name of the event. */
event: string | null,
/** `1-0`, `0-1`, `1/2-1/2` or `*`. */
result: string | null,
/**
 * Moves from the start position, in any notation: `e2e4`, `e4 c5`, `▲７六歩`. Games that reach the position by
 * other moves match too.
 */
opening: string | null,
/** Parts of the name of the opening, or its ECO code. */
named: string | null,
/** A position of the game, in FEN or SFEN; move numbers are ignored. */
position: string | null,
/** A pattern of positions of the game: `on=Nd5,pe6 balance=2..`. */
pattern: string | null,
/** The first day, `2026-11-21`. */
from: string | null,
/** The last day. */
until: string | null,
/** Minimum rating of both players. */
min_rating: number | null,
/** The class of the time control. */
speed: Speed | null,
/** A label. */
label: string | null,
/** The origin. */
source: LibrarySource | null, };

/** A game of the library. */
export type LibraryGame = { id: number, variant: Variant, names: Sides<string>, ratings: Sides<number | null>,
/** `1-0`, `0-1`, `1/2-1/2` or `*`. */
result: string, termination: Termination | null,
/** `2026-11-21`, `2026-11` or `2026`. */
date: string | null, event: string | null,
/** ECO code and name. */
opening: string | null,
/** The number of plies of the main line. */
plies: number, added: number, changed: number, source: LibrarySource,
/** Labels set by the user. */
labels: Array<string>,
/** Whether a position has an evaluation, of the record or of an engine. */
evaluated: boolean,
/** Whether there are comments. */
commented: boolean, };

/** A page of the found games. */
export type LibraryPage = { games: Array<LibraryGame>,
/** The number of all found games. */
total: number,
/** All labels. */
labels: Array<LabelCount>,
/** The number of imported duplicates that wait for a decision. */
undecided: number, };

/** The query of `POST /api/library/search`. */
export type LibraryQuery = {
/** The column to sort by. */
sort: LibraryColumn,
/** Ascending order; descending by default. */
ascending: boolean,
/** Number of games to skip. */
offset: number,
/** Maximum number of games, 1 to 200; 50 by default. */
limit: number | null,
/** A random number, with which `POST /api/library/progress` asks how far the search is. */
ticket: number | null, variant: Variant | null,
/** A position, moves from the start position, or parts of the name of a player, an opening or an event. */
text: string | null,
/** Parts of the name of a player. */
player: string | null,
/** The side of the player; any by default. */
side: Side | null,
/** Parts of the name of an engine that played. Players that are not known to be human match. */
engine: string | null,
/** Parts of the name of the event. */
event: string | null,
/** `1-0`, `0-1`, `1/2-1/2` or `*`. */
result: string | null,
/**
 * Moves from the start position, in any notation: `e2e4`, `e4 c5`, `▲７六歩`. Games that reach the position by
 * other moves match too.
 */
opening: string | null,
/** Parts of the name of the opening, or its ECO code. */
named: string | null,
/** A position of the game, in FEN or SFEN; move numbers are ignored. */
position: string | null,
/** A pattern of positions of the game: `on=Nd5,pe6 balance=2..`. */
pattern: string | null,
/** The first day, `2026-11-21`. */
from: string | null,
/** The last day. */
until: string | null,
/** Minimum rating of both players. */
min_rating: number | null,
/** The class of the time control. */
speed: Speed | null,
/** A label. */
label: string | null,
/** The origin. */
source: LibrarySource | null, };

/** The origin of a game of a library. */
export type LibrarySource = "play" | "import" | "match";

/** A database of the explorer of Lichess. */
export type LichessDatabase = "masters" | "players";

/** A game of a database of Lichess. */
export type LichessGame = {
/** Its page. */
address: string, names: Sides<string>, ratings: Sides<number | null>,
/** `1-0`, `0-1` or `1/2-1/2`. */
result: string, year: number | null, };

/** A variation. */
export type Line = {
/** 1 is the best. */
number: number,
/** In plies. */
depth: number | null,
/** In plies. */
seldepth: number | null,
/** From the side to move. */
score: Score | null, bound: Bound,
/** Of the side to move. */
wdl: Wdl | null,
/** From the first illegal move on, the moves are as the engine sent them. */
pv: Array<LineMove>, };

/** A move of a variation. */
export type LineMove = {
/** In UCI or USI notation. */
uci: string,
/** From the first illegal move on, the text is that of the engine. */
text: MoveText, };

/** A game in progress on a worker. */
export type LiveGame = {
/** The worker. */
worker: WorkerId,
/** The index of the pairing. */
pair: number,
/** The number of the game in its pairing, counted from 0. */
game: number,
/** The engine with the first move. */
first: EngineId,
/** Its opponent. */
second: EngineId,
/** The time at which the coordinator received its start, in milliseconds since 1970. */
since_ms: number, };

/** A text in both languages, from a library with texts of its own. */
export type LocalizedText = { english: string, japanese: string, };

/** New lines of a log. */
export type LogDelta = { lines: Array<LogLine>,
/** The number of omitted lines before them. */
skipped: number,
/** The number of all lines. */
total: number, };

/** A line of a log. */
export type LogLine = {
/** From 1. */
number: number, at: number,
/** The sender. */
by: Speaker,
/** The text of the line, at most 4096 characters. Control characters are escaped; it is untrusted. */
text: string,
/** The violated rules. */
breaches: Array<Breach>, };

/** The log of a process. */
export type LogState = { process: number,
/** The last 2000 lines. `GET /api/log/{process}` returns up to 10,000, with `?language=ja` in Japanese. */
lines: Array<LogLine>,
/** The number of all lines. */
total: number, };

/** The machine of the server: the resources of engines, and where they can be installed from. */
export type Machine = {
/** The number of logical CPU cores. */
cores: number,
/** In MiB, if it is known. */
memory: number | null,
/** The operating system: `linux`, `macos`, `windows` or another name of Rust. */
system: string,
/** The distribution of Linux, followed by those that it is like: `ubuntu`, `debian`. */
distributions: Array<string>, };

/** An arrow or a circle on the board. */
export type Mark = {
/** `green`, `red`, `yellow` or `blue`. */
color: string,
/** The square, or the start of the arrow. */
from: string,
/** The end of the arrow; none for a circle. */
to: string | null, };

/** A game in progress. */
export type MatchBoard = { board: number,
/** The engines, by their indices in the plan. */
engines: Sides<number>,
/** FEN or SFEN. */
text: string,
/** The squares of the last move. */
last: Array<string>, moves: Array<LineMove>,
/** The last score of each side, for that side. */
scores: Sides<Score | null>, clocks: ClockState, };

/** Everything that a reader must know to judge or repeat a match. */
export type MatchConditions = {
/** The game. */
game: Variant,
/** The tournament format. */
format: PlanFormat,
/** The number of rounds; `None` until the sequential test ends. */
rounds: number | null,
/** The number of pairings of two engines in a round. */
pairs_per_encounter: number,
/** The number of games of a pairing: 1 or 2. */
games_per_pair: number,
/** The engines, in the order of the plan. */
engines: Array<EngineConditions>,
/** The openings. */
openings: OpeningConditions,
/** The adjudication of games. */
adjudication: AdjudicationConditions,
/** The sequential test. */
test: SprtSettings | null,
/** The tuning. */
tune: TuneConditions | null,
/** The seed of all random choices, in decimal digits: JSON numbers are exact up to 2^53 only. */
seed: string,
/** Where the games are played, if it is known. */
source: MatchSource | null,
/** Its start in milliseconds since 1970, if it is known. */
started_ms: number | null, };

/** Changes of a match. Absent fields are unchanged. */
export type MatchDelta = { status?: MatchStatus, score?: MatchScore, curve: Array<CurvePoint>,
/** The LLRs of several takes after each pair. */
takes_curve: Array<TakesPoint>,
/** New or changed boards, with their complete states. */
boards: Array<MatchBoard>,
/** Removed boards. */
ended: Array<number>,
/** New finished games. */
games: Array<MatchGame>,
/** New events. */
log: Array<MatchLogEntry>,
/** The reason for the end of the match, or an error. */
note?: ErrorInfo, };

/** The reason of the end of a match. */
export type MatchEnd = { "kind": "complete" } | { "kind": "test",
/** The decision. */
verdict: Verdict, } | { "kind": "takes",
/** The accepted take, or none if all are dropped. */
accepted: EngineId | null, } | { "kind": "interrupted" } | { "kind": "stopped" } | { "kind": "failures",
/** The engine. */
engine: EngineId,
/** The number of failures. */
count: number, } | { "kind": "error",
/** The description. */
text: string, };

/** An engine of a match. */
export type MatchEngine = { engine: MatchProgram,
/** The unique name in the table; empty for the name of the engine. */
name: string, time: Time,
/** For each move. */
nodes: number | null,
/** In plies. */
depth: number | null, ponder: boolean,
/** Values that override the engine's values for play. */
options: { [key in string]: string }, };

export type MatchFormat = "round_robin" | "gauntlet" | "knockout" | "swiss" | "takes";

/** A finished game. */
export type MatchGame = {
/** From 1. */
number: number,
/** From 1. */
round: number,
/** The engines, by their indices in the plan. */
engines: Sides<number>, outcome: OutcomeView, plies: number, };

/** The summary of a match. */
export type MatchLine = { id: number, name: string, variant: Variant, status: MatchStatus,
/** The number of finished games. */
played: number,
/** The number of all games, if it is known. */
total: number | null,
/** The number of engines. */
engines: number,
/** The hypotheses of its sequential test, in Elo. */
bounds: [number, number] | null,
/** Elo of the first of two engines. */
elo: Rating | null,
/** The decision of the test. */
verdict: Verdict | null, };

/** An event of a match. */
export type MatchLogEntry = { at: number, } & ({ "kind": "started", pairs: number, } | { "kind": "note", note: ErrorInfo, } | { "kind": "failure", engine: number,
/** On a farm. */
worker: string | null,
/** The number of the game in the match, from 1. */
game: number, termination: Termination, detail: ErrorInfo | null, } | { "kind": "invalid_result", worker: string, pair: number, why: string, } | { "kind": "joined", worker: string, } | { "kind": "left", worker: string, } | { "kind": "ended", end: MatchEnd, });

/** The openings of a match. */
export type MatchOpenings = { "kind": "start" } | { "kind": "built_in" } | { "kind": "chess960" } | { "kind": "handicap", name: string, } | { "kind": "positions", list: Array<string>, } | { "kind": "file",
/** A path that the file picker can show. */
path: string,
/** Maximum number of plies of an opening. */
plies: number | null, shuffled: boolean, };

/** The plan of a match. */
export type MatchPlan = { name: string, variant: Variant,
/** At least two. */
engines: Array<MatchEngine>, format: MatchFormat, rounds: number,
/** The number of game pairs with reversed colors of each encounter. */
pairs: number, openings: MatchOpenings,
/** The number of concurrent games. */
concurrency: number, draw: DrawRule | null, resign: ResignRule | null,
/** The game is drawn after this number of moves. */
max_moves: number | null,
/** A test of two engines, which can end the match early. */
sprt: SprtSettings | null, seed: number, };

/** The program of an engine of a match. */
export type MatchProgram = number | {
/** The path, or a name in `PATH`. */
command: string, args: Array<string>, } | {
/** Without a commit, it is that of the revision. */
source: GitSource, };

/** The score of a match. */
export type MatchScore = {
/** The number of finished games. */
played: number,
/** The number of all games, if it is known. */
total: number | null,
/** The standings, best first. */
standings: Array<Standing>,
/** The scores of all encounters. */
scores: Array<EncounterScore>,
/** The state of the SPRT of two engines. */
test: SprtStatus | null,
/** The state of the test of several takes. */
takes: TakesStatus | null,
/** The strength of the first of two engines. */
strength: MatchStrength | null,
/** Games per minute of the last minutes. */
games_per_minute: number | null,
/** The expected number of further games. */
remaining_games: number | null,
/** The counts of this computer. */
workers: Array<WorkerRow>, };

/** Where games are played. */
export type MatchSource = { "kind": "local",
/** The number of games at the same time. */
concurrency: number, } | { "kind": "farm",
/** The number of workers that have played or play. */
workers: number,
/** The number of CPUs of those that are connected; 0 if it is unknown. */
cores: number, };

/** A match. */
export type MatchState = { id: number, plan: MatchPlan, status: MatchStatus,
/** The names of the engines, in the order of the plan. */
names: Array<string>,
/** The number of finished games. */
played: number,
/** The number of all games, if it is known. */
total: number | null,
/** The standings, best first. */
standings: Array<Standing>,
/** The scores of all encounters. */
scores: Array<EncounterScore>,
/** The state of the SPRT of two engines. */
test: SprtStatus | null,
/** The state of the test of several takes. */
takes: TakesStatus | null,
/** The strength of the first of two engines. */
strength: MatchStrength | null,
/** Games per minute of the last minutes. */
games_per_minute: number | null,
/** The expected number of further games. */
remaining_games: number | null,
/** The counts of this computer. */
workers: Array<WorkerRow>, conditions: MatchConditions,
/** The results of two engines after each pair. */
curve: Array<CurvePoint>,
/** The LLRs of several takes after each pair. */
takes_curve: Array<TakesPoint>,
/** Games in progress. */
boards: Array<MatchBoard>,
/** The last 500 finished games. */
games: Array<MatchGame>,
/** The last 200 events. */
log: Array<MatchLogEntry>,
/** The reason for the end of the match, or an error. */
note: ErrorInfo | null, };

/** The status of a match. */
export type MatchStatus = "running" | "finishing" | "paused" | "over" | "failed";

/** The strength of the first of two engines, with 95 % errors. */
export type MatchStrength = {
/** Elo. */
elo: Rating,
/** Normalized Elo. */
normalized_elo: Rating,
/** The likelihood of superiority, from 0 to 1. */
los: number | null, };

/** Changes of the list of matches. */
export type MatchesDelta = { changed: Array<MatchLine>, removed: Array<number>, };

export type MatchesState = {
/** The latest first. */
matches: Array<MatchLine>, };

/** The result of a search for a mate. */
export type MateAnswer = "found" | "none" | "unknown" | "not_implemented";

/** The result of [`Command::MergeGames`](super::Command::MergeGames). */
export type MergedGames = {
/** The number of new moves. */
moves: number,
/** The number of moves with new annotations that the game had before. */
annotated: number,
/**
 * The number of annotations that were left out: a move has one clock time, evaluation, sign and end, and what
 * engines found in the other games is not copied.
 */
omitted: number,
/** The number of games whose start position the game does not have. */
unconnected: number, };

/** The output of the last search of an engine that plays. */
export type MoveInfo = {
/** The node of the searched move; none during the search. */
node: number | null,
/** In plies. */
depth: number | null,
/** For the side of the engine. */
score: Score | null, nodes: number | null, nps: number | null,
/** In milliseconds. */
time: number | null, pv: Array<LineMove>, };

/** The texts of a move. The page selects one by its settings and language. */
export type MoveText = {
/** SAN in chess, `Nbd7`; Hodges' notation in shogi, `P-7f`. */
western: string,
/** Shogi only: `▲７六歩`. */
japanese?: string, };

/** An option that names a file. */
export type NamedFile = {
/** The option. */
option: string,
/** Its value: the path. */
path: string,
/** The SHA-256 of the file, if it is known. */
hash: string | null, };

/** The setup of a game. */
export type NewGame = { variant: Variant, start: Start,
/** None for an analysis board. */
players: Sides<Player> | null, rules: PlayRules, book: Book | null, };

/** The body of `POST /api/queue`: a new match. */
export type NewQueueMatch = { "kind": "text",
/** A `readyok match` command, or a plan in TOML. */
text: string,
/** The name of an uploaded file of openings. */
openings: string | null, } | { "kind": "plan" } & QueuePlan;

/** A node of a tree: a move, or the root. */
export type Node = { id: number,
/** None for the root. */
parent: number | null,
/** 0 for the root. */
ply: number, kind: NodeKind,
/** The move in UCI or USI notation; empty for the root, `0000` for a null move. */
uci: string,
/** Empty for the root. */
text: MoveText,
/** The first child continues the line; the others are variations. */
children: Array<number>,
/** Comments before the move, at the start of a variation. */
before: Array<string>,
/** Comments after the move. */
comments: Array<string>,
/** NAGs: 1 is `!`, 2 `?`, 3 `!!`, 4 `??`, 5 `!?`, 6 `?!`, and so on. */
nags: Array<number>,
/** The time left after the move. */
clock: number | null,
/** The time of the move. */
elapsed: number | null,
/** The score of the position after the move, for the first side. */
evaluation: Evaluation | null, marks: Array<Mark>,
/** What an engine found, which is not part of the author's game. */
engine: NodeEngineNote | null, };

/** What an engine found in the position after a move, and its judgement of the move. */
export type NodeEngineNote = {
/** The score of the position after the move, for the first side. */
evaluation: Evaluation,
/** The NAG of an error: 2, 4 or 6. */
nag: number | null,
/** The line that is better than an error; empty without one. */
better: Array<LineMove>, };

/** The kind of a node's move. */
export type NodeKind = "root" | "legal" | "null" | "illegal";

/** Moves with the number and the side of the first one. */
export type NumberedLine = { first_number: number, first_turn: Side, moves: Array<LineMove>, };

/** What stops when the last tab is closed. */
export type OnClose = {
/** Whether games against engines are paused. */
pause_games: boolean,
/** Whether analysis stops. */
stop_analysis: boolean,
/** Whether the server exits when it has nothing to do. */
quit: boolean, };

/** A service that receives requests only if the user has switched it on. The text is its host. */
export type OnlineService = "lichess_games" | "chesscom_games" | "lichess_explorer" | "lichess_tablebase";

/** What the user has permitted. */
export type OnlineSettings = {
/** The services that are switched on. */
services: Array<OnlineService>,
/** Whether an API token of Lichess is stored. [`Command::SetLichessToken`](super::Command) changes it. */
lichess_token: boolean,
/** Changed by commands of their own. */
accounts: Array<Account>, };

/** The openings of a match, without their moves. */
export type OpeningConditions = {
/** The source. */
kind: OpeningKind,
/** The path of a file, or the name of a handicap. */
name: string | null,
/** The number of listed positions; 0 without a list. */
count: number,
/** The order. */
order: OpeningOrder,
/** The number of openings that are skipped at the start. */
skip: number,
/** Maximum number of plies. */
plies: number | null,
/** The SHA-256 of the file, if it is known. */
hash: string | null, };

/** A defect of openings that concerns neither a position nor a record. */
export type OpeningDefect = { "code": "book_requires_plies" } | { "code": "not_polyglot",
/** The size of the file. */
bytes: number, } | { "code": "unknown_extension" } | { "code": "is_a_directory" } | { "code": "openings_of_other_variant",
/** The game of the plan. */
variant: Variant, } | { "code": "no_openings" } | { "code": "decompressed_too_large", limit: number, } | { "code": "opening_too_long", limit: number, } | { "code": "not_utf8" } | { "code": "no_moves" } | { "code": "opening_over", termination: Termination, } | { "code": "invalid_start_number", number: number, } | { "code": "unknown_handicap", name: string,
/** All handicaps. */
names: string, };

/** The result of `GET /api/queue/openings`, and of an upload. */
export type OpeningFiles = {
/** The names of the uploaded files, sorted. */
files: Array<string>, };

/** The kind of a source of openings. */
export type OpeningKind = "start" | "built-in" | "file" | "positions" | "chess960" | "double-chess960" | "handicap";

/** The name of an opening. */
export type OpeningName = {
/** The code of the *Encyclopaedia of Chess Openings*, `A00` to `E99`. */
eco: string,
/** In English. */
name: string, };

/** The order in which openings are used. After the last one they start over. */
export type OpeningOrder = "sequential" | "random" | "fastchess";

/** Why a text is not a value of an option. */
export type OptionError = { "code": "not_a_boolean", option: string, value: string, } | { "code": "not_an_integer", option: string, value: string, } | { "code": "out_of_range", option: string, value: number,
/** The smallest value, if there is one. */
min: number | null,
/** The largest value, if there is one. */
max: number | null, } | { "code": "unknown_choice", option: string, value: string, choices: Array<string>, } | { "code": "line_break", option: string, } | { "code": "missing_value", option: string, } | { "code": "option_is_button", option: string, value: string, };

/**
 * The kinds of options as the dialog shows them: unlike `readyok_protocol::OptionKind`, choices have labels and texts can be
 * lists of directories.
 */
export type OptionKind = { "kind": "check", default: boolean | null, } | { "kind": "spin", default: number | null, min: number | null, max: number | null, } | { "kind": "combo", default: string | null, choices: Array<Choice>, } | { "kind": "button" } | { "kind": "string", default: string | null,
/** Whether it is a list of directories, such as `SyzygyPath`. */
directories: boolean, } | { "kind": "filename", default: string | null, } | { "kind": "other", text: string, };

/** A new outcome of a game. */
export type OutcomeChange = {
/** Null if play continues. */
outcome: OutcomeView | null, };

/** The outcome of a game, with details for the page. */
export type OutcomeView = { result: GameResult, termination: Termination,
/** For example the error of an engine. */
detail: ErrorInfo | null, };

/** A plan without a valid schedule, or an outcome that does not belong to it. */
export type PairingError = { "code": "too_few_engines",
/** The number of engines of the plan. */
engines: number, } | { "code": "too_many_engines", engines: number, limit: number, } | { "code": "plan_field_zero",
/** The name of the field in the plan. */
name: string, } | { "code": "knockout_rounds", rounds: number, } | { "code": "fixed_pairs" } | { "code": "too_many_pairings" } | { "code": "no_such_pairing", index: number, } | { "code": "pairing_games", index: number, games: number, expected: number, } | { "code": "pairing_engines", index: number,
/** The engines of the outcome. */
recorded: string,
/** The engines of the schedule. */
scheduled: string, };

/** What is wrong with a pattern of positions. */
export type PatternDefect = { "code": "pattern_empty" } | { "code": "pattern_term",
/** Shortened, as in the other variants. */
term: string, } | { "code": "pattern_repeated", term: string, } | { "code": "pattern_form", term: string,
/** An example. */
form: string, } | { "code": "pattern_rows", term: string, } | { "code": "pattern_row",
/** From the top, from 1. */
row: number,
/** The number of squares that it must have. */
width: number, } | { "code": "pattern_letter", letter: string, } | { "code": "pattern_games" } | { "code": "pattern_range", term: string, } | { "code": "pattern_pieces", term: string, } | { "code": "pattern_rank", square: string, } | { "code": "pattern_square", square: string, } | { "code": "pattern_length" };

/** The tournament format. */
export type PlanFormat = { "kind": "round-robin" } | { "kind": "gauntlet",
/** Number of engines under test, from the start of the list. */
seeds: number, } | { "kind": "pyramid" } | { "kind": "knockout",
/** How many times a tied match is replayed, each time with the same number of games. */
replays: number,
/** The tie-break after the replays. */
tie: KnockoutTie, } | { "kind": "swiss" } | { "kind": "takes" };

/** The limits of each search of an engine in a match, with its clock. All of them apply. */
export type PlanLimits = {
/** A clock. */
tc?: string,
/**
 * Byoyomi in milliseconds: time per move after the main time, which does not accumulate.
 * Without `tc` there is no main time.
 */
byoyomi_ms?: number,
/** Time per move, in milliseconds. */
move_time_ms?: number,
/** Nodes per move. */
nodes?: number,
/** Depth of each search, in plies. */
depth?: number,
/** Tolerated overrun of a clock, in milliseconds. The clock is then at zero. */
margin_ms: number, };

/** A game in progress or after play. */
export type Play = { status: PlayStatus,
/** Why the game is interrupted; none after the end of the server. */
failure: EngineFailure | null, players: Sides<PlayerState>,
/** The node of the last move that was played. The next move follows it. */
last_move_node: number,
/** None without time controls. */
clocks: ClockState | null,
/** The side with a pending draw offer. */
draw_offer: Side | null,
/** The claim that the human to move can make. */
claim: Claim | null,
/** The last hint, until a move is played. */
hint: Hint | null,
/** Present if the game is over. */
rematch: Rematch | null, };

/** The rules that end a game. */
export type PlayRules = "federation" | "engines";

/** The status of play. */
export type PlayStatus = "your_turn" | "starting" | "searching" | "paused" | "interrupted" | "over";

/** A pair that a worker plays. */
export type PlayedPair = {
/** The identifier of the match. */
match: string,
/** The index of the pairing. */
pair: number,
/** Start time in milliseconds since 1970. */
since_ms: number, };

/** The player of a side. */
export type Player = { "kind": "human", name: string, time: Time, } | { "kind": "engine" } & EnginePlayer;

/** The state of a player. */
export type PlayerState = { player: Player,
/** The name of the human or the engine. */
name: string,
/** The last output of an engine. */
info: MoveInfo | null,
/** Present for an engine that ponders. */
pondering: PonderState | null, };

/** The ponder statistics of an engine. */
export type PonderState = {
/** The move that is pondered. */
expects: LineMove | null,
/** The number of correct predictions. */
hits: number,
/** The number of predictions. */
tries: number, };

/** The validation of a position of the editor, by `POST /api/position`. */
export type PositionCheck = {
/** The position, if it is valid. */
position: PositionView | null,
/** The text of the setup, valid or not; none if it is unreadable. */
text: string | null, error: ErrorInfo | null,
/** The squares of the error. */
squares: Array<string>, };

/** Why a text is not a position, or a position cannot be played. */
export type PositionError = { "code": "missing_field", field: PositionField, } | { "code": "extra_field",
/** The first token that follows, shortened. */
text: string, } | { "code": "invalid_field", field: PositionField,
/** Shortened. */
text: string, } | { "code": "rank_count", count: number, expected: number, } | { "code": "rank_length",
/** `8` is a rank of chess, `a` one of shogi. */
rank: string, } | { "code": "unknown_piece", letter: string, square: string, } | { "code": "king_count", side: Side, count: number, } | { "code": "no_kings" } | { "code": "too_many_pieces", piece: string, count: number, limit: number, } | { "code": "too_much_material", side: Side, } | { "code": "dead_piece", piece: string, square: string, } | { "code": "two_pawns", side: Side,
/** 1 to 9. */
file: number, } | { "code": "invalid_castling_right",
/** The square of the rook. */
square: string, } | { "code": "opponent_in_check", square: string, } | { "code": "unknown_square", square: string, } | { "code": "invalid_hand_piece", piece: string, };

/** A part of a FEN or an SFEN. */
export type PositionField = "board" | "turn" | "castling" | "en_passant" | "halfmove_clock" | "fullmove_number" | "hands" | "move_number";

/** A position for the board. */
export type PositionView = {
/** FEN or SFEN. */
text: string, turn: Side, legal: Array<LegalMove>,
/** The square of the king that is in check. */
check: string | null,
/** The squares of the move before the position. */
last: LastMove | null,
/** Present if the position ends the game by the rules. */
ending: OutcomeView | null, };

/** A named set of values. */
export type Preset = {
/** Unique for the engine. */
name: string, values: { [key in string]: string }, };

/** A move of a preview. */
export type PreviewMove = { text: MoveText, nags: Array<number>, };

/** A process of an engine, or a connection to it. */
export type ProcessState = { id: number, engine: number, purpose: Purpose, status: ProcessStatus,
/** The process id; none for a connection, and before the start. */
pid: number | null, started: number,
/** The identity of its handshake. */
identity: Identity | null,
/** The reason for a failure or for a rejected command. */
error: ErrorInfo | null,
/** The last lines of the error output, after the exit. */
stderr: Array<string>,
/** The number of protocol violations. */
breaches: number, };

/** The status of a process. */
export type ProcessStatus = "starting" | "idle" | "searching" | "pondering" | "leaving" | "ended" | "dead";

/** A test of an author that waits for approval. */
export type Proposal = { id: number, author: string,
/** In milliseconds since 1970. */
created_ms: number, test: QueuePlan, };

/** The body of `POST /api/queue/proposals/ID`. */
export type ProposalAction = { "action": "approve" } | { "action": "remove" };

/** A protocol. */
export type Protocol = "uci" | "usi";

/** The purpose of a process. */
export type Purpose = { "kind": "inspect" } | { "kind": "play", game: number, } | { "kind": "analyse", game: number, } | { "kind": "hint", game: number, } | { "kind": "report", game: number, } | { "kind": "learn", game: number, } | { "kind": "exercise", exercise: number, } | { "kind": "console" };

/** An invalid result, in the stream of quarantined results. */
export type QuarantinedResult = {
/** The worker. */
worker: WorkerId,
/** The index of the pairing. */
index: number,
/** The contradiction. */
why: string,
/** The time of its arrival in milliseconds since 1970. */
at_ms: number, };

/** The body of `POST /api/queue/ID`: a change of a match by a user. */
export type QueueAction = { "action": "pause" } | { "action": "resume" } | { "action": "stop" } | { "action": "start" } | { "action": "remove" } | { "action": "priority", priority: number, } | { "action": "limit", max_workers: number | null, max_threads: number | null, } | { "action": "exclude", worker: string, } | { "action": "include", worker: string, };

/** The settings of a match by its users: a key of the bucket of open matches. */
export type QueueControl = {
/** Workers take jobs of matches with a higher priority first. */
priority: number,
/** Workers take no jobs. */
paused: boolean,
/** The coordinator ends the match. */
stop: boolean,
/** Workers whose results do not count. */
excluded: Array<string>,
/** The maximum number of workers at the same time. */
max_workers: number | null,
/** The maximum number of threads of all engines that search at the same time. */
max_threads: number | null, };

/** The summary of a match of the queue. */
export type QueueLine = { id: string, name: string, phase: QueuePhase, priority: number,
/** The number of games of complete pairs. */
games: number,
/** The number of games of the plan; 0 without a limit. */
total: number,
/** The score of two engines. */
score: EncounterScore | null,
/** Elo of the first of two engines. */
elo: Rating | null,
/** The log-likelihood ratio of a test. */
llr: number | null, variant: Variant,
/** The number of engines. */
engines: number,
/** The hypotheses of its sequential test, in Elo. */
bounds: [number, number] | null,
/** The decision of the test. */
verdict: Verdict | null,
/** Whether options are tuned. */
tunes: boolean,
/** The time of the latest change in milliseconds since 1970. */
updated_ms: number,
/** The number of anomalous workers. */
flagged: number, };

/** The result of `GET /api/queue/ID`. */
export type QueueMatch = { id: string, name: string, phase: QueuePhase, control: QueueControl,
/** None if it is not alive. */
coordinator: string | null, conditions: MatchConditions, status: QueueStatus,
/** The latest games. */
games: Array<MatchGame>,
/** The latest events. */
log: Array<MatchLogEntry>,
/** Whether this server has the results, which can be downloaded. */
has_results: boolean,
/** Whether the user may change the queue. */
writable: boolean, };

/** The result of `GET /api/queue`; null without a queue. */
export type QueueOverview = {
/** The address of the server. */
server: string,
/** Open matches by priority and age. */
open: Array<QueueLine>,
/** Finished matches that contain the text of the search, the latest first. */
finished: Array<QueueLine>, workers: Array<QueueWorker>,
/** Tests that wait for approval, the oldest first. */
proposals: Array<Proposal>, user: QueueUser,
/** Whether the user may change the queue. */
writable: boolean, };

/** The phase of a match. */
export type QueuePhase = "running" | "paused" | "stopping" | "orphaned" | "finished";

/** A match of a form, and the result of `GET /api/queue/ID/plan`. */
export type QueuePlan = {
/** Its concurrency has no meaning. */
plan: MatchPlan, priority: number,
/** The name of an uploaded file of openings, which replaces those of the plan. */
openings: string | null,
/** The match of which it is a copy: what the form does not show stays as it is there. */
base: string | null,
/** The maximum number of workers at the same time. */
max_workers: number | null,
/** The maximum number of threads of all engines that search at the same time. */
max_threads: number | null, };

/** What a user of a farm may do. */
export type QueueRole = "reader" | "author" | "approver" | "owner";

/** The published state of a match. */
export type QueueStatus = {
/** The number of game pairs of the plan; in a knockout, the maximum; 0 without a limit. */
total: number,
/** The number of complete pairs. */
pairs: number,
/** The number of games of these pairs. */
games: number,
/** The scores of all encounters. */
scores: Array<EncounterScore>,
/** The standings, best first. */
standings: Array<Standing>,
/** The state of the test, if the plan has one. */
test: SprtStatus | null,
/** The state of the test of several takes, if the match is one. */
takes: TakesStatus | null,
/** Its LLRs by the number of pairs. */
takes_curve: Array<TakesPoint>,
/** Elo of the first engine, of a match of two. */
elo: Rating | null,
/** Elo and LLR by the number of pairs, of a match of two. */
curve: Array<CurvePoint>,
/** The values of a tuning, which has no scores and no Elo. */
tune: TuneStatus | null,
/** The strength of the first engine, of a match of two. */
strength: MatchStrength | null,
/** Games per minute of the last minutes. */
games_per_minute: number | null,
/** The expected number of further games. */
remaining_games: number | null,
/** The number of games in progress. */
playing: number,
/** Games in progress, the longest first; not all of many. */
live: Array<LiveGame>,
/** Whether the server proves the names of workers: it has the configuration of a farm. */
has_verified_names: boolean,
/** The workers with results. */
workers: Array<WorkerRow>,
/** The number of messages without effect: malformed ones, and those for jobs that their sender does not hold. */
ignored: number,
/** The number of pairings that no worker could play. */
skipped: number,
/** The number of invalid results. */
invalid: number,
/** The audits. */
audits: AuditStatus,
/** The latest invalid results. */
quarantine: Array<QuarantinedResult>,
/** The latest failed builds, one for each worker and reason. */
failed_builds: Array<FailedBuild>,
/** The latest warnings. */
warnings: Array<string>,
/** The reason of the end. */
end: MatchEnd | null,
/** The time of the latest change in milliseconds since 1970. */
updated_ms: number, };

/** A user of a farm. */
export type QueueUser = { role: QueueRole,
/** The name of the account; none for the owner and for readers with the common password. */
name: string | null,
/** Whether tests of the user wait for approval. */
waits: boolean,
/** The repositories whose commits authors may test. */
repositories: Array<string>, };

/** The published state of a worker. It is deleted a minute after its last update. */
export type QueueWorker = {
/** The name. */
name: string,
/** The version of the program. */
version: string,
/** Operating system and architecture. */
system: string,
/** The number of available CPUs. */
cores: number,
/** The number of parallel game pairs. */
slots: number,
/** The measured speed of the host, in perft nodes per second. */
speed: number,
/** Start time in milliseconds since 1970. */
started_ms: number,
/** Time of this state in milliseconds since 1970. */
updated_ms: number,
/** What it does. */
activity: WorkerActivity,
/** The pairs that it plays. */
playing: Array<PlayedPair>,
/** The number of finished pairs. */
finished: number,
/** The matches that it rejects, with the reasons. */
rejected: Array<RejectedMatch>, };

/** The result of a change: the match to show next, or the test that waits for approval. */
export type QueuedId = { id: string,
/** Whether it is the number of a proposal. */
waits?: boolean, };

/** Elo with a 95 % error. Both are `None` for an engine without games. */
export type Rating = {
/** The maximum-likelihood estimate. */
elo: number | null,
/** Half the width of the 95 % confidence interval. */
error: number | null, };

/** A defect of a record that concerns neither its start position nor a legal move. Texts are shortened. */
export type RecordDefect = { "code": "unknown_variant", name: string, } | { "code": "no_matching_move", text: string, } | { "code": "unclosed_comment" } | { "code": "unexpected_text", text: string, } | { "code": "unknown_format" } | { "code": "text_skipped", text: string, } | { "code": "move_resolved", text: string,
/** The moves that it fits, in UCI notation, separated by commas. */
candidates: string,
/** In UCI notation. */
chosen: string, } | { "code": "malformed_header", text: string, } | { "code": "contradiction", text: string, } | { "code": "missing_result" } | { "code": "piece_letters",
/** The language, or the languages that are equal in this. */
language: string, };

/** One of the [`Limits`](super::Limits). */
export type RecordLimit = "game_too_large" | "comment_too_long" | "too_many_headers" | "header_too_long" | "too_many_moves" | "line_too_long" | "nesting_too_deep";

/** Files that are looked up for a position, on the machine of the server. */
export type References = {
/** Directories with Syzygy tablebases. */
syzygy: Array<string>,
/** Opening books. */
books: Array<string>, };

/** A name and a code for `register`. */
export type Registration = {
/** The name. */
name: string,
/** The code. */
code: string, };

/** A match that a worker rejects. */
export type RejectedMatch = {
/** The identifier of the match. */
match: string,
/** The reason. */
why: string, };

/** A program that is not an engine, or cannot be used. */
export type RejectedProgram = {
/** Its path, or its name in the list. */
name: string, error: ErrorInfo, };

/** The rematch: another game of the same players with the same setup. */
export type Rematch = { "kind": "open",
/** Whether the players change sides. In a handicap game they do not. */
swapped: boolean, } | { "kind": "begun", game: number, };

/** The result of `POST /api/library/repertoire`: the games that reach a position of a tree after its start. */
export type Repertoire = {
/** The number of games, and their results. */
counts: ResultCounts,
/** Where games leave the tree, in descending order of games; at most 500. */
places: Array<RepertoirePlace>,
/** The number of all places. */
total: number, };

/** A move with which games leave a tree, or their end in it. */
export type RepertoirePlace = {
/** The last node of the tree. */
node: number,
/** The moves to this node. */
line: Array<MoveText>,
/** The side to move. */
turn: Side,
/** The move; null if the games end there. */
text: MoveText | null, counts: ResultCounts,
/** The latest games, at most 20. */
games: Array<LibraryGame>, };

/** Pairs that other workers have replayed, with the recorded numbers of nodes. */
export type ReplayedPairs = {
/** Their number. */
pairs: number,
/** The number of searches. */
searches: number,
/** The number of searches that have found the recorded move. */
equal: number,
/** The sum of the shares of equal moves of each pair. */
shares: number,
/** The sum of their squares. */
squares: number, };

/** Changes of a report. */
export type ReportDelta = { status: ReportStatus,
/** The number of judged positions. */
done: number,
/** New judgements, by ply of the main line. */
positions: Array<Judged>,
/** The statistics of the judged positions. */
sides: Sides<SideReport>, error: ErrorInfo | null, };

/** The games to report on. */
export type ReportOn = { "kind": "games", games: Array<number>, } | { "kind": "directory",
/** A path below a root of the file picker. */
path: string, };

/** The settings of a report. */
export type ReportSettings = { engine: number,
/** For each position; half a second if no limit is set. */
limits: SearchLimits,
/** Searches from the last position to the first, which profits from the transposition table. */
backwards: boolean,
/** Adds evaluations, NAGs and better lines to the game. */
annotate: boolean, };

/** The report of a game. */
export type ReportState = {
/** None if the game has no report. */
settings: ReportSettings | null, status: ReportStatus,
/** The number of judged positions. */
done: number,
/** The number of positions. */
total: number,
/** The positions of the main line, from the root; null if not judged yet. */
positions: Array<Judged | null>,
/** The statistics of the judged positions. */
sides: Sides<SideReport>, error: ErrorInfo | null, };

/** The status of a report. */
export type ReportStatus = "none" | "queued" | "running" | "stopped" | "done" | "failed";

/** One message from a tab over its WebSocket. */
export type Request = {
/** Chosen by the tab; the answer has the same. Unique among the tab's open requests. */
id: number, command: Command, };

/** A loss by score. */
export type ResignRule = {
/** Number of consecutive moves of the losing side. */
moves: number,
/** Minimum loss in centipawns. A score of being mated always counts. */
score: number,
/** The winner's score must agree. */
two_sided?: boolean, };

/** Numbers of results. */
export type ResultCounts = {
/** Wins of the first player. */
first: number,
/** Draws. */
draws: number,
/** Wins of the second player. */
second: number,
/** Games without a result. */
unknown: number, };

/** Whether the last change of a game is saved. */
export type SaveStatus = {
/** Null if it is saved. */
error: ErrorInfo | null, };

/**
 * The score of a position from the point of view of the side to move.
 *
 * Order: mated now < mated in n < mated, distance unknown < centipawns < mate, distance unknown <
 * mate in n < mate given. A later loss is better, a sooner win is better. Distances are in plies in
 * both dialects.
 *
 * ```
 * use readyok_protocol::Score;
 * assert!(Score::Mated < Score::MatedIn { plies: 2 });
 * assert!(Score::MatedIn { plies: 2 } < Score::MatedIn { plies: 8 });
 * assert!(Score::MatedIn { plies: 8 } < Score::Cp(-30_000));
 * assert!(Score::Cp(30_000) < Score::MateIn { plies: 9 });
 * assert!(Score::MateIn { plies: 9 } < Score::MateIn { plies: 1 });
 * assert!(Score::MateIn { plies: 1 } < Score::MateGiven);
 * ```
 */
export type Score = { "kind": "cp",
/** Hundredths of a pawn. */
value: number, } | { "kind": "mate",
/** 0 if mate is on the board, null if the distance is unknown. */
plies: number | null, } | { "kind": "mated",
/** 0 if mate is on the board, null if the distance is unknown. */
plies: number | null, };

/** The output of a search. */
export type SearchInfo = {
/** The variations, the best first. */
lines: Array<Line>,
/** In plies. */
depth: number | null,
/** In plies. */
seldepth: number | null, nodes: number | null, nps: number | null,
/** The use of the transposition table, in permille. */
hashfull: number | null, tbhits: number | null,
/** CPU load in permille. */
cpuload: number | null,
/** In milliseconds. */
time: number | null, current: CurrentMove | null,
/** The latest refutation of each move (`UCI_ShowRefutations`). */
refutations: Array<Array<LineMove>>,
/** The current lines of the threads (`UCI_ShowCurrLine`). */
current_lines: Array<CurrentLine>,
/** The latest `info string`. */
text: string | null,
/** The result of a search for a mate. */
mate: MateAnswer | null,
/** The best move of a finished search. */
best: LineMove | null, };

/** The limits of a search without its clock. The first reached one ends it. */
export type SearchLimits = {
/** In plies. */
depth: number | null, nodes: number | null,
/** In milliseconds. */
time: number | null,
/** A search for a mate: in moves (chess), or in milliseconds (shogi; 0 for no limit). */
mate: number | null, };

/** The result of `POST /api/library/progress`: how far a search is. Null if it does not run, or reads no games. */
export type SearchProgress = {
/** The number of games that were searched. */
done: number,
/** The number of games to search. */
all: number, };

/** Games of the library. */
export type Selection = { "kind": "games", games: Array<number>, } | { "kind": "filter", filter: LibraryFilter, } | { "kind": "match", id: number, } | { "kind": "collection", id: number, };

/** The user's settings. */
export type Settings = {
/**
 * The page's own values (theme, language, piece style, …), which the server does not interpret. At most
 * 64 KiB.
 */
page: { [key in string]: string },
/** What stops when the last tab is closed. */
on_close: OnClose,
/** Changed by commands of their own: [`Command::SetSettings`] does not change them. */
references: References,
/** [`Command::SetSettings`] changes only the services. */
online: OnlineSettings, training: TrainingSettings,
/** The game to show when the app is opened. */
current_game: number | null, };

/** A side: the first is White in chess and Black (sente) in shogi. */
export type Side = "first" | "second";

/** The statistics of the moves of a side. */
export type SideReport = {
/** The accuracy, 0 to 100. `None` without a judged move. */
accuracy: number | null,
/** The average loss in centipawns. `None` without a judged move. */
average_loss: number | null,
/** The number of inaccuracies. */
inaccuracies: number,
/** The number of mistakes. */
mistakes: number,
/** The number of blunders. */
blunders: number, };

/** A value for each side. */
export type Sides<T> = {
/** Of White in chess, of Black (sente) in shogi. */
first: T, second: T, };

/** The commit of an engine. */
export type SourceConditions = {
/** The source. */
source: GitSource,
/** The address of the page of the commit, on a known host. */
page: string | null,
/**
 * The address of the page with the difference from the base, on a known host. The base is the second of two engines,
 * or the first engine of several takes.
 */
difference: string | null, };

/** The sender of a line. */
export type Speaker = "client" | "engine" | "stderr" | "user";

/**
 * Class of the time control, by the estimated duration of a player's game: base time plus 40 increments.
 * The limits are those of Lichess.
 */
export type Speed = "bullet" | "blitz" | "rapid" | "classical" | "correspondence";

/** Invalid parameters of a test. */
export type SprtError = { "code": "sprt_requires_two_engines",
/** The number of engines of the plan. */
engines: number, } | { "code": "takes_require_sprt" } | { "code": "invalid_hypotheses", elo0: string, elo1: string, } | { "code": "invalid_error_rates", alpha: string, beta: string, };

/** A sequential probability ratio test of `elo0` against `elo1`. */
export type SprtSettings = {
/** The Elo model of the bounds. */
model?: string,
/** The hypothesis H0, in Elo of the model. */
elo0: number,
/** The hypothesis H1. */
elo1: number,
/** The probability of accepting H1 when H0 is true. */
alpha: number,
/** The probability of accepting H0 when H1 is true. */
beta: number, };

/** The status of a test. */
export type SprtStatus = {
/** The log-likelihood ratio of H1 to H0. */
llr: number,
/** At or below it H0 is accepted. */
lower: number,
/** At or above it H1 is accepted. */
upper: number,
/** The state. */
verdict: Verdict, };

/** A row of the standings. */
export type Standing = {
/** The engine. */
engine: EngineId,
/** Games won. */
wins: number,
/** Games drawn. */
draws: number,
/** Games lost. */
losses: number,
/** A win is 1 point, a draw half a point. */
points: number,
/** Elo against all opponents. */
elo: Rating, };

/** The start of a game. */
export type Start = { "kind": "usual" } | { "kind": "number",
/** 518 is the start position of chess. */
number: number | null, } | { "kind": "handicap",
/** For example `lance`. */
name: string, } | { "kind": "text", text: string, };

/** Why a results file cannot be used. */
export type StoreDefect = { "code": "results_unusable", operation: FileOperation,
/** The message of the system. */
error: string, } | { "code": "results_exist" } | { "code": "results_in_use" } | { "code": "no_results", why: string, } | { "code": "results_version", version: number, supported: number, } | { "code": "results_damaged", why: string, } | { "code": "other_plan",
/** [`Difference`] as text. */
differences: Array<string>, } | { "code": "missing_variables",
/** `engines[1].env.NAME`. */
variables: Array<string>, } | { "code": "other_files",
/** [`ChangedFile`] as text. */
files: Array<string>, };

/** A strength within the [`StrengthRange`] of an engine. */
export type Strength = {
/** Elo or level. */
value: number, };

/** The range of an engine's strength limit. */
export type StrengthRange = { "kind": "elo", min: number, max: number, } | { "kind": "level", option: string, min: number, max: number, };

/** A result under the fifty-move rule, from best to worst. */
export type TablebaseCategory = "win" | "maybe_win" | "cursed_win" | "draw" | "blessed_loss" | "maybe_loss" | "loss";

/** The end of the game by a move. */
export type TablebaseEnd = "checkmate" | "stalemate" | "insufficient_material";

/** A move and the value of the position after it, for the side that plays it. */
export type TablebaseMoveView = { uci: string, text: MoveText, category: TablebaseCategory | null, dtz: number | null,
/** Whether the move is a capture or a pawn move. */
zeroing: boolean,
/** The end of the game by the move. */
end: TablebaseEnd | null, };

/** A position to probe. `POST /api/tablebase`. */
export type TablebaseQuery = { variant: Variant,
/** The position as FEN. */
position: string, };

/** The values of a position and its moves. */
export type TablebaseView = {
/** The result for the side to move; none without a table. */
category: TablebaseCategory | null,
/** Plies to the next capture or pawn move: positive for wins, negative for losses. */
dtz: number | null,
/** The end of the game in the position. */
end: TablebaseEnd | null,
/** The legal moves, best first. */
moves: Array<TablebaseMoveView>,
/** Whether the values are those of the tablebases of Lichess. */
online: boolean, };

/** The status of a take. */
export type TakeStatus = {
/** The take. */
engine: EngineId,
/** The number of its pairs. */
pairs: number,
/** Its log-likelihood ratio. Pairs that were in progress at its verdict still change it. */
llr: number,
/** H1 is accepted, or H0 and it plays no more. Final. */
verdict: Verdict, };

/** The LLR of all takes after a number of pairs: a point of their curves. */
export type TakesPoint = {
/** The number of pairs of all takes. */
pairs: number,
/** In the order of the takes. */
llr: Array<number>, };

/** The status of a test of several takes. */
export type TakesStatus = {
/** At or below it a take is dropped. */
lower: number,
/** At or above it a take is accepted. */
upper: number,
/** In the order of the plan. */
takes: Array<TakeStatus>,
/** The first take that was accepted. */
accepted: EngineId | null, };

/**
 * What ended a game. The winner is part of the [`GameOutcome`].
 *
 * Articles are those of the FIDE Laws of Chess (2023), of the rules for games of the Japan
 * Shogi Association (JSA: 対局規則, 2024; JSA 2013: 対局規定（抄録）), and of the rules of the 36th
 * World Computer Shogi Championship (CSA). `docs/match.md` lists their addresses.
 */
export type Termination = "checkmate" | "stalemate" | "repetition" | "fivefold-repetition" | "perpetual-check" | "fifty-moves" | "seventy-five-moves" | "insufficient-material" | "dead-position" | "move-limit" | "declaration" | "wrong-declaration" | "impasse" | "try" | "resignation" | "agreement" | "time-forfeit" | "time-without-material" | "illegal-move" | "forfeit" | "adjudication" | "draw-adjudication" | "resign-adjudication" | "mate-claim" | "tablebase" | "engine-failure" | "crash" | "stall" | "no-start" | "aborted" | "no-mate" | "take-back" | "error" | "other";

/** A theme with its number of problems. */
export type ThemeCount = { theme: string, count: number, };

/** The time control of a side. Unlike that of a match plan, whose format is a text, it has fields for the page. */
export type Time = { "kind": "none" } | { "kind": "clock",
/** Added at the start and after every `moves` moves. */
base: number,
/** Added after each move. */
increment: number,
/** The time of each move after the other time is used up. */
byoyomi: number,
/** None for the whole game. */
moves: number | null, } | { "kind": "per_move",
/** In milliseconds. */
time: number, };

/** One message to a tab over its WebSocket. */
export type ToTab = { "kind": "handshake",
/** The version of the server. A page of another version reloads itself. */
version: string,
/** Identifies one run of the server. */
run: string,
/** Files that the user has to repair or to delete. */
damaged: Array<DamagedFile>, } | { "kind": "answer", id: number, answer: Answer, } | { "kind": "error", id: number, error: ApiError, } | { "kind": "snapshot", topic: Topic,
/** The number of this state. Deltas continue from it. */
number: number, state: TopicState, } | { "kind": "delta", topic: Topic,
/** One more than the number before it. After any other number, the tab must subscribe again. */
number: number, delta: Delta, } | { "kind": "closed", topic: Topic, };

/** A topic that a tab can subscribe to. Its text is `games`, `game/7`, `log/3`. */
export type Topic = "games" | "engines" | "matches" | "jobs" | "settings" | `game/${number}` | `analysis/${number}` | `log/${number}` | `match/${number}` | `report/${number}`;

/** The complete state of a topic. */
export type TopicState = { "kind": "games", "state": GamesState } | { "kind": "engines", "state": EnginesState } | { "kind": "matches", "state": MatchesState } | { "kind": "jobs", "state": JobsState } | { "kind": "settings", "state": Settings } | { "kind": "game", "state": GameState } | { "kind": "analysis", "state": AnalysisState } | { "kind": "log", "state": LogState } | { "kind": "match", "state": MatchState } | { "kind": "report", "state": ReportState };

/** A set of exercises. Each position is in a set once. */
export type TrainingSet = { id: number, kind: TrainingSetKind,
/** Empty for own mistakes, and for problems that were imported without the name of a file. */
name: string,
/** None if the set is empty or has several variants. */
variant: Variant | null,
/** The side of the user in a repertoire. */
side: Side | null,
/** The NAGs that mark the moves of a repertoire; empty if all its moves are trained. */
marks: Array<number>,
/** Whether a repertoire follows games of the library. */
linked: boolean,
/** Unix time of its creation in milliseconds. */
added: number,
/** The number of exercises. */
total: number, learning: number, learned: number,
/** Reviewed before and due now. */
due: number, };

/** What a set of exercises consists of. */
export type TrainingSetKind = "mistakes" | "repertoire" | "problems";

/** Settings of training. */
export type TrainingSettings = {
/** The names of the user in game records. */
names: Array<string>,
/** Maximum number of new exercises a day. */
new_per_day: number, };

/** Numbers of exercises and reviews. */
export type TrainingStats = { new: number, learning: number, learned: number,
/** Reviewed before and due now. */
due: number,
/** Reviews since midnight. */
today: number,
/** Reviews of the last 30 days. */
reviews: number,
/** Those that were not graded “again”. */
solved: number, };

/** Exercises and their statistics. */
export type TrainingView = {
/** All sets: own mistakes, then the others by name. */
sets: Array<TrainingSet>, stats: TrainingStats,
/**
 * The exercises of today, at most 200: those that are due, then new ones. Those of a repertoire have the order of
 * its lines.
 */
queue: Array<Exercise>,
/** The numbers of reviews that are due today, overdue ones included, and on each of the next 14 days. */
days: Array<number>,
/** The chapters of a repertoire. */
chapters: Array<ChapterStats>,
/** The themes of a set of problems with their numbers in the imported files, by name. */
themes: Array<ThemeCount>,
/** The lowest and the highest rating of a set of problems. */
ratings: [number, number] | null,
/** A part of all exercises, the latest first. */
exercises: Array<Exercise>,
/** The number of exercises that match the query. */
total: number, };

/** The settings of a tuning. */
export type TuneConditions = {
/** The number of parameters. */
parameters: number,
/** The exponent of the step sizes. */
alpha: number,
/** The exponent of the perturbations. */
gamma: number,
/** The stability constant A, as a fraction of the number of pairs. */
stability: number, };

/** The values of a tuning after a number of pairs: a point of its curves. */
export type TunePoint = {
/** The number of pairs. */
pairs: number,
/** The values, in the order of the parameters. */
values: Array<number>,
/** Their averages. */
averages: Array<number>, };

/** The values of a tuning with their uncertainty. No figure compares plus with minus: their roles are random. */
export type TuneStatus = {
/** The number of pairs with results. */
pairs: number,
/** The parameters, in the order of the plan. */
parameters: Array<TunedParameter>,
/** The values by the number of pairs, the last ones included. Many points are thinned out. */
curve: Array<TunePoint>,
/**
 * The estimated Elo of the averaged values against the start values, with its error. It is no test: a match
 * against the start values decides.
 */
gain: Rating, };

/** A parameter of a tuning. */
export type TunedParameter = {
/** The name of the option. */
name: string,
/** The first value. */
start: number,
/** The first value as the value of the option. */
rounded_start: string,
/** The current value, not rounded. */
value: number,
/** The average of the latest values, not rounded: the result of the tuning. */
average: number,
/** The number of the latest pairs whose values are averaged: at most a half of all, and 0 while the value moves. */
averaged: number,
/** The average as the value of the option. */
rounded: string,
/** The lower bound of the 95 % confidence interval of the best value. `min` if the games exclude no value below. */
low: number,
/**
 * The upper bound. `max` if the games exclude no value above. The average lies outside the interval while the
 * values have not arrived at it.
 */
high: number,
/** The lowest value. */
min: number,
/** The highest value. */
max: number,
/** The current perturbation: pairs are played by the value plus and minus it. */
c: number,
/** Whether the option is a decimal number instead of an integer. */
decimal: boolean, };

/** A duplicate that waits for a decision. */
export type UndecidedDuplicate = { imported: LibraryGame,
/** None if it was deleted. */
known: LibraryGame | null, };

/** The result of `POST /api/library/undecided`: imported duplicates that wait for a decision. */
export type UndecidedDuplicates = {
/** The first 200. */
games: Array<UndecidedDuplicate>,
/** The number of all. */
total: number, };

/** Whether edits can be undone and redone. */
export type Undo = { undo: boolean, redo: boolean, };

/** The scope of option values. */
export type ValuesFor = "all" | "play" | "analyse";

/** A game, which is the variant in the app. */
export type Variant = "chess" | "chess960" | "shogi";

/** The state of a test. */
export type Verdict = "continue" | "h0" | "h1";

/** The kind of a [`Warning`]. */
export type WarningKind = { "code": "unsettable_option", name: string, } | { "code": "unregistered", message: string, } | { "code": "move_without_score" } | { "code": "unreadable_score" } | { "code": "other_pv",
/** The first move of the PV. */
text: string, } | { "code": "illegal_pv",
/** The move, truncated if it was long. */
text: string, } | { "code": "pv_beyond_end",
/** The first move after the end. */
text: string, termination: Termination, } | { "code": "mate_pv_length",
/** Plies to mate by the score. */
plies: number,
/** Plies of the PV. */
found: number, } | { "code": "mate_pv_without_mate" } | { "code": "wrong_mate_sign" } | { "code": "mate_score_conflict", opponent: number, own: number, } | { "code": "host_overloaded", percent: number, };

/** Probabilities for the side to move in permille: `wdl 10 980 10`. */
export type Wdl = {
/** Win. */
win: number,
/** Draw. */
draw: number,
/** Loss. */
loss: number, };

/** What a worker does. */
export type WorkerActivity = "playing" | "idle" | "leaving";

/** An anomaly of a worker. */
export type WorkerFlag = { "kind": "results",
/** The probability of such a difference by chance. */
p: number, } | { "kind": "time-losses",
/** The probability of such a difference by chance. */
p: number, } | { "kind": "crashes",
/** The probability of such a difference by chance. */
p: number, } | { "kind": "speed",
/** Its relative speed divided by the median of all workers. */
ratio: number, } | { "kind": "replays",
/** The probability of such a difference by chance. */
p: number, } | { "kind": "invalid",
/** Their number. */
count: number, };

/** A worker: one thread that plays one pairing at a time. */
export type WorkerId = string;

/** The counts of a worker and its anomalies. */
export type WorkerRow = {
/** The name. */
worker: WorkerId,
/** Nodes per second. */
nps: number | null,
/** The anomalies. */
flags: Array<WorkerFlag>,
/** Accepted pairs. */
pairs: number,
/** Games of these pairs. */
games: number,
/** Pentanomial counts of the first engine: 0, ½, 1, 1½ and 2 points. All 0 if pairings have one game. */
pentanomial: [number, number, number, number, number],
/** Losses, draws and wins of the first engine. */
trinomial: [number, number, number],
/** Games lost on time. */
time_losses: number,
/** Games lost by crashes, stalls and failed starts. */
crashes: number,
/** Invalid results, which do not count. */
invalid: number,
/** Nodes of searches that reported them. */
nodes: number,
/** Duration of these searches. */
time_us: number,
/** The measured speed of the host, if it was reported. */
speed?: number | null,
/** The pairs that other workers have replayed. */
replays: ReplayedPairs, };
