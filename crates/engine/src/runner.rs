//! Puts an engine to work.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::mpsc;
use std::thread;

use readyok_protocol::session::engine::{EngineSession, Profile};
use readyok_protocol::{Dialect, OptionDecl, OptionSet};

use crate::licence::{Licence, Registration};
use crate::server::{self, Event, Server};
use crate::{Engine, Failure, Options, Spin, log, worker};

/// So many events may wait for the main loop. A search that tells faster than the client reads
/// waits for it.
const INBOX: usize = 256;

/// An engine with all that its clients want to know about it.
#[derive(Debug)]
pub struct Runner<E> {
    engine: E,
    name: String,
    author: String,
    dialects: Vec<Dialect>,
    options: Options,
    move_overhead: Option<Spin>,
    licence: Licence,
}

impl<E: Engine> Runner<E> {
    /// An engine of this name (and version) that speaks UCI.
    pub fn new(name: impl Into<String>, engine: E) -> Self {
        Self {
            engine,
            name: name.into(),
            author: String::new(),
            dialects: vec![Dialect::Uci],
            options: Options::new(),
            move_overhead: None,
            licence: Licence::default(),
        }
    }

    /// Tells who wrote the engine.
    #[must_use]
    pub fn author(mut self, author: impl Into<String>) -> Self {
        self.author = author.into();
        self
    }

    /// Speaks these protocols, whichever the client asks for.
    #[must_use]
    pub fn dialects(mut self, dialects: impl Into<Vec<Dialect>>) -> Self {
        self.dialects = dialects.into();
        self
    }

    /// Has these options, and `Debug Log File`, which the runtime sees to.
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Subtracts this number of milliseconds from each time budget: the value of an option, usually
    /// `Move Overhead`. Without one it is 10 ms. More is subtracted from clocks, though not from
    /// `movetime`, while those that the client sends show that moves lose more.
    #[doc(alias("latency", "lag"))]
    #[must_use]
    pub fn move_overhead(mut self, overhead: &Spin) -> Self {
        self.move_overhead = Some(overhead.clone());
        self
    }

    /// Checks the copy protection after each handshake, on the engine's thread, and reports the result with
    /// `copyprotection`. After an error a client takes no moves from the engine.
    ///
    /// An error's text is reported as `info string`; a panic counts as an error.
    #[must_use]
    pub fn copy_protection(
        mut self,
        check: impl FnMut() -> Result<(), Failure> + Send + 'static,
    ) -> Self {
        self.licence.copy_protection = Some(Box::new(check));
        self
    }

    /// Checks whether the engine is registered, on the engine's thread, and tells so with
    /// `registration`: with `None` after each handshake, by what the engine has kept; and with the
    /// user's answer whenever there is one. The engine may be used after an error.
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
        self.licence.registration = Some(Box::new(check));
        self
    }

    /// The options as a client of this protocol sees them.
    ///
    /// With the feature `translation`, a test of the author's can hold a translation file to them:
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

    /// The options under their UCI names.
    fn option_set(&self, dialect: Dialect) -> OptionSet {
        let mut options = self.options.set_for(dialect);
        options.declare(OptionDecl::string(log::OPTION, ""));
        options
    }

    /// Serves the client that started this process, until it quits or goes away.
    ///
    /// Standard error is free for the engine's own messages, such as those of panics.
    ///
    /// Return from `main` after it: a search that does not stop in time ends with the process.
    ///
    /// # Errors
    /// Standard input or output cannot be used, or the name or an option cannot be declared. That
    /// the client goes away is no error.
    #[doc(alias = "stderr")]
    pub fn run_stdio(self) -> io::Result<()> {
        let (input, output) = stdio()?;
        match self.run(input, output) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            served => served,
        }
    }

    /// Serves the client at the other end, until it quits or goes away.
    ///
    /// # Errors
    /// Writing failed, or the name or an option cannot be declared.
    pub fn run(self, input: impl Read + Send + 'static, output: impl Write) -> io::Result<()> {
        self.options.check_defaults().map_err(invalid)?;
        let options = self.dialects.iter().map(|dialect| self.option_set(*dialect)).collect();
        let profile = Profile { name: self.name, author: self.author, options };
        let session = EngineSession::new(profile).map_err(invalid)?;

        let (events, inbox) = mpsc::sync_channel(INBOX);
        let (jobs, todo) = mpsc::channel();
        let reader = events.clone();
        thread::Builder::new().name("reader".into()).spawn(move || server::read(input, &reader))?;
        let worker_events = events.clone();
        let (engine, options, licence) = (self.engine, self.options, self.licence);
        thread::Builder::new().name("search".into()).spawn(move || {
            worker::work(engine, options, licence, &todo, &worker_events);
            // Without a receiver nobody waits for the end.
            let _ = worker_events.send(Event::Left);
        })?;
        Server::new(session, output, events, jobs, self.move_overhead).serve(&inbox)
    }
}

/// Standard input and output without the locks of the standard library: a blocked read must not
/// keep a thread from reading, nor a blocked write one from printing.
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
