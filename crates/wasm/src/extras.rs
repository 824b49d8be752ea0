//! Names of openings and Syzygy tables, which are a module of their own.

use readyok_rules::{Game, Opening, Position, Syzygy, TablebaseValue};
use serde_json::{Value, json};

use crate::objects::{Objects, Size};
use crate::{Failure, answer, number, with_parts, with_text};

/// Tables that are added until the first use opens them.
#[derive(Default)]
struct Tables {
    files: Vec<(String, Vec<u8>)>,
    bytes: usize,
    open: Option<Syzygy>,
}

impl Size for Tables {
    fn bytes(&self) -> usize {
        self.bytes
    }
}

thread_local! {
    static TABLES: Objects<Tables> = const { Objects::new() };
}

/// The opening of the FEN of the input: the code and the name, or nothing.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn opening() -> i32 {
    answer(|out| {
        let position = with_text(|text| Position::from_text(Game::Chess, text))?;
        if let Some(Opening { eco, name }) = Opening::of(&position) {
            out.extend_from_slice(format!("{eco} {name}").as_bytes());
        }
        Ok(())
    })
}

/// An empty set of tables.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn syzygy_new() -> i32 {
    number(TABLES.with(|all| all.insert(Tables::default())))
}

/// Frees tables.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn syzygy_free(handle: i32) {
    TABLES.with(|all| all.remove(handle));
}

/// Adds a file: the first part of the input is its name.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn syzygy_add(handle: i32, name_len: usize) -> i32 {
    let room = TABLES.with(Objects::check_room);
    number(TABLES.with(|all| {
        all.with(handle, |tables| {
            room?;
            with_parts(name_len, |name, bytes| {
                tables.bytes += bytes.len();
                tables.files.push((name.to_owned(), bytes.to_vec()));
                Ok(0)
            })
        })
    }))
}

/// Opens the files.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn syzygy_open(handle: i32) -> i32 {
    number(TABLES.with(|all| {
        all.with(handle, |tables| {
            let files = std::mem::take(&mut tables.files);
            let open = Syzygy::from_files(files).map_err(|error| Failure::other(&error))?;
            tables.open = Some(open);
            Ok(0)
        })
    }))
}

/// The values of the FEN of the input and of its moves, in JSON.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn syzygy_probe(handle: i32) -> i32 {
    answer(|out| {
        let position = with_text(|text| Position::from_text(Game::Chess, text))?;
        let result = TABLES.with(|all| {
            all.with(handle, |tables| {
                let open = tables.open.as_ref().ok_or_else(|| Failure::other(&"no tables"))?;
                open.probe_moves(&position).map_err(|error| Failure::other(&error))
            })
        })?;
        let form = position.game().castling_form();
        let moves = result.moves.iter().map(|rated| {
            let mut value = value(rated.value);
            if let Some(fields) = value.as_object_mut() {
                fields.insert("move".to_owned(), json!(rated.mv.to_uci(form)));
            }
            value
        });
        let moves: Value = moves.collect();
        let mut all = value(result.value);
        if let Some(fields) = all.as_object_mut() {
            fields.insert("moves".to_owned(), moves);
        }
        serde_json::to_writer(out, &all).map_err(|error| Failure::other(&error))
    })
}

/// Unknown values are left out.
fn value(value: TablebaseValue) -> Value {
    let category = value.category.map(|category| ("category", json!(category.to_string())));
    let dtz = value.dtz.map(|dtz| ("dtz", json!(dtz)));
    let known = [category, dtz].into_iter().flatten();
    Value::Object(known.map(|(name, value)| (name.to_owned(), value)).collect())
}
