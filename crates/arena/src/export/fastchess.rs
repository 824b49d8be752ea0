//! Games as PGN in the form in which fastchess alpha 1.8.2 writes them.
//!
//! ```text
//! 1. e4 {+0.31/12 0.081s} e5 {-0.28/11 0.080s} 2. Qh5 {0.00/12 0.079s}
//! ```
//!
//! A move is broken off the line together with its comment, a reply has no number of its own, and
//! what an engine has not told is 0 where the file is to tell it.

use std::fmt::Write as _;

use jiff::Timestamp;
use readyok_rules::{FenForm, Game, Notation, Opening, Position, Side};

use super::pgn::{
    PgnMoves, PgnStyle, Seconds, Tags, duration, engine_of, score_text, start, termination,
    time_controls,
};
use crate::fastchess::text::GameOver;
use crate::pairing::Pairing;
use crate::plan::{EnginePlan, Plan};
use crate::result::{GameResult, PlayedMove, Termination};

/// Lines of moves have at most so many bytes, unless one move with its comment has more.
const WIDTH: usize = 80;

/// A game, with an empty line after it.
pub(super) fn text(
    style: &PgnStyle,
    plan: &Plan,
    pairing: &Pairing,
    game: &GameResult,
) -> Result<String, String> {
    let start = start(plan, pairing)?;
    let over = GameOver { game: plan.game, winner: game.winner, termination: &game.termination };
    let mut moves = Moves::new(style, start.clone());
    for word in &pairing.opening.moves {
        moves.play(word, "book")?;
    }
    let illegal = match &game.termination {
        Termination::IllegalMove { word, .. } => Some(word),
        _ => None,
    };
    let mut ending = over.reason();
    if let Some(word) = illegal {
        // Writing into a `String` cannot fail.
        let _ = write!(ending, ": {word}");
    }
    let [white, black] = [game.first, game.second].map(|engine| engine_of(plan, engine));
    for (played, left) in game.moves.iter().zip((0..game.moves.len()).rev()) {
        let mover = if moves.position.turn() == Side::First { white } else { black };
        let ending = (left == 0).then_some(ending.as_str());
        let comment = comment(style, played, mover, ending);
        moves.play(played.word.as_str(), &comment)?;
    }
    let plies = pairing.opening.moves.len() + game.moves.len();
    if plies == 0 && illegal.is_some() {
        moves.put(&braced(&ending));
    }
    let plies = plies + usize::from(illegal.is_some());
    let mut tags = Tags::default();
    main_tags(&mut tags, style, plan, pairing, game, over.score());
    let is_960 = plan.game == Game::Chess960;
    let fen = start.text(if is_960 { FenForm::Shredder } else { FenForm::XFen });
    if is_960 || fen != Position::start(plan.game).to_string() {
        tags.tag("SetUp", "1");
        tags.tag("FEN", &fen);
    }
    if is_960 {
        tags.tag("Variant", "Chess960");
    }
    if !style.min {
        circumstances(&mut tags, plan, game, plies);
        if let Some(opening) = moves.opening {
            tags.tag("ECO", opening.eco);
            tags.tag("Opening", opening.name);
        }
    }
    Ok(format!("{tags}\n{}", moves.finish(over.score())))
}

fn main_tags(
    tags: &mut Tags,
    style: &PgnStyle,
    plan: &Plan,
    pairing: &Pairing,
    game: &GameResult,
    score: &str,
) {
    // It numbers those who meet, and all games that they play then.
    let round = pairing.index / u64::from(plan.legs.max(1)) + 1;
    let date = at(game.started_ms).map(|at| at.strftime("%Y.%m.%d").to_string());
    let [white, black] = [game.first, game.second].map(|engine| engine_of(plan, engine));
    let name = |engine: Option<&EnginePlan>| engine.map_or("?", |engine| &engine.name).to_owned();
    let mut told = vec![
        ("Event", plan.event.clone()),
        ("Site", plan.site.clone()),
        ("Date", date.unwrap_or_else(|| "-".to_owned())),
        ("Round", round.to_string()),
        ("White", name(white)),
        ("Black", name(black)),
        ("Result", score.to_owned()),
    ];
    if !style.min {
        let [white, black] = game.engines.each_ref();
        told.extend([
            ("EngineWhiteName", white.name.clone()),
            ("EngineWhiteAuthor", white.author.clone()),
            ("EngineBlackName", black.name.clone()),
            ("EngineBlackAuthor", black.author.clone()),
        ]);
    }
    for (name, value) in told.iter().filter(|(_, value)| !value.is_empty()) {
        tags.tag(name, value);
    }
}

/// The tags about how the game went.
fn circumstances(tags: &mut Tags, plan: &Plan, game: &GameResult, plies: usize) {
    duration(tags, game);
    let ended = game.started_ms.saturating_add(game.duration_ms);
    for (name, ms) in [("GameStartTime", game.started_ms), ("GameEndTime", ended)] {
        if let Some(at) = at(ms) {
            tags.tag(name, &at.strftime("%Y-%m-%dT%H:%M:%S +0000").to_string());
        }
    }
    tags.tag("PlyCount", &plies.to_string());
    tags.tag("Termination", &termination(&game.termination, "illegal move"));
    time_controls(tags, plan, game);
}

fn at(ms: u64) -> Option<Timestamp> {
    i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok())
}

/// What is told about a move, which for the last one of a game is also why it ended.
fn comment(
    style: &PgnStyle,
    played: &PlayedMove,
    mover: Option<&EnginePlan>,
    ending: Option<&str>,
) -> String {
    let (depth, took) = (played.depth.unwrap_or(0), played.time_us / 1000);
    let mut text =
        format!("{}/{depth} {}s", played.score.map(score_text).unwrap_or_default(), Seconds(took));
    let tell = style.tell;
    // Writing into a `String` cannot fail.
    let mut say = |name: &str, value: String| {
        let _ = write!(text, ", {name}={value}");
    };
    if tell.time_left {
        // Of a fixed time for each move all is left after it.
        let whole = mover.and_then(|engine| engine.limits.move_time_ms);
        let whole = whole.and_then(|ms| i64::try_from(ms).ok());
        say("tl", signed(played.left_ms.or(whole).unwrap_or(0)));
    }
    if tell.latency {
        let [took, told] = [took, played.told_ms.unwrap_or(0)];
        let [took, told] = [took, told].map(|ms| i64::try_from(ms).unwrap_or(i64::MAX));
        say("latency", signed(took - told));
    }
    for (wanted, name, value) in [
        (tell.nodes, "n", played.nodes),
        (tell.seldepth, "sd", played.seldepth.map(u64::from)),
        (tell.nps, "nps", played.nps),
        (tell.hashfull, "hashfull", played.hashfull.map(u64::from)),
        (tell.tbhits, "tbhits", played.tbhits),
    ] {
        if wanted {
            say(name, value.unwrap_or(0).to_string());
        }
    }
    if tell.pv {
        let words: Vec<&str> = played.pv.words().collect();
        say("pv", format!("\"{}\"", words.join(" ")));
    }
    for line in &played.lines {
        say("line", format!("\"{line}\""));
    }
    if let Some(ending) = ending {
        let _ = write!(text, ", {ending}");
    }
    text
}

fn signed(ms: i64) -> String {
    let sign = if ms < 0 { "-" } else { "" };
    format!("{sign}{}s", Seconds(ms.unsigned_abs()))
}

/// The text as a comment. A brace would end it early, and nothing can escape it.
fn braced(text: &str) -> String {
    format!("{{{}}}", text.replace('{', "(").replace('}', ")"))
}

/// The moves of a game, broken into lines.
struct Moves<'a> {
    style: &'a PgnStyle,
    out: String,
    width: usize,
    position: Position,
    /// That of the last position that has one.
    opening: Option<Opening>,
    /// How many moves may still lead to one.
    named: usize,
    number: u32,
    is_first: bool,
}

impl<'a> Moves<'a> {
    fn new(style: &'a PgnStyle, position: Position) -> Self {
        let text = position.to_string();
        let number = text.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(1);
        let opening = Opening::of(&position);
        let (out, named) = (String::new(), Opening::PLIES);
        Self { style, out, width: 0, position, opening, named, number, is_first: true }
    }

    fn play(&mut self, word: &str, comment: &str) -> Result<(), String> {
        let mv = self.position.parse_move(word).map_err(|error| error.to_string())?;
        let mut text = match (self.position.turn(), self.is_first) {
            (Side::First, _) => format!("{}. ", self.number),
            (Side::Second, true) => format!("{}... ", self.number),
            (Side::Second, false) => String::new(),
        };
        match self.style.moves {
            PgnMoves::San => text.push_str(&self.position.notation(mv, Notation::Western)),
            PgnMoves::Lan => text.push_str(&lan(&self.position.notation(mv, Notation::Long))),
            PgnMoves::Uci => text.push_str(&self.position.notation(mv, Notation::Word)),
        }
        if !self.style.min {
            text.push(' ');
            text.push_str(&braced(comment));
        }
        self.put(&text);
        self.number += u32::from(self.position.turn() == Side::Second);
        self.is_first = false;
        self.position.play(mv).map_err(|error| error.to_string())?;
        if let Some(named) = self.named.checked_sub(1) {
            self.named = named;
            self.opening = Opening::of(&self.position).or(self.opening);
        }
        Ok(())
    }

    fn put(&mut self, text: &str) {
        if self.width > 0 && self.width + 1 + text.len() > WIDTH {
            self.out.push('\n');
            self.width = 0;
        } else if self.width > 0 {
            self.out.push(' ');
            self.width += 1;
        }
        self.out.push_str(text);
        self.width += text.len();
    }

    fn finish(mut self, result: &str) -> String {
        self.put(result);
        self.out.push_str("\n\n");
        self.out
    }
}

/// A move without the hyphen between its squares, which castling has between other letters.
fn lan(long: &str) -> String {
    if long.starts_with('O') { long.to_owned() } else { long.replace('-', "") }
}
