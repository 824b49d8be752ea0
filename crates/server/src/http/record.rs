//! Games out of files and into files.

use std::io::Cursor;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequest, Path, Query, Request, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use readyok_rules::record::{Encoding, Format, read, write_encoded};
use readyok_rules::{FenForm, Game, Position};
use serde::Deserialize;

use super::Service;
use super::rest::refused;
use crate::game::{ROOT, Tree, refusal};
use crate::time::now;
use crate::wire::{GameId, Imported, RecordFormat, Refusal, RefusalCode};

/// So many games of one file are taken.
const MOST_GAMES: u32 = 100_000;
/// So many games are told of.
const MOST_TOLD: usize = 1000;
/// So many faults are told.
const MOST_FAULTS: usize = 100;

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
        return refused(refusal(RefusalCode::NotNow, "too many files are being read"));
    };
    let body = match Bytes::from_request(request, &()).await {
        Ok(body) => body,
        Err(error) => return error.into_response(),
    };
    let app = service.app;
    let done = tokio::task::spawn_blocking(move || {
        // It is being read even when nobody waits for that any more.
        let _permit = permit;
        let (trees, mut imported) = read_all(&upload.name, &body);
        for tree in trees {
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
                Err(error) => {
                    imported.errors.push(error.text);
                    break;
                }
            }
        }
        imported
    });
    match done.await {
        Ok(imported) => Json(imported).into_response(),
        Err(_) => refused(refusal(RefusalCode::Record, "the file cannot be read")),
    }
}

/// All games of a file or text.
fn read_all(name: &str, bytes: &[u8]) -> (Vec<Tree>, Imported) {
    let mut imported = Imported::default();
    let mut trees = Vec::new();
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    let by_name = extension.as_deref().and_then(Format::from_extension);
    let is_epd = matches!(extension.as_deref(), Some("epd" | "fen"));
    if is_epd || by_name.is_none() {
        let text = String::from_utf8_lossy(bytes);
        if let Some(lines) = lines_of_chess(&text) {
            return (lines, imported);
        }
    }
    let mut records = read(Cursor::new(bytes), by_name);
    while let Some(record) = records.next() {
        match record {
            Ok(record) => trees.push(Tree::from_record(&record)),
            Err(error) if imported.errors.len() < MOST_FAULTS => {
                imported.errors.push(error.to_string());
            }
            Err(_) => (),
        }
        let room = MOST_FAULTS.saturating_sub(imported.oddities.len());
        imported.oddities.extend(records.oddities().iter().take(room).map(ToString::to_string));
        if MOST_GAMES <= u32::try_from(trees.len()).unwrap_or(u32::MAX) {
            imported.errors.push(format!("more than {MOST_GAMES} games: the rest was left out"));
            break;
        }
    }
    (trees, imported)
}

/// Lines of FEN, EPD or `position …` of chess; none if one of them is something else.
fn lines_of_chess(text: &str) -> Option<Vec<Tree>> {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    if lines.is_empty() || 10_000 < lines.len() {
        return None;
    }
    lines.into_iter().map(|line| played(line).or_else(|| placed(line).map(Tree::new))).collect()
}

/// The position of a FEN or EPD.
fn placed(line: &str) -> Option<Position> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let fen = match fields.as_slice() {
        [board, turn, castling, passant, half, full, ..]
            if half.parse::<u32>().is_ok() && full.parse::<u32>().is_ok() =>
        {
            format!("{board} {turn} {castling} {passant} {half} {full}")
        }
        [board, turn, castling, passant, ..] => {
            format!("{board} {turn} {castling} {passant} 0 1")
        }
        _ => return None,
    };
    Position::from_text(Game::Chess, &fen)
        .or_else(|_| Position::from_text(Game::Chess960, &fen))
        .ok()
}

/// The game of a line of UCI.
fn played(line: &str) -> Option<Tree> {
    let rest = line.strip_prefix("position ")?;
    let (start, moves) = rest.split_once(" moves ").unwrap_or((rest, ""));
    let mut position = match start.trim() {
        "startpos" => Position::start(Game::Chess),
        start => placed(start.strip_prefix("fen ")?)?,
    };
    let mut tree = Tree::new(position.clone());
    let mut node = ROOT;
    for word in moves.split_whitespace() {
        let mv = position.parse_move(word).ok()?;
        node = tree.add(node, mv).ok()?;
        position.play(mv).ok()?;
    }
    Some(tree)
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
        .map_err(|error| refusal(RefusalCode::Record, error.to_string()))?;
    Ok(bytes)
}
