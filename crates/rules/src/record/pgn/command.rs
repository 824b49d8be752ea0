//! Commands and engine output in comments: `[%clk 0:01:30]`, `[%eval 0.25,20]`, `+0.25/20 1.3s`.

use std::{fmt::Write as _, time::Duration};

use readyok_protocol::Score;

use crate::{Game, Side, Square};

use super::super::{Annotations, Evaluation, Mark, MarkColor};

/// Reads the command at the beginning of a comment. Returns the rest.
///
/// Most comments consist of commands, so this is fast.
pub(super) fn read_first<'a>(
    text: &'a [u8],
    turn: Side,
    notes: &mut Annotations,
) -> Option<&'a [u8]> {
    let command = text.strip_prefix(b"[%")?;
    let end = command.iter().position(|&byte| byte == b']')?;
    let (command, rest) = command.split_at_checked(end)?;
    let is_read = match command {
        // Digits need no check for UTF-8.
        [b'c', b'l', b'k', b' ', value @ ..] => set(&mut notes.clock, time(value)),
        [b'e', b'm', b't', b' ', value @ ..] => set(&mut notes.elapsed, time(value)),
        _ => read_command(std::str::from_utf8(command).ok(), turn, notes),
    };
    is_read.then(|| rest.get(1..).unwrap_or_default().trim_ascii_start())
}

/// The offset of `[%`.
fn command_start(text: &str) -> Option<usize> {
    let text = text.as_bytes();
    memchr::memchr_iter(b'[', text).find(|start| text.get(start + 1) == Some(&b'%'))
}

/// Moves the commands of a comment into the annotations; the rest is a comment.
///
/// A command that is redundant or malformed stays text. `mover` has played the move, if there is one,
/// and `turn` is the side to move after it.
pub(super) fn extract(text: &str, mover: Option<Side>, turn: Side, notes: &mut Annotations) {
    let mut left = text;
    if command_start(left).is_none() {
        add_text(left, mover, notes);
        return;
    }
    let mut rest = String::with_capacity(left.len());
    while let Some(start) = command_start(left) {
        let (before, command) = left.split_at(start);
        rest.push_str(before);
        let Some(end) = command.find(']') else {
            left = command;
            break;
        };
        let (command, after) = command.split_at(end + 1);
        left = after;
        if read_command(command.get(2..end), turn, notes) {
            // One of the blanks around the command belonged to it.
            if rest.is_empty() || rest.ends_with(char::is_whitespace) {
                left = left.strip_prefix(' ').unwrap_or(left);
            }
            // The texts before and after it must not become a command.
            if rest.ends_with('[') {
                rest.push(' ');
            }
        } else {
            rest.push_str(command);
        }
    }
    rest.push_str(left);
    add_text(&rest, mover, notes);
}

/// Adds a comment without commands.
fn add_text(text: &str, mover: Option<Side>, notes: &mut Annotations) {
    let mut rest = text.trim();
    if let Some(side) = mover {
        rest = read_engine_output(rest, side, notes);
    }
    if !rest.is_empty() {
        notes.comments.push(rest.to_owned());
    }
}

/// Reads the text between `[%` and `]`. False if it stays text.
fn read_command(command: Option<&str>, turn: Side, notes: &mut Annotations) -> bool {
    // Some programs break lines inside commands.
    let Some((name, value)) = command.and_then(split_at_whitespace) else { return false };
    match name {
        "clk" => set(&mut notes.clock, time(value.as_bytes())),
        "emt" => set(&mut notes.elapsed, time(value.as_bytes())),
        "eval" => set(&mut notes.evaluation, evaluation(value, turn)),
        "csl" | "cal" => {
            let arrows = name == "cal";
            let marks: Option<Vec<Mark>> =
                value.split(',').map(|text| mark(text, arrows)).collect();
            marks.map(|mut marks| notes.marks.append(&mut marks)).is_some()
        }
        _ => false,
    }
}

fn set<T>(target: &mut Option<T>, value: Option<T>) -> bool {
    let free = target.is_none() && value.is_some();
    if free {
        *target = value;
    }
    free
}

fn number<T: std::str::FromStr>(text: &str) -> Option<T> {
    // `parse` alone would also accept a sign.
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

fn split_at_whitespace(text: &str) -> Option<(&str, &str)> {
    let index = text.bytes().position(|byte| byte.is_ascii_whitespace() || !byte.is_ascii())?;
    if text.as_bytes().get(index)?.is_ascii() {
        Some((text.get(..index)?, text.get(index + 1..)?))
    } else {
        text.split_once(char::is_whitespace)
    }
}

/// `1:02:03`, `1:02:03.45`, or a part of it as of FICS: `2:03` and `3.45`.
fn time(text: &[u8]) -> Option<Duration> {
    let text = text.trim_ascii();
    let (mut seconds, mut field, mut digits, mut colons) = (0_u64, 0_u64, 0, 0);
    let mut part = None;
    for (index, &byte) in text.iter().enumerate() {
        match byte {
            b'0'..=b'9' => {
                field = field.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?;
                digits += 1;
            }
            b':' if digits > 0 && colons < 2 => {
                seconds = seconds.checked_add(field)?.checked_mul(60)?;
                (field, digits) = (0, 0);
                colons += 1;
            }
            b'.' => {
                part = Some(text.get(index + 1..)?);
                break;
            }
            _ => return None,
        }
    }
    if digits == 0 || colons == 0 && part.is_none() {
        return None;
    }
    let nanos = part.map_or(Some(0), nanoseconds)?;
    Some(Duration::new(seconds.checked_add(field)?, nanos))
}

/// Splits a text at an ASCII character.
fn split_at_byte(text: &str, byte: u8) -> Option<(&str, &str)> {
    let index = text.bytes().position(|found| found == byte)?;
    Some((text.get(..index)?, text.get(index + 1..)?))
}

/// `3`, `3.` or `3.14`, to the nanosecond.
fn seconds(text: &str) -> Option<Duration> {
    let (whole, part) = split_at_byte(text, b'.').unwrap_or((text, ""));
    Some(Duration::new(number::<u32>(whole)?.into(), nanoseconds(part.as_bytes())?))
}

/// The decimals of seconds.
fn nanoseconds(decimals: &[u8]) -> Option<u32> {
    let mut nanos = 0;
    let mut unit = 100_000_000;
    for byte in decimals {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit <= 9)?;
        nanos += u32::from(digit) * unit;
        unit /= 10;
    }
    Some(nanos)
}

/// `0.25`, `-1.3,20` or `#-3,20`, from White's view.
fn evaluation(text: &str, turn: Side) -> Option<Evaluation> {
    let (score, depth) = match text.trim().split_once(',') {
        Some((score, depth)) => (score, Some(number(depth)?)),
        None => (text.trim(), None),
    };
    let score = match score.strip_prefix('#') {
        Some(mate) => {
            let (negative, moves) = signed(mate);
            let winner = if negative { Side::Second } else { Side::First };
            // The winner's last move has no reply.
            let plies = number::<u32>(moves)?.saturating_mul(2);
            let plies = plies.saturating_sub(u32::from(winner == turn));
            Score::mate(!negative, Some(plies))
        }
        None => Score::Cp(centipawns(score)?),
    };
    Some(Evaluation { score, depth })
}

/// Whether a number is negative, and its digits.
fn signed(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

fn centipawns(text: &str) -> Option<i32> {
    let (negative, size) = signed(text);
    hundredths(size).map(|size| if negative { -size } else { size })
}

/// A number with up to two decimals, times a hundred. More decimals are rejected, as they would be
/// lost.
fn hundredths(text: &str) -> Option<i32> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let part = match part.len() {
        0 => 0,
        1 => number::<i32>(part)? * 10,
        2 => number::<i32>(part)?,
        _ => return None,
    };
    let whole = if whole.is_empty() { 0 } else { number::<i32>(whole)? };
    whole.checked_mul(100)?.checked_add(part)
}

/// `Gd4`, or `Re2e4` for an arrow.
fn mark(text: &str, arrow: bool) -> Option<Mark> {
    let text = text.trim();
    let color = MarkColor::from_letter(text.chars().next()?)?;
    let square = |at: usize| Square::read(Game::Chess, text.get(at..at + 2)?);
    let from = square(1)?;
    let to = if arrow { Some(square(3)?) } else { None };
    (text.len() == if arrow { 5 } else { 3 }).then_some(Mark { color, from, to })
}

/// The output of Cute Chess, fastchess and others: `+0.54/12 0.31s`, `-M5/20 1.2s, White mates`, or
/// `1.2s` without a score. The score is the mover's, and mates are counted in plies. Returns the rest
/// of the text.
fn read_engine_output<'a>(text: &'a str, mover: Side, notes: &mut Annotations) -> &'a str {
    let (output, rest) = match text.split_once(',') {
        Some((output, rest)) => (output, rest.trim_start()),
        None => (text, ""),
    };
    // A line of 80 columns can end here.
    let (score, time) = match output.split_once(char::is_whitespace) {
        Some((score, time)) => (score, Some(time)),
        None => (output, None),
    };
    let seconds = |time: &str| seconds(time.strip_suffix('s')?);
    if notes.elapsed.is_none()
        && let Some(elapsed) = seconds(output)
    {
        notes.elapsed = Some(elapsed);
        return rest;
    }
    let Some(evaluation) = score_and_depth(score, mover) else { return text };
    let elapsed = time.and_then(seconds);
    let malformed = time.is_some() && elapsed.is_none();
    if malformed || notes.evaluation.is_some() || notes.elapsed.is_some() && elapsed.is_some() {
        return text;
    }
    notes.evaluation = Some(evaluation);
    notes.elapsed = elapsed.or(notes.elapsed);
    rest
}

fn score_and_depth(text: &str, mover: Side) -> Option<Evaluation> {
    let (score, depth) = text.split_once('/')?;
    let (negative, size) = signed(score);
    let score = match size.strip_prefix('M') {
        Some(plies) => Score::mate(!negative, Some(number(plies)?)),
        // Decimals are mandatory, which distinguishes a score from a date or a fraction.
        None => Score::Cp(size.contains('.').then(|| centipawns(score))??),
    };
    Some(Evaluation::by(mover, score, Some(number(depth)?)))
}

/// Writes the commands for the annotations, each with a trailing blank.
pub(super) fn write_commands(notes: &Annotations, text: &mut String) {
    for (name, arrows) in [("csl", false), ("cal", true)] {
        let marks = notes.marks.iter().filter(|mark| mark.to.is_some() == arrows);
        let texts: Vec<String> = marks.filter_map(|mark| mark_text(*mark)).collect();
        if !texts.is_empty() {
            push(text, format_args!("[%{name} {}] ", texts.join(",")));
        }
    }
    if let Some(Evaluation { score, depth }) = notes.evaluation {
        let begin = text.len();
        if let Score::Cp(score) = score {
            let sign = if score < 0 { "-" } else { "" };
            let (whole, part) = (score.unsigned_abs() / 100, score.unsigned_abs() % 100);
            push(text, format_args!("[%eval {sign}{whole}.{part:02}"));
        } else if let Some(plies) = score.mate_plies() {
            let (sign, moves) = (if score.is_mated() { "-" } else { "" }, plies.div_ceil(2));
            push(text, format_args!("[%eval #{sign}{moves}"));
        }
        if text.len() > begin {
            if let Some(depth) = depth {
                push(text, format_args!(",{depth}"));
            }
            text.push_str("] ");
        }
    }
    for (name, time) in [("clk", notes.clock), ("emt", notes.elapsed)] {
        if let Some(time) = time {
            let (seconds, millis) = (time.as_secs(), time.subsec_millis());
            let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
            push(text, format_args!("[%{name} {hours}:{minutes:02}:{seconds:02}"));
            if millis > 0 {
                push(text, format_args!(".{millis:03}"));
                text.truncate(text.trim_end_matches('0').len());
            }
            text.push_str("] ");
        }
    }
}

/// `Gd4`, or `Re2e4` for an arrow. `None` if a square is not on the chessboard.
fn mark_text(mark: Mark) -> Option<String> {
    let name = |square: Square| {
        let square = Square::new(Game::Chess, square.column(), square.row());
        square.map(|square| square.name(Game::Chess))
    };
    let to = mark.to.map_or(Some(String::new()), name)?;
    Some(format!("{}{}{to}", mark.color.letter(), name(mark.from)?))
}

fn push(text: &mut String, more: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = text.write_fmt(more);
}
