//! Games of a match as game records, and as PGN with the tags and comments of cutechess and fastchess.

use std::fmt;
use std::fmt::Write as _;
use std::time::Duration;

use jiff::Timestamp;
use readyok_protocol::Score;
use readyok_rules::record::{Evaluation, GameRecord, NodeId, PgnOptions, Tag, write_pgn};
use readyok_rules::{FenForm, Game, Notation, Opening as OpeningName, Position, Side, Termination};

use crate::fastchess::text::GameOver;
use crate::pairing::{Opening, Pairing};
use crate::plan::{Limits, Plan};
use crate::result::{EndSentence, EngineInfo, MatchGame, MoveRecord};

/// The record of a finished game: players, opening, moves with times and evaluations, and the outcome.
/// `index` is the number of the game within its pair, from 0.
///
/// # Errors
/// The opening or a move is not legal.
pub fn game_record(
    plan: &Plan,
    pairing: &Pairing,
    index: usize,
    game: &MatchGame,
) -> Result<GameRecord, String> {
    let mut record = opening_record(plan.game, &pairing.opening)?;
    set_headers(&mut record, plan, pairing, index, game);
    for played in &game.moves {
        add_move(&mut record, played)?;
    }
    if needs_comment(game.end.termination) {
        let last = record.last();
        if let Some(notes) = record.annotations_mut(last) {
            notes.comments.push(EndSentence::of(plan, game).to_string());
        }
    }
    record.conclude(game.outcome());
    Ok(record)
}

/// The start of a game: the position and the moves of its opening.
///
/// # Errors
/// The position or a move is not legal.
pub fn opening_record(game: Game, opening: &Opening) -> Result<GameRecord, String> {
    let mut record = GameRecord::new(start(game, opening)?);
    for text in &opening.moves {
        play(&mut record, text)?;
    }
    Ok(record)
}

/// Adds a move with its time, clock and evaluation.
///
/// # Errors
/// The move is not legal.
pub fn add_move(record: &mut GameRecord, played: &MoveRecord) -> Result<(), String> {
    let side = record.position().turn();
    let id = play(record, played.mv.as_str())?;
    if let Some(notes) = record.annotations_mut(id) {
        notes.elapsed = Some(Duration::from_micros(played.time_us));
        let left = played.left_ms.and_then(|left| u64::try_from(left).ok());
        notes.clock = left.map(Duration::from_millis);
        notes.evaluation = played.score.map(|score| Evaluation::by(side, score, played.depth));
    }
    Ok(())
}

pub(super) fn start(game: Game, opening: &Opening) -> Result<Position, String> {
    match &opening.position {
        None => Ok(Position::start(game)),
        Some(text) => Position::from_text(game, text).map_err(|error| error.to_string()),
    }
}

/// Adds a move at the end of a record.
pub(super) fn play(record: &mut GameRecord, text: &str) -> Result<NodeId, String> {
    let mv = record.position().parse_move(text).map_err(|error| error.to_string())?;
    record.play(mv).map_err(|error| error.to_string())
}

/// Sets event, site, date, round and players.
fn set_headers(
    record: &mut GameRecord,
    plan: &Plan,
    pairing: &Pairing,
    index: usize,
    game: &MatchGame,
) {
    for (tag, value) in [(Tag::Event, &plan.event), (Tag::Site, &plan.site)] {
        if !value.is_empty() {
            record.set_header(tag, value.as_str());
        }
    }
    if let Some(at) = timestamp(game.started_ms) {
        let format = match plan.game {
            Game::Chess | Game::Chess960 => "%Y.%m.%d",
            Game::Shogi => "%Y/%m/%d %H:%M:%S",
        };
        record.set_header(Tag::Date, at.strftime(format).to_string());
    }
    record.set_header(Tag::Round, format!("{}.{}", pairing.round, index + 1));
    for (side, engine) in [(Side::First, game.first), (Side::Second, game.second)] {
        record.set_player(side, plan.engine_name(engine));
    }
}

fn timestamp(ms: u64) -> Option<Timestamp> {
    i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok())
}

/// Whether the formats of records have no term for an end.
fn needs_comment(termination: Termination) -> bool {
    let is_adjudicated = matches!(
        termination,
        Termination::DrawAdjudication
            | Termination::ResignAdjudication
            | Termination::MateAdjudication
            | Termination::TablebaseAdjudication
            | Termination::MoveLimit
    );
    is_adjudicated || termination.is_failure()
}

/// The final position of a game: EPD with counters as operations for chess, SFEN for shogi.
pub(super) fn final_position(
    plan: &Plan,
    pairing: &Pairing,
    game: &MatchGame,
) -> Result<String, String> {
    let moves = pairing.opening.moves.iter().map(String::as_str);
    let moves = moves.chain(game.moves.iter().map(|played| played.mv.as_str()));
    let position = start(plan.game, &pairing.opening)?.after(moves);
    let text = position.map_err(|error| error.to_string())?.to_string();
    let fields: Vec<&str> = text.split(' ').collect();
    Ok(match (plan.game, fields.as_slice()) {
        (Game::Chess | Game::Chess960, [board, turn, castling, passant, half, full]) => {
            format!("{board} {turn} {castling} {passant} hmvc {half}; fmvn {full};\n")
        }
        _ => format!("{text}\n"),
    })
}

/// The comment on the moves of an opening.
const BOOK: &str = "book";

/// Centipawns of a mate whose length is unknown, for which PGN has no form.
const MATE_OF_UNKNOWN_LENGTH: i32 = 32_000;

/// The style of PGN. By default comments have the score, depth and time of each move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PgnStyle {
    /// The notation of moves.
    pub moves: PgnMoves,
    /// Only the seven tags of the roster, the start position, and moves.
    pub min: bool,
    /// Fields of comments in addition to score, depth and time.
    pub fields: PgnFields,
    /// Scores from White's view instead of the mover's.
    pub white_scores: bool,
    /// Tags, rounds and comments as in fastchess: fields that an engine did not report are 0.
    pub as_fastchess: bool,
}

/// The notation of moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum PgnMoves {
    /// Standard algebraic notation: `Nf3`.
    #[default]
    #[cfg_attr(feature = "cli", value(help = "Nf3"))]
    San,
    /// Long algebraic notation: `Ng1-f3`.
    #[cfg_attr(feature = "cli", value(help = "Ng1-f3"))]
    Lan,
    /// UCI notation: `g1f3`.
    #[cfg_attr(feature = "cli", value(help = "g1f3"))]
    Uci,
}

impl From<PgnMoves> for Notation {
    fn from(moves: PgnMoves) -> Self {
        match moves {
            PgnMoves::San => Self::Western,
            PgnMoves::Lan => Self::Long,
            PgnMoves::Uci => Self::Uci,
        }
    }
}

/// Fields of comments in addition to score, depth and time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the fields of a comment are independent")]
pub struct PgnFields {
    /// Nodes: `n=`.
    pub nodes: bool,
    /// Selective depth: `sd=`.
    pub seldepth: bool,
    /// Nodes per second: `nps=`.
    pub nps: bool,
    /// Hash usage in permille: `hashfull=`.
    pub hashfull: bool,
    /// Tablebase hits: `tbhits=`.
    pub tbhits: bool,
    /// Time on the clock after the move: `tl=`.
    pub time_left: bool,
    /// Measured time minus the time reported by the engine: `latency=`.
    pub latency: bool,
    /// Principal variation: `pv=`.
    pub pv: bool,
}

/// A game, with an empty line after it.
pub(super) fn text(
    style: &PgnStyle,
    plan: &Plan,
    pairing: &Pairing,
    index: usize,
    game: &MatchGame,
) -> Result<String, String> {
    let start = start(plan.game, &pairing.opening)?;
    let mut opening = OpeningName::of(&start);
    let mut record = GameRecord::new(start);
    set_headers(&mut record, plan, pairing, index, game);
    if style.as_fastchess {
        // The number of the encounter, of which all games have the same.
        let round = pairing.index / u64::from(plan.pairs_per_encounter.max(1)) + 1;
        record.headers.set("Round", round.to_string());
    }
    for (ply, text) in (1..).zip(&pairing.opening.moves) {
        play(&mut record, text)?;
        comment(&mut record, style, BOOK);
        update(&mut opening, record.position(), ply);
    }
    let plies = pairing.opening.moves.len();
    for (ply, played) in (plies + 1..).zip(&game.moves) {
        let text = move_comment(style, plan, game, record.position(), played);
        play(&mut record, played.mv.as_str())?;
        comment(&mut record, style, &text);
        update(&mut opening, record.position(), ply);
    }
    comment_end(&mut record, style, plan, game);
    record.result = game.outcome().result;
    if !style.min {
        let illegal = style.as_fastchess && illegal_move(game).is_some();
        set_details(
            &mut record,
            style,
            plan,
            game,
            plies + game.moves.len() + usize::from(illegal),
        );
        let name = opening.map(|opening| opening.name).or(pairing.opening.name.as_deref());
        for (tag, value) in [("ECO", opening.map(|opening| opening.eco)), ("Opening", name)] {
            if let Some(value) = value {
                record.headers.set(tag, value);
            }
        }
    }
    let mut out = Vec::new();
    write_pgn(&record, &options(style, plan.game), &mut out).map_err(|error| error.to_string())?;
    String::from_utf8(out).map_err(|error| error.to_string())
}

fn options(style: &PgnStyle, game: Game) -> PgnOptions {
    let shredder = style.as_fastchess && game == Game::Chess960;
    PgnOptions {
        notation: style.moves.into(),
        fen: if shredder { FenForm::Shredder } else { FenForm::XFen },
        renumber: !style.as_fastchess,
        padded_comments: false,
        wrap_comments: !style.as_fastchess,
    }
}

/// The opening of the last position that has one.
fn update(opening: &mut Option<OpeningName>, position: &Position, ply: usize) {
    if ply <= OpeningName::PLIES {
        *opening = OpeningName::of(position).or(*opening);
    }
}

fn comment(record: &mut GameRecord, style: &PgnStyle, text: &str) {
    let last = record.last();
    if !style.min
        && let Some(notes) = record.annotations_mut(last)
    {
        // A closing brace would end the comment, and PGN has no escape for it.
        notes.comments.push(text.replace('{', "(").replace('}', ")"));
    }
}

/// Adds the reason for the end to the last comment.
fn comment_end(record: &mut GameRecord, style: &PgnStyle, plan: &Plan, game: &MatchGame) {
    let ending = if style.as_fastchess {
        let illegal = illegal_move(game);
        let end = &game.end;
        let reason = GameOver { game: plan.game, winner: game.winner, end }.reason();
        illegal.map_or_else(|| reason.clone(), |text| format!("{reason}: {text}"))
    } else {
        EndSentence::of(plan, game).to_string()
    };
    if game.moves.is_empty() {
        let is_written = illegal_move(game).is_some() && record.is_empty();
        if is_written || !style.as_fastchess {
            comment(record, style, &ending);
        }
        return;
    }
    let last = record.last();
    let notes = record.annotations_mut(last);
    if let Some(text) = notes.and_then(|notes| notes.comments.last_mut()) {
        text.push_str(", ");
        text.push_str(&ending.replace('{', "(").replace('}', ")"));
    }
}

fn illegal_move(game: &MatchGame) -> Option<&str> {
    game.end.illegal_text()
}

/// Sets the tags about engines, times and the end.
fn set_details(
    record: &mut GameRecord,
    style: &PgnStyle,
    plan: &Plan,
    game: &MatchGame,
    plies: usize,
) {
    let headers = &mut record.headers;
    for (side, engine) in ["White", "Black"].iter().zip(&game.engines) {
        let EngineInfo { name, author, .. } = engine;
        for (field, text) in [("Name", name), ("Author", author)] {
            if !text.is_empty() {
                headers.set(format!("Engine{side}{field}"), text);
            }
        }
    }
    let seconds = game.duration_ms / 1000;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    headers.set("GameDuration", format!("{hours:02}:{minutes:02}:{:02}", seconds % 60));
    let format =
        if style.as_fastchess { "%Y-%m-%dT%H:%M:%S +0000" } else { "%Y-%m-%dT%H:%M:%S.%3f +0000" };
    let ended = game.started_ms.saturating_add(game.duration_ms);
    for (tag, ms) in [("GameStartTime", game.started_ms), ("GameEndTime", ended)] {
        if let Some(at) = timestamp(ms) {
            headers.set(tag, at.strftime(format).to_string());
        }
    }
    headers.set("PlyCount", plies.to_string());
    let termination = match game.end.termination.pgn_tag() {
        "rules infraction" if style.as_fastchess => "illegal move".to_owned(),
        tag => tag.to_owned(),
    };
    headers.set("Termination", termination);
    let [white, black] = [game.first, game.second].map(|engine| {
        let engine = plan.engine(engine);
        engine.map_or_else(|| "?".to_owned(), |engine| time_control(&engine.limits))
    });
    if white == black {
        headers.set("TimeControl", white);
    } else {
        headers.set("WhiteTimeControl", white);
        headers.set("BlackTimeControl", black);
    }
}

/// The tag of the standard (section 9.6.1), which has no form for nodes and depths.
fn time_control(limits: &Limits) -> String {
    let seconds = |ms| Duration::from_millis(ms).as_secs_f64();
    // PGN has no byoyomi. Repeated periods of one move are the closest form.
    let byoyomi = limits.byoyomi_ms.map(|ms| format!("1/{}", seconds(ms)));
    match (limits.tc, byoyomi, limits.move_time_ms) {
        (Some(control), Some(byoyomi), _) => format!("{control}:{byoyomi}"),
        (Some(control), None, _) => control.to_string(),
        (None, Some(byoyomi), _) => byoyomi,
        (None, None, Some(ms)) => format!("{}/move", seconds(ms)),
        (None, None, None) => "-".to_owned(),
    }
}

/// The comment on a move: `+0.54/12 0.350s, n=1234`.
fn move_comment(
    style: &PgnStyle,
    plan: &Plan,
    game: &MatchGame,
    before: &Position,
    played: &MoveRecord,
) -> String {
    if style.min {
        return String::new();
    }
    let (fields, all, turn) = (style.fields, style.as_fastchess, before.turn());
    let negate = style.white_scores && turn == Side::Second;
    let score = played.score.map(|score| if negate { score.negated() } else { score });
    let mut text = score.map(score_text).unwrap_or_default();
    let took = played.time_us / 1000;
    // Writing into a string cannot fail.
    if all || score.is_some() {
        let _ = write!(text, "/{} ", played.depth.unwrap_or(0));
    }
    let _ = write!(text, "{}s", Seconds(signed(took)));
    let mut push = |name: &str, value: fmt::Arguments<'_>| {
        let _ = write!(text, ", {name}={value}");
    };
    let left = played.left_ms.or_else(|| all.then(|| fixed_time(plan, game, turn)));
    if let Some(ms) = left.filter(|_| fields.time_left) {
        push("tl", format_args!("{}s", Seconds(ms)));
    }
    if let Some(reported) =
        played.reported_time_ms.or_else(|| all.then_some(0)).filter(|_| fields.latency)
    {
        let latency = signed(took) - signed(reported);
        // fastchess writes negative latencies, too.
        let latency = if all { latency } else { latency.max(0) };
        push("latency", format_args!("{}s", Seconds(latency)));
    }
    for (wanted, name, value) in [
        (fields.nodes, "n", played.nodes),
        (fields.seldepth, "sd", played.seldepth.map(u64::from)),
        (fields.nps, "nps", played.nps),
        (fields.hashfull, "hashfull", played.hashfull.map(u64::from)),
        (fields.tbhits, "tbhits", played.tbhits),
    ] {
        if let Some(value) = value.or_else(|| all.then_some(0)).filter(|_| wanted) {
            push(name, format_args!("{value}"));
        }
    }
    if fields.pv && (all || !played.pv.is_empty()) {
        let notation = if all { Notation::Uci } else { style.moves.into() };
        let pv = match notation {
            Notation::Uci => played.pv.tokens().collect::<Vec<_>>().join(" "),
            notation => before.notate(played.pv.tokens(), notation).join(" "),
        };
        push("pv", format_args!("\"{pv}\""));
    }
    for line in &played.lines {
        push("line", format_args!("\"{line}\""));
    }
    text
}

/// The time for each move of the side to move, which is left after each of them.
fn fixed_time(plan: &Plan, game: &MatchGame, turn: Side) -> i64 {
    let engine = plan.engine(game.engine(turn));
    engine.and_then(|engine| engine.limits.move_time_ms).map_or(0, signed)
}

/// `+0.54`, or `+M5` for a mate in five plies, as cutechess and fastchess write them.
fn score_text(score: Score) -> String {
    let cp = match score {
        Score::Cp(cp) => cp,
        mate => {
            let sign = if mate.is_mating() { 1 } else { -1 };
            match mate.mate_plies() {
                Some(plies) => return format!("{}M{plies}", if sign < 0 { '-' } else { '+' }),
                None => sign * MATE_OF_UNKNOWN_LENGTH,
            }
        }
    };
    let sign = match cp {
        ..0 => "-",
        0 => "",
        1.. => "+",
    };
    format!("{sign}{}.{:02}", cp.unsigned_abs() / 100, cp.unsigned_abs() % 100)
}

fn signed(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX)
}

/// Milliseconds, written as seconds with three decimals.
struct Seconds(i64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, ms) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        write!(f, "{sign}{}.{:03}", ms / 1000, ms % 1000)
    }
}
