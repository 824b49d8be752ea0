//! The summary of a batch: what each engine solved of each suite, and where engines differ.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use unicode_width::UnicodeWidthStr;

use super::search::{Analysed, Outcome, Solution};
use super::suite::{Judgement, Verdict};
use crate::convert::grouped;
use crate::terminal::printable;

/// The maximum number of listed differences.
const MAX_DIFFERENCES: usize = 50;

/// The form of the summary.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, clap::ValueEnum)]
pub(crate) enum SummaryForm {
    /// A table
    #[default]
    Table,
    /// A JSON object in one line
    Json,
    /// No summary
    None,
}

/// What the summary needs of an outcome.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Scored {
    /// The engine gave no result.
    is_failure: bool,
    #[serde(flatten)]
    judgement: Judgement,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    solution: Option<Solution>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nodes: Option<u64>,
    #[serde(default)]
    time_ms: u64,
    /// The best move in the notation of the output.
    #[serde(default, rename = "move", skip_serializing_if = "Option::is_none")]
    mv: Option<String>,
}

impl Scored {
    pub(super) fn of(outcome: &Outcome, mv: Option<String>) -> Self {
        let (depth, nodes, time) = match &outcome.analysed {
            Ok(Analysed::Searched { result, .. }) => {
                (result.info.depth, result.info.nodes, result.time())
            }
            Ok(Analysed::Over(_)) | Err(_) => Default::default(),
        };
        Self {
            is_failure: outcome.analysed.is_err(),
            judgement: outcome.judgement.clone(),
            solution: outcome.solution.clone(),
            depth,
            nodes,
            time_ms: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
            mv,
        }
    }

    pub(super) fn is_failure(&self) -> bool {
        self.is_failure
    }
}

/// A mean of numbers.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: u64,
    count: u64,
}

impl Mean {
    fn add(&mut self, number: Option<impl Into<u64>>) {
        if let Some(number) = number {
            self.sum = self.sum.saturating_add(number.into());
            self.count += 1;
        }
    }

    fn merge(&mut self, other: Self) {
        self.sum = self.sum.saturating_add(other.sum);
        self.count += other.count;
    }

    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    fn value(self) -> Option<f64> {
        (self.count > 0).then(|| (self.sum as f64 / self.count as f64 * 10.0).round() / 10.0)
    }
}

/// The results of an engine in a suite.
#[derive(Clone, Debug, Default)]
struct Tally {
    positions: u64,
    failures: u64,
    scored: u64,
    solved: u64,
    points: u64,
    max_points: u64,
    depth: Mean,
    nodes: Mean,
    time: Mean,
    solution_depth: Mean,
    solution_time: Mean,
}

impl Tally {
    fn add(&mut self, scored: &Scored) {
        self.positions += 1;
        self.failures += u64::from(scored.is_failure);
        let Judgement { verdict, points, max_points, .. } = &scored.judgement;
        self.scored += u64::from(verdict.is_some());
        self.solved += u64::from(*verdict == Some(Verdict::Solved));
        self.points += u64::from(points.unwrap_or(0));
        self.max_points += u64::from(max_points.unwrap_or(0));
        self.depth.add(scored.depth);
        self.nodes.add(scored.nodes);
        self.time.add(Some(scored.time_ms).filter(|_| !scored.is_failure));
        if let Some(solution) = &scored.solution {
            self.solution_depth.add(solution.depth);
            self.solution_time.add(Some(solution.time_ms));
        }
    }

    fn merge(&mut self, other: &Self) {
        self.positions += other.positions;
        self.failures += other.failures;
        self.scored += other.scored;
        self.solved += other.solved;
        self.points += other.points;
        self.max_points += other.max_points;
        self.depth.merge(other.depth);
        self.nodes.merge(other.nodes);
        self.time.merge(other.time);
        self.solution_depth.merge(other.solution_depth);
        self.solution_time.merge(other.solution_time);
    }

    /// Percent of the scored positions that are solved.
    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    fn percent(&self) -> Option<f64> {
        let percent = self.solved as f64 * 100.0 / self.scored as f64;
        (self.scored > 0).then(|| (percent * 10.0).round() / 10.0)
    }
}

/// A position with different results.
#[derive(Clone, Debug, Serialize)]
struct Difference {
    position: String,
    results: Vec<DifferentResult>,
}

#[derive(Clone, Debug, Serialize)]
struct DifferentResult {
    engine: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    #[serde(rename = "move", skip_serializing_if = "Option::is_none")]
    mv: Option<String>,
}

/// The results of all engines in all suites.
#[derive(Debug)]
pub(super) struct Summary {
    engines: Vec<String>,
    /// The suites by the numbers of their files, in order.
    suites: Vec<(usize, Vec<Tally>)>,
    differences: Vec<Difference>,
    different: u64,
    /// Parts of the input that are not positions, or that cannot be written.
    unreadable: u64,
}

/// A row of the summary in JSON.
#[derive(Serialize)]
struct Row<'a> {
    /// The file; absent for the total of several files.
    #[serde(skip_serializing_if = "Option::is_none")]
    suite: Option<&'a str>,
    engine: &'a str,
    positions: u64,
    failures: u64,
    scored: u64,
    solved: u64,
    percent: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    points: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_points: Option<u64>,
    mean_depth: Option<f64>,
    mean_nodes: Option<f64>,
    mean_time_ms: Option<f64>,
    solution_depth: Option<f64>,
    solution_time_ms: Option<f64>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "summary")]
struct JsonSummary<'a> {
    rows: Vec<Row<'a>>,
    unreadable: u64,
    /// The number of positions in which engines differ.
    different: u64,
    differences: &'a [Difference],
}

impl Summary {
    pub(super) fn new(engines: Vec<String>) -> Self {
        Self { engines, suites: Vec::new(), differences: Vec::new(), different: 0, unreadable: 0 }
    }

    /// Adds the results of all engines for a position of a file.
    pub(super) fn add(&mut self, file: usize, label: &str, results: &[Scored]) {
        if self.suites.last().is_none_or(|(last, _)| *last != file) {
            self.suites.push((file, vec![Tally::default(); self.engines.len()]));
        }
        let Some((_, tallies)) = self.suites.last_mut() else { return };
        for (tally, scored) in tallies.iter_mut().zip(results) {
            tally.add(scored);
        }
        // In a suite, only the verdict counts.
        let differ = results.windows(2).any(|pair| match pair {
            [one, other] => match (one.judgement.verdict, other.judgement.verdict) {
                (None, None) => one.mv != other.mv,
                (one, other) => one != other,
            },
            _ => false,
        });
        if differ {
            self.different += 1;
            if self.differences.len() < MAX_DIFFERENCES {
                let results = self.engines.iter().zip(results).map(|(engine, scored)| {
                    let (verdict, mv) = (scored.judgement.verdict, scored.mv.clone());
                    DifferentResult { engine: engine.clone(), verdict, mv }
                });
                let results = results.collect();
                self.differences.push(Difference { position: label.to_owned(), results });
            }
        }
    }

    pub(super) fn add_unreadable(&mut self) {
        self.unreadable += 1;
    }

    pub(super) fn unreadable(&self) -> u64 {
        self.unreadable
    }

    /// The number of positions for which an engine failed.
    pub(super) fn failures(&self) -> u64 {
        self.suites.iter().flat_map(|(_, tallies)| tallies).map(|tally| tally.failures).sum()
    }

    /// Writes the summary. `file` is the name of a file by its number.
    pub(super) fn write(
        &self,
        form: SummaryForm,
        file: &dyn Fn(usize) -> String,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let names: Vec<String> = self.suites.iter().map(|(number, _)| file(*number)).collect();
        let mut rows: Vec<(Option<&str>, &str, Tally)> = Vec::new();
        for (name, (_, tallies)) in names.iter().zip(&self.suites) {
            for (engine, tally) in self.engines.iter().zip(tallies) {
                rows.push((Some(name), engine, tally.clone()));
            }
        }
        if self.suites.len() > 1 {
            for (index, engine) in self.engines.iter().enumerate() {
                let mut total = Tally::default();
                let tallies = self.suites.iter().filter_map(|(_, tallies)| tallies.get(index));
                tallies.for_each(|tally| total.merge(tally));
                rows.push((None, engine, total));
            }
        }
        match form {
            SummaryForm::None => Ok(()),
            SummaryForm::Json => self.write_json(&rows, out),
            SummaryForm::Table => self.write_table(&rows, out),
        }
    }

    fn write_json(
        &self,
        rows: &[(Option<&str>, &str, Tally)],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let rows = rows.iter().map(|(suite, engine, tally)| Row {
            suite: *suite,
            engine,
            positions: tally.positions,
            failures: tally.failures,
            scored: tally.scored,
            solved: tally.solved,
            percent: tally.percent(),
            points: (tally.max_points > 0).then_some(tally.points),
            max_points: (tally.max_points > 0).then_some(tally.max_points),
            mean_depth: tally.depth.value(),
            mean_nodes: tally.nodes.value(),
            mean_time_ms: tally.time.value(),
            solution_depth: tally.solution_depth.value(),
            solution_time_ms: tally.solution_time.value(),
        });
        let summary = JsonSummary {
            rows: rows.collect(),
            unreadable: self.unreadable,
            different: self.different,
            differences: &self.differences,
        };
        serde_json::to_writer(&mut *out, &summary)?;
        writeln!(out)
    }

    fn write_table(
        &self,
        rows: &[(Option<&str>, &str, Tally)],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        const HEADINGS: [&str; 11] = [
            "suite",
            "engine",
            "positions",
            "failed",
            "solved",
            "%",
            "points",
            "depth",
            "time",
            "nodes",
            "mean time",
        ];
        let seconds = |mean: Mean| mean.value().map(|ms| format!("{:.2} s", ms / 1000.0));
        let decimal = |value: Option<f64>| value.map(|value| format!("{value:.1}"));
        let cells = rows.iter().map(|(suite, engine, tally)| {
            let is_scored = tally.scored > 0;
            let depth = if is_scored { tally.solution_depth } else { tally.depth };
            let points = format!("{}/{}", tally.points, tally.max_points);
            let failures = (tally.failures > 0).then(|| grouped(tally.failures));
            let solved = format!("{}/{}", grouped(tally.solved), grouped(tally.scored));
            [
                printable(suite.unwrap_or("all")),
                printable(engine),
                grouped(tally.positions),
                failures.unwrap_or_default(),
                if is_scored { solved } else { String::new() },
                decimal(tally.percent()).unwrap_or_default(),
                if tally.max_points > 0 { points } else { String::new() },
                decimal(depth.value()).unwrap_or_default(),
                seconds(tally.solution_time).unwrap_or_default(),
                tally.nodes.sum.checked_div(tally.nodes.count).map(grouped).unwrap_or_default(),
                seconds(tally.time).unwrap_or_default(),
            ]
        });
        let cells: Vec<[String; 11]> = cells.collect();
        for line in table(HEADINGS, &cells) {
            writeln!(out, "{line}")?;
        }
        if self.different > 0 {
            writeln!(out, "positions in which engines differ: {}", grouped(self.different))?;
        }
        for Difference { position, results } in &self.differences {
            let results = results.iter().map(|result| {
                let verdict = match result.verdict {
                    Some(Verdict::Solved) => " solved",
                    Some(Verdict::Failed) => " failed",
                    None => "",
                };
                let mv = result.mv.as_deref().unwrap_or("–");
                format!("{}{verdict} ({mv})", result.engine)
            });
            let results = results.collect::<Vec<_>>().join(", ");
            writeln!(out, "  {}: {}", printable(position), printable(&results))?;
        }
        let unlisted = self.different.saturating_sub(self.differences.len() as u64);
        if unlisted > 0 {
            writeln!(out, "  and {} more", grouped(unlisted))?;
        }
        if self.unreadable > 0 {
            writeln!(out, "not analysed: {}", grouped(self.unreadable))?;
        }
        Ok(())
    }
}

/// Aligns cells: the first two columns to the left. Empty columns are omitted.
fn table<const COLUMNS: usize>(
    headings: [&str; COLUMNS],
    rows: &[[String; COLUMNS]],
) -> Vec<String> {
    let widths: Vec<usize> = (0..COLUMNS)
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            match cells.map(|cell| cell.width()).max().unwrap_or(0) {
                0 => 0,
                widest => widest.max(headings.get(column).map_or(0, |heading| heading.width())),
            }
        })
        .collect();
    let lay = |cells: Vec<&str>| {
        let mut line = String::new();
        for (column, (cell, width)) in cells.into_iter().zip(&widths).enumerate() {
            if *width == 0 {
                continue;
            }
            let blanks = " ".repeat(width.saturating_sub(cell.width()));
            let (before, after) = if column < 2 { ("", &*blanks) } else { (&*blanks, "") };
            line.extend([before, cell, after, "  "]);
        }
        line.trim_end().to_owned()
    };
    if rows.is_empty() {
        return Vec::new();
    }
    let rows = rows.iter().map(|row| lay(row.iter().map(String::as_str).collect()));
    std::iter::once(lay(headings.to_vec())).chain(rows).collect()
}
