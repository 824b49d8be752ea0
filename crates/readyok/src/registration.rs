//! How the user registers an engine that asks for it.

use std::str::FromStr;

use readyok_protocol::{Command, Dialect, Register};
use serde::Deserialize;

/// The answer to `registration error`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(try_from = "Entry")]
pub struct Registration(Register<'static>);

/// As it is in the list of engines: `"later"`, or a table.
#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Word(String),
    With(With),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct With {
    name: Option<String>,
    code: Option<String>,
}

const FORM: &str = "a registration is `later`, or has a name and a code";

impl Registration {
    /// What the engine is sent.
    pub fn register(&self) -> Register<'static> {
        self.0.clone()
    }

    fn checked(register: Register<'static>) -> Result<Self, String> {
        let mut line = String::new();
        let command = Command::Register(register);
        command.write(Dialect::Uci, &mut line).map_err(|error| format!("{FORM}: {error}"))?;
        match command {
            Command::Register(Register::With { name: None, code: None }) => Err(FORM.to_owned()),
            Command::Register(register) => Ok(Self(register)),
            _ => Err(FORM.to_owned()),
        }
    }
}

impl FromStr for Registration {
    type Err = String;

    /// Reads what follows `register` in UCI: `later`, or `name NAME code CODE`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let line = format!("register {text}");
        match Command::read(&line, Dialect::Uci).strict() {
            Ok(Command::Register(register)) => Self::checked(register.into_owned()),
            _ => Err("write `later`, or `name NAME code CODE`".to_owned()),
        }
    }
}

impl TryFrom<Entry> for Registration {
    type Error = String;

    fn try_from(entry: Entry) -> Result<Self, Self::Error> {
        match entry {
            Entry::Word(word) if word == "later" => Ok(Self(Register::Later)),
            Entry::Word(_) => Err(FORM.to_owned()),
            Entry::With(With { name, code }) => {
                let (name, code) = (name.map(Into::into), code.map(Into::into));
                Self::checked(Register::With { name, code })
            }
        }
    }
}
