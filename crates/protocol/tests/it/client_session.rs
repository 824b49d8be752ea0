//! Scripts for client sessions.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::time::Duration;

use readyok_protocol::session::client::{
    ClientSession, Event, NewGame, Purpose, SearchId, SearchRequest, Timeouts,
};
use readyok_protocol::{Command, Dialect, GameResult, Go, MateLimit, Register, Reply};

/// Runs a script. `<` is a line of the engine, `>` an expected line of the session, `=` an expected event,
/// `!` an action of the caller. Other lines and events are errors. `␣` is a space at the end of a line.
#[track_caller]
fn check_client(dialect: Dialect, script: &str) {
    let mut run = Run::new(dialect);
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (kind, text) = line.split_at(1);
        let text = &*text.trim_start().replace('␣', " ");
        match kind {
            "<" | "!" => {
                // Lines and events must not be early.
                assert_eq!(run.sent(), None, "sent before `{line}`, in {script}");
                assert_eq!(run.happened(), None, "happened before `{line}`, in {script}");
                if kind == "<" {
                    run.session.receive_line(text, run.now, &mut run.out);
                } else {
                    run.act(text);
                }
            }
            ">" => assert_eq!(run.sent().as_deref(), Some(text), "sent, in {script}"),
            "=" => assert_eq!(run.happened().as_deref(), Some(text), "happened, in {script}"),
            _ => panic!("no such line in a script: {line}"),
        }
    }
    assert_eq!(run.sent(), None, "sent at the end of {script}");
    assert_eq!(run.happened(), None, "happened at the end of {script}");
}

struct Run {
    session: ClientSession,
    dialect: Dialect,
    out: String,
    now: Duration,
    ids: Vec<SearchId>,
    events: VecDeque<String>,
}

impl Run {
    fn new(dialect: Dialect) -> Self {
        let (mut out, now) = (String::new(), Duration::from_secs(1));
        let session = ClientSession::start(dialect, Timeouts::default(), now, &mut out);
        Self { session, dialect, out, now, ids: Vec::new(), events: VecDeque::new() }
    }

    fn sent(&mut self) -> Option<String> {
        let (line, rest) = self.out.split_once('\n')?;
        let (line, rest) = (line.to_owned(), rest.to_owned());
        self.out = rest;
        Some(line)
    }

    fn happened(&mut self) -> Option<String> {
        while let Some(event) = self.session.poll_event() {
            let text = self.describe(event);
            self.events.push_back(text);
        }
        self.events.pop_front()
    }

    fn number(&self, id: SearchId) -> usize {
        self.ids.iter().position(|it| *it == id).map_or(self.ids.len() + 1, |index| index + 1)
    }

    fn describe(&self, event: Event) -> String {
        let line = |reply: Reply<'_>| {
            let mut line = String::new();
            reply.write(self.dialect, &mut line).unwrap();
            line
        };
        match event {
            Event::Started(id) => format!("started {}", self.number(id)),
            Event::Info(id, info) => format!("{} {}", self.number(id), line(Reply::Info(*info))),
            Event::BestMove(id, best) => {
                format!("{} {}", self.number(id), line(Reply::BestMove(best)))
            }
            Event::Checkmate(id, mate) => {
                format!("{} {}", self.number(id), line(Reply::Checkmate(mate)))
            }
            Event::Dropped(id, reason) => format!("{} dropped: {reason:?}", self.number(id)),
            Event::Overrun(id) => format!("{} overrun", self.number(id)),
            Event::Violation(violation) => format!("violation {:?}", violation.rule),
            Event::InfoString(text) => format!("info string {text}"),
            Event::UnknownLine(text) => format!("unknown line {text}"),
            Event::Malformed(diagnostics) => format!("malformed {:?}", diagnostics[0].kind),
            Event::HandshakeComplete => "handshake complete".to_owned(),
            Event::Ready(_) => "ready".to_owned(),
            Event::Timeout(wait) => format!("timeout {wait:?}"),
            other => format!("{other:?}").to_lowercase(),
        }
    }

    fn request(&self, text: &str) -> SearchRequest {
        let (position, go) = text.split_once('|').unwrap();
        let line = format!("position {position}");
        let Command::Position(position) = Command::read(&line, self.dialect).value.into_owned()
        else {
            panic!("no position: {line}");
        };
        let line = format!("go {go}");
        let Command::Go(go) = Command::read(&line, self.dialect).value.into_owned() else {
            panic!("no limit: {line}");
        };
        SearchRequest { position, go, ..SearchRequest::default() }
    }

    fn act(&mut self, text: &str) {
        let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
        let (now, out) = (self.now, &mut self.out);
        match verb {
            "search" | "analyse" | "lines" | "with" | "press" => {
                let (argument, rest) = match verb {
                    "lines" | "with" => rest.split_once(' ').unwrap(),
                    "press" => rest.split_at(rest.find("startpos").unwrap()),
                    _ => ("", rest),
                };
                let mut request = self.request(rest);
                match verb {
                    "analyse" => request.purpose = Purpose::Analyse,
                    "lines" => request.multipv = Some(argument.parse().unwrap()),
                    "with" => {
                        let (name, value) = argument.split_once('=').unwrap();
                        request.options.push((name.to_owned(), Some(value.to_owned())));
                    }
                    "press" => request.options.push((argument.trim().to_owned(), None)),
                    _ => (),
                }
                let id = self.session.search(request, now, &mut self.out).unwrap();
                self.ids.push(id);
            }
            "reject" => {
                let request = self.request(rest);
                let usage_error = self.session.search(request, now, &mut self.out).unwrap_err();
                self.events.push_back(format!("usage error: {usage_error}"));
            }
            "stop" => {
                let id = self.ids[rest.parse::<usize>().unwrap() - 1];
                self.session.stop(id, now, out);
            }
            "ponderhit" => {
                let (number, clocks) = rest.split_once(' ').unwrap_or((rest, ""));
                let id = self.ids[number.parse::<usize>().unwrap() - 1];
                let line = format!("go {clocks}");
                let Command::Go(go) = Command::read(&line, self.dialect).value else {
                    panic!("no clocks: {clocks}");
                };
                if let Err(usage_error) = self.session.ponder_hit(id, Some(go.clocks), now, out) {
                    self.events.push_back(format!("usage error: {usage_error}"));
                }
            }
            "newgame" => {
                let opponent = (!rest.is_empty() && rest != "960").then(|| rest.to_owned());
                let game = NewGame { chess960: rest == "960", variant: None, opponent };
                if let Err(usage_error) = self.session.new_game(game, now, out) {
                    self.events.push_back(format!("usage error: {usage_error}"));
                }
            }
            "gameover" => self.session.game_over(GameResult::Win, now, out),
            "set" => {
                let (name, value) =
                    rest.split_once('=').map_or((rest, None), |(a, b)| (a, Some(b)));
                if let Err(usage_error) = self.session.set_option(name, value, now, out) {
                    self.events.push_back(format!("usage error: {usage_error}"));
                }
            }
            "register" => {
                let name = Some(rest.to_owned().into());
                self.session.register(Register::With { name, code: None }, now, out).unwrap();
            }
            "ping" => {
                self.session.ping(now, out).unwrap();
            }
            "join" => self.session.sync_between_searches(false),
            "hold" => self.session.set_manual_start(),
            "start" => self.session.start_pending(now, out),
            "quit" => self.session.quit(now, out),
            "eof" => self.session.receive_eof(),
            "wait" => {
                self.now += Duration::from_millis(rest.parse().unwrap());
                self.session.handle_timeout(self.now, &mut self.out);
            }
            _ => panic!("no such action: {text}"),
        }
    }
}

/// Runs a script after a handshake with the given options.
#[track_caller]
fn check_uci(options: &[&str], script: &str) {
    let mut all = "> uci\n< id name Test\n".to_owned();
    for option in options {
        writeln!(all, "< option name {option}").unwrap();
    }
    check_client(Dialect::Uci, &format!("{all}< uciok\n= handshake complete\n{script}"));
}

#[track_caller]
fn check_usi(options: &[&str], script: &str) {
    let mut all = "> usi\n< id name Test\n".to_owned();
    for option in options {
        writeln!(all, "< option name {option}").unwrap();
    }
    check_client(Dialect::Usi, &format!("{all}< usiok\n= handshake complete\n{script}"));
}

/// The first search in UCI, up to its `go`.
const FIRST: &str = "
    ! search startpos | depth 5
    > isready
    < readyok
    > position startpos
    > go depth 5
    = started 1
";

#[test]
fn sends_isready_before_the_first_search() {
    check_uci(&[], FIRST);
}

#[test]
fn sends_isready_between_searches_in_uci() {
    check_uci(
        &[],
        &format!(
            "{FIRST}
            < bestmove e2e4
            = 1 bestmove e2e4
            ! search startpos moves e2e4 e7e5 | depth 5
            > isready
            < readyok
            > position startpos moves e2e4 e7e5
            > go depth 5
            = started 2"
        ),
    );
}

#[test]
fn a_duplicate_bestmove_ends_no_other_search() {
    check_uci(
        &[],
        &format!(
            "{FIRST}
            < bestmove e2e4
            = 1 bestmove e2e4
            ! search startpos moves e2e4 | depth 5
            > isready
            < bestmove e2e4
            = violation BestMoveWithoutSearch
            < readyok
            > position startpos moves e2e4
            > go depth 5
            = started 2
            < bestmove e7e5
            = 2 bestmove e7e5"
        ),
    );
}

/// Three consecutive searches, the second of which is stopped.
#[test]
fn unsynchronized_searches_wait_only_after_stop() {
    check_uci(
        &[],
        &format!(
            "! join
            {FIRST}
            < bestmove e2e4
            = 1 bestmove e2e4
            ! search startpos moves e2e4 e7e5 | infinite
            > position startpos moves e2e4 e7e5
            > go infinite
            = started 2
            ! stop 2
            > stop
            < bestmove g1f3
            = 2 bestmove g1f3
            ! search startpos | depth 5
            > isready
            < readyok
            > position startpos
            > go depth 5
            = started 3"
        ),
    );
}

#[test]
fn a_duplicate_answer_enables_synchronization() {
    check_uci(
        &[],
        &format!(
            "! join
            {FIRST}
            < bestmove e2e4
            = 1 bestmove e2e4
            < bestmove e2e4
            = violation BestMoveWithoutSearch
            ! search startpos | depth 5
            > position startpos
            > go depth 5
            = started 2
            < bestmove e2e4
            = 2 bestmove e2e4
            ! search startpos | depth 5
            > isready"
        ),
    );
}

#[test]
fn lines_before_a_manual_start_do_not_answer_the_search() {
    check_usi(
        &[],
        "! hold
         ! search startpos | depth 5
         > setoption name USI_Hash value 32
         > setoption name USI_Ponder value false
         > isready
         < readyok
         ! start
         > position startpos
         > go depth 5
         = started 1
         < bestmove 7g7f
         = 1 bestmove 7g7f
         ! search startpos | depth 5
         < bestmove 2g2f
         = violation BestMoveWithoutSearch
         ! start
         ! wait 5
         ! start
         > position startpos
         > go depth 5
         = started 2",
    );
}

#[test]
fn a_newer_search_stops_the_running_one_and_replaces_the_pending_one() {
    check_uci(
        &[],
        &format!(
            "{FIRST}
            ! search startpos moves d2d4 | infinite
            > stop
            ! search startpos moves c2c4 | infinite
            = 2 dropped: Superseded
            < info depth 3
            = 1 info depth 3
            < bestmove e2e4
            = 1 bestmove e2e4
            > isready
            < readyok
            > position startpos moves c2c4
            > go infinite
            = started 3"
        ),
    );
}

#[test]
fn a_cancelled_search_never_starts() {
    check_uci(
        &[],
        "! search startpos | infinite\n> isready\n! stop 1\n= 1 dropped: Cancelled\n< readyok",
    );
}

#[test]
fn stop_is_sent_once() {
    check_uci(
        &[],
        &format!("{FIRST}! stop 1\n> stop\n! stop 1\n< bestmove a2a3\n= 1 bestmove a2a3\n! stop 1"),
    );
}

#[test]
fn options_wait_for_the_end_of_the_search() {
    check_uci(
        &["Hash type spin default 16 min 1 max 1024"],
        &format!(
            "{FIRST}
            ! set hash=64
            < bestmove e2e4
            = 1 bestmove e2e4
            > setoption name Hash value 64"
        ),
    );
}

#[test]
fn threads_are_set_before_the_hash() {
    check_uci(
        &["Hash type spin default 16 min 1 max 1024", "Threads type spin default 1 min 1 max 8"],
        &format!(
            "{FIRST}
            ! set Hash=64
            ! set Threads=4
            < bestmove e2e4
            = 1 bestmove e2e4
            > setoption name Threads value 4
            > setoption name Hash value 64"
        ),
    );
}

#[test]
fn wrong_values_are_rejected_before_they_are_sent() {
    check_uci(
        &["Hash type spin default 16 min 1 max 1024", "Ponder type check default false"],
        "! set Hash=0
         = usage error: option `Hash` cannot be 0, at least 1, at most 1024
         ! set Hash=64\r
         > setoption name Hash value 64
         ! set NoSuch=1
         = usage error: the engine has no option `NoSuch`
         ! set Ponder=true
         = usage error: option `Ponder` is managed by the session",
    );
}

#[test]
fn a_button_is_pressed_each_time() {
    check_uci(
        &["Clear Hash type button"],
        "! set Clear Hash\n> setoption name Clear Hash\n! set Clear Hash\n> setoption name Clear Hash",
    );
}

#[test]
fn options_of_one_search_are_reset() {
    check_uci(
        &["Contempt type spin default 0 min 0 max 99"],
        "! with Contempt=50 startpos | depth 1
         > setoption name Contempt value 50
         > isready
         < readyok
         > position startpos
         > go depth 1
         = started 1
         < bestmove e2e4
         = 1 bestmove e2e4
         ! search startpos | depth 1
         > setoption name Contempt value 0
         > isready
         < readyok
         > position startpos
         > go depth 1
         = started 2",
    );
}

#[test]
fn multipv_and_analyse_mode_depend_on_the_search() {
    check_uci(
        &["MultiPV type spin default 1 min 1 max 3", "UCI_AnalyseMode type check default false"],
        "! lines 9 startpos | depth 1
         > setoption name MultiPV value 3
         > isready
         < readyok
         > position startpos
         > go depth 1
         = started 1
         < bestmove e2e4
         = 1 bestmove e2e4
         ! analyse startpos | infinite
         > setoption name MultiPV value 1
         > setoption name UCI_AnalyseMode value true
         > isready
         < readyok
         > position startpos
         > go infinite
         = started 2",
    );
}

#[test]
fn a_chess960_game_sends_its_option_and_opponent() {
    check_uci(
        &["UCI_Chess960 type check default false", "UCI_Opponent type string"],
        "! newgame GM 2800 human Garry
         ! search startpos | depth 1
         > ucinewgame
         > setoption name UCI_Opponent value GM 2800 human Garry
         > isready
         < readyok
         > position startpos
         > go depth 1
         = started 1
         < bestmove e2e4
         = 1 bestmove e2e4
         ! newgame 960
         ! search startpos | depth 1
         > setoption name UCI_Chess960 value true
         > ucinewgame
         > setoption name UCI_Opponent value <empty>
         > isready
         < readyok
         > position startpos
         > go depth 1
         = started 2",
    );
}

#[test]
fn a_game_without_an_opponent_resets_the_option() {
    for (declared, restored) in
        [("type string", "<empty>"), ("type string default none none human", "none none human")]
    {
        let script = format!(
            "! newgame GM 2800 human Garry
             ! search startpos | depth 1
             > ucinewgame
             > setoption name UCI_Opponent value GM 2800 human Garry
             > isready
             < readyok
             > position startpos
             > go depth 1
             = started 1
             < bestmove e2e4
             = 1 bestmove e2e4
             ! newgame
             ! search startpos | depth 1
             > ucinewgame
             > setoption name UCI_Opponent value {restored}
             > isready
             < readyok
             > position startpos
             > go depth 1
             = started 2
             < bestmove e2e4
             = 2 bestmove e2e4
             ! newgame
             ! search startpos | depth 1
             > ucinewgame
             > isready"
        );
        check_uci(&[&format!("UCI_Opponent {declared}")], &script);
    }
}

#[test]
fn an_unset_opponent_is_not_reset() {
    check_uci(
        &["UCI_Opponent type string"],
        "! newgame
         ! search startpos | depth 1
         > ucinewgame
         > isready",
    );
}

#[test]
fn a_shogi_game_starts_with_isready_and_undeclared_options() {
    check_usi(
        &["MultiPV type spin default 1 min 1 max 9"],
        "! newgame
         ! search startpos | btime 0 wtime 0 byoyomi 10000
         > setoption name USI_Hash value 32
         > setoption name USI_Ponder value false
         > isready
         < readyok
         > usinewgame
         > position startpos
         > go btime 0 wtime 0 byoyomi 10000
         = started 1
         < bestmove 7g7f
         = 1 bestmove 7g7f
         ! search startpos moves 7g7f 3c3d | btime 0 wtime 0 byoyomi 10000
         ! wait 5
         > position startpos moves 7g7f 3c3d
         > go btime 0 wtime 0 byoyomi 10000
         = started 2
         ! gameover
         > stop
         > gameover win
         < bestmove resign
         = 2 dropped: GameOver
         ! newgame
         ! search startpos | btime 0 wtime 0 byoyomi 10000
         > isready
         < readyok
         > usinewgame
         > position startpos
         > go btime 0 wtime 0 byoyomi 10000
         = started 3",
    );
}

#[test]
fn a_ponder_hit_turns_the_search_into_a_normal_one() {
    check_uci(
        &["Ponder type check default false"],
        "! search startpos moves e2e4 e7e5 | ponder wtime 1000 btime 1000
         > setoption name Ponder value true
         > isready
         < readyok
         > position startpos moves e2e4 e7e5
         > go ponder wtime 1000 btime 1000
         = started 1
         ! wait 60000
         ! ponderhit 1
         > ponderhit
         < bestmove g1f3
         = 1 bestmove g1f3
         ! ponderhit 1
         = usage error: no search with this id is pondering",
    );
}

#[test]
fn a_ponder_miss_is_a_stop() {
    check_uci(
        &[],
        "! search startpos moves e2e4 e7e5 | ponder wtime 1000 btime 1000
         > isready
         < readyok
         > position startpos moves e2e4 e7e5
         > go ponder wtime 1000 btime 1000
         = started 1
         ! search startpos moves e2e4 c7c5 | wtime 1000 btime 1000
         > stop
         < bestmove g1f3 ponder b8c6
         = 1 bestmove g1f3 ponder b8c6
         > isready
         < readyok
         > position startpos moves e2e4 c7c5
         > go wtime 1000 btime 1000
         = started 2",
    );
}

#[test]
fn an_early_bestmove_in_ponder_ends_the_search() {
    check_uci(
        &[],
        "! search startpos moves e2e4 e7e5 | ponder wtime 1000 btime 1000
         > isready
         < readyok
         > position startpos moves e2e4 e7e5
         > go ponder wtime 1000 btime 1000
         = started 1
         < bestmove g1f3
         = violation BestMoveTooEarly
         = 1 bestmove g1f3
         ! ponderhit 1
         = usage error: no search with this id is pondering",
    );
}

#[test]
fn a_mate_search_in_usi_ends_with_checkmate_or_bestmove() {
    for (answer, event) in [
        ("checkmate G*5b", "1 checkmate G*5b"),
        ("checkmate nomate", "1 checkmate nomate"),
        ("bestmove G*5b", "1 bestmove G*5b"),
    ] {
        check_usi(
            &["USI_Hash type spin default 16 min 1 max 99", "USI_Ponder type check default false"],
            &format!(
                "! search sfen 4k4/9/4G4/9/9/9/9/9/4K4 b G 1 | mate 5000
                 > setoption name USI_Ponder value false
                 > setoption name USI_Hash value 16
                 > isready
                 < readyok
                 > position sfen 4k4/9/4G4/9/9/9/9/9/4K4 b G 1
                 > go mate 5000
                 = started 1
                 < {answer}
                 = {event}"
            ),
        );
    }
}

#[test]
fn requests_that_engines_misread_are_rejected() {
    check_uci(
        &[],
        "! reject startpos |
         = usage error: the search has no limit
         ! reject startpos | searchmoves depth 5
         = usage error: `searchmoves` is empty
         ! reject sfen 4k4/9/4G4/9/9/9/9/9/4K4 b G 1 | depth 5
         = usage error: the position is in the notation of another game",
    );
}

#[test]
fn clocks_are_at_least_one_millisecond_in_uci_and_searchmoves_come_last() {
    check_uci(
        &[],
        "! search startpos | searchmoves e2e4 d2d4 wtime -5 btime 0 winc -1 binc 0 movestogo 0
         > isready
         < readyok
         > position startpos
         > go wtime 1 btime 1 winc 0 binc 0 searchmoves e2e4 d2d4
         = started 1",
    );
}

#[test]
fn a_registration_error_is_answered_once() {
    check_uci(
        &[],
        "< registration checking
         = registration(checking)
         < registration error
         = registration(error)
         > register later
         < registration error
         = registration(error)",
    );
}

#[test]
fn a_registration_is_stored_until_the_engine_requires_it() {
    check_uci(
        &[],
        "! register Stefan MK
         < registration error
         = registration(error)
         > register name Stefan MK
         < registration checking
         = registration(checking)
         < registration ok
         = registration(ok)",
    );
}

#[test]
fn another_registration_waits_for_the_end_of_the_search() {
    check_uci(
        &[],
        &format!(
            "< registration error
            = registration(error)
            > register later
            {FIRST}
            ! register Stefan MK
            < bestmove e2e4
            = 1 bestmove e2e4
            > register name Stefan MK"
        ),
    );
}

#[test]
fn a_registration_during_the_error_event_is_sent_once() {
    check_uci(
        &[],
        &format!(
            "{FIRST}
            < registration error
            = registration(error)
            ! register Stefan MK
            < bestmove e2e4
            = 1 bestmove e2e4
            > register name Stefan MK
            < registration ok
            = registration(ok)"
        ),
    );
}

#[test]
fn names_of_options_may_contain_the_token_value() {
    let options = [
        "King Safety Max Value type spin default 1 min 0 max 999",
        "draw value type spin default 1 min 0 max 9",
        "a value b type string default x",
        "Reset Value type button",
    ];
    check_uci(
        &options,
        "! set King Safety Max Value=400
         > setoption name King Safety Max Value value 400
         ! set draw value=3
         > setoption name draw value value 3
         ! set a value b=
         > setoption name a value b value <empty>
         ! set Reset Value
         > setoption name Reset Value",
    );
}

#[test]
fn an_empty_text_has_the_notation_of_the_declaration() {
    let set = |name: &str, value: &str| {
        let other = if name == "Style" { "Solid" } else { "y" };
        format!(
            "! set {name}={other}\n> setoption name {name} value {other}\n\
             ! set {name}=\n> setoption name {name} value{value}\n"
        )
    };
    let keyword = " <empty>";
    let blank = ["Log type string default␣", "Other type string default x"];
    check_uci(&blank, &(set("Log", "␣") + &set("Other", "␣")));
    check_uci(&["Log type filename default"], &set("Log", "␣"));
    check_uci(&["Log value type string default"], &set("Log value", ""));
    check_uci(&["Log type string default <empty>"], &set("Log", keyword));
    check_uci(&["Log type string default x"], &set("Log", keyword));
    check_uci(&["Log type string"], &set("Log", keyword));
    check_usi(&["Log type filename default␣"], &set("Log", "␣"));
    // If the engine uses both notations, an option of unknown notation has that of UCI.
    let mixed = ["A type string default", "B type string default <empty>", "C type string"];
    check_uci(&mixed, &(set("A", "␣") + &set("B", keyword) + &set("C", keyword)));
    let choice =
        ["A type string default", "Style type combo default x var x var Solid var <empty>"];
    check_uci(&choice, &set("Style", keyword));
}

#[test]
fn a_text_of_one_search_is_reset_to_a_blank_default() {
    check_uci(
        &["LogFile type string default␣"],
        "! with LogFile=one.log startpos | depth 1
         > setoption name LogFile value one.log
         > isready
         < readyok
         > position startpos
         > go depth 1
         = started 1
         < bestmove e2e4
         = 1 bestmove e2e4
         ! search startpos | depth 1
         > setoption name LogFile value␣
         > isready
         < readyok
         > position startpos
         > go depth 1
         = started 2",
    );
}

#[test]
fn an_ambiguous_option_name_is_rejected() {
    let options = [
        "draw type string default x",
        "draw value type spin default 1 min 0 max 9",
        "reset value type button",
        "Max Value Reset type button",
    ];
    check_uci(
        &options,
        "! set draw value=3
         = usage error: name of an option contains the keyword `value`
         ! set reset value
         = usage error: name of an option contains the keyword `value`
         ! set Max Value Reset
         = usage error: name of an option would be read differently
         ! set draw=value 3
         > setoption name draw value value 3",
    );
}

#[test]
fn a_copy_protected_engine_accepts_no_searches() {
    check_uci(
        &[],
        "! search startpos | depth 1
         > isready
         < copyprotection error
         = copyprotection(error)
         = 1 dropped: CopyProtected
         < readyok
         ! reject startpos | depth 1
         = usage error: the engine reported a copy protection error",
    );
}

#[test]
fn a_silent_engine_exceeds_the_handshake_timeout() {
    check_client(Dialect::Uci, "> uci\n! wait 9999\n! wait 1\n= timeout Handshake\n! wait 99999");
}

#[test]
fn output_extends_the_ready_timeout_but_not_the_stop_timeout() {
    check_uci(
        &[],
        "! ping
         > isready
         ! wait 59000
         < info string loading
         = info string loading
         ! wait 59000
         < 
         ! wait 59999
         ! wait 1
         = timeout Ready",
    );
    check_uci(
        &[],
        &format!(
            "{FIRST}! stop 1\n> stop\n! wait 9000\n< info depth 6\n= 1 info depth 6\n! wait 1000\n= timeout Stop"
        ),
    );
}

#[test]
fn a_search_that_overruns_its_clock_is_stopped() {
    check_uci(
        &[],
        "! search startpos | wtime 1000 btime 5000
         > isready
         < readyok
         > position startpos
         > go wtime 1000 btime 5000
         = started 1
         ! wait 2999
         ! wait 1
         = 1 overrun
         > stop
         < bestmove e2e4
         = 1 bestmove e2e4",
    );
}

#[test]
fn an_infinite_search_may_be_silent_forever() {
    check_uci(
        &[],
        "! search startpos | infinite
         > isready
         < readyok
         > position startpos
         > go infinite
         = started 1
         ! wait 999999999",
    );
}

#[test]
fn a_disconnect_drops_every_search() {
    check_uci(
        &[],
        &format!(
            "{FIRST}
            ! search startpos | depth 9
            > stop
            ! eof
            = 2 dropped: Disconnected
            = 1 dropped: Disconnected
            = disconnected
            ! reject startpos | depth 1
            = usage error: the engine is not running"
        ),
    );
}

#[test]
fn quit_stops_the_search_and_waits_for_the_exit() {
    check_uci(
        &[],
        &format!(
            "{FIRST}
            ! quit
            > stop
            > quit
            = 1 dropped: Disconnected
            < bestmove e2e4
            ! wait 5000
            = timeout Exit"
        ),
    );
}

#[test]
fn isready_is_answered_during_a_search() {
    check_uci(
        &[],
        &format!(
            "{FIRST}! ping\n> isready\n< readyok\n= ready\n< bestmove a2a3\n= 1 bestmove a2a3"
        ),
    );
}

#[test]
fn options_sent_during_a_ping_require_another_one() {
    check_uci(
        &["Hash type spin default 16 min 1 max 99"],
        "! ping
         > isready
         ! set Hash=32
         > setoption name Hash value 32
         ! search startpos | depth 1
         < readyok
         = ready
         > isready
         < readyok
         > position startpos
         > go depth 1
         = started 1",
    );
}

#[test]
fn unknown_and_unexpected_messages_are_ignored() {
    check_uci(
        &[],
        "< Stockfish 15 by the developers
         = unknown line Stockfish 15 by the developers
         < readyok
         = violation ReadyOkWithoutIsReady
         < bestmove e2e4
         = violation BestMoveWithoutSearch
         < info depth 3 score cp 1
         = violation InfoWithoutSearch
         < uciok
         = violation UciOkWithoutUci",
    );
}

#[test]
fn declared_options_are_found_in_any_spelling() {
    let mut run = Run::new(Dialect::Usi);
    for line in ["id name A", "option name USI_Hash type spin default 16 min 1 max 64", "usiok"] {
        run.session.receive_line(line, run.now, &mut run.out);
    }
    assert!(run.session.options().find("hash").is_some());
    assert_eq!(run.session.identity().name, "A");
}

#[test]
fn the_hash_is_set_again_after_other_threads() {
    check_uci(
        &["Hash type spin default 16 min 1 max 1024", "Threads type spin default 1 min 1 max 8"],
        "! set Hash=64
         > setoption name Hash value 64
         ! set Threads=4
         > setoption name Threads value 4
         > setoption name Hash value 64
         ! set Threads=4",
    );
}

#[test]
fn the_hash_is_reset_to_its_default_after_other_threads() {
    check_uci(
        &["Hash type spin default 16 min 1 max 1024", "Threads type spin default 1 min 1 max 8"],
        &format!(
            "! set Hash=64
            > setoption name Hash value 64
            {FIRST}
            ! set Hash=16
            ! set Threads=4
            < bestmove e2e4
            = 1 bestmove e2e4
            > setoption name Threads value 4
            > setoption name Hash value 16"
        ),
    );
}

#[test]
fn a_missing_readyok_does_not_block_searches() {
    check_uci(
        &[],
        &format!(
            "{FIRST}
            ! ping
            > isready
            < bestmove e2e4
            = 1 bestmove e2e4
            ! search startpos | depth 6
            ! wait 59999
            ! wait 1
            = timeout Ready
            > isready
            < readyok
            > position startpos
            > go depth 6
            = started 2"
        ),
    );
}

#[test]
fn each_timeout_is_reported_separately() {
    check_uci(
        &[],
        "! search startpos | infinite
         > isready
         < readyok
         > position startpos
         > go infinite
         = started 1
         ! ping
         > isready
         ! wait 60000
         = timeout Ready
         ! stop 1
         > stop
         ! wait 10000
         = timeout Stop
         < bestmove e2e4
         = 1 bestmove e2e4
         ! search startpos | infinite
         > isready
         < readyok
         > position startpos
         > go infinite
         = started 2
         ! stop 2
         > stop
         ! wait 10000
         = timeout Stop
         ! ping
         > isready
         ! wait 60000
         = timeout Ready",
    );
}

#[test]
fn a_duplicate_answer_of_a_shogi_engine_enables_isready() {
    check_usi(
        &["USI_Hash type spin default 1 min 1 max 9", "USI_Ponder type check default false"],
        "! search startpos | btime 0 wtime 0 byoyomi 1000
         > setoption name USI_Ponder value false
         > setoption name USI_Hash value 1
         > isready
         < readyok
         > position startpos
         > go btime 0 wtime 0 byoyomi 1000
         = started 1
         < bestmove 7g7f
         = 1 bestmove 7g7f
         < bestmove 7g7f
         = violation BestMoveWithoutSearch
         ! search startpos moves 7g7f 3c3d | btime 0 wtime 0 byoyomi 1000
         ! wait 5
         > position startpos moves 7g7f 3c3d
         > go btime 0 wtime 0 byoyomi 1000
         = started 2
         < bestmove 2g2f
         = 2 bestmove 2g2f
         ! search startpos | btime 0 wtime 0 byoyomi 1000
         > isready
         < bestmove 2g2f
         = violation BestMoveWithoutSearch
         < readyok
         > position startpos
         > go btime 0 wtime 0 byoyomi 1000
         = started 3",
    );
}

/// Two searches of a shogi game with a duplicate answer to the first during the second.
const REPEATED: &str = "! search startpos moves 7g7f | btime 0 wtime 0 byoyomi 1000
         > setoption name USI_Hash value 32
         > setoption name USI_Ponder value false
         > isready
         < readyok
         > position startpos moves 7g7f
         > go btime 0 wtime 0 byoyomi 1000
         = started 1
         < bestmove 3c3d
         = 1 bestmove 3c3d
         ! search startpos moves 7g7f 3c3d 2g2f | btime 0 wtime 0 byoyomi 1000
         ! wait 5
         > position startpos moves 7g7f 3c3d 2g2f
         > go btime 0 wtime 0 byoyomi 1000
         = started 2";

#[test]
fn a_move_that_was_just_played_is_not_an_answer() {
    check_usi(
        &[],
        &format!(
            "{REPEATED}
             < bestmove 3c3d
             = violation BestMoveWithoutSearch
             < bestmove 8c8d
             = 2 bestmove 8c8d
             ! search startpos | btime 0 wtime 0 byoyomi 1000
             > isready"
        ),
    );
}

#[test]
fn a_repeated_impossible_move_is_the_answer() {
    check_usi(
        &[],
        &format!(
            "{REPEATED}
             < bestmove 3c3d
             = violation BestMoveWithoutSearch
             < bestmove 3c3d
             = 2 bestmove 3c3d"
        ),
    );
}

#[test]
fn an_answer_after_info_is_accepted() {
    check_usi(
        &[],
        &format!(
            "{REPEATED}
             < info string thinking
             = 2 info string thinking
             < info depth 1
             = 2 info depth 1
             < bestmove 3c3d
             = 2 bestmove 3c3d"
        ),
    );
}

/// A king that castles by the move to its rook may stay on its square and move there next.
#[test]
fn a_move_may_be_made_again_after_castling_in_chess960() {
    check_uci(
        &["UCI_Chess960 type check default false"],
        "! join
         ! newgame 960
         ! search startpos | depth 5
         > setoption name UCI_Chess960 value true
         > ucinewgame
         > isready
         < readyok
         > position startpos
         > go depth 5
         = started 1
         < bestmove g1h1
         = 1 bestmove g1h1
         ! search startpos moves g1h1 a7a6 | depth 5
         > position startpos moves g1h1 a7a6
         > go depth 5
         = started 2
         < bestmove g1h1
         = 2 bestmove g1h1",
    );
}

#[test]
fn options_between_shogi_searches_send_no_isready() {
    check_usi(
        &[
            "USI_Hash type spin default 1 min 1 max 9",
            "USI_Ponder type check default false",
            "MultiPV type spin default 1 min 1 max 9",
        ],
        "! search startpos | infinite
         > setoption name USI_Ponder value false
         > setoption name USI_Hash value 1
         > isready
         < readyok
         > position startpos
         > go infinite
         = started 1
         < bestmove 7g7f
         = violation BestMoveTooEarly
         = 1 bestmove 7g7f
         ! lines 3 startpos | infinite
         > setoption name MultiPV value 3
         ! wait 5
         > position startpos
         > go infinite
         = started 2",
    );
}

#[test]
fn usi_ponder_is_sent_to_an_engine_that_does_not_declare_it() {
    check_usi(
        &["USI_Hash type spin default 1 min 1 max 9"],
        "! search startpos | byoyomi 1000 btime 0 wtime 0
         > setoption name USI_Hash value 1
         > setoption name USI_Ponder value false
         > isready
         < readyok
         > position startpos
         > go btime 0 wtime 0 byoyomi 1000
         = started 1
         < bestmove 7g7f ponder 3c3d
         = 1 bestmove 7g7f ponder 3c3d
         ! search startpos moves 7g7f 3c3d | ponder
         > setoption name USI_Ponder value true
         ! wait 5
         > position startpos moves 7g7f 3c3d
         > go ponder
         = started 2
         ! ponderhit 2
         = usage error: the search has no limit
         ! ponderhit 2 btime 500 wtime 400
         > ponderhit btime 500 wtime 400 byoyomi 0",
    );
}

#[test]
fn the_clock_of_a_ponder_search_starts_at_the_hit() {
    check_uci(
        &[],
        "! search startpos moves e2e4 e7e5 | ponder movetime 1000
         > isready
         < readyok
         > position startpos moves e2e4 e7e5
         > go ponder movetime 1000
         = started 1
         ! wait 100000
         ! ponderhit 1 wtime -5 btime 0
         > ponderhit
         ! wait 2000
         ! wait 1
         = 1 overrun
         > stop",
    );
}

#[test]
fn an_unsupported_game_is_rejected() {
    check_uci(
        &[],
        "! newgame 960
         = usage error: the engine has no option `UCI_Chess960`
         ! newgame GM 2800 human Garry",
    );
    check_uci(
        &["UCI_Opponent type string"],
        "! newgame \u{b}GM 2800
         = usage error: value of an option is empty or has white space at its start or end",
    );
}

#[test]
fn a_late_declaration_changes_nothing() {
    check_uci(
        &["Hash type spin default 16 min 1 max 1024"],
        "< option name Hash type button
         = violation LateDeclaration
         ! set Hash=64
         > setoption name Hash value 64",
    );
}

#[test]
fn perft_and_invalid_moves_are_rejected() {
    check_uci(
        &[],
        "! reject startpos | perft 3
         = usage error: the output of `go perft` has no defined end
         ! reject startpos moves e2e4 rep_draw | depth 5
         = usage error: `rep_draw` is not a move
         ! reject startpos | depth 5 searchmoves 7g7f
         = usage error: `7g7f` is not a move",
    );
}

#[test]
fn limits_are_at_least_one() {
    check_uci(
        &[],
        "! search startpos | depth 0 nodes 0 mate 0 movetime 0
         > isready
         < readyok
         > position startpos
         > go depth 1 nodes 1 mate 1 movetime 1
         = started 1",
    );
}

#[test]
fn any_duration_can_limit_a_search() {
    for (time, millis) in [
        (Duration::ZERO, "1"),
        (Duration::from_nanos(1), "1"),
        (Duration::MAX, "9223372036854775807"),
    ] {
        let (start, mut out) = (Duration::ZERO, String::new());
        let mut session = ClientSession::start(Dialect::Usi, Timeouts::default(), start, &mut out);
        session.receive_line("usiok", start, &mut out);
        let mate = Some(MateLimit::Time(time));
        let go = Go { mate, random_time: Some(time), ..Go::move_time(time) };
        session.search(SearchRequest { go, ..SearchRequest::default() }, start, &mut out).unwrap();
        session.receive_line("readyok", start, &mut out);
        let line = format!("go mate {millis} movetime {millis} rtime {millis}");
        assert!(out.lines().any(|it| it == line), "{out}");
        assert!(session.poll_timeout().is_some());
    }
}

#[test]
fn output_extends_a_search_without_a_time_limit() {
    check_uci(
        &[],
        &format!(
            "{FIRST}
            ! wait 599999
            < info depth 3
            = 1 info depth 3
            ! wait 599999
            ! wait 1
            = 1 overrun
            > stop"
        ),
    );
}

#[test]
fn a_mate_search_may_be_silent_forever() {
    check_usi(
        &["USI_Hash type spin default 1 min 1 max 9", "USI_Ponder type check default false"],
        "! search startpos | mate infinite
         > setoption name USI_Ponder value false
         > setoption name USI_Hash value 1
         > isready
         < readyok
         > position startpos
         > go mate infinite
         = started 1
         ! wait 999999999",
    );
}

#[test]
fn a_search_of_a_finished_game_reports_nothing() {
    check_uci(
        &[],
        &format!(
            "{FIRST}! gameover\n> stop\n< info depth 3\n< bestmove e2e4\n= 1 dropped: GameOver"
        ),
    );
}

#[test]
fn a_button_is_pressed_for_each_search_that_requests_it() {
    let search = |number: u32| {
        format!(
            "! press Clear Hash startpos | depth 1
             > setoption name Clear Hash
             > isready
             < readyok
             > position startpos
             > go depth 1
             = started {number}
             < bestmove e2e4
             = {number} bestmove e2e4\n"
        )
    };
    check_uci(&["Clear Hash type button"], &format!("{}{}", search(1), search(2)));
}

#[test]
fn the_end_of_the_output_is_reported_once() {
    check_uci(&[], "! ping\n> isready\n! eof\n= disconnected\n! eof\n! wait 999999");
}

/// A shogi engine that has answered, and the next search.
const ANSWERED: &str = "! search startpos | depth 5
         > setoption name USI_Hash value 32
         > setoption name USI_Ponder value false
         > isready
         < readyok
         > position startpos
         > go depth 5
         = started 1
         < bestmove 7g7f
         = 1 bestmove 7g7f
         ! search startpos moves 2g2f | depth 5";

#[test]
fn a_duplicate_answer_of_a_shogi_engine_arrives_between_searches() {
    check_usi(
        &[],
        &format!(
            "{ANSWERED}
         ! wait 4
         < bestmove 2g2f
         = violation BestMoveWithoutSearch
         ! wait 1
         > position startpos moves 2g2f
         > go depth 5
         = started 2
         < bestmove 8c8d
         = 2 bestmove 8c8d"
        ),
    );
}

#[test]
fn unsynchronized_shogi_searches_do_not_wait() {
    check_usi(
        &[],
        &format!(
            "! join
         {ANSWERED}
         > position startpos moves 2g2f
         > go depth 5
         = started 2"
        ),
    );
}

/// Passes lines to a session that has sent `uci`.
fn session_after(lines: &[&str]) -> ClientSession {
    let mut out = String::new();
    let mut session =
        ClientSession::start(Dialect::Uci, Timeouts::default(), Duration::ZERO, &mut out);
    for line in lines {
        session.receive_line(line, Duration::ZERO, &mut out);
    }
    session
}

#[test]
fn a_status_is_explained_by_the_text_next_to_it() {
    let message = |lines: &[&str]| session_after(lines).status_message().map(str::to_owned);
    let reason = Some("no dongle".to_owned());
    let error = "copyprotection error";
    for lines in [
        ["uciok", "info string no dongle", error],
        ["uciok", "no dongle", error],
        ["uciok", error, "info string no dongle"],
        ["uciok", error, "no dongle"],
        ["uciok", "no dongle", "registration error"],
    ] {
        assert_eq!(message(&lines), reason, "{lines:?}");
    }
    let checked = ["uciok", "a text", "copyprotection checking", "no dongle", error, "more"];
    assert_eq!(message(&checked), reason);
    // Neither a banner nor the text before an earlier status explains this status.
    assert_eq!(message(&["Example 1.0", "uciok", error]), None);
    assert_eq!(message(&["uciok", "a text", "registration checking", "registration error"]), None);
    assert_eq!(message(&["uciok", "a text", "registration ok"]), None);
}

#[test]
fn the_latest_text_is_available_after_a_failure() {
    let last = |lines: &[&str]| session_after(lines).last_text().map(str::to_owned);
    assert_eq!(last(&["Error! no net"]), Some("Error! no net".to_owned()));
    assert_eq!(last(&["uciok", "info string no net"]), Some("no net".to_owned()));
    assert_eq!(last(&["banner", "uciok"]), None);
}

#[test]
fn the_duration_of_a_timeout_is_reported() {
    use readyok_protocol::session::client::TimeoutKind;

    let mut run = Run::new(Dialect::Uci);
    let start = run.now;
    run.session.receive_line("id name A", start + Duration::from_secs(4), &mut run.out);
    assert_eq!(run.session.timeout_of(TimeoutKind::Handshake), None);
    run.session.handle_timeout(start + Duration::from_secs(20), &mut run.out);
    assert_eq!(run.session.timeout_of(TimeoutKind::Handshake), Some(Duration::from_secs(14)));
    assert_eq!(run.session.timeout_of(TimeoutKind::Ready), None);
}
