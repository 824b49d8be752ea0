//! Exports of one or many games.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{self, Query, State};
use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};
use readyok_library::StoredGame;
use readyok_rules::record::{Encoding, Format, GameRecord, Merge, write_encoded};
use readyok_rules::{FenForm, Game, Position};
use serde::Deserialize;
use tokio::sync::mpsc;

use super::Service;
use crate::errors::write_error;
use crate::game::{EngineLine, ROOT, Tree, no_node};
use crate::wire::{ApiError, ErrorSubject, GameId, NodeId, RecordFormat, Selection};

/// Maximum number of parts that wait to be sent.
const WAITING_PARTS: usize = 8;

#[derive(Deserialize)]
pub(super) struct Wanted {
    format: RecordFormat,
    encoding: Option<String>,
    /// Of a position; by default that of the latest navigation.
    node: Option<NodeId>,
    /// Whether the record has what engines found. The author's values win.
    #[serde(default)]
    engine: bool,
}

/// Exports a game.
pub(super) async fn export(
    State(service): State<Service>,
    extract::Path(game): extract::Path<GameId>,
    Query(wanted): Query<Wanted>,
) -> Result<Response, ApiError> {
    let (tree, cursor) = service.app.tree_of(game).await?;
    let encoding = wanted.encoding.as_deref().and_then(Encoding::from_name).unwrap_or_default();
    let node = wanted.node.unwrap_or(cursor);
    let bytes = match wanted.format {
        RecordFormat::Record(format) if wanted.engine => {
            let merged = tree.document().to_record(Merge::of(format));
            record_written(&merged, format, encoding)
        }
        _ => written(&tree, node, wanted.format, encoding),
    };
    let kind = wanted.format.content_type(encoding);
    Ok(([(header::CONTENT_TYPE, kind)], bytes?).into_response())
}

/// Games to export.
#[derive(Deserialize)]
pub(super) struct WantedGames {
    /// A [`Selection`] as JSON.
    of: String,
    format: RecordFormat,
    encoding: Option<String>,
    /// Whether the records have what engines found. The author's values win.
    #[serde(default)]
    engine: bool,
}

/// Exports any number of games, which are sent while they are read. Games that the format cannot represent are
/// omitted; their number is asked for with that of the export, which the header has.
pub(super) async fn export_games(
    State(service): State<Service>,
    Query(wanted): Query<WantedGames>,
) -> Result<Response, ApiError> {
    let selection = serde_json::from_str::<Selection>(&wanted.of);
    let selection = selection.map_err(|_| ApiError::invalid_text(ErrorSubject::Query))?;
    let games = service.app.select_named(selection).await?;
    // The numbers of a list or a match do not include changes of open games.
    service.app.write_open_games().await;
    let library = service.app.library()?;
    let mut drafts = service.app.drafts();
    let export = service.app.exports.begin();
    let app = Arc::clone(&service.app);
    let encoding = wanted.encoding.as_deref().and_then(Encoding::from_name).unwrap_or_default();
    let format = wanted.format;
    let (sender, mut receiver) = mpsc::channel::<io::Result<Bytes>>(WAITING_PARTS);
    tokio::task::spawn_blocking(move || {
        let mut part = Vec::new();
        let (mut is_first, mut omitted) = (true, 0);
        for (id, chapter) in games {
            let draft = drafts.remove(&id);
            let game = match library.game(id) {
                Ok(game) => game,
                Err(error) => {
                    // The client sees an incomplete response.
                    let _ = sender.blocking_send(Err(io::Error::other(error)));
                    return;
                }
            };
            if draft.is_none() && game.is_none() {
                // It was deleted.
                continue;
            }
            let record = game.as_ref().and_then(|game| game.record().ok());
            let Some(mut record) = record.or_else(|| draft.as_ref().map(Tree::to_record)) else {
                omitted += 1;
                continue;
            };
            // A record is written without a tree, which has the texts of all moves.
            let text = match format {
                RecordFormat::Record(format) => {
                    if wanted.engine {
                        let stored = game.as_ref().and_then(|game| with_engine_notes(game, format));
                        let draft =
                            draft.as_ref().map(|tree| tree.document().to_record(Merge::of(format)));
                        record = stored.or(draft).unwrap_or(record);
                    }
                    if let Some((study, name)) = chapter {
                        record.headers.set("StudyName", &*study);
                        record.headers.set("ChapterName", name);
                    }
                    record_written(&record, format, encoding)
                }
                _ => written(&Tree::from_record(&record), ROOT, format, encoding),
            };
            let Ok(text) = text else {
                omitted += 1;
                continue;
            };
            if !is_first {
                part.extend_from_slice(format.separator().as_bytes());
            }
            is_first = false;
            part.extend_from_slice(&text);
            if PART <= part.len()
                && sender.blocking_send(Ok(std::mem::take(&mut part).into())).is_err()
            {
                // The client has disconnected.
                return;
            }
        }
        app.exports.end(export, omitted);
        if !part.is_empty() {
            let _ = sender.blocking_send(Ok(part.into()));
        }
    });
    let parts = futures_util::stream::poll_fn(move |cx| receiver.poll_recv(cx));
    let kind = format.content_type(encoding);
    let headers =
        [(header::CONTENT_TYPE, kind), (HeaderName::from_static(EXPORT), export.to_string())];
    Ok((headers, Body::from_stream(parts)).into_response())
}

/// The header with the number of an export.
const EXPORT: &str = "x-export";
/// Maximum number of exports whose omissions are known.
const MAX_EXPORTS: usize = 64;

/// How many games the last exports have omitted.
#[derive(Default)]
pub(crate) struct Exports(Mutex<(u64, VecDeque<(u64, u32)>)>);

impl Exports {
    fn begin(&self) -> u64 {
        let mut exports = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        exports.0 += 1;
        exports.0
    }

    fn end(&self, export: u64, omitted: u32) {
        let mut exports = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        exports.1.push_back((export, omitted));
        if MAX_EXPORTS < exports.1.len() {
            exports.1.pop_front();
        }
    }

    fn omitted(&self, export: u64) -> Option<u32> {
        let exports = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        exports.1.iter().find(|(number, _)| *number == export).map(|(_, omitted)| *omitted)
    }
}

#[derive(Deserialize)]
pub(super) struct ExportQuery {
    export: u64,
}

/// The number of games that an export has omitted because the format cannot represent them.
pub(super) async fn omitted(
    State(service): State<Service>,
    Query(ExportQuery { export }): Query<ExportQuery>,
) -> Json<u32> {
    Json(service.app.exports.omitted(export).unwrap_or_default())
}

/// Minimum size of a sent part of an export, in bytes.
const PART: usize = 64 << 10;

fn written(
    tree: &Tree,
    cursor: u32,
    format: RecordFormat,
    encoding: Encoding,
) -> Result<Vec<u8>, ApiError> {
    match format {
        RecordFormat::Position => {
            let position = tree.position(cursor);
            let text = position.map(|position| position.text(FenForm::default()));
            Ok((text.unwrap_or_default() + "\n").into_bytes())
        }
        RecordFormat::Epd => {
            let mut position = tree.start().clone();
            let mut text = format!("{position}\n");
            let last = tree.main_line().last().copied().unwrap_or(ROOT);
            for mv in tree.moves_to(last) {
                if mv.play(&mut position).is_err() {
                    break;
                }
                text.push_str(&position.text(FenForm::default()));
                text.push('\n');
            }
            Ok(text.into_bytes())
        }
        RecordFormat::Line => {
            let keyword = if tree.game() == Game::Shogi { "sfen" } else { "fen" };
            // Engines read the line, and accept no null move.
            let EngineLine { start, moves, .. } =
                tree.engine_line(cursor).ok_or_else(|| no_node(cursor))?;
            let start = start.to_string();
            let form = tree.game().castling_form();
            let moves: Vec<String> = moves.into_iter().map(|mv| mv.to_uci(form)).collect();
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
            Ok(line.into_bytes())
        }
        RecordFormat::Record(format) => record_written(&tree.to_record(), format, encoding),
    }
}

/// The record of a game with what engines found. None if nothing was found.
fn with_engine_notes(game: &StoredGame, format: Format) -> Option<GameRecord> {
    let document = game.document().ok()?;
    (!document.engine.is_empty()).then(|| document.to_record(Merge::of(format)))
}

fn record_written(
    record: &GameRecord,
    format: Format,
    encoding: Encoding,
) -> Result<Vec<u8>, ApiError> {
    let mut bytes = Vec::new();
    write_encoded(record, format, encoding, &mut bytes).map_err(|error| write_error(&error))?;
    Ok(bytes)
}
