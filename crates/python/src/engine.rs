//! Engines, for blocking code and for `asyncio`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use pyo3::exceptions::{PyOSError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};
use readyok_client::protocol::{OptionKind, Status};
use readyok_client::{
    self as client, Builder, Dialect, EngineError, Event, GameResult, Guard, Notice, OptionValue,
    Problem, Timeouts, WaitLimit,
};
use readyok_rules::MoveCodec;

use crate::error::{OrRaise, value_error};
use crate::limits::{self, OptionTexts, option_text, option_texts, seconds};
use crate::lock;
use crate::log::{Log, LogIterator};
use crate::names;
use crate::position::Position;
use crate::search::{Search, SearchResult};
use crate::task::{self, SIGNALS, Task};

static GUARD: Mutex<Option<Guard>> = Mutex::new(None);

/// The guard of all engines of this process. Its program is the executable of the package; without it, the interpreter.
fn guard(py: Python<'_>) -> PyResult<Guard> {
    if let Some(guard) = &*lock(&GUARD) {
        return Ok(guard.clone());
    }
    let commands = py.import("readyok._program")?.call_method0("guards")?;
    let commands: Vec<Vec<OsString>> = commands.extract()?;
    py.detach(|| {
        let mut guard = lock(&GUARD);
        let mut failed = None;
        for command in commands {
            let [program, arguments @ ..] = command.as_slice() else { continue };
            let mut command = Command::new(program);
            command.args(arguments);
            match Guard::start(command) {
                Ok(started) => {
                    *guard = Some(started.clone());
                    return Ok(started);
                }
                Err(error) => failed = Some(error),
            }
        }
        Err(failed.unwrap_or_else(|| std::io::ErrorKind::NotFound.into()))
    })
    .map_err(|error| PyOSError::new_err(format!("the guard of engines cannot start: {error}")))
}

/// Runs the guardian of engines. It does not return before the program has ended.
#[pyfunction]
pub(crate) fn serve_guard(py: Python<'_>) -> PyResult<()> {
    Ok(py.detach(Guard::serve)?)
}

fn set_option(
    engine: &mut client::Engine,
    name: &str,
    value: Option<&str>,
) -> Result<(), EngineError> {
    match value {
        Some(value) => engine.set_option(name, value),
        None => engine.push_button(name),
    }
}

/// What is needed to start an engine.
struct Start {
    builder: Builder,
    command: Command,
    options: OptionTexts,
    log: Option<Arc<Log>>,
}

impl Start {
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        py: Python<'_>,
        command: &Bound<'_, PyAny>,
        protocol: Option<&str>,
        options: Option<&Bound<'_, PyAny>>,
        timeout: Option<f64>,
        directory: Option<PathBuf>,
        with_guard: bool,
        with_log: bool,
    ) -> PyResult<Self> {
        let is_path = command.is_instance_of::<PyString>() || command.hasattr("__fspath__")?;
        let arguments: Vec<OsString> = if is_path {
            vec![command.extract::<PathBuf>()?.into()]
        } else {
            command.extract().map_err(|_| {
                PyTypeError::new_err("expected a path, or a sequence of a path and arguments")
            })?
        };
        let [program, arguments @ ..] = arguments.as_slice() else {
            return Err(value_error("the command is empty"));
        };
        let mut process = Command::new(program);
        process.args(arguments);
        if let Some(directory) = directory {
            process.current_dir(directory);
        }
        let mut builder = client::Engine::builder();
        if let Some(protocol) = protocol {
            builder = builder.dialect(names::dialect(protocol)?);
        }
        if let Some(timeout) = timeout {
            let limit = WaitLimit::fixed(seconds(timeout)?);
            let (handshake, ready) = (limit, limit);
            builder = builder.timeouts(Timeouts { handshake, ready, ..Timeouts::default() });
        }
        let log = with_log.then(Log::new);
        if let Some(log) = &log {
            let (lines, errors) = (Arc::clone(log), Arc::clone(log));
            builder = builder.on_line(move |party, line| lines.add(Some(party), line));
            builder = builder.on_stderr(move |line| errors.add(None, line));
        }
        if with_guard {
            builder = builder.guard(&guard(py)?);
        }
        let options = option_texts(options)?;
        Ok(Self { builder, command: process, options, log })
    }
}

/// What a search is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Analyse,
    Play,
    /// A call waits for the move.
    PlayNow,
}

/// A process of a UCI or USI engine. The same class serves blocking code and asyncio.
///
/// command: the path or name of the program, or a sequence of it and its arguments.
/// protocol: "uci" or "usi"; without one, both are tried, UCI first.
/// options: values of options by name; None pushes a button.
/// timeout: seconds for the handshake and for each "isready"; without one, ten seconds without output and a minute with it.
/// directory: the working directory; that of this program without one.
/// guard: whether the engine and all its descendants end with this program, even if it is killed (on Linux; elsewhere its
///     process group). The process that ensures it is started with the engine.
/// log: whether to keep the latest lines for `log`.
///
/// The engine ends with `close`, at the end of a `with` block, and when this object is deleted.
///
/// Raises EngineStartError, EngineTimeoutError, EngineTerminatedError and EngineUsageError (an unknown option or a bad value).
#[pyclass(module = "readyok", frozen)]
pub(crate) struct Engine {
    /// None after the end.
    process: Mutex<Option<client::Engine>>,
    /// The last game, so that searches of one game need no `ucinewgame`.
    game: Mutex<Option<(readyok_rules::Game, client::Game)>>,
    log: Option<Arc<Log>>,
    dialect: Dialect,
    /// The name that the engine sent, or that of its program.
    #[pyo3(get)]
    name: String,
    /// The author that the engine sent.
    #[pyo3(get)]
    author: Option<String>,
    /// The process ID, which is also that of its process group.
    #[pyo3(get)]
    pid: Option<u32>,
}

impl Engine {
    fn opened(
        opened: Result<client::Engine, EngineError>,
        options: OptionTexts,
        log: Option<Arc<Log>>,
    ) -> PyResult<Self> {
        let mut engine = opened.or_raise()?;
        for (name, value) in options {
            set_option(&mut engine, &name, value.as_deref()).or_raise()?;
        }
        Ok(Self {
            dialect: engine.dialect(),
            name: sent(&engine.identity().name).unwrap_or_else(|| engine.name().to_owned()),
            author: sent(&engine.identity().author),
            pid: engine.process_id(),
            process: Mutex::new(Some(engine)),
            game: Mutex::new(None),
            log,
        })
    }

    /// Calls a function with the engine, without the lock of the interpreter.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut client::Engine) -> Result<T, EngineError> + Send,
    ) -> PyResult<T> {
        let called = py.detach(|| lock(&self.process).as_mut().map(call));
        called.ok_or_else(closed)?.or_raise()
    }

    fn codec(&self, position: &Position) -> PyResult<MoveCodec> {
        let rules = position.0.game();
        MoveCodec::new(self.dialect, rules).ok_or_else(|| {
            let protocol = self.dialect.handshake();
            value_error(format_args!("{protocol} has no positions of {}", rules.name()))
        })
    }

    /// The position in the game of the last search, unless a new game begins.
    fn game(
        &self,
        position: &Position,
        codec: MoveCodec,
        new_game: bool,
    ) -> PyResult<client::Game> {
        let (rules, start) = (position.0.game(), position.0.start());
        let encoded = codec.encode_position(start, position.0.moves()).ok_or_else(|| {
            let protocol = self.dialect.handshake();
            value_error(format_args!("{protocol} cannot express the position {start}"))
        })?;
        let mut last = lock(&self.game);
        let game = match &*last {
            Some((known, last)) if !new_game && *known == rules => last.at(encoded),
            _ => client::Game::new(encoded, codec.new_game()),
        };
        *last = Some((rules, game.clone()));
        Ok(game)
    }

    fn start(
        slf: &Bound<'_, Self>,
        position: &Position,
        new_game: bool,
        limits: Option<&Bound<'_, PyDict>>,
        purpose: Purpose,
    ) -> PyResult<Search> {
        let engine = slf.get();
        let codec = engine.codec(position)?;
        let search = limits::search(limits, codec, purpose == Purpose::PlayNow)?;
        let game = engine.game(position, codec, new_game)?;
        let handle = engine.with(slf.py(), |engine| match purpose {
            Purpose::Analyse => engine.analyse(&game, search),
            Purpose::Play | Purpose::PlayNow => engine.begin(&game, search),
        })?;
        Ok(Search::new(handle, codec, slf.clone().into_any().unbind()))
    }
}

/// A text of the engine, unless it is empty.
fn sent(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn closed() -> PyErr {
    crate::error::exception("EngineTerminatedError", &"the engine was closed", |_| Ok(()))
}

/// The exit status as in `subprocess`: a negative signal number if a signal ended the process.
fn exit_code(status: ExitStatus) -> Option<i32> {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt as _;
        status.code().or_else(|| status.signal().map(|signal| -signal))
    }
    #[cfg(not(unix))]
    status.code()
}

async fn quit(engine: Option<client::Engine>) -> Result<Option<ExitStatus>, EngineError> {
    match engine {
        Some(engine) => engine.quit_async().await,
        None => Ok(None),
    }
}

/// The exit status of an engine that was asked to end. One that had already ended is no error.
fn exit_of(ended: Result<Option<ExitStatus>, EngineError>) -> PyResult<Option<i32>> {
    let status = match ended {
        Err(error) if *error.problem() == Problem::Disconnected => error.exit(),
        ended => ended.or_raise()?,
    };
    Ok(status.and_then(exit_code))
}

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (command, *, protocol=None, options=None, timeout=None, directory=None, guard=true, log=false))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        py: Python<'_>,
        command: &Bound<'_, PyAny>,
        protocol: Option<&str>,
        options: Option<&Bound<'_, PyAny>>,
        timeout: Option<f64>,
        directory: Option<PathBuf>,
        guard: bool,
        log: bool,
    ) -> PyResult<Self> {
        let Start { builder, command, options, log } =
            Start::new(py, command, protocol, options, timeout, directory, guard, log)?;
        // The handshake blocks. After Ctrl-C the thread ends the engine by itself.
        let (sender, receiver) = mpsc::channel();
        thread::Builder::new()
            .name("readyok-start".to_owned())
            .spawn(move || _ = sender.send(builder.spawn(command)))?;
        let receiver = Mutex::new(receiver);
        loop {
            match py.detach(|| lock(&receiver).recv_timeout(SIGNALS)) {
                Ok(opened) => return Self::opened(opened, options, log),
                Err(mpsc::RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(mpsc::RecvTimeoutError::Disconnected) => return Err(closed()),
            }
        }
    }

    /// Starts an engine in a task: `engine = await Engine.open("stockfish")`. The arguments are those of the class.
    #[staticmethod]
    #[pyo3(signature = (command, *, protocol=None, options=None, timeout=None, directory=None, guard=true, log=false))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn open(
        py: Python<'_>,
        command: &Bound<'_, PyAny>,
        protocol: Option<&str>,
        options: Option<&Bound<'_, PyAny>>,
        timeout: Option<f64>,
        directory: Option<PathBuf>,
        guard: bool,
        log: bool,
    ) -> PyResult<Task> {
        let Start { builder, command, options, log } =
            Start::new(py, command, protocol, options, timeout, directory, guard, log)?;
        Ok(Task::then(builder.spawn_async(command), move |py, opened| {
            Ok(Py::new(py, Self::opened(opened, options, log)?)?.into_any())
        }))
    }

    /// "uci" or "usi".
    #[getter]
    fn protocol(&self) -> &'static str {
        self.dialect.handshake()
    }

    /// The options that the engine declared, by name.
    #[getter]
    fn options(&self, py: Python<'_>) -> PyResult<Vec<EngineOption>> {
        self.with(py, |engine| {
            let options = engine.options().iter();
            Ok(options.map(|option| EngineOption::new(&option.name, &option.kind)).collect())
        })
    }

    /// The current value of an option, as bool, int or str. None if it is not known.
    fn option<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let value = self.with(py, |engine| Ok(engine.option_value(name)))?;
        Ok(match value {
            Some(OptionValue::Check(value)) => Some(PyBool::new(py, value).to_owned().into_any()),
            Some(OptionValue::Spin(value)) => Some(value.into_pyobject(py)?.into_any()),
            Some(OptionValue::Text(value)) => Some(value.into_pyobject(py)?.into_any()),
            Some(OptionValue::Pressed) | None => None,
        })
    }

    /// Sets an option permanently; None pushes a button. A running analysis continues with the new value.
    ///
    /// Raises EngineUsageError: the option is unknown, the value is invalid, or a search for a move is running.
    #[pyo3(signature = (name, value=None))]
    fn set_option(
        &self,
        py: Python<'_>,
        name: &str,
        value: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let value = value.map(option_text).transpose()?.flatten();
        self.with(py, |engine| set_option(engine, name, value.as_deref()))
    }

    /// Starts a search for a move to play and returns immediately. A running search is stopped.
    ///
    /// position: the position with the moves that led to it.
    /// new_game: whether a new game begins: the engine forgets what it knows. A first search always begins one.
    ///
    /// Limits, of which the first one that is reached ends the search; without any, it runs until it is stopped:
    /// time: seconds. depth: plies. nodes: nodes. mate: a mate in this number of moves (UCI), or for this number of
    ///     seconds (USI); `SearchResult.checkmate` has the answer.
    /// clock, increment: seconds of both players, the first player first. byoyomi: seconds of each move.
    ///     moves_to_go: moves until the next time control.
    /// moves: only these moves are searched.
    /// lines: the number of variations. options: values of options for this search.
    /// deadline: seconds after which EngineTimeoutError is raised, even if the engine keeps sending lines.
    /// ponder: the last move is the expected one; the search lasts until `Search.ponder_hit` or `Search.stop`.
    /// ponder_after: the engine ponders after its answer, until the next search of the game.
    #[pyo3(signature = (position, *, new_game=false, **limits))]
    fn begin(
        slf: &Bound<'_, Self>,
        position: PyRef<'_, Position>,
        new_game: bool,
        limits: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Search> {
        Self::start(slf, &position, new_game, limits, Purpose::Play)
    }

    /// Starts an analysis and returns immediately. The arguments are those of `begin`.
    #[pyo3(signature = (position, *, new_game=false, **limits))]
    fn analyse(
        slf: &Bound<'_, Self>,
        position: PyRef<'_, Position>,
        new_game: bool,
        limits: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Search> {
        Self::start(slf, &position, new_game, limits, Purpose::Analyse)
    }

    /// Searches for a move to play, and waits for it. The arguments are those of `begin`, of which at least one limit is
    /// required. Ctrl-C stops the search.
    #[pyo3(signature = (position, *, new_game=false, **limits))]
    fn play(
        slf: &Bound<'_, Self>,
        position: PyRef<'_, Position>,
        new_game: bool,
        limits: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<SearchResult> {
        let search = Self::start(slf, &position, new_game, limits, Purpose::PlayNow)?;
        drop(position);
        search.wait_for_end(slf.py(), None)
    }

    /// Waits until the engine has processed everything requested before, such as loading a network (`isready`).
    fn ready(&self, py: Python<'_>) -> PyResult<()> {
        let ready = lock(&self.process).as_mut().map(client::Engine::ready_async);
        task::block_on(py, ready.ok_or_else(closed)?)?.or_raise()
    }

    /// Like `ready`, in a task.
    fn ready_async(&self) -> PyResult<Task> {
        let ready = lock(&self.process).as_mut().map(client::Engine::ready_async);
        let ready = ready.ok_or_else(closed)?;
        Ok(Task::then(ready, |py, ready| ready.or_raise().map(|()| py.None())))
    }

    /// Reports the result of the game to a shogi engine: "win", "lose" or "draw", from its view.
    fn game_over(&self, py: Python<'_>, result: &str) -> PyResult<()> {
        let result = match result {
            "win" => GameResult::Win,
            "lose" => GameResult::Lose,
            "draw" => GameResult::Draw,
            _ => return Err(value_error(format_args!("no such result of a game: {result:?}"))),
        };
        self.with(py, |engine| engine.game_over(result))
    }

    /// Texts, protocol violations and unknown lines of the engine since the last call: the latest 256.
    fn notices(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |engine| Ok(engine.drain_notices().iter().filter_map(notice_text).collect()))
    }

    /// An iterator of the lines since the last call, as (seconds since the start, source, line). Sources are "gui", "engine",
    /// "stderr", and "readyok", which reports how many lines were discarded. It never waits.
    ///
    /// Raises ValueError if the engine was started without `log=True`.
    fn log(&self) -> PyResult<LogIterator> {
        let log = self.log.as_ref();
        let log = log.ok_or_else(|| value_error("the engine was started without a log"))?;
        Ok(LogIterator::new(Arc::clone(log)))
    }

    /// Ends the engine with `quit`, and returns its exit status: negative if a signal ended it. An engine that does not exit in
    /// time is killed, which raises EngineTimeoutError.
    fn close(&self, py: Python<'_>) -> PyResult<Option<i32>> {
        exit_of(task::block_on(py, quit(lock(&self.process).take()))?)
    }

    /// Like `close`, in a task.
    fn close_async(&self) -> Task {
        Task::then(quit(lock(&self.process).take()), |py, ended| {
            Ok(exit_of(ended)?.into_pyobject(py)?.into_any().unbind())
        })
    }

    /// Kills the engine immediately, for one that does not react.
    fn kill(&self, py: Python<'_>) {
        let engine = lock(&self.process).take();
        py.detach(|| engine.map(client::Engine::kill));
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*exception))]
    fn __exit__(&self, py: Python<'_>, exception: &Bound<'_, PyAny>) -> PyResult<()> {
        _ = exception;
        self.close(py).map(drop)
    }

    fn __aenter__(slf: Py<Self>) -> Task {
        Task::ready(slf)
    }

    #[pyo3(signature = (*exception))]
    fn __aexit__(&self, exception: &Bound<'_, PyAny>) -> Task {
        _ = exception;
        Task::then(quit(lock(&self.process).take()), |py, ended| exit_of(ended).map(|_| py.None()))
    }

    fn __repr__(&self) -> String {
        format!("<Engine {}>", self.name)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let engine = lock(&self.process).take();
        if engine.is_some() {
            // It may take a moment to exit. At the end of the program the lock is not available.
            let mut engine = Some(engine);
            Python::try_attach(|py| {
                let engine = engine.take();
                py.detach(|| drop(engine));
            });
            drop(engine);
        }
    }
}

/// The text of a notice, if it has one for users.
fn notice_text(notice: &Notice) -> Option<String> {
    let status = |name: &str, status: &Status| match status {
        Status::Error => Some(format!("{name} error")),
        Status::Checking | Status::Ok => None,
    };
    match notice {
        Notice::LineTooLong(line) => Some(line.to_string()),
        Notice::Event(event) => match event {
            Event::InfoString(text) | Event::UnknownLine(text) => Some(text.clone()),
            Event::Malformed(diagnostics) => {
                let texts: Vec<_> = diagnostics.iter().map(ToString::to_string).collect();
                Some(texts.join("; "))
            }
            Event::Violation(violation) => Some(violation.to_string()),
            Event::CopyProtection(value) => status("copyprotection", value),
            Event::Registration(value) => status("registration", value),
            _ => None,
        },
        _ => None,
    }
}

/// An option that an engine declared.
///
/// name: the name.
/// type: "check", "spin", "combo", "button", "string", "filename", or an unknown type.
/// default: the default, as bool, int or str. None for a button, and if it was not declared.
/// min, max: the limits of a spin option.
/// choices: the choices of a combo option.
#[pyclass(module = "readyok", frozen)]
pub(crate) struct EngineOption {
    /// The name.
    #[pyo3(get)]
    name: String,
    kind: OptionKind<'static>,
}

impl EngineOption {
    fn new(name: &str, kind: &OptionKind<'_>) -> Self {
        Self { name: name.to_owned(), kind: kind.clone().into_owned() }
    }
}

#[pymethods]
impl EngineOption {
    /// "check", "spin", "combo", "button", "string", "filename", or an unknown type.
    #[getter]
    fn r#type(&self) -> &str {
        match &self.kind {
            OptionKind::Check { .. } => "check",
            OptionKind::Spin { .. } => "spin",
            OptionKind::Combo { .. } => "combo",
            OptionKind::Button => "button",
            OptionKind::String { .. } => "string",
            OptionKind::Filename { .. } => "filename",
            OptionKind::Other { kind, .. } => kind,
        }
    }

    /// The default, as bool, int or str. None for a button, and if it was not declared.
    #[getter]
    fn default<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(match &self.kind {
            OptionKind::Check { default: Some(value) } => {
                Some(PyBool::new(py, *value).to_owned().into_any())
            }
            OptionKind::Spin { default: Some(value), .. } => {
                Some(value.into_pyobject(py)?.into_any())
            }
            OptionKind::Combo { default: Some(text), .. }
            | OptionKind::String { default: Some(text) }
            | OptionKind::Filename { default: Some(text) } => {
                Some(text.as_ref().into_pyobject(py)?.into_any())
            }
            _ => None,
        })
    }

    /// The smallest value of a spin option.
    #[getter]
    fn min(&self) -> Option<i64> {
        match self.kind {
            OptionKind::Spin { min, .. } => min,
            _ => None,
        }
    }

    /// The largest value of a spin option.
    #[getter]
    fn max(&self) -> Option<i64> {
        match self.kind {
            OptionKind::Spin { max, .. } => max,
            _ => None,
        }
    }

    /// The choices of a combo option, in the engine's order.
    #[getter]
    fn choices(&self) -> Vec<&str> {
        match &self.kind {
            OptionKind::Combo { vars, .. } => vars.iter().map(AsRef::as_ref).collect(),
            _ => Vec::new(),
        }
    }

    fn __repr__(&self) -> String {
        format!("<EngineOption {} ({})>", self.name, self.r#type())
    }
}
