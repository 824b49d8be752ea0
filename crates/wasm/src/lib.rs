//! Positions and game records for JavaScript, with an interface of integers and two buffers.
//!
//! The host writes the text of a call to the input ([`input`]), calls a function with numbers, and reads the text of the
//! answer from the output ([`output`]). Values that live longer have handles, which begin at 1. No pointer to a value
//! crosses, so the only unsafe code is the attribute of the exports. `packages/js` is the only user.
//!
//! A function returns a handle, a number or the length of its answer. After an error it returns the negated length of
//! the output, which contains three parts that line feeds separate: the kind of the error, details, and the text.
#![cfg_attr(target_family = "wasm", expect(unsafe_code, reason = "the attribute of exports"))]

#[cfg(feature = "records")]
mod annotations;
#[cfg(feature = "extras")]
pub mod extras;
mod failure;
#[cfg(feature = "records")]
pub mod game;
#[cfg(feature = "records")]
mod history;
mod objects;
#[cfg(feature = "records")]
pub mod position;
#[cfg(feature = "records")]
pub mod reader;

use std::cell::RefCell;

#[cfg(feature = "records")]
use readyok_rules::{FenForm, Game, Notation, Termination, record::Format};

pub(crate) use failure::Failure;

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The address of an input of this length. 0 if there is no memory for it.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn input(len: usize) -> *const u8 {
    INPUT.with_borrow_mut(|input| {
        let missing = len.saturating_sub(input.len());
        if input.try_reserve_exact(missing).is_err() {
            return std::ptr::null();
        }
        input.resize(len, 0);
        input.as_ptr()
    })
}

/// Sets the input, for tests.
pub fn set_input(bytes: &[u8]) {
    INPUT.set(bytes.to_vec());
}

/// The address of the last answer.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn output() -> *const u8 {
    OUTPUT.with_borrow(Vec::as_ptr)
}

/// A copy of the last answer, for tests.
pub fn last_output() -> Vec<u8> {
    OUTPUT.with_borrow(Clone::clone)
}

/// The names of games, notations, forms of FEN, formats and terminations, a line each. Their indices are the numbers of
/// arguments.
#[cfg(feature = "records")]
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn names() -> i32 {
    answer(|out| {
        fn all<T>(names: &[(&str, T)]) -> String {
            names.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" ")
        }
        let lines = [
            all(Game::NAMES),
            all(Notation::NAMES),
            all(FenForm::NAMES),
            Format::ALL.iter().map(|format| format.name()).collect::<Vec<_>>().join(" "),
            Termination::ALL.iter().map(|ending| ending.name()).collect::<Vec<_>>().join(" "),
        ];
        out.extend_from_slice(lines.join("\n").as_bytes());
        Ok(())
    })
}

#[cfg(feature = "records")]
fn lookup<T: Copy>(names: &[(&str, T)], number: u32, what: &str) -> Result<T, Failure> {
    let named = names.get(number as usize).map(|(_, value)| *value);
    named.ok_or_else(|| Failure::usage(&format!("no such {what}")))
}

/// The game of a number.
#[cfg(feature = "records")]
pub(crate) fn numbered_game(number: u32) -> Result<Game, Failure> {
    lookup(Game::NAMES, number, "game")
}

/// The notation of a number. 0 is UCI or USI notation.
#[cfg(feature = "records")]
pub(crate) fn notation(number: u32) -> Result<Notation, Failure> {
    lookup(Notation::NAMES, number, "notation")
}

/// The form of FEN of a number.
#[cfg(feature = "records")]
pub(crate) fn form(number: u32) -> Result<FenForm, Failure> {
    lookup(FenForm::NAMES, number, "form of FEN")
}

/// The input, which is empty afterwards.
#[cfg(feature = "records")]
pub(crate) fn take_input() -> Vec<u8> {
    INPUT.take()
}

pub(crate) fn with_text<R>(call: impl FnOnce(&str) -> R) -> R {
    INPUT.with_borrow(|input| call(&String::from_utf8_lossy(input)))
}

/// Calls with the two parts of the input, of which the first has a length in bytes.
pub(crate) fn with_parts<R>(
    first: usize,
    call: impl FnOnce(&str, &[u8]) -> Result<R, Failure>,
) -> Result<R, Failure> {
    INPUT.with_borrow(|input| {
        let (first, rest) =
            input.split_at_checked(first).ok_or_else(|| Failure::usage("no such part"))?;
        call(&String::from_utf8_lossy(first), rest)
    })
}

/// The result of a function that returns a number.
pub(crate) fn number(result: Result<i32, Failure>) -> i32 {
    result.unwrap_or_else(|failure| {
        OUTPUT.with_borrow_mut(|output| {
            *output = failure.to_text().into_bytes();
            -length(output).max(1)
        })
    })
}

/// The length of an answer.
pub(crate) fn answer(write: impl FnOnce(&mut Vec<u8>) -> Result<(), Failure>) -> i32 {
    // The old output is reused: it has room.
    let mut out = OUTPUT.take();
    out.clear();
    let written = write(&mut out);
    let length = length(&out);
    OUTPUT.set(out);
    number(written.map(|()| length))
}

fn length(output: &[u8]) -> i32 {
    i32::try_from(output.len()).unwrap_or(i32::MAX)
}

/// Appends texts with a separator between them.
#[cfg(feature = "records")]
pub(crate) fn join<T: AsRef<str>>(
    out: &mut Vec<u8>,
    texts: impl IntoIterator<Item = T>,
    separator: u8,
) {
    for (index, text) in texts.into_iter().enumerate() {
        if index > 0 {
            out.push(separator);
        }
        out.extend_from_slice(text.as_ref().as_bytes());
    }
}
