//! Imports of the games of accounts.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Notify;

use super::mock::{
    Mock, Received, Step, answer, begun, chesscom_game, json_answer, lichess_id, lichess_line,
    lichess_line_with, lichess_lines, lichess_pgn, part, stream, stream_head,
};
use super::{directory, settings, start, start_in, switch_on};
use crate::support::{Fixture, Tab, post};

const LICHESS: &[&str] = &["lichess_games"];
const CHESSCOM: &[&str] = &["chesscom_games"];

fn account(site: &str) -> Value {
    json!({ "site": site, "name": "Anna" })
}

async fn import(tab: &mut Tab, site: &str) -> Value {
    let command = json!({ "kind": "import_account", "account": account(site), "since": null });
    tab.ask(command).await
}

/// Imports an account, and returns the job at its end.
async fn import_all(tab: &mut Tab, site: &str) -> Value {
    tab.follow("jobs").await;
    let started = import(tab, site).await;
    assert_eq!(started["kind"], "job", "{started}");
    let job = until(tab, |job| job["id"] == started["id"] && is_over(job)).await;
    tab.done(json!({ "kind": "unsubscribe", "topic": "jobs" })).await;
    job
}

fn is_over(job: &Value) -> bool {
    ["done", "failed", "stopped"].iter().any(|status| job["status"] == *status)
}

/// The next change of a job.
async fn until(tab: &mut Tab, fits: impl Fn(&Value) -> bool) -> Value {
    let delta = tab.change("jobs", |delta| fits(&delta["changed"][0])).await;
    delta["changed"][0].clone()
}

/// Counts of a job: its status, added games, duplicates, errors.
fn counts(job: &Value) -> (&str, u64, u64, u64) {
    let count = |name: &str| job[name].as_u64().expect("a number");
    let status = job["status"].as_str().expect("a status");
    (status, count("games"), count("duplicates"), count("total_errors"))
}

async fn stored(server: &Fixture) -> u64 {
    let page = server.search(&json!({ "limit": 1 })).await.json();
    page["total"].as_u64().expect("a number")
}

/// A new import of an account with thousands of games, and its next import.
#[tokio::test(flavor = "multi_thread")]
async fn games_are_imported_once() {
    let mock = Mock::start(|request, _| stream(&lichess_lines(request, 0..5000))).await;
    let (server, mut tab) = start(&mock, LICHESS).await;
    let job = import_all(&mut tab, "lichess").await;
    assert_eq!(counts(&job), ("done", 5000, 0, 0), "{job}");
    assert_eq!(job["account"], account("lichess"));
    assert_eq!(stored(&server).await, 5000);
    let first = &mock.requests()[0];
    assert_eq!((first.host.as_str(), first.since()), ("lichess.org", None));
    assert!(first.path.starts_with("/api/games/user/Anna?"), "{first:?}");
    assert_eq!(first.parameter("sort"), Some("dateAsc"));
    assert_eq!(first.header("accept"), Some("application/x-ndjson"));
    assert!(first.header("user-agent").expect("a name").starts_with("readyok/"));
    let known = settings(&mut tab).await["online"]["accounts"][0].clone();
    assert_eq!((&known["name"], &known["site"]), (&json!("Anna"), &json!("lichess")));
    assert!(known["imported"].is_u64(), "{known}");

    mock.replace(|request, _| stream(&lichess_lines(request, 0..5003)));
    let job = import_all(&mut tab, "lichess").await;
    assert_eq!(counts(&job), ("done", 3, 0, 0), "{job}");
    assert_eq!(stored(&server).await, 5003);
    assert_eq!(mock.requests()[0].since(), Some(begun(4999)));
    // The entry of the earlier import is replaced.
    assert_eq!(tab.follow("jobs").await["jobs"].as_array().map(Vec::len), Some(1));
    let found = server.search(&json!({ "player": "anna", "limit": 1 })).await.json();
    assert_eq!((&found["total"], &found["games"][0]["result"]), (&json!(5003), &json!("1-0")));
    assert_eq!(found["games"][0]["evaluated"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_continues_after_a_disconnect() {
    let mock = Mock::start(|request, number| {
        let lines = lichess_lines(request, 0..100);
        let (sent, rest) = lines.split_at(lines.len().min(30));
        match number {
            // The end is in the middle of a line.
            0 => vec![stream_head(), part(sent.join("\n") + "\n" + &rest[0][..200])],
            // A server that has no answer.
            1 => answer("502 Bad Gateway", "", "busy"),
            _ => stream(&lines),
        }
    })
    .await;
    let (server, mut tab) = start(&mock, LICHESS).await;
    let job = import_all(&mut tab, "lichess").await;
    assert_eq!(counts(&job), ("done", 100, 0, 0), "{job}");
    assert_eq!(stored(&server).await, 100);
    let since: Vec<_> = mock.requests().iter().map(Received::since).collect();
    assert_eq!(since, [None, Some(begun(29)), Some(begun(29))]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_continues_after_a_restart() {
    let directory = directory();
    let interrupted = |request: &Received, _| {
        let lines = lichess_lines(request, 0..20);
        vec![stream_head(), part(lines.join("\n") + "\n")]
    };
    let mock = Mock::start(interrupted).await;
    let (server, mut tab) = start_in(directory.path(), &mock).await;
    switch_on(&mut tab, LICHESS).await;
    let job = import_all(&mut tab, "lichess").await;
    assert_eq!(counts(&job), ("failed", 20, 0, 1), "{job}");
    assert_eq!(job["errors"][0]["why"]["code"], "service_interrupted", "{job}");
    server.stop().await;

    mock.replace(|request, _| stream(&lichess_lines(request, 0..50)));
    let (server, mut tab) = start_in(directory.path(), &mock).await;
    // The import of the same account is resumed.
    let resumed = import_all(&mut tab, "lichess").await;
    assert_eq!((&resumed["id"], &resumed["status"]), (&job["id"], &json!("done")), "{resumed}");
    assert_eq!((&resumed["games"], &resumed["duplicates"]), (&json!(50), &json!(0)));
    assert_eq!(stored(&server).await, 50);
    assert_eq!(mock.requests()[0].since(), Some(begun(19)));
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_lines_are_reported_and_the_rest_is_imported() {
    let mock = Mock::start(|_, _| {
        let cut = lichess_pgn(3).replace("1-0\n", "2... Kd4 1-0\n");
        let lines = [
            lichess_line(0),
            "{\"id\": \"nonsense".to_owned(),
            String::new(),
            lichess_line(1),
            format!("{{\"id\": \"{}\"}}", "x".repeat((1 << 20) + 10)),
            lichess_line(2),
            lichess_line_with(3, &json!({ "pgn": cut })),
            lichess_line_with(4, &json!({ "pgn": null })),
            lichess_line_with(5, &json!({ "variant": "atomic" })),
            lichess_line_with(6, &json!({ "status": "aborted" })),
            lichess_line_with(7, &json!({ "id": "../../etc" })),
            lichess_line(8),
        ];
        stream(&lines)
    })
    .await;
    let (server, mut tab) = start(&mock, LICHESS).await;
    let job = import_all(&mut tab, "lichess").await;
    assert_eq!((counts(&job), &job["skipped"]), (("done", 5, 0, 5), &json!(1)), "{job}");
    assert_eq!(stored(&server).await, 5);
    let faults = post(&server, "/api/library/faults", &json!({ "job": job["id"] })).await;
    let errors: Vec<_> = faults["errors"]
        .as_array()
        .expect("errors")
        .iter()
        .map(|error| {
            let line = error["why"]["context"]["line"].as_u64();
            (error["of"]["name"].clone(), error["why"]["code"].clone(), line)
        })
        .collect();
    let lichess = json!("lichess.org");
    let expected = [
        (lichess.clone(), json!("unreadable"), Some(2)),
        (lichess.clone(), json!("too_long"), Some(5)),
        (json!(format!("https://lichess.org/{}", lichess_id(3))), errors[2].1.clone(), Some(21)),
        (lichess.clone(), json!("unreadable"), Some(8)),
        (lichess, json!("unreadable"), Some(11)),
    ];
    assert_eq!(errors, expected);
}

/// A game that is in progress is imported when it is over, although later games were imported before.
#[tokio::test(flavor = "multi_thread")]
async fn games_in_progress_are_imported_later() {
    let mock = Mock::start(|_, _| {
        let started = json!({ "status": "started" });
        stream(&[lichess_line(0), lichess_line_with(1, &started), lichess_line(2)])
    })
    .await;
    let (server, mut tab) = start(&mock, LICHESS).await;
    assert_eq!(counts(&import_all(&mut tab, "lichess").await), ("done", 2, 0, 0));
    mock.replace(|request, _| stream(&lichess_lines(request, 0..4)));
    assert_eq!(counts(&import_all(&mut tab, "lichess").await), ("done", 2, 1, 0));
    assert_eq!(mock.requests()[0].since(), Some(begun(1)));
    assert_eq!(stored(&server).await, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_waits_as_long_as_it_is_asked_to() {
    let mock = Mock::start(|request, number| match number {
        0 => answer("429 Too Many Requests", "Retry-After: 1\r\n", "slow down"),
        _ => stream(&lichess_lines(request, 0..3)),
    })
    .await;
    let (_server, mut tab) = start(&mock, LICHESS).await;
    tab.follow("jobs").await;
    let id = import(&mut tab, "lichess").await["id"].clone();
    let waiting = until(&mut tab, |job| job["waiting"].is_u64()).await;
    assert_eq!((&waiting["id"], &waiting["status"]), (&id, &json!("running")));
    assert_eq!(mock.requests().len(), 1);
    let job = until(&mut tab, is_over).await;
    assert_eq!((counts(&job), &job["waiting"]), (("done", 3, 0, 0), &Value::Null));
    assert_eq!(mock.requests().len(), 2);

    // Without a time it is a minute, which the user can cancel.
    mock.replace(|_, _| answer("429 Too Many Requests", "", ""));
    let id = import(&mut tab, "lichess").await["id"].clone();
    until(&mut tab, |job| job["id"] == id && job["waiting"].is_u64()).await;
    tab.done(json!({ "kind": "stop_job", "id": id })).await;
    until(&mut tab, |job| job["id"] == id && job["status"] == "stopped").await;
    assert_eq!(mock.requests().len(), 1);
}

/// A server that sends nothing more holds neither the games that it has sent nor the stop.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_answer_is_cancelled_and_resumed() {
    let closed = Arc::new(Notify::new());
    let end = Arc::clone(&closed);
    let mock = Mock::start(move |request, _| {
        let lines = lichess_lines(request, 0..10);
        vec![stream_head(), part(lines.join("\n") + "\n"), Step::Closed(Arc::clone(&end))]
    })
    .await;
    let (server, mut tab) = start(&mock, LICHESS).await;
    tab.follow("jobs").await;
    let id = import(&mut tab, "lichess").await["id"].clone();
    until(&mut tab, |job| job["games"] == 10).await;
    let again = import(&mut tab, "lichess").await;
    assert_eq!(again["error"]["code"], "job_running", "{again}");
    tab.done(json!({ "kind": "stop_job", "id": id })).await;
    closed.notified().await;
    mock.replace(|request, _| stream(&lichess_lines(request, 0..30)));
    tab.done(json!({ "kind": "resume_job", "id": id })).await;
    let job = until(&mut tab, |job| job["status"] == "done").await;
    assert_eq!(counts(&job), ("done", 30, 0, 0), "{job}");
    assert_eq!(mock.requests()[0].since(), Some(begun(9)));
    assert_eq!(stored(&server).await, 30);
}

/// Slow parts are no failure: games arrive one at a time.
#[tokio::test(flavor = "multi_thread")]
async fn lines_can_be_received_in_any_parts() {
    let next = Arc::new(Notify::new());
    let (wait, go) = (Arc::clone(&next), next);
    let mock = Mock::start(move |_, _| {
        let text = lichess_line(0) + "\r\n" + &lichess_line(1) + "\n\n";
        let mut steps = vec![stream_head()];
        let parts = text.as_bytes().chunks(text.len() / 3).map(part);
        for part in parts {
            steps.extend([part, Step::Wait(Arc::clone(&wait))]);
        }
        steps.push(Step::Send(b"0\r\n\r\n".to_vec()));
        steps
    })
    .await;
    let (_server, mut tab) = start(&mock, LICHESS).await;
    let release = tokio::spawn(async move {
        loop {
            go.notify_one();
            tokio::task::yield_now().await;
        }
    });
    assert_eq!(counts(&import_all(&mut tab, "lichess").await), ("done", 2, 0, 0));
    release.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn switching_a_service_off_ends_its_imports() {
    let closed = Arc::new(Notify::new());
    let end = Arc::clone(&closed);
    let mock = Mock::start(move |_, _| vec![stream_head(), Step::Closed(Arc::clone(&end))]).await;
    let (_server, mut tab) = start(&mock, LICHESS).await;
    tab.follow("jobs").await;
    let id = import(&mut tab, "lichess").await["id"].clone();
    while mock.requests().is_empty() {
        tokio::task::yield_now().await;
    }
    switch_on(&mut tab, &[]).await;
    closed.notified().await;
    let job = until(&mut tab, |job| job["status"] == "failed").await;
    assert_eq!(job["errors"][0]["why"], json!({ "code": "service_off", "host": "lichess_games" }));
    // It cannot be resumed either.
    tab.done(json!({ "kind": "resume_job", "id": id })).await;
    until(&mut tab, |job| job["status"] == "failed").await;
    assert_eq!(mock.requests().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_accounts_and_rejected_requests_are_errors() {
    let mock = Mock::start(|_, number| match number {
        0 => answer("404 Not Found", "", "{\"error\":\"Not found\"}"),
        1 => answer("401 Unauthorized", "", ""),
        // Another server must not get the name or the token.
        _ => answer("302 Found", "Location: http://example.org/\r\n", ""),
    })
    .await;
    let (_server, mut tab) = start(&mock, LICHESS).await;
    for code in ["unknown_name", "token_rejected", "service_status"] {
        let job = import_all(&mut tab, "lichess").await;
        assert_eq!(job["status"], "failed", "{job}");
        let last = job["errors"].as_array().expect("errors").last().expect("an error").clone();
        assert_eq!(last["why"]["code"], code, "{job}");
    }
    assert_eq!(mock.requests().len(), 3);
    for (name, since) in [("", None), ("a/b", None), ("a?b", None), ("Anna", Some("yesterday"))] {
        let account = json!({ "site": "lichess", "name": name });
        let command = json!({ "kind": "import_account", "account": account, "since": since });
        assert_eq!(tab.ask(command).await["error"]["code"], "invalid_text", "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_games_since_a_day_are_requested() {
    let mock = Mock::start(|_, _| stream(&[])).await;
    let (_server, mut tab) = start(&mock, LICHESS).await;
    tab.follow("jobs").await;
    let command = json!({
        "kind": "import_account", "account": account("lichess"), "since": "2025-06-15",
    });
    tab.ask(command).await;
    until(&mut tab, is_over).await;
    assert_eq!(mock.requests()[0].since(), Some(1_749_945_600_000));
}

/// Games of a file have the addresses of their pages. Those that were edited keep their changes.
#[tokio::test(flavor = "multi_thread")]
async fn games_of_a_file_are_known_by_their_addresses() {
    let mock = Mock::start(|request, _| stream(&lichess_lines(request, 0..4))).await;
    let (server, mut tab) = start(&mock, LICHESS).await;
    let comments =
        ["[%eval 0.17] [%clk 0:03:00]", "[%clk 0:03:00]", "[%clk 0:02:58]", "[%clk 0:02:59]"];
    let without = |pgn: String, comment: &str| pgn.replace(&format!(" {{ {comment} }}"), "");
    let plain = comments.into_iter().fold(lichess_pgn(0), without);
    let edited = lichess_pgn(1).replace("1-0\n", "{ resigned too early } 3. Nf3 1-0\n");
    let file = plain + &edited;
    assert_eq!(server.import("?name=own.pgn", &file).await.json()["total"], 2);
    let job = import_all(&mut tab, "lichess").await;
    assert_eq!(counts(&job), ("done", 2, 2, 0), "{job}");
    assert_eq!(stored(&server).await, 4);
    let commented = server.search(&json!({})).await.json();
    let games = commented["games"].as_array().expect("games");
    assert_eq!(games.iter().filter(|game| game["plies"] == 5).count(), 1);
    // A file adds its games with more annotations or other moves, as always.
    let file: String = (0..4).map(lichess_pgn).collect();
    let again = server.import("?name=all.pgn", &file).await.json();
    assert_eq!((&again["total"], stored(&server).await), (&json!(2), 6), "{again}");
}

/// The answers of chess.com: the list of months, and the months.
fn chesscom(request: &Received) -> Vec<Step> {
    assert_eq!(request.host, "api.chess.com");
    let months = ["2025/05", "2025/06", "2025/07"];
    let base = "/pub/player/anna/games/";
    let Some(name) = request.path.strip_prefix(base) else {
        return answer("404 Not Found", "", "");
    };
    if name == "archives" {
        let addresses = months.map(|month| format!("https://api.chess.com{base}{month}"));
        return json_answer("", &json!({ "archives": addresses }));
    }
    let at = months.iter().position(|month| *month == name).expect("a known month");
    // 2025-05-10, and 30 days later each.
    let end = 1_746_835_200 + 30 * 86_400 * at as u64;
    let version = format!("\"version-{at}\"");
    if request.header("if-none-match") == Some(&version) {
        return answer("304 Not Modified", "", "");
    }
    let games: Vec<Value> = (0..10)
        .map(|number| chesscom_game(10 * at + number, end + number as u64, "chess"))
        .collect();
    json_answer(&format!("ETag: {version}\r\n"), &json!({ "games": games }))
}

#[tokio::test(flavor = "multi_thread")]
async fn months_of_chesscom_are_imported_once() {
    let mock = Mock::start(|request, _| chesscom(request)).await;
    let (server, mut tab) = start(&mock, CHESSCOM).await;
    let job = import_all(&mut tab, "chesscom").await;
    assert_eq!(counts(&job), ("done", 30, 0, 0), "{job}");
    assert_eq!((&job["files"], &job["files_done"]), (&json!(3), &json!(3)));
    assert_eq!(mock.requests().len(), 4);
    // Only the last month is requested again, and its content only if it has changed.
    mock.replace(|request, _| chesscom(request));
    let job = import_all(&mut tab, "chesscom").await;
    assert_eq!(counts(&job), ("done", 0, 0, 0), "{job}");
    let paths: Vec<String> = mock.requests().into_iter().map(|request| request.path).collect();
    let base = "/pub/player/anna/games/";
    assert_eq!(paths, [format!("{base}archives"), format!("{base}2025/07")]);
    mock.replace(|request, _| {
        if !request.path.ends_with("2025/07") {
            return chesscom(request);
        }
        let end = 1_746_835_200 + 60 * 86_400;
        let game = |number: u64, rules: &str| {
            chesscom_game(usize::try_from(20 + number).expect("small"), end + number, rules)
        };
        let mut games: Vec<Value> = (0..12).map(|number| game(number, "chess")).collect();
        games.extend([game(13, "bughouse"), json!({ "url": 5 })]);
        json_answer("ETag: \"new\"\r\n", &json!({ "games": games }))
    });
    let job = import_all(&mut tab, "chesscom").await;
    assert_eq!((counts(&job), &job["skipped"]), (("done", 2, 0, 1), &json!(1)), "{job}");
    let error = &job["errors"][0];
    assert_eq!(error["of"]["name"], "2025/07");
    assert_eq!(error["why"], json!({ "code": "unreadable", "context": { "entry": 14 } }));
    assert_eq!(stored(&server).await, 32);
    let found = server.search(&json!({ "player": "Bela", "limit": 1 })).await.json();
    assert_eq!(found["total"], 32);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_of_chesscom_continues_after_a_failure() {
    let mock = Mock::start(|request, number| match number {
        2 => {
            let part = "{\"games\": [";
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n";
            vec![Step::Send([head, part].concat().into_bytes())]
        }
        4 => answer("429 Too Many Requests", "Retry-After: 0\r\n", ""),
        _ => chesscom(request),
    })
    .await;
    let (server, mut tab) = start(&mock, CHESSCOM).await;
    let job = import_all(&mut tab, "chesscom").await;
    assert_eq!(counts(&job), ("done", 30, 0, 0), "{job}");
    assert_eq!(stored(&server).await, 30);
    // A month that is unreadable does not prevent the others.
    mock.replace(|request, _| {
        let is_last = request.path.ends_with("2025/07");
        if is_last { answer("200 OK", "", "<html>") } else { chesscom(request) }
    });
    let job = import_all(&mut tab, "chesscom").await;
    assert_eq!(counts(&job), ("done", 0, 0, 1), "{job}");
    assert_eq!(job["errors"][0]["of"]["name"], "2025/07");
}

#[tokio::test(flavor = "multi_thread")]
async fn accounts_are_listed_until_they_are_removed() {
    let mock = Mock::start(|request, _| stream(&lichess_lines(request, 0..2))).await;
    let (server, mut tab) = start(&mock, LICHESS).await;
    import_all(&mut tab, "lichess").await;
    // Upper and lower case are equal.
    let again = json!({ "site": "lichess", "name": "ANNA" });
    tab.follow("jobs").await;
    tab.ask(json!({ "kind": "import_account", "account": again, "since": null })).await;
    until(&mut tab, is_over).await;
    assert_eq!(settings(&mut tab).await["online"]["accounts"].as_array().map(Vec::len), Some(1));
    // Other changes of the settings leave them as they are.
    switch_on(&mut tab, &[]).await;
    let online = settings(&mut tab).await["online"].clone();
    assert_eq!((&online["services"], &online["accounts"][0]["name"]), (&json!([]), &json!("Anna")));
    tab.done(json!({ "kind": "remove_account", "account": again })).await;
    assert_eq!(settings(&mut tab).await["online"]["accounts"], json!([]));
    let missing = tab.ask(json!({ "kind": "remove_account", "account": again })).await;
    assert_eq!(missing["category"], "not_found", "{missing}");
    assert_eq!(stored(&server).await, 2);
}
