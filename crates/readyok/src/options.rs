//! `readyok options`: the identity and the options of an engine, with translated labels.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use readyok_client::{Engine, EngineSource};
use readyok_protocol::translation::{LanguageTag, Lookup, Translation, TranslationError};
use readyok_protocol::{OptionDecl, OptionKind};
use serde::Serialize;

use crate::dirs::stem;
use crate::terminal::printable;

/// The identity and the options of an engine. `Display` formats them for a terminal.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Name of the engine.
    pub name: String,
    /// Author of the engine.
    pub author: String,
    /// `uci` or `usi`.
    pub protocol: &'static str,
    /// The options in the order of the engine.
    pub options: Vec<OptionReport>,
}

/// An option of an engine.
#[derive(Debug, Serialize)]
pub struct OptionReport {
    /// The name in the protocol.
    pub name: String,
    /// The translated name.
    pub label: String,
    /// The translated description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// The type with its default and range.
    #[serde(flatten)]
    pub kind: KindReport,
}

/// The type of an option with its default and range, if declared: unlike in [`OptionKind`], texts are printable and choices
/// have labels in one language.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
#[expect(missing_docs, reason = "the variants and fields are those of `OptionKind`")]
pub enum KindReport {
    Check { default: Option<bool> },
    Spin { default: Option<i64>, min: Option<i64>, max: Option<i64> },
    Combo { default: Option<String>, choices: Vec<Choice> },
    Button,
    String { default: Option<String> },
    Filename { default: Option<String> },
    Other { declared: String },
}

/// A choice of a combo option.
#[derive(Debug, Serialize)]
pub struct Choice {
    /// The value in the protocol.
    pub value: String,
    /// The translated value.
    pub label: String,
}

impl Report {
    /// Describes an engine in the first available language.
    pub fn new(engine: &Engine, translation: &Translation, languages: &[LanguageTag]) -> Self {
        let texts = translation.lookup(engine.dialect(), languages);
        let identity = engine.identity();
        Self {
            name: texts.engine_name(&identity.name).into_owned(),
            author: texts.author(&identity.author).into_owned(),
            protocol: engine.dialect().handshake(),
            options: engine.options().iter().map(|decl| OptionReport::new(decl, &texts)).collect(),
        }
    }
}

impl OptionReport {
    fn new(decl: &OptionDecl<'_>, texts: &Lookup<'_>) -> Self {
        let text = |text: &Option<_>| text.as_deref().map(printable);
        let kind = match &decl.kind {
            OptionKind::Check { default } => KindReport::Check { default: *default },
            OptionKind::Spin { default, min, max } => {
                KindReport::Spin { default: *default, min: *min, max: *max }
            }
            OptionKind::Combo { default, vars } => {
                let choice = |value: &str| Choice {
                    value: printable(value),
                    label: texts.value(&decl.name, value).into_owned(),
                };
                let choices = vars.iter().map(|value| choice(value)).collect();
                KindReport::Combo { default: text(default), choices }
            }
            OptionKind::Button => KindReport::Button,
            OptionKind::String { default } => KindReport::String { default: text(default) },
            OptionKind::Filename { default } => KindReport::Filename { default: text(default) },
            OptionKind::Other { kind, rest } => {
                KindReport::Other { declared: printable(&format!("{kind} {rest}")) }
            }
        };
        Self {
            name: printable(&decl.name),
            label: texts.label(&decl.name).into_owned(),
            help: texts.help(&decl.name).map(Cow::into_owned),
            kind,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} ({})", self.name, self.protocol.to_uppercase())?;
        if !self.author.is_empty() {
            writeln!(f, "by {}", self.author)?;
        }
        self.options.iter().try_for_each(|option| write!(f, "\n{option}"))
    }
}

impl fmt::Display for OptionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        if self.label != self.name {
            write!(f, " · {}", self.label)?;
        }
        writeln!(f, "\n    {}", self.kind)?;
        self.help.iter().try_for_each(|help| writeln!(f, "    {help}"))
    }
}

impl fmt::Display for KindReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Check { default } => {
                write!(f, "check")?;
                write_default(f, default.as_ref())
            }
            Self::Spin { default, min, max } => {
                write!(f, "spin")?;
                write_default(f, default.as_ref())?;
                min.iter().try_for_each(|min| write!(f, ", from {min}"))?;
                max.iter().try_for_each(|max| write!(f, ", up to {max}"))
            }
            Self::Combo { default, choices } => {
                write!(f, "combo")?;
                write_default(f, default.as_ref())?;
                for (index, Choice { value, label }) in choices.iter().enumerate() {
                    write!(f, "{}`{value}`", if index == 0 { ", one of " } else { ", " })?;
                    if label != value {
                        write!(f, " ({label})")?;
                    }
                }
                Ok(())
            }
            Self::Button => write!(f, "button"),
            Self::String { default } => {
                write!(f, "string")?;
                write_default(f, default.as_ref())
            }
            Self::Filename { default } => {
                write!(f, "filename")?;
                write_default(f, default.as_ref())
            }
            Self::Other { declared } => write!(f, "unknown type: `{declared}`"),
        }
    }
}

fn write_default(f: &mut fmt::Formatter<'_>, default: Option<&impl ToString>) -> fmt::Result {
    match default.map(ToString::to_string).as_deref() {
        None => Ok(()),
        Some("") => f.write_str(", empty by default"),
        Some(default) => write!(f, ", default `{default}`"),
    }
}

/// Reads the translation file next to a program, or that of Narikin. A missing file is an empty translation.
///
/// # Errors
/// The file cannot be read, or its content is invalid.
pub fn translation(source: &EngineSource) -> Result<Translation, FileError> {
    let file = match source {
        EngineSource::Program(program) => &program.path,
        EngineSource::Tcp { .. } => return Ok(Translation::default()),
        EngineSource::BuiltIn => {
            let path = PathBuf::from(format!("narikin.{}", Translation::EXTENSION));
            return Translation::read(narikin::TRANSLATION.as_bytes())
                .map_err(|error| FileError { path, problem: Problem::Content(error) });
        }
    };
    let path = file.with_file_name(format!("{}.{}", stem(file), Translation::EXTENSION));
    match read(&path) {
        Ok(bytes) => Translation::read(&bytes)
            .map_err(|error| FileError { path, problem: Problem::Content(error) }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Translation::default()),
        Err(error) => Err(FileError { path, problem: Problem::Io(error) }),
    }
}

/// Reads at most one byte more than the maximum size.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = Translation::MAX_BYTES as u64 + 1;
    File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// An invalid translation file.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the translation file `{}`: {problem}", path.display())]
pub struct FileError {
    path: PathBuf,
    #[source]
    problem: Problem,
}

#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error(transparent)]
    Io(io::Error),
    #[error(transparent)]
    Content(TranslationError),
}
