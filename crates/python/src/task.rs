//! Futures of Rust as awaitable objects of `asyncio`, without another runtime.
//!
//! A [`Task`] is polled by the event loop. While it is pending, it waits for an `asyncio.Future` of the loop's [`Hub`].
//! A waker only writes a byte to a socket that the loop watches: no thread of Rust ever takes the lock of the
//! interpreter, which may be gone when the thread needs it. Cancelling a task drops its future, which stops its search.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyStopIteration};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::lock;

/// How often a blocking call checks for signals, such as that of Ctrl-C.
pub(crate) const SIGNALS: Duration = Duration::from_millis(100);

/// Converts the result of a future, with the lock of the interpreter.
type Finish = Box<dyn for<'py> FnOnce(Python<'py>) -> PyResult<Py<PyAny>> + Send>;
type Work = Pin<Box<dyn Future<Output = Finish> + Send>>;

/// The two ends of a local connection, which never block.
#[cfg(unix)]
mod socket {
    pub(super) use std::os::unix::net::UnixStream as Stream;

    use std::io;
    use std::os::fd::{AsRawFd, IntoRawFd};

    pub(super) fn pair() -> io::Result<(Stream, Stream)> {
        let (ours, theirs) = Stream::pair()?;
        ours.set_nonblocking(true)?;
        theirs.set_nonblocking(true)?;
        Ok((ours, theirs))
    }

    pub(super) fn number(stream: &Stream) -> u64 {
        u64::try_from(stream.as_raw_fd()).unwrap_or_default()
    }

    pub(super) fn given_away(stream: Stream) -> u64 {
        u64::try_from(stream.into_raw_fd()).unwrap_or_default()
    }
}

#[cfg(windows)]
mod socket {
    pub(super) use std::net::TcpStream as Stream;

    use std::io;
    use std::net::{Ipv4Addr, TcpListener};
    use std::os::windows::io::{AsRawSocket, IntoRawSocket};

    pub(super) fn pair() -> io::Result<(Stream, Stream)> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let ours = Stream::connect(listener.local_addr()?)?;
        let (theirs, peer) = listener.accept()?;
        if peer != ours.local_addr()? {
            return Err(io::Error::other("another program has connected"));
        }
        ours.set_nonblocking(true)?;
        theirs.set_nonblocking(true)?;
        ours.set_nodelay(true)?;
        Ok((ours, theirs))
    }

    pub(super) fn number(stream: &Stream) -> u64 {
        stream.as_raw_socket()
    }

    pub(super) fn given_away(stream: Stream) -> u64 {
        stream.into_raw_socket()
    }
}

/// What the wakers of an event loop share.
struct Bell {
    stream: socket::Stream,
    /// The tasks to continue.
    rung: Mutex<Vec<u64>>,
}

struct LoopWaker {
    bell: Arc<Bell>,
    id: u64,
}

impl Wake for LoopWaker {
    fn wake(self: Arc<Self>) {
        let mut rung = lock(&self.bell.rung);
        rung.push(self.id);
        if let [_] = rung.as_slice() {
            // It fails only if the loop is gone, or if bytes are left to read.
            let _ = (&self.bell.stream).write(&[0]);
        }
    }
}

/// The wake-ups of an event loop. `readyok._wake` has one for each loop.
#[pyclass(module = "readyok._readyok", frozen, weakref)]
pub(crate) struct Hub {
    bell: Arc<Bell>,
    input: socket::Stream,
    waiting: Mutex<Waiting>,
    /// The task of a loop that cannot watch a socket.
    reader: Mutex<Option<Py<PyAny>>>,
}

#[derive(Default)]
struct Waiting {
    last: u64,
    futures: HashMap<u64, Py<PyAny>>,
}

#[pymethods]
impl Hub {
    #[new]
    fn new() -> PyResult<Self> {
        let (stream, input) = socket::pair()?;
        let bell = Arc::new(Bell { stream, rung: Mutex::default() });
        Ok(Self { bell, input, waiting: Mutex::default(), reader: Mutex::default() })
    }

    /// The socket to watch.
    fn fileno(&self) -> u64 {
        socket::number(&self.input)
    }

    /// A copy of the socket, which the caller closes.
    fn detach(&self) -> PyResult<u64> {
        Ok(socket::given_away(self.input.try_clone()?))
    }

    /// Keeps the task that reads from the socket.
    fn keep(&self, reader: Py<PyAny>) {
        *lock(&self.reader) = Some(reader);
    }

    /// Resolves the futures of tasks that were woken. The loop calls it when the socket is readable.
    fn run(&self, py: Python<'_>) -> PyResult<()> {
        let _ = (&self.input).read(&mut [0; 64]);
        self.resolve(py)
    }

    /// Like `run`, after the loop has read from the socket itself.
    fn resolve(&self, py: Python<'_>) -> PyResult<()> {
        let rung = std::mem::take(&mut *lock(&self.bell.rung));
        for id in rung {
            let future = lock(&self.waiting).futures.remove(&id);
            if let Some(future) = future
                && !future.call_method0(py, "done")?.extract::<bool>(py)?
            {
                future.call_method1(py, "set_result", (py.None(),))?;
            }
        }
        Ok(())
    }
}

impl Hub {
    fn add(&self, future: Py<PyAny>) -> u64 {
        let mut waiting = lock(&self.waiting);
        waiting.last += 1;
        let id = waiting.last;
        waiting.futures.insert(id, future);
        id
    }

    fn forget(&self, id: u64) {
        let future = lock(&self.waiting).futures.remove(&id);
        drop(future);
    }
}

/// An awaitable result of an engine.
#[pyclass(module = "readyok", frozen)]
pub(crate) struct Task(Mutex<TaskState>);

struct TaskState {
    work: Option<Work>,
    /// The iterator of the `asyncio.Future` that the event loop waits for, and the number of the future in its hub.
    waiting: Option<(Py<PyAny>, Py<Hub>, u64)>,
}

impl Task {
    fn new(work: impl Future<Output = Finish> + Send + 'static) -> Self {
        Self(Mutex::new(TaskState { work: Some(Box::pin(work)), waiting: None }))
    }

    /// A task that converts the result of a future.
    pub(crate) fn then<T: Send + 'static>(
        work: impl Future<Output = T> + Send + 'static,
        finish: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
    ) -> Self {
        Self::new(async move {
            let value = work.await;
            Box::new(move |py: Python<'_>| finish(py, value)) as Finish
        })
    }

    /// A task that returns an object.
    pub(crate) fn ready(object: impl Into<Py<PyAny>>) -> Self {
        let object = object.into();
        Self::then(async {}, move |_, ()| Ok(object))
    }
}

/// A future of the running event loop, and the hub that resolves it.
fn new_future(py: Python<'_>) -> PyResult<(Bound<'_, Hub>, Bound<'_, PyAny>)> {
    static FUTURE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    FUTURE.import(py, "readyok._wake", "future")?.call0()?.extract()
}

#[pymethods]
impl Task {
    fn __await__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let waiting = lock(&self.0).waiting.take();
        if let Some((future, hub, id)) = waiting {
            // Raises `StopIteration` after the wake-up.
            match future.call_method0(py, "__next__") {
                Ok(blocked) => {
                    lock(&self.0).waiting = Some((future, hub, id));
                    return Ok(blocked);
                }
                Err(error) if error.is_instance_of::<PyStopIteration>(py) => (),
                Err(error) => return Err(error),
            }
        }
        let (hub, future) = new_future(py)?;
        let shared = hub.get();
        let id = shared.add(future.clone().unbind());
        let waker = Waker::from(Arc::new(LoopWaker { bell: Arc::clone(&shared.bell), id }));
        let work = lock(&self.0).work.take();
        let Some(mut work) = work else {
            shared.forget(id);
            return Err(PyRuntimeError::new_err("the result was awaited already"));
        };
        // A poll may wait for the lock of an engine.
        let (work, polled) = py.detach(move || {
            let polled = work.as_mut().poll(&mut Context::from_waker(&waker));
            (work, polled)
        });
        match polled {
            Poll::Pending => {
                let waiting = future.call_method0("__await__")?.unbind();
                let blocked = waiting.call_method0(py, "__next__")?;
                let mut state = lock(&self.0);
                state.work = Some(work);
                state.waiting = Some((waiting, hub.unbind(), id));
                Ok(blocked)
            }
            Poll::Ready(finish) => {
                shared.forget(id);
                Err(PyStopIteration::new_err((finish(py)?,)))
            }
        }
    }

    fn send(&self, py: Python<'_>, _value: Py<PyAny>) -> PyResult<Py<PyAny>> {
        self.__next__(py)
    }

    #[pyo3(signature = (typ, val=None, tb=None))]
    fn throw(
        &self,
        py: Python<'_>,
        typ: Bound<'_, PyAny>,
        val: Option<Bound<'_, PyAny>>,
        tb: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        drop(tb);
        self.close(py);
        Err(PyErr::from_value(val.unwrap_or(typ)))
    }

    /// Cancels the task. An engine that it starts is terminated; a search that it waits for is stopped.
    fn close(&self, py: Python<'_>) {
        let (work, waiting) = {
            let mut state = lock(&self.0);
            (state.work.take(), state.waiting.take())
        };
        if let Some((_, hub, id)) = waiting {
            hub.get().forget(id);
        }
        py.detach(|| drop(work));
    }
}

struct ThreadWaker(Thread);

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a future without the lock of the interpreter. A signal, such as that of Ctrl-C, cancels it.
pub(crate) fn block_on<T: Send>(
    py: Python<'_>,
    work: impl Future<Output = T> + Send,
) -> PyResult<T> {
    let mut work = Box::pin(work);
    let waker = Waker::from(Arc::new(ThreadWaker(thread::current())));
    loop {
        let polled = py.detach(|| {
            let polled = work.as_mut().poll(&mut Context::from_waker(&waker));
            if polled.is_pending() {
                thread::park_timeout(SIGNALS);
            }
            polled
        });
        if let Poll::Ready(value) = polled {
            return Ok(value);
        }
        py.check_signals()?;
    }
}
