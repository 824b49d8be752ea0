//! Scripts for engine sessions.

mod queue;
mod searches;

use std::collections::VecDeque;
use std::time::Duration;

use readyok_protocol::session::engine::{EngineSession, Event, Profile, SearchRequest, UsageError};
use readyok_protocol::{
    Command, Dialect, Info, MoveList, OptionDecl, OptionSet, Reply, Rule, WriteError,
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
        other => format!("{other:?}").to_lowercase(),
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
        < info string option `Hash` is between 1 and 1024, not 4096
        = bad option: option `Hash` is between 1 and 1024, not 4096
        > setoption name Style value Risky
        < info string the engine has no option `Style`
        = bad option: the engine has no option `Style`
        > setoption name C:\\x value 1
        < info string the engine has no option `C:\\\\x`
        = bad option: the engine has no option `C:\\\\x`
        ",
    );
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
        < info string unknown token: `joho` at characters 1 to 4
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
fn a_usage_error_contains_the_rule() {
    let mut run = Run::new();
    let Err(UsageError::Violation(violation)) = run.session.ready(&mut run.out) else { panic!() };
    assert_eq!(violation.rule, Rule::ReadyOkWithoutIsReady);
    let line_break = Info::text("two\nlines");
    let usage_error = run.session.info(line_break, run.now, &mut run.out);
    assert!(matches!(usage_error, Err(UsageError::Unwritable(WriteError::LineBreak { .. }))));
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
