// Generated from crates/server/src/wire by `READYOK_BLESS=1 cargo test -p readyok-server`. Do not edit.

/**
 * Changes of the analysis.
 */
export type AnalysisDelta = { 
/**
 * New or changed engines, with their complete states.
 */
engines: Array<EngineAnalysis>, 
/**
 * Engines that were taken away.
 */
removed: Array<number>, };

/**
 * When analysis stops.
 */
export type AnalysisGoal = { "kind": "infinite" } | { "kind": "depth", 
/**
 * Plies.
 */
depth: number, } | { "kind": "nodes", 
/**
 * Nodes.
 */
nodes: number, } | { "kind": "time", 
/**
 * Milliseconds.
 */
time: number, } | { "kind": "mate", 
/**
 * Moves of the mate in chess, milliseconds in shogi (0: without limit).
 */
limit: number, };

/**
 * What an engine that analyses is to do.
 */
export type AnalysisSettings = { 
/**
 * Number of variations, 0 to 20. With 0 the engine runs with one, and none is shown.
 */
lines: number, 
/**
 * When to stop.
 */
goal: AnalysisGoal, 
/**
 * Only these moves, in UCI or USI notation, and only at the node where they were chosen; empty for all.
 */
only: Array<string>, 
/**
 * Shows what the other side threatens: the side to move passes, which it cannot do in check.
 */
threat: boolean, 
/**
 * Stays at its node when the cursor moves.
 */
locked: boolean, };

/**
 * All engines that analyse at the cursor of a game.
 */
export type AnalysisState = { 
/**
 * In the order in which they were added.
 */
engines: Array<EngineAnalysis>, };

/**
 * The status of an engine that analyses.
 */
export type AnalysisStatus = "starting" | "turning" | "searching" | "done" | "stopped" | "failed";

/**
 * The result of a request.
 */
export type Answer = { "kind": "done" } | { "kind": "game", game: number, } | { "kind": "node", 
/**
 * Its (last) node.
 */
node: number, } | { "kind": "engine", engine: number, } | { "kind": "preview", 
/**
 * How it would be reached; exactly this is run, without a shell.
 */
entry: EngineEntry, } | { "kind": "process", process: number, } | { "kind": "match", id: number, } | { "kind": "job", id: number, } | { "kind": "tried", 
/**
 * What it costs, in percent of winning chances.
 */
loss: number, 
/**
 * Whether it is as good as the best, within 2 percent.
 */
good: boolean, 
/**
 * Whose turn it was.
 */
side: Side, };

/**
 * Why a request failed. Nothing has changed.
 */
export type ApiError = { category: ErrorCategory, error: ErrorInfo, };

/**
 * A status that an engine reports.
 */
export type Approval = "checking" | "ok" | "error";

/**
 * The node at the cursor.
 */
export type At = { cursor: number, 
/**
 * The position there.
 */
position: PositionView, 
/**
 * The opening of the moves that led there, if it has a name.
 */
opening: OpeningName | null, };

/**
 * An opening book for a game.
 */
export type Book = { 
/**
 * A file below the data directory or a root of the file picker: PGN, EPD, SFEN lines or Polyglot.
 */
path: string, 
/**
 * Maximum number of moves from it.
 */
plies: number, };

/**
 * Whether a score is exact or a bound.
 */
export type Bound = "exact" | "lower" | "upper";

/**
 * A broken rule.
 */
export type Breach = { 
/**
 * Whether it makes the line invalid.
 */
serious: boolean, 
/**
 * In English.
 */
english: BreachText, 
/**
 * In Japanese.
 */
japanese: BreachText, 
/**
 * The range that the violation is about: start and end in characters of the line.
 */
span: [number, number] | null, };

/**
 * A broken rule in a language.
 */
export type BreachText = { 
/**
 * What is wrong.
 */
text: string, 
/**
 * Where the rule stands.
 */
clause: string, };

/**
 * The result of a check.
 */
export type CheckResult = { id: string, 
/**
 * `must`, `should` or `may`.
 */
severity: string, 
/**
 * `pass`, `fail`, `skip` or `inconclusive`.
 */
verdict: string, 
/**
 * The rule and what was seen, in English.
 */
english: CheckText, 
/**
 * The same in Japanese.
 */
japanese: CheckText, };

/**
 * A run of the conformance checker.
 */
export type CheckRun = { "kind": "running", 
/**
 * Since when.
 */
since: number, } | { "kind": "done", 
/**
 * When.
 */
at: number, 
/**
 * Whether the engine keeps every must.
 */
conforms: boolean, 
/**
 * One for each check.
 */
checks: Array<CheckResult>, } | { "kind": "failed", 
/**
 * Why.
 */
error: ErrorInfo, };

/**
 * A check and its result, in a language.
 */
export type CheckText = { 
/**
 * The rule.
 */
rule: string, 
/**
 * What was seen, or why nothing was. Empty for a pass.
 */
detail: string, 
/**
 * Where the rule stands. Documents are cited by their own names.
 */
clauses: Array<string>, };

/**
 * A choice of a combo.
 */
export type Choice = { 
/**
 * The value.
 */
value: string, 
/**
 * The text to show, by language, if there is one.
 */
labels: { [key in string]: string }, };

/**
 * What there is to choose from when a game is set up. `GET /api/choices`.
 */
export type Choices = { 
/**
 * The handicaps of shogi.
 */
handicaps: Array<HandicapChoice>, 
/**
 * The numeric annotation glyphs that have signs.
 */
nags: Array<NagChoice>, };

/**
 * What a human can claim, with its result.
 */
export type Claim = "draw" | "declare_win" | "declare_draw";

/**
 * Clocks. The page lets the running one run; the server alone decides when a flag falls.
 */
export type Clocks = { 
/**
 * What was left at `sent_at`; none for a side that has no clock. Negative when a flag has fallen.
 */
remaining: Sides<number | null>, 
/**
 * In byoyomi: what each move may use once `remaining` is used up.
 */
byoyomi: Sides<number>, 
/**
 * Added for each move.
 */
increment: Sides<number>, 
/**
 * Moves until more time is added.
 */
moves_to_go: Sides<number | null>, 
/**
 * Whose clock runs.
 */
running: Side | null, 
/**
 * When this was true.
 */
sent_at: number, };

/**
 * A command of a tab. The answer is [`Answer::Done`] unless stated otherwise.
 */
export type Command = { "kind": "subscribe", topic: Topic, } | { "kind": "unsubscribe", topic: Topic, } | { "kind": "new_game", game: NewGame, } | { "kind": "open_game", game: number, } | { "kind": "close_game", game: number, } | { "kind": "delete_game", game: number, } | { "kind": "move", game: number, 
/**
 * After which node: that of the position which the user saw.
 */
node: number, 
/**
 * In UCI, USI, SAN, or Japanese notation.
 */
text: string, } | { "kind": "go_to", game: number, node: number, } | { "kind": "edit", game: number, edit: Edit, } | { "kind": "take_back", game: number, } | { "kind": "resign", game: number, } | { "kind": "offer_draw", game: number, } | { "kind": "accept_draw", game: number, } | { "kind": "claim", game: number, } | { "kind": "hint", game: number, 
/**
 * From which engine; none for the one that plays, or else the first that can.
 */
engine: number | null, } | { "kind": "move_now", game: number, } | { "kind": "pause", game: number, } | { "kind": "resume", game: number, 
/**
 * From here: the line up to there becomes the game. None for where it stands.
 */
from: number | null, 
/**
 * Who plays from now on; none for as before.
 */
players: Sides<Player> | null, } | { "kind": "abort", game: number, } | { "kind": "rematch", game: number, } | { "kind": "analyse", game: number, engine: number, settings: AnalysisSettings, } | { "kind": "stop_analysis", game: number, 
/**
 * Which engine; none for all.
 */
engine: number | null, } | { "kind": "end_analysis", game: number, engine: number, } | { "kind": "add_engine", 
/**
 * The engine.
 */
entry: EngineEntry, } | { "kind": "copy_engine", engine: number, } | { "kind": "preview_engine", 
/**
 * A path, a command line, or `tcp://host:port`.
 */
text: string, } | { "kind": "change_engine", engine: number, 
/**
 * How it is from now on.
 */
entry: EngineEntry, } | { "kind": "remove_engine", engine: number, } | { "kind": "inspect_engine", engine: number, } | { "kind": "set_options", engine: number, 
/**
 * For what.
 */
of: ValuesFor, 
/**
 * By name; null takes a value back to the default.
 */
values: { [key in string]: string | null }, } | { "kind": "press_button", engine: number, option: string, } | { "kind": "save_preset", engine: number, 
/**
 * The set.
 */
preset: Preset, } | { "kind": "delete_preset", engine: number, name: string, } | { "kind": "apply_preset", engine: number, name: string, 
/**
 * For what.
 */
of: ValuesFor, } | { "kind": "register_engine", engine: number, 
/**
 * A name and a code; none for `later`.
 */
with: Registration | null, } | { "kind": "check_engine", engine: number, } | { "kind": "open_console", engine: number, } | { "kind": "send_line", process: number, 
/**
 * The line.
 */
line: string, } | { "kind": "restart_process", process: number, } | { "kind": "quit_process", process: number, } | { "kind": "kill_process", process: number, } | { "kind": "start_match", plan: MatchPlan, } | { "kind": "stop_match", id: number, 
/**
 * Whether to play the games that are on to their ends.
 */
finish: boolean, } | { "kind": "resume_match", id: number, } | { "kind": "open_match_game", id: number, 
/**
 * Its number in the match.
 */
number: number, } | { "kind": "delete_match", id: number, } | { "kind": "start_report", 
/**
 * Of which.
 */
on: ReportOn, settings: ReportSettings, } | { "kind": "stop_report", 
/**
 * Of which game; none for all.
 */
game: number | null, } | { "kind": "import_directory", 
/**
 * A path that the file picker can show.
 */
path: string, } | { "kind": "stop_job", id: number, } | { "kind": "resume_job", id: number, } | { "kind": "delete_job", id: number, } | { "kind": "try_move", game: number, 
/**
 * Before the mistake.
 */
node: number, 
/**
 * The move, in any notation.
 */
text: string, 
/**
 * How long to think about it.
 */
limits: Limits, } | { "kind": "set_settings", 
/**
 * All of them.
 */
settings: Settings, };

/**
 * The current line of a thread.
 */
export type CurrentLine = { 
/**
 * The number of the CPU, from 1.
 */
cpu: number, 
/**
 * The moves.
 */
moves: Array<LineMove>, };

/**
 * The move that is being searched.
 */
export type CurrentMove = { it: LineMove, 
/**
 * Which of how many, from 1.
 */
number: number | null, };

/**
 * A point of the curves of a match of two.
 */
export type CurvePoint = { 
/**
 * The number of games.
 */
games: number, 
/**
 * Of the first engine against the second.
 */
elo: Elo | null, 
/**
 * The log-likelihood ratio of the test, with its bounds; none without a test.
 */
llr: Llr | null, };

/**
 * What has changed in a topic.
 */
export type Delta = { "kind": "games", "delta": GamesDelta } | { "kind": "engines", "delta": EnginesDelta } | { "kind": "matches", "delta": MatchesDelta } | { "kind": "jobs", "delta": JobsDelta } | { "kind": "settings", "delta": Settings } | { "kind": "game", "delta": GameDelta } | { "kind": "analysis", "delta": AnalysisDelta } | { "kind": "log", "delta": LogDelta } | { "kind": "match", "delta": MatchDelta } | { "kind": "report", "delta": ReportDelta };

/**
 * A directory for the file picker. `GET /api/files?path=…` (no path: the roots).
 */
export type Directory = { 
/**
 * Its absolute path; none for the list of roots.
 */
path: string | null, 
/**
 * The directory above, if it may be seen.
 */
parent: string | null, 
/**
 * What is in it: directories first, by name, at most 2000.
 */
entries: Array<DirectoryEntry>, 
/**
 * Whether there were more.
 */
truncated: boolean, };

/**
 * Something in a directory.
 */
export type DirectoryEntry = { name: string, 
/**
 * Its absolute path.
 */
path: string, 
/**
 * Whether it is a directory.
 */
directory: boolean, 
/**
 * Whether it is a file that may be run.
 */
program: boolean, 
/**
 * Bytes.
 */
size: number, };

/**
 * When a game is drawn by scores.
 */
export type DrawRule = { 
/**
 * Not before this move.
 */
from_move: number, 
/**
 * Number of successive moves.
 */
moves: number, 
/**
 * Maximum distance from 0, in centipawns.
 */
score: number, };

/**
 * An edit of the tree of a game.
 */
export type Edit = { "kind": "comment", node: number, 
/**
 * Before it, where it begins a variation.
 */
before: Array<string>, 
/**
 * After it.
 */
comments: Array<string>, } | { "kind": "nags", node: number, 
/**
 * All of them.
 */
nags: Array<number>, } | { "kind": "marks", node: number, 
/**
 * All of them.
 */
marks: Array<Mark>, } | { "kind": "delete", node: number, } | { "kind": "promote", 
/**
 * A node of it.
 */
node: number, 
/**
 * All the way to the main line.
 */
to_main: boolean, } | { "kind": "insert", 
/**
 * After this node.
 */
node: number, 
/**
 * In UCI or USI notation.
 */
moves: Array<string>, 
/**
 * The evaluation of the line, for its first move.
 */
evaluation: Evaluation | null, } | { "kind": "headers", 
/**
 * All of them.
 */
headers: Array<Header>, } | { "kind": "result", 
/**
 * `1-0`, `0-1`, `1/2-1/2` or `*`.
 */
result: string, } | { "kind": "undo" } | { "kind": "redo" };

/**
 * A difference in Elo.
 */
export type Elo = { 
/**
 * The difference.
 */
elo: number, 
/**
 * Half the 95 % interval.
 */
error: number, };

/**
 * One engine that analyses.
 */
export type EngineAnalysis = { engine: number, 
/**
 * What it is to do.
 */
settings: AnalysisSettings, 
/**
 * What it does.
 */
status: AnalysisStatus, 
/**
 * Its process, if it has one.
 */
process: number | null, 
/**
 * The node that everything below is about. Show nothing of it at another node.
 */
node: number, 
/**
 * The output of the search of that position.
 */
info: SearchInfo, 
/**
 * What went wrong.
 */
error: ErrorInfo | null, };

/**
 * An engine to be registered, or changed.
 */
export type EngineEntry = { 
/**
 * What the user calls it; empty for what it calls itself.
 */
name: string, 
/**
 * How it is reached. A program is given by its absolute path.
 */
source: EngineSource, 
/**
 * What it speaks; none to find out.
 */
protocol: Protocol | null, };

/**
 * An option that an engine has declared.
 */
export type EngineOption = { 
/**
 * Its name, as the engine writes it.
 */
name: string, 
/**
 * Its kind with what goes with it.
 */
kind: OptionKind, 
/**
 * What to call it, by language (`en`, `ja`), where the engine's translation file or this server
 * knows.
 */
labels: { [key in string]: string }, 
/**
 * What it does, by language.
 */
help: { [key in string]: string }, 
/**
 * Who sets it: the user, or the server by itself (such as `UCI_AnalyseMode`, `Ponder`, `MultiPV`), which the
 * dialog shows as such and does not offer to change.
 */
set_by_server: boolean, };

/**
 * An engine that plays.
 */
export type EnginePlayer = { engine: number, 
/**
 * Its time.
 */
time: Time, 
/**
 * Limits of each search in addition to the clock.
 */
limits: Limits, 
/**
 * Whether it thinks on the opponent's time.
 */
ponder: boolean, 
/**
 * How strongly it plays; none for as strongly as it can.
 */
strength: Strength | null, 
/**
 * Options for this game only, over those of the engine for play.
 */
options: { [key in string]: string }, };

/**
 * How an engine is reached.
 */
export type EngineSource = { "kind": "program", 
/**
 * Its absolute path.
 */
path: string, 
/**
 * Its arguments, as they are; no shell is involved.
 */
args: Array<string>, 
/**
 * Its working directory; none for its own directory.
 */
dir: string | null, 
/**
 * Environment variables in addition to those of the server.
 */
env: { [key in string]: string }, } | { "kind": "tcp", 
/**
 * The address.
 */
address: string, } | { "kind": "built_in" };

/**
 * A registered engine.
 */
export type EngineState = { id: number, 
/**
 * What the user calls it.
 */
name: string, 
/**
 * How it is reached.
 */
source: EngineSource, 
/**
 * The protocol; none before the first handshake, unless the user has set it.
 */
protocol: Protocol | null, 
/**
 * The built-in one cannot be changed or removed.
 */
built_in: boolean, 
/**
 * The identity from its last handshake, if there was one.
 */
identity: Identity | null, 
/**
 * The games that it can play, by its protocol and options.
 */
variants: Array<Variant>, 
/**
 * The options it declared the last time.
 */
options: Array<EngineOption>, 
/**
 * Values that the user has set, over the defaults, by the name of the option.
 */
values: { [key in string]: string }, 
/**
 * Values for games only, over these.
 */
play_values: { [key in string]: string }, 
/**
 * Values for analysis only, over these.
 */
analyse_values: { [key in string]: string }, 
/**
 * Named sets of values.
 */
presets: Array<Preset>, 
/**
 * How its strength can be set; none if it cannot.
 */
strength: StrengthRange | null, 
/**
 * How its strength can be set in shogi, of which it may speak in another protocol.
 */
strength_in_shogi: StrengthRange | null, 
/**
 * Why it could not be asked the last time.
 */
error: ErrorInfo | null, 
/**
 * The status of its registration, if it reports one.
 */
registration: Approval | null, 
/**
 * The status of its copy protection, if it reports one.
 */
copy_protection: Approval | null, 
/**
 * What to answer it when it wants to be registered; none for `register later`.
 */
registered_as: string | null, 
/**
 * The last run of the conformance checker.
 */
check: CheckRun | null, };

/**
 * Changes of the engines and processes.
 */
export type EnginesDelta = { 
/**
 * New or changed engines.
 */
engines: Array<EngineState>, 
/**
 * Engines that were removed.
 */
removed: Array<number>, 
/**
 * New or changed processes.
 */
processes: Array<ProcessState>, 
/**
 * Processes whose logs are forgotten.
 */
forgotten: Array<number>, };

/**
 * All engines and processes.
 */
export type EnginesState = { 
/**
 * In the user's order. The first is the built-in one.
 */
engines: Array<EngineState>, 
/**
 * Those that run, and the last that have ended, by number.
 */
processes: Array<ProcessState>, 
/**
 * What the machine has, to judge `Threads` and `Hash` by.
 */
machine: Machine, };

/**
 * The categories of failed requests.
 */
export type ErrorCategory = "invalid_request" | "not_found" | "illegal_move" | "ambiguous_move" | "invalid_position" | "invalid_record" | "conflict" | "engine" | "limit" | "invalid_path" | "storage";

/**
 * The object and the location of an error.
 */
export type ErrorContext = { 
/**
 * The variant of the sides, squares and pieces in the parameters.
 */
variant?: Variant, 
/**
 * The name of the engine.
 */
engine?: string, path?: string, 
/**
 * The number of the game in the file.
 */
game?: number, 
/**
 * The number of the entry in the list.
 */
entry?: number, line?: number, column?: number, 
/**
 * The text of the rejected move.
 */
move?: string, 
/**
 * The part of a defective game that was read; absent if nothing else is missing.
 */
kept?: KeptMoves, 
/**
 * The last line that the engine wrote to its error output.
 */
stderr?: string, };

/**
 * An error: its code and its context.
 */
export type ErrorInfo = { context?: ErrorContext, } & ({ "code": "missing_field", field: PositionField, } | { "code": "extra_field", text: string, } | { "code": "invalid_field", field: PositionField, text: string, } | { "code": "rank_count", count: number, expected: number, } | { "code": "rank_length", rank: string, } | { "code": "unknown_piece", letter: string, square: string, } | { "code": "king_count", side: Side, count: number, } | { "code": "no_kings" } | { "code": "too_many_pieces", piece: string, count: number, limit: number, } | { "code": "too_much_material", side: Side, } | { "code": "dead_piece", piece: string, square: string, } | { "code": "two_pawns", side: Side, file: number, } | { "code": "invalid_castling_right", square: string, } | { "code": "opponent_in_check", square: string, } | { "code": "unknown_square", square: string, } | { "code": "invalid_hand_piece", piece: string, } | { "code": "invalid_move" } | { "code": "empty_origin_square" } | { "code": "opponent_piece" } | { "code": "occupied_by_own_piece" } | { "code": "unreachable" } | { "code": "castling_not_allowed" } | { "code": "promotion_required" } | { "code": "invalid_promotion" } | { "code": "king_in_check" } | { "code": "not_in_hand" } | { "code": "square_occupied" } | { "code": "second_pawn_on_file" } | { "code": "no_further_move" } | { "code": "pawn_drop_mate" } | { "code": "game_too_long" } | { "code": "ambiguous_move" } | { "code": "missing_piece" } | { "code": "wrong_side" } | { "code": "no_previous_move" } | { "code": "declaration_rejected" } | { "code": "invalid_best_move", answer: string, } | { "code": "time_limit_exceeded", time: number, } | { "code": "no_output", time: number, } | { "code": "draw_adjudication" } | { "code": "resign_adjudication" } | { "code": "mate_adjudication" } | { "code": "tablebase_adjudication" } | { "code": "start_failed", text: string, } | { "code": "program_not_found" } | { "code": "program_not_executable" } | { "code": "connection_refused" } | { "code": "handshake_timeout" } | { "code": "ready_timeout" } | { "code": "stop_timeout" } | { "code": "exit_timeout" } | { "code": "output_closed" } | { "code": "exited", status: number, } | { "code": "unsupported_cpu" } | { "code": "segmentation_fault" } | { "code": "arithmetic_error" } | { "code": "aborted" } | { "code": "killed" } | { "code": "signal", signal: number, } | { "code": "killed_by_user" } | { "code": "engine_stopped" } | { "code": "copy_protection_error" } | { "code": "check_failed", text: LocalizedText, } | { "code": "unsupported_variant" } | { "code": "unsupported_position" } | { "code": "null_move_not_allowed" } | { "code": "no_score" } | { "code": "too_many_processes" } | { "code": "shutting_down" } | { "code": "game_changed" } | { "code": "game_closed" } | { "code": "system", text: string, } | { "code": "not_found", subject: ErrorSubject, } | { "code": "unknown_name", subject: ErrorSubject, name: string, } | { "code": "too_many", subject: ErrorSubject, } | { "code": "too_long", subject: ErrorSubject, } | { "code": "invalid_text", subject: ErrorSubject, } | { "code": "permission_denied" } | { "code": "file_too_large", limit: number, } | { "code": "path_not_allowed" } | { "code": "not_executable", name: string, } | { "code": "incomplete_command" } | { "code": "path_not_absolute" } | { "code": "invalid_address" } | { "code": "built_in_engine" } | { "code": "not_logged_in" } | { "code": "foreign_origin" } | { "code": "unknown_host" } | { "code": "cross_site_request" } | { "code": "no_response" } | { "code": "too_many_imports" } | { "code": "unreadable" } | { "code": "game_damaged" } | { "code": "game_tree_full" } | { "code": "shape_off_board" } | { "code": "start_position_not_deletable" } | { "code": "reorder_during_game" } | { "code": "nothing_to_undo" } | { "code": "nothing_to_redo" } | { "code": "undo_during_game" } | { "code": "no_players" } | { "code": "game_in_progress" } | { "code": "game_not_in_progress" } | { "code": "game_over" } | { "code": "game_not_over" } | { "code": "engine_turn" } | { "code": "not_your_turn" } | { "code": "no_human_player" } | { "code": "no_engine_on_side" } | { "code": "no_engine_thinking" } | { "code": "no_draw_offer" } | { "code": "draw_declined" } | { "code": "nothing_to_claim" } | { "code": "nothing_to_take_back" } | { "code": "invalid_time_control" } | { "code": "start_of_other_variant" } | { "code": "book_requires_standard_start" } | { "code": "line_count", limit: number, } | { "code": "not_analyzing" } | { "code": "check_running" } | { "code": "input_not_accepted" } | { "code": "unknown_choice", option: string, value: string, } | { "code": "not_a_boolean", option: string, } | { "code": "not_an_integer", option: string, } | { "code": "out_of_range", option: string, min: string, max: string, } | { "code": "line_break", option: string, } | { "code": "missing_value", option: string, } | { "code": "option_is_button", option: string, } | { "code": "managed_option", option: string, } | { "code": "directory_not_imported" } | { "code": "no_games" } | { "code": "report_running" } | { "code": "no_report_running" } | { "code": "no_evaluation" } | { "code": "attempt_replaced" } | { "code": "job_running" } | { "code": "job_not_running" } | { "code": "unknown_variant", name: string, } | { "code": "unsupported_format" } | { "code": "no_matching_move", text: string, } | { "code": "unclosed_comment" } | { "code": "unexpected_text", text: string, } | { "code": "unknown_format" } | { "code": "game_too_large" } | { "code": "nesting_too_deep" } | { "code": "import_truncated", count: number, } | { "code": "text_skipped", text: string, } | { "code": "malformed_header", text: string, } | { "code": "contradiction", text: string, } | { "code": "unexpected_end" } | { "code": "unclosed_quote" } | { "code": "invalid_epd_operation", text: string, } | { "code": "book_requires_plies" } | { "code": "not_polyglot" } | { "code": "openings_of_other_variant" } | { "code": "no_openings" } | { "code": "not_utf8" } | { "code": "is_a_directory" } | { "code": "no_moves" } | { "code": "too_few_engines" } | { "code": "match_too_large", rounds: number, pairs: number, engines: number, concurrency: number, } | { "code": "duplicate_name", name: string, } | { "code": "missing_limit" } | { "code": "zero_time" } | { "code": "time_too_long" } | { "code": "missing_move_count" } | { "code": "sprt_requires_two_engines" } | { "code": "invalid_hypotheses" } | { "code": "invalid_error_rates" } | { "code": "match_running" } | { "code": "match_not_running" } | { "code": "match_finished" } | { "code": "match_failed" } | { "code": "accepted_h0" } | { "code": "accepted_h1" } | { "code": "engine_failures", count: number, } | { "code": "games_replayed" } | { "code": "opening_skipped", cause: ErrorInfo, } | { "code": "openings_skipped", count: number, cause: ErrorInfo, } | { "code": "invalid_results" } | { "code": "restarted", cause: ErrorInfo, } | { "code": "move_without_score" } | { "code": "pv_move_mismatch", token: string, } | { "code": "illegal_pv_move", token: string, } | { "code": "pv_after_game_end", token: string, } | { "code": "mate_pv_length", found: number, plies: number, } | { "code": "mate_pv_without_mate" } | { "code": "wrong_mate_sign" } | { "code": "host_overloaded", percent: number, } | { "code": "protocol_violation", text: LocalizedText, });

/**
 * The object of an error: not found, too many, too long, or invalid.
 */
export type ErrorSubject = "argument" | "button" | "comment" | "engine" | "engine_name" | "file" | "game" | "handicap" | "header" | "job" | "line" | "match" | "match_name" | "move" | "node" | "note" | "open_game" | "opening" | "operation" | "option" | "player_name" | "position" | "preset" | "process" | "query" | "registration" | "result" | "settings" | "start_number" | "text" | "topic";

/**
 * The evaluation of a position by an engine or an annotator.
 */
export type Evaluation = { 
/**
 * From the view of the side that moves first in the game (White in chess).
 */
score: Score, 
/**
 * Search depth in plies.
 */
depth: number | null, };

/**
 * What has changed in a game. What is absent is as it was.
 */
export type GameDelta = { 
/**
 * New or changed nodes. Parents come before their children.
 */
nodes?: Array<Node>, 
/**
 * Nodes that are gone, with all below them.
 */
removed?: Array<number>, 
/**
 * New headers, all of them.
 */
headers?: Array<Header>, 
/**
 * The cursor, with the position there.
 */
at?: At, 
/**
 * How it has ended (an object with `outcome`, which is null when the end was taken back).
 */
over?: Over, 
/**
 * Players, clocks and offers.
 */
play?: Play, 
/**
 * Whether there is something to undo.
 */
undo?: Undo, 
/**
 * Whether the library has it.
 */
kept?: KeptState, };

/**
 * One line about a game.
 */
export type GameLine = { id: number, variant: Variant, 
/**
 * The players' names.
 */
names: Sides<string>, 
/**
 * Moves of the main line.
 */
plies: number, 
/**
 * Whether it is being played.
 */
playing: boolean, 
/**
 * `1-0`, `0-1`, `1/2-1/2` or `*`.
 */
result: string, 
/**
 * When it was last changed.
 */
changed: number, };

/**
 * The result of a game.
 */
export type GameResult = "*" | "1-0" | "0-1" | "1/2-1/2";

/**
 * A game.
 */
export type GameState = { id: number, variant: Variant, 
/**
 * The start position in FEN or SFEN.
 */
start: string, 
/**
 * Whether the start position is a handicap of shogi.
 */
handicap: boolean, 
/**
 * The number of the first move in chess notation, and who makes it.
 */
first_number: number, 
/**
 * Who moves at the root.
 */
first_turn: Side, 
/**
 * Headers as files have them (`White`, `Event`, `先手`, …), without those that follow from the rest.
 */
headers: Array<Header>, 
/**
 * All nodes, parents before their children. The first is the root.
 */
nodes: Array<Node>, 
/**
 * The node at the cursor, in all tabs.
 */
cursor: number, 
/**
 * The position there.
 */
position: PositionView, 
/**
 * The opening of the moves that led there, if it has a name.
 */
opening: OpeningName | null, 
/**
 * How it has ended.
 */
outcome: OutcomeView | null, 
/**
 * While it is played, and afterwards.
 */
play: Play | null, 
/**
 * Whether there is something to undo, and to redo.
 */
undo: Undo, 
/**
 * Why the library could not take the last change, in English; none if it has it.
 */
unsaved: string | null, };

/**
 * Changes of the list of games.
 */
export type GamesDelta = { 
/**
 * New or changed ones.
 */
changed: Array<GameLine>, 
/**
 * Those that were closed.
 */
removed: Array<number>, };

/**
 * The open games.
 */
export type GamesState = { 
/**
 * The latest first.
 */
games: Array<GameLine>, };

/**
 * A handicap of shogi.
 */
export type HandicapChoice = { 
/**
 * Its name for commands and for English readers.
 */
name: string, 
/**
 * Its Japanese name.
 */
japanese: string, 
/**
 * Its start position.
 */
sfen: string, };

/**
 * A header of a game.
 */
export type Header = { name: string, 
/**
 * Its value.
 */
value: string, };

/**
 * A hint.
 */
export type Hint = { 
/**
 * The node it is for.
 */
node: number, 
/**
 * The move.
 */
hint: LineMove, };

/**
 * The identity of an engine. Text from outside: show it, never interpret it.
 */
export type Identity = { 
/**
 * `id name`.
 */
name: string, 
/**
 * `id author`.
 */
author: string, };

/**
 * The result of an import. `POST /api/import?name=…` with the file or text as the body.
 */
export type Imported = { 
/**
 * The games that were read, as entries of the library, at most the first 1000 of them.
 */
games: Array<LibraryGame>, 
/**
 * How many were read.
 */
total: number, 
/**
 * The first was opened under this number, if it was asked for (`&open=true`).
 */
opened: number | null, 
/**
 * What could not be read, with line and column, at most 100.
 */
errors: Array<ErrorInfo>, 
/**
 * Warnings with line and column, at most 100.
 */
warnings: Array<ErrorInfo>, };

/**
 * A job on many games. It survives a restart of the server, and can be resumed.
 */
export type Job = { id: number, 
/**
 * When it was asked for.
 */
added: number, 
/**
 * The directory whose files are read into the library first.
 */
directory: string | null, 
/**
 * How the games are reported on; none if they are only read.
 */
settings: ReportSettings | null, 
/**
 * Where it stands.
 */
status: ReportStatus, 
/**
 * Files of the directory that are read.
 */
files_done: number, 
/**
 * Files of the directory; 0 until they are counted.
 */
files: number, 
/**
 * Number of games so far.
 */
games: number, 
/**
 * Games that are done with.
 */
done: number, 
/**
 * Those of them that could not be reported on.
 */
failed: number, 
/**
 * The game that is being reported on.
 */
current: number | null, 
/**
 * What could not be read, and the games that failed, at most 20.
 */
errors: Array<JobError>, };

/**
 * Something that went wrong in a job.
 */
export type JobError = { 
/**
 * With what.
 */
of: JobErrorOf, why: ErrorInfo, };

/**
 * With what something went wrong in a job.
 */
export type JobErrorOf = { "kind": "file", name: string, } | { "kind": "game", game: number, } | { "kind": "engine", engine: number, };

/**
 * Changes of the jobs.
 */
export type JobsDelta = { 
/**
 * New or changed jobs, whole.
 */
changed: Array<Job>, 
/**
 * Jobs that are forgotten.
 */
removed: Array<number>, };

/**
 * All jobs, the latest first.
 */
export type JobsState = { 
/**
 * The jobs.
 */
jobs: Array<Job>, };

/**
 * A position of the main line, judged, with the move that led to it.
 */
export type Judged = { 
/**
 * Moves from the root.
 */
ply: number, 
/**
 * The node.
 */
node: number, 
/**
 * The score of the position, from the first side.
 */
score: Score, 
/**
 * The same as winning chances of the first side in percent, 0 to 100.
 */
winning: number, 
/**
 * The principal variation.
 */
best: Array<LineMove>, 
/**
 * In plies.
 */
depth: number | null, 
/**
 * What the move that led here cost its player, in percent of winning chances; none at the root and where
 * the position before is not judged yet.
 */
loss: number | null, 
/**
 * What to call it.
 */
label: Label | null, };

/**
 * The part of a defective game that was read.
 */
export type KeptMoves = { "line": "main", plies: number, } | { "line": "variation", plies: number, };

/**
 * Whether the library has a game as it is.
 */
export type KeptState = { 
/**
 * Why not, in English; none if it has.
 */
error: string | null, };

/**
 * What to call a move.
 */
export type Label = "inaccuracy" | "mistake" | "blunder" | "best" | "forced";

/**
 * The squares of a move that was played.
 */
export type LastMove = { 
/**
 * None for a drop.
 */
from: string | null, 
/**
 * Where it went. For castling the king's square.
 */
to: string, };

/**
 * A legal move, as a board needs it.
 */
export type LegalMove = { 
/**
 * In UCI or USI notation. Castling in Chess960 is the king taking the rook.
 */
uci: string, 
/**
 * The square it starts from, `e2` or `7g`; none for a drop.
 */
from: string | null, 
/**
 * For a drop: the piece in upper case, `P`.
 */
drop: string | null, 
/**
 * Where it can be pointed to. The first is where the piece is shown to land. Castling has two: the king's
 * square and the rook's (one, if the other would mean another move).
 */
to: Array<string>, 
/**
 * What the piece becomes: `q`, `r`, `b` or `n` in chess, `+` in shogi.
 */
promotion: string | null, 
/**
 * As text.
 */
text: MoveText, };

/**
 * A game of the library.
 */
export type LibraryGame = { 
/**
 * Its number, to open it by.
 */
id: number, variant: Variant, 
/**
 * The players' names.
 */
names: Sides<string>, 
/**
 * `1-0`, `0-1`, `1/2-1/2` or `*`.
 */
result: string, 
/**
 * What ended the game, if known.
 */
termination: Termination | null, 
/**
 * The day of the game as its record has it.
 */
date: string | null, 
/**
 * The event.
 */
event: string | null, 
/**
 * Moves of the main line.
 */
plies: number, 
/**
 * When it came into the library.
 */
added: number, 
/**
 * Where it is from: `play`, `import` or `match`.
 */
source: string, };

/**
 * What was found, the latest first.
 */
export type LibraryPage = { 
/**
 * The games.
 */
games: Array<LibraryGame>, 
/**
 * How many there are in all.
 */
total: number, };

/**
 * What to look for. `POST /api/library/search`. Everything that is given must hold.
 */
export type LibraryQuery = { variant: Variant | null, 
/**
 * Part of the name of a player of either side.
 */
player: string | null, 
/**
 * Part of the name of an engine that played. Records that do not state which player was an engine match by any name.
 */
engine: string | null, 
/**
 * `1-0`, `0-1`, `1/2-1/2` or `*`.
 */
result: string | null, 
/**
 * Moves from the start position, in any notation: `e2e4`, `e4 c5`, `▲７六歩`.
 */
opening: string | null, 
/**
 * Part of the name of the opening, or its ECO code.
 */
named: string | null, 
/**
 * A position that the game passed through, in FEN or SFEN; move numbers do not matter.
 */
position: string | null, 
/**
 * Not before this day, `2026-11-21`.
 */
from: string | null, 
/**
 * Not after this day.
 */
until: string | null, 
/**
 * Number of games to skip.
 */
offset: number, 
/**
 * Maximum number of games, 1 to 200; 50 by default.
 */
limit: number | null, };

/**
 * Limits of a search. The first that is reached ends it.
 */
export type Limits = { 
/**
 * In plies.
 */
depth: number | null, 
/**
 * Nodes.
 */
nodes: number | null, 
/**
 * Milliseconds.
 */
time: number | null, 
/**
 * A mate: in moves (chess), or within milliseconds (shogi; 0 for without limit).
 */
mate: number | null, };

/**
 * One variation.
 */
export type Line = { 
/**
 * 1 is the best.
 */
number: number, 
/**
 * In plies.
 */
depth: number | null, 
/**
 * Selective depth.
 */
seldepth: number | null, 
/**
 * From the side to move.
 */
score: Score | null, 
/**
 * How exact it is.
 */
bound: Bound, 
/**
 * Chances of the side to move.
 */
wdl: Wdl | null, 
/**
 * The moves; from the first illegal one on, as the engine wrote them.
 */
pv: Array<LineMove>, };

/**
 * A move of a line that was not played.
 */
export type LineMove = { 
/**
 * In UCI or USI notation.
 */
uci: string, 
/**
 * As text. From the first illegal move on, as it is.
 */
text: MoveText, };

/**
 * Where a sequential test stands.
 */
export type Llr = { 
/**
 * The ratio.
 */
llr: number, 
/**
 * H0 is accepted below.
 */
lower: number, 
/**
 * H1 is accepted above.
 */
upper: number, };

/**
 * A text in both languages, from a library with texts of its own.
 */
export type LocalizedText = { english: string, japanese: string, };

/**
 * New lines.
 */
export type LogDelta = { 
/**
 * They follow the last ones, unless `skipped` is set.
 */
lines: Array<LogLine>, 
/**
 * Number of omitted lines before them, which arrived too fast to be shown.
 */
skipped: number, 
/**
 * How many lines there were in all.
 */
total: number, };

/**
 * One line.
 */
export type LogLine = { 
/**
 * The number of the line, from 1.
 */
number: number, 
/**
 * When it was written or read.
 */
at: number, 
/**
 * The sender.
 */
by: Speaker, 
/**
 * The text of the line, at most 4096 characters. Control characters are escaped; it is untrusted.
 */
text: string, 
/**
 * The rules that it breaks.
 */
breaches: Array<Breach>, };

/**
 * The log of a process.
 */
export type LogState = { process: number, 
/**
 * The last lines, at most 2000 of those that are kept (10000; all with `GET /api/log/{process}`, `?language=ja` for Japanese).
 */
lines: Array<LogLine>, 
/**
 * How many lines there were in all.
 */
total: number, };

/**
 * What the machine has.
 */
export type Machine = { 
/**
 * The number of logical CPU cores.
 */
cores: number, 
/**
 * Memory in MiB, if it is known.
 */
memory: number | null, };

/**
 * A mark on the board.
 */
export type Mark = { 
/**
 * `green`, `red`, `yellow` or `blue`.
 */
color: string, 
/**
 * The square, or where the arrow starts.
 */
from: string, 
/**
 * Where the arrow ends; none for a circle.
 */
to: string | null, };

/**
 * A game of a match that is on.
 */
export type MatchBoard = { 
/**
 * The id of a board of a match.
 */
board: number, 
/**
 * Who plays, by their places in the plan.
 */
engines: Sides<number>, 
/**
 * FEN or SFEN.
 */
text: string, 
/**
 * Squares of the last move: from, if it has one, and to.
 */
last: Array<string>, 
/**
 * The moves so far.
 */
moves: Array<LineMove>, 
/**
 * The last scores of the sides, from their own point of view.
 */
scores: Sides<Score | null>, };

/**
 * Changes of a match: what is absent is as it was.
 */
export type MatchDelta = { 
/**
 * Where it stands.
 */
status?: MatchStatus, 
/**
 * Games played, the table, the crosstable.
 */
score?: MatchScore, 
/**
 * New points of the curve.
 */
curve: Array<CurvePoint>, 
/**
 * New or changed boards, whole.
 */
boards: Array<MatchBoard>, 
/**
 * Boards that are gone.
 */
ended: Array<number>, 
/**
 * Games that are over.
 */
games: Array<MatchGame>, 
/**
 * Why it ended, or what went wrong.
 */
note?: ErrorInfo, };

/**
 * An engine of a match.
 */
export type MatchEngine = { engine: number, 
/**
 * Its name in the table; empty for its own. Must differ from the others'.
 */
name: string, 
/**
 * Its time.
 */
time: Time, 
/**
 * Nodes for each move.
 */
nodes: number | null, 
/**
 * Depth of each search.
 */
depth: number | null, 
/**
 * Whether it thinks on its opponent's time.
 */
ponder: boolean, 
/**
 * Options over those for games.
 */
options: { [key in string]: string }, };

/**
 * The pairing of engines.
 */
export type MatchFormat = "round_robin" | "gauntlet" | "knockout" | "swiss";

/**
 * A game of a match that is over.
 */
export type MatchGame = { 
/**
 * Its number in the match, from 1.
 */
number: number, 
/**
 * The round, from 1.
 */
round: number, 
/**
 * Who played, by their places in the plan.
 */
engines: Sides<number>, 
/**
 * How it ended.
 */
outcome: OutcomeView, 
/**
 * Moves played.
 */
plies: number, };

/**
 * One line about a match.
 */
export type MatchLine = { id: number, name: string, variant: Variant, 
/**
 * Where it stands.
 */
status: MatchStatus, 
/**
 * Games played.
 */
played: number, 
/**
 * The total number, if it is known.
 */
total: number | null, };

/**
 * Where the games of a match start.
 */
export type MatchOpenings = { "kind": "start" } | { "kind": "chess960" } | { "kind": "handicap", name: string, } | { "kind": "positions", 
/**
 * The texts.
 */
list: Array<string>, } | { "kind": "file", 
/**
 * A path that the file picker can show.
 */
path: string, 
/**
 * Maximum number of plies of each.
 */
plies: number | null, 
/**
 * In random order.
 */
shuffled: boolean, };

/**
 * A match to be played.
 */
export type MatchPlan = { name: string, variant: Variant, 
/**
 * Who plays, at least two.
 */
engines: Array<MatchEngine>, 
/**
 * The pairing of engines.
 */
format: MatchFormat, 
/**
 * The number of rounds.
 */
rounds: number, 
/**
 * Number of game pairs, each with reversed colors, in an encounter.
 */
pairs: number, 
/**
 * Where games start.
 */
openings: MatchOpenings, 
/**
 * Number of concurrent games.
 */
concurrency: number, 
/**
 * A draw when both scores were this close to 0 (centipawns) for a number of moves, from a move on.
 */
draw: DrawRule | null, 
/**
 * A loss when the score was this bad for a number of moves.
 */
resign: ResignRule | null, 
/**
 * A draw after this number of moves.
 */
max_moves: number | null, 
/**
 * A test of two engines that can end the match early.
 */
sprt: SprtSettings | null, 
/**
 * The seed of random choices.
 */
seed: number, };

/**
 * The score of a match.
 */
export type MatchScore = { 
/**
 * Games played.
 */
played: number, 
/**
 * The total number.
 */
total: number | null, 
/**
 * The table, best first.
 */
standings: Array<Standing>, 
/**
 * As in the state.
 */
crosstable: Array<Array<Wins>>, };

/**
 * A match.
 */
export type MatchState = { id: number, 
/**
 * What is played.
 */
plan: MatchPlan, 
/**
 * Where it stands.
 */
status: MatchStatus, 
/**
 * The engines' names, in the order of the plan.
 */
names: Array<string>, 
/**
 * Games played, and of how many.
 */
played: number, 
/**
 * None if unknown.
 */
total: number | null, 
/**
 * The table, best first.
 */
standings: Array<Standing>, 
/**
 * `crosstable[a][b]`: what a has against b, by their places in the plan.
 */
crosstable: Array<Array<Wins>>, 
/**
 * Elo after each pair (first engine of two).
 */
curve: Array<CurvePoint>, 
/**
 * Games that are on.
 */
boards: Array<MatchBoard>, 
/**
 * Games that are over, the latest last, at most 500.
 */
games: Array<MatchGame>, 
/**
 * Why it ended, or what went wrong.
 */
note: ErrorInfo | null, };

/**
 * Where a match stands.
 */
export type MatchStatus = "running" | "finishing" | "paused" | "over" | "failed";

/**
 * Changes of the list of matches.
 */
export type MatchesDelta = { 
/**
 * New or changed ones.
 */
changed: Array<MatchLine>, 
/**
 * Those that were deleted.
 */
removed: Array<number>, };

/**
 * All matches.
 */
export type MatchesState = { 
/**
 * The latest first.
 */
matches: Array<MatchLine>, };

/**
 * The result of a search for a mate.
 */
export type MateAnswer = "found" | "none" | "unknown" | "not_implemented";

/**
 * The output of the last search of an engine that plays.
 */
export type MoveInfo = { 
/**
 * The move it is about: the node of that move, or none while it thinks.
 */
node: number | null, 
/**
 * In plies.
 */
depth: number | null, 
/**
 * From its own side.
 */
score: Score | null, 
/**
 * Nodes searched.
 */
nodes: number | null, 
/**
 * Nodes per second.
 */
nps: number | null, 
/**
 * Milliseconds searched.
 */
time: number | null, 
/**
 * The line it expects.
 */
pv: Array<LineMove>, };

/**
 * A move as text. The page chooses by its settings and language.
 */
export type MoveText = { 
/**
 * SAN in chess, `Nbd7`; Hodges' notation in shogi, `P-7f`.
 */
western: string, 
/**
 * Shogi only: `▲７六歩`.
 */
japanese?: string, };

/**
 * A sign for a move.
 */
export type NagChoice = { 
/**
 * Its number in PGN.
 */
nag: number, 
/**
 * `!`, `?!`, `±`.
 */
sign: string, };

/**
 * How to set up a game.
 */
export type NewGame = { variant: Variant, 
/**
 * Where it starts.
 */
start: Start, 
/**
 * The players; none for a board to analyse on.
 */
players: Sides<Player> | null, 
/**
 * Rules in addition to those of the board.
 */
rules: PlayRules, 
/**
 * Where the first moves come from.
 */
book: Book | null, };

/**
 * A move of a tree, or its root.
 */
export type Node = { id: number, 
/**
 * The node before it; none for the root.
 */
parent: number | null, 
/**
 * Moves from the root: 0 for it.
 */
ply: number, kind: NodeKind, 
/**
 * The move in UCI or USI notation; empty for the root, `0000` for a null move.
 */
uci: string, 
/**
 * The move as text; empty for the root.
 */
text: MoveText, 
/**
 * The children in order: the first continues the line, the others are variations.
 */
children: Array<number>, 
/**
 * Comments before the move (only where it begins a variation).
 */
before: Array<string>, 
/**
 * Comments after the move.
 */
comments: Array<string>, 
/**
 * Signs: 1 is `!`, 2 `?`, 3 `!!`, 4 `??`, 5 `!?`, 6 `?!`, and so on.
 */
nags: Array<number>, 
/**
 * What the mover has left after it.
 */
clock: number | null, 
/**
 * What it took.
 */
elapsed: number | null, 
/**
 * The score of the position after it, from the first side.
 */
evaluation: Evaluation | null, 
/**
 * Arrows and circles.
 */
marks: Array<Mark>, };

/**
 * The kind of a node's move.
 */
export type NodeKind = "root" | "legal" | "null" | "illegal";

/**
 * What stops when the last tab is closed.
 */
export type OnClose = { 
/**
 * Whether games against engines are paused.
 */
pause_games: boolean, 
/**
 * Whether analysis stops.
 */
stop_analysis: boolean, 
/**
 * The server ends when nothing is left to do.
 */
quit: boolean, };

/**
 * How an opening is called.
 */
export type OpeningName = { 
/**
 * The code of the *Encyclopaedia of Chess Openings*, `A00` to `E99`.
 */
eco: string, 
/**
 * The name, in English.
 */
name: string, };

/**
 * The kinds of options.
 */
export type OptionKind = { "kind": "check", 
/**
 * The default.
 */
default: boolean | null, } | { "kind": "spin", 
/**
 * The default.
 */
default: number | null, 
/**
 * The least.
 */
min: number | null, 
/**
 * The most.
 */
max: number | null, } | { "kind": "combo", 
/**
 * The default.
 */
default: string | null, 
/**
 * The choices.
 */
choices: Array<Choice>, } | { "kind": "button" } | { "kind": "string", 
/**
 * The default.
 */
default: string | null, 
/**
 * Whether it is a list of directories, by its name (`SyzygyPath`).
 */
directories: boolean, } | { "kind": "filename", 
/**
 * The default.
 */
default: string | null, } | { "kind": "other", 
/**
 * The type as the engine reports it.
 */
text: string, };

/**
 * How a game ended, with the details that the page displays.
 */
export type OutcomeView = { 
/**
 * Who won.
 */
result: GameResult, 
/**
 * What ended the game.
 */
termination: Termination, 
/**
 * Details, for example the error of an engine.
 */
detail: ErrorInfo | null, };

/**
 * Whether and how a game is over.
 */
export type Over = { 
/**
 * None if it is not.
 */
outcome: OutcomeView | null, };

/**
 * A game that is played, or was.
 */
export type Play = { 
/**
 * Where it stands.
 */
status: PlayStatus, 
/**
 * Who plays.
 */
players: Sides<PlayerState>, 
/**
 * The node where the game stands: the end of what was played. New moves of players go there.
 */
tip: number, 
/**
 * The clocks; none without time controls.
 */
clocks: Clocks | null, 
/**
 * Who has offered a draw that still stands.
 */
draw_offer: Side | null, 
/**
 * What the human to move can claim by the rules of the game.
 */
claim: Claim | null, 
/**
 * The last hint that was asked for, until a move is played.
 */
hint: Hint | null, 
/**
 * When it is over: whether there is another game of the same players.
 */
rematch: Rematch | null, };

/**
 * What ends a game that is played.
 */
export type PlayRules = "federation" | "engines";

/**
 * Where a game stands.
 */
export type PlayStatus = "your_turn" | "starting" | "searching" | "paused" | "interrupted" | "over";

/**
 * Who plays a side.
 */
export type Player = { "kind": "human", 
/**
 * The name for the record.
 */
name: string, 
/**
 * Its time.
 */
time: Time, } | { "kind": "engine" } & EnginePlayer;

/**
 * A player.
 */
export type PlayerState = { 
/**
 * Who it is.
 */
player: Player, 
/**
 * The name of the human or the engine.
 */
name: string, 
/**
 * For an engine: its last score, from its own side.
 */
info: MoveInfo | null, 
/**
 * For an engine that ponders.
 */
pondering: PonderState | null, };

/**
 * How well an engine guesses its opponent's moves.
 */
export type PonderState = { 
/**
 * The move it thinks on now.
 */
expects: LineMove | null, 
/**
 * How often it was right.
 */
hits: number, 
/**
 * How often it pondered to the end of the opponent's turn.
 */
tries: number, };

/**
 * A position of the editor, judged. Asked for with `POST /api/position`.
 */
export type PositionCheck = { 
/**
 * The position as it would be played, if it can be.
 */
position: PositionView | null, 
/**
 * The setup as its text, playable or not; none if the text cannot be read.
 */
text: string | null, 
/**
 * What is wrong.
 */
error: ErrorInfo | null, 
/**
 * Squares that the error is about.
 */
squares: Array<string>, };

/**
 * A field of a FEN or an SFEN.
 */
export type PositionField = "board" | "turn" | "castling" | "en_passant" | "halfmove_clock" | "fullmove_number" | "hands" | "move_number";

/**
 * A position with all that a board and its reader need.
 */
export type PositionView = { 
/**
 * FEN or SFEN.
 */
text: string, 
/**
 * Whose turn it is.
 */
turn: Side, 
/**
 * All legal moves.
 */
legal: Array<LegalMove>, 
/**
 * The square of the king that is in check.
 */
check: string | null, 
/**
 * The squares of the move that led here: from (none for a drop) and to.
 */
last: LastMove | null, 
/**
 * If the position ends a game by the rules: how.
 */
ending: OutcomeView | null, };

/**
 * A named set of values.
 */
export type Preset = { 
/**
 * Its name, one of its kind in the engine.
 */
name: string, 
/**
 * Its values.
 */
values: { [key in string]: string }, };

/**
 * A process, or connection, of an engine.
 */
export type ProcessState = { 
/**
 * The server's number for it.
 */
id: number, 
/**
 * The engine it is one of.
 */
engine: number, 
/**
 * What it is for.
 */
purpose: Purpose, 
/**
 * What it does.
 */
status: ProcessStatus, 
/**
 * The system's number; none for a connection, and before it has started.
 */
pid: number | null, 
/**
 * When it was started.
 */
started: number, 
/**
 * The identity from its handshake.
 */
identity: Identity | null, 
/**
 * Why it has failed, or rejected a command.
 */
error: ErrorInfo | null, 
/**
 * The last lines of its error output, when it has ended.
 */
stderr: Array<string>, 
/**
 * How often it broke its protocol.
 */
breaches: number, };

/**
 * What a process does.
 */
export type ProcessStatus = "starting" | "idle" | "searching" | "pondering" | "leaving" | "ended" | "dead";

/**
 * The protocol that an engine speaks.
 */
export type Protocol = "uci" | "usi";

/**
 * What a process is for.
 */
export type Purpose = { "kind": "inspect" } | { "kind": "play", game: number, } | { "kind": "analyse", game: number, } | { "kind": "hint", game: number, } | { "kind": "report", game: number, } | { "kind": "learn", game: number, } | { "kind": "console" };

/**
 * A format of records.
 */
export type RecordFormat = "pgn" | "position" | "epd" | "kif" | "ki2" | "csa" | "jkf" | "line";

/**
 * A name and a code for `register`.
 */
export type Registration = { 
/**
 * The name.
 */
name: string, 
/**
 * The code.
 */
code: string, };

/**
 * Another game of the same players, set up as this one was.
 */
export type Rematch = { "kind": "open", 
/**
 * Whether the players change sides. Who gives a handicap gives it again.
 */
swapped: boolean, } | { "kind": "begun", 
/**
 * Which it is.
 */
game: number, };

/**
 * Changes of a report: what is absent is as it was.
 */
export type ReportDelta = { 
/**
 * Where it stands now.
 */
status: ReportStatus, 
/**
 * Positions judged.
 */
done: number, 
/**
 * New judgements, by ply of the main line.
 */
positions: Array<Judged>, 
/**
 * The statistics of both sides so far.
 */
sides: Sides<SideReport>, 
/**
 * What went wrong.
 */
error: ErrorInfo | null, };

/**
 * The games of a report.
 */
export type ReportOn = { "kind": "games", 
/**
 * Their numbers.
 */
games: Array<number>, } | { "kind": "directory", 
/**
 * A path that the file picker can show.
 */
path: string, };

/**
 * How to judge a game.
 */
export type ReportSettings = { 
/**
 * By whom.
 */
engine: number, 
/**
 * For each position; none of them set means half a second.
 */
limits: Limits, 
/**
 * From the last move to the first, so that the engine knows what comes.
 */
backwards: boolean, 
/**
 * Writes evaluations, signs and better lines into the game.
 */
annotate: boolean, };

/**
 * The report of a game.
 */
export type ReportState = { 
/**
 * How it is, or was, made; none if it never was.
 */
settings: ReportSettings | null, 
/**
 * Where it stands.
 */
status: ReportStatus, 
/**
 * Positions judged.
 */
done: number, 
/**
 * The total number.
 */
total: number, 
/**
 * The positions of the main line, from the root on; null if not judged yet.
 */
positions: Array<Judged | null>, 
/**
 * The statistics of both sides so far.
 */
sides: Sides<SideReport>, 
/**
 * What went wrong.
 */
error: ErrorInfo | null, };

/**
 * Where a report stands.
 */
export type ReportStatus = "none" | "queued" | "running" | "stopped" | "done" | "failed";

/**
 * One message from a tab over its WebSocket.
 */
export type Request = { 
/**
 * Chosen by the tab; the answer has the same. Unique among the tab's open requests.
 */
id: number, 
/**
 * What is wanted.
 */
command: Command, };

/**
 * When a game is lost by scores.
 */
export type ResignRule = { 
/**
 * Number of successive moves.
 */
moves: number, 
/**
 * Maximum score, in negative centipawns.
 */
score: number, };

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
/**
 * Hundredths of a pawn.
 */
value: number, } | { "kind": "mate", 
/**
 * 0 if mate is on the board, null if the distance is unknown.
 */
plies: number | null, } | { "kind": "mated", 
/**
 * 0 if mate is on the board, null if the distance is unknown.
 */
plies: number | null, };

/**
 * The output of a search.
 */
export type SearchInfo = { 
/**
 * Its variations, the best first.
 */
lines: Array<Line>, 
/**
 * The latest depth in plies.
 */
depth: number | null, 
/**
 * Selective depth.
 */
seldepth: number | null, 
/**
 * Nodes searched.
 */
nodes: number | null, 
/**
 * Nodes per second.
 */
nps: number | null, 
/**
 * How full its table is, in thousandths.
 */
hashfull: number | null, 
/**
 * Hits in tablebases.
 */
tbhits: number | null, 
/**
 * CPU load in permille.
 */
cpuload: number | null, 
/**
 * Milliseconds.
 */
time: number | null, 
/**
 * The move that is being searched, with its number.
 */
current: CurrentMove | null, 
/**
 * Refutations of moves, if it reports them (`UCI_ShowRefutations`): the latest of each move.
 */
refutations: Array<Array<LineMove>>, 
/**
 * The current lines of its threads, if it reports them (`UCI_ShowCurrLine`).
 */
current_lines: Array<CurrentLine>, 
/**
 * The latest `info string`.
 */
text: string | null, 
/**
 * The answer to a search for a mate.
 */
mate: MateAnswer | null, 
/**
 * The move it would play, when the search is over.
 */
best: LineMove | null, };

/**
 * The user's settings.
 */
export type Settings = { 
/**
 * What the page keeps: theme, language, piece style, keys, the last game's settings, … The server does not
 * look into it. At most 64 KiB.
 */
page: { [key in string]: string }, 
/**
 * What stops when the last tab is closed.
 */
on_close: OnClose, 
/**
 * The game to show when the app is opened without another choice.
 */
current_game: number | null, };

/**
 * One of the players: first is White in chess and Black (sente) in shogi.
 */
export type Side = "first" | "second";

/**
 * One side of a report.
 */
export type SideReport = { 
/**
 * 0 to 100; none without a judged move.
 */
accuracy: number | null, 
/**
 * Average loss in centipawns.
 */
average_loss: number | null, 
/**
 * How many.
 */
inaccuracies: number, 
/**
 * How many.
 */
mistakes: number, 
/**
 * How many.
 */
blunders: number, };

/**
 * One thing for each side.
 */
export type Sides<T> = { 
/**
 * White's in chess, Black's (sente) in shogi.
 */
first: T, 
/**
 * The other's.
 */
second: T, };

/**
 * The sender of a line.
 */
export type Speaker = "client" | "engine" | "stderr" | "user";

/**
 * A sequential test.
 */
export type SprtSettings = { 
/**
 * The hypothesis H0.
 */
elo0: number, 
/**
 * The hypothesis H1.
 */
elo1: number, 
/**
 * The probability to accept H1 when H0 is true.
 */
alpha: number, 
/**
 * The probability to accept H0 when H1 is true.
 */
beta: number, };

/**
 * One line of a table.
 */
export type Standing = { 
/**
 * The place in the plan.
 */
engine: number, 
/**
 * Its games.
 */
wins: Wins, 
/**
 * Points: a win is 1, a draw a half.
 */
points: number, 
/**
 * Elo against the field with the half width of its 95 % interval; none if undefined.
 */
elo: Elo | null, };

/**
 * Where a game starts.
 */
export type Start = { "kind": "usual" } | { "kind": "number", 
/**
 * 518 is that of chess.
 */
number: number | null, } | { "kind": "handicap", 
/**
 * Such as `lance`.
 */
name: string, } | { "kind": "text", 
/**
 * The text.
 */
text: string, };

/**
 * The whole state of a topic.
 */
export type State = { "kind": "games", "state": GamesState } | { "kind": "engines", "state": EnginesState } | { "kind": "matches", "state": MatchesState } | { "kind": "jobs", "state": JobsState } | { "kind": "settings", "state": Settings } | { "kind": "game", "state": GameState } | { "kind": "analysis", "state": AnalysisState } | { "kind": "log", "state": LogState } | { "kind": "match", "state": MatchState } | { "kind": "report", "state": ReportState };

/**
 * How strongly an engine is to play, within its [`StrengthRange`].
 */
export type Strength = { 
/**
 * Elo or level.
 */
value: number, };

/**
 * The range of an engine's strength limit.
 */
export type StrengthRange = { "kind": "elo", 
/**
 * The weakest.
 */
min: number, 
/**
 * The strongest.
 */
max: number, } | { "kind": "level", 
/**
 * The name of the option.
 */
option: string, 
/**
 * The weakest.
 */
min: number, 
/**
 * The strongest.
 */
max: number, };

/**
 * What ended a game. The winner is part of the [`GameOutcome`].
 *
 * Articles are those of the FIDE Laws of Chess (2023), of the rules for games of the Japan
 * Shogi Association (JSA: 対局規則, 2024; JSA 2013: 対局規定（抄録）), and of the rules of the 36th
 * World Computer Shogi Championship (CSA). `docs/match.md` lists their addresses.
 */
export type Termination = "checkmate" | "stalemate" | "repetition" | "fivefold-repetition" | "perpetual-check" | "fifty-moves" | "seventy-five-moves" | "insufficient-material" | "dead-position" | "move-limit" | "declaration" | "wrong-declaration" | "impasse" | "try" | "resignation" | "agreement" | "time-forfeit" | "time-without-material" | "illegal-move" | "forfeit" | "adjudication" | "draw-adjudication" | "resign-adjudication" | "mate-claim" | "tablebase" | "engine-failure" | "crash" | "stall" | "no-start" | "aborted" | "no-mate" | "take-back" | "error" | "other";

/**
 * The time of one side for a game.
 */
export type Time = { "kind": "none" } | { "kind": "clock", 
/**
 * At the start, and again every `moves` moves.
 */
base: number, 
/**
 * Added after each move.
 */
increment: number, 
/**
 * What each move may use when the rest is used up.
 */
byoyomi: number, 
/**
 * Moves until `base` is added again; none for the whole game.
 */
moves: number | null, } | { "kind": "per_move", 
/**
 * Milliseconds.
 */
time: number, };

/**
 * One message to a tab over its WebSocket.
 */
export type ToTab = { "kind": "handshake", 
/**
 * The version of the server. A page of another version reloads itself.
 */
version: string, 
/**
 * Identifies one run of the server.
 */
run: string, } | { "kind": "answer", 
/**
 * The request's.
 */
id: number, 
/**
 * The result.
 */
answer: Answer, } | { "kind": "error", 
/**
 * The request's.
 */
id: number, 
/**
 * Why.
 */
error: ApiError, } | { "kind": "snapshot", topic: Topic, 
/**
 * The number of this state. Deltas count on from it.
 */
number: number, 
/**
 * The state.
 */
state: State, } | { "kind": "delta", topic: Topic, 
/**
 * One more than that of the delta or snapshot before it. Anything else is a fault: subscribe again.
 */
number: number, 
/**
 * The change.
 */
delta: Delta, } | { "kind": "closed", topic: Topic, };

/**
 * Something that a tab can be kept informed of. As text: `games`, `game/7`, `log/3`.
 */
export type Topic = "games" | "engines" | "matches" | "jobs" | "settings" | `game/${number}` | `analysis/${number}` | `log/${number}` | `match/${number}` | `report/${number}`;

/**
 * What can be undone.
 */
export type Undo = { 
/**
 * A change of the tree can be undone.
 */
undo: boolean, 
/**
 * One that was undone can be done again.
 */
redo: boolean, };

/**
 * Which values of options are meant.
 */
export type ValuesFor = "all" | "play" | "analyse";

/**
 * A game that can be played.
 */
export type Variant = "chess" | "chess960" | "shogi";

/**
 * Probabilities for the side to move in permille: `wdl 10 980 10`.
 */
export type Wdl = { 
/**
 * Win.
 */
win: number, 
/**
 * Draw.
 */
draw: number, 
/**
 * Loss.
 */
loss: number, };

/**
 * Wins, draws and losses.
 */
export type Wins = { 
/**
 * Won.
 */
won: number, 
/**
 * Drawn.
 */
drawn: number, 
/**
 * Lost.
 */
lost: number, };
