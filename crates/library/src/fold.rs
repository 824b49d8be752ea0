//! Folding of names for searches, and hashes.

/// Lower case, full-width ASCII as ASCII, without the middle dot of Japanese transcriptions.
pub(crate) fn fold(text: &str) -> String {
    let ascii = |letter: char| match letter {
        '\u{FF01}'..='\u{FF5E}' => {
            char::from_u32(u32::from(letter) - 0xFF01 + 0x21).unwrap_or(letter)
        }
        '\u{3000}' => ' ',
        other => other,
    };
    let kept = text.chars().map(ascii).filter(|letter| !matches!(letter, '・' | '･'));
    kept.flat_map(char::to_lowercase).collect()
}

/// A hash that never changes: FNV-1a, folded to 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "32 bits")]
pub(crate) fn hash(values: impl Iterator<Item = u64>) -> u32 {
    let step = |hash: u64, value: u64| (hash ^ value).wrapping_mul(0x0000_0100_0000_01B3);
    let hash = values.fold(0xCBF2_9CE4_8422_2325, step);
    (hash >> 32 ^ hash & 0xFFFF_FFFF) as u32
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn folds_case_width_and_dots() {
        assert_eq!(fold("Carlsen, Magnus"), "carlsen, magnus");
        assert_eq!(fold("ＡＢＣ　１２"), "abc 12");
        assert_eq!(fold("マグヌス・カールセン"), "マグヌスカールセン");
        assert_eq!(fold("ÅÖ"), "åö");
    }
}
