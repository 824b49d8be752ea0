//! The WebSocket of a tab.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::Service;
use super::auth::SUBPROTOCOL;
use super::connections::Connection;
use super::rest::allowed;
use crate::app::{App, Reply};
use crate::hub::{Next, Outbox, TabId, text};
use crate::wire::{Answer, ApiError, Command, ErrorCategory, ErrorCode, Request, ToTab};

/// Maximum size of a message of a tab, in bytes.
const LARGEST: usize = 1 << 20;
/// Maximum number of answers of a tab that wait for the library.
const MAX_WAITING: usize = 64;

pub(super) async fn upgrade(
    State(service): State<Service>,
    Extension(connection): Extension<Arc<Connection>>,
    socket: WebSocketUpgrade,
) -> Response {
    socket.protocols([SUBPROTOCOL]).max_message_size(LARGEST).max_frame_size(LARGEST).on_upgrade(
        async move |socket| {
            serve(service, socket).await;
            // Until here the socket counts as an open connection.
            drop(connection);
        },
    )
}

async fn serve(service: Service, socket: WebSocket) {
    let app = service.app;
    let joined = app.state().hub.join();
    // One too many is closed; the page retries later.
    let Some((tab, outbox)) = joined else { return };
    outbox.push(text(&ToTab::Handshake {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        run: service.auth.run(),
        damaged: app.damaged().to_vec(),
    }));
    let (to, from) = socket.split();
    tokio::select! {
        () = write(&app, tab, &outbox, to) => (),
        () = read(&app, &service.roots, tab, &outbox, from) => (),
    }
    app.state().leave(tab);
    app.idle.notify_one();
}

/// Sends the waiting messages to the tab.
async fn write(app: &App, tab: TabId, outbox: &Arc<Outbox>, mut to: SplitSink<WebSocket, Message>) {
    loop {
        let message = match outbox.next().await {
            Next::Send(text) => text,
            Next::Snapshot(topic) => {
                let snapshot = {
                    let state = app.state();
                    if !outbox.begin_snapshot(topic) {
                        continue;
                    }
                    state.snapshot(tab, topic)
                };
                match snapshot {
                    None => text(&ToTab::Closed { topic }),
                    Some(snapshot) if snapshot.reads_file() => {
                        let read = spawn_blocking(move || text(&snapshot.finish())).await;
                        read.unwrap_or_else(|_| text(&ToTab::Closed { topic }))
                    }
                    Some(snapshot) => text(&snapshot.finish()),
                }
            }
            Next::Close => return,
        };
        if to.send(Message::Text(message)).await.is_err() {
            return;
        }
    }
}

/// Carries out the commands of the tab.
async fn read(
    app: &Arc<App>,
    roots: &Arc<[PathBuf]>,
    tab: TabId,
    outbox: &Arc<Outbox>,
    mut from: SplitStream<WebSocket>,
) {
    let waiting = Arc::new(Semaphore::new(MAX_WAITING));
    while let Some(Ok(message)) = from.next().await {
        let message = match message {
            Message::Text(message) => message,
            Message::Close(_) => return,
            Message::Binary(_) | Message::Ping(_) | Message::Pong(_) => continue,
        };
        let answer = match serde_json::from_str::<Request>(&message) {
            Ok(Request { id, command }) => match carry_out(app, roots, tab, command).await {
                Reply::Done(answer) => message_of(id, answer),
                Reply::Written(answer, written) => {
                    let Ok(permit) = Arc::clone(&waiting).acquire_owned().await else { return };
                    let outbox = Arc::clone(outbox);
                    tokio::spawn(async move {
                        // The state of a game shows that it could not be written. Without a library, no change is.
                        let answer = written.await.map_or_else(|_| no_answer(), |()| answer);
                        outbox.push(text(&message_of(id, answer)));
                        drop(permit);
                    });
                    continue;
                }
                Reply::Deferred(deferred) => {
                    let outbox = Arc::clone(outbox);
                    tokio::spawn(async move {
                        let answer = deferred.await.unwrap_or_else(|_| no_answer());
                        outbox.push(text(&message_of(id, answer)));
                    });
                    continue;
                }
            },
            Err(error) => {
                // The id matches the answer to the request.
                let id = serde_json::from_str::<Numbered>(&message).map_or(0, |request| request.id);
                ToTab::Error { id, error: ApiError::invalid_request(ErrorCode::system(&error)) }
            }
        };
        outbox.push(text(&answer));
    }
}

fn message_of(id: u32, answer: Result<Answer, ApiError>) -> ToTab {
    match answer {
        Ok(answer) => ToTab::Answer { id, answer },
        Err(error) => ToTab::Error { id, error },
    }
}

fn no_answer() -> Result<Answer, ApiError> {
    Err(ApiError::conflict(ErrorCode::ShuttingDown))
}

/// Carries out a command. One that reads a file may name only the files of the file picker, and runs outside the
/// runtime.
async fn carry_out(app: &Arc<App>, roots: &Arc<[PathBuf]>, tab: TabId, command: Command) -> Reply {
    if command.path().is_none() {
        return app.command(tab, command).await;
    }
    let (app, roots) = (Arc::clone(app), Arc::clone(roots));
    let runtime = Handle::current();
    let done = spawn_blocking(move || {
        if let Some(path) = command.path()
            && let Err(error) = allowed(Path::new(path), &roots)
        {
            return Reply::Done(Err(error));
        }
        runtime.block_on(app.command(tab, command))
    });
    done.await.unwrap_or_else(|_| {
        Reply::Done(Err(ApiError::new(ErrorCategory::InvalidPath, ErrorCode::Unreadable)))
    })
}

/// The readable part of an invalid request.
#[derive(serde::Deserialize)]
struct Numbered {
    id: u32,
}
