//! Runs an engine.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::mpsc;
use std::thread;

use readyok_protocol::session::engine::{EngineSession, Profile};
use readyok_protocol::{Dialect, OptionDecl, OptionSet};

use crate::engine::Engine;
use crate::error::Failure;
use crate::event::Event;
use crate::event_loop::{self, EngineFacts, EventLoop};
use crate::license::{License, Registration};
use crate::options::{Options, Spin};
use crate::{corrections, log, worker};

/// Capacity of the main loop's channel. A search that reports faster than the client reads blocks.
const CHANNEL_CAPACITY: usize = 256;

/// An engine with its name, options and checks.
#[derive(Debug)]
pub struct Runner<E> {
    engine: E,
    name: String,
    author: String,
    dialects: Vec<Dialect>,
    options: Options,
    move_overhead: Option<Spin>,
    license: License,
}

impl<E: Engine> Runner<E> {
    /// An engine with this name (and version) and the protocol UCI.
    pub fn new(name: impl Into<String>, engine: E) -> Self {
        Self {
            engine,
            name: name.into(),
            author: String::new(),
            dialects: vec![Dialect::Uci],
            options: Options::new(),
            move_overhead: None,
            license: License::default(),
        }
    }

    /// Sets the author of the engine.
    #[must_use]
    pub fn author(mut self, author: impl Into<String>) -> Self {
        self.author = author.into();
        self
    }

    /// Sets the supported protocols. The client selects one.
    #[must_use]
    pub fn dialects(mut self, dialects: impl Into<Vec<Dialect>>) -> Self {
        self.dialects = dialects.into();
        self
    }

    /// Sets the options. The runtime adds `Debug Log File`.
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Sets the option, usually `Move Overhead`, whose value in milliseconds is subtracted from each time
    /// budget. The default is 10 ms. More is subtracted from clocks, but not from `movetime`, if the clocks
    /// of the client show larger losses.
    #[doc(alias = "latency")]
    #[must_use]
    pub fn move_overhead(mut self, overhead: &Spin) -> Self {
        self.move_overhead = Some(overhead.clone());
        self
    }

    /// Checks the copy protection after each handshake, on the engine's thread, and reports the result with
    /// `copyprotection`. After an error a client starts no searches.
    ///
    /// The text of an error is reported as `info string`; a panic counts as an error.
    #[must_use]
    pub fn copy_protection(
        mut self,
        check: impl FnMut() -> Result<(), Failure> + Send + 'static,
    ) -> Self {
        self.license.copy_protection = Some(Box::new(check));
        self
    }

    /// Checks the registration of the engine, on the engine's thread, and reports the result with
    /// `registration`. The argument is `None` after each handshake, and the user's answer after each
    /// `register`. The engine may be used after an error.
    ///
    /// Errors and panics are reported as for [`copy_protection`](Self::copy_protection).
    ///
    /// ```
    /// # use readyok_engine::{Answer, Control, Engine, NoBoard, Runner, SearchRequest};
    /// # struct Mine;
    /// # impl Engine for Mine {
    /// #     type Board = NoBoard;
    /// #     fn search(&mut self, _: &SearchRequest, _: &Control) -> Answer { Err("none".into()) }
    /// # }
    /// let runner = Runner::new("Mine", Mine).registration(|given| match given {
    ///     Some(given) if given.code.as_deref() == Some("4359874324") => Ok(()),
    ///     Some(_) => Err("the code is wrong".into()),
    ///     None => Err("some features are for registered users".into()),
    /// });
    /// ```
    #[must_use]
    pub fn registration(
        mut self,
        check: impl FnMut(Option<&Registration>) -> Result<(), Failure> + Send + 'static,
    ) -> Self {
        self.license.registration = Some(Box::new(check));
        self
    }

    /// The options as declared in this protocol.
    ///
    /// With the feature `translation`, a test can compare a translation file with them:
    ///
    /// ```
    /// # #[cfg(feature = "translation")] {
    /// # use readyok_engine::{Answer, Control, Dialect, Engine, NoBoard, Runner, SearchRequest};
    /// use readyok_engine::protocol::translation::Translation;
    /// # struct Mine;
    /// # impl Engine for Mine {
    /// #     type Board = NoBoard;
    /// #     fn search(&mut self, _: &SearchRequest, _: &Control) -> Answer { Err("none".into()) }
    /// # }
    /// # let runner = Runner::new("Mine", Mine);
    ///
    /// let file = br#"{ "usi-translation": 1, "languages": { "en": { "options": {
    ///     "Debug_Log_File": { "label": "Log file" } } } } }"#;
    /// let findings = Translation::read(file)?.lint(&runner.declared(Dialect::Usi));
    /// assert_eq!(findings, []);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn declared(&self, dialect: Dialect) -> OptionSet {
        let mut declared = OptionSet::new(dialect);
        for decl in &self.option_set(dialect) {
            let name = dialect.option_name(&decl.name).to_string().into();
            declared.declare(OptionDecl { name, kind: decl.kind.clone() });
        }
        declared
    }

    /// The options with their UCI names.
    fn option_set(&self, dialect: Dialect) -> OptionSet {
        let mut options = self.options.set_for(dialect);
        options.declare(OptionDecl::string(log::OPTION, ""));
        options
    }

    /// Serves the client on standard input and output until it quits or disconnects.
    ///
    /// Standard error is available for the engine's own messages, such as those of panics.
    ///
    /// Return from `main` afterwards: a search that does not stop in time ends with the process.
    ///
    /// # Errors
    /// Standard input or output cannot be used, or the name or an option cannot be declared. A
    /// disconnected client is not an error.
    #[doc(alias = "stderr")]
    pub fn run_stdio(self) -> io::Result<()> {
        let (input, output) = stdio()?;
        match self.run(input, output) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result,
        }
    }

    /// Serves the client of these streams until it quits or disconnects.
    ///
    /// # Errors
    /// Writing failed, or the name or an option cannot be declared.
    pub fn run(self, input: impl Read + Send + 'static, output: impl Write) -> io::Result<()> {
        self.options.check_defaults().map_err(invalid)?;
        let options = self.dialects.iter().map(|dialect| self.option_set(*dialect)).collect();
        let profile = Profile { name: self.name, author: self.author, options };
        let session = EngineSession::new(profile).map_err(invalid)?;

        let (events, inbox) = mpsc::sync_channel(CHANNEL_CAPACITY);
        let (jobs, job_receiver) = mpsc::channel();
        let reader = events.clone();
        thread::Builder::new()
            .name("reader".into())
            .spawn(move || event_loop::read(input, &reader))?;
        let worker_events = events.clone();
        let (engine, options, license) = (self.engine, self.options, self.license);
        let searches_for_mate = engine.searches_for_mate();
        thread::Builder::new().name("search".into()).spawn(move || {
            worker::work(engine, options, license, &job_receiver, &worker_events);
            // The receiver is missing if the main loop has exited.
            let _ = worker_events.send(Event::WorkerExited);
        })?;
        let engine =
            EngineFacts { searches_for_mate, correct: corrections::correct_info::<E::Board> };
        EventLoop::new(session, output, events, jobs, self.move_overhead, engine).run(&inbox)
    }
}

/// Standard input and output without the locks of the standard library, which a blocked read or write
/// would hold.
fn stdio() -> io::Result<(File, File)> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        let input = io::stdin().as_fd().try_clone_to_owned()?;
        let output = io::stdout().as_fd().try_clone_to_owned()?;
        Ok((input.into(), output.into()))
    }
    #[cfg(windows)]
    {
        use std::os::windows::io::AsHandle;
        let input = io::stdin().as_handle().try_clone_to_owned()?;
        let output = io::stdout().as_handle().try_clone_to_owned()?;
        Ok((input.into(), output.into()))
    }
}

fn invalid(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error)
}
