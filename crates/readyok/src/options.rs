//! `readyok options`: who an engine is, and which options it has, in the words of its user.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use readyok_client::Engine;
use readyok_protocol::translation::{LanguageTag, Lookup, Translation, TranslationError};
use readyok_protocol::{OptionDecl, OptionKind};
use serde::Serialize;

use crate::address::Reach;
use crate::dirs::stem;
use crate::text::printable;

/// An engine and its options, as people read them. `Display` is the text for a terminal.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The name of the engine.
    pub name: String,
    /// Who wrote it.
    pub author: String,
    /// `uci` or `usi`.
    pub protocol: &'static str,
    /// The options, in the engine's order.
    pub options: Vec<OptionReport>,
}

/// An option.
#[derive(Debug, Serialize)]
pub struct OptionReport {
    /// The name on the wire.
    pub name: String,
    /// The name for people.
    pub label: String,
    /// What it does, if anybody says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Its type.
    #[serde(flatten)]
    pub kind: KindReport,
}

/// The type of an option, with its default and its range as far as they are declared.
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
    /// The text on the wire.
    pub value: String,
    /// The text for people.
    pub label: String,
}

impl Report {
    /// Reports on an engine, in the first of the languages that there are texts in.
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
            Self::Other { declared } => write!(f, "of an unknown type: `{declared}`"),
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

/// Reads the translation file that lies beside a program, or that of the engine in this one. Without
/// one there is nothing translated.
///
/// # Errors
/// The file cannot be read, or is no translation file.
pub fn translation(reach: &Reach) -> Result<Translation, FileError> {
    let file = match reach {
        Reach::Program { file, .. } => file,
        Reach::Tcp(_) => return Ok(Translation::default()),
        Reach::Narikin => {
            let path = PathBuf::from(format!("narikin.{}", Translation::EXTENSION));
            return Translation::read(narikin::TRANSLATION.as_bytes())
                .map_err(|error| FileError { path, fault: Fault::Content(error) });
        }
    };
    let path = file.with_file_name(format!("{}.{}", stem(file), Translation::EXTENSION));
    match read(&path) {
        Ok(bytes) => Translation::read(&bytes)
            .map_err(|error| FileError { path, fault: Fault::Content(error) }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Translation::default()),
        Err(error) => Err(FileError { path, fault: Fault::Io(error) }),
    }
}

/// As much of a file as is needed to see that it is too long.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = Translation::MAX_BYTES as u64 + 1;
    File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A translation file that cannot be used.
#[derive(Debug)]
pub struct FileError {
    path: PathBuf,
    fault: Fault,
}

#[derive(Debug)]
enum Fault {
    Io(io::Error),
    Content(TranslationError),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot use the translation file `{}`: ", self.path.display())?;
        match &self.fault {
            Fault::Io(error) => error.fmt(f),
            Fault::Content(error) => error.fmt(f),
        }
    }
}

impl Error for FileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.fault {
            Fault::Io(error) => Some(error),
            Fault::Content(error) => Some(error),
        }
    }
}
