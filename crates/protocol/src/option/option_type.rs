//! Types of options.

/// The types of options in the protocols.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum OptionType {
    /// True or false.
    Check,
    /// A whole number.
    Spin,
    /// One of several choices.
    Combo,
    /// An action of the engine.
    Button,
    /// A text.
    String,
    /// The path of a file (USI).
    Filename,
}

impl OptionType {
    pub(crate) fn from_token(token: &str) -> Option<Self> {
        Some(match token.as_bytes() {
            b"check" => Self::Check,
            b"spin" => Self::Spin,
            b"combo" => Self::Combo,
            b"button" => Self::Button,
            b"string" => Self::String,
            b"filename" => Self::Filename,
            _ => return None,
        })
    }
}
