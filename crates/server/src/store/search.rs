//! Searches of the library.

use readyok_library::Library;
use readyok_rules::record::{
    Condition, NumberRange, PlayerColor, PlayerCondition, PositionPattern, Tag, TextPattern,
};
use readyok_rules::{Game, GameResult, Position};

use super::{StoreError, listed};
use crate::app::storage;
use crate::errors::{illegal, invalid_position};
use crate::game::parse_move;
use crate::wire::{
    ApiError, ErrorCode, ErrorSubject, LabelCount, LibraryFilter, LibraryPage, LibraryQuery,
};

/// Default and maximum number of games on a page.
const PAGE: u32 = 50;
const MAX_PAGE: u32 = 200;
/// Maximum length of a text of a query.
const MAX_TEXT: usize = 4096;

/// A page of the games that match a query. It may take a while.
pub(crate) fn search(library: &Library, query: &LibraryQuery) -> Result<LibraryPage, ApiError> {
    let filter = filter_of(&query.filter)?;
    let limit = query.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
    let page = library.search(
        &filter,
        (query.sort, !query.ascending),
        query.offset as usize,
        limit as usize,
    );
    let page = page.map_err(failed)?;
    let labels = library.labels().map_err(failed)?;
    let undecided = library.undecided(0).map_err(failed)?.total;
    Ok(LibraryPage {
        games: page.games.into_iter().map(listed).collect(),
        total: u32::try_from(page.total).unwrap_or(u32::MAX),
        labels: labels.into_iter().map(|(label, games)| LabelCount { label, games }).collect(),
        undecided: u32::try_from(undecided).unwrap_or(u32::MAX),
    })
}

fn failed(error: readyok_library::Error) -> ApiError {
    storage(StoreError::Library(error))
}

/// The conditions of a query.
pub(crate) fn filter_of(query: &LibraryFilter) -> Result<Condition, ApiError> {
    let texts = [
        &query.player,
        &query.engine,
        &query.event,
        &query.result,
        &query.opening,
        &query.named,
        &query.position,
        &query.from,
        &query.until,
        &query.label,
    ];
    if texts.into_iter().flatten().any(|text| MAX_TEXT < text.len()) {
        let why = ErrorCode::TooLong { subject: ErrorSubject::Query };
        return Err(ApiError::invalid_request(why));
    }
    let text = |text: &Option<String>| {
        text.as_ref().map(|it| it.trim().to_owned()).filter(|it| !it.is_empty())
    };
    let pattern = |it: &Option<String>| text(it).map(|it| TextPattern::new(&it));
    let mut all: Vec<Condition> = Vec::new();
    if let Some(text) = text(&query.result) {
        let unknown = || ErrorCode::unknown(ErrorSubject::Result, &text);
        let result = GameResult::from_text(&text);
        all.push(Condition::Result(result.ok_or_else(|| ApiError::invalid_request(unknown()))?));
    }
    let days = [&query.from, &query.until].map(|day| text(day).unwrap_or_default());
    if days.iter().any(|day| !day.is_empty()) {
        let range = days.join("..").parse();
        let invalid = |_| ApiError::invalid_text(ErrorSubject::Query);
        all.push(Condition::Date(range.map_err(invalid)?));
    }
    // Without a variant a text can mean any game.
    let games = match query.variant {
        Some(variant) => vec![Game::from(variant)],
        None => vec![Game::Chess, Game::Chess960, Game::Shogi],
    };
    let mut reaches = |position: &Position| {
        let pattern = PositionPattern::with_key(position.game(), position.key());
        all.push(Condition::Position(pattern));
    };
    if let Some(opening) = text(&query.opening) {
        reaches(&in_any(&games, |game| line(game, &opening))?);
    }
    if let Some(text) = text(&query.position) {
        reaches(&in_any(&games, |game| {
            Position::from_text(game, &text).map_err(|error| (0, invalid_position(game, &error)))
        })?);
    }
    all.extend(query.variant.map(|variant| Condition::Game(variant.into())));
    all.extend(pattern(&query.player).map(|name| {
        let color = query.side.map(|side| PlayerColor::Side(side.into()));
        Condition::Player(PlayerCondition { name, color, ..PlayerCondition::default() })
    }));
    all.extend(pattern(&query.engine).map(Condition::Engine));
    all.extend(pattern(&query.event).map(|event| Condition::Tag(Tag::Event, event)));
    all.extend(pattern(&query.named).map(Condition::Opening));
    all.extend(
        query
            .min_rating
            .map(|min| Condition::ratings(NumberRange { min: min.into(), max: i64::MAX })),
    );
    all.extend(query.speed.map(Condition::Speed));
    all.extend(text(&query.label).map(Condition::Label));
    Ok(Condition::all(all))
}

/// The value of a text in the first game that can parse it. Otherwise the error of the game that has parsed the longest
/// part.
fn in_any<T>(
    games: &[Game],
    read: impl Fn(Game) -> Result<T, (usize, ApiError)>,
) -> Result<T, ApiError> {
    let mut failed: Option<(usize, ApiError)> = None;
    for &game in games {
        match read(game) {
            Ok(found) => return Ok(found),
            Err(error) => {
                if failed.as_ref().is_none_or(|before| before.0 < error.0) {
                    failed = Some(error);
                }
            }
        }
    }
    let invalid = || ApiError::invalid_text(ErrorSubject::Query);
    Err(failed.map_or_else(invalid, |(_, error)| error))
}

/// The position after moves from the start position of a game; otherwise the number of legal moves, and the error of
/// the next.
fn line(game: Game, text: &str) -> Result<Position, (usize, ApiError)> {
    let mut position = Position::start(game);
    let mut played = 0;
    for token in text.split_whitespace() {
        let token = without_number(token);
        if token.is_empty() {
            continue;
        }
        let mv = parse_move(&position, token).map_err(|error| (played, error))?;
        position.play(mv).map_err(|error| (played, illegal(&error)))?;
        played += 1;
    }
    Ok(position)
}

/// A move without the number before it: `1.e4`, `12...Nf6`, `3.`. The digits of `7g7f` are no number.
fn without_number(token: &str) -> &str {
    let rest = token.trim_start_matches(|letter: char| letter.is_ascii_digit());
    if rest.is_empty() {
        rest
    } else {
        rest.strip_prefix('.').map_or(token, |rest| rest.trim_start_matches('.'))
    }
}
