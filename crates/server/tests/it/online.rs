//! Online services, replaced by a server of this process that replays their formats.

mod accounts;
mod lookups;
mod mock;
mod permission;

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Fixture, Tab, options};
use mock::Mock;

/// A server that sends the requests to online services to a mock. Some services are switched on.
async fn start(mock: &Mock, services: &[&str]) -> (Fixture, Tab) {
    let server = Fixture::start_as(|options| use_mock(options, mock)).await;
    let mut tab = server.tab().await;
    switch_on(&mut tab, services).await;
    (server, tab)
}

/// A server with the data of a directory.
async fn start_in(directory: &Path, mock: &Mock) -> (Fixture, Tab) {
    let mut options = options(directory);
    use_mock(&mut options, mock);
    let server = Fixture::start_with(options).await;
    let tab = server.tab().await;
    (server, tab)
}

fn use_mock(options: &mut crate::support::Options, mock: &Mock) {
    options.setup.online.substitute = Some(mock.address);
    options.setup.online.retry = Duration::from_millis(5);
}

async fn switch_on(tab: &mut Tab, services: &[&str]) {
    let settings = json!({ "online": { "services": services } });
    tab.done(json!({ "kind": "set_settings", "settings": settings })).await;
}

async fn settings(tab: &mut Tab) -> Value {
    let settings = tab.follow("settings").await;
    tab.done(json!({ "kind": "unsubscribe", "topic": "settings" })).await;
    settings
}

/// A directory that remains after its server.
fn directory() -> TempDir {
    tempfile::tempdir().expect("a directory")
}
