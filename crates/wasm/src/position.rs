//! Positions with the moves that led to them.

use std::io::Write as _;

use readyok_rules::{
    CastlingForm, FenForm, GameOutcome, Handicap, Move, PieceKind, Position, PositionError,
    PositionHistory, Setup, Side,
};

use crate::history::{push, push_line, read_move};
use crate::objects::Objects;
use crate::{Failure, answer, form, join, notation, number, numbered_game, with_text};

thread_local! {
    pub(crate) static POSITIONS: Objects<PositionHistory> = const { Objects::new() };
}

/// A position: the start of the game (0), a FEN or an SFEN (1), numbers of Chess960 (2), or the name of a handicap (3).
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn position_new(game: u32, source: u32) -> i32 {
    number((|| {
        let game = numbered_game(game)?;
        let position = with_text(|text| match source {
            0 => Ok(Position::start(game)),
            1 => Ok(Position::from_text(game, text)?),
            2 => chess960(text)?.position().map_err(Failure::from),
            _ => handicap(text)?.position().map_err(Failure::from),
        })?;
        insert(PositionHistory::new(position))
    })())
}

fn chess960(text: &str) -> Result<Setup, Failure> {
    let mut numbers = text.split(' ').map(str::parse::<u16>);
    let (Some(Ok(white)), Some(Ok(black))) = (numbers.next(), numbers.next()) else {
        return Err(Failure::usage("a number of Chess960 is required"));
    };
    Setup::double_chess960(white, black)
        .ok_or_else(|| Failure::usage("numbers of Chess960 are 0 to 959"))
}

fn handicap(text: &str) -> Result<Setup, Failure> {
    let handicap = Handicap::from_name(text);
    handicap.map(Setup::handicap).ok_or_else(|| Failure::usage("no such handicap"))
}

pub(crate) fn insert(history: PositionHistory) -> Result<i32, Failure> {
    POSITIONS.with(|all| all.insert(history))
}

/// A copy of a position.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn position_copy(handle: i32) -> i32 {
    number(POSITIONS.with(|all| {
        all.check_room()?;
        let copy = all.with(handle, |history| Ok(history.clone()))?;
        all.insert(copy)
    }))
}

/// Frees a position.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn position_free(handle: i32) {
    POSITIONS.with(|all| all.remove(handle));
}

fn on(
    handle: i32,
    call: impl FnOnce(&mut PositionHistory, &mut Vec<u8>) -> Result<(), Failure>,
) -> i32 {
    answer(|out| POSITIONS.with(|all| all.with(handle, |history| call(history, out))))
}

/// Plays moves in any notation, which are separated by NUL. Answers them in UCI or USI notation, separated by blanks. On
/// an error the position is unchanged.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn position_push(handle: i32, count: u32) -> i32 {
    let room = POSITIONS.with(Objects::check_room);
    on(handle, |history, out| {
        room?;
        with_text(|text| {
            if count == 1 {
                let mv = push(history, text)?;
                write_move(out, history.position(), mv);
                return Ok(());
            }
            let before = history.moves().len();
            push_line(history, parts(text, count)?)?;
            let played = history.moves().iter().skip(before).copied();
            write_moves(out, history.game().castling_form(), played);
            Ok(())
        })
    })
}

/// The texts of an argument. A text with a NUL changes their number.
pub(crate) fn parts(text: &str, count: u32) -> Result<impl Iterator<Item = &str>, Failure> {
    let found = if count == 0 { 0 } else { memchr::memchr_iter(0, text.as_bytes()).count() + 1 };
    if found != count as usize {
        return Err(Failure::usage("a text contains NUL"));
    }
    Ok(text.split('\0').take(found))
}

/// Takes back the last move. Answers it; empty without one.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn position_pop(handle: i32) -> i32 {
    on(handle, |history, out| {
        if let Some(mv) = history.pop() {
            write_move(out, history.position(), mv);
        }
        Ok(())
    })
}

fn write_move(out: &mut Vec<u8>, position: &Position, mv: Move) {
    write_moves(out, position.game().castling_form(), [mv]);
}

fn write_moves(out: &mut Vec<u8>, form: CastlingForm, moves: impl IntoIterator<Item = Move>) {
    for (index, mv) in moves.into_iter().enumerate() {
        if index > 0 {
            out.push(b' ');
        }
        out.extend_from_slice(mv.uci(form).as_str().as_bytes());
    }
}

/// Facts that are numbers, as bits: 1 the second side is to move, 2 it is in check, 4 it can declare a win (shogi). The
/// last one is determined only on request.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn position_flags(handle: i32, with_declaration: u32) -> i32 {
    number(POSITIONS.with(|all| {
        all.with(handle, |history| {
            let now = history.position();
            let can_declare = with_declaration != 0 && now.can_declare();
            Ok(i32::from(now.turn() == Side::Second)
                | i32::from(now.in_check()) << 1
                | i32::from(can_declare) << 2)
        })
    }))
}

/// The FEN in a form, or the SFEN.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn position_text(handle: i32, form: u32) -> i32 {
    on(handle, |history, out| {
        out.extend_from_slice(history.position().text(self::form(form)?).as_bytes());
        Ok(())
    })
}

/// A fact as text: see the list in `packages/js/position.js`.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn position_fact(handle: i32, fact: u32) -> i32 {
    on(handle, |history, out| {
        let now = history.position();
        let castling = now.game().castling_form();
        match fact {
            0 => write_moves(out, castling, now.legal_moves()),
            1 => write_moves(out, castling, history.moves().iter().copied()),
            2 => {
                if let Some(outcome) = now.outcome() {
                    write_outcome(out, outcome);
                }
            }
            3 => {
                let pieces = now.setup();
                let pieces = pieces.pieces();
                join(
                    out,
                    pieces.map(|(at, piece)| format!("{} {piece}", at.name(now.game()))),
                    b' ',
                );
            }
            4 => write_hands(out, &now.setup()),
            5 => out.extend_from_slice(history.start().text(FenForm::XFen).as_bytes()),
            6 => {
                if let Some(defect) = now.defect() {
                    out.extend_from_slice(PositionError::to_string(defect).as_bytes());
                }
            }
            7 => join(out, now.claims().iter().map(|claim| claim.name()), b' '),
            8 => out.extend_from_slice(now.game().name().as_bytes()),
            9 => {
                if let Some((white, black)) = now.setup().chess960_numbers() {
                    _ = write!(out, "{white} {black}");
                }
            }
            10 => {
                let name = now.setup().as_handicap().map(Handicap::name);
                out.extend_from_slice(name.unwrap_or_default().as_bytes());
            }
            _ => _ = write!(out, "{:#x}", now.key()),
        }
        Ok(())
    })
}

/// The numbers of pieces in hand: of the first side, then of the second, in the order of SFEN.
fn write_hands(out: &mut Vec<u8>, setup: &Setup) {
    let of = |side| PieceKind::IN_HAND.map(|kind| setup.hand(side, kind).to_string());
    join(out, Side::BOTH.into_iter().flat_map(of), b' ');
}

/// Result and termination.
pub(crate) fn write_outcome(out: &mut Vec<u8>, outcome: GameOutcome) {
    join(out, [outcome.result.as_str(), outcome.termination.name()], b' ');
}

/// Reads the move of the input and writes it in a notation. `from` is the number of the notation of the input plus one,
/// or 0 for any.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn position_notation(handle: i32, from: u32, to: u32) -> i32 {
    on(handle, |history, out| {
        let (from, to) = (from.checked_sub(1).map(notation).transpose()?, notation(to)?);
        let position = history.position();
        let mv = with_text(|text| match from {
            Some(from) => position.parse(text, from),
            None => read_move(position, text),
        })?;
        out.extend_from_slice(position.notation(mv, to).as_bytes());
        Ok(())
    })
}

/// Writes moves in UCI or USI notation, which are separated by NUL, in a notation. From the first illegal one on they
/// are unchanged.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn position_line(handle: i32, count: u32, to: u32) -> i32 {
    on(handle, |history, out| {
        let to = notation(to)?;
        with_text(|text| {
            join(out, history.position().notate(parts(text, count)?, to), 0);
            Ok(())
        })
    })
}
