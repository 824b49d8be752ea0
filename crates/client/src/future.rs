//! Async calls for any runtime: the I/O thread reads, enforces deadlines and wakes the tasks.

use std::cell::Cell;
use std::future::{IntoFuture, poll_fn};
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::pin::Pin;
use std::process::{Command, ExitStatus};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use readyok_protocol::Dialect;

use crate::builder::{Builder, Target};
use crate::driver::{Change, Driver};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::handle::SearchHandle;
use crate::search::{SearchResult, Update};
use crate::shared::Shared;
use crate::sync::{lock, spawn};

/// Consecutive updates after which the task yields.
const UPDATES_BEFORE_YIELD: u32 = 64;

impl Builder {
    /// Like [`spawn`](Self::spawn), in a task of any runtime.
    ///
    /// Blocking calls have async forms with the suffix `_async`, and a [`SearchHandle`] can be awaited. Every future may
    /// be dropped at any time. Dropping the engine kills the process and does not block; a thread reaps it, even if the
    /// runtime is gone. [`Engine::quit_async`] ends it in an orderly way.
    ///
    /// ```no_run
    /// # async fn play() -> Result<(), readyok_client::EngineError> {
    /// use readyok_client::{Engine, Game, Limit};
    /// use std::process::Command;
    ///
    /// let mut engine = Engine::builder().spawn_async(Command::new("stockfish")).await?;
    /// let result = engine.begin(&Game::startpos(), Limit::Depth(10))?.await?;
    /// println!("{:?}", result.best_move());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The executable cannot be started, or the handshake fails.
    pub async fn spawn_async(self, command: Command) -> Result<Engine, EngineError> {
        open(self, Target::Command(command)).await
    }

    /// Like [`connect`](Self::connect), in a task.
    ///
    /// # Errors
    /// The connection or the handshake fails.
    pub async fn connect_async(self, address: &str) -> Result<Engine, EngineError> {
        open(self, Target::address(address)).await
    }

    /// Like [`over`](Self::over), in a task. The streams may block.
    ///
    /// # Errors
    /// The handshake fails.
    pub async fn over_async(
        self,
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> Result<Engine, EngineError> {
        open(self, Target::streams(reader, writer)).await
    }

    /// Like [`in_process`](Self::in_process), in a task.
    ///
    /// # Errors
    /// The handshake fails.
    pub async fn in_process_async(
        self,
        engine: impl FnOnce(PipeReader, PipeWriter) + Send + 'static,
    ) -> Result<Engine, EngineError> {
        let target = Target::in_process(engine);
        let target = target.map_err(|error| EngineError::start("engine", &error))?;
        open(self, target).await
    }
}

async fn open(builder: Builder, target: Target) -> Result<Engine, EngineError> {
    let (first, second) = builder.dialects(&target);
    let (target, result) = open_with_handshake(&builder, target, first).await;
    match (second, target) {
        (Some(dialect), Some(target)) if result.is_err() => {
            open_with_handshake(&builder, target, dialect).await.1
        }
        _ => result,
    }
}

/// Returns the target for another attempt.
async fn open_with_handshake(
    builder: &Builder,
    mut target: Target,
    dialect: Dialect,
) -> (Option<Target>, Result<Engine, EngineError>) {
    let attempt = builder.clone();
    // Starting and connecting may block.
    let opening = Opening::default();
    let opened = opening.clone();
    let started = spawn("engine-start", move || {
        let engine = attempt.open(&mut target, dialect, true);
        let engine = engine.map(|(name, shared)| Engine::new(name, dialect, shared, true));
        opened.complete((target, engine));
    });
    if let Err(error) = started {
        return (None, Err(EngineError::start("engine", &error)));
    }
    let (target, engine) = poll_fn(|context| opening.poll(context)).await;
    let result = async {
        let mut engine = engine?;
        wait(&engine.shared, Change::State, |driver| driver.handshake()).await?;
        engine.complete();
        Ok(engine)
    };
    (Some(target), result.await)
}

type Opened = (Target, Result<Engine, EngineError>);

/// An engine that a thread starts for a task.
#[derive(Clone, Default)]
struct Opening(Arc<Mutex<(Option<Opened>, Option<Waker>)>>);

impl Opening {
    fn complete(&self, opened: Opened) {
        let mut state = lock(&self.0);
        state.0 = Some(opened);
        let waker = state.1.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }

    fn poll(&self, context: &Context<'_>) -> Poll<Opened> {
        let mut state = lock(&self.0);
        if let Some(opened) = state.0.take() {
            return Poll::Ready(opened);
        }
        state.1 = Some(context.waker().clone());
        Poll::Pending
    }
}

async fn wait<T>(
    shared: &Shared,
    change: Change,
    mut done: impl FnMut(&mut Driver) -> Option<T>,
) -> T {
    let value = poll_fn(|context| shared.poll(context, change, &mut done)).await;
    if let Some((listener, count)) = shared.read(Driver::deliveries) {
        listener.wait_for(count);
    }
    value
}

impl Engine {
    /// Like [`ready`](Self::ready), in a task.
    ///
    /// # Errors
    /// The engine did not answer in time, or has ended.
    pub async fn ready_async(&mut self) -> Result<(), EngineError> {
        let ping = self.shared.with(Driver::ping)?;
        wait(&self.shared, Change::State, |driver| driver.pong(ping)).await
    }

    /// Waits until the engine has ended, and returns the reason.
    pub async fn ended(&self) -> EngineError {
        wait(&self.shared, Change::State, |driver| driver.final_error()).await
    }

    /// Like [`quit`](Self::quit), in a task.
    ///
    /// # Errors
    /// The engine did not exit in time and was killed.
    pub async fn quit_async(self) -> Result<Option<ExitStatus>, EngineError> {
        self.shared.with(Driver::quit);
        wait(&self.shared, Change::State, |driver| driver.quit_result()).await
    }
}

impl SearchHandle {
    /// The next update, in a task. `None` once the search has ended; then await the handle for the result.
    pub async fn update(&mut self) -> Option<Update> {
        thread_local! {
            static IN_A_ROW: Cell<u32> = const { Cell::new(0) };
        }
        // Yields, so that an engine that never pauses does not block other tasks or other branches of this one.
        let mut yielded = false;
        poll_fn(|context| {
            if !yielded && UPDATES_BEFORE_YIELD <= IN_A_ROW.get() {
                yielded = true;
                IN_A_ROW.set(0);
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            let id = self.id;
            let next = self.shared().poll(context, Change::Update, |driver| {
                match driver.next_update(id) {
                    Some(update) => Some(Some(update)),
                    None => driver.is_over(id).then_some(None),
                }
            });
            IN_A_ROW.set(if next.is_ready() { IN_A_ROW.get() + 1 } else { 0 });
            next
        })
        .await
    }
}

/// Waits until the search ends by its own limit. Dropping the future stops the search.
impl IntoFuture for SearchHandle {
    type Output = Result<SearchResult, EngineError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let id = self.id;
            wait(self.shared(), Change::State, |driver| driver.take_end(id)).await
        })
    }
}
