//! The formats of Lichess: games of an account as NDJSON, the explorer, the tablebases.
//!
//! Reference: <https://lichess.org/api>.

use readyok_rules::{Position, TablebaseCategory, TablebaseEnd};
use serde::Deserialize;

use super::client::{Answer, get};
use super::lines::Lines;
use super::{Access, OnlineError, OnlineGame};
use crate::game::position_view::move_text;
use crate::wire::{
    Explorer, ExplorerMove, LichessDatabase, LichessGame, ResultCounts, Sides, TablebaseMoveView,
    TablebaseView, Variant,
};

/// The earliest start of a game that the server accepts in a request.
const FIRST_GAME: u64 = 1_356_998_400_070;

/// Maximum size of an answer about a position, in bytes.
const MAX_ANSWER: usize = 1 << 20;

/// Number of moves and games that are requested from the explorer.
const MOVES: u32 = 20;
const GAMES: u32 = 4;

/// Maximum number of pieces of a position with a table.
pub(crate) const MAX_PIECES: usize = 7;

/// Requests the games of an account since a Unix time in milliseconds, the oldest first.
pub(crate) async fn games(
    access: &Access,
    name: &str,
    since: Option<u64>,
) -> Result<Lines, OnlineError> {
    let since = since.map(|since| format!("&since={}", since.max(FIRST_GAME))).unwrap_or_default();
    // Games in progress are not imported, but the next import has to return to them.
    let path = format!(
        "/api/games/user/{name}?sort=dateAsc&ongoing=true&pgnInJson=true&clocks=true&evals=true&opening=true{since}"
    );
    Ok(Lines::new(get(access, &path, "application/x-ndjson", None).await?))
}

/// A line of the games of an account.
#[derive(Debug, PartialEq)]
pub(crate) enum Entry {
    Game(OnlineGame),
    /// The game that began at this time is in progress.
    InProgress(u64),
    /// A game without moves that was aborted.
    Aborted,
    /// A game of another variant.
    OtherVariant(u64),
}

/// Reads a line. None if it is malformed.
pub(crate) fn read_game(line: &[u8]) -> Option<Entry> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Game {
        id: String,
        variant: String,
        status: String,
        created_at: u64,
        pgn: Option<String>,
    }
    let Game { id, variant, status, created_at, pgn } = serde_json::from_slice(line).ok()?;
    match status.as_str() {
        "created" | "started" => return Some(Entry::InProgress(created_at)),
        "aborted" => return Some(Entry::Aborted),
        _ => (),
    }
    if !["standard", "chess960", "fromPosition"].contains(&variant.as_str()) {
        return Some(Entry::OtherVariant(created_at));
    }
    let is_id = id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let address = is_id.then(|| format!("https://lichess.org/{id}"))?;
    Some(Entry::Game(OnlineGame { address, tag: "Site", pgn: pgn?, time: created_at }))
}

/// The position as a parameter.
fn fen(position: &Position) -> String {
    position.to_string().replace(' ', "%20")
}

async fn read<T: for<'a> Deserialize<'a>>(answer: Answer) -> Result<T, OnlineError> {
    let service = answer.service();
    let content = answer.content(MAX_ANSWER).await?;
    serde_json::from_slice(&content).map_err(|_| OnlineError::Malformed(service))
}

/// The moves of a position in a database.
pub(crate) async fn explore(
    access: &Access,
    position: &Position,
    database: LichessDatabase,
) -> Result<Explorer, OnlineError> {
    let fen = fen(position);
    let path = match database {
        LichessDatabase::Masters => format!("/masters?fen={fen}&moves={MOVES}&topGames={GAMES}"),
        LichessDatabase::Players => {
            let variant = match position.game() {
                Variant::Chess960 => "chess960",
                Variant::Chess | Variant::Shogi => "standard",
            };
            format!(
                "/lichess?variant={variant}&fen={fen}&moves={MOVES}&topGames=0&recentGames={GAMES}"
            )
        }
    };
    let found = read(get(access, &path, "application/json", None).await?).await?;
    Ok(explorer(position, database, found))
}

/// Numbers of games.
#[derive(Deserialize)]
struct Results {
    white: u64,
    draws: u64,
    black: u64,
}

impl Results {
    fn counts(&self) -> ResultCounts {
        let [first, draws, second] = [self.white, self.draws, self.black]
            .map(|count| u32::try_from(count).unwrap_or(u32::MAX));
        ResultCounts { first, draws, second, unknown: 0 }
    }
}

#[derive(Deserialize)]
struct FoundMove {
    uci: String,
    #[serde(flatten)]
    results: Results,
    #[serde(rename = "averageRating")]
    rating: Option<f64>,
}

#[derive(Deserialize)]
struct FoundPlayer {
    name: String,
    rating: Option<u16>,
}

#[derive(Deserialize)]
struct FoundGame {
    id: String,
    winner: Option<String>,
    white: FoundPlayer,
    black: FoundPlayer,
    year: Option<u16>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Found {
    #[serde(flatten)]
    results: Results,
    moves: Vec<FoundMove>,
    #[serde(default)]
    top_games: Vec<FoundGame>,
    #[serde(default)]
    recent_games: Vec<FoundGame>,
}

fn explorer(position: &Position, database: LichessDatabase, found: Found) -> Explorer {
    let moves = found.moves.into_iter().filter_map(|entry| {
        let mv = position.parse_move(&entry.uci).ok()?;
        Some(ExplorerMove {
            uci: mv.to_uci(position.game().castling_form()),
            text: move_text(position, mv),
            counts: entry.results.counts(),
            rating: entry.rating.filter(|rating| 0.0 < *rating),
            performance: None,
            last_played: None,
        })
    });
    let games = found.top_games.into_iter().chain(found.recent_games);
    let games = games.filter(|game| game.id.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    let games = games.take(GAMES as usize).map(|game| LichessGame {
        address: match database {
            LichessDatabase::Masters => {
                format!("https://lichess.org/import/master/{}/white", game.id)
            }
            LichessDatabase::Players => format!("https://lichess.org/{}", game.id),
        },
        ratings: Sides { first: game.white.rating, second: game.black.rating },
        names: Sides { first: game.white.name, second: game.black.name },
        result: match game.winner.as_deref() {
            Some("white") => "1-0",
            Some("black") => "0-1",
            _ => "1/2-1/2",
        }
        .to_owned(),
        year: game.year,
    });
    Explorer::Lichess {
        counts: found.results.counts(),
        moves: moves.take(MOVES as usize).collect(),
        games: games.collect(),
    }
}

/// The values of a position of at most [`MAX_PIECES`] pieces, and of its moves.
pub(crate) async fn probe(
    access: &Access,
    position: &Position,
) -> Result<TablebaseView, OnlineError> {
    let path = format!("/standard?fen={}", fen(position));
    let found = read(get(access, &path, "application/json", None).await?).await?;
    Ok(tablebase(position, found))
}

#[derive(Deserialize)]
struct FoundValue {
    category: String,
    dtz: Option<i32>,
    #[serde(default)]
    checkmate: bool,
    #[serde(default)]
    stalemate: bool,
    #[serde(default)]
    insufficient_material: bool,
}

impl FoundValue {
    fn category(&self) -> Option<TablebaseCategory> {
        Some(match self.category.as_str() {
            "win" => TablebaseCategory::Win,
            "syzygy-win" | "maybe-win" => TablebaseCategory::MaybeWin,
            "cursed-win" => TablebaseCategory::CursedWin,
            "draw" => TablebaseCategory::Draw,
            "blessed-loss" => TablebaseCategory::BlessedLoss,
            "syzygy-loss" | "maybe-loss" => TablebaseCategory::MaybeLoss,
            "loss" => TablebaseCategory::Loss,
            _ => return None,
        })
    }

    fn end(&self) -> Option<TablebaseEnd> {
        match self {
            Self { checkmate: true, .. } => Some(TablebaseEnd::Checkmate),
            Self { stalemate: true, .. } => Some(TablebaseEnd::Stalemate),
            Self { insufficient_material: true, .. } => Some(TablebaseEnd::InsufficientMaterial),
            Self { .. } => None,
        }
    }
}

#[derive(Deserialize)]
struct RatedMove {
    uci: String,
    #[serde(flatten)]
    value: FoundValue,
    #[serde(default)]
    zeroing: bool,
}

#[derive(Deserialize)]
struct Probed {
    #[serde(flatten)]
    value: FoundValue,
    moves: Vec<RatedMove>,
}

fn tablebase(position: &Position, probed: Probed) -> TablebaseView {
    // The values of moves are those of the positions after them, for the other side.
    let moves = probed.moves.into_iter().filter_map(|entry| {
        let mv = position.parse_move(&entry.uci).ok()?;
        let end = entry.value.end();
        Some(TablebaseMoveView {
            uci: mv.to_uci(position.game().castling_form()),
            text: move_text(position, mv),
            category: entry.value.category().map(TablebaseCategory::reversed),
            dtz: if end.is_some() { Some(0) } else { entry.value.dtz.map(i32::wrapping_neg) },
            zeroing: entry.zeroing,
            end,
        })
    });
    let value = probed.value;
    TablebaseView {
        category: value.category(),
        dtz: value.dtz,
        end: value.end(),
        moves: moves.collect(),
        online: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the documentation of the API, shortened.
    const GAME: &str = r#"{"id":"nfjOkkBQ","rated":false,"variant":"standard","speed":"bullet","perf":"bullet","createdAt":1783377244194,"lastMoveAt":1783377361082,"status":"resign","source":"friend","players":{"white":{"user":{"name":"Lance5500","title":"LM","id":"lance5500"},"rating":2813},"black":{"user":{"name":"cherrywall","id":"cherrywall"},"rating":2330}},"winner":"white","moves":"e3 d5","pgn":"1. e3 d5 1-0","clock":{"initial":60,"increment":0,"totalTime":60}}"#;

    #[test]
    fn lines_are_games_of_chess_that_are_over() {
        let game = OnlineGame {
            address: "https://lichess.org/nfjOkkBQ".to_owned(),
            tag: "Site",
            pgn: "1. e3 d5 1-0".to_owned(),
            time: 1_783_377_244_194,
        };
        let time = game.time;
        let read = |text: String| read_game(text.as_bytes());
        assert_eq!(read(GAME.to_owned()), Some(Entry::Game(game)));
        for (from, to, expected) in [
            ("resign", "started", Some(Entry::InProgress(time))),
            ("resign", "aborted", Some(Entry::Aborted)),
            ("standard", "atomic", Some(Entry::OtherVariant(time))),
            ("nfjOkkBQ", "../../ab", None),
            ("\"pgn\"", "\"text\"", None),
            ("{", "[", None),
        ] {
            assert_eq!(read(GAME.replacen(from, to, 1)), expected, "{to}");
        }
    }

    fn position(text: &str) -> Position {
        Position::from_text(Variant::Chess, text).expect("a position")
    }

    /// The example of the documentation of the API, shortened.
    #[test]
    fn values_of_moves_are_those_of_the_side_that_plays_them() {
        let text = r#"{"checkmate":false,"stalemate":false,"variant_win":false,"variant_loss":false,"insufficient_material":false,"dtz":1,"precise_dtz":1,"dtm":17,"dtw":null,"dtc":null,"category":"win","moves":[{"uci":"h7h8q","san":"h8=Q+","zeroing":true,"conversion":true,"checkmate":false,"stalemate":false,"variant_win":false,"variant_loss":false,"insufficient_material":false,"dtz":-2,"precise_dtz":-2,"dtm":-16,"dtw":null,"dtc":null,"category":"loss"},{"uci":"g7f6","san":"Kf6","category":"win","dtz":1},{"uci":"a1a2","san":"Ra2","category":"loss"}]}"#;
        let found = serde_json::from_str(text).expect("it is read");
        let view = tablebase(&position("4k3/6KP/8/8/8/8/7p/8 w - - 0 1"), found);
        assert_eq!((view.category, view.dtz), (Some(TablebaseCategory::Win), Some(1)));
        let moves: Vec<_> =
            view.moves.iter().map(|mv| (mv.uci.as_str(), mv.category, mv.dtz)).collect();
        let (win, loss) = (Some(TablebaseCategory::Win), Some(TablebaseCategory::Loss));
        assert_eq!(moves, [("h7h8q", win, Some(2)), ("g7f6", loss, Some(-1))]);
        assert!(view.moves[0].zeroing);
    }

    /// The example of the documentation of the API, shortened. A move that is illegal is dropped.
    #[test]
    fn moves_of_the_explorer_are_legal() {
        let text = r#"{"white":1927,"draws":5215,"black":1469,"moves":[{"uci":"c6d5","san":"cxd5","averageRating":2412,"white":1927,"draws":5215,"black":1468,"game":null,"opening":null},{"uci":"a1a8","san":"Ra8","averageRating":0,"white":0,"draws":0,"black":1,"game":null,"opening":null}],"topGames":[{"uci":"c6d5","id":"kN6d9l2i","winner":"black","black":{"name":"Anand, V.","rating":2785},"white":{"name":"Carlsen, M.","rating":2881},"year":2014,"month":"2014-06"}],"opening":null}"#;
        let found = serde_json::from_str(text).expect("it is read");
        let fen = "rnbqkbnr/pp2pppp/2p5/3P4/3P4/8/PP2PPPP/RNBQKBNR b KQkq - 0 3";
        let Explorer::Lichess { counts, moves, games } =
            explorer(&position(fen), LichessDatabase::Masters, found)
        else {
            panic!("it is of Lichess");
        };
        assert_eq!((counts.first, counts.draws, counts.second), (1927, 5215, 1469));
        let moves: Vec<&str> = moves.iter().map(|mv| mv.uci.as_str()).collect();
        assert_eq!(moves, ["c6d5"]);
        assert_eq!((games[0].result.as_str(), games[0].year), ("0-1", Some(2014)));
        assert_eq!(games[0].names.first, "Carlsen, M.");
    }
}
