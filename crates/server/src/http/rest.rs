//! The small JSON of `/api`.

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use readyok_protocol::Language;
use readyok_rules::{Handicap, Move, Position, Setup};
use serde::{Deserialize, Serialize};

use super::Service;
use crate::game::position_view::position_view;
use crate::game::{illegal, parse_move, passed, read_start};
use crate::store::SearchError;
use crate::wire::{
    ApiError, Choices, ErrorCategory, ErrorCode, ErrorSubject, HandicapChoice, LibraryQuery,
    NagChoice, PositionCheck, ProcessId, Start, Variant,
};

/// Maximum number of moves of a threat.
const MAX_THREAT: usize = 1000;

/// The body of a failed request: the error, and its English text for programs without the dictionaries.
#[derive(Serialize)]
struct ErrorBody {
    message: String,
    #[serde(flatten)]
    error: ApiError,
}

pub(super) fn error_response(status: StatusCode, error: ApiError) -> Response {
    (status, Json(ErrorBody { message: error.error.to_string(), error })).into_response()
}

pub(super) fn rejected(error: ApiError) -> Response {
    let status = match error.category {
        ErrorCategory::NotFound => StatusCode::NOT_FOUND,
        ErrorCategory::Storage => StatusCode::INTERNAL_SERVER_ERROR,
        ErrorCategory::Limit => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCategory::Conflict => StatusCode::CONFLICT,
        ErrorCategory::InvalidPath => StatusCode::FORBIDDEN,
        ErrorCategory::InvalidRequest
        | ErrorCategory::IllegalMove
        | ErrorCategory::AmbiguousMove
        | ErrorCategory::InvalidPosition
        | ErrorCategory::InvalidRecord
        | ErrorCategory::Engine => StatusCode::BAD_REQUEST,
    };
    error_response(status, error)
}

/// The signs of moves, by their numbers in PGN.
const NAGS: [(u8, &str); 20] = [
    (1, "!"),
    (2, "?"),
    (3, "!!"),
    (4, "??"),
    (5, "!?"),
    (6, "?!"),
    (7, "□"),
    (10, "="),
    (13, "∞"),
    (14, "⩲"),
    (15, "⩱"),
    (16, "±"),
    (17, "∓"),
    (18, "+−"),
    (19, "−+"),
    (22, "⨀"),
    (32, "⟳"),
    (36, "→"),
    (40, "↑"),
    (132, "⇆"),
];

pub(super) async fn choices() -> Json<Choices> {
    let handicaps = Handicap::ALL.iter().map(|handicap| HandicapChoice {
        name: handicap.name().to_owned(),
        japanese: handicap.japanese().to_owned(),
        sfen: Setup::handicap(*handicap).text(readyok_rules::FenForm::default()),
    });
    let nags = NAGS.iter().map(|(nag, sign)| NagChoice { nag: *nag, sign: (*sign).to_owned() });
    Json(Choices { handicaps: handicaps.collect(), nags: nags.collect() })
}

/// A position of the editor.
#[derive(Deserialize)]
pub(super) struct Edited {
    variant: Variant,
    text: String,
    /// Moves that follow after the side to move has passed.
    #[serde(default)]
    threat: Option<Vec<String>>,
}

pub(super) async fn position(Json(edited): Json<Edited>) -> Json<PositionCheck> {
    let Edited { variant, text, threat } = edited;
    let setup = Setup::read(variant.into(), &text).ok();
    let setup = setup.map(|setup| setup.text(readyok_rules::FenForm::default()));
    let nothing = PositionCheck { position: None, text: setup, error: None, squares: Vec::new() };
    let read = read_start(variant, &Start::Text { text }, 0).and_then(|(mut position, moves)| {
        let mut last = play(&mut position, &moves)?;
        if let Some(moves) = threat {
            if MAX_THREAT < moves.len() {
                return Err(ApiError::too_many(ErrorSubject::Move));
            }
            position = passed(&position)
                .ok_or_else(|| ApiError::conflict(ErrorCode::NullMoveNotAllowed))?;
            last = play(&mut position, &moves)?.or(last);
        }
        Ok(position_view(&position, last))
    });
    Json(match read {
        Ok(view) => {
            PositionCheck { text: Some(view.text.clone()), position: Some(view), ..nothing }
        }
        Err(error) => PositionCheck { error: Some(error.into()), ..nothing },
    })
}

/// Plays moves. Returns the last one.
fn play(position: &mut Position, moves: &[String]) -> Result<Option<Move>, ApiError> {
    let mut last = None;
    for text in moves {
        let mv = parse_move(position, text)?;
        position.play(mv).map_err(|error| illegal(&error))?;
        last = Some(mv);
    }
    Ok(last)
}

/// The language in which the page is shown.
#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Shown {
    #[default]
    En,
    Ja,
}

#[derive(Deserialize)]
pub(super) struct LogQuery {
    #[serde(default)]
    language: Shown,
}

pub(super) async fn log(
    State(service): State<Service>,
    Path(process): Path<ProcessId>,
    Query(LogQuery { language }): Query<LogQuery>,
) -> Response {
    let language = match language {
        Shown::En => Language::English,
        Shown::Ja => Language::Japanese,
    };
    let Some(text) = service.app.log_text(process, language) else {
        return rejected(ApiError::not_found(ErrorSubject::Process, process));
    };
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
}

fn storage_error(error: &impl ToString) -> ApiError {
    ApiError::storage(ErrorCode::system(error))
}

pub(super) async fn engines(State(service): State<Service>) -> Response {
    let written = service.app.engines_toml();
    match written {
        Ok(text) => ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response(),
        Err(error) => rejected(storage_error(&error)),
    }
}

pub(super) async fn search(
    State(service): State<Service>,
    Json(query): Json<LibraryQuery>,
) -> Response {
    let library = service.library.clone();
    match tokio::task::spawn_blocking(move || library.search(&query)).await {
        Ok(Ok(page)) => Json(page).into_response(),
        Ok(Err(SearchError::Query(error))) => rejected(error),
        Ok(Err(SearchError::Store(error))) => rejected(storage_error(&error)),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
