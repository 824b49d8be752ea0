//! How to start an engine, and how patient to be with it.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::path::Path;
use std::process::Command;

use readyok_protocol::session::client::Patience;
use readyok_protocol::{Dialect, Register, Side};

use crate::driver::Driver;
use crate::error::EngineError;
use crate::guard::Guard;
use crate::link::{Link, Reader};
use crate::overhear::Overhearing;
use crate::stderr::Hearing;
use crate::threads;

/// Settings for an engine that is to be started. The defaults suit most engines.
///
/// ```no_run
/// use readyok_client::{Dialect, Engine};
/// # use std::process::Command;
/// let engine = Engine::builder().dialect(Dialect::Usi).spawn(Command::new("fairy-stockfish"))?;
/// # Ok::<(), readyok_client::EngineError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Builder {
    name: Option<String>,
    dialect: Option<Dialect>,
    patience: Patience,
    register: Option<Register<'static>>,
    reader: Reader,
    joins_searches: bool,
    rate: Option<u32>,
    guard: Option<Guard>,
    overhearing: Option<Overhearing>,
    error_hearing: Option<Hearing>,
}

/// Where an engine is.
pub(crate) enum Target {
    Command(Command),
    Address(String),
    /// Pipes and streams can be used once.
    Pipes(Option<(PipeReader, PipeWriter)>),
    Streams(Option<Streams>),
}

type Streams = (Box<dyn Read + Send>, Box<dyn Write + Send>);

impl Builder {
    /// The name of the engine in errors. By default the program or the address.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The protocol that the engine speaks. By default UCI is tried, and if the engine does not
    /// answer to it in time, USI with a fresh process or connection: say `Usi` to save that time.
    /// Over streams the default is UCI.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = Some(dialect);
        self
    }

    /// How long to wait for what.
    #[must_use]
    pub fn patience(mut self, patience: Patience) -> Self {
        self.patience = patience;
        self
    }

    /// What to answer when the engine wants to be registered. By default `register later`.
    #[must_use]
    pub fn register(mut self, with: Register<'static>) -> Self {
        self.register = Some(with);
        self
    }

    /// Has the caller's thread do all the reading: no thread is started for the engine, and
    /// whoever waits for it reads what it says. A match runner with many engines wants this.
    ///
    /// While nobody waits, nothing is read: an engine that goes on talking then waits itself as
    /// soon as its pipe is full, and what it says is dated when it is read. To wait for several
    /// engines at once see [`Engine::wait_for_any`](crate::Engine::wait_for_any).
    ///
    /// A process takes six file descriptors, with a thread or without.
    ///
    /// It has no effect where that cannot be: over [streams](Self::over), which only a thread of
    /// their own can wait for, on systems that are no Unix, and with tokio.
    #[must_use]
    pub fn inline(mut self) -> Self {
        self.reader = Reader::Caller;
        self
    }

    /// Whether each search of a game waits for a `readyok` after the one before; in USI, where
    /// `isready` would start a game, for a moment of silence
    /// ([`Patience::settle`](readyok_protocol::session::client::Patience::settle)). It does by default.
    ///
    /// Without it a search waits only after options, a new game or `stop`, and always once the
    /// engine was seen to answer twice. That halves what a ply costs a match runner. An answer that
    /// was there when `go` was written is still no answer to it, nor is the move that the game has just
    /// gone on with; but the first second `bestmove` of an engine that comes later than that, in
    /// another position, is taken for one.
    #[must_use]
    pub fn separate_searches(mut self, separate: bool) -> Self {
        self.joins_searches = !separate;
        self
    }

    /// Reads at most so many bytes a second. What an engine says beyond that waits in its pipe, and
    /// when that is full the engine waits, too: one that says hundreds of thousands of lines a second
    /// leaves the processors to others. Its answer is late by the time that a full pipe takes.
    ///
    /// For programs that show what engines think, with some millions; not for those that measure how
    /// long engines take. By default all is read at once.
    #[must_use]
    pub fn read_rate(mut self, bytes: u32) -> Self {
        self.rate = Some(bytes);
        self
    }

    /// Sees to it that a process does not outlive this program, whatever becomes of that. Without a
    /// guard an engine that does not listen may do so if the program is killed.
    #[must_use]
    pub fn guard(mut self, guard: &Guard) -> Self {
        self.guard = Some(guard.clone());
        self
    }

    /// Has a function told every line of the conversation, without its end: what is said to the engine
    /// and what is read from it, in this order. It is called by whoever waits for the engine, who
    /// waits for it as well.
    #[must_use]
    pub fn overheard_by(mut self, hear: impl Fn(Side, &str) + Send + Sync + 'static) -> Self {
        self.overhearing = Some(Overhearing::new(hear));
        self
    }

    /// Has a function told every line that a process writes to its error output, without its end. It is
    /// called by whoever reads for the engine, who waits for it.
    #[must_use]
    pub fn errors_heard_by(mut self, hear: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.error_hearing = Some(Hearing::new(hear));
        self
    }

    /// Has a thread do the reading after all.
    #[cfg(feature = "tokio")]
    pub(crate) fn threaded(mut self) -> Self {
        self.reader = Reader::Thread;
        self
    }

    /// The dialect to try, and the one to try after it.
    pub(crate) fn dialects(&self, target: &Target) -> (Dialect, Option<Dialect>) {
        match (self.dialect, target) {
            (Some(dialect), _) => (dialect, None),
            (None, Target::Command(_) | Target::Address(_)) => (Dialect::Uci, Some(Dialect::Usi)),
            (None, Target::Pipes(_) | Target::Streams(_)) => (Dialect::Uci, None),
        }
    }

    /// Starts an engine and says hello.
    pub(crate) fn open(
        &self,
        target: &mut Target,
        dialect: Dialect,
    ) -> Result<Driver, EngineError> {
        let name = self.name.clone().unwrap_or_else(|| target.name());
        let link = match target {
            Target::Command(command) => {
                Link::spawn(command, dialect, self.reader, self.guard.as_ref())
            }
            Target::Address(address) => {
                Link::connect(address, self.patience.hello.silence, dialect, self.reader)
            }
            Target::Pipes(pipes) => match pipes.take() {
                Some((output, input)) => Link::pipes(output, input, dialect, self.reader),
                None => Err(io::ErrorKind::NotConnected.into()),
            },
            Target::Streams(streams) => match streams.take() {
                Some((output, input)) => Link::streams(output, input, dialect),
                None => Err(io::ErrorKind::NotConnected.into()),
            },
        };
        let link = link.map_err(|error| EngineError::start(&name, &error))?;
        if let Some(rate) = self.rate {
            link.inbox.limit(rate);
        }
        if let Some(hearing) = &self.error_hearing {
            link.errors.tell(hearing.clone());
        }
        let mut driver =
            Driver::start(name, dialect, self.patience, link, self.overhearing.clone());
        driver.separate_searches(!self.joins_searches);

        Ok(driver)
    }

    /// Does what waits for the end of the greeting.
    pub(crate) fn greeted(&self, driver: &mut Driver) -> Result<(), EngineError> {
        self.register.clone().map_or(Ok(()), |with| driver.register(with))
    }
}

impl Target {
    pub(crate) fn address(address: &str) -> Self {
        Self::Address(address.strip_prefix("tcp://").unwrap_or(address).to_owned())
    }

    pub(crate) fn streams(
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> Self {
        Self::Streams(Some((Box::new(reader), Box::new(writer))))
    }

    /// Runs an engine in a thread of its own.
    pub(crate) fn in_process(
        engine: impl FnOnce(PipeReader, PipeWriter) + Send + 'static,
    ) -> io::Result<Self> {
        let (its_input, our_output) = io::pipe()?;
        let (our_input, its_output) = io::pipe()?;
        threads::spawn("engine", move || engine(its_input, its_output))?;
        Ok(Self::Pipes(Some((our_input, our_output))))
    }

    fn name(&self) -> String {
        match self {
            Self::Command(command) => {
                let program = Path::new(command.get_program());
                program.file_stem().unwrap_or_default().to_string_lossy().into_owned()
            }
            Self::Address(address) => address.clone(),
            Self::Pipes(_) | Self::Streams(_) => "stream".to_owned(),
        }
    }
}
