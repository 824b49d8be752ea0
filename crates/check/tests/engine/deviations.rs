//! Defects that contradict single sentences of the specifications: rewritten lines, and state that outlives its command.

use std::sync::OnceLock;
use std::time::Duration;

use readyok_protocol::Go;

use crate::faults::Faults;

/// The defects whose lines are rewritten.
static DEFECTS: OnceLock<Vec<String>> = OnceLock::new();

/// Sets the defects of the process.
pub(crate) fn select(faults: &[String]) {
    let defects = faults.iter().filter_map(|fault| Some(fault.strip_prefix("defect.")?.to_owned()));
    // Set once, at the start.
    let _ = DEFECTS.set(defects.collect());
}

/// Applies the defects to a line one after another. `None` if it stays as it is.
fn rewritten(line: &str, rewrite: fn(&str, &str) -> Option<String>) -> Option<String> {
    let mut changed = None;
    for defect in DEFECTS.get()? {
        changed = rewrite(defect, changed.as_deref().unwrap_or(line)).or(changed);
    }
    changed
}

/// State that a conforming engine does not have.
pub(crate) struct Memory {
    /// A `stop` or `ponderhit` arrived without a search.
    pub(crate) is_stale: bool,
    /// No search has followed the start or a new-game command.
    pub(crate) is_new: bool,
    /// Number of `setoption` commands.
    pub(crate) sets: u32,
    limits: Go<'static>,
}

impl Memory {
    pub(crate) fn new() -> Self {
        Self { is_stale: false, is_new: true, sets: 0, limits: Go::default() }
    }

    /// Changes a search by what was sent before it.
    pub(crate) fn influence(&mut self, faults: &Faults, go: &mut Go<'static>) {
        self.is_new = false;
        if std::mem::take(&mut self.is_stale) {
            go.infinite = false;
            go.ponder = false;
            go.depth = Some(1);
        }
        let last = std::mem::replace(&mut self.limits, go.clone());
        if last.nodes == Some(100) && go.infinite && faults.breaks("search.limits-reset") {
            go.nodes = last.nodes;
            go.infinite = false;
        }
        if go.depth.is_none() && faults.breaks("defect.keeps-depth") {
            go.depth = last.depth;
            go.infinite &= go.depth.is_none();
        }
        if go.move_time.is_none() && faults.breaks("defect.keeps-movetime") {
            go.move_time = last.move_time;
            go.infinite &= go.move_time.is_none();
        }
        if go.search_moves.is_none() && faults.breaks("defect.keeps-searchmoves") {
            go.search_moves = last.search_moves;
        }
    }
}

/// A command as the engine reads it.
pub(crate) fn input(line: &str) -> Option<String> {
    rewritten(line, input_with)
}

fn input_with(defect: &str, line: &str) -> Option<String> {
    match defect {
        "two-digit-hand" if line.starts_with("position sfen") => {
            let mut fields: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let hands = fields.get_mut(4)?;
            let mut digits = String::new();
            for c in hands.chars() {
                match digits.chars().last() {
                    Some(last) if last.is_ascii_digit() && c.is_ascii_digit() => {
                        digits.pop();
                    }
                    _ => (),
                }
                digits.push(c);
            }
            *hands = digits;
            Some(fields.join(" "))
        }
        "black-ignored" if line.starts_with("position fen") => Some(line.replacen(" b ", " w ", 1)),
        "no-rights-by-file" if line.contains(" HAha ") => Some(line.replace(" HAha ", " - ")),
        _ => None,
    }
}

/// The value of a field of an `info` line.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let mut tokens = line.split(' ').skip_while(|token| *token != name);
    tokens.nth(1)
}

/// An output line with the defect.
pub(crate) fn output(line: &str) -> Option<String> {
    rewritten(line, output_with)
}

fn output_with(defect: &str, line: &str) -> Option<String> {
    let is_info = line.starts_with("info ");
    let rewritten = match defect {
        "options-before-id" if line.starts_with("id name") => {
            format!("option name Early type check default false\n{line}")
        }
        "empty-name" if line.starts_with("id name") => "id name".to_owned(),
        "name-without-keyword" => line.replace("id name ", "id "),
        "option-without-keyword" if line.contains("name Style") => line.replace("name ", ""),
        "check-with-range" if line.contains("type check") => format!("{line} min 0 max 1"),
        "spin-with-choices" if line.contains("type spin") => format!("{line} var 1 var 2"),
        "filename-without-default" if line.contains("name BookFile") => {
            "option name BookFile type filename".to_owned()
        }
        "limit-without-strength" if line.starts_with("option name USI_Opponent") => {
            format!("{line}\noption name USI_LimitStrength type check default false")
        }
        "time-apart-from-pv" if is_info && line.contains(" pv ") => {
            let time = field(line, "time")?;
            format!("info time {time}\n{}", line.replace(&format!(" time {time}"), ""))
        }
        "first-line-without-multipv" if is_info => line.replace(" multipv 1 ", " "),
        "currline-from-zero" => line.replace("info currline 1 ", "info currline 0 "),
        "signed-numbers" if is_info => line.replace(" nodes ", " nodes +"),
        "signed-score" if is_info => line.replace(" cp 1", " cp +1"),
        "mate-in-zero" if is_info => line.replace(" mate 1 ", " mate 0 "),
        "nps-infinite" if is_info && line.contains(" nps ") => {
            line.replace(&format!(" nps {}", field(line, "nps")?), " nps inf")
        }
        "depth-with-selective-depth" if is_info && line.contains(" seldepth ") => {
            let (depth, selective) = (field(line, "depth")?, field(line, "seldepth")?);
            line.replace(
                &format!("depth {depth} seldepth {selective}"),
                &format!("depth {depth}/{selective}"),
            )
        }
        "prompt" => format!("> {line}"),
        "no-promotion-sign" if line.starts_with("bestmove") => line.replace('+', ""),
        "promotion-with-equals-sign" if line.starts_with("bestmove") => {
            let mv = line.split(' ').nth(1).filter(|token| token.len() == 5 && token.is_ascii())?;
            let (squares, piece) = mv.split_at(4);
            line.replacen(mv, &format!("{squares}={piece}"), 1)
        }
        _ => return None,
    };
    Some(rewritten)
}

/// Time after which an infinite search ends.
pub(crate) const ENDS_LATER: Duration = Duration::from_secs(1);

/// Time in which a search tree is exhausted.
pub(crate) const COMPLETE: Duration = Duration::from_millis(160);

/// A delay that a client notices.
pub(crate) const NOTICEABLE: Duration = Duration::from_millis(1200);

/// The greatest depth that the checker measures.
pub(crate) const MEASURED_DEPTH: u32 = 5;
