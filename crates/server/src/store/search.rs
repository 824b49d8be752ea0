//! Searches of the library.

use readyok_library::{Column, Date, Filter, Key, Library, Speed};
use readyok_rules::{Game, GameResult, Position};

use super::{StoreError, listed};
use crate::app::storage;
use crate::errors::{illegal, invalid_position};
use crate::game::parse_move;
use crate::wire::{
    self, ApiError, ErrorCode, ErrorSubject, LabelCount, LibraryColumn, LibraryFilter, LibraryPage,
    LibraryQuery,
};

/// Default and maximum number of games on a page.
const PAGE: u32 = 50;
const MAX_PAGE: u32 = 200;
/// Maximum length of a text of a query.
const MAX_TEXT: usize = 4096;

/// A page of the games that match a query. It may take a while.
pub(crate) fn search(library: &Library, query: &LibraryQuery) -> Result<LibraryPage, ApiError> {
    let filter = filter_of(&query.filter)?;
    let column = match query.sort {
        LibraryColumn::Changed => Column::Changed,
        LibraryColumn::Added => Column::Added,
        LibraryColumn::Date => Column::Date,
        LibraryColumn::First => Column::First,
        LibraryColumn::Second => Column::Second,
        LibraryColumn::Rating => Column::Rating,
        LibraryColumn::Result => Column::Result,
        LibraryColumn::Plies => Column::Plies,
        LibraryColumn::Event => Column::Event,
        LibraryColumn::Opening => Column::Opening,
    };
    let limit = query.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
    let page =
        library.search(&filter, (column, !query.ascending), query.offset as usize, limit as usize);
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
pub(crate) fn filter_of(query: &LibraryFilter) -> Result<Filter, ApiError> {
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
    let result = text(&query.result).map(|text| {
        let unknown = || ErrorCode::unknown(ErrorSubject::Result, &text);
        GameResult::from_text(&text).ok_or_else(|| ApiError::invalid_request(unknown()))
    });
    let day = |day: &Option<String>| text(day).map(|it| Date::parse(&it));
    // Without a variant a text can mean any game.
    let games = match query.variant {
        Some(variant) => vec![Game::from(variant)],
        None => vec![Game::Chess, Game::Chess960, Game::Shogi],
    };
    let mut positions = Vec::new();
    if let Some(opening) = text(&query.opening) {
        positions.push(in_any(&games, |game| line(game, &opening))?);
    }
    if let Some(text) = text(&query.position) {
        positions.push(in_any(&games, |game| {
            Position::from_text(game, &text).map_err(|error| (0, invalid_position(game, &error)))
        })?);
    }
    Ok(Filter {
        variant: query.variant.map(Game::from),
        player: text(&query.player),
        side: query.side.map(Into::into),
        engine: text(&query.engine),
        event: text(&query.event),
        result: result.transpose()?,
        opening: text(&query.named),
        rating: query.min_rating.map(|min| (min, u16::MAX)),
        speed: query.speed.map(|speed| match speed {
            wire::Speed::Bullet => Speed::Bullet,
            wire::Speed::Blitz => Speed::Blitz,
            wire::Speed::Rapid => Speed::Rapid,
            wire::Speed::Classical => Speed::Classical,
            wire::Speed::Correspondence => Speed::Correspondence,
        }),
        from: day(&query.from),
        until: day(&query.until),
        positions: positions.iter().map(|it| Key::of(it.key())).collect(),
        label: text(&query.label),
        ..Filter::default()
    })
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
