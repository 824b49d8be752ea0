//! Scripts for engine sessions.

use std::collections::VecDeque;
use std::time::Duration;

use readyok_protocol::session::engine::{EngineSession, Event, Profile, SearchRequest, UsageError};
use readyok_protocol::{
    Best, Color, Command, Dialect, Info, LineTooLong, Move, MoveList, OptionDecl, OptionSet, Reply,
    Rule, WriteError,
};

/// Runs a script after the handshake. `>` is a line of the client, `<` an expected line of the session,
/// `=` an expected event, `!` an action of the owner. Other lines and events are errors.
#[track_caller]
fn check_engine(dialect: Dialect, script: &str) {
    let mut run = Run::new();
    run.session.receive_line(dialect.handshake(), run.now, &mut run.out);
    assert_eq!(run.session.poll_event(), Some(Event::HandshakeComplete(dialect)));
    run.out.clear();
    run.check(script);
}

/// Runs a script from the first line.
#[track_caller]
fn check_start(script: &str) {
    Run::new().check(script);
}

struct Run {
    session: EngineSession,
    out: String,
    now: Duration,
    events: VecDeque<String>,
}

fn profile() -> Profile {
    let options = |dialect| {
        let mut options = OptionSet::new(dialect);
        options.declare(OptionDecl::spin("Hash", 16, 1, 1024));
        options.declare(OptionDecl::button("Clear Hash"));
        options.declare(OptionDecl::check("UCI_ShowCurrLine", false));
        options.declare(OptionDecl::check("UCI_ShowRefutations", false));
        options
    };
    let options = Dialect::ALL.map(options).into();
    Profile { name: "Script 1.0".into(), author: "Tester".into(), options }
}

impl Run {
    fn new() -> Self {
        Self {
            session: EngineSession::new(profile()).unwrap(),
            out: String::new(),
            now: Duration::from_secs(1),
            events: VecDeque::new(),
        }
    }

    #[track_caller]
    fn check(&mut self, script: &str) {
        for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (kind, text) = line.split_at(1);
            let text = text.trim_start();
            if matches!(kind, ">" | "!") {
                self.check_done(&format!("before {line} in {script}"));
            }
            match kind {
                ">" => self.session.receive_line(text, self.now, &mut self.out),
                "!" => self.act(text),
                "<" => assert_eq!(self.sent().as_deref(), Some(text), "sent, in {script}"),
                "=" => assert_eq!(self.happened().as_deref(), Some(text), "happened, in {script}"),
                _ => panic!("no such line in a script: {line}"),
            }
        }
        self.check_done(&format!("at the end of {script}"));
    }

    /// Checks that no further lines or events occurred.
    #[track_caller]
    fn check_done(&mut self, place: &str) {
        assert_eq!(self.sent(), None, "sent {place}");
        assert_eq!(self.happened(), None, "happened {place}");
    }

    fn sent(&mut self) -> Option<String> {
        let (line, rest) = self.out.split_once('\n')?;
        let (line, rest) = (line.to_owned(), rest.to_owned());
        self.out = rest;
        Some(line)
    }

    fn happened(&mut self) -> Option<String> {
        while let Some(event) = self.session.poll_event() {
            self.events.push_back(describe(event));
        }
        self.events.pop_front()
    }

    /// Executes an action. With the prefix `usage_error` it must fail.
    fn act(&mut self, verb: &str) {
        if let Some(verb) = verb.strip_prefix("usage_error ") {
            let before = self.out.clone();
            self.try_act(verb).expect_err(verb);
            assert_eq!(self.out, before, "something was sent");
        } else {
            self.try_act(verb).unwrap();
        }
    }

    fn try_act(&mut self, verb: &str) -> Result<(), UsageError> {
        let Self { session, out, now, .. } = self;
        match verb.split_once(' ') {
            Some(("after", millis)) => {
                *now += Duration::from_millis(millis.parse().unwrap());
                session.handle_timeout(*now, out);
            }
            Some(("flood", lines)) => {
                for depth in 1..=lines.parse().unwrap() {
                    let info =
                        Info { depth: Some(depth), pv: Some(moves("e2e4")), ..Info::default() };
                    session.info(info, *now, out)?;
                }
            }
            None if verb == "ready" => session.ready(out)?,
            None if verb == "eof" => session.end_of_input(out),
            _ => match Reply::read(verb, session.protocol_state().dialect()).value.into_owned() {
                Reply::Info(info) => session.info(info, *now, out)?,
                Reply::BestMove(best) => session.best_move(best, *now, out)?,
                Reply::Checkmate(mate) => session.checkmate(mate, *now, out)?,
                Reply::Registration(status) => session.registration(status, out)?,
                Reply::CopyProtection(status) => session.copy_protection(status, out)?,
                _ => panic!("no such verb: {verb}"),
            },
        }
        Ok(())
    }
}

fn moves(token: &str) -> MoveList<'static> {
    [token.parse().unwrap()].into_iter().collect()
}

fn describe(event: Event) -> String {
    match event {
        Event::HandshakeComplete(dialect) => format!("handshake in {}", dialect.handshake()),
        Event::Debug(on) => format!("debug {on}"),
        Event::SetOption { name, value } => format!("option {name} {value}").trim_end().into(),
        Event::Register(_) => "register".into(),
        Event::NewGame => "new game".into(),
        Event::Prepare => "prepare".into(),
        Event::Search(request) => describe_search(&request),
        Event::PonderHit(clocks) => match clocks.black_time {
            Some(time) => format!("ponder hit, {time} ms"),
            None => "ponder hit".into(),
        },
        Event::Stop => "stop".into(),
        Event::GameOver(result) => format!("game over: {}", result.keyword()),
        Event::Quit => "quit".into(),
        Event::Unknown(line) => format!("unknown: {line}"),
        Event::Malformed(diagnostics) => format!("malformed: {}", diagnostics[0].kind),
        Event::Violation(violation) => format!("against {:?}", violation.rule),
        Event::BadOption(bad) => format!("bad option: {bad}"),
        Event::Dropped => "dropped".into(),
    }
}

fn describe_search(request: &SearchRequest) -> String {
    let line = |command: Command<'_>| {
        let mut line = String::new();
        command.write(request.dialect, &mut line).unwrap();
        line
    };
    let (position, go) = (request.position.clone(), request.go.clone());
    format!("search: {}, {}", line(Command::Position(position)), line(Command::Go(go)))
}

#[test]
fn the_handshake_uses_the_dialect_of_the_client() {
    check_start(
        "
        > uci
        < id name Script 1.0
        < id author Tester
        < option name Hash type spin default 16 min 1 max 1024
        < option name Clear Hash type button
        < option name UCI_ShowCurrLine type check default false
        < option name UCI_ShowRefutations type check default false
        < uciok
        = handshake in uci
        > usi
        = unknown: usi
        ",
    );
    check_start(&format!("> usi\n{USI_HANDSHAKE}"));
}

/// The complete answer to `usi`.
const USI_HANDSHAKE: &str = "
    < id name Script 1.0
    < id author Tester
    < option name USI_Hash type spin default 16 min 1 max 1024
    < option name Clear_Hash type button
    < option name USI_ShowCurrLine type check default false
    < option name USI_ShowRefutations type check default false
    < usiok
    = handshake in usi
";

#[test]
fn the_first_handshake_is_answered_after_an_isready_in_another_dialect() {
    check_start(&format!(
        "
        > isready
        = against BeforeUciOk
        = prepare
        > usi
        {USI_HANDSHAKE}
        ! ready
        < readyok
        > position startpos moves 7g7f
        > go depth 1
        = search: position startpos moves 7g7f, go depth 1
        "
    ));
}

#[test]
fn the_first_handshake_ends_a_search_and_is_answered_after_it() {
    check_start(&format!(
        "
        > go infinite
        = against BeforeUciOk
        = search: position startpos, go infinite
        > usi
        = stop
        > usi
        > setoption name USI_Hash value 64
        = against BusyEngine
        ! bestmove e2e4
        < info depth 0 time 0 pv e2e4
        < bestmove e2e4
        {USI_HANDSHAKE}
        = option Hash 64
        "
    ));
}

#[test]
fn a_profile_with_line_breaks_is_rejected() {
    let broken = Profile { name: "two\nlines".into(), ..profile() };
    assert!(matches!(EngineSession::new(broken), Err(WriteError::LineBreak { .. })));
}

#[test]
fn a_second_handshake_is_answered_and_a_search_continues() {
    let mut run = Run::new();
    run.session.receive_line("uci", run.now, &mut run.out);
    let first = std::mem::take(&mut run.out);
    run.session.receive_line("uci", run.now, &mut run.out);
    assert_eq!(run.out, first);
    check_engine(
        Dialect::Usi,
        &format!(
            "
            > isready
            = prepare
            ! ready
            < readyok
            > position startpos
            > go infinite
            = search: position startpos, go infinite
            > usi
            = against RepeatedUci
            {}
            > stop
            = stop
            ! bestmove 7g7f
            < info depth 0 time 0 pv 7g7f
            < bestmove 7g7f
            ",
            USI_HANDSHAKE.replace("= handshake in usi", ""),
        ),
    );
}

#[test]
fn isready_waits_for_pending_work_but_not_for_a_search() {
    check_engine(
        Dialect::Uci,
        "
        > setoption name hash value 64
        = option Hash 64
        > ucinewgame
        = new game
        > isready
        = prepare
        ! ready
        < readyok
        ! usage_error ready
        > position startpos
        > go infinite
        = search: position startpos, go infinite
        > isready
        < readyok
        ",
    );
}

/// Everything that is required before a search.
const READY: &str = "
    > isready
    = prepare
    ! ready
    < readyok
    > position startpos moves e2e4
";

#[track_caller]
fn check_search(script: &str) {
    check_engine(Dialect::Uci, &format!("{READY}{script}"));
}

#[test]
fn every_go_gets_exactly_one_bestmove() {
    check_search(
        "
        > go depth 1
        = search: position startpos moves e2e4, go depth 1
        ! info depth 1 score cp -20 pv e7e5
        < info depth 1 score cp -20 pv e7e5
        ! bestmove e7e5
        < bestmove e7e5
        ! usage_error bestmove e7e5
        ",
    );
}

#[test]
fn the_bestmove_of_an_infinite_search_waits_for_stop() {
    check_search(
        "
        > go infinite
        = search: position startpos moves e2e4, go infinite
        ! info depth 99 score mate -1
        < info depth 99 score mate -1
        ! bestmove e7e5
        ! usage_error bestmove e7e5
        > ponderhit
        = against PonderHitWithoutPonder
        > stop
        < bestmove e7e5
        ",
    );
}

#[test]
fn the_bestmove_of_a_ponder_search_waits_for_ponderhit_or_stop() {
    for end in ["ponderhit", "stop"] {
        check_search(&format!(
            "
            > go ponder movetime 100
            = search: position startpos moves e2e4, go ponder movetime 100
            ! info depth 1 score mate 1 pv e7e5
            < info depth 1 score mate 1 pv e7e5
            ! bestmove e7e5
            > {end}
            < bestmove e7e5
            "
        ));
    }
}

#[test]
fn an_infinite_ponder_search_waits_for_stop_even_after_ponderhit() {
    check_search(
        "
        > go ponder infinite
        = search: position startpos moves e2e4, go ponder infinite
        ! info depth 1 pv e7e5
        < info depth 1 pv e7e5
        ! bestmove e7e5
        > ponderhit
        > stop
        < bestmove e7e5
        ",
    );
}

#[test]
fn the_time_of_a_ponder_search_counts_from_ponderhit() {
    check_search(
        "
        > go ponder movetime 1000
        = search: position startpos moves e2e4, go ponder movetime 1000
        ! after 5000
        > ponderhit
        = ponder hit
        ! after 999
        ! info currmove e7e5
        ! bestmove e7e5
        < info depth 0 time 999 pv e7e5
        < bestmove e7e5
        ",
    );
}

#[test]
fn a_running_search_receives_ponderhit_and_stop() {
    check_search(
        "
        > go ponder wtime 1000 btime 2000
        = search: position startpos moves e2e4, go ponder wtime 1000 btime 2000
        > ponderhit
        = ponder hit
        > stop
        = stop
        ! info depth 1 pv e7e5
        < info depth 1 pv e7e5
        ! bestmove e7e5 ponder g1f3
        < bestmove e7e5 ponder g1f3
        ",
    );
}

#[test]
fn stop_and_ponderhit_are_ignored_between_searches() {
    check_search(
        "
        > stop
        > ponderhit
        = against PonderHitWithoutPonder
        ",
    );
}

#[test]
fn forbidden_commands_during_a_search_are_queued_in_order() {
    check_search(
        "
        > go depth 9
        = search: position startpos moves e2e4, go depth 9
        > setoption name Hash value 32
        = against BusyEngine
        > ucinewgame
        = against BusyEngine
        > position startpos
        = against BusyEngine
        > isready
        < readyok
        ! info depth 9 pv e7e5
        < info depth 9 pv e7e5
        ! bestmove e7e5
        < bestmove e7e5
        = option Hash 32
        = new game
        > isready
        = prepare
        ! ready
        < readyok
        > go depth 1
        = search: position startpos, go depth 1
        ",
    );
}

#[test]
fn a_queued_go_ends_the_running_search_like_stop() {
    check_search(
        "
        > go infinite
        = search: position startpos moves e2e4, go infinite
        > position startpos
        = against BusyEngine
        > go depth 1
        = against BusyEngine
        = stop
        ! info depth 5 pv e7e5
        < info depth 5 pv e7e5
        ! bestmove e7e5
        < bestmove e7e5
        = search: position startpos, go depth 1
        ",
    );
}

#[test]
fn a_queued_go_releases_a_delayed_bestmove() {
    check_search(
        "
        > go infinite
        = search: position startpos moves e2e4, go infinite
        ! info depth 5 pv e7e5
        < info depth 5 pv e7e5
        ! bestmove e7e5
        > go depth 2
        = against BusyEngine
        < bestmove e7e5
        = search: position startpos moves e2e4, go depth 2
        ",
    );
}

#[test]
fn stop_and_ponderhit_after_a_queued_go_apply_to_it() {
    check_search(
        "
        > go infinite
        = search: position startpos moves e2e4, go infinite
        > go ponder
        = against BusyEngine
        = stop
        > ponderhit
        > go infinite
        = against BusyEngine
        > stop
        ! info depth 5 pv e7e5
        < info depth 5 pv e7e5
        ! bestmove e7e5
        < bestmove e7e5
        = search: position startpos moves e2e4, go ponder
        = ponder hit
        = stop
        ! bestmove e7e5
        < info depth 0 time 0 pv e7e5
        < bestmove e7e5
        = search: position startpos moves e2e4, go infinite
        = stop
        ",
    );
}

#[test]
fn perft_is_queued_and_does_not_end_the_running_search() {
    check_search(
        "
        > go infinite
        = search: position startpos moves e2e4, go infinite
        > go perft 5
        = against BusyEngine
        > stop
        = stop
        ! info depth 5 pv e7e5
        < info depth 5 pv e7e5
        ! bestmove e7e5
        < bestmove e7e5
        < info string this engine does not count leaf nodes
        ",
    );
}

#[test]
fn the_queue_is_cleared_when_the_client_disconnects() {
    check_search(
        "
        > go depth 5
        = search: position startpos moves e2e4, go depth 5
        > setoption name Hash value 32
        = against BusyEngine
        > quit
        = stop
        = quit
        ! bestmove e7e5
        < info depth 0 time 0 pv e7e5
        < bestmove e7e5
        ",
    );
}

#[test]
fn only_the_last_queued_position_before_each_go_is_stored() {
    let mut run = Run::new();
    run.check("> go infinite\n= against BeforeUciOk\n= search: position startpos, go infinite");
    for (first, stop) in [("e2e4", "= stop"), ("d2d4", "")] {
        for _ in 0..300 {
            run.check("> position startpos moves g1f3\n= against BusyEngine");
        }
        run.check(&format!(
            "
            > position startpos moves {first}
            = against BusyEngine
            > setoption name Clear Hash
            = against BusyEngine
            > go depth 1
            = against BusyEngine
            {stop}
            "
        ));
    }
    run.check(
        "
        ! bestmove e7e5
        < info depth 0 time 0 pv e7e5
        < bestmove e7e5
        = option Clear Hash
        = against SearchBeforeReady
        = search: position startpos moves e2e4, go depth 1
        ! bestmove e7e5
        < info depth 0 time 0 pv e7e5
        < bestmove e7e5
        = option Clear Hash
        = against SearchBeforeReady
        = search: position startpos moves d2d4, go depth 1
        ",
    );
}

#[test]
fn a_search_with_a_limit_runs_to_its_end_although_another_is_queued() {
    for go in ["depth 5", "nodes 200", "movetime 50", "wtime 1000 btime 1000", "ponder depth 5"] {
        let hit = if go.starts_with("ponder") { "> ponderhit\n= ponder hit" } else { "" };
        check_search(&format!(
            "
            > go {go}
            = search: position startpos moves e2e4, go {go}
            {hit}
            > go depth 1
            = against BusyEngine
            ! info depth 5 pv e7e5
            < info depth 5 pv e7e5
            ! bestmove e7e5
            < bestmove e7e5
            = search: position startpos moves e2e4, go depth 1
            "
        ));
    }
    // These end only by the client. Black is to move.
    for go in ["go", "go infinite", "go depth 1 infinite", "go wtime 1000", "go mate 3"] {
        check_search(&format!(
            "
            > {go}
            = search: position startpos moves e2e4, {go}
            > go depth 1
            = against BusyEngine
            = stop
            "
        ));
    }
}

#[test]
fn ten_thousand_queued_searches_are_answered_in_their_order() {
    let mut run = Run::new();
    run.check("> go depth 1\n= against BeforeUciOk\n= search: position startpos, go depth 1");
    for number in 0..10_000 {
        for line in [
            format!("setoption name Hash value {}", number % 1024 + 1),
            format!("position startpos moves {}", ["e2e4", "d2d4"][number % 2]),
            format!("go nodes {number}"),
        ] {
            run.session.receive_line(&line, run.now, &mut run.out);
        }
    }
    run.session.end_of_input(&mut run.out);
    while run.happened().is_some() {}
    for number in 0..10_000 {
        run.session
            .best_move("e7e5".parse::<Move>().unwrap().into(), run.now, &mut run.out)
            .unwrap();
        let events: Vec<String> = std::iter::from_fn(|| run.happened()).collect();
        let hash = format!("option Hash {}", number % 1024 + 1);
        let mv = ["e2e4", "d2d4"][number % 2];
        let search = format!("search: position startpos moves {mv}, go nodes {number}");
        assert!(events.contains(&hash) && events.contains(&search), "{number}: {events:?}");
        assert_eq!(events.contains(&"quit".to_owned()), number == 9_999, "{events:?}");
    }
    assert_eq!(run.out.lines().filter(|line| line.starts_with("bestmove")).count(), 10_000);
}

#[test]
fn a_flood_during_a_search_is_dropped_at_the_memory_limit() {
    let mut run = Run::new();
    run.check("> go infinite\n= against BeforeUciOk\n= search: position startpos, go infinite");
    let long = format!("setoption name Hash value {}", "1".repeat(1 << 20));
    let flood = (0..1000).position(|_| {
        run.session.receive_line(&long, run.now, &mut run.out);
        std::iter::from_fn(|| run.session.poll_event()).any(|event| event == Event::Dropped)
    });
    assert!(flood.is_some_and(|flood| (200..300).contains(&flood)), "{flood:?}");
    assert_eq!(run.out, "info string too many commands during a search: one was dropped\n");
    run.out.clear();
    let dropped = format!("position startpos moves{}", " e2e4".repeat(1 << 19));
    run.session.receive_line(&dropped, run.now, &mut run.out);
    while run.happened().is_some() {}
    run.out.clear();
    // A short line still fits, and must not search an older position.
    run.session.receive_line("go depth 1", run.now, &mut run.out);
    run.session.receive_line("stop", run.now, &mut run.out);
    run.session.best_move(Best::None.into(), run.now, &mut run.out).unwrap();
    let expected = format!("{ANSWER_OF_FULL_QUEUE}info depth 0 time 0\nbestmove (none)\n");
    assert!(run.out.ends_with(&expected), "{}", run.out);
}

const ANSWER_OF_FULL_QUEUE: &str =
    "info string the search failed: the position or the search was dropped by the full queue\n";

#[test]
fn a_dropped_search_is_answered_in_its_order() {
    let mut run = Run::new();
    run.check("> go infinite\n= against BeforeUciOk\n= search: position startpos, go infinite");
    for length in [1 << 20, 1 << 10, 1] {
        let line = format!("setoption name Hash value {}", "1".repeat(length));
        let fits = |run: &mut Run| {
            run.session.receive_line(&line, run.now, &mut run.out);
            std::iter::from_fn(|| run.session.poll_event()).all(|event| event != Event::Dropped)
        };
        while fits(&mut run) {}
    }
    // Only a few short lines fit.
    for line in ["position startpos moves e2e4", "go depth 1", "stop"].repeat(100) {
        run.session.receive_line(line, run.now, &mut run.out);
    }
    while run.session.poll_event().is_some() {}
    run.out.clear();
    let mut searches = 0;
    while run.session.protocol_state().is_searching() {
        searches += 1;
        run.session.best_move(Best::None.into(), run.now, &mut run.out).unwrap();
    }
    let dropped = run.out.matches(ANSWER_OF_FULL_QUEUE).count();
    assert!((1..10).contains(&searches), "{searches}");
    assert_eq!(searches + dropped, 1 + 100);
    let answers = run.out.lines().filter(|line| line.starts_with("bestmove")).count();
    assert_eq!(answers, 1 + 100);
    run.out.clear();
    while run.session.poll_event().is_some() {}
    run.check("> position startpos\n> go depth 2\n= against SearchBeforeReady\n= search: position startpos, go depth 2");
}

#[test]
fn quit_after_a_queued_go_takes_effect_after_it() {
    check_search(
        "
        > go depth 5
        = search: position startpos moves e2e4, go depth 5
        > go depth 1
        = against BusyEngine
        > quit
        > isready
        ! bestmove e7e5
        < info depth 0 time 0 pv e7e5
        < bestmove e7e5
        = search: position startpos moves e2e4, go depth 1
        = stop
        = quit
        ! bestmove e7e5
        < info depth 0 time 0 pv e7e5
        < bestmove e7e5
        ",
    );
}

#[test]
fn details_are_sent_after_one_second_if_their_options_are_on() {
    let script = |on| {
        format!(
            "
            > setoption name UCI_ShowCurrLine value {on}
            = option UCI_ShowCurrLine {on}
            > setoption name UCI_ShowRefutations value {on}
            = option UCI_ShowRefutations {on}
            {READY}
            > go infinite
            = search: position startpos moves e2e4, go infinite
            ! after 999
            ! info currmove e7e5 currmovenumber 1
            ! info currline 1 e7e5
            ! info refutation e7e5 f2f4
            ! info nodes 7 currmove e7e5
            < info nodes 7
            ! after 1
            ! info currmove e7e5 currmovenumber 1
            < info currmove e7e5 currmovenumber 1
            ! info currline 1 e7e5
            "
        )
    };
    check_engine(Dialect::Uci, &format!("{}\n! info refutation e7e5", script(false)));
    check_engine(
        Dialect::Uci,
        &format!(
            "{}
            < info currline 1 e7e5
            ! info refutation e7e5 f2f4
            < info refutation e7e5 f2f4",
            script(true)
        ),
    );
}

#[test]
fn there_is_an_info_before_every_bestmove() {
    check_search(
        "
        > go movetime 500
        = search: position startpos moves e2e4, go movetime 500
        ! info string thinking
        < info string thinking
        ! after 450
        ! bestmove e7e5
        < info depth 0 time 450 pv e7e5
        < bestmove e7e5
        > go movetime 500
        = search: position startpos moves e2e4, go movetime 500
        ! bestmove (none)
        < info depth 0 time 0
        < bestmove (none)
        ",
    );
}

/// The start of a search that has used up its burst of lines.
fn flooded() -> Run {
    let mut run = Run::new();
    run.check("> go infinite\n= against BeforeUciOk\n= search: position startpos, go infinite");
    run.act("flood 10000");
    let lines = run.out.lines().count();
    assert_eq!(lines, 101, "only a burst is sent");
    run.out.clear();
    run
}

#[test]
fn a_flood_is_reduced_to_the_latest_line() {
    flooded().check(
        "
        ! after 39
        < info depth 10000 pv e2e4
        ! info depth 10001 pv e2e4
        ! info depth 10001 currmove e2e4
        ! bestmove e2e4
        < info depth 10001 pv e2e4
        > stop
        < bestmove e2e4
        ",
    );
}

#[test]
fn a_flood_is_reduced_to_the_latest_line_of_each_rank() {
    flooded().check(
        "
        ! info depth 7 multipv 1 pv e2e4
        ! info depth 7 multipv 2 pv d2d4
        ! info depth 7 multipv 3 pv c2c4
        ! info depth 8 multipv 1 pv e2e4
        ! info depth 8 multipv 2 pv d2d4
        ! after 39
        < info depth 8 multipv 1 pv e2e4
        < info depth 8 multipv 2 pv d2d4
        < info depth 7 multipv 3 pv c2c4
        ! info depth 8 multipv 3 pv c2c4
        < info depth 8 multipv 3 pv c2c4
        ! info depth 9 multipv 1 pv e2e4
        ! info depth 9 multipv 2 pv d2d4
        ! after 2000
        < info depth 9 multipv 1 pv e2e4
        < info depth 9 multipv 2 pv d2d4
        ",
    );
}

#[test]
fn a_search_starts_a_new_iteration() {
    flooded().check(
        "
        > stop
        = stop
        ! bestmove e2e4
        < info depth 10000 pv e2e4
        < bestmove e2e4
        ! after 5000
        > go depth 1
        = against SearchWithoutPosition
        = search: position startpos, go depth 1
        ! info depth 1 multipv 2 pv d2d4
        < info depth 1 multipv 2 pv d2d4
        ",
    );
}

#[test]
fn only_texts_are_sent_between_searches() {
    check_engine(
        Dialect::Uci,
        "
        ! info score cp 3 nodes 5 string x
        ! info nodes 5 string x
        ! info string x
        < info string x
        ",
    );
}

#[test]
fn a_line_without_a_variation_does_not_replace_one() {
    flooded().check(
        "
        ! info depth 7 score cp 30 pv e2e4
        ! info depth 8 score cp 60 lowerbound
        ! info depth 8 score cp 90 lowerbound
        ! bestmove e2e4
        < info depth 7 score cp 30 pv e2e4
        < info depth 8 score cp 90 lowerbound
        > stop
        < bestmove e2e4
        ",
    );
}

#[test]
fn texts_of_a_flood_are_sent_or_counted() {
    let mut run = flooded();
    for number in 0..1234 {
        run.act(&format!("info string {number}"));
    }
    run.act("bestmove e2e4");
    let lines: Vec<String> = std::iter::from_fn(|| run.sent()).collect();
    assert_eq!(lines.len(), 1002, "the last variation, a thousand texts, and their number");
    assert_eq!(lines[0], "info depth 10000 pv e2e4");
    assert_eq!(lines[1000], "info string 999");
    assert_eq!(lines[1001], "info string 234 more lines of text are left out");
}

#[test]
fn delayed_lines_have_a_deadline() {
    let mut run = flooded();
    let due = run.session.poll_timeout().unwrap();
    assert_eq!(due, run.now + Duration::from_millis(20));
    run.session.handle_timeout(due, &mut run.out);
    assert_eq!(run.sent().as_deref(), Some("info depth 10000 pv e2e4"));
    assert_eq!(run.session.poll_timeout(), None);
}

#[test]
fn info_after_the_answer_is_dropped_except_texts() {
    check_search(
        "
        > go infinite
        = search: position startpos moves e2e4, go infinite
        ! info depth 1 pv e7e5
        < info depth 1 pv e7e5
        ! bestmove e7e5
        ! info depth 2 pv e7e5
        > stop
        < bestmove e7e5
        ! info depth 3 pv e7e5
        ! info string done
        < info string done
        ",
    );
}

#[test]
fn the_end_of_the_input_is_quit() {
    check_engine(Dialect::Uci, "! eof\n= quit\n! eof");
    check_search(
        "
        > go infinite
        = search: position startpos moves e2e4, go infinite
        ! eof
        = stop
        = quit
        > isready
        = against AfterQuit
        ! info depth 1 pv e7e5
        < info depth 1 pv e7e5
        ! bestmove e7e5
        < bestmove e7e5
        ",
    );
}

#[test]
fn quit_releases_a_delayed_bestmove() {
    check_search(
        "
        > go infinite
        = search: position startpos moves e2e4, go infinite
        ! bestmove e7e5
        < info depth 0 time 0 pv e7e5
        > quit
        < bestmove e7e5
        = quit
        ",
    );
}

#[test]
fn gameover_during_a_search_acts_like_stop() {
    for go in ["go ponder", "go btime 0 wtime 0 byoyomi 1000"] {
        check_engine(
            Dialect::Usi,
            &format!(
                "
                > isready
                = prepare
                ! ready
                < readyok
                > position startpos
                > {go}
                = search: position startpos, {go}
                > gameover lose
                = game over: lose
                = stop
                ! info depth 1 pv 7g7f
                < info depth 1 pv 7g7f
                ! bestmove 7g7f
                < bestmove 7g7f
                > gameover draw
                = game over: draw
                "
            ),
        );
    }
}

#[test]
fn ponderhit_may_contain_the_clocks() {
    check_engine(
        Dialect::Usi,
        "
        > isready
        = prepare
        ! ready
        < readyok
        > position startpos
        > go ponder
        = search: position startpos, go ponder
        > ponderhit btime 53000 wtime 60000 binc 5000 winc 5000
        = ponder hit, 53000 ms
        ",
    );
}

#[test]
fn a_mate_search_is_answered_by_checkmate() {
    check_engine(
        Dialect::Usi,
        "
        > isready
        = prepare
        ! ready
        < readyok
        > position startpos
        > go mate infinite
        = search: position startpos, go mate infinite
        ! checkmate nomate
        < info depth 0 time 0
        < checkmate nomate
        > go depth 1
        = search: position startpos, go depth 1
        ! usage_error checkmate nomate
        ",
    );
}

#[test]
fn a_shogi_engine_without_a_legal_move_resigns() {
    check_engine(
        Dialect::Usi,
        "
        > isready
        = prepare
        ! ready
        < readyok
        > position startpos
        > go depth 1
        = search: position startpos, go depth 1
        ! info depth 0 score mate -0
        < info depth 0 score mate -0
        ! bestmove none
        < bestmove resign
        ",
    );
}

#[test]
fn shogi_guis_may_set_undeclared_options() {
    let mut bare = Run::new();
    let options = vec![OptionSet::new(Dialect::Usi)];
    bare.session =
        EngineSession::new(Profile { name: "Bare".into(), author: String::new(), options })
            .unwrap();
    bare.check(
        "
        > usi
        < id name Bare
        < usiok
        = handshake in usi
        > setoption name USI_Hash value 256
        > setoption name USI_Ponder value true
        ",
    );
}

#[test]
fn options_are_found_in_the_spelling_of_the_dialect() {
    check_engine(
        Dialect::Usi,
        "
        > setoption name USI_Hash value 256
        = option Hash 256
        > setoption name Clear_Hash
        = option Clear Hash
        ",
    );
}

#[test]
fn invalid_options_are_rejected_with_an_info_string() {
    check_engine(
        Dialect::Uci,
        "
        > setoption name Hash value 4096
        < info string option `Hash` cannot be 4096, at least 1, at most 1024
        = bad option: option `Hash` cannot be 4096, at least 1, at most 1024
        > setoption name Style value Risky
        < info string the engine has no option `Style`
        = bad option: the engine has no option `Style`
        > setoption name C:\\x value 1
        < info string the engine has no option `C:\\\\x`
        = bad option: the engine has no option `C:\\\\x`
        ",
    );
}

/// Lines without a valid position, and the error message of the session.
const INVALID: [(&str, &str); 5] = [
    ("position fen 9/8/8/8/8/8/8/8 w - - 0 1", "invalid position at bytes 15..16"),
    ("position fen foo", "invalid position at bytes 13..16"),
    ("Position foo", "`position` without a position"),
    ("position", "`position` without a position"),
    ("joho position startpo", "`position` without a position"),
];

#[test]
fn after_an_invalid_position_no_older_one_is_searched() {
    for (line, reason) in INVALID {
        check_search(&format!(
            "
            > {line}
            < info string {reason}: nothing is searched before the next position
            = unknown: {line}
            > go depth 1
            < info string the search failed: {reason}
            < info depth 0 time 0
            < bestmove (none)
            > go infinite
            < info string the search failed: {reason}
            < info depth 0 time 0
            > stop
            < bestmove (none)
            > go ponder
            < info string the search failed: {reason}
            < info depth 0 time 0
            > ponderhit
            < bestmove (none)
            > position startpos
            > go depth 1
            = search: position startpos, go depth 1
            "
        ));
    }
}

#[test]
fn an_invalid_position_is_queued_in_order() {
    for (line, reason) in INVALID {
        check_search(&format!(
            "
            > go depth 9
            = search: position startpos moves e2e4, go depth 9
            > go depth 1
            = against BusyEngine
            > position startpos
            = against BusyEngine
            > {line}
            < info string {reason}: nothing is searched before the next position
            = unknown: {line}
            > go depth 2
            = against BusyEngine
            > go infinite
            = against BusyEngine
            > stop
            > {line}
            < info string {reason}: nothing is searched before the next position
            = unknown: {line}
            > position startpos moves d2d4
            = against BusyEngine
            > go depth 3
            = against BusyEngine
            ! bestmove e7e5
            < info depth 0 time 0 pv e7e5
            < bestmove e7e5
            = search: position startpos moves e2e4, go depth 1
            ! bestmove e7e5
            < info depth 0 time 0 pv e7e5
            < bestmove e7e5
            < info string the search failed: {reason}
            < info depth 0 time 0
            < bestmove (none)
            < info string the search failed: {reason}
            < info depth 0 time 0
            < bestmove (none)
            = search: position startpos moves d2d4, go depth 3
            "
        ));
    }
}

#[test]
fn a_line_that_is_too_long_may_have_been_a_position() {
    let mut run = Run::new();
    run.session.receive_line("usi", run.now, &mut run.out);
    run.out.clear();
    while run.happened().is_some() {}
    run.session.receive_oversized_line(LineTooLong { limit: 7 }, &mut run.out);
    let reason = LineTooLong { limit: 7 }.to_string();
    run.check(&format!(
        "
        < info string {reason}
        > go ponder mate 1000
        = against SearchWithoutPosition
        < info string the search failed: {reason}, and may have been a position
        < info depth 0 time 0
        > ponderhit
        < checkmate timeout
        > go mate infinite
        = against SearchWithoutPosition
        < info string the search failed: {reason}, and may have been a position
        < info depth 0 time 0
        < checkmate timeout
        "
    ));
}

#[test]
fn a_checkmate_found_while_pondering_is_delayed() {
    for end in ["ponderhit", "stop"] {
        check_engine(
            Dialect::Usi,
            &format!(
                "
                > isready
                = prepare
                ! ready
                < readyok
                > position startpos
                > go ponder mate 1000
                = search: position startpos, go ponder mate 1000
                ! checkmate nomate
                < info depth 0 time 0
                ! usage_error checkmate nomate
                > {end}
                < checkmate nomate
                "
            ),
        );
    }
}

#[test]
fn unknown_lines_are_events() {
    check_engine(
        Dialect::Uci,
        "
        > xyzzy
        = unknown: xyzzy
        >
        > joho isready
        = malformed: unknown token
        = prepare
        ",
    );
}

#[test]
fn debug_enables_explanations() {
    check_engine(
        Dialect::Uci,
        "
        > debug on
        = debug true
        > xyzzy
        < info string not a command: `xyzzy`
        = unknown: xyzzy
        > joho stop
        < info string unknown token at bytes 0..4
        = malformed: unknown token
        > ponderhit
        < info string the client violated a rule: `ponderhit` belongs to a running `go ponder` (UCI 2006, ponderhit; USI draft 1 §5.3; The UCI Protocol, ponderhit)
        = against PonderHitWithoutPonder
        > debug off
        = debug false
        > xyzzy
        = unknown: xyzzy
        ",
    );
}

#[test]
fn registration_and_copy_protection_come_after_the_handshake() {
    check_start("! usage_error registration checking\n! usage_error copyprotection ok");
    check_engine(
        Dialect::Uci,
        "
        ! copyprotection checking
        < copyprotection checking
        ! copyprotection ok
        < copyprotection ok
        ! registration error
        < registration error
        > register name Stefan MK code 4359874324
        = register
        ! registration ok
        < registration ok
        ",
    );
}

#[test]
fn leaf_nodes_are_not_counted() {
    check_search("> go perft 5\n< info string this engine does not count leaf nodes");
}

#[test]
fn a_usage_error_contains_the_rule() {
    let mut run = Run::new();
    let Err(UsageError::Violation(violation)) = run.session.ready(&mut run.out) else { panic!() };
    assert_eq!(violation.rule, Rule::ReadyOkWithoutIsReady);
    let line_break = Info::text("two\nlines");
    let usage_error = run.session.info(line_break, run.now, &mut run.out);
    assert!(matches!(usage_error, Err(UsageError::Unwritable(WriteError::LineBreak { .. }))));
}

#[test]
fn the_clock_is_that_of_the_side_to_move() {
    use Color::{Black, White};
    use Dialect::{Uci, Usi};

    let clock = |dialect, position: &str| {
        let read = |line| Command::read(line, dialect).value.into_owned();
        let (Command::Position(position), Command::Go(go)) =
            (read(position), read("go wtime 1000 btime 2000"))
        else {
            panic!("{position}")
        };
        let request = SearchRequest { dialect, position, go };
        (request.mover(), request.clock().unwrap().remaining)
    };
    assert_eq!(clock(Uci, "position startpos"), (White, 1000));
    assert_eq!(clock(Uci, "position startpos moves e2e4"), (Black, 2000));
    assert_eq!(clock(Uci, "position fen 4k3/8/8/8/8/8/8/4K3 b - - 0 1"), (Black, 2000));
    // Shogi over UCI: the first player, Black in SFEN, is White.
    assert_eq!(clock(Uci, "position sfen 4k4/9/9/9/9/9/9/9/4K4 b - 1"), (White, 1000));
    assert_eq!(clock(Uci, "position sfen 4k4/9/9/9/9/9/9/9/4K4 w - 2"), (Black, 2000));
    assert_eq!(clock(Usi, "position startpos"), (Black, 2000));
    assert_eq!(clock(Usi, "position startpos moves 7g7f"), (White, 1000));
    assert_eq!(clock(Usi, "position sfen 4k4/9/9/9/9/9/9/9/4K4 w - 1 moves 5a4a"), (Black, 2000));
}

/// Commands of a client and actions of an owner, valid and invalid.
const STEPS: [&str; 34] = [
    "uci",
    "usi",
    "isready",
    "isready",
    "ucinewgame",
    "usinewgame",
    "debug on",
    "setoption name Hash value 2",
    "setoption name Hash value 2000",
    "position startpos moves e2e4",
    "position fen x",
    "go infinite",
    "go ponder",
    "go depth 1",
    "go mate infinite",
    "go perft 3",
    "stop",
    "stop",
    "ponderhit",
    "gameover lose",
    "register later",
    "xyzzy",
    "quit",
    "!bestmove",
    "!bestmove",
    "!checkmate",
    "!ready",
    "!ready",
    "!text",
    "!pv",
    "!mpv",
    "!mmpv",
    "!details",
    "!time",
];

proptest::proptest! {
    #[test]
    fn any_script_leads_to_a_valid_session(
        steps in proptest::collection::vec(0..STEPS.len(), 0..120),
    ) {
        let script: Vec<&str> = steps.into_iter().map(|step| STEPS[step]).collect();
        crate::laws::engine_session(script.join("\n").as_bytes());
    }
}

#[test]
fn a_queued_search_without_a_position_before_a_handshake_satisfies_the_properties() {
    let script = "go infinite\nposition fen x\ngo infinite\nusi\nstop\nquit";
    crate::laws::engine_session(script.as_bytes());
}

#[test]
fn a_stop_reaches_the_queued_search_after_a_position() {
    let mut session = EngineSession::new(profile()).unwrap();
    let (mut out, now) = (String::new(), Duration::ZERO);
    for line in ["go depth 1", "go infinite", "position startpos moves e2e4", "stop"] {
        session.receive_line(line, now, &mut out);
    }
    for _ in 0..2 {
        session.best_move(Move::NULL.into(), now, &mut out).unwrap();
    }
    assert_eq!(out.lines().filter(|line| line.starts_with("bestmove")).count(), 2, "{out}");
}
