//! The result block of fastchess 1.8 (`-output format=fastchess`), which scripts parse. fastchess prints
//! it between two lines of dashes:
//!
//! ```text
//! Results of NAME vs NAME (TIME, THREADSt, HASHMB, BOOK):
//! Elo: 15.36 +/- 6.87, nElo: 22.49 +/- 10.04
//! LOS: 100.00 %, DrawRatio: 38.12 %, PairsRatio: 1.26
//! Games: 4596, Wins: 1272, Losses: 1069, Draws: 2255, Points: 2399.5 (52.21 %)
//! Ptnml(0-2): [104, 524, 876, 653, 141], WL/DD Ratio: 0.62
//! LLR: 2.95 (100.2%) (-2.94, 2.94) [0.00, 5.00]
//! ```
//!
//! All numbers have two decimals, except the points and the progress of the SPRT, which have one. Settings
//! that differ between the engines are written `this - that`; an option that an engine does not have
//! is `NULL`. Without pairs the pair ratio and the `Ptnml` line are omitted. The worker of fishtest
//! parses the lines that begin with `Games` and `Ptnml`.
//!
//! Unknown numbers and errors are `nan`, as in fastchess, but never `-nan`.

use std::fmt;
use std::fmt::Write;

use crate::stats::counts::{Counts, Estimates, Pentanomial, Trinomial};
use crate::stats::estimate::{Estimate, Figure};
use crate::stats::model::LlrError;
use crate::stats::sprt::{Sprt, Verdict};

/// The line before and after a block.
pub const RULE: &str = "--------------------------------------------------";

/// The settings of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup<'a> {
    /// The name.
    pub name: &'a str,
    /// The time control: `10+0.1`, `0.5/move`, `12 plies`, `5000 nodes`.
    pub time: &'a str,
    /// The value of the option `Threads`, if it has one.
    pub threads: Option<&'a str>,
    /// The value of the option `Hash` in MiB, if it has one.
    pub hash: Option<&'a str>,
}

/// The result block of a match of two engines. It is displayed without the lines of dashes; each line
/// ends with a line feed.
#[derive(Clone, Debug)]
pub struct Block<'a> {
    /// The engine that the counts are about.
    pub first: Setup<'a>,
    /// The opponent.
    pub second: Setup<'a>,
    /// The opening file, of which only the name is printed; none for the start position.
    pub book: Option<&'a str>,
    /// The results. If the middle is not split, its pairs count as two draws.
    pub counts: Counts,
    /// The test, if there is one.
    pub sprt: Option<Sprt>,
}

impl fmt::Display for Block<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let figures = Estimates::of(&self.counts);
        self.fmt_heading(f)?;
        let (elo, normalized) = (both(figures.elo), both(figures.normalized_elo));
        writeln!(f, "Elo: {elo}, nElo: {normalized}")?;
        write!(f, "LOS: {} %", percent(figures.los))?;
        write!(f, ", DrawRatio: {} %", percent(figures.draw_ratio))?;
        if let Some(pairs) = figures.pairs {
            write!(f, ", PairsRatio: {}", value(pairs.pairs_ratio))?;
        }
        f.write_char('\n')?;
        let games = single_games(&self.counts);
        write!(f, "Games: {}, Wins: {}, ", figures.games, games.wins)?;
        write!(f, "Losses: {}, Draws: {}, ", games.losses, games.draws)?;
        let (points, half) = (figures.half_points / 2, 5 * (figures.half_points % 2));
        writeln!(f, "Points: {points}.{half} ({} %)", percent(figures.score))?;
        if let (Counts::Pairs(pairs), Some(ratios)) = (&self.counts, figures.pairs) {
            let ratio = value(ratios.wl_dd_ratio);
            writeln!(f, "Ptnml(0-2): {}, WL/DD Ratio: {ratio}", five(pairs))?;
        }
        if let Some(sprt) = &self.sprt {
            writeln!(f, "{}", ratio_line(sprt, &self.counts))?;
        }
        Ok(())
    }
}

impl Block<'_> {
    fn fmt_heading(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, second, .. } = self;
        write!(f, "Results of {} vs {} (", Plain(first.name), Plain(second.name))?;
        fmt_both(f, Some(first.time), Some(second.time), "")?;
        f.write_str(", ")?;
        fmt_both(f, first.threads, second.threads, "t")?;
        f.write_str(", ")?;
        fmt_both(f, first.hash, second.hash, "MB")?;
        if let Some(book) = self.book {
            let file = book.rsplit(['/', '\\']).next().unwrap_or_default();
            write!(f, ", {}", Plain(file))?;
        }
        f.write_str("):\n")
    }
}

/// The line of the test: the log-likelihood ratio, its share of the way to the bound, the bounds and
/// the hypotheses. Where there is no ratio it is `nan`.
pub fn ratio_line(sprt: &Sprt, counts: &Counts) -> String {
    let (llr, share) = match sprt.status(counts) {
        Ok(status) => (Figure::of(status.llr), Figure::of(status.progress() * 100.0)),
        Err(LlrError::NeedsSingleGames | LlrError::OutOfReach) => {
            (Figure::Unknown, Figure::Unknown)
        }
    };
    let share = share.number().map_or_else(|| "nan".to_owned(), |share| format!("{share:.1}"));
    format!(
        "LLR: {} ({share}%) ({:.2}, {:.2}) {}",
        value(llr),
        sprt.lower(),
        sprt.upper(),
        hypotheses(sprt)
    )
}

/// The line at the end of a test; none before.
pub fn verdict_line(sprt: &Sprt, verdict: Verdict) -> Option<String> {
    let accepted = match verdict {
        Verdict::Continue => return None,
        Verdict::AcceptH0 => "H0",
        Verdict::AcceptH1 => "H1",
    };
    Some(format!("SPRT ({}) completed - {accepted} was accepted", hypotheses(sprt)))
}

/// The table of more than two engines, best first: the counts of each against all others together.
/// Those whose Elo is unknown come last.
pub fn ranking(engines: &[(&str, Counts)]) -> String {
    const NAME: usize = 25;
    let mut rows: Vec<_> =
        engines.iter().map(|(name, counts)| (name, counts, Estimates::of(counts))).collect();
    let key = |figures: &Estimates| match figures.elo.value {
        Figure::Number(elo) => elo,
        Figure::PlusInfinity => f64::INFINITY,
        Figure::MinusInfinity => -1e300,
        Figure::Unknown => f64::NEG_INFINITY,
    };
    rows.sort_by(|one, other| key(&other.2).total_cmp(&key(&one.2)));
    let width = rows.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0).max(NAME);
    let mut table = format!(
        "{:<4} {:<width$} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>20}\n",
        "Rank", "Name", "Elo", "+/-", "nElo", "+/-", "Games", "Score", "Draw", "Ptnml(0-2)"
    );
    for (rank, (name, counts, figures)) in (1u32..).zip(rows) {
        let one_digit = |figure: Figure| match figure.number() {
            Some(share) => format!("{:.1}", 100.0 * share),
            None => "nan".to_owned(),
        };
        let five = match counts {
            Counts::Games(_) => String::new(),
            Counts::Pairs(pairs) => five(pairs),
        };
        let _infallible = writeln!(
            table,
            "{rank:>4} {:<width$} {:>10} {:>10} {:>10} {:>10} {:>10} {:>9}% {:>9}% {five:>20}",
            Plain(name).to_string(),
            value(figures.elo.value),
            error(figures.elo),
            value(figures.normalized_elo.value),
            error(figures.normalized_elo),
            figures.games,
            one_digit(figures.score),
            one_digit(figures.draw_ratio),
        );
    }
    table
}

fn hypotheses(sprt: &Sprt) -> String {
    format!("[{:.2}, {:.2}]", sprt.elo0(), sprt.elo1())
}

fn five(pairs: &Pentanomial) -> String {
    let [ll, ld, middle, wd, ww] = pairs.five();
    format!("[{ll}, {ld}, {middle}, {wd}, {ww}]")
}

struct SingleGames {
    wins: u64,
    losses: u64,
    draws: u64,
}

fn single_games(counts: &Counts) -> SingleGames {
    if let Some(games) = counts.single_games() {
        return SingleGames { wins: games.wins(), losses: games.losses(), draws: games.draws() };
    }
    let [ll, ld, middle, wd, ww] = match counts {
        Counts::Pairs(pairs) => pairs.five(),
        Counts::Games(_) => [0; 5],
    };
    SingleGames { wins: 2 * ww + wd, losses: 2 * ll + ld, draws: ld + 2 * middle + wd }
}

pub(super) fn both(estimate: Estimate) -> String {
    format!("{} +/- {}", value(estimate.value), error(estimate))
}

pub(super) fn value(figure: Figure) -> String {
    match figure {
        Figure::Unknown => "nan".to_owned(),
        known => format!("{known:.2}"),
    }
}

/// fastchess prints an error of 0 if all games have the same score.
fn error(estimate: Estimate) -> String {
    match estimate {
        Estimate { error: Figure::Number(error), .. } => format!("{error:.2}"),
        Estimate { value: Figure::Number(_), error: Figure::Unknown } => "0.00".to_owned(),
        _ => "nan".to_owned(),
    }
}

pub(super) fn percent(figure: Figure) -> String {
    figure.number().map_or_else(|| "nan".to_owned(), |share| format!("{:.2}", 100.0 * share))
}

fn fmt_both(
    f: &mut fmt::Formatter<'_>,
    one: Option<&str>,
    other: Option<&str>,
    unit: &str,
) -> fmt::Result {
    fmt_setting(f, one, unit)?;
    if one != other {
        f.write_str(" - ")?;
        fmt_setting(f, other, unit)?;
    }
    Ok(())
}

fn fmt_setting(f: &mut fmt::Formatter<'_>, setting: Option<&str>, unit: &str) -> fmt::Result {
    match setting {
        Some(setting) => write!(f, "{}{unit}", Plain(setting)),
        None => f.write_str("NULL"),
    }
}

/// A text from outside. A control character in it could start a line of its own.
struct Plain<'a>(&'a str);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| f.write_char(if c.is_control() { ' ' } else { c }))
    }
}

/// The score line of two engines, from the point of view of the first.
pub fn score_line(first: &str, second: &str, games: Trinomial) -> String {
    let (wins, losses, draws) = (games.wins(), games.losses(), games.draws());
    let score = match Estimates::of(&Counts::Games(games)).score.number() {
        Some(score) => format!("{score:.3}"),
        None => "nan".to_owned(),
    };
    let count = games.games();
    format!("Score of {first} vs {second}: {wins} - {losses} - {draws}  [{score}] {count}")
}

/// The Elo line, and the SPRT line if there is a test, from the point of view of the first engine.
pub fn report(games: Trinomial, sprt: Option<&Sprt>) -> String {
    let counts = Counts::Games(games);
    let figures = Estimates::of(&counts);
    let (elo, los, draws) = (both(figures.elo), percent(figures.los), percent(figures.draw_ratio));
    let strength = format!("Elo difference: {elo}, LOS: {los} %, DrawRatio: {draws} %");
    match sprt {
        Some(sprt) => format!("{strength}\n{}", test_line(sprt, &counts)),
        None => strength,
    }
}

fn test_line(sprt: &Sprt, counts: &Counts) -> String {
    let (lower, upper) = (sprt.lower(), sprt.upper());
    let (ratio, share, verdict) = match sprt.status(counts) {
        Ok(status) => {
            let share = format!("{:.1}", status.progress().abs() * 100.0);
            (Figure::of(status.llr), share, status.verdict)
        }
        Err(_) => (Figure::Unknown, "nan".to_owned(), Verdict::Continue),
    };
    let verdict = match verdict {
        Verdict::Continue => "",
        Verdict::AcceptH0 => " - H0 was accepted",
        Verdict::AcceptH1 => " - H1 was accepted",
    };
    let ratio = value(ratio);
    format!("SPRT: llr {ratio} ({share}%), lbound {lower:.2}, ubound {upper:.2}{verdict}")
}
