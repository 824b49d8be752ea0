//! Ratings and themes of problems in blocks, one for each batch of an import. A filter reads a million problems in
//! milliseconds.
//!
//! ```text
//!  entry, 22 bytes, little endian:  number of the exercise (4) │ rating, 0 if unknown (2) │ bit set of themes (16)
//! ```

/// Maximum number of themes of a set.
pub(crate) const MAX_THEMES: usize = 128;

const ENTRY: usize = 22;

/// What a filter knows of a problem.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ProblemRow {
    pub(crate) exercise: u32,
    pub(crate) rating: Option<u16>,
    /// A bit for each theme of the set.
    pub(crate) themes: u128,
}

/// A condition on problems.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct ProblemFilter {
    /// Themes that a problem must have.
    pub(crate) themes: u128,
    pub(crate) min_rating: Option<u16>,
    pub(crate) max_rating: Option<u16>,
}

impl ProblemFilter {
    pub(crate) fn is_all(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn matches(&self, row: &ProblemRow) -> bool {
        let in_range = |rating: u16| {
            self.min_rating.is_none_or(|min| min <= rating)
                && self.max_rating.is_none_or(|max| rating <= max)
        };
        let has_range = self.min_rating.is_some() || self.max_rating.is_some();
        row.themes & self.themes == self.themes && (!has_range || row.rating.is_some_and(in_range))
    }
}

pub(crate) fn encode_block(rows: &[ProblemRow]) -> Vec<u8> {
    let mut block = Vec::with_capacity(rows.len() * ENTRY);
    for row in rows {
        block.extend(row.exercise.to_le_bytes());
        block.extend(row.rating.unwrap_or_default().to_le_bytes());
        block.extend(row.themes.to_le_bytes());
    }
    block
}

/// The rows of a block. An incomplete one at the end of a damaged block is dropped.
pub(crate) fn decode_block(block: &[u8]) -> impl Iterator<Item = ProblemRow> {
    block.as_chunks::<ENTRY>().0.iter().filter_map(row)
}

/// The row of an exercise. The numbers of a block are in ascending order.
pub(crate) fn find_in_block(block: &[u8], exercise: u32) -> Option<ProblemRow> {
    let (entries, _) = block.as_chunks::<ENTRY>();
    let number = |entry: &[u8; ENTRY]| row(entry).map(|row| row.exercise);
    let at = entries.binary_search_by_key(&Some(exercise), number).ok()?;
    entries.get(at).and_then(row)
}

fn row(entry: &[u8; ENTRY]) -> Option<ProblemRow> {
    let (exercise, rest) = entry.split_first_chunk()?;
    let (rating, rest) = rest.split_first_chunk()?;
    let themes = rest.first_chunk()?;
    Some(ProblemRow {
        exercise: u32::from_le_bytes(*exercise),
        rating: Some(u16::from_le_bytes(*rating)).filter(|rating| 0 < *rating),
        themes: u128::from_le_bytes(*themes),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_read_as_they_were_written() {
        let rows = [
            ProblemRow { exercise: 1, rating: Some(1500), themes: 1 << 127 | 5 },
            ProblemRow { exercise: u32::MAX, rating: None, themes: 0 },
        ];
        let mut block = encode_block(&rows);
        assert_eq!(decode_block(&block).collect::<Vec<_>>(), rows);
        assert_eq!(find_in_block(&block, u32::MAX), Some(rows[1]));
        assert_eq!(find_in_block(&block, 2), None);
        block.pop();
        assert_eq!(decode_block(&block).count(), 1);
    }

    #[test]
    fn a_filter_requires_all_themes_and_a_rating_in_the_range() {
        let row = |rating, themes| ProblemRow { exercise: 1, rating, themes };
        let filter = ProblemFilter { themes: 0b101, min_rating: Some(1000), max_rating: None };
        assert!(filter.matches(&row(Some(1000), 0b111)));
        assert!(!filter.matches(&row(Some(999), 0b111)));
        assert!(!filter.matches(&row(Some(1000), 0b011)));
        assert!(!filter.matches(&row(None, 0b111)), "without a rating it is in no range");
        assert!(ProblemFilter::default().matches(&row(None, 0)));
    }
}
