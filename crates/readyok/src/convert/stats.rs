//! Statistics of games.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use clap::ValueEnum;
use readyok_rules::record::{GameRecord, Tag};
use readyok_rules::{GameResult, Side};
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use super::game_name;
use super::progress::grouped;
use super::sort::average_rating;
use crate::terminal::{fitting, printable};

/// The number of openings, players and events in statistics.
const TOP: usize = 10;
/// Plies of a class of lengths.
const LENGTH_CLASS: usize = 20;

/// A form of statistics.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum StatsForm {
    Table,
    Json,
}

/// Counts of results.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Results {
    games: u64,
    /// Wins of the side that moves first.
    first: u64,
    draws: u64,
    second: u64,
    unknown: u64,
}

impl Results {
    fn add(&mut self, result: GameResult) {
        self.games += 1;
        match result {
            GameResult::Win(Side::First) => self.first += 1,
            GameResult::Win(Side::Second) => self.second += 1,
            GameResult::Draw => self.draws += 1,
            GameResult::Unknown => self.unknown += 1,
        }
    }
}

#[derive(Debug, Default, Serialize)]
struct Player {
    games: u64,
    wins: u64,
    draws: u64,
    losses: u64,
}

/// Statistics of a number of games.
#[derive(Debug, Default)]
pub(super) struct Stats {
    results: Results,
    variants: BTreeMap<&'static str, u64>,
    plies: u64,
    shortest: Option<usize>,
    longest: usize,
    lengths: BTreeMap<usize, u64>,
    openings: HashMap<String, Results>,
    players: HashMap<String, Player>,
    events: HashMap<String, u64>,
    years: BTreeMap<String, u64>,
    terminations: HashMap<&'static str, u64>,
    ratings: (u64, i64),
}

#[derive(Serialize)]
struct Json<'a> {
    results: Results,
    variants: &'a BTreeMap<&'static str, u64>,
    plies: Lengths,
    average_rating: Option<i64>,
    years: &'a BTreeMap<String, u64>,
    terminations: BTreeMap<&'static str, u64>,
    openings: Vec<Named<'a, &'a Results>>,
    players: Vec<Named<'a, &'a Player>>,
    events: Vec<Named<'a, Games>>,
}

#[derive(Serialize)]
struct Lengths {
    average: f64,
    shortest: usize,
    longest: usize,
    /// The first ply count of each class, and its games.
    classes: BTreeMap<usize, u64>,
}

#[derive(Serialize)]
struct Named<'a, T> {
    name: &'a str,
    #[serde(flatten)]
    value: T,
}

#[derive(Serialize)]
struct Games {
    games: u64,
}

impl Stats {
    pub(super) fn add(&mut self, record: &GameRecord) {
        self.results.add(record.result);
        *self.variants.entry(game_name(record.game())).or_default() += 1;
        let plies = record.plies();
        self.plies += plies as u64;
        self.shortest = Some(self.shortest.map_or(plies, |shortest| shortest.min(plies)));
        self.longest = self.longest.max(plies);
        *self.lengths.entry(plies / LENGTH_CLASS * LENGTH_CLASS).or_default() += 1;
        if let Some(opening) = opening(record) {
            self.openings.entry(opening).or_default().add(record.result);
        }
        for side in Side::BOTH {
            let Some(name) = record.player(side).filter(|name| !name.is_empty()) else { continue };
            let player = match self.players.get_mut(name) {
                Some(player) => player,
                None => self.players.entry(name.to_owned()).or_default(),
            };
            player.games += 1;
            match record.result {
                GameResult::Win(winner) if winner == side => player.wins += 1,
                GameResult::Win(_) => player.losses += 1,
                GameResult::Draw => player.draws += 1,
                GameResult::Unknown => (),
            }
        }
        if let Some(event) = record.header(Tag::Event).filter(|event| !event.is_empty()) {
            *self.events.entry(event.to_owned()).or_default() += 1;
        }
        if let Some(year) = record.date().year().filter(|year| *year >= 1000) {
            *self.years.entry(year.to_string()).or_default() += 1;
        }
        if let Some(termination) = record.derived_termination() {
            *self.terminations.entry(termination.name()).or_default() += 1;
        }
        if let Some(rating) = average_rating(record) {
            self.ratings = (self.ratings.0 + 1, self.ratings.1 + rating);
        }
    }

    fn average_plies(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "counts of games are far below 2^53")]
        let average = self.plies as f64 / self.results.games.max(1) as f64;
        average
    }

    fn average_rating(&self) -> Option<i64> {
        let count = i64::try_from(self.ratings.0).ok().filter(|count| *count > 0)?;
        Some(self.ratings.1 / count)
    }

    pub(super) fn json(&self) -> serde_json::Result<String> {
        let json = Json {
            results: self.results,
            variants: &self.variants,
            plies: Lengths {
                average: (self.average_plies() * 10.0).round() / 10.0,
                shortest: self.shortest.unwrap_or_default(),
                longest: self.longest,
                classes: self.lengths.clone(),
            },
            average_rating: self.average_rating(),
            years: &self.years,
            terminations: self.terminations.iter().map(|(name, games)| (*name, *games)).collect(),
            openings: top(&self.openings, |count| count.games)
                .map(|(name, value)| Named { name, value })
                .collect(),
            players: top(&self.players, |count| count.games)
                .map(|(name, value)| Named { name, value })
                .collect(),
            events: top(&self.events, |games| *games)
                .map(|(name, games)| Named { name, value: Games { games: *games } })
                .collect(),
        };
        serde_json::to_string_pretty(&json)
    }

    /// Aligned columns for a terminal.
    pub(super) fn table(&self) -> String {
        let mut text = String::new();
        let Results { games, first, draws, second, unknown } = self.results;
        row(&mut text, "Games", games, games);
        for (variant, count) in &self.variants {
            row(&mut text, &format!("  {variant}"), *count, games);
        }
        let only_shogi = self.variants.keys().all(|variant| *variant == "shogi");
        let (name_first, name_second) = if only_shogi {
            ("Black (sente) wins", "White (gote) wins")
        } else {
            ("White wins", "Black wins")
        };
        heading(&mut text, "Results");
        row(&mut text, name_first, first, games);
        row(&mut text, "Draws", draws, games);
        row(&mut text, name_second, second, games);
        row(&mut text, "Unknown", unknown, games);
        heading(&mut text, "Length in plies");
        let shortest = self.shortest.unwrap_or_default();
        push(
            &mut text,
            format_args!(
                "average {:.1}, shortest {shortest}, longest {}\n",
                self.average_plies(),
                self.longest
            ),
        );
        for (class, count) in &self.lengths {
            row(&mut text, &format!("{class}–{}", class + LENGTH_CLASS - 1), *count, games);
        }
        if let Some(rating) = self.average_rating() {
            heading(&mut text, "Ratings");
            push(&mut text, format_args!("average {rating} ({} games)\n", grouped(self.ratings.0)));
        }
        if !self.openings.is_empty() {
            heading(
                &mut text,
                "Openings                                   games    first   draw second",
            );
            for (name, results) in top(&self.openings, |results| results.games) {
                let percent = |count| percent(count, results.games);
                let columns = [results.first, results.draws, results.second].map(percent);
                push(
                    &mut text,
                    format_args!(
                        "{} {:>8}   {:>5}  {:>5}  {:>5}\n",
                        padded(name, 38),
                        grouped(results.games),
                        columns[0],
                        columns[1],
                        columns[2]
                    ),
                );
            }
        }
        if !self.players.is_empty() {
            heading(
                &mut text,
                "Players                                    games     wins  draws losses",
            );
            for (name, count) in top(&self.players, |count| count.games) {
                push(
                    &mut text,
                    format_args!(
                        "{} {:>8}  {:>6} {:>6} {:>6}\n",
                        padded(name, 38),
                        grouped(count.games),
                        count.wins,
                        count.draws,
                        count.losses
                    ),
                );
            }
        }
        counts(&mut text, "Events", top(&self.events, |count| *count), games);
        counts(
            &mut text,
            "Years",
            self.years.iter().map(|(name, count)| (name.as_str(), count)),
            games,
        );
        let mut terminations: Vec<_> = self.terminations.iter().collect();
        terminations.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), **name));
        let terminations = terminations.into_iter().map(|(name, count)| (*name, count));
        counts(&mut text, "Terminations", terminations, games);
        text
    }
}

/// The name of the opening with its code, if it has one.
fn opening(record: &GameRecord) -> Option<String> {
    record.opening_names().map(|(eco, name)| format!("{eco} {name}").trim().to_owned())
}

/// The most frequent names.
fn top<T>(all: &HashMap<String, T>, games: impl Fn(&T) -> u64) -> impl Iterator<Item = (&str, &T)> {
    let mut sorted: Vec<_> = all.iter().map(|(name, value)| (name.as_str(), value)).collect();
    sorted.sort_by_key(|(name, value)| (std::cmp::Reverse(games(value)), *name));
    sorted.into_iter().take(TOP)
}

fn push(text: &mut String, more: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = text.write_fmt(more);
}

fn heading(text: &mut String, heading: &str) {
    push(text, format_args!("\n{heading}\n"));
}

fn row(text: &mut String, name: &str, count: u64, total: u64) {
    push(
        text,
        format_args!("{} {:>12}  {:>6}\n", padded(name, 34), grouped(count), percent(count, total)),
    );
}

fn counts<'a>(
    text: &mut String,
    title: &str,
    rows: impl Iterator<Item = (&'a str, &'a u64)>,
    total: u64,
) {
    let mut rows = rows.peekable();
    if rows.peek().is_some() {
        heading(text, title);
    }
    for (name, count) in rows {
        row(text, name, *count, total);
    }
}

fn percent(count: u64, total: u64) -> String {
    let tenths = (count * 1000 + total / 2).checked_div(total).unwrap_or_default();
    format!("{}.{}%", tenths / 10, tenths % 10)
}

/// Printable text of exactly this width.
fn padded(text: &str, columns: usize) -> String {
    let text = fitting(&printable(text), columns);
    let blanks = columns.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(blanks))
}
