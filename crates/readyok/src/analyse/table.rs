//! The variations of a search as a table of text.

use readyok_client::Info;
use readyok_protocol::{Bound, MoveList, Wdl};
use unicode_width::UnicodeWidthStr;

use super::setup::Scribe;
use crate::text::{fitting, printable};

const COLUMNS: usize = 8;

/// The columns before the moves.
const HEADINGS: [&str; COLUMNS] =
    ["#", "depth", "score", "w/d/l ‰", "nodes", "nps", "hash", "time"];

/// Lays the variations out in lines of at most `width` columns: a heading, and one for each. What
/// no variation has gets no column.
pub fn table(variations: &[&Info<'static>], scribe: &Scribe, width: usize) -> Vec<String> {
    let rows: Vec<_> = variations.iter().map(|info| (cells(info), moves(info, scribe))).collect();
    let widths: Vec<usize> = (0..COLUMNS)
        .map(|column| {
            let widest = rows.iter().filter_map(|(cells, _)| cells.get(column));
            match widest.map(|cell| cell.width()).max().unwrap_or(0) {
                0 => 0,
                widest => widest.max(HEADINGS.get(column).map_or(0, |heading| heading.width())),
            }
        })
        .collect();
    let headings = HEADINGS.map(str::to_owned);
    let lay = |cells: &[String; COLUMNS], rest: &str| {
        let mut line = String::new();
        for (cell, &column) in cells.iter().zip(&widths).filter(|(_, column)| **column > 0) {
            // Padding counts characters, which is not what a terminal shows.
            line.extend(std::iter::repeat_n(' ', column.saturating_sub(cell.width())));
            line.push_str(cell);
            line.push_str("  ");
        }
        line.push_str(rest);
        fitting(line.trim_end(), width)
    };
    let heading = (!rows.is_empty()).then(|| lay(&headings, "line"));
    heading.into_iter().chain(rows.iter().map(|(cells, moves)| lay(cells, moves))).collect()
}

/// One variation in one line of any length, with the names of its parts.
pub fn line(info: &Info<'static>, scribe: &Scribe) -> String {
    let mut line = String::new();
    for (heading, cell) in HEADINGS.iter().zip(cells(info)).filter(|(_, cell)| !cell.is_empty()) {
        line.push_str(heading);
        line.push(' ');
        line.push_str(&cell);
        line.push_str("  ");
    }
    line.push_str(&moves(info, scribe));
    line
}

fn moves(info: &Info<'static>, scribe: &Scribe) -> String {
    let words = info.pv.iter().flat_map(MoveList::tokens);
    printable(&scribe.line(words).join(" "))
}

fn cells(info: &Info<'static>) -> [String; COLUMNS] {
    let depth = match (info.depth, info.seldepth) {
        (Some(depth), Some(seldepth)) => format!("{depth}/{seldepth}"),
        (Some(depth), None) => depth.to_string(),
        (None, _) => String::new(),
    };
    let bound = match info.bound {
        Bound::Exact => "",
        Bound::Lower => "≥",
        Bound::Upper => "≤",
    };
    let wdl = |Wdl { win, draw, loss }| format!("{win}/{draw}/{loss}");
    [
        info.multipv.map(|number| number.to_string()).unwrap_or_default(),
        depth,
        info.score.map(|score| format!("{bound}{score}")).unwrap_or_default(),
        info.wdl.map(wdl).unwrap_or_default(),
        info.nodes.map(count).unwrap_or_default(),
        info.nps.map(count).unwrap_or_default(),
        info.hashfull.map(|full| format!("{}.{}%", full / 10, full % 10)).unwrap_or_default(),
        info.time_ms().map(time).unwrap_or_default(),
    ]
}

/// A count in at most three digits and a letter, rounded down: `999`, `1.23k`, `45.6M`.
fn count(number: u64) -> String {
    const LETTERS: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];
    let mut thousandths = u128::from(number) * 1000;
    let mut letters = LETTERS.iter();
    let mut letter = letters.next();
    while 1_000_000 <= thousandths {
        thousandths /= 1000;
        letter = letters.next();
    }
    let letter = letter.unwrap_or(&"");
    let (whole, rest) = (thousandths / 1000, thousandths % 1000);
    match (letter.is_empty(), whole) {
        (true, _) => whole.to_string(),
        (_, 0..10) => format!("{whole}.{:02}{letter}", rest / 10),
        (_, 10..100) => format!("{whole}.{}{letter}", rest / 100),
        _ => format!("{whole}{letter}"),
    }
}

/// Hours, minutes and seconds: `0:01.2`, `1:02:03`.
fn time(milliseconds: u64) -> String {
    let (seconds, minutes) = (milliseconds / 1000 % 60, milliseconds / 60_000 % 60);
    match milliseconds / 3_600_000 {
        0 => format!("{minutes}:{seconds:02}.{}", milliseconds / 100 % 10),
        hours => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}
