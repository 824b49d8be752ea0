//! From what a user calls an engine to an engine of a plan.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::{env, error, fmt, io};

use readyok_arena::plan::{EnginePatience, EnginePlan, Protocol};
use readyok_protocol::Dialect;

use crate::address::{Address, AddressError, Transport};
use crate::dirs::Env;

/// Why an engine cannot play in a match.
#[derive(Debug)]
pub enum EngineError {
    /// It is not there.
    Address(AddressError),
    /// This program, of which Narikin is a part, does not know its own path.
    OwnPath(io::Error),
    /// A path is not UTF-8, and a plan could not be written to a file.
    Path(String),
}

/// The engine that is meant by `text`, for a plan: started by what [`Address::find`] finds, with
/// its settings from the user's list of engines.
///
/// # Errors
/// It is not there, or its path cannot be written down.
pub fn engine_plan(text: &str, env: Env<'_>) -> Result<EnginePlan, EngineError> {
    let address = Address::find(text, env).map_err(EngineError::Address)?;
    let protocol = address.dialect.map(|dialect| match dialect {
        Dialect::Uci => Protocol::Uci,
        Dialect::Usi => Protocol::Usi,
    });
    let utf8 = |path: std::path::PathBuf| {
        path.into_os_string()
            .into_string()
            .map_err(|path| EngineError::Path(path.to_string_lossy().into_owned()))
    };
    let (command, args, dir, env) = match address.transport {
        // It plays as a program of its own, like every other engine.
        Transport::Narikin => {
            let whole = env::current_exe().map_err(EngineError::OwnPath)?;
            (utf8(whole)?, vec!["engine".to_owned()], None, BTreeMap::new())
        }
        Transport::Program { file, arguments, directory, environment } => {
            (utf8(file)?, arguments, directory.map(utf8).transpose()?, environment)
        }
        Transport::Tcp(address) => (format!("tcp://{address}"), Vec::new(), None, BTreeMap::new()),
    };
    let options: BTreeMap<String, String> = address.options.into_iter().collect();
    let timeout = address.timeout.map(|timeout| timeout.duration().as_millis());
    let timeout = timeout.and_then(|ms| NonZeroU64::new(u64::try_from(ms).ok()?));
    let patience = EnginePatience { hello_ms: timeout, ready_ms: timeout };
    let registration = address.registration.map(|registration| registration.register());
    let default = EnginePlan::default();
    let plan = EnginePlan { command, args, dir, env, protocol, options, ..default };
    Ok(EnginePlan { registration, patience, ..plan })
}

/// Puts what starts an engine in the place of what a plan calls it, as [`engine_plan`] finds it. What
/// the plan says itself counts more than the user's list of engines.
///
/// # Errors
/// It is not there, or its path cannot be written down.
pub fn find_engine(engine: &mut EnginePlan, env: Env<'_>) -> Result<(), EngineError> {
    let found = engine_plan(&engine.command, env)?;
    engine.command = found.command;
    engine.args.splice(0..0, found.args);
    engine.dir = engine.dir.take().or(found.dir);
    engine.protocol = engine.protocol.or(found.protocol);
    engine.patience.hello_ms = engine.patience.hello_ms.or(found.patience.hello_ms);
    engine.patience.ready_ms = engine.patience.ready_ms.or(found.patience.ready_ms);
    engine.registration = engine.registration.take().or(found.registration);
    for (name, value) in found.env {
        engine.env.entry(name).or_insert(value);
    }
    for (name, value) in found.options {
        engine.options.entry(name).or_insert(value);
    }
    Ok(())
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(error) => error.fmt(f),
            Self::OwnPath(error) => {
                write!(f, "the path of Narikin's program is not known: {error}")
            }
            Self::Path(path) => write!(f, "`{path}` is not UTF-8"),
        }
    }
}

impl error::Error for EngineError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Address(error) => Some(error),
            Self::OwnPath(error) => Some(error),
            Self::Path(_) => None,
        }
    }
}
