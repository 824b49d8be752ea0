//! The server without I/O: logins, pairings and timeouts.

mod game;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use readyok_rules::record::{GameRecord, Tag};
use readyok_rules::{Game, GameOutcome, Position, Side, Termination};

use super::message::{Signal, Summary, TimeRules, is_valid_name};
use game::{Match, Phase, start_position};

/// Maximum time from the connection to the login.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum time for the agreement to a game.
const AGREE_TIMEOUT: Duration = Duration::from_mins(1);
/// Pause before the next game of a player, in which it can log out.
const NEXT_GAME: Duration = Duration::from_secs(2);
/// Maximum number of players.
const MAX_PLAYERS: usize = 256;
/// Maximum number of pairs of names whose colors are stored.
const MAX_PAIRS: usize = 4096;

/// Settings of the games.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) times: TimeRules,
    pub(super) max_moves: Option<u32>,
    /// Names with their passwords. Without it, any name is accepted.
    pub(super) users: Option<BTreeMap<String, String>>,
    /// The number of games.
    pub(super) games: Option<u64>,
}

/// An output of the server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Output {
    Send(u64, String),
    Close(u64),
    Log(String),
}

/// The players and games of a server.
#[derive(Debug)]
pub(super) struct Lobby {
    rules: Rules,
    players: BTreeMap<u64, Player>,
    games: BTreeMap<u64, Match>,
    /// Number of games that were paired, and of those that were played to an end.
    paired: u64,
    ended: u64,
    /// The first player of the last game between two names.
    firsts: BTreeMap<[String; 2], String>,
    output: Vec<Output>,
    finished: Vec<(String, GameRecord)>,
}

#[derive(Debug)]
struct Player {
    name: String,
    password: String,
    state: State,
}

#[derive(Debug)]
enum State {
    Connected { until: Instant },
    Waiting { since: Instant },
    Playing { game: u64, side: Side },
}

impl Lobby {
    pub(super) fn new(rules: Rules) -> Self {
        Self {
            rules,
            players: BTreeMap::new(),
            games: BTreeMap::new(),
            paired: 0,
            ended: 0,
            firsts: BTreeMap::new(),
            output: Vec::new(),
            finished: Vec::new(),
        }
    }

    pub(super) fn drain_output(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.output)
    }

    /// The games that have ended, with their identifiers.
    pub(super) fn drain_finished(&mut self) -> Vec<(String, GameRecord)> {
        std::mem::take(&mut self.finished)
    }

    pub(super) fn has_games(&self) -> bool {
        !self.games.is_empty()
    }

    pub(super) fn on_connected(&mut self, id: u64, at: Instant) {
        if self.players.len() >= MAX_PLAYERS {
            self.output.push(Output::Close(id));
            return;
        }
        let state = State::Connected { until: at + LOGIN_TIMEOUT };
        self.players.insert(id, Player { name: String::new(), password: String::new(), state });
    }

    pub(super) fn on_closed(&mut self, id: u64, at: Instant) {
        let Some(player) = self.players.remove(&id) else { return };
        if let State::Playing { game, side } = player.state {
            self.log(format!("{} has disconnected", player.name));
            match self.games.get(&game).map(|game| &game.phase) {
                // As shogi-server does: the player that is gone resigns.
                Some(Phase::Running { .. }) => {
                    let outcome = GameOutcome::lost(side, Termination::Forfeit);
                    self.finish(game, Some(Signal::Resign), outcome, None, at);
                }
                Some(Phase::Agreeing { .. }) => self.reject(game, side, at),
                None => (),
            }
        }
    }

    /// Handles a line of a player.
    pub(super) fn on_line(&mut self, id: u64, line: &str, at: Instant) {
        self.on_time(at);
        let Some(player) = self.players.get(&id) else { return };
        if line.is_empty() {
            // The reply to a keep-alive message.
            self.send(id, "\n");
            return;
        }
        match player.state {
            State::Connected { .. } => self.log_in(id, line, at),
            State::Waiting { .. } if line == "LOGOUT" => self.log_out(id),
            State::Waiting { .. } => (),
            State::Playing { game, side } => self.on_game_line(id, game, side, line, at),
        }
        self.pair(at);
    }

    /// The next moment for [`on_time`](Self::on_time).
    pub(super) fn deadline(&self) -> Option<Instant> {
        let logins = self.players.values().filter_map(|player| match player.state {
            State::Connected { until } => Some(until),
            State::Waiting { .. } | State::Playing { .. } => None,
        });
        let next_pair = self.waiting().get(1).map(|(since, _)| *since);
        let next_pair = next_pair.filter(|_| self.may_pair());
        logins.chain(next_pair).chain(self.games.values().map(Match::deadline)).min()
    }

    /// The players without a game, those that may start one first.
    fn waiting(&self) -> Vec<(Instant, u64)> {
        let waiting = self.players.iter().filter_map(|(id, player)| match player.state {
            State::Waiting { since } => Some((since, *id)),
            State::Connected { .. } | State::Playing { .. } => None,
        });
        let mut waiting: Vec<_> = waiting.collect();
        waiting.sort_unstable();
        waiting
    }

    fn may_pair(&self) -> bool {
        let begun = self.ended.saturating_add(u64::try_from(self.games.len()).unwrap_or(u64::MAX));
        self.rules.games.is_none_or(|games| begun < games)
    }

    /// Starts no more games.
    pub(super) fn stop(&mut self) {
        self.rules.games = Some(0);
    }

    /// Handles all deadlines that have passed.
    pub(super) fn on_time(&mut self, now: Instant) {
        let late: Vec<u64> = self
            .players
            .iter()
            .filter(
                |(_, client)| matches!(client.state, State::Connected { until } if until <= now),
            )
            .map(|(id, _)| *id)
            .collect();
        for id in late {
            self.players.remove(&id);
            self.output.push(Output::Close(id));
        }
        let due: Vec<u64> = self
            .games
            .iter()
            .filter(|(_, game)| game.deadline() <= now)
            .map(|(id, _)| *id)
            .collect();
        for id in due {
            let Some(game) = self.games.get(&id) else { continue };
            match game.phase {
                Phase::Agreeing { agreed, .. } => {
                    let side = if agreed == [true, false] { Side::Second } else { Side::First };
                    let silent = game.players.into_iter().zip(agreed).filter(|(_, agreed)| !agreed);
                    let silent: Vec<u64> = silent.map(|(player, _)| player).collect();
                    self.reject(id, side, now);
                    // Their connections may be dead.
                    for player in silent {
                        self.players.remove(&player);
                        self.output.push(Output::Close(player));
                    }
                }
                Phase::Running { .. } => {
                    let loser = game.position.turn();
                    let outcome = GameOutcome::lost(loser, Termination::TimeForfeit);
                    self.finish(id, Some(Signal::TimeUp), outcome, None, now);
                }
            }
        }
        self.pair(now);
    }

    fn send(&mut self, id: u64, text: impl Into<String>) {
        self.output.push(Output::Send(id, text.into()));
    }

    fn send_both(&mut self, players: [u64; 2], text: &str) {
        for player in players {
            self.send(player, text);
        }
    }

    fn log(&mut self, text: String) {
        self.output.push(Output::Log(text));
    }

    fn log_in(&mut self, id: u64, line: &str, at: Instant) {
        let mut tokens = line.split(' ');
        let request = (tokens.next(), tokens.next(), tokens.next());
        let (Some("LOGIN"), Some(name), Some(password)) = request else {
            self.players.remove(&id);
            self.output.push(Output::Close(id));
            return;
        };
        let is_known = self.rules.users.as_ref();
        let is_known =
            is_known.is_none_or(|users| users.get(name).is_some_and(|known| known == password));
        let named = self.players.iter().find(|(_, player)| player.name == name);
        let other = named.map(|(id, player)| (*id, player.password == password));
        if !is_known || !is_valid_name(name) || other.is_some_and(|(_, is_same)| !is_same) {
            self.send(id, "LOGIN:incorrect\n");
            self.players.remove(&id);
            self.output.push(Output::Close(id));
            return;
        }
        // The player has lost its connection.
        if let Some((other, _)) = other {
            self.on_closed(other, at);
            self.output.push(Output::Close(other));
        }
        let (name, password) = (name.to_owned(), password.to_owned());
        self.send(id, format!("LOGIN:{name} OK\n"));
        self.log(format!("{name} has logged in"));
        self.players.insert(id, Player { name, password, state: State::Waiting { since: at } });
    }

    fn log_out(&mut self, id: u64) {
        self.send(id, "LOGOUT:completed\n");
        self.output.push(Output::Close(id));
        self.players.remove(&id);
    }

    /// Starts games between waiting players.
    fn pair(&mut self, now: Instant) {
        loop {
            let waiting = self.waiting();
            let &[(_, first), (since, second), ..] = waiting.as_slice() else { return };
            if now < since || !self.may_pair() {
                return;
            }
            self.begin(first, second, now);
        }
    }

    fn begin(&mut self, first: u64, second: u64, now: Instant) {
        let name = |id| self.players.get(&id).map(|player| player.name.clone()).unwrap_or_default();
        let mut pair = [name(first), name(second)];
        pair.sort();
        // Colors alternate.
        let was_first = self.firsts.get(&pair).is_some_and(|before| *before == name(first));
        let players = if was_first { [second, first] } else { [first, second] };
        let names = players.map(name);
        let [first_name, second_name] = &names;
        if self.firsts.len() >= MAX_PAIRS {
            self.firsts.clear();
        }
        self.firsts.insert(pair, first_name.clone());
        self.paired += 1;
        let id = format!("readyok+{first_name}+{second_name}+{}", self.paired);
        let mut game_record = GameRecord::new(Position::start(Game::Shogi));
        game_record.set_player(Side::First, first_name.as_str());
        game_record.set_player(Side::Second, second_name.as_str());
        game_record.set_header(Tag::Event, id.as_str());
        let summary = Summary {
            id,
            names,
            your_side: Side::First,
            max_moves: self.rules.max_moves,
            times: [self.rules.times; 2],
            record: game_record,
        };
        self.log(format!("game {} begins", summary.id));
        for (player, side) in players.into_iter().zip(Side::BOTH) {
            self.send(player, summary.write(side, &start_position()));
            if let Some(player) = self.players.get_mut(&player) {
                player.state = State::Playing { game: self.paired, side };
            }
        }
        let game = Match {
            position: summary.record.start().clone(),
            remaining: summary.times.map(|times| times.total),
            summary,
            players,
            phase: Phase::Agreeing { agreed: [false; 2], until: now + AGREE_TIMEOUT },
        };
        self.games.insert(self.paired, game);
    }

    fn wait_again(&mut self, player: u64, at: Instant) {
        if let Some(player) = self.players.get_mut(&player) {
            player.state = State::Waiting { since: at + NEXT_GAME };
        }
    }
}

#[cfg(test)]
mod tests {
    use readyok_protocol::Score;
    use readyok_rules::GameResult;

    use super::super::connection::KeepAlive;
    use super::*;
    use crate::clock::now;

    struct Test {
        lobby: Lobby,
        now: Instant,
    }

    impl Test {
        fn new(times: TimeRules, max_moves: Option<u32>) -> Self {
            let lobby = Lobby::new(Rules { times, max_moves, users: None, games: None });
            let mut test = Self { lobby, now: now() };
            for (id, name) in [(1, "a"), (2, "b")] {
                test.lobby.on_connected(id, test.now);
                test.line(id, &format!("LOGIN {name} x"));
            }
            test
        }

        fn started(times: TimeRules, max_moves: Option<u32>) -> Self {
            let mut test = Self::new(times, max_moves);
            test.line(1, "AGREE");
            let output = test.line(2, "AGREE readyok+a+b+1");
            assert_eq!(output, "1 START:readyok+a+b+1\n2 START:readyok+a+b+1\n");
            test
        }

        fn line(&mut self, id: u64, line: &str) -> String {
            self.lobby.on_line(id, line, self.now);
            self.output()
        }

        fn after(&mut self, seconds: u64) -> String {
            self.now += Duration::from_secs(seconds);
            self.lobby.on_time(self.now);
            self.output()
        }

        fn output(&mut self) -> String {
            let mut text = String::new();
            for output in self.lobby.drain_output() {
                match output {
                    Output::Send(id, lines) => {
                        for line in lines.split_inclusive('\n') {
                            text += &[&id.to_string(), " ", line].concat();
                        }
                    }
                    Output::Close(id) => text += &[&id.to_string(), " closed\n"].concat(),
                    Output::Log(_) => (),
                }
            }
            text
        }

        fn finished(&mut self) -> (GameResult, Termination) {
            let finished = self.lobby.drain_finished();
            let (_, record) = finished.first().expect("a game");
            (record.result, record.termination().expect("an end"))
        }
    }

    fn seconds(total: u64, byoyomi: u64) -> TimeRules {
        TimeRules {
            total: Duration::from_secs(total),
            byoyomi: Duration::from_secs(byoyomi),
            ..TimeRules::default()
        }
    }

    #[test]
    fn plays_a_game_to_a_resignation() {
        let mut test = Test::started(seconds(60, 10), None);
        test.after(3);
        assert_eq!(test.line(1, "+7776FU,'* 30 -3334FU"), "1 +7776FU,T3\n2 +7776FU,T3\n");
        let end = "1 %TORYO,T0\n2 %TORYO,T0\n1 #RESIGN\n1 #WIN\n2 #RESIGN\n2 #LOSE\n";
        assert_eq!(test.line(2, "%TORYO"), end);
        let (_, record) = test.lobby.drain_finished().pop().expect("a game");
        let node = record.mainline().next().expect("a move");
        let notes = record.annotations(node.id());
        assert_eq!(notes.comments, ["-3334FU"]);
        assert_eq!(notes.evaluation.map(|evaluation| evaluation.score), Some(Score::Cp(30)));
        // The next game has other colors.
        let next = test.after(2);
        assert!(next.contains("1 Your_Turn:-\n"), "{next}");
        assert!(next.contains("2 Name+:b\n"), "{next}");
    }

    #[test]
    fn the_flag_falls_at_the_end_of_the_byoyomi() {
        let mut test = Test::started(seconds(5, 10), None);
        assert_eq!(test.after(14), "");
        assert_eq!(test.line(1, "+7776FU"), "1 +7776FU,T14\n2 +7776FU,T14\n");
        test.line(2, "-3334FU");
        assert_eq!(test.after(9), "");
        assert_eq!(test.after(1), "1 #TIME_UP\n1 #LOSE\n2 #TIME_UP\n2 #WIN\n");
        let lost = GameResult::Win(Side::Second);
        assert_eq!(test.finished(), (lost, Termination::TimeForfeit));
    }

    #[test]
    fn adds_the_increment_of_fischer_clocks() {
        let increment = Duration::from_secs(5);
        let mut test = Test::started(TimeRules { increment, ..seconds(10, 0) }, None);
        test.after(14);
        test.line(1, "+7776FU");
        test.line(2, "-3334FU");
        assert_eq!(test.after(5), "");
        test.line(1, "+2726FU");
        assert_eq!(test.after(19), "");
        assert!(test.after(1).contains("2 #TIME_UP\n2 #LOSE\n"));
    }

    #[test]
    fn illegal_moves_and_moves_out_of_turn_lose() {
        let mut test = Test::started(seconds(60, 0), None);
        assert!(test.line(1, "+7775FU").contains("1 #ILLEGAL_MOVE\n1 #LOSE\n"));
        let mut test = Test::started(seconds(60, 0), None);
        assert!(test.line(2, "-3334FU").contains("2 #ILLEGAL_ACTION\n2 #LOSE\n"));
        let mut test = Test::started(seconds(60, 0), None);
        assert!(test.line(1, "%KACHI").contains("1 #ILLEGAL_MOVE\n1 #LOSE\n"));
        assert_eq!(test.finished().1, Termination::FailedDeclaration);
    }

    #[test]
    fn repetition_and_the_move_limit_end_a_game() {
        let cycle = [(1, "+2838HI"), (2, "-8272HI"), (1, "+3828HI"), (2, "-7282HI")];
        let mut test = Test::started(seconds(60, 0), None);
        let mut last = String::new();
        for _ in 0..3 {
            for (id, mv) in cycle {
                last = test.line(id, mv);
            }
        }
        assert!(last.contains("1 #SENNICHITE\n1 #DRAW\n"), "{last}");
        let mut test = Test::started(seconds(60, 0), Some(2));
        test.line(1, "+2838HI");
        assert!(test.line(2, "-8272HI").contains("2 #MAX_MOVES\n2 #CENSORED\n"));
    }

    #[test]
    fn a_player_that_disconnects_loses() {
        let mut test = Test::started(seconds(60, 0), None);
        test.lobby.on_closed(1, test.now);
        assert!(test.output().contains("2 #RESIGN\n2 #WIN\n"));
        assert_eq!(test.finished(), (GameResult::Win(Side::Second), Termination::Forfeit));
    }

    #[test]
    fn a_game_without_agreement_does_not_start() {
        let mut test = Test::new(seconds(60, 0), None);
        test.line(1, "AGREE");
        let rejected = test.after(60);
        assert!(rejected.contains("1 REJECT:readyok+a+b+1 by b\n"), "{rejected}");
        assert!(rejected.contains("2 closed\n") && !rejected.contains("1 closed\n"), "{rejected}");
        let mut test = Test::new(seconds(60, 0), None);
        assert!(test.line(1, "REJECT").contains("2 REJECT:readyok+a+b+1 by a\n"));
    }

    /// Two players over twelve hours: games with long moves, then a logout and a login as the client does. Every player
    /// sends an empty line in the pauses and receives one.
    #[test]
    fn plays_games_for_hours() {
        const STEP: u64 = 10;
        let times = TimeRules { increment: Duration::from_secs(10), ..seconds(1800, 0) };
        let rules = Rules { times, max_moves: None, users: None, games: None };
        let mut test = Test { lobby: Lobby::new(rules), now: now() };
        let mut ids = [1, 2];
        let mut next_id = 3;
        let log_in = |test: &mut Test, id: u64, name: &str| {
            test.lobby.on_connected(id, test.now);
            test.line(id, &format!("LOGIN {name} x"));
            KeepAlive::new(test.now)
        };
        let mut keep_alive = [log_in(&mut test, 1, "a"), log_in(&mut test, 2, "b")];
        let (mut games, mut moves, mut clock) = (0, 0, 0);
        for _ in 0..12 * 3600 / STEP {
            let mut output = test.after(STEP);
            for (player, id) in ids.into_iter().enumerate() {
                let kept = &mut keep_alive[player];
                if kept.is_due(test.now).expect("the connection lives") {
                    output += &test.line(id, "");
                    kept.on_sent(test.now);
                }
            }
            let agreeing = |game: &Match| matches!(game.phase, Phase::Agreeing { .. });
            if test.lobby.games.values().any(agreeing) {
                for id in ids {
                    output += &test.line(id, "AGREE");
                }
                (moves, clock) = (0, 0);
            } else if test.lobby.has_games() {
                clock += STEP;
                // Each player moves its rook back and forth, after 200 seconds.
                if clock % 200 == 0 {
                    const MOVES: [&str; 4] = ["+2838HI", "-8272HI", "+3828HI", "-7282HI"];
                    let first = usize::from(
                        test.lobby.games.values().any(|game| game.players[0] == ids[1]),
                    );
                    let id = ids[(first + moves) % 2];
                    output += &test.line(id, if moves == 9 { "%TORYO" } else { MOVES[moves % 4] });
                    moves += 1;
                }
            }
            for (player, kept) in keep_alive.iter_mut().enumerate() {
                let prefix = format!("{} ", ids[player]);
                for line in output.lines().filter_map(|line| line.strip_prefix(&prefix)) {
                    kept.on_received(line, test.now);
                }
            }
            assert!(!output.contains("TIME_UP") && !output.contains("closed"), "{output}");
            if output.contains("#WIN") {
                games += 1;
                for (player, name) in ["a", "b"].into_iter().enumerate() {
                    test.line(ids[player], "LOGOUT");
                    ids[player] = next_id;
                    keep_alive[player] = log_in(&mut test, next_id, name);
                    next_id += 1;
                }
            }
        }
        assert_eq!((games, test.lobby.drain_finished().len()), (21, 21));
        assert_eq!((test.lobby.players.len(), test.lobby.firsts.len()), (2, 1));
    }

    #[test]
    fn a_silent_server_counts_as_lost() {
        let start = now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut kept = KeepAlive::new(start);
        assert!(!kept.is_due(after(39)).expect("it lives"));
        assert!(kept.is_due(after(40)).expect("it lives"));
        // A server without answers to empty lines.
        assert!(kept.is_due(after(10_000)).is_ok());
        kept.on_received("", after(40));
        assert!(kept.is_due(after(220)).is_ok());
        assert!(kept.is_due(after(221)).is_err());
    }

    #[test]
    fn checks_logins() {
        let users = BTreeMap::from([("a".to_owned(), "secret".to_owned())]);
        let rules =
            Rules { times: seconds(1, 0), max_moves: None, users: Some(users), games: None };
        let mut test = Test { lobby: Lobby::new(rules), now: now() };
        for (id, line) in
            [(1, "LOGIN a wrong"), (2, "LOGIN b x"), (3, "GET / HTTP/1.1"), (4, "LOGIN")]
        {
            test.lobby.on_connected(id, test.now);
            let output = test.line(id, line);
            assert!(output.ends_with(&format!("{id} closed\n")), "{output}");
        }
        test.lobby.on_connected(5, test.now);
        assert_eq!(test.line(5, "LOGIN a secret"), "5 LOGIN:a OK\n");
        test.lobby.on_connected(6, test.now);
        assert!(test.line(6, "LOGIN a other").contains("incorrect"));
        test.lobby.on_connected(7, test.now);
        assert_eq!(test.after(30), "7 closed\n");
        assert_eq!(test.line(5, ""), "5 \n");
        test.lobby.on_connected(8, test.now);
        assert_eq!(test.line(8, "LOGIN a secret"), "5 closed\n8 LOGIN:a OK\n");
        assert_eq!(test.line(8, "LOGOUT"), "8 LOGOUT:completed\n8 closed\n");
    }
}
