//! Statistics of the moves of a position.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use readyok_library::{Key, Library, move_of};
use readyok_rules::record::{Condition, MoveLine, ResultCounts};
use readyok_rules::{Game, MoveError, Notation, Position};
use serde::Serialize;

use super::search::{Row, width};
use super::{failure, watched};
use crate::convert::grouped;
use crate::exit::{Code, Failure};

/// A position: a FEN, an SFEN, or moves from the start position in any notation.
pub(crate) fn parse_position(text: &str, game: Option<Game>) -> Result<Position, String> {
    let text = text.trim();
    let text = text.strip_prefix("sfen ").or_else(|| text.strip_prefix("fen ")).unwrap_or(text);
    let board = text.split_whitespace().next().unwrap_or_default();
    match board.matches('/').count() {
        0 => {
            let moves = if text == "startpos" { "" } else { text };
            let games = game.map_or_else(|| vec![Game::Chess, Game::Shogi], |game| vec![game]);
            let line = MoveLine::read(moves, &games);
            let failed = |error: MoveError| {
                format!("`{}` is neither a position nor a legal move", error.text)
            };
            line.map(|line| line.end().clone()).map_err(failed)
        }
        rows => {
            let by_rows = if rows == 8 { Game::Shogi } else { Game::Chess };
            let game = game.unwrap_or(by_rows);
            Position::from_text(game, text).map_err(|error| error.to_string())
        }
    }
}

#[derive(Serialize)]
struct Json {
    position: String,
    games: usize,
    #[serde(flatten)]
    results: Results,
    moves: Vec<JsonMove>,
    latest: Vec<Row>,
}

#[derive(Serialize)]
struct JsonMove {
    #[serde(rename = "move")]
    mv: String,
    text: String,
    games: u32,
    #[serde(flatten)]
    results: Results,
    /// For the side to move, in percent of the games with a result.
    score: Option<f64>,
    average_rating: Option<f64>,
    performance: Option<f64>,
    last_played: Option<String>,
    /// The latest game by number.
    game: u32,
}

/// Counts of results.
#[derive(Serialize)]
pub(super) struct Results {
    pub(super) first: u32,
    pub(super) draws: u32,
    pub(super) second: u32,
    pub(super) unknown: u32,
}

impl From<ResultCounts> for Results {
    fn from(counts: ResultCounts) -> Self {
        let ResultCounts { first, draws, second, unknown } = counts;
        Self { first, draws, second, unknown }
    }
}

/// One decimal.
fn rounded(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// Prints the moves of a position in the games that match.
pub(crate) fn print_explorer(
    library: &Library,
    position: &Position,
    condition: &Condition,
    is_json: bool,
) -> Result<Code, Failure> {
    let turn = position.turn();
    let key = Key::of(position.key());
    let found = watched(condition, |filter| library.explore(key, turn, filter))?;
    let latest = library.entries(&found.latest).map_err(failure)?;
    let moves: Vec<JsonMove> = found
        .moves
        .iter()
        .filter_map(|known| {
            // A posting of another position can have the same key.
            let mv = move_of(position, known.mv)?;
            let has_date = known.last_played.year().is_some();
            Some(JsonMove {
                mv: mv.to_uci(position.game().castling_form()),
                text: position.notation(mv, Notation::Western),
                games: known.counts.total(),
                results: known.counts.into(),
                score: known.counts.score(turn).map(|score| rounded(100.0 * score)),
                average_rating: known.rating.map(f64::round),
                performance: known.performance.map(f64::round),
                last_played: has_date.then(|| known.last_played.to_string()),
                game: known.game,
            })
        })
        .collect();
    let json = Json {
        position: position.to_string(),
        games: found.total,
        results: found.counts.into(),
        moves,
        latest: latest.into_iter().map(Row::new).collect(),
    };
    let text = if is_json {
        serde_json::to_string_pretty(&json).map_err(Failure::failed)? + "\n"
    } else {
        table(&json)
    };
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::failed(error)),
        _ => Ok(Code::Done),
    }
}

fn table(json: &Json) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{:<8} {:>9} {:>7}  {:>5} {:>5} {:>5}  {:>6} {:>6}  last",
        "move", "games", "score", "first", "draw", "2nd", "rating", "perf"
    );
    for found in &json.moves {
        let known = found.results.first + found.results.draws + found.results.second;
        let percent = |count: u32| match known {
            0 => String::new(),
            known => format!("{:.0}%", f64::from(count) * 100.0 / f64::from(known)),
        };
        let number = |value: Option<f64>| value.map(|it| format!("{it:.0}")).unwrap_or_default();
        let line = format!(
            "{:<8} {:>9} {:>7}  {:>5} {:>5} {:>5}  {:>6} {:>6}  {}",
            found.text,
            grouped(found.games.into()),
            found.score.map(|score| format!("{score:.1}%")).unwrap_or_default(),
            percent(found.results.first),
            percent(found.results.draws),
            percent(found.results.second),
            number(found.average_rating),
            number(found.performance),
            found.last_played.as_deref().unwrap_or_default(),
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let _ = writeln!(text, "\n{} games", grouped(json.games as u64));
    for row in &json.latest {
        let _ = writeln!(text, "{}", row.line(width()));
    }
    text
}
