//! Games as PGN, with tags and comments as fastchess and cutechess write them.

use std::fmt::{self, Write as _};
use std::time::Duration;

use jiff::Timestamp;
use readyok_protocol::Score;
use readyok_rules::{Game, Notation, Opening, Position, Side, record};

use crate::pairing::Pairing;
use crate::plan::{EngineId, EnginePlan, Limits, Plan};
use crate::result::{GameEnd, GameResult, PlayedMove, Termination};

/// Centipawns of a mate whose length is unknown, for which PGN has no form.
const MATE_OF_UNKNOWN_LENGTH: i32 = 32_000;

/// How PGN is written. By default with the score, depth and time of each move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PgnStyle {
    /// How moves are written.
    pub moves: PgnMoves,
    /// Only the seven tags that every record has, the start position, and moves.
    pub min: bool,
    /// What comments tell besides score, depth and time.
    pub tell: PgnTell,
    /// Scores are those of White, and not those of the side that moved.
    pub white_scores: bool,
    /// All is as in the files of fastchess: order, words, and the breaking of lines.
    pub as_fastchess: bool,
}

/// How moves are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PgnMoves {
    /// Standard algebraic, as the standard wants it.
    #[default]
    San,
    /// Long algebraic: `Ng1-f3`.
    Lan,
    /// The words of UCI: `g1f3`.
    Uci,
}

/// What comments tell besides score, depth and time. Only what the engine has said is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the fields of a comment are independent")]
pub struct PgnTell {
    /// Nodes: `n=`.
    pub nodes: bool,
    /// The selective depth: `sd=`.
    pub seldepth: bool,
    /// Nodes per second: `nps=`.
    pub nps: bool,
    /// The fullness of the hash in permill: `hashfull=`.
    pub hashfull: bool,
    /// Hits in tablebases: `tbhits=`.
    pub tbhits: bool,
    /// The time on the clock after the move: `tl=`.
    pub time_left: bool,
    /// How much longer the move took than the engine says: `latency=`.
    pub latency: bool,
    /// The main variation: `pv=`.
    pub pv: bool,
}

/// Lines of moves are at most so long (PGN standard, section 8.2.1, wants less than 80).
const WIDTH: usize = 79;

/// Where the games of a pairing start.
pub(super) fn start(plan: &Plan, pairing: &Pairing) -> Result<Position, String> {
    match &pairing.opening.position {
        None => Ok(Position::start(plan.game)),
        Some(text) => Position::from_text(plan.game, text).map_err(|error| error.to_string()),
    }
}

/// A game, with an empty line after it.
pub(super) fn text(
    style: &PgnStyle,
    plan: &Plan,
    pairing: &Pairing,
    number: usize,
    game: &GameResult,
) -> Result<String, String> {
    let start = start(plan, pairing)?;
    let mut out = Tags::default();
    let end = GameEnd::of(plan, game);
    let result = end.score();
    let ending = end.to_string();
    let at = |ms| i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    let started = at(game.started_ms);
    let ended = at(game.started_ms.saturating_add(game.duration_ms));
    let [white, black] = [game.first, game.second].map(|engine| engine_of(plan, engine));
    let name = |engine: Option<&EnginePlan>| engine.map_or("?", |engine| &engine.name).to_owned();
    let or_unknown = |text: &str| if text.is_empty() { "?" } else { text }.to_owned();
    out.tag("Event", &or_unknown(&plan.event));
    out.tag("Site", &or_unknown(&plan.site));
    let date =
        started.map_or_else(|| "????.??.??".to_owned(), |at| at.strftime("%Y.%m.%d").to_string());
    out.tag("Date", &date);
    out.tag("Round", &format!("{}.{}", pairing.round, number + 1));
    out.tag("White", &name(white));
    out.tag("Black", &name(black));
    out.tag("Result", result);
    if let Some(position) = &pairing.opening.position {
        out.tag("SetUp", "1");
        out.tag("FEN", position);
    }
    if plan.game == Game::Chess960 {
        out.tag("Variant", "fischerandom");
    }
    if !style.min {
        for (side, engine) in ["White", "Black"].iter().zip(&game.engines) {
            for (what, text) in [("Name", &engine.name), ("Author", &engine.author)] {
                if !text.is_empty() {
                    out.tag(&format!("Engine{side}{what}"), text);
                }
            }
        }
        duration(&mut out, game);
        let time = "%Y-%m-%dT%H:%M:%S.%3f +0000";
        for (name, at) in [("GameStartTime", started), ("GameEndTime", ended)] {
            if let Some(at) = at {
                out.tag(name, &at.strftime(time).to_string());
            }
        }
        out.tag("PlyCount", &(pairing.opening.moves.len() + game.moves.len()).to_string());
        out.tag("Termination", &termination(&game.termination, "rules infraction"));
        time_controls(&mut out, plan, game);
    }
    let mut moves = Moves::new(style, start);
    for word in &pairing.opening.moves {
        moves.play(word, "book")?;
    }
    let mut comment = String::new();
    for (played, left) in game.moves.iter().zip((0..game.moves.len()).rev()) {
        comment.clear();
        moves.comment(played, &mut comment);
        if left == 0 {
            comment.push_str(", ");
            comment.push_str(&ending);
        }
        moves.play(played.word.as_str(), &comment)?;
    }
    if game.moves.is_empty() {
        moves.remark(&ending);
    }
    if !style.min {
        // What a book calls a position is better than nothing.
        let named = moves.opening.map(|opening| opening.name);
        if let Some(opening) = moves.opening {
            out.tag("ECO", opening.eco);
        }
        if let Some(name) = named.or(pairing.opening.name.as_deref()) {
            out.tag("Opening", name);
        }
    }
    Ok(format!("{out}\n{}", moves.finish(result)))
}

pub(super) fn engine_of(plan: &Plan, engine: EngineId) -> Option<&EnginePlan> {
    plan.engines.get(usize::try_from(engine.0).ok()?)
}

pub(super) fn duration(tags: &mut Tags, game: &GameResult) {
    let seconds = game.duration_ms / 1000;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    tags.tag("GameDuration", &format!("{hours:02}:{minutes:02}:{:02}", seconds % 60));
}

/// One for both engines, if they have the same.
pub(super) fn time_controls(tags: &mut Tags, plan: &Plan, game: &GameResult) {
    let [white, black] = [game.first, game.second].map(|engine| {
        let engine = engine_of(plan, engine);
        engine.map_or_else(|| "?".to_owned(), |engine| time_control(&engine.limits))
    });
    if white == black {
        tags.tag("TimeControl", &white);
    } else {
        tags.tag("WhiteTimeControl", &white);
        tags.tag("BlackTimeControl", &black);
    }
}

/// The tag for what ended the game, but for a breach of the rules: other runners have another word for it.
pub(super) fn termination(termination: &Termination, breach: &str) -> String {
    let end = record::Termination::from(termination);
    match end.pgn_tag() {
        "rules infraction" => breach,
        tag => tag,
    }
    .to_owned()
}

/// The field of the standard (section 9.6.1), which has no word for nodes and depths.
fn time_control(limits: &Limits) -> String {
    let seconds = |ms| Duration::from_millis(ms).as_secs_f64();
    // PGN (9.6.1) has no byoyomi. One move in so many seconds, again and again, is what comes nearest.
    let byoyomi = limits.byoyomi_ms.map(|ms| format!("1/{}", seconds(ms)));
    match (limits.tc, byoyomi, limits.move_time_ms) {
        (Some(control), Some(byoyomi), _) => format!("{control}:{byoyomi}"),
        (Some(control), None, _) => control.to_string(),
        (None, Some(byoyomi), _) => byoyomi,
        (None, None, Some(ms)) => format!("{}/move", seconds(ms)),
        (None, None, None) => "-".to_owned(),
    }
}

/// The tags of a game.
#[derive(Default)]
pub(super) struct Tags(String);

impl Tags {
    pub(super) fn tag(&mut self, name: &str, value: &str) {
        // Control characters would end the tag early, and no reader knows an escape for them.
        let value: String = value.chars().filter(|letter| !letter.is_control()).collect();
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        // Writing into a `String` cannot fail.
        let _ = writeln!(self.0, "[{name} \"{value}\"]");
    }
}

impl fmt::Display for Tags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The moves of a game, broken into lines.
struct Moves<'a> {
    out: String,
    /// Room for what is put next.
    next: String,
    width: usize,
    style: &'a PgnStyle,
    position: Position,
    /// That of the last position that has one.
    opening: Option<Opening>,
    /// How many moves may still lead to one.
    named: usize,
    number: u32,
    /// Whether the next move needs its number even if it is Black's.
    numbered: bool,
}

impl<'a> Moves<'a> {
    fn new(style: &'a PgnStyle, position: Position) -> Self {
        let text = position.to_string();
        let number = text.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(1);
        let opening = Opening::of(&position);
        let named = Opening::PLIES;
        Self {
            out: String::new(),
            next: String::new(),
            width: 0,
            style,
            position,
            opening,
            named,
            number,
            numbered: true,
        }
    }

    fn play(&mut self, word: &str, comment: &str) -> Result<(), String> {
        let mv = self.position.parse_move(word).map_err(|error| error.to_string())?;
        let text = match self.style.moves {
            PgnMoves::San => self.position.notation(mv, Notation::Western),
            PgnMoves::Lan => self.position.notation(mv, Notation::Long),
            PgnMoves::Uci => self.position.notation(mv, Notation::Word),
        };
        let turn = self.position.turn();
        self.position.play(mv).map_err(|error| error.to_string())?;
        if let Some(named) = self.named.checked_sub(1) {
            self.named = named;
            self.opening = Opening::of(&self.position).or(self.opening);
        }
        match turn {
            Side::First => self.put_number("."),
            Side::Second if self.numbered => self.put_number("..."),
            Side::Second => (),
        }
        if turn == Side::Second {
            self.number += 1;
        }
        self.put(&text);
        self.numbered = !self.style.min;
        self.remark(comment);
        Ok(())
    }

    /// A comment, if there are any.
    fn remark(&mut self, comment: &str) {
        if !self.style.min {
            // A closing brace would end the comment, and nothing can escape it.
            let letters = comment.chars().map(|letter| match letter {
                '{' => '(',
                '}' => ')',
                other => other,
            });
            let mut text = std::mem::take(&mut self.next);
            text.clear();
            text.push('{');
            text.extend(letters);
            text.push('}');
            for word in text.split(' ') {
                self.put(word);
            }
            self.next = text;
        }
    }

    fn put_number(&mut self, dots: &str) {
        let mut text = std::mem::take(&mut self.next);
        text.clear();
        // Writing into a `String` cannot fail.
        let _ = write!(text, "{}{dots}", self.number);
        self.put(&text);
        self.next = text;
    }

    fn put(&mut self, word: &str) {
        let length = word.chars().count();
        if self.width > 0 && self.width + 1 + length > WIDTH {
            self.out.push('\n');
            self.width = 0;
        } else if self.width > 0 {
            self.out.push(' ');
            self.width += 1;
        }
        self.out.push_str(word);
        self.width += length;
    }

    fn finish(mut self, result: &str) -> String {
        self.put(result);
        self.out.push_str("\n\n");
        self.out
    }

    /// What is told about a move: `+0.54/12 0.350s, n=1234`.
    fn comment(&self, played: &PlayedMove, text: &mut String) {
        let turned = self.style.white_scores && self.position.turn() == Side::Second;
        let score = played.score.map(|score| if turned { score.negated() } else { score });
        // Writing into a `String` cannot fail.
        if let Some(score) = score {
            text.push_str(&score_text(score));
            let _ = write!(text, "/{} ", played.depth.unwrap_or(0));
        }
        let _ = write!(text, "{}s", Seconds(played.time_us / 1000));
        let tell = self.style.tell;
        // Most of it is seldom wanted, and a variation takes longer than all else.
        let mut say = |name: &str, value: String| {
            let _ = write!(text, ", {name}={value}");
        };
        if let Some(ms) = played.left_ms.filter(|_| tell.time_left) {
            let sign = if ms < 0 { "-" } else { "" };
            say("tl", format!("{sign}{}s", Seconds(ms.unsigned_abs())));
        }
        if let Some(told) = played.told_ms.filter(|_| tell.latency) {
            let latency = (played.time_us / 1000).saturating_sub(told);
            say("latency", format!("{}s", Seconds(latency)));
        }
        for (wanted, name, value) in [
            (tell.nodes, "n", played.nodes),
            (tell.seldepth, "sd", played.seldepth.map(u64::from)),
            (tell.nps, "nps", played.nps),
            (tell.hashfull, "hashfull", played.hashfull.map(u64::from)),
            (tell.tbhits, "tbhits", played.tbhits),
        ] {
            if let Some(value) = value.filter(|_| wanted) {
                say(name, value.to_string());
            }
        }
        if tell.pv && !played.pv.is_empty() {
            let notation = match self.style.moves {
                PgnMoves::San => Notation::Western,
                PgnMoves::Lan => Notation::Long,
                PgnMoves::Uci => Notation::Word,
            };
            let pv = self.position.notate(played.pv.words(), notation);
            say("pv", format!("\"{}\"", pv.join(" ")));
        }
        for line in &played.lines {
            say("line", format!("\"{line}\""));
        }
    }
}

/// `+0.54`, or `+M5` for a mate in five plies, as cutechess and fastchess write them.
pub(super) fn score_text(score: Score) -> String {
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

/// Milliseconds, written as seconds with three places.
pub(super) struct Seconds(pub(super) u64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}
