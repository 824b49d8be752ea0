//! What is lost between the input and the output: a line for the first games, and a summary.

use std::collections::BTreeMap;
use std::fmt::Display;

use readyok_rules::record::{Cost, Loss, Losses, Notice, ReadExtent, RecordError, RecordErrorKind};

use super::format::FileFormat;

/// The maximum number of lines about single games, of all reasons and of each.
const MAX_LINES: u64 = 20;
const MAX_LINES_OF_REASON: u64 = 5;
/// The maximum number of reasons that a summary names.
const MAX_REASONS: usize = 12;

/// Numbers of games by the reason of their loss.
#[derive(Debug, Default)]
struct Reasons(Vec<(String, u64)>);

impl Reasons {
    /// Counts a game, and returns the number of games with its reason.
    fn add(&mut self, reason: &str) -> u64 {
        // Names of unknown games come from the file.
        let reason: String = reason.chars().take(60).collect();
        let known = self.0.iter().position(|(known, _)| *known == reason);
        let index = known.unwrap_or_else(|| {
            if self.0.len() < MAX_REASONS {
                self.0.push((reason, 0));
            } else if self.0.len() == MAX_REASONS {
                self.0.push(("others".to_owned(), 0));
            }
            self.0.len() - 1
        });
        self.0.get_mut(index).map_or(0, |(_, count)| {
            *count += 1;
            *count
        })
    }

    fn total(&self) -> u64 {
        self.0.iter().map(|(_, count)| count).sum()
    }

    /// `80 × illegal move, 3 × comment not closed`.
    fn text(&self) -> String {
        let mut reasons: Vec<_> = self.0.iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let reasons = reasons.iter().map(|(reason, count)| format!("{count} × {reason}"));
        reasons.collect::<Vec<_>>().join(", ")
    }
}

/// Counts and describes what is lost.
#[derive(Debug, Default)]
pub(crate) struct LossReport {
    /// Lost moves have no effect on the exit code.
    is_lenient: bool,
    /// Files that could not be read.
    files: u64,
    /// Games that could not be read or written.
    failed: Reasons,
    /// Games with less moves than in the input.
    cut: Reasons,
    /// Such games that were not selected.
    unselected: u64,
    /// Games with other defects.
    defective: u64,
    lines: u64,
    /// Numbers of games by format and omitted content.
    omitted: BTreeMap<(String, String), u64>,
    /// Games with characters that the output encoding lacks.
    approximated: u64,
}

/// A game of an input file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    /// The name of the file.
    pub(crate) file: &'a str,
    /// The number of the game in the file, from 1.
    pub(crate) game: u64,
}

impl LossReport {
    pub(crate) fn new(is_lenient: bool) -> Self {
        Self { is_lenient, ..Self::default() }
    }

    /// A file that could not be opened.
    pub(crate) fn unreadable_file(&mut self, file: &str, error: &dyn Display) -> String {
        self.files += 1;
        format!("`{file}`: {error}")
    }

    /// A game that could not be read. Like the other methods, returns a line if it is among the first ones.
    pub(crate) fn unreadable(&mut self, file: &str, error: &RecordError) -> Option<String> {
        let RecordError { line, column, kind, .. } = error;
        let count = self.failed.add(kind.kind());
        self.line(count, || match kind {
            RecordErrorKind::Io(_) => format!("`{file}`: {kind}"),
            kind => format!("{file}:{line}:{column}: {kind}"),
        })
    }

    /// A game that could not be written.
    pub(crate) fn unwritable(&mut self, origin: Origin<'_>, error: &dyn Display) -> Option<String> {
        let count = self.failed.add(&error.to_string());
        let Origin { file, game } = origin;
        self.line(count, || format!("`{file}`: game {game} cannot be written: {error}"))
    }

    /// The notices of a game that was read and selected.
    pub(crate) fn read(&mut self, origin: Origin<'_>, notices: &[Notice]) -> Option<String> {
        let Some(notice) = notices.iter().find(|notice| notice.cost() == Cost::Moves) else {
            let is_defective = notices.iter().any(|notice| notice.cost() == Cost::Text);
            self.defective += u64::from(is_defective);
            return None;
        };
        let count = self.cut.add(notice.reason.kind());
        let Origin { file, game } = origin;
        let Notice { line, column, reason, kept } = notice;
        let kept = if *kept == ReadExtent::All { String::new() } else { format!("; {kept}") };
        self.line(count, || format!("{file}:{line}:{column}: game {game}: {reason}{kept}"))
    }

    /// The notices of a game that was read, but not selected.
    pub(crate) fn read_unselected(&mut self, notices: &[Notice]) {
        self.unselected += u64::from(notices.iter().any(|notice| notice.cost() == Cost::Moves));
    }

    /// What a writer omitted from a game.
    pub(crate) fn written(
        &mut self,
        origin: Origin<'_>,
        format: FileFormat,
        losses: Losses,
    ) -> Option<String> {
        for loss in losses.iter() {
            *self.omitted.entry((format.to_string(), loss.to_string())).or_default() += 1;
        }
        if !losses.contains(Loss::Moves) {
            return None;
        }
        let reason = format!("null or illegal move, which {format} cannot hold");
        let count = self.cut.add(&reason);
        let Origin { file, game } = origin;
        self.line(count, || format!("`{file}`: game {game}: cut at a {reason}"))
    }

    /// A game with characters that the output encoding lacks.
    pub(crate) fn approximated(&mut self) {
        self.approximated += 1;
    }

    fn line(&mut self, count_of_reason: u64, text: impl FnOnce() -> String) -> Option<String> {
        if count_of_reason > MAX_LINES_OF_REASON || self.lines >= MAX_LINES {
            return None;
        }
        self.lines += 1;
        Some(text())
    }

    /// The lines of the summary. Empty if nothing was lost.
    pub(crate) fn summary(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.failed.total() > 1 {
            let reasons = self.failed.text();
            lines.push(format!("{} games could not be converted: {reasons}", self.failed.total()));
        }
        if self.cut.total() > 0 {
            let reasons = self.cut.text();
            lines.push(format!("{} cut: {reasons}", games(self.cut.total(), "was", "were")));
        }
        if self.unselected > 0 {
            let count = games(self.unselected, "was", "were");
            lines.push(format!("{count} cut, and not selected; `convert --check` lists defects"));
        }
        if self.defective > 0 {
            let count = games(self.defective, "has", "have");
            lines.push(format!("{count} other defects; `convert --check` lists them"));
        }
        let mut formats: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for ((format, loss), count) in &self.omitted {
            let count = games(*count, "", "");
            formats.entry(format).or_default().push(format!("{loss} ({})", count.trim_end()));
        }
        for (format, losses) in formats {
            lines.push(format!("omitted, because {format} cannot hold it: {}", losses.join(", ")));
        }
        if self.approximated > 0 {
            let count = games(self.approximated, "has", "have");
            let text = "characters that the output encoding lacks; `?` replaces them";
            lines.push(format!("{count} {text}"));
        }
        lines
    }

    /// Whether files, games or moves were lost.
    pub(crate) fn is_failure(&self) -> bool {
        let has_cut = self.cut.total() > 0 && !self.is_lenient;
        self.files > 0 || self.failed.total() > 0 || has_cut
    }
}

/// `1 game was` or `2 games were`.
fn games(count: u64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 game {one}") } else { format!("{count} games {many}") }
}
