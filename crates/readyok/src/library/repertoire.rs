//! The games of the database that follow trees of moves, and where they leave them.

use std::cmp::Reverse;
use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use readyok_library::{Library, RepertoireGame, RepertoirePlace, move_of};
use readyok_rules::record::{Condition, GameRecord};
use readyok_rules::{Game, Notation, Position, Side};
use serde::Serialize;

use super::explorer::Results;
use super::search::{Row, width};
use super::{failure, watched};
use crate::convert::{Files, Games, LossReport, Origin, ReadOptions, grouped};
use crate::exit::{Code, Failure};
use crate::terminal::print_error;

/// What is searched and listed.
pub(crate) struct RepertoireRequest {
    pub(crate) trees: Vec<GameRecord>,
    pub(crate) condition: Condition,
    /// Maximum number of places, and of games of each.
    pub(crate) limit: usize,
    pub(crate) games: usize,
    pub(crate) is_json: bool,
}

/// Reads the trees of record files, and whether all of them were read completely.
pub(crate) fn read_trees(
    files: &Files,
    read: ReadOptions,
    is_lenient: bool,
) -> Result<(Vec<GameRecord>, bool), Failure> {
    let mut losses = LossReport::new(is_lenient);
    let mut trees = Vec::new();
    for number in 0..files.len() {
        let Some(file) = files.get(number) else { continue };
        let name = files.name(number);
        let games = Games::open(file, read, &Arc::default());
        let mut games = games.map_err(|error| Failure::usage(format!("`{name}`: {error}")))?;
        let mut count = 0;
        while let Some(record) = games.next() {
            count += 1;
            let line = match record {
                Ok(record) => {
                    trees.push(record);
                    losses.read(Origin { file: &name, game: count }, games.notices())
                }
                Err(error) => losses.unreadable(&name, &error),
            };
            if let Some(line) = line {
                print_error(&line);
            }
        }
    }
    for line in losses.summary() {
        print_error(&line);
    }
    if trees.is_empty() {
        return Err(Failure::usage("the files have no readable game"));
    }
    Ok((trees, !losses.is_failure()))
}

/// A place where games leave a tree.
#[derive(Serialize)]
struct Place {
    /// The number of the tree in its files, from 1.
    tree: usize,
    /// The moves of the tree before.
    line: Vec<String>,
    /// The move that is not in the tree; none if the games end there.
    #[serde(rename = "move")]
    mv: Option<String>,
    games: u32,
    #[serde(flatten)]
    results: Results,
    /// Of the player of the move, in percent.
    score: Option<f64>,
    /// The latest games.
    latest: Vec<u32>,
    #[serde(skip)]
    start: Option<Position>,
}

/// Lists the places where the games that match leave trees.
pub(crate) fn repertoire(library: &Library, request: &RepertoireRequest) -> Result<Code, Failure> {
    let mut places = Vec::new();
    let mut total = 0;
    for (number, tree) in (1..).zip(&request.trees) {
        let found = watched(&request.condition, |filter| library.repertoire(tree, filter))?;
        total += found.len();
        places.extend(places_of(number, tree, &found, request.games));
    }
    places.sort_by_key(|place| (Reverse(place.games), place.tree));
    let all = places.len();
    places.truncate(request.limit);
    let mut out = BufWriter::new(io::stdout().lock());
    match print(library, &places, &mut out, request.is_json) {
        Err(Failed::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            return Ok(Code::Done);
        }
        Err(Failed::Io(error)) => return Err(Failure::failed(error)),
        Err(Failed::Library(error)) => return Err(failure(error)),
        Ok(()) => (),
    }
    if !request.is_json {
        let rest = all - places.len();
        let more = match rest {
            0 => String::new(),
            rest => format!("; {} more places, --limit 0 lists all", grouped(rest as u64)),
        };
        let (games, all) = (grouped(total as u64), grouped(all as u64));
        print_error(&format!("{games} games leave in {all} places{more}"));
    }
    Ok(Code::Done)
}

fn places_of(
    number: usize,
    tree: &GameRecord,
    found: &[RepertoireGame],
    listed: usize,
) -> Vec<Place> {
    let places = RepertoirePlace::group(found.iter().copied()).into_iter();
    let places = places.filter_map(|RepertoirePlace { node, mv, counts, games }| {
        let mut position = tree.start().clone();
        let mut line = Vec::new();
        for id in tree.line_to(node) {
            let mv = tree.node(id)?.mv()?.legal()?;
            line.push(position.notation(mv, Notation::Western));
            position.play(mv).ok()?;
        }
        let mv = move_of(&position, mv);
        Some(Place {
            tree: number,
            line,
            mv: mv.map(|mv| position.notation(mv, Notation::Western)),
            games: counts.total(),
            results: counts.into(),
            score: counts.score(position.turn()).map(|score| (score * 1000.0).round() / 10.0),
            latest: games.into_iter().rev().take(listed).collect(),
            start: Some(tree.start().clone()),
        })
    });
    places.collect()
}

enum Failed {
    Io(io::Error),
    Library(readyok_library::Error),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn print(
    library: &Library,
    places: &[Place],
    out: &mut impl Write,
    is_json: bool,
) -> Result<(), Failed> {
    for place in places {
        if is_json {
            serde_json::to_writer(&mut *out, place).map_err(io::Error::from)?;
            writeln!(out)?;
            continue;
        }
        let score = place.score.map(|score| format!("{score:.1}%")).unwrap_or_default();
        let played = place.mv.as_deref().unwrap_or("(end)");
        let line = numbered(place);
        writeln!(out, "{:>9} {score:>7}  {played:<7} after {line}", grouped(place.games.into()))?;
        for entry in library.entries(&place.latest).map_err(Failed::Library)? {
            writeln!(out, "          {}", Row::new(entry).line(width().saturating_sub(10)))?;
        }
    }
    Ok(out.flush()?)
}

/// The moves before a place, with numbers.
fn numbered(place: &Place) -> String {
    let (mut number, mut is_second) = place
        .start
        .as_ref()
        .map_or((1, false), |start| (start.setup().move_number(), start.turn() == Side::Second));
    let is_shogi = place.start.as_ref().is_some_and(|start| start.game() == Game::Shogi);
    let mut text = String::new();
    for (index, mv) in place.line.iter().enumerate() {
        if !text.is_empty() {
            text.push(' ');
        }
        if is_shogi || !is_second {
            let _ = write!(text, "{number}. ");
        } else if index == 0 {
            let _ = write!(text, "{number}... ");
        }
        text.push_str(mv);
        if is_shogi || is_second {
            number += 1;
        }
        is_second = !is_second;
    }
    text
}
