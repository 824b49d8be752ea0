//! The output format of cutechess-cli, as fastchess 1.8 prints it (`-output format=cutechess`):
//!
//! ```text
//! Score of NAME vs NAME: 1272 - 1069 - 2255  [0.522] 4596
//! Elo difference: 15.36 +/- 7.19, LOS: 100.00 %, DrawRatio: 49.06 %
//! SPRT: llr 2.95 (100.2%), lbound -2.94, ubound 2.94 - H1 was accepted
//! ```
//!
//! Only single games are counted.

use super::counts::{Counts, Trinomial};
use super::estimate::Figure;
use super::fastchess::{both, percent, value};
use super::figures::Figures;
use super::sprt::{Sprt, Verdict};

/// The score line of two engines, from the point of view of the first.
pub fn score_line(first: &str, second: &str, games: Trinomial) -> String {
    let (wins, losses, draws) = (games.wins(), games.losses(), games.draws());
    let score = match Figures::of(&Counts::Games(games)).score.number() {
        Some(score) => format!("{score:.3}"),
        None => "nan".to_owned(),
    };
    let count = games.games();
    format!("Score of {first} vs {second}: {wins} - {losses} - {draws}  [{score}] {count}")
}

/// The Elo line, and the SPRT line if there is a test, from the point of view of the first engine.
pub fn report(games: Trinomial, sprt: Option<&Sprt>) -> String {
    let counts = Counts::Games(games);
    let figures = Figures::of(&counts);
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
