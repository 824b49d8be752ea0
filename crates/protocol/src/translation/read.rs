//! Reads a translation file.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

use serde_json::{Map, Value};

use super::{EngineTexts, LanguageTag, OptionTexts, Translation};

type Object = Map<String, Value>;

/// Why a translation file cannot be read. Locations in the file are JSON Pointers (RFC 6901).
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum TranslationError {
    /// The file is larger than [`Translation::MAX_BYTES`].
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// The file is not UTF-8.
    NotUtf8 {
        /// Offset of the first invalid byte.
        at: usize,
    },
    /// Objects and lists are nested deeper than [`Translation::MAX_DEPTH`].
    TooDeep {
        /// Offset of the byte that exceeds the depth.
        at: usize,
    },
    /// The file is not JSON.
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column, in bytes from 1; 0 after a line end.
        column: usize,
        /// The parser's message.
        reason: String,
    },
    /// The version of the file is unknown.
    Version {
        /// The version.
        found: u64,
    },
    /// Something is missing or has another type.
    Shape {
        /// The location.
        at: String,
        /// The expected type.
        expected: &'static str,
    },
    /// Too many entries.
    TooMany {
        /// The location.
        at: String,
        /// The maximum.
        limit: usize,
    },
    /// A text, or the name of an entry, is too long.
    TooLong {
        /// The location.
        at: String,
        /// The maximum number of characters.
        limit: usize,
    },
}

impl Translation {
    /// Reads a file: JSON in UTF-8, with or without a byte order mark.
    ///
    /// Unknown keys are ignored. Texts are not changed; [`Lookup`](super::Lookup) sanitizes them for
    /// display.
    ///
    /// # Errors
    /// The file is not a translation file, or it exceeds a limit.
    pub fn read(bytes: &[u8]) -> Result<Self, TranslationError> {
        if Self::MAX_BYTES < bytes.len() {
            return Err(TranslationError::TooLarge { bytes: bytes.len() });
        }
        let text = core::str::from_utf8(bytes)
            .map_err(|error| TranslationError::NotUtf8 { at: error.valid_up_to() })?;
        if let Some(at) = too_deep(text) {
            return Err(TranslationError::TooDeep { at });
        }
        let value: Value = serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text))
            .map_err(|error| TranslationError::Syntax {
                line: error.line(),
                column: error.column(),
                reason: error.to_string(),
            })?;
        translation(&value)
    }
}

/// The offset of the first bracket beyond the maximum depth.
fn too_deep(text: &str) -> Option<usize> {
    let (mut depth, mut in_text, mut escaped) = (0usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => {
                depth += 1;
                if Translation::MAX_DEPTH < depth {
                    return Some(at);
                }
            }
            b'}' | b']' if !in_text => depth = depth.saturating_sub(1),
            _ => (),
        }
    }
    None
}

fn translation(value: &Value) -> Result<Translation, TranslationError> {
    let file = object(value, "")?;
    match file.get("usi-translation").map(Value::as_u64) {
        Some(Some(1)) => (),
        Some(Some(found)) => return Err(TranslationError::Version { found }),
        Some(None) | None => return Err(shape(under("", "usi-translation"), "the version, 1")),
    }
    let default = match file.get("default") {
        Some(Value::String(tag)) => Some(language_tag(tag, || under("", "default"))?),
        Some(_) => return Err(shape(under("", "default"), "the tag of a language")),
        None => None,
    };
    let at = under("", "languages");
    let languages = file.get("languages").ok_or_else(|| shape(at.clone(), "an object"))?;
    let mut translation = Translation { default, languages: BTreeMap::new() };
    for (tag, value) in entries(languages, &at, Translation::MAX_LANGUAGES)? {
        let at = under(&at, tag);
        let texts = engine_texts(value, &at)?;
        if translation.languages.insert(language_tag(tag, || at.clone())?, texts).is_some() {
            return Err(shape(at, "each language once"));
        }
    }
    Ok(translation)
}

fn engine_texts(value: &Value, at: &str) -> Result<EngineTexts, TranslationError> {
    let fields = object(value, at)?;
    let mut texts = EngineTexts {
        name: text(fields, "name", at, Translation::MAX_LABEL)?,
        author: text(fields, "author", at, Translation::MAX_LABEL)?,
        options: BTreeMap::new(),
    };
    if let Some(options) = fields.get("options") {
        let at = under(at, "options");
        for (name, value) in entries(options, &at, Translation::MAX_OPTIONS)? {
            texts.options.insert(name.clone(), option_texts(value, &under(&at, name))?);
        }
    }
    Ok(texts)
}

fn option_texts(value: &Value, at: &str) -> Result<OptionTexts, TranslationError> {
    let fields = object(value, at)?;
    let mut texts = OptionTexts {
        label: text(fields, "label", at, Translation::MAX_LABEL)?,
        help: text(fields, "help", at, Translation::MAX_HELP)?,
        values: BTreeMap::new(),
    };
    if let Some(values) = fields.get("values") {
        let at = under(at, "values");
        let entries = entries(values, &at, Translation::MAX_VALUES)?;
        let fields = object(values, &at)?;
        for (value, _) in entries {
            let label = text(fields, value, &at, Translation::MAX_LABEL)?;
            texts.values.insert(value.clone(), label);
        }
    }
    Ok(texts)
}

fn object<'a>(value: &'a Value, at: &str) -> Result<&'a Object, TranslationError> {
    value.as_object().ok_or_else(|| shape(at.to_owned(), "an object"))
}

/// The entries of an object with arbitrary keys.
fn entries<'a>(value: &'a Value, at: &str, limit: usize) -> Result<&'a Object, TranslationError> {
    let entries = object(value, at)?;
    if limit < entries.len() {
        return Err(TranslationError::TooMany { at: at.to_owned(), limit });
    }
    let limit = Translation::MAX_LABEL;
    match entries.keys().find(|key| limit < key.chars().count()) {
        Some(key) => Err(TranslationError::TooLong { at: under(at, key), limit }),
        None => Ok(entries),
    }
}

/// An optional text.
fn text(fields: &Object, key: &str, at: &str, limit: usize) -> Result<String, TranslationError> {
    match fields.get(key) {
        None => Ok(String::new()),
        Some(Value::String(text)) if text.chars().count() <= limit => Ok(text.clone()),
        Some(Value::String(_)) => Err(TranslationError::TooLong { at: under(at, key), limit }),
        Some(_) => Err(shape(under(at, key), "a text")),
    }
}

fn language_tag(tag: &str, at: impl FnOnce() -> String) -> Result<LanguageTag, TranslationError> {
    tag.parse().map_err(|_| shape(at(), "the tag of a language"))
}

fn shape(at: String, expected: &'static str) -> TranslationError {
    TranslationError::Shape { at, expected }
}

/// The JSON Pointer to an entry.
fn under(at: &str, key: &str) -> String {
    format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"))
}

impl fmt::Display for TranslationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { bytes } => {
                write!(f, "{bytes} bytes are more than {}", Translation::MAX_BYTES)
            }
            Self::NotUtf8 { at } => write!(f, "not UTF-8 at byte {at}"),
            Self::TooDeep { at } => write!(f, "nested too deep at byte {at}"),
            // The message contains the location.
            Self::Syntax { reason, .. } => f.write_str(reason),
            Self::Version { found } => write!(f, "version {found} is unknown"),
            Self::Shape { at, expected } => {
                write!(f, "`{}`: expected {expected}", at.escape_debug())
            }
            Self::TooMany { at, limit } => {
                write!(f, "`{}`: more than {limit} entries", at.escape_debug())
            }
            Self::TooLong { at, limit } => {
                write!(f, "`{}`: more than {limit} characters", at.escape_debug())
            }
        }
    }
}

impl core::error::Error for TranslationError {}
