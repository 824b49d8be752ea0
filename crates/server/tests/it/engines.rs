//! Engines: registration, options, logs, lines of the user, conformance checks.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use serde_json::{Value, json};
use tokio::task::yield_now;
use tokio::time::timeout;

use crate::support::{
    Fixture, LONG, against, engine_of, forget_what_was_learned, game, gone, id_of, mime, options,
};

#[tokio::test(flavor = "multi_thread")]
async fn options_of_an_engine_are_reported_and_set() {
    let (server, mut tab, engine) = Fixture::with_engine(&[]).await;
    let state = tab.follow("engines").await;
    let found = engine_of(&state, &engine);
    assert_eq!(found["protocol"], "uci");
    assert_eq!(found["identity"]["name"], "Mime <b>1</b>");
    assert_eq!(
        found["strength"],
        json!({ "kind": "level", "option": "Skill Level", "min": 0, "max": 20 })
    );
    let options = found["options"].as_array().expect("options");
    let option =
        |name: &str| options.iter().find(|option| option["name"] == name).expect("it is there");
    assert_eq!(
        option("Hash")["kind"],
        json!({ "kind": "spin", "default": 16, "min": 1, "max": 1024 })
    );
    assert!(option("Hash")["labels"]["ja"].is_string());
    assert_eq!(option("Style")["kind"]["choices"][1]["value"], "Wild");
    assert_eq!(option("Clear Hash")["kind"]["kind"], "button");
    assert_eq!(option("MultiPV")["set_by_server"], true);

    let set = |values: Value| json!({ "kind": "set_options", "engine": engine, "of": "all", "values": values });
    for (values, accepted) in [
        (json!({ "Hash": "64", "Style": "Wild" }), true),
        (json!({ "Hash": "0" }), false),
        (json!({ "Style": "Loud" }), false),
        (json!({ "Nothing": "1" }), false),
        (json!({ "MultiPV": "3" }), false),
        (json!({ "Style": null }), true),
    ] {
        let answer = tab.ask(set(values.clone())).await;
        assert_eq!(answer["kind"] == "done", accepted, "{values}: {answer}");
    }
    let state = tab.follow("engines").await;
    let found = engine_of(&state, &engine);
    assert_eq!(found["values"], json!({ "Hash": "64" }));
    let file = server.get("/api/engines.toml").await.text();
    assert!(file.contains(mime()) && file.contains("Hash = \"64\""), "{file}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_button_is_pressed_in_running_processes_or_a_new_one() {
    let (_server, mut tab, engine) = Fixture::with_engine(&[]).await;
    let press =
        |button: &str| json!({ "kind": "press_button", "engine": engine, "option": button });
    assert_eq!(tab.ask(press("Hash")).await["category"], "engine");
    // No process of the engine runs.
    let started = tab.ask(press("Clear Hash")).await;
    assert_eq!(started["kind"], "process", "{started}");
    let topic = format!("log/{}", started["process"]);
    let mut lines: Vec<Value> = Vec::new();
    let state = tab.follow(&topic).await;
    lines.extend(state["lines"].as_array().expect("lines").iter().cloned());
    let presses = |lines: &[Value]| {
        lines.iter().filter(|line| line["text"] == "setoption name Clear Hash").count()
    };
    for wanted in [1, 2] {
        while presses(&lines) < wanted {
            tab.read_log(&topic, &mut lines).await;
        }
        // The second time, the process runs already.
        if wanted == 1 {
            tab.done(press("Clear Hash")).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_executable_programs_are_registered() {
    let (_server, mut tab) = Fixture::with_tab().await;
    let entry = |path: &str| {
        let source = json!({ "kind": "program", "path": path, "args": [], "dir": null, "env": {} });
        json!({ "kind": "add_engine", "entry": { "name": "", "source": source, "protocol": null } })
    };
    for path in ["mime", "./mime", "/etc/passwd", "/no/such/file", "/bin/sh -c ls", "/tmp"] {
        assert_eq!(tab.ask(entry(path)).await["category"], "invalid_path", "{path}");
    }
    let built_in = json!({ "name": "", "source": { "kind": "built_in" }, "protocol": null });
    let rejected = tab.ask(json!({ "kind": "add_engine", "entry": built_in })).await;
    assert_eq!(rejected["category"], "invalid_request");
    let text = format!("{} 'with space' ; rm -rf /", mime());
    let preview = tab.ask(json!({ "kind": "preview_engine", "text": text })).await;
    let args = &preview["entry"]["source"]["args"];
    assert_eq!(args, &json!(["with space", ";", "rm", "-rf", "/"]), "{preview}");
    // A script of an interpreter in PATH is relative to the directory of the server; a path starts next to its executable.
    let here = std::env::current_dir().expect("there is one");
    let here = json!(here.to_str().expect("UTF-8"));
    for (text, dir) in [("sh engine.sh", &here), ("sh", &json!(null)), (mime(), &json!(null))] {
        let preview = tab.ask(json!({ "kind": "preview_engine", "text": text })).await;
        assert_eq!(&preview["entry"]["source"]["dir"], dir, "{preview}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_contains_both_sides_and_lines_of_the_user() {
    let (server, mut tab, engine) = Fixture::with_engine(&[]).await;
    let console = tab.ask(json!({ "kind": "open_console", "engine": engine })).await;
    let process = console["process"].clone();
    tab.process_is(&process, "idle").await;
    let topic = format!("log/{process}");
    let log = tab.follow(&topic).await;
    let lines = log["lines"].as_array().expect("lines");
    assert_eq!((&lines[0]["by"], &lines[0]["text"]), (&json!("client"), &json!("uci")));
    let send_line = |line: &str| json!({ "kind": "send_line", "process": process, "line": line });
    assert_eq!(tab.ask(send_line("two\nlines")).await["category"], "invalid_request");
    tab.ask(send_line("go depth 1")).await;
    let mut lines: Vec<Value> = Vec::new();
    while !lines.iter().any(|line| line["text"] == "bestmove a2a3") {
        tab.read_log(&topic, &mut lines).await;
    }
    let mine = lines.iter().find(|line| line["text"] == "go depth 1").expect("it was sent");
    assert_eq!(mine["by"], "user");
    // The log contains no position.
    for language in ["english", "japanese"] {
        assert!(mine["breaches"][0][language]["clause"].is_string(), "{mine}");
    }
    let file = server.get(&format!("/api/log/{process}")).await.text();
    assert!(file.contains("! go depth 1") && file.contains("< bestmove a2a3"), "{file}");
    assert!(file.contains("# note: "), "{file}");
    let file = server.get(&format!("/api/log/{process}?language=ja")).await.text();
    assert!(file.contains("! go depth 1") && file.contains("# 注意: "), "{file}");
    tab.done(json!({ "kind": "quit_process", "process": process })).await;
    tab.process_is(&process, "ended").await;
    assert_eq!(tab.ask(send_line("isready")).await["category"], "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_can_be_registered() {
    let (_server, mut tab, engine) = Fixture::with_engine(&["register"]).await;
    let asks = |status: &'static str| {
        let engine = engine.clone();
        move |delta: &Value| {
            let engines = delta["engines"].as_array();
            engines.is_some_and(|all| {
                all.iter().any(|one| one["id"] == engine && one["registration"] == status)
            })
        }
    };
    // The probe has reported it.
    tab.change("engines", asks("error")).await;
    tab.ask(json!({ "kind": "open_console", "engine": engine })).await;
    let with = json!({ "name": "Ada Lovelace", "code": "1843" });
    tab.done(json!({ "kind": "register_engine", "engine": engine, "with": with })).await;
    tab.change("engines", asks("ok")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_can_be_killed() {
    let (server, mut tab, engine) = Fixture::with_engine(&[]).await;
    let console = tab.ask(json!({ "kind": "open_console", "engine": engine })).await;
    let process = console["process"].clone();
    let idle = tab.process_is(&process, "idle").await;
    let pid = idle["processes"][0]["pid"].as_u64().expect("a process");
    tab.ask(json!({ "kind": "kill_process", "process": process })).await;
    tab.process_is(&process, "dead").await;
    server.stop().await;
    gone(pid).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn options_of_engines_are_known_after_a_restart() {
    let (server, mut tab) = Fixture::with_tab().await;
    let (chess, shogi) = (tab.add_mime(&[]).await, tab.add_mime(&["usi"]).await);
    let before = tab.follow("engines").await;
    let (_server, mut tab) = server.restart().await;
    let after = tab.follow("engines").await;
    for (engine, variant) in [(chess, "chess"), (shogi, "shogi")] {
        let (before, after) = (engine_of(&before, &engine), engine_of(&after, &engine));
        assert_eq!(after["variants"], json!([variant]));
        assert_eq!(after["strength"]["option"], "Skill Level");
        assert!(after["options"].as_array().is_some_and(|options| !options.is_empty()), "{after}");
        assert_eq!(after, before);
    }
    // They were not probed.
    let processes = after["processes"].as_array().expect("processes");
    assert!(processes.iter().all(|process| process["engine"] == 1), "{after}");
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_engines_are_probed_with_limited_concurrency() {
    let (server, mut tab) = Fixture::with_tab().await;
    let mut engines = Vec::new();
    for _ in 0..9 {
        engines.push(tab.add_mime(&[]).await);
    }
    let directory = server.stop().await.expect("its directory");
    forget_what_was_learned(directory.path());

    let server = Fixture::start_with(options(directory.path())).await;
    let mut tab = server.tab().await;
    let mut event = tab.follow("engines").await;
    let mut alive = std::collections::BTreeSet::new();
    while !engines.is_empty() {
        for process in event["processes"].as_array().into_iter().flatten() {
            let over = process["status"] == "ended" || process["status"] == "dead";
            let id = process["id"].as_u64().expect("a number");
            let _ = if over { alive.remove(&id) } else { alive.insert(id) };
        }
        assert!(alive.len() <= 4, "{alive:?}");
        let known = event["engines"].as_array().cloned().unwrap_or_default();
        engines.retain(|id| {
            !known.iter().any(|known| known["id"] == *id && known["variants"][0] == "chess")
        });
        if !engines.is_empty() {
            event = tab.change("engines", |_| true).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_handshake_of_a_replaced_program_is_obsolete() {
    let (_server, mut tab, engine) = Fixture::with_engine(&[]).await;
    let change = |name: &str, args: Value| {
        let source =
            json!({ "kind": "program", "path": mime(), "args": args, "dir": null, "env": {} });
        let entry = json!({ "name": name, "source": source, "protocol": null });
        json!({ "kind": "change_engine", "engine": engine, "entry": entry })
    };
    let at = |delta: &Value| delta["engines"][0].clone();
    tab.ask(change("Mine", json!([]))).await;
    let renamed = at(&tab.change("engines", |delta| at(delta)["name"] == "Mine").await);
    assert_eq!(renamed["variants"], json!(["chess"]), "a name changes nothing");
    tab.ask(change("Other", json!(["usi"]))).await;
    let changed = at(&tab.change("engines", |delta| at(delta)["name"] == "Other").await);
    assert_eq!(changed["variants"], json!([]));
    tab.change("engines", |delta| at(delta)["variants"] == json!(["shogi"])).await;
}

/// A process of the replaced program rejects options of the new one.
#[tokio::test(flavor = "multi_thread")]
async fn a_rejected_value_does_not_affect_the_others() {
    let (_server, mut tab, engine) = Fixture::with_engine(&["plain"]).await;
    let console = tab.ask(json!({ "kind": "open_console", "engine": engine })).await;
    let process = console["process"].clone();
    let is = |delta: &Value, error: bool| {
        delta["processes"].as_array().is_some_and(|all| {
            all.iter().any(|one| {
                one["id"] == process && one["status"] == "idle" && one["error"].is_object() == error
            })
        })
    };
    tab.change("engines", |delta| is(delta, false)).await;
    let source = json!({ "kind": "program", "path": mime(), "args": [], "dir": null, "env": {} });
    let entry = json!({ "name": "", "source": source, "protocol": null });
    tab.ask(json!({ "kind": "change_engine", "engine": engine, "entry": entry })).await;
    tab.change("engines", |delta| {
        let options = delta["engines"][0]["options"].as_array();
        options.is_some_and(|all| all.iter().any(|option| option["name"] == "Hash"))
    })
    .await;
    // They are sent by name.
    let values = json!({ "Hash": "64", "Style": "Wild" });
    let set = json!({ "kind": "set_options", "engine": engine, "of": "all", "values": values });
    tab.done(set).await;
    tab.change("engines", |delta| is(delta, true)).await;
    // Commands to an engine stay in order.
    tab.ask(json!({ "kind": "send_line", "process": process, "line": "go depth 1" })).await;
    let topic = format!("log/{process}");
    let log = tab.follow(&topic).await;
    let mut lines = log["lines"].as_array().expect("lines").clone();
    while !lines.iter().any(|line| line["text"] == "bestmove a2a3") {
        tab.read_log(&topic, &mut lines).await;
    }
    let set = lines.iter().filter_map(|line| line["text"].as_str()?.strip_prefix("setoption "));
    assert_eq!(set.collect::<Vec<_>>(), ["name Style value Wild"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_of_engines_are_not_reused() {
    let (server, mut tab, first) = Fixture::with_engine(&[]).await;
    let remove = |id: &Value| json!({ "kind": "remove_engine", "engine": id });
    tab.done(remove(&first)).await;
    let second = tab.add_mime(&[]).await;
    assert_ne!(second, first);
    tab.done(remove(&second)).await;
    let (_server, mut tab) = server.restart().await;
    let third = tab.add_mime(&[]).await;
    assert!(third != first && third != second, "{third}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_can_read_the_list_of_engines() {
    let (server, mut tab) = Fixture::with_tab().await;
    let add = |name: &str, source: Value, protocol: Value| {
        let entry = json!({ "name": name, "source": source, "protocol": protocol });
        json!({ "kind": "add_engine", "entry": entry })
    };
    let program = |args: Value, dir: Value, env: Value| json!({ "kind": "program", "path": mime(), "args": args, "dir": dir, "env": env });
    tab.follow("engines").await;
    let env = json!({ "EVAL": "a = \"b\"", "LANG": "日本" });
    let engines = [
        add("", program(json!(["stale", "a b"]), json!("/tmp"), env), Value::Null),
        // It has the same name as the first.
        add("", program(json!(["usi"]), Value::Null, json!({})), json!("usi")),
        add("Far", json!({ "kind": "tcp", "address": "127.0.0.1:1" }), Value::Null),
    ];
    let mut added = Vec::new();
    for engine in engines {
        added.push(tab.ask(engine).await["engine"].clone());
    }
    for id in &added[..2] {
        loop {
            let state = tab.follow("engines").await;
            if engine_of(&state, id)["identity"].is_object() {
                break;
            }
            tab.change("engines", |delta| delta["engines"][0]["id"] == *id).await;
        }
    }
    let values = json!({ "Hash": "64", "Style": "Wild" });
    let set = json!({ "kind": "set_options", "engine": added[0], "of": "all", "values": values });
    tab.done(set).await;
    let file = server.get("/api/engines.toml").await.text().replace(mime(), "/opt/mime");
    server.stop().await;
    // A test of the command line reads the same file.
    let exported = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/exported.toml");
    let exported = fs::read_to_string(exported).unwrap_or_default();
    assert_eq!(file, exported);
}

/// The option commands in the log of a process.
async fn sent_lines(server: &Fixture, process: &Value) -> Vec<String> {
    let log = server.get(&format!("/api/log/{process}")).await.text();
    let lines = log.lines().filter_map(|line| line.split_once("> setoption name "));
    lines.map(|(_, line)| line.to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn options_are_set_after_the_search_for_a_move() {
    let (server, mut tab, engine) = Fixture::with_engine(&[]).await;
    let mut players = against(&engine, json!({ "kind": "none" }), false);
    players["second"]["options"] = json!({ "Style": "Wild" });
    players["second"]["strength"] = json!({ "value": 5 });
    let (topic, state) = tab.new_game(game("chess", players)).await;
    let id = id_of(&topic);
    let ask = |kind: &str| json!({ "kind": kind, "game": id });
    let mut e4 = ask("move");
    (e4["node"], e4["text"]) = (state["cursor"].clone(), json!("e4"));
    tab.ask(e4).await;
    tab.change(&topic, |delta| delta["play"]["status"] == "searching").await;
    let state = tab.follow("engines").await;
    let processes = state["processes"].as_array().expect("processes");
    let plays =
        processes.iter().find(|process| process["purpose"]["kind"] == "play").expect("it plays");
    let process = plays["id"].clone();
    let set = |values: Value| json!({ "kind": "set_options", "engine": engine, "of": "play", "values": values });
    let values = json!({ "Hash": "64", "Style": "Calm", "Skill Level": "9" });
    tab.done(set(values)).await;
    let before = ["Skill Level value 5", "Style value Wild"];
    assert_eq!(sent_lines(&server, &process).await, before);
    tab.ask(ask("move_now")).await;
    tab.change(&topic, |delta| delta["play"]["status"] == "your_turn").await;
    // Values of the game remain, and reset values return to the default.
    tab.done(set(json!({ "Hash": null, "Style": null }))).await;
    let all = [before, ["Hash value 64", "Hash value 16"]].concat();
    let lines = async {
        while sent_lines(&server, &process).await.len() < all.len() {
            yield_now().await;
        }
    };
    timeout(LONG, lines).await.expect("in time");
    assert_eq!(sent_lines(&server, &process).await, all);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_of_an_engine_has_its_own_values() {
    let (server, mut tab, engine) = Fixture::with_engine(&[]).await;
    let set = |engine: &Value, hash: &str| json!({ "kind": "set_options", "engine": engine, "of": "all", "values": { "Hash": hash } });
    let copy_of = |engine: &Value| json!({ "kind": "copy_engine", "engine": engine });
    tab.ask(set(&engine, "64")).await;
    let copied = tab.ask(copy_of(&engine)).await;
    assert_eq!(copied["kind"], "engine", "{copied}");
    let copy = copied["engine"].clone();
    let state = tab.follow("engines").await;
    assert_eq!(engine_of(&state, &copy)["name"], "Mime <b>1</b> (2)");
    assert_eq!(engine_of(&state, &copy)["values"], json!({ "Hash": "64" }));
    tab.done(set(&copy, "128")).await;

    // The built-in engine stays, and its copies have names.
    let built_in = tab.ask(copy_of(&json!(1))).await["engine"].clone();
    let entry = json!({ "name": "Quick", "source": { "kind": "built_in" }, "protocol": null });
    let change =
        |engine: &Value| json!({ "kind": "change_engine", "engine": engine, "entry": entry });
    assert_eq!(tab.ask(change(&json!(1))).await["category"], "conflict");
    assert_eq!(tab.ask(change(&copy)).await["category"], "invalid_request");
    tab.done(change(&built_in)).await;
    let (_server, mut tab) = server.restart().await;
    let state = tab.follow("engines").await;
    assert_eq!(engine_of(&state, &engine)["values"], json!({ "Hash": "64" }));
    assert_eq!(engine_of(&state, &copy)["values"], json!({ "Hash": "128" }));
    let quick = engine_of(&state, &built_in);
    assert_eq!((&quick["name"], &quick["built_in"]), (&json!("Quick"), &json!(false)));
    tab.done(json!({ "kind": "remove_engine", "engine": built_in })).await;
}

/// The results of the checks of an engine with the given name prefixes, and the answer to a second request.
async fn checked(source: Value, only: &[&str]) -> (Value, Value) {
    let checks = only.iter().map(|&name| name.to_owned()).collect();
    let server = Fixture::start_as(|options| options.setup.checks = checks).await;
    let mut tab = server.tab().await;
    tab.follow("engines").await;
    let entry = json!({ "name": "Mime", "source": source, "protocol": "uci" });
    let added = tab.ask(json!({ "kind": "add_engine", "entry": entry })).await;
    let check = json!({ "kind": "check_engine", "engine": added["engine"] });
    tab.done(check.clone()).await;
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
    let passes = checks.iter().filter(|check| check["verdict"] == "pass").count();
    assert!(0 < passes, "{done}");
    assert!(checks.iter().all(|check| check["english"]["clauses"][0].is_string()), "{done}");
}

/// The engine is a shell script, and the end of its processes is seen in `/proc`.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_check_shows_its_progress_and_is_canceled() {
    use std::os::unix::fs::PermissionsExt;

    // It answers `isready` and never `go`: a search would be awaited for minutes.
    let checks = vec!["handshake.".to_owned(), "search.".to_owned()];
    let server = Fixture::start_as(|options| options.setup.checks = checks).await;
    let mut tab = server.tab().await;
    tab.follow("engines").await;
    let script = server.data.join("silent.sh");
    let pids = server.data.join("pids");
    let text = format!(
        "#!/bin/sh\necho $$ >> {}\nwhile read line; do case $line in uci) echo id name Silent; echo uciok;; \
         isready) echo readyok;; quit) exit;; esac; done\n",
        pids.display()
    );
    fs::write(&script, text).expect("it is written");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("it is changed");
    let source = json!({ "kind": "program", "path": script, "args": [], "dir": null, "env": {} });
    let entry = json!({ "name": "Silent", "source": source, "protocol": "uci" });
    let added = tab.ask(json!({ "kind": "add_engine", "entry": entry })).await;
    let engine = added["engine"].clone();
    tab.done(json!({ "kind": "check_engine", "engine": engine })).await;
    let of = |delta: &Value| delta["engines"][0]["check"].clone();
    // `id author` is missing.
    let failing = |run: &Value| {
        run["failed"]
            .as_array()
            .is_some_and(|all| all.iter().any(|one| one["id"] == "handshake.author"))
    };
    let running = of(&tab.change("engines", |delta| failing(&of(delta))).await);
    assert_eq!(running["kind"], "running", "{running}");
    let (done, total) = (running["done"].as_u64(), running["total"].as_u64());
    assert!(Some(0) < done && done < total, "{running}");
    let cancel = json!({ "kind": "cancel_check", "engine": engine });
    tab.done(cancel.clone()).await;
    let canceled = of(&tab.change("engines", |delta| of(delta)["kind"] != "running").await);
    assert_eq!(canceled["kind"], "canceled", "{canceled}");
    assert!(failing(&canceled), "{canceled}");
    // Its processes have ended.
    let pids = fs::read_to_string(&pids).expect("it ran");
    for pid in pids.lines() {
        assert!(!Path::new("/proc").join(pid).exists(), "{pid}");
    }
    // It has already ended.
    tab.done(cancel).await;
}

/// Copies bytes immediately: a copy by the system may wait for more.
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

/// Runs the test engine for a connection.
fn serve(mut stream: TcpStream) -> io::Result<()> {
    let mut mime = Command::new(mime()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (stdin, stdout) = (mime.stdin.take(), mime.stdout.take());
    let mut input = stream.try_clone()?;
    let listens = thread::spawn(move || stdin.map(|mut stdin| pass(&mut input, &mut stdin)));
    let passed = stdout.map(|mut stdout| pass(&mut stdout, &mut stream));
    stream.shutdown(Shutdown::Both)?;
    // The engine may exit first.
    drop(listens.join());
    mime.wait()?;
    passed.unwrap_or(Ok(()))
}

#[tokio::test(flavor = "multi_thread")]
async fn check_results_are_in_both_languages() {
    let source = json!({ "kind": "program", "path": mime(), "args": [], "dir": null, "env": {} });
    let (done, _) = checked(source, &["handshake.author", "soak.memory"]).await;
    let checks = done["checks"].as_array().expect("checks");
    let result = |name: &str| checks.iter().find(|check| check["id"] == name).cloned();
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
async fn checks_of_a_tcp_engine_skip_those_that_require_a_process() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // The client may disconnect at any time.
            thread::spawn(move || serve(stream).is_ok());
        }
    });
    let source = json!({ "kind": "tcp", "address": address });
    let (done, _) = checked(source, &["exit.quit.after-handshake", "exit.terminate"]).await;
    let verdict = |name: &str| {
        let mut checks = done["checks"].as_array().into_iter().flatten();
        checks.find(|check| check["id"] == name).map(|found| found["verdict"].clone())
    };
    assert_eq!(verdict("exit.quit.after-handshake"), Some(json!("pass")), "{done}");
    assert_eq!(verdict("exit.terminate"), Some(json!("skip")), "{done}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_engine_cannot_be_checked() {
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

#[tokio::test(flavor = "multi_thread")]
async fn engines_of_a_list_are_registered_with_their_values() {
    let (_server, mut tab) = Fixture::with_tab().await;
    let list = json!([
        { "name": "Listed", "command": mime(), "protocol": "uci",
          "options": [{ "name": "Hash", "value": 32 }] },
        { "name": "Old", "command": mime(), "protocol": "xboard" },
    ]);
    let read = json!({ "kind": "read_engine_list", "text": list.to_string() });
    let answer = tab.ask(read.clone()).await;
    let found = &answer["found"];
    let engine = &found["engines"][0];
    assert_eq!(engine["entry"]["name"], "Listed", "{answer}");
    assert_eq!((&engine["list"], &engine["registered"]), (&json!("cute_chess"), &json!(false)));
    assert_eq!(found["rejected"][0]["error"]["code"], "other_protocol", "{answer}");
    let add = json!({ "kind": "add_engine", "entry": engine["entry"], "values": engine["values"] });
    let added = tab.ask(add).await;
    assert_eq!(added["kind"], "engine", "{added}");
    let engines = tab.follow("engines").await;
    let is_added = |value: &&Value| value["id"] == added["engine"];
    let listed = engines["engines"].as_array().expect("engines").iter().find(is_added);
    assert_eq!(listed.expect("it is registered")["values"], json!({ "Hash": "32" }));
    assert_eq!(tab.ask(read).await["found"]["engines"][0]["registered"], true);
    let other = json!({ "kind": "read_engine_list", "text": "[]{" });
    assert_eq!(tab.ask(other).await["error"]["code"], "unknown_engine_list");
}
