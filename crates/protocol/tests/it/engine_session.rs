//! Scripts for engine sessions.

mod queue;

use std::collections::VecDeque;
use std::time::Duration;

use readyok_protocol::session::engine::{EngineSession, Event, Profile, SearchRequest, UsageError};
use readyok_protocol::{
    CastlingForm, Color, Command, Dialect, Info, MoveList, OptionDecl, OptionSet, Reply, Rule,
    WriteError,
};

use crate::scripts::{self, Script};

/// Runs the steps of a script. `>` is a line of the client, `<` an expected line of the session, `=` an expected
/// event, `!` an action of the owner. Other lines and events are errors.
fn check(script: &Script) {
    let dialect = match script.start.as_str() {
        "uci" => Dialect::Uci,
        "usi" => Dialect::Usi,
        "none" => return Run::new().check(&script.steps),
        "flooded" => return flooded().check(&script.steps),
        other => panic!("no such start: {other}"),
    };
    let mut run = Run::new();
    run.session.receive_line(dialect.handshake(), run.now, &mut run.out);
    assert_eq!(run.session.poll_event(), Some(Event::HandshakeComplete(dialect)));
    run.out.clear();
    run.check(&script.steps);
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
                "#" => (),
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
        Event::Perft(depth) => format!("perft: {depth}"),
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
fn handshake_and_options() {
    scripts::check(include_str!("data/sessions/engine_session.txt"), check);
}

#[test]
fn searches_and_the_output_before_their_answers() {
    scripts::check(include_str!("data/sessions/engine_searches.txt"), check);
}

#[test]
fn commands_during_a_search() {
    scripts::check(include_str!("data/sessions/engine_queue.txt"), check);
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
        let request = SearchRequest::new(dialect, position, go);
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

#[test]
fn the_notation_of_castling_is_that_of_the_option() {
    let castling = |lines: &[&str]| {
        let mut options = OptionSet::new(Dialect::Uci);
        options.declare(OptionDecl::check("UCI_Chess960", false));
        let profile =
            Profile { name: "Test".into(), author: String::new(), options: vec![options] };
        let mut session = EngineSession::new(profile).unwrap();
        for line in lines {
            session.receive_line(line, Duration::ZERO, &mut String::new());
        }
        let search = core::iter::from_fn(|| session.poll_event()).find_map(|event| match event {
            Event::Search(request) => Some(request),
            _ => None,
        });
        let request = search.unwrap();
        assert_eq!(request.is_chess960(), request.castling == CastlingForm::KingTakesRook);
        request.castling
    };
    let on = "setoption name UCI_Chess960 value true";
    let off = "setoption name uci_chess960 value false";
    assert_eq!(castling(&["uci", "go depth 1"]), CastlingForm::KingMove);
    assert_eq!(castling(&["uci", on, "go depth 1"]), CastlingForm::KingTakesRook);
    assert_eq!(castling(&["uci", on, off, "go depth 1"]), CastlingForm::KingMove);
}

#[test]
fn a_profile_with_line_breaks_is_rejected() {
    let broken = Profile { name: "two\nlines".into(), ..profile() };
    assert!(matches!(EngineSession::new(broken), Err(WriteError::LineBreak { .. })));
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
fn a_usage_error_contains_the_rule() {
    let mut run = Run::new();
    let Err(UsageError::Violation(violation)) = run.session.ready(&mut run.out) else { panic!() };
    assert_eq!(violation.rule, Rule::ReadyOkWithoutIsReady);
    let line_break = Info::text("two\nlines");
    let usage_error = run.session.info(line_break, run.now, &mut run.out);
    assert!(matches!(usage_error, Err(UsageError::Unwritable(WriteError::LineBreak { .. }))));
}

/// Commands of a client and actions of an owner, valid and invalid.
const STEPS: &str = "\
    uci|usi|isready|isready|ucinewgame|usinewgame|debug on|\
    setoption name Hash value 2|setoption name Hash value 2000|\
    position startpos moves e2e4|position fen x|go infinite|go ponder|go depth 1|\
    go mate infinite|go perft 3|stop|stop|ponderhit|gameover lose|register later|\
    xyzzy|quit|!bestmove|!bestmove|!checkmate|!ready|!ready|!text|!pv|!mpv|\
    !mmpv|!details|!time";

proptest::proptest! {
    #[test]
    fn any_script_leads_to_a_valid_session(
        script in proptest::collection::vec(
            proptest::sample::select(STEPS.split('|').collect::<Vec<_>>()), 0..120),
    ) {
        crate::laws::engine_session(script.join("\n").as_bytes());
    }
}
