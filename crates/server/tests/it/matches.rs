//! Matches for the page, with shell scripts as engines.

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use readyok_arena::plan::EnginePlan;
use readyok_arena::stats::Model;
use readyok_arena::store::StoreDefect;
use readyok_rules::{GameResult, Side, Termination};
use readyok_server::matches::{
    Finished, MatchEvent, MatchListener, MatchView, Matches, Program, plan_of,
};
use readyok_server::wire::{
    ErrorCategory, ErrorCode, MatchDelta, MatchEngine, MatchFormat, MatchLine, MatchOpenings,
    MatchPlan, MatchProgram, MatchStatus, Protocol, SprtPlan, Time, Variant,
};
use tempfile::TempDir;

use crate::support::Fixture;

/// A time limit for slow machines.
const LONG: Duration = Duration::from_mins(2);

fn engine(name: &str) -> MatchEngine {
    MatchEngine {
        engine: MatchProgram::Registered(1),
        name: name.to_owned(),
        time: Time::None,
        nodes: Some(1),
        depth: None,
        ponder: false,
        options: BTreeMap::new(),
    }
}

fn plan(names: &[&str]) -> MatchPlan {
    MatchPlan {
        name: "A match".to_owned(),
        variant: Variant::Shogi,
        engines: names.iter().copied().map(engine).collect(),
        format: MatchFormat::RoundRobin,
        rounds: 1,
        pairs: 2,
        openings: MatchOpenings::Start,
        concurrency: 1,
        draw: None,
        resign: None,
        max_moves: None,
        sprt: None,
        seed: 1,
    }
}

fn entrants(count: usize) -> Vec<EnginePlan> {
    let one = EnginePlan {
        name: "Own".to_owned(),
        command: "/nowhere/engine".to_owned(),
        protocol: Some(Protocol::Usi),
        ..EnginePlan::default()
    };
    vec![one; count]
}

/// A change of a plan.
type Change<'a> = &'a dyn Fn(&mut MatchPlan);

#[test]
fn invalid_plans_are_rejected_before_a_start() {
    use ErrorCategory::{InvalidRequest, Limit};

    let clock = |base, increment, byoyomi| Time::Clock { base, increment, byoyomi, moves: None };
    let changes: [(Change<'_>, ErrorCategory, &str); 12] = [
        (&|plan| plan.rounds = 0, Limit, "match_too_large"),
        (&|plan| plan.pairs = u32::MAX, Limit, "match_too_large"),
        (&|plan| plan.concurrency = 0, Limit, "match_too_large"),
        (&|plan| plan.engines[0].nodes = None, InvalidRequest, "missing_limit"),
        (&|plan| plan.engines[0].time = clock(0, 0, 0), InvalidRequest, "zero_time"),
        (&|plan| plan.engines[0].time = clock(u64::MAX, 0, 0), InvalidRequest, "time_too_long"),
        (&|plan| plan.engines[0].name = "b".to_owned(), InvalidRequest, "duplicate_name"),
        (&|plan| plan.engines[0].name = "\x1b[2J".to_owned(), InvalidRequest, "invalid_text"),
        (&|plan| plan.max_moves = Some(0), InvalidRequest, "missing_move_count"),
        (
            &|plan| plan.openings = MatchOpenings::Handicap { name: "everything".to_owned() },
            InvalidRequest,
            "unknown_name",
        ),
        (
            &|plan| plan.openings = MatchOpenings::Positions { list: vec!["nonsense".to_owned()] },
            InvalidRequest,
            "missing_field",
        ),
        (
            &|plan| {
                plan.sprt = Some(SprtPlan {
                    model: Model::default(),
                    elo0: 5.0,
                    elo1: 0.0,
                    alpha: 2.0,
                    beta: 0.05,
                });
            },
            InvalidRequest,
            "invalid_hypotheses",
        ),
    ];
    assert!(plan_of(&plan(&["a", "b"]), &entrants(2)).is_ok());
    for (index, (change, category, code)) in changes.into_iter().enumerate() {
        let mut plan = plan(&["a", "b"]);
        change(&mut plan);
        let error = plan_of(&plan, &entrants(2)).expect_err("it makes no sense");
        assert_eq!(error.category, category, "{index}: {error:?}");
        let error = serde_json::to_value(&error.error).expect("it is serializable");
        assert_eq!(error["code"], code, "{index}");
    }
    assert!(plan_of(&plan(&["a"]), &entrants(1)).is_err());
    assert!(plan_of(&plan(&["a", "b"]), &entrants(3)).is_err());
}

#[test]
fn engines_with_the_same_name_are_distinguished_and_options_are_merged() {
    let mut entrants = entrants(3);
    entrants[0].options.insert("USI_Hash".to_owned(), "16".to_owned());
    entrants[0].options.insert("Threads".to_owned(), "2".to_owned());
    let mut asked = plan(&["", "", "Other"]);
    asked.engines[0].options.insert("USI_Hash".to_owned(), "64".to_owned());
    asked.engines[1].time =
        Time::Clock { base: 60_000, increment: 500, byoyomi: 1000, moves: Some(40) };
    asked.concurrency = 3;
    let (plan, slots) = plan_of(&asked, &entrants).expect("it makes sense");
    let names: Vec<_> = plan.engines.iter().map(|engine| engine.name.as_str()).collect();
    assert_eq!(names, ["Own", "Own 2", "Other"]);
    assert_eq!(slots, 3);
    assert_eq!(plan.engines[0].options["USI_Hash"], "64");
    assert_eq!(plan.engines[0].options["Threads"], "2");
    let limits = plan.engines[1].limits;
    assert_eq!(limits.tc.map(|tc| tc.to_string()).as_deref(), Some("40/60+0.5"));
    assert_eq!(limits.byoyomi_ms, Some(1000));
}

/// An engine that resigns after two moves, as soon as a file exists in its directory; the environment has its name.
#[cfg(unix)]
fn scripted(directory: &Path) -> EnginePlan {
    let script = directory.join("engine.sh");
    let text = include_str!("data/matches/scripted.txt");
    std::fs::write(&script, text).expect("it can be written");
    EnginePlan {
        name: "Script".to_owned(),
        command: "/bin/sh".to_owned(),
        args: vec![script.display().to_string()],
        dir: Some(directory.display().to_string()),
        env: [("FLAG".to_owned(), "play".to_owned())].into(),
        protocol: Some(Protocol::Usi),
        options: BTreeMap::new(),
        ..EnginePlan::default()
    }
}

/// The reported events, with the changes at that time.
#[cfg(unix)]
enum SearchInfo {
    Changed(Box<MatchDelta>, MatchLine),
    Game(Box<Finished>),
    Ended,
}

#[cfg(unix)]
fn listening() -> (MatchListener, Receiver<SearchInfo>) {
    let (sender, events) = channel();
    let sender = Mutex::new(sender);
    let listener: MatchListener = Arc::new(move |event| {
        let seen = match event {
            MatchEvent::Changed(_, changes) => {
                let (delta, line) = changes.take().expect("they are taken once");
                SearchInfo::Changed(Box::new(delta), line)
            }
            MatchEvent::Game(_, game) => SearchInfo::Game(game),
            MatchEvent::Ended(_) => SearchInfo::Ended,
        };
        // The test may have ended.
        let _ = sender.lock().expect("it is not poisoned").send(seen);
    });
    (listener, events)
}

/// The events until the end of a match.
#[cfg(unix)]
fn until_ended(events: &Receiver<SearchInfo>) -> Vec<SearchInfo> {
    let mut all = Vec::new();
    loop {
        let event = events.recv_timeout(LONG).expect("the match continues");
        if let SearchInfo::Ended = event {
            return all;
        }
        all.push(event);
    }
}

#[cfg(unix)]
#[test]
fn a_match_is_played_to_its_end_and_every_game_is_reported() {
    let directory = TempDir::new().expect("a directory");
    let (listener, events) = listening();
    let matches =
        Matches::open(&directory.path().join("m"), Program::default(), listener).expect("it opens");
    std::fs::write(directory.path().join("play"), "").expect("it can be written");
    let engine = scripted(directory.path());
    let mut asked = plan(&["a", "b"]);
    asked.sprt =
        Some(SprtPlan { model: Model::default(), elo0: 0.0, elo1: 5.0, alpha: 0.05, beta: 0.05 });
    let id = matches.start(asked, &[engine.clone(), engine]).expect("it starts");
    let event = until_ended(&events);

    let (mut games, mut boards, mut ended, mut curve) = (Vec::new(), Vec::new(), 0, 0);
    for event in event {
        match event {
            SearchInfo::Game(game) => games.push(game),
            SearchInfo::Changed(delta, _) => {
                boards.extend(delta.boards);
                ended += delta.ended.len();
                curve += delta.curve.len();
            }
            SearchInfo::Ended => (),
        }
    }
    assert_eq!((games.len(), ended, curve), (4, 4, 2));
    assert!(games.iter().all(|game| game.record.mainline().count() == 2));
    assert_eq!(games[0].outcome.termination, Termination::Resignation);
    assert_eq!(games[0].engines.second, "b");
    assert!(boards.iter().all(|board| board.moves.len() <= 2));

    let state = matches.view(id).and_then(MatchView::read).expect("it is there");
    assert_eq!((state.status, state.played, state.total), (MatchStatus::Over, 4, Some(4)));
    let score = state.scores[0];
    assert_eq!([score.wins, score.draws, score.losses], [2, 0, 2]);
    assert!(state.test.is_some());
    assert_eq!(state.curve.len(), 2);
    assert!(state.curve.iter().all(|point| point.llr.is_some()));
    assert_eq!(state.names, ["a", "b"]);
    assert_eq!(state.games.len(), 4);
    assert!(state.games.iter().all(|game| game.outcome.result == GameResult::Win(Side::Second)));
    assert!(state.boards.is_empty());
    assert!(!matches.is_busy());
    assert_eq!(matches.resume(id, &[]).expect_err("it is over").category, ErrorCategory::Conflict);

    // The state is restored from the disk.
    drop(matches);
    let (listener, _events) = listening();
    let matches =
        Matches::open(&directory.path().join("m"), Program::default(), listener).expect("it opens");
    let again = matches.view(id).and_then(MatchView::read).expect("it is there");
    assert_eq!((again.status, again.played), (state.status, state.played));
    assert_eq!(again.standings, state.standings);
    assert_eq!(again.games, state.games);
    assert_eq!(matches.lines().len(), 1);
    matches.delete(id).expect("it can be deleted");
    assert_eq!(matches.view(id).expect_err("it is gone").category, ErrorCategory::NotFound);
    assert_eq!(directory.path().join("m").read_dir().expect("a directory").count(), 0);
}

#[cfg(unix)]
#[test]
fn a_stopped_match_is_resumed() {
    let directory = TempDir::new().expect("a directory");
    let (listener, events) = listening();
    let place = directory.path().join("m");
    let matches = Matches::open(&place, Program::default(), listener).expect("it opens");
    let engine = scripted(directory.path());
    let asked = plan(&["a", "b"]);
    let entrants = [engine.clone(), engine];
    let id = matches.start(asked, &entrants).expect("it starts");
    // The engine searches until it may play, so the board is visible.
    loop {
        let event = events.recv_timeout(LONG).expect("the match begins");
        if let SearchInfo::Changed(delta, line) = event
            && !delta.boards.is_empty()
        {
            assert_eq!(line.status, MatchStatus::Running);
            break;
        }
    }
    assert!(matches.is_busy());
    assert_eq!(matches.delete(id).expect_err("it is played").category, ErrorCategory::Conflict);
    assert_eq!(
        matches.resume(id, &[]).expect_err("it is played").category,
        ErrorCategory::Conflict
    );
    matches.stop(id, false).expect("it is played");
    until_ended(&events);
    let state = matches.view(id).and_then(MatchView::read).expect("it is there");
    assert_eq!((state.status, state.played), (MatchStatus::Paused, 0));
    assert_eq!(
        matches.stop(id, true).expect_err("it is stopped").category,
        ErrorCategory::Conflict
    );
    drop(matches);

    // It is restored by the next start of the server.
    let (listener, events) = listening();
    let matches = Matches::open(&place, Program::default(), listener).expect("it opens");
    assert_eq!(matches.lines()[0].status, MatchStatus::Paused);
    std::fs::write(directory.path().join("play"), "").expect("it can be written");
    // The values of its environment are not stored, and must be the same.
    let mut others = entrants.clone();
    others[1].env.insert("FLAG".to_owned(), "other".to_owned());
    for wrong in [&[][..], &others] {
        let rejected = matches.resume(id, wrong).expect_err("its engines are others");
        let code = &rejected.error.code;
        assert!(
            matches!(
                code,
                ErrorCode::Store(
                    StoreDefect::OtherPlan { .. } | StoreDefect::MissingVariables { .. }
                )
            ),
            "{code}"
        );
    }
    matches.resume(id, &entrants).expect("it continues");
    until_ended(&events);
    let state = matches.view(id).and_then(MatchView::read).expect("it is there");
    assert_eq!((state.status, state.played), (MatchStatus::Over, 4));
}

/// The command that starts a match of two engines, in games of few moves.
fn start_match(engines: [&Value; 2], pairs: usize) -> Value {
    let player = |engine: &Value, name: &str| {
        json!({
            "engine": engine, "name": name, "time": { "kind": "none" }, "nodes": 1, "depth": null,
        })
    };
    let [one, two] = engines;
    json!({
        "kind": "start_match",
        "plan": {
            "name": "Cup", "variant": "chess", "engines": [player(one, "a"), player(two, "b")],
            "format": "round_robin", "rounds": 1, "pairs": pairs, "openings": { "kind": "start" }, "concurrency": 1,
            "draw": null, "resign": null, "max_moves": 4, "sprt": null,
        },
    })
}

/// A match over a socket, from the command to the library.
#[tokio::test(flavor = "multi_thread")]
async fn a_tab_starts_a_match_whose_games_are_stored() {
    let (server, mut tab) = Fixture::with_tab().await;
    let (one, two) = (tab.add_mime(&[]).await, tab.add_mime(&[]).await);
    tab.follow("matches").await;
    let answer = tab.ask(start_match([&one, &two], 1)).await;
    assert_eq!((&answer["kind"], &answer["id"]), (&json!("match"), &json!(1)), "{answer}");
    let over = |delta: &Value| {
        delta["changed"].as_array().is_some_and(|all| all.iter().any(|one| one["status"] == "over"))
    };
    tab.change("matches", over).await;
    let state = tab.follow("match/1").await;
    assert_eq!((&state["played"], &state["games"][1]["number"]), (&json!(2), &json!(2)), "{state}");
    let page = server.search(&json!({ "player": "a" })).await;
    assert_eq!(page.json()["total"], 2, "{}", page.text());

    let report = server.get("/api/matches/1/files/report").await;
    assert!(report.text().contains("2 games.") && report.text().contains("id=\"replay\""));
    assert_eq!(server.get("/api/matches/2/files/report").await.status, 404);
    assert_eq!(server.get("/api/matches/1/files/engines").await.status, 404);
    let address = server.get("/api/matches/1/addresses/report").await.json();
    let address = format!("/{}", address["address"].as_str().expect("an address"));
    let page = server.get(&address).await;
    assert_eq!(page.text(), report.text());
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.starts_with("sandbox allow-scripts;"), "{policy}");
    assert_eq!(server.get("/report/0").await.status, 404);

    // The state for requests is that of the tab.
    let list = server.get("/api/matches").await.json();
    assert_eq!((&list["matches"][0]["id"], &list["matches"][0]["engines"]), (&json!(1), &json!(2)));
    let read = server.get("/api/matches/1").await.json();
    assert_eq!((&read["games"], &read["scores"]), (&state["games"], &state["scores"]));
    let conditions = &read["conditions"];
    assert_eq!(
        conditions["engines"][0]["limits"],
        json!({ "nodes": 1, "margin_ms": 0 }),
        "{conditions}"
    );
    let hash = conditions["engines"][0]["hash"].as_str().expect("a hash");
    assert!(hash.len() == 64 && conditions["started_ms"].is_u64(), "{conditions}");
    assert_eq!(conditions["source"], json!({ "kind": "local", "concurrency": 1 }));
    let kinds = read["log"].as_array().expect("a log").iter().map(|entry| entry["kind"].clone());
    assert_eq!(kinds.collect::<Vec<_>>(), ["started", "ended"], "{read}");
    assert_eq!(
        (&read["workers"][0]["pairs"], &read["workers"][0]["games"]),
        (&json!(1), &json!(2))
    );

    // The files have the name of the match, and all pairs.
    let games = server.get("/api/matches/1/files/games").await;
    assert_eq!(games.text().matches("[Event ").count(), 2, "{}", games.text());
    let name = games.header("content-disposition").expect("a name");
    assert!(name.starts_with("attachment; filename=\"") && name.ends_with(".pgn\""), "{name}");
    let one = server.get("/api/matches/1/files/games?game=2").await;
    assert!(games.text().ends_with(&one.text()) && one.text().matches("[Event ").count() == 1);
    assert_eq!(server.get("/api/matches/1/files/games?game=3").await.status, 404);
    let results = server.get("/api/matches/1/files/results").await;
    let stored = std::fs::read(server.data.join("matches/1.match")).expect("the results");
    assert_eq!(results.body.len(), stored.len());

    // Each game can be opened repeatedly, even if it was deleted from the library.
    let open = |number: u32| json!({ "kind": "open_match_game", "id": 1, "number": number });
    let mut opened = Vec::new();
    for (number, listed) in (1..).zip(state["games"].as_array().expect("games")) {
        let answer = tab.ask(open(number)).await;
        assert_eq!((&answer["kind"], &tab.ask(open(number)).await), (&json!("game"), &answer));
        let game = tab.follow(&format!("game/{}", answer["game"])).await;
        let nodes = game["nodes"].as_array().expect("nodes").len();
        assert_eq!(json!(nodes - 1), listed["plies"], "{listed}");
        let first = if listed["engines"]["first"] == 0 { "a" } else { "b" };
        let headers = game["headers"].as_array().expect("headers");
        let white = json!({ "name": "White", "value": first });
        assert!(headers.contains(&white), "{headers:?}");
        opened.push(answer["game"].clone());
    }
    assert_ne!(opened[0], opened[1]);
    tab.ask(json!({ "kind": "delete_game", "game": opened[0] })).await;
    let answer = tab.ask(open(1)).await;
    assert!(answer["kind"] == "game" && !opened.contains(&answer["game"]), "{answer}");
    assert_eq!(tab.ask(open(3)).await["category"], "not_found");
    tab.done(json!({ "kind": "delete_match", "id": 1 })).await;
    let rejected = tab.ask(json!({ "kind": "resume_match", "id": 1 })).await;
    assert_eq!(rejected["category"], "not_found", "{rejected}");
    assert_eq!(tab.ask(open(2)).await["category"], "not_found");
    let page = server.search(&json!({ "player": "a" })).await;
    assert_eq!(page.json()["total"], 2, "{}", page.text());
}

/// A new subscriber in the middle of a match gets each game once.
#[tokio::test(flavor = "multi_thread")]
async fn snapshots_and_deltas_of_a_match_do_not_overlap() {
    const GAMES: usize = 80;
    let (_server, mut tab) = Fixture::with_tab().await;
    let (one, two) = (tab.add_mime(&[]).await, tab.add_mime(&[]).await);
    let answer = tab.ask(start_match([&one, &two], GAMES / 2)).await;
    assert_eq!(answer["kind"], "match", "{answer}");
    let topic = json!("match/1");
    let (mut seen, mut snapshots) = (BTreeSet::new(), 0);
    tab.follow("match/1").await;
    loop {
        // Each time there is a new snapshot, at some point of the match.
        tab.ask(json!({ "kind": "subscribe", "topic": topic })).await;
        let snapshot =
            tab.until(|message| message["kind"] == "snapshot" && message["topic"] == topic).await;
        snapshots += 1;
        let numbers = |of: &Value| -> Vec<u64> {
            let games = of["games"].as_array().into_iter().flatten();
            games.filter_map(|game| game["number"].as_u64()).collect()
        };
        let state = &snapshot["state"]["state"];
        seen.clear();
        seen.extend(numbers(state));
        // The last games may not have arrived yet.
        if state["status"] == "over" && seen.len() == GAMES {
            break;
        }
        let delta =
            tab.until(|message| message["kind"] == "delta" && message["topic"] == topic).await;
        for number in numbers(&delta["delta"]["delta"]) {
            assert!(seen.insert(number), "game {number} was in snapshot {snapshots} before");
        }
        if delta["delta"]["delta"]["status"] == "over" {
            break;
        }
    }
    assert_eq!(seen.len(), GAMES);
}

/// The arena starts an engine as the server does.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn matches_use_the_environment_and_directory_of_an_engine() {
    let (_server, mut tab) = Fixture::with_tab().await;
    let directory = TempDir::new().expect("a directory");
    std::fs::write(directory.path().join("play"), "").expect("it can be written");
    let EnginePlan { command, args, dir, env, .. } = scripted(directory.path());
    let source =
        json!({ "kind": "program", "path": command, "args": args, "dir": dir, "env": env });
    let entry = json!({ "name": "Script", "source": source, "protocol": "usi" });
    let added = tab.ask(json!({ "kind": "add_engine", "entry": entry })).await;
    let mut plan = json!(plan(&["a", "b"]));
    for engine in plan["engines"].as_array_mut().expect("engines") {
        engine["engine"] = added["engine"].clone();
    }
    tab.follow("matches").await;
    let answer = tab.ask(json!({ "kind": "start_match", "plan": plan })).await;
    assert_eq!(answer["kind"], "match", "{answer}");
    let over = |delta: &Value| {
        delta["changed"].as_array().is_some_and(|all| all.iter().any(|one| one["status"] == "over"))
    };
    tab.change("matches", over).await;
    let state = tab.follow("match/1").await;
    let reasons: Vec<_> = state["games"]
        .as_array()
        .expect("games")
        .iter()
        .map(|game| game["outcome"]["termination"].as_str().expect("a termination"))
        .collect();
    assert_eq!(reasons, ["resignation"; 4], "{state}");
}
