//! The variation that an engine told with a move: most of what a match keeps of a game.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Words of moves, in one piece of memory. Records have them as a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variation {
    /// With a space between two of them.
    text: Box<str>,
}

impl Variation {
    /// The words, in order.
    pub fn tokens(&self) -> impl Iterator<Item = &str> {
        self.text.split_ascii_whitespace()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

impl<W: AsRef<str>> FromIterator<W> for Variation {
    /// White space within a word makes it two.
    fn from_iter<I: IntoIterator<Item = W>>(words: I) -> Self {
        let mut text = String::new();
        for word in words {
            for word in word.as_ref().split_ascii_whitespace() {
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(word);
            }
        }
        Self { text: text.into() }
    }
}

impl Serialize for Variation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.tokens())
    }
}

impl<'de> Deserialize<'de> for Variation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<String>::deserialize(deserializer).map(Self::from_iter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::PlayedMove;

    #[test]
    fn records_have_a_list_of_words() {
        let check = |json: &str, words: &[&str], written: &str| {
            let variation: Variation = serde_json::from_str(json).expect("a variation");
            assert!(variation.tokens().eq(words.iter().copied()), "{variation:?}");
            assert_eq!(variation.is_empty(), words.is_empty());
            assert_eq!(serde_json::to_string(&variation).ok().as_deref(), Some(written));
        };
        check("[]", &[], "[]");
        check(r#"["e2e4","e7e5"]"#, &["e2e4", "e7e5"], r#"["e2e4","e7e5"]"#);
        check(r#"["", "7g7f 3c3d","\t"]"#, &["7g7f", "3c3d"], r#"["7g7f","3c3d"]"#);
    }

    #[test]
    fn many_moves_need_little_memory() {
        assert!(size_of::<PlayedMove>() <= 184, "{}", size_of::<PlayedMove>());
    }
}
