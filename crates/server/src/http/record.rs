//! Games out of files and into files.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequest, Path, Query, Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use readyok_rules::record::{Encoding, Format, write_encoded};
use readyok_rules::{FenForm, Game, Position};
use serde::Deserialize;

use super::Service;
use super::rest::rejected;
use crate::app::{Batch, row_of};
use crate::game::{ROOT, Tree, write_error};
use crate::import::read_each;
use crate::time::now;
use crate::wire::{
    ApiError, ErrorCategory, ErrorCode, GameId, Imported, LibraryGame, RecordFormat,
};

/// Maximum number of imported games in a response.
const MAX_REPORTED: usize = 1000;

#[derive(Deserialize)]
pub(super) struct Upload {
    #[serde(default)]
    name: String,
    #[serde(default)]
    open: bool,
}

/// Reads a file and keeps its games.
pub(super) async fn import(
    State(service): State<Service>,
    Query(upload): Query<Upload>,
    request: Request,
) -> Response {
    // Before a byte of it is taken: each may be large.
    let Ok(permit) = service.uploads.try_acquire_owned() else {
        return rejected(ApiError::conflict(ErrorCode::TooManyImports));
    };
    let body = match Bytes::from_request(request, &()).await {
        Ok(body) => body,
        Err(error) => return error.into_response(),
    };
    let app = service.app;
    let done = tokio::task::spawn_blocking(move || {
        // It is read even if the client has disconnected.
        let _permit = permit;
        let mut imported = Imported::default();
        let mut save_error = None;
        let mut batch = Batch::default();
        let mut keep = |batch: &mut Batch, imported: &mut Imported| {
            let (games, error) = app.import(batch.take());
            imported.take(games);
            save_error = error;
            save_error.is_none()
        };
        let mut unopened = None;
        let faults = read_each(&upload.name, &body, |tree| {
            if upload.open && imported.opened.is_none() {
                return match app.import_open(tree) {
                    Ok(game) => {
                        imported.opened = Some(game.id);
                        imported.take(vec![game]);
                        true
                    }
                    Err(error) => {
                        unopened = Some(error);
                        false
                    }
                };
            }
            match row_of(tree, now()) {
                Ok(row) => !batch.push(row) || keep(&mut batch, &mut imported),
                Err(error) => {
                    unopened = Some(error);
                    false
                }
            }
        });
        if !batch.is_empty() {
            keep(&mut batch, &mut imported);
        }
        imported.errors = faults.errors;
        imported.errors.extend(save_error.or(unopened).map(Into::into));
        imported.warnings = faults.warnings;
        imported
    });
    match done.await {
        Ok(imported) => Json(imported).into_response(),
        Err(_) => rejected(ApiError::new(ErrorCategory::InvalidRecord, ErrorCode::Unreadable)),
    }
}

impl Imported {
    /// Counts games that were added, and reports the first ones.
    fn take(&mut self, games: Vec<LibraryGame>) {
        self.total += u32::try_from(games.len()).unwrap_or(u32::MAX);
        let room = MAX_REPORTED.saturating_sub(self.games.len());
        self.games.extend(games.into_iter().take(room));
    }
}

#[derive(Deserialize)]
pub(super) struct Wanted {
    format: RecordFormat,
    encoding: Option<String>,
}

/// Writes a game.
pub(super) async fn export(
    State(service): State<Service>,
    Path(game): Path<GameId>,
    Query(wanted): Query<Wanted>,
) -> Response {
    let (tree, cursor) = match service.app.tree_of(game).await {
        Ok(found) => found,
        Err(error) => return rejected(error),
    };
    let encoding = wanted.encoding.as_deref().and_then(Encoding::from_name).unwrap_or_default();
    match written(&tree, cursor, wanted.format, encoding) {
        Ok(bytes) => {
            let kind = format!("text/plain; charset={}", encoding.name().to_ascii_lowercase());
            ([(header::CONTENT_TYPE, kind)], bytes).into_response()
        }
        Err(error) => rejected(error),
    }
}

fn written(
    tree: &Tree,
    cursor: u32,
    format: RecordFormat,
    encoding: Encoding,
) -> Result<Vec<u8>, ApiError> {
    let format = match format {
        RecordFormat::Pgn => Format::Pgn,
        RecordFormat::Kif => Format::Kif,
        RecordFormat::Ki2 => Format::Ki2,
        RecordFormat::Csa => Format::Csa,
        RecordFormat::Jkf => Format::Jkf,
        RecordFormat::Position => {
            let position = tree.position(cursor);
            let text = position.map(|position| position.text(FenForm::default()));
            return Ok((text.unwrap_or_default() + "\n").into_bytes());
        }
        RecordFormat::Epd => {
            let mut position = tree.start().clone();
            let mut text = format!("{position}\n");
            let last = tree.main_line().last().copied().unwrap_or(ROOT);
            for mv in tree.moves_to(last) {
                if position.play(mv).is_err() {
                    break;
                }
                text.push_str(&position.text(FenForm::default()));
                text.push('\n');
            }
            return Ok(text.into_bytes());
        }
        RecordFormat::Line => {
            let keyword = if tree.game() == Game::Shogi { "sfen" } else { "fen" };
            let start = tree.start().to_string();
            let form = tree.game().castling_form();
            let moves: Vec<String> =
                tree.moves_to(cursor).into_iter().map(|mv| mv.to_uci(form)).collect();
            let mut line = if tree.game() != Game::Chess960
                && start == Position::start(tree.game()).to_string()
            {
                "position startpos".to_owned()
            } else {
                format!("position {keyword} {start}")
            };
            if !moves.is_empty() {
                line.push_str(" moves ");
                line.push_str(&moves.join(" "));
            }
            line.push('\n');
            return Ok(line.into_bytes());
        }
    };
    let mut bytes = Vec::new();
    write_encoded(&tree.to_record(), format, encoding, &mut bytes)
        .map_err(|error| write_error(&error))?;
    Ok(bytes)
}
