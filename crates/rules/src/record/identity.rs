//! What distinguishes games with equal moves: known names, chapters of studies, the amount of annotations.

use super::{GameRecord, Headers};

/// Values that programs write for an unknown player, event or site, without case and punctuation. The sides of
/// shogi are among them: programs write them where the names of the players belong.
const UNKNOWN: [&str; 10] =
    ["", "nn", "unknown", "anonymous", "white", "black", "先手", "後手", "下手", "上手"];

/// Whether a header names a player, an event or a site. `?`, `? 3`, `-`, `N.N.` and `Anonymous` do not.
pub fn is_known_name(name: &str) -> bool {
    let name = name.trim();
    let letters = || name.chars().filter(|letter| letter.is_alphanumeric());
    // Longer names cannot be among the unknown ones.
    let short: String = letters().flat_map(char::to_lowercase).take(16).collect();
    !name.starts_with('?') && !UNKNOWN.contains(&short.as_str())
}

impl Headers {
    /// What identifies a chapter of a study, whose moves can be those of another chapter.
    pub fn study_chapter(&self) -> Option<String> {
        if let Some(url) = self.get("ChapterURL") {
            return Some(url.to_owned());
        }
        if let Some(chapter) = self.get("ChapterName") {
            return Some(format!("{}\n{chapter}", self.get("StudyName").unwrap_or_default()));
        }
        self.get("Site").filter(|site| site.contains("/study/")).map(str::to_owned)
    }
}

/// The amount of annotations of a record. Variations, comments and glyphs count more than times, evaluations
/// and marks, which programs add.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AnnotationCount {
    /// Moves of variations, comments and glyphs.
    pub texts: u64,
    /// Times, evaluations and marks.
    pub values: u64,
}

impl GameRecord {
    /// The amount of annotations.
    pub fn annotation_count(&self) -> AnnotationCount {
        let variations = self.len().saturating_sub(self.plies());
        let mut count = AnnotationCount { texts: variations as u64, values: 0 };
        self.any_node(|node| {
            count.add(self.annotations(node.id()));
            false
        });
        count
    }
}

impl AnnotationCount {
    /// Counts the annotations of a move.
    pub fn add(&mut self, notes: &super::Annotations) {
        if notes.is_empty() {
            return;
        }
        let of_end = notes.end.as_ref().map_or(0, |end| end.comments.len());
        let texts = notes.before.len() + notes.comments.len() + notes.nags.len() + of_end;
        let times = [notes.clock, notes.elapsed].into_iter().flatten().count();
        let values = times + usize::from(notes.evaluation.is_some()) + notes.marks.len();
        self.texts += texts as u64;
        self.values += values as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::is_known_name;

    #[test]
    fn placeholders_are_no_names() {
        for name in ["", " ", "?", "??", "? 3", "-", "N.N.", "NN", "n. n.", "Unknown", "先手"] {
            assert!(!is_known_name(name), "{name}");
        }
        for name in ["Carlsen, Magnus", "Nn Li", "Player 3", "12345", "羽生善治", "White, A"] {
            assert!(is_known_name(name), "{name}");
        }
    }
}
