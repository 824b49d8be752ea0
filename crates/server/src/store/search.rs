//! Searches of the library.

use readyok_library::{Filter, Library, Watch};
use readyok_rules::record::{
    BoardPattern, Condition, FilterError, MoveLine, NumberRange, PlayerColor, PlayerCondition, Tag,
    TextPattern,
};
use readyok_rules::{Game, GameResult, Position};

use super::storage;
use super::{StoreError, listed};
use crate::errors::{illegal, invalid_position};
use crate::wire::{
    ApiError, ErrorCode, ErrorSubject, LabelCount, LibraryFilter, LibraryPage, LibraryQuery,
};

/// Default and maximum number of games on a page.
const PAGE: u32 = 50;
const MAX_PAGE: u32 = 200;
/// Maximum length of a text of a query.
const MAX_TEXT: usize = 4096;

/// A page of the games that match a query. It may take a while.
pub(crate) fn search(
    library: &Library,
    query: &LibraryQuery,
    watch: &Watch<'_>,
) -> Result<LibraryPage, ApiError> {
    let condition = filter_of(&query.filter)?;
    let limit = query.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
    let page = library.search(
        Filter::watched(&condition, watch),
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
        &query.text,
        &query.player,
        &query.engine,
        &query.event,
        &query.result,
        &query.opening,
        &query.named,
        &query.position,
        &query.pattern,
        &query.from,
        &query.until,
        &query.label,
    ];
    if texts.into_iter().flatten().any(|text| MAX_TEXT < text.len()) {
        let why = ErrorCode::TooLong { subject: ErrorSubject::Query };
        return Err(ApiError::invalid_request(why));
    }
    let text = |text: &Option<String>| {
        text.as_ref().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let pattern = |option: &Option<String>| text(option).map(|option| TextPattern::new(&option));
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
        Some(variant) => vec![variant],
        None => vec![Game::Chess, Game::Chess960, Game::Shogi],
    };
    all.extend(text(&query.text).map(|text| anything(&text, &games)));
    if let Some(opening) = text(&query.opening) {
        let line = MoveLine::read(&opening, &games).map_err(|error| illegal(&error))?;
        all.push(Condition::reaches(line.end()));
    }
    if let Some(text) = text(&query.position) {
        let can_read = |game: &&Game| Position::from_text(**game, &text).is_ok();
        let game = games.iter().find(can_read).or_else(|| games.first());
        let game = game.copied().unwrap_or(Game::Chess);
        let position = Position::from_text(game, &text);
        let position = position.map_err(|error| invalid_position(game, &error))?;
        all.push(Condition::reaches(&position));
    }
    if let Some(text) = text(&query.pattern) {
        let read = BoardPattern::read(&text, query.variant);
        all.push(Condition::Pattern(read.map_err(invalid_pattern)?));
    }
    all.extend(query.variant.map(Condition::Game));
    all.extend(pattern(&query.player).map(|name| {
        let color = query.side.map(PlayerColor::Side);
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
    all.extend(query.source.map(Condition::Source));
    Ok(Condition::all(all))
}

fn invalid_pattern(error: FilterError) -> ApiError {
    match error {
        FilterError::Pattern(defect) => ApiError::invalid_request(ErrorCode::Pattern(defect)),
        _ => ApiError::invalid_text(ErrorSubject::Query),
    }
}

/// A condition from the search field: a position, moves from the start, or part of a name of a player, an opening or an
/// event.
fn anything(text: &str, games: &[Game]) -> Condition {
    let mut positions = games.iter().filter_map(|game| Position::from_text(*game, text).ok());
    if let Some(position) = positions.next() {
        return Condition::reaches(&position);
    }
    // A name such as `e` is no move.
    let line = text.contains(|c: char| c.is_numeric()).then(|| MoveLine::read(text, games).ok());
    if let Some(line) = line.flatten() {
        return Condition::reaches(line.end());
    }
    let pattern = || TextPattern::new(text);
    let player = PlayerCondition { name: pattern(), ..PlayerCondition::default() };
    Condition::Any(vec![
        Condition::Player(player),
        Condition::Opening(pattern()),
        Condition::Tag(Tag::Event, pattern()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_field_reads_positions_moves_and_names() {
        let games = [Game::Chess, Game::Chess960, Game::Shogi];
        // Conditions have no equality.
        let of = |text| format!("{:?}", anything(text, &games));
        let reaches = |moves| {
            let line = MoveLine::read(moves, &games).expect("moves");
            format!("{:?}", Condition::reaches(line.end()))
        };
        assert_eq!(of("1. e4 c5"), reaches("e2e4 c7c5"));
        assert_eq!(of("▲７六歩"), reaches("7g7f"));
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let position = Position::from_text(Game::Chess, start).expect("a position");
        assert_eq!(of(start), format!("{:?}", Condition::reaches(&position)));
        for name in ["Carlsen", "Stockfish 15", "e", "B90", "王将戦 第1局"] {
            assert!(
                matches!(anything(name, &games), Condition::Any(all) if all.len() == 3),
                "{name}"
            );
        }
    }
}
