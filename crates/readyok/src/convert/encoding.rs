//! Character encodings that the user names.

use readyok_rules::record::{self, InputEncoding};

/// The encoding of a label such as `Shift_JIS`, `windows-1252` or `UTF-16LE`.
pub(crate) fn input_encoding(label: &str) -> Result<InputEncoding, String> {
    InputEncoding::from_label(label).ok_or_else(|| format!("unknown encoding `{label}`"))
}

/// The encoding of a name for output. UTF-16 needs a byte order mark, which only one game could have.
pub(crate) fn output_encoding(name: &str) -> Result<record::Encoding, String> {
    use record::Encoding::{EucJp, ShiftJis, Utf8, Utf16Be, Utf16Le, Windows1252};
    match record::Encoding::from_name(name) {
        Some(encoding @ (Utf8 | ShiftJis | EucJp | Windows1252)) => Ok(encoding),
        Some(Utf16Le | Utf16Be) | None => {
            Err("expected utf-8, shift_jis, euc-jp or windows-1252".to_owned())
        }
    }
}
