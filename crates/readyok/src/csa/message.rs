//! Messages of the protocol, and the summary that precedes a game.

use std::fmt::Write as _;
use std::time::Duration;

use readyok_rules::record::{self, Format, GameRecord};
use readyok_rules::{Game, Side};

/// Maximum length of a line, in bytes. A move with a comment of floodgate is the longest.
pub(super) const MAX_LINE: usize = 4096;
/// Maximum number of lines of a summary. A game that is continued has its moves in it.
const MAX_SUMMARY: usize = 4096;
/// Maximum length of names and game identifiers, in bytes.
const MAX_NAME: usize = 256;

/// A line from the server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Message {
    LoginAccepted,
    LoginRejected,
    LoggedOut,
    BeginSummary,
    Start(String),
    /// The game does not start; a player has rejected it.
    Reject(String),
    /// A move or a statement such as `%TORYO`, with its thinking time in time units.
    Action {
        text: String,
        elapsed: Option<u64>,
    },
    Signal(Signal),
    KeepAlive,
    Other,
}

/// A line that begins with `#`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Signal {
    Resign,
    TimeUp,
    IllegalMove,
    IllegalAction,
    Repetition,
    PerpetualCheck,
    Declaration,
    MaxMoves,
    /// The game was aborted. It ends the game, as the following ones do.
    Aborted,
    Win,
    Lose,
    Draw,
    /// Neither player wins or loses.
    Censored,
}

const SIGNALS: [(Signal, &str); 13] = [
    (Signal::Resign, "#RESIGN"),
    (Signal::TimeUp, "#TIME_UP"),
    (Signal::IllegalMove, "#ILLEGAL_MOVE"),
    (Signal::IllegalAction, "#ILLEGAL_ACTION"),
    (Signal::Repetition, "#SENNICHITE"),
    (Signal::PerpetualCheck, "#OUTE_SENNICHITE"),
    (Signal::Declaration, "#JISHOGI"),
    (Signal::MaxMoves, "#MAX_MOVES"),
    (Signal::Aborted, "#CHUDAN"),
    (Signal::Win, "#WIN"),
    (Signal::Lose, "#LOSE"),
    (Signal::Draw, "#DRAW"),
    (Signal::Censored, "#CENSORED"),
];

impl Signal {
    pub(super) fn text(self) -> &'static str {
        SIGNALS.iter().find(|(signal, _)| *signal == self).map_or("", |(_, text)| text)
    }

    /// Whether it states a result.
    pub(super) fn ends_game(self) -> bool {
        matches!(self, Self::Aborted | Self::Win | Self::Lose | Self::Draw | Self::Censored)
    }
}

impl Message {
    pub(super) fn read(line: &str) -> Self {
        let line = line.trim_end();
        if line.is_empty() {
            return Self::KeepAlive;
        }
        if let Some(login) = line.strip_prefix("LOGIN:") {
            return match login {
                // shogi-server writes `incorrect` for both.
                "incorrect" => Self::LoginRejected,
                _ if login.ends_with(" OK") => Self::LoginAccepted,
                _ => Self::LoginRejected,
            };
        }
        if let Some(id) = line.strip_prefix("START:") {
            return Self::Start(id.to_owned());
        }
        if let Some(text) = line.strip_prefix("REJECT:") {
            return Self::Reject(text.to_owned());
        }
        match line {
            "LOGOUT:completed" => return Self::LoggedOut,
            "BEGIN Game_Summary" => return Self::BeginSummary,
            _ => (),
        }
        if line.starts_with('#') {
            let signal = SIGNALS.iter().find(|(_, text)| *text == line);
            return signal.map_or(Self::Other, |(signal, _)| Self::Signal(*signal));
        }
        if line.starts_with(['+', '-', '%']) && !line.starts_with("%%") {
            let mut parts = line.split(',');
            let text = parts.next().unwrap_or_default().to_owned();
            let elapsed = parts.next().and_then(|time| time.strip_prefix('T')?.parse().ok());
            return Self::Action { text, elapsed };
        }
        Self::Other
    }
}

/// The time control of a player.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct TimeRules {
    /// Thinking time is counted in these units.
    pub(crate) unit: Duration,
    pub(crate) total: Duration,
    pub(crate) byoyomi: Duration,
    /// Added for each move (Fischer clock).
    pub(crate) increment: Duration,
    /// Time per move that is not counted.
    pub(crate) delay: Duration,
    /// The least time that a move counts.
    pub(crate) least: Duration,
    /// Whether a fraction of a unit counts as a unit.
    pub(crate) rounds_up: bool,
}

impl Default for TimeRules {
    fn default() -> Self {
        Self {
            unit: Duration::from_secs(1),
            total: Duration::ZERO,
            byoyomi: Duration::ZERO,
            increment: Duration::ZERO,
            delay: Duration::ZERO,
            least: Duration::ZERO,
            rounds_up: false,
        }
    }
}

impl TimeRules {
    /// The number of units that a thinking time counts.
    pub(super) fn units(&self, time: Duration) -> u64 {
        let unit = self.unit.as_nanos().max(1);
        let time = time.saturating_sub(self.delay).as_nanos();
        let units = if self.rounds_up { time.div_ceil(unit) } else { time / unit };
        let least = self.least.as_nanos() / unit;
        u64::try_from(units.max(least)).unwrap_or(u64::MAX)
    }

    /// The part of a thinking time that is no whole unit.
    pub(crate) fn rest(&self, time: Duration) -> Duration {
        let rest = time.as_nanos() % self.unit.as_nanos().max(1);
        Duration::from_nanos(u64::try_from(rest).unwrap_or(0))
    }

    /// The time of a number of units.
    pub(super) fn time(&self, units: u64) -> Duration {
        self.unit.checked_mul(u32::try_from(units).unwrap_or(u32::MAX)).unwrap_or(Duration::MAX)
    }

    /// The remaining main time after a move.
    pub(super) fn remaining_after(&self, remaining: Duration, elapsed: Duration) -> Duration {
        remaining.saturating_add(self.increment).saturating_sub(elapsed)
    }

    /// The time within which a move must be made. The move loses if it takes this time.
    pub(super) fn budget(&self, remaining: Duration) -> Duration {
        remaining.saturating_add(self.increment).saturating_add(self.byoyomi)
    }

    /// The real time after which the flag falls.
    pub(super) fn deadline(&self, remaining: Duration) -> Duration {
        let budget = self.budget(remaining).saturating_add(self.delay);
        if self.rounds_up { budget.saturating_sub(self.unit) } else { budget }
    }

    fn field(&mut self, name: &str, value: &str) -> Option<()> {
        let count = |rules: &Self| Some(rules.time(value.parse().ok()?));
        match name {
            "Time_Unit" => self.unit = time_unit(value)?,
            "Total_Time" => self.total = count(self)?,
            "Byoyomi" => self.byoyomi = count(self)?,
            "Increment" => self.increment = count(self)?,
            "Delay" => self.delay = count(self)?,
            "Least_Time_Per_Move" => self.least = count(self)?,
            "Time_Roundup" => self.rounds_up = value == "YES",
            _ => (),
        }
        Some(())
    }

    /// Writes the fields between `BEGIN Time` and `END Time`.
    fn write(&self, out: &mut String) {
        let unit = self.unit.as_millis().max(1);
        let text = if unit.is_multiple_of(60_000) {
            format!("{}min", unit / 60_000)
        } else if unit.is_multiple_of(1000) {
            format!("{}sec", unit / 1000)
        } else {
            format!("{unit}msec")
        };
        let _ = writeln!(out, "Time_Unit:{text}");
        let units = |time: Duration| time.as_millis() / unit;
        let _ = writeln!(out, "Total_Time:{}", units(self.total));
        let _ = writeln!(out, "Byoyomi:{}", units(self.byoyomi));
        if !self.increment.is_zero() {
            let _ = writeln!(out, "Increment:{}", units(self.increment));
        }
        if !self.delay.is_zero() {
            let _ = writeln!(out, "Delay:{}", units(self.delay));
        }
        let _ = writeln!(out, "Least_Time_Per_Move:{}", units(self.least));
        if self.rounds_up {
            out.push_str("Time_Roundup:YES\n");
        }
    }
}

/// `1sec`, `1min`, `100msec`.
fn time_unit(text: &str) -> Option<Duration> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u32 = if number.is_empty() { 1 } else { number.parse().ok()? };
    let unit = match unit {
        "min" => Duration::from_mins(1),
        "sec" | "" => Duration::from_secs(1),
        "msec" => Duration::from_millis(1),
        _ => return None,
    };
    let time = unit.checked_mul(number)?;
    (!time.is_zero()).then_some(time)
}

/// What the players agree to before a game.
#[derive(Clone, Debug)]
pub(super) struct Summary {
    pub(super) id: String,
    /// The players, the first one to move at the start of a game first.
    pub(super) names: [String; 2],
    pub(super) your_side: Side,
    pub(super) max_moves: Option<u32>,
    pub(super) times: [TimeRules; 2],
    /// The start position, and the moves of a game that is continued, with their times.
    pub(super) record: GameRecord,
}

/// Why a summary cannot be used.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum SummaryError {
    #[error("the summary of the game is too long")]
    TooLong,
    #[error("the summary of the game has no `{0}`")]
    Missing(&'static str),
    #[error("invalid line in the summary of the game: `{0}`")]
    Invalid(String),
    #[error("invalid position in the summary: {0}")]
    Position(String),
}

/// Collects the lines between `BEGIN Game_Summary` and `END Game_Summary`.
#[derive(Debug, Default)]
pub(super) struct SummaryReader {
    lines: usize,
    id: String,
    names: [String; 2],
    your_side: Option<Side>,
    max_moves: Option<u32>,
    times: [TimeRules; 2],
    /// The sides that the current block of times is for.
    block: Block,
    position: String,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Block {
    #[default]
    None,
    Times([bool; 2]),
    Position,
}

impl SummaryReader {
    /// Reads the next line. The summary, if it is complete.
    pub(super) fn line(&mut self, line: &str) -> Result<Option<Summary>, SummaryError> {
        self.lines += 1;
        if self.lines > MAX_SUMMARY {
            return Err(SummaryError::TooLong);
        }
        let line = line.trim_end();
        match line {
            "END Game_Summary" => return std::mem::take(self).finish().map(Some),
            "BEGIN Time" => self.block = Block::Times([true, true]),
            "BEGIN Time+" => self.block = Block::Times([true, false]),
            "BEGIN Time-" => self.block = Block::Times([false, true]),
            "BEGIN Position" => self.block = Block::Position,
            "END Time" | "END Time+" | "END Time-" | "END Position" => self.block = Block::None,
            _ => self.field(line)?,
        }
        Ok(None)
    }

    fn field(&mut self, line: &str) -> Result<(), SummaryError> {
        let invalid = || SummaryError::Invalid(line.chars().take(80).collect());
        match self.block {
            Block::Position => {
                self.position.push_str(line);
                self.position.push('\n');
                return Ok(());
            }
            Block::Times(sides) => {
                let Some((name, value)) = line.split_once(':') else { return Ok(()) };
                for (rules, _) in self.times.iter_mut().zip(sides).filter(|(_, applies)| *applies) {
                    rules.field(name, value).ok_or_else(invalid)?;
                }
                return Ok(());
            }
            Block::None => (),
        }
        let Some((name, value)) = line.split_once(':') else { return Ok(()) };
        let text = || value.chars().filter(|letter| !letter.is_control()).take(MAX_NAME).collect();
        let [first, second] = &mut self.names;
        match name {
            "Game_ID" => self.id = text(),
            "Name+" => *first = text(),
            "Name-" => *second = text(),
            "Your_Turn" => self.your_side = Some(side(value).ok_or_else(invalid)?),
            "Max_Moves" => self.max_moves = value.parse().ok().filter(|moves| *moves > 0),
            "Format" if !value.starts_with("Shogi") => return Err(invalid()),
            _ => (),
        }
        Ok(())
    }

    fn finish(self) -> Result<Summary, SummaryError> {
        let your_side = self.your_side.ok_or(SummaryError::Missing("Your_Turn"))?;
        if self.position.is_empty() {
            return Err(SummaryError::Missing("Position"));
        }
        let mut records = record::read(self.position.as_bytes(), Format::CSA);
        let record = records.next().ok_or(SummaryError::Missing("Position"))?;
        let record = record.map_err(|error| SummaryError::Position(error.to_string()))?;
        if let Some(notice) = records.notices().first() {
            return Err(SummaryError::Position(notice.to_string()));
        }
        if record.game() != Game::Shogi || record.start().defect().is_some() {
            return Err(SummaryError::Position("it cannot be played".to_owned()));
        }
        let Self { id, names, max_moves, times, .. } = self;
        Ok(Summary { id, names, your_side, max_moves, times, record })
    }
}

impl Summary {
    /// The text for one of the players.
    pub(super) fn write(&self, your_side: Side, position: &str) -> String {
        let [first, second] = &self.names;
        let mut out = String::from("BEGIN Game_Summary\n");
        out.push_str("Protocol_Version:1.2\nProtocol_Mode:Server\nFormat:Shogi 1.0\nDeclaration:Jishogi 1.1\n");
        let _ = write!(out, "Game_ID:{}\nName+:{first}\nName-:{second}\n", self.id);
        let _ = writeln!(out, "Your_Turn:{}", sign(your_side));
        let _ = writeln!(out, "Rematch_On_Draw:NO\nTo_Move:{}", sign(self.record.start().turn()));
        if let Some(moves) = self.max_moves {
            let _ = writeln!(out, "Max_Moves:{moves}");
        }
        let [times, other] = &self.times;
        if times == other {
            out.push_str("BEGIN Time\n");
            times.write(&mut out);
            out.push_str("END Time\n");
        } else {
            for (side, times) in Side::BOTH.into_iter().zip(&self.times) {
                let _ = writeln!(out, "BEGIN Time{}", sign(side));
                times.write(&mut out);
                let _ = writeln!(out, "END Time{}", sign(side));
            }
        }
        let _ = write!(out, "BEGIN Position\n{position}END Position\nEND Game_Summary\n");
        out
    }
}

pub(super) fn sign(side: Side) -> char {
    match side {
        Side::First => '+',
        Side::Second => '-',
    }
}

fn side(text: &str) -> Option<Side> {
    match text {
        "+" => Some(Side::First),
        "-" => Some(Side::Second),
        _ => None,
    }
}

/// Whether a name can be used in `LOGIN`: up to 32 letters, digits, `_` and `-`.
pub(super) fn is_valid_name(name: &str) -> bool {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !name.is_empty() && name.len() <= 32 && name.bytes().all(is_valid)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of a summary in the protocol, section 3.2, with a move of a game that is continued.
    const SUMMARY: &str = "\
Protocol_Version:1.2
Protocol_Mode:Server
Format:Shogi 1.0
Declaration:Jishogi 1.1
Game_ID:20060505-CSA14-3-5-7
Name+:TANUKI
Name-:KITSUNE
Your_Turn:-
Rematch_On_Draw:NO
To_Move:+
BEGIN Time
Time_Unit:1sec
Total_Time:1500
Least_Time_Per_Move:1
Increment:10
END Time
BEGIN Position
P1-KY-KE-GI-KI-OU-KI-GI-KE-KY
P2 * -HI *  *  *  *  * -KA * 
P3-FU-FU-FU-FU-FU-FU-FU-FU-FU
P4 *  *  *  *  *  *  *  *  * 
P5 *  *  *  *  *  *  *  *  * 
P6 *  *  *  *  *  *  *  *  * 
P7+FU+FU+FU+FU+FU+FU+FU+FU+FU
P8 * +KA *  *  *  *  * +HI * 
P9+KY+KE+GI+KI+OU+KI+GI+KE+KY
P+
P-
+
+2726FU,T12
END Position
END Game_Summary
";

    fn read(text: &str) -> Result<Summary, SummaryError> {
        let mut reader = SummaryReader::default();
        for line in text.lines() {
            if let Some(summary) = reader.line(line)? {
                return Ok(summary);
            }
        }
        Err(SummaryError::Missing("END"))
    }

    #[test]
    fn reads_a_summary() {
        let summary = read(SUMMARY).expect("valid");
        assert_eq!(summary.id, "20060505-CSA14-3-5-7");
        assert_eq!(summary.names, ["TANUKI", "KITSUNE"]);
        assert_eq!(summary.your_side, Side::Second);
        let seconds = Duration::from_secs;
        let [times, same] = summary.times;
        assert_eq!(times, same);
        assert_eq!(
            (times.total, times.increment, times.least),
            (seconds(1500), seconds(10), seconds(1))
        );
        assert_eq!(summary.record.plies(), 1);
        let elapsed = summary
            .record
            .mainline()
            .next()
            .and_then(|node| summary.record.annotations(node.id()).elapsed);
        assert_eq!(elapsed, Some(seconds(12)));
    }

    #[test]
    fn reads_what_it_writes() {
        let mut summary = read(SUMMARY).expect("valid");
        let [_, second] = &mut summary.times;
        *second = TimeRules {
            unit: Duration::from_millis(1),
            byoyomi: Duration::from_millis(1500),
            rounds_up: true,
            ..TimeRules::default()
        };
        summary.max_moves = Some(320);
        let text = summary.write(Side::First, "PI\n+\n");
        let again =
            read(text.strip_prefix("BEGIN Game_Summary\n").expect("a block")).expect("valid");
        assert_eq!((again.times, again.max_moves), (summary.times, Some(320)));
        assert_eq!((again.your_side, again.names), (Side::First, summary.names));
    }

    #[test]
    fn rejects_invalid_summaries() {
        for (from, to) in [
            ("Your_Turn:-", "Your_Turn:*"),
            ("Your_Turn:-\n", ""),
            ("Time_Unit:1sec", "Time_Unit:0sec"),
            ("Total_Time:1500", "Total_Time:-1"),
            ("+2726FU,T12", "+2725FU,T12"),
            ("Format:Shogi 1.0", "Format:Go 1.0"),
            ("P5 * ", "P5?* "),
        ] {
            assert!(read(&SUMMARY.replace(from, to)).is_err(), "{to}");
        }
        let mut reader = SummaryReader::default();
        let endless = (0..=MAX_SUMMARY).find_map(|_| reader.line("Name+:x").err());
        assert_eq!(endless, Some(SummaryError::TooLong));
    }

    #[test]
    fn reads_messages() {
        let action = |text: &str, elapsed| Message::Action { text: text.to_owned(), elapsed };
        for (line, message) in [
            ("LOGIN:me OK", Message::LoginAccepted),
            ("LOGIN:incorrect", Message::LoginRejected),
            ("+7776FU,T12", action("+7776FU", Some(12))),
            ("-3334FU,T0,'* 30 +2726FU", action("-3334FU", Some(0))),
            ("%TORYO", action("%TORYO", None)),
            ("%TORYO,T4", action("%TORYO", Some(4))),
            ("#WIN", Message::Signal(Signal::Win)),
            ("#(*&", Message::Other),
            ("%%CHAT", Message::Other),
            ("##[LOGIN] +OK x1", Message::Other),
            ("", Message::KeepAlive),
            ("START:x", Message::Start("x".to_owned())),
        ] {
            assert_eq!(Message::read(line), message, "{line}");
        }
    }

    #[test]
    fn counts_time_in_units() {
        let rules = TimeRules { least: Duration::from_secs(1), ..TimeRules::default() };
        assert_eq!(rules.units(Duration::from_millis(300)), 1);
        assert_eq!(rules.units(Duration::from_millis(2999)), 2);
        let rules = TimeRules { rounds_up: true, ..TimeRules::default() };
        assert_eq!(rules.units(Duration::from_millis(2001)), 3);
        let rules = TimeRules { delay: Duration::from_secs(1), ..TimeRules::default() };
        assert_eq!(rules.units(Duration::from_millis(1500)), 0);
    }

    #[test]
    fn limits_names() {
        assert!(is_valid_name("Narikin_1-x"));
        for name in ["", "a b", "名人", "a\n", &"x".repeat(33)] {
            assert!(!is_valid_name(name), "{name}");
        }
    }
}
