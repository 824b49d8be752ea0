//! Games out of files and into files.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequest, Path, Query, Request, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use readyok_rules::record::{Encoding, Format, write_encoded};
use readyok_rules::{FenForm, Game, Position};
use serde::Deserialize;

use super::Service;
use super::rest::refused;
use crate::game::{ROOT, Tree, refusal, unwritten};
use crate::import::read_each;
use crate::time::now;
use crate::wire::{GameId, Imported, ProblemKind, RecordFormat, Refusal, RefusalCode};

/// So many games are told of.
const MOST_TOLD: usize = 1000;

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
        let text = "too many files are being read";
        return refused(refusal(RefusalCode::NotNow, ProblemKind::BusyReading, text));
    };
    let body = match Bytes::from_request(request, &()).await {
        Ok(body) => body,
        Err(error) => return error.into_response(),
    };
    let app = service.app;
    let done = tokio::task::spawn_blocking(move || {
        // It is being read even when nobody waits for that any more.
        let _permit = permit;
        let mut imported = Imported::default();
        let mut refused = None;
        let faults = read_each(&upload.name, &body, |tree| {
            // A lock for each, so that others get their turn.
            let added = app.world().import(&tree, upload.open && imported.opened.is_none(), now());
            match added {
                Ok((game, opened)) => {
                    imported.opened = imported.opened.or(opened);
                    if imported.games.len() < MOST_TOLD {
                        imported.games.push(game);
                    }
                    imported.total += 1;
                }
                Err(error) => refused = Some(error.into()),
            }
            refused.is_none()
        });
        imported.errors = faults.errors;
        imported.errors.extend(refused);
        imported.oddities = faults.oddities;
        imported
    });
    match done.await {
        Ok(imported) => Json(imported).into_response(),
        Err(_) => {
            refused(refusal(RefusalCode::Record, ProblemKind::Unread, "the file cannot be read"))
        }
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
    let found = service.app.world().tree_of(game);
    let (tree, cursor) = match found {
        Ok(found) => found,
        Err(error) => return refused(error),
    };
    let encoding = match wanted.encoding.as_deref() {
        Some("shift_jis") => Encoding::ShiftJis,
        Some(_) | None => Encoding::Utf8,
    };
    match written(&tree, cursor, wanted.format, encoding) {
        Ok(bytes) => {
            let kind = match encoding {
                Encoding::Utf8 => "text/plain; charset=utf-8",
                Encoding::ShiftJis => "text/plain; charset=shift_jis",
            };
            ([(header::CONTENT_TYPE, HeaderValue::from_static(kind))], bytes).into_response()
        }
        Err(error) => refused(error),
    }
}

fn written(
    tree: &Tree,
    cursor: u32,
    format: RecordFormat,
    encoding: Encoding,
) -> Result<Vec<u8>, Refusal> {
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
            let words: Vec<String> =
                tree.moves_to(cursor).into_iter().map(|mv| mv.word(form)).collect();
            let mut line = if tree.game() != Game::Chess960
                && start == Position::start(tree.game()).to_string()
            {
                "position startpos".to_owned()
            } else {
                format!("position {keyword} {start}")
            };
            if !words.is_empty() {
                line.push_str(" moves ");
                line.push_str(&words.join(" "));
            }
            line.push('\n');
            return Ok(line.into_bytes());
        }
    };
    let mut bytes = Vec::new();
    write_encoded(&tree.to_record(), format, encoding, &mut bytes)
        .map_err(|error| unwritten(&error))?;
    Ok(bytes)
}
