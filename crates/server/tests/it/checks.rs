//! Engines put through the conformance checker: programs, and those behind a port.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;

use serde_json::{Value, json};

use crate::support::{Fixture, mime, options};

/// The results of the checks of an engine with the given name prefixes, and the answer to a second request.
async fn checked(source: Value, only: &[&str]) -> (Value, Value) {
    let data = tempfile::tempdir().expect("a directory");
    let mut options = options(data.path());
    options.setup.checks = only.iter().map(|&name| name.to_owned()).collect();
    let server = Fixture::start_with(options).await;
    let mut tab = server.tab().await;
    tab.follow("engines").await;
    let entry = json!({ "name": "Mime", "source": source, "protocol": "uci" });
    let added = tab.ask(json!({ "kind": "add_engine", "entry": entry })).await;
    let check = json!({ "kind": "check_engine", "engine": added["engine"] });
    assert_eq!(tab.ask(check.clone()).await["kind"], "done");
    let again = tab.ask(check).await;
    let of = |delta: &Value| delta["engines"][0]["check"].clone();
    let done = loop {
        let delta = tab.change("engines", |delta| of(delta).is_object()).await;
        if of(&delta)["kind"] != "running" {
            break of(&delta);
        }
    };
    server.stop().await;
    (done, again)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_with_an_environment_is_checked() {
    // Without its variable it does not respond.
    let env = json!({ "MIME_SPEAKS": "yes" });
    let source =
        json!({ "kind": "program", "path": mime(), "args": ["shy"], "dir": null, "env": env });
    let (done, again) = checked(source, &["handshake."]).await;
    assert_eq!(again["category"], "conflict", "it runs already");
    assert_eq!(done["kind"], "done", "{done}");
    let checks = done["checks"].as_array().expect("checks");
    let passes = checks.iter().filter(|it| it["verdict"] == "pass").count();
    assert!(0 < passes, "{done}");
    assert!(checks.iter().all(|it| it["english"]["clauses"][0].is_string()), "{done}");
}

/// Passes bytes on as they come: a copy by the system may wait for more.
fn pass(from: &mut dyn Read, to: &mut dyn Write) -> io::Result<()> {
    let mut chunk = [0; 4096];
    loop {
        let count = from.read(&mut chunk)?;
        let Some(bytes) = chunk.get(..count).filter(|bytes| !bytes.is_empty()) else {
            return Ok(());
        };
        to.write_all(bytes)?;
    }
}

/// Plays the mime's part for one who has connected.
fn serve(mut stream: TcpStream) -> io::Result<()> {
    let mut mime = Command::new(mime()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (stdin, stdout) = (mime.stdin.take(), mime.stdout.take());
    let mut input = stream.try_clone()?;
    let listens = thread::spawn(move || stdin.map(|mut stdin| pass(&mut input, &mut stdin)));
    let passed = stdout.map(|mut stdout| pass(&mut stdout, &mut stream));
    stream.shutdown(Shutdown::Both)?;
    // It may leave before the other side does.
    drop(listens.join());
    mime.wait()?;
    passed.unwrap_or(Ok(()))
}

#[tokio::test(flavor = "multi_thread")]
async fn check_results_are_in_both_languages() {
    let source = json!({ "kind": "program", "path": mime(), "args": [], "dir": null, "env": {} });
    let (done, _) = checked(source, &["handshake.author", "soak.memory"]).await;
    let checks = done["checks"].as_array().expect("checks");
    let result = |name: &str| checks.iter().find(|it| it["id"] == name).cloned();
    let author = result("handshake.author").expect("a result");
    assert_eq!(author["english"]["rule"], "the engine sends its author", "{done}");
    assert_eq!(author["japanese"]["rule"], "エンジンは作者を伝える", "{done}");
    let soak = result("soak.memory").expect("a result");
    assert_eq!(soak["verdict"], "skip", "{done}");
    assert_eq!(soak["english"]["clauses"], json!(["practice (matches, servers)"]), "{done}");
    assert_eq!(soak["japanese"]["clauses"], json!(["慣例 (連続対局, サーバー)"]), "{done}");
    assert_eq!(soak["english"]["detail"], "runs only with `--soak`", "{done}");
    assert_eq!(soak["japanese"]["detail"], "`--soak` を付けたときだけ検査する", "{done}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_behind_a_port_is_checked_without_what_needs_a_process() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A subscriber may leave in the middle.
            thread::spawn(move || serve(stream).is_ok());
        }
    });
    let source = json!({ "kind": "tcp", "address": address });
    let (done, _) = checked(source, &["exit.quit.after-handshake", "exit.terminate"]).await;
    let verdict = |name: &str| {
        let mut checks = done["checks"].as_array().into_iter().flatten();
        checks.find(|it| it["id"] == name).map(|it| it["verdict"].clone())
    };
    assert_eq!(verdict("exit.quit.after-handshake"), Some(json!("pass")), "{done}");
    assert_eq!(verdict("exit.terminate"), Some(json!("skip")), "{done}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_is_not_there_cannot_be_checked() {
    let source = json!({ "kind": "tcp", "address": "127.0.0.1:1" });
    let (failed, _) = checked(source, &[]).await;
    assert_eq!(failed["kind"], "failed", "{failed}");
    let error = &failed["error"];
    assert_eq!(error["code"], "check_failed", "{failed}");
    let contains = |language: &str, part: &str| {
        error["text"][language].as_str().is_some_and(|text| text.contains(part))
    };
    assert!(contains("english", "cannot connect to `tcp://127.0.0.1:1`"), "{failed}");
    assert!(contains("japanese", "`tcp://127.0.0.1:1` に接続できない"), "{failed}");
}
