//! Folding of names: what spellings of one name have in common.

/// Lower case, full-width ASCII as ASCII, without the middle dot of Japanese transcriptions.
pub fn fold(text: &str) -> String {
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
