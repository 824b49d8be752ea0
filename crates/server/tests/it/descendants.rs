//! Descendants of engines that leave the session, the process group and the environment of the engine.

use std::fs;
use std::process::Command;

use readyok_client::Guard;
use readyok_client::unstable::Containment;
use serde_json::{Value, json};
use tokio::time::{Duration, sleep, timeout};

use crate::support::{Fixture, LONG, game, id_of, mime};

const COUNT: usize = 50;

/// The number of running descendants.
fn count(tag: &str) -> usize {
    let processes = fs::read_dir("/proc").expect("it is mounted").flatten();
    let arguments =
        processes.map(|process| fs::read(process.path().join("cmdline")).unwrap_or_default());
    let expected = format!("/bin/sleep\0{tag}\0").into_bytes();
    arguments.filter(|argument| *argument == expected).count()
}

async fn wait_for(expected: usize, tag: &str) {
    let reached = async {
        while count(tag) != expected {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(LONG, reached).await.unwrap_or_else(|_| panic!("{} run", count(tag)));
}

#[tokio::test(flavor = "multi_thread")]
async fn descendants_of_a_removed_engine_are_killed() {
    let mut command = Command::new(mime());
    command.arg("guard");
    let guard = Guard::start_with(command, Containment::Supervisor).expect("a guard");
    let server = Fixture::start_as(|options| options.setup.guard = Some(guard)).await;
    let mut tab = server.tab().await;

    let tag = format!("3600.{}", std::process::id());
    let script = format!(
        "i=0; while [ $i -lt {COUNT} ]; do \
         (env -i /usr/bin/setsid /bin/sleep {tag} <&- >&- 2>&- &); i=$((i+1)); done; exec '{mime}'",
        mime = mime()
    );
    let source = json!({
        "kind": "program", "path": "/bin/sh", "args": ["-c", script], "dir": null, "env": {},
    });
    tab.follow("engines").await;
    let entry = json!({ "name": "", "source": source, "protocol": "uci" });
    let engine = tab.ask(json!({ "kind": "add_engine", "entry": entry })).await["engine"].clone();
    tab.change("engines", |delta| {
        let engines = delta["engines"].as_array();
        engines.is_some_and(|all| all.iter().any(|one| one["identity"]["name"].is_string()))
    })
    .await;
    // The probe has started descendants.
    wait_for(0, &tag).await;

    let (topic, _) = tab.new_game(game("chess", Value::Null)).await;
    let id = id_of(&topic);
    let analysis = format!("analysis/{id}");
    tab.follow(&analysis).await;
    let settings = json!({
        "lines": 1, "goal": { "kind": "infinite" }, "only": [], "threat": false, "locked": false,
    });
    let analyse = json!({ "kind": "analyse", "game": id, "engine": engine, "settings": settings });
    tab.done(analyse).await;
    tab.change(&analysis, |delta| delta["engines"][0]["info"]["depth"].is_number()).await;
    wait_for(COUNT, &tag).await;
    tab.done(json!({ "kind": "remove_engine", "engine": engine })).await;
    wait_for(0, &tag).await;
}
