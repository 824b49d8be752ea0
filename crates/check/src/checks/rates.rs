//! Amount and frequency of `info`, and accuracy of times and counts.

use std::time::Duration;

use readyok_protocol::{Bound, Info, Reply};

use super::assertions::{each, soon_done};
use super::{clause, test_positions};
use crate::clock::now;
use crate::context::{Test, TestCase, TestContext};
use crate::message::message;
use crate::result::{Observation, Stop, TestResult};
use crate::spec::{Profile, Severity};
use crate::transcript::Transcript;

/// Tolerance of a reported time: engines round, and start their clock while reading.
const AHEAD: Duration = Duration::from_millis(30);

/// Minimum milliseconds for a comparison of `nodes`, `time` and `nps`.
const SHORT: u64 = 50;

/// Earliest time of `currmove` and similar fields, minus communication delays.
const IDLE_TIMEOUT: Duration = Duration::from_millis(900);

/// Duration of the search, and the divisor of its time that must be reported.
const TIMED: Duration = Duration::from_millis(400);
const REPORTED_PART: u32 = 5;

/// Maximum interval between reports in a long search, and the extra observation time.
const LONGER: Duration = Duration::from_secs(1);
const SILENT: Duration = Duration::from_secs(2);

/// Observation time, and the maximum number of `info` lines in it.
const FLOOD_TIME: Duration = Duration::from_millis(400);
const FLOOD: usize = 1000;

pub(super) const CHECKS: &[TestCase] = &[
    info!(
        "monotonic-depth",
        "the depth of the best line never decreases during a search",
        "depth is the depth reached by the search",
        "the depth of the search",
        Should,
        "send the iteration depth, not the remaining depth",
        Test::Passive(depth_grows)
    ),
    info!(
        "nps",
        "`nps` is `nodes` divided by `time`",
        "nps are the nodes searched in a second",
        "the speed of this search",
        Should,
        "divide the node count of the line by its time",
        Test::Passive(nps)
    ),
    info!(
        "time-limit",
        "`time` does not exceed the time since `go`",
        "the time searched, in milliseconds",
        "the duration of the search",
        Should,
        "start the search clock at `go`",
        Test::Passive(time_ahead)
    ),
    info!(
        "time",
        "`time` is wall-clock time in milliseconds",
        "the time searched, in milliseconds",
        "the duration of the search in milliseconds",
        Should,
        "report wall-clock milliseconds, not centiseconds or CPU time",
        Test::Interactive(time)
    ),
    info!(
        "regular",
        "a long search reports nodes at least every two seconds",
        "nodes, nps and similar fields should be sent regularly",
        "the client displays them during the search",
        May,
        "send `info nodes … nps … hashfull … time …` once a second",
        Test::Interactive(regular)
    ),
    info!(
        "late-details",
        "`currmove`, `currmovenumber`, `currline` and `refutation` start after one second of search",
        "these should be sent only after one second, to avoid too much traffic",
        "short searches omit details to limit traffic",
        May,
        "omit `currmove` and similar fields in the first second",
        Test::Passive(late_details)
    ),
    info!(
        "flood",
        "a short search does not flood the client",
        "there should not be too much traffic",
        "clients display each line, and fall behind",
        May,
        "do not report depths that repeat the same result",
        Test::Interactive(volume)
    ),
    info!(
        "string-last",
        "`string` is the last field of a line",
        "the rest of the line is displayed as text",
        "the rest is text for the user",
        Should,
        "send `string` and its text at the end of the line",
        Test::Passive(string_last)
    ),
];

fn is_best_line(info: &Info<'_>) -> bool {
    info.bound == Bound::Exact && info.pv.is_some() && info.multipv.is_none_or(|it| it == 1)
}

fn depth_grows(transcript: &Transcript) -> Observation {
    let mut seen = 0;
    for search in transcript.searches() {
        let mut deepest = 0;
        for (at, info) in search.infos.iter().filter(|(_, info)| is_best_line(info)) {
            let Some(depth) = info.depth else { continue };
            seen += 1;
            if depth < deepest {
                return Err((*at, message!("depth.decreased", depth, deepest)));
            }
            deepest = depth;
        }
    }
    Ok(seen)
}

fn nps(transcript: &Transcript) -> Observation {
    each(transcript, |_, info| {
        let (nodes, nps, time) = (info.nodes?, info.nps?, info.time_ms()?);
        if time < SHORT {
            return None;
        }
        // Counts and times of several threads are not simultaneous.
        let usual = nodes.saturating_mul(1000) / time;
        let (least, limit) = (usual / 2, usual.saturating_mul(2).saturating_add(1));
        Some(if (least..=limit).contains(&nps) {
            Ok(())
        } else {
            Err(message!("nps.wrong", nodes, time, usual, nps))
        })
    })
}

fn time_ahead(transcript: &Transcript) -> Observation {
    let mut seen = 0;
    for search in transcript.searches() {
        for (at, info) in &search.infos {
            let (Some(time), Some(entry)) = (info.time, transcript.entries.get(*at)) else {
                continue;
            };
            seen += 1;
            let passed = entry.at.saturating_sub(search.begin);
            if passed + AHEAD < time {
                let passed = passed.as_millis();
                return Err((*at, message!("time.wrong", reported = time.as_millis(), passed)));
            }
        }
    }
    Ok(seen)
}

fn time(context: &TestContext<'_>) -> TestResult {
    let mut least = None;
    // A busy machine may delay one report.
    for _ in 0..3 {
        let mut session = context.ready()?;
        session.send(&context.position(test_positions::of(context.game()).middle[0]));
        let begin = now();
        session.send(&format!("go movetime {}", TIMED.as_millis()));
        let mut last = None;
        session.wait_for(TIMED + context.timeouts.answer(), |line| match &line.reply {
            Reply::Info(info) => {
                last = info
                    .time
                    .map(|reported| (reported, line.at.saturating_duration_since(begin)))
                    .or(last);
                None
            }
            Reply::BestMove(_) => Some(()),
            _ => None,
        })?;
        let Some((reported, passed)) = last else {
            return Err(Stop::Skip(message!("time.none")));
        };
        if passed < TIMED * 3 / 4 || passed / REPORTED_PART <= reported {
            return Ok(());
        }
        least = Some((reported, passed));
    }
    let (reported, passed) = least.unwrap_or_default();
    let (reported, passed) = (reported.as_millis(), passed.as_millis());
    Err(Stop::Fail(message!("time.wrong", reported = reported, passed)))
}

fn regular(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    session.send(&context.position(test_positions::of(context.game()).middle[0]));
    let begin = now();
    session.send("go infinite");
    let silent = SILENT + context.timeouts.margin() / 4;
    let long = silent + LONGER;
    let reported = session.listen(long);
    let counts = reported
        .iter()
        .filter(|line| matches!(&line.reply, Reply::Info(info) if info.nodes.is_some()));
    let mut times: Vec<Duration> =
        counts.map(|line| line.at.saturating_duration_since(begin)).collect();
    times.push(long);
    let mut before = Duration::ZERO;
    let mut longest = Duration::ZERO;
    for time in times {
        longest = longest.max(time.saturating_sub(before));
        before = time;
    }
    context.remark(format!("{} ms were the longest without `nodes`", longest.as_millis()));
    session.send("stop");
    session.best(context.timeouts.answer())?;
    if silent < longest {
        return Err(Stop::Fail(message!("nodes.rare", ms = longest.as_millis())));
    }
    Ok(())
}

fn late_details(transcript: &Transcript) -> Observation {
    let mut seen = 0;
    for search in transcript.searches() {
        for (at, info) in &search.infos {
            let Some(entry) = transcript.entries.get(*at) else { continue };
            seen += 1;
            let is_detail =
                info.currmove.is_some() || info.currline.is_some() || info.refutation.is_some();
            let passed = entry.at.saturating_sub(search.begin);
            if is_detail && passed < IDLE_TIMEOUT {
                return Err((*at, message!("info.early", ms = passed.as_millis())));
            }
        }
    }
    Ok(seen)
}

fn volume(context: &TestContext<'_>) -> TestResult {
    let mut limit = 0;
    for position in soon_done(context) {
        let mut session = context.ready_unchecked()?;
        session.send(&position);
        session.send("go infinite");
        let lines = session.listen(FLOOD_TIME).len();
        limit = limit.max(lines);
        if FLOOD < lines {
            let time = FLOOD_TIME.as_millis();
            return Err(Stop::Fail(message!("info.flood", lines, time)));
        }
    }
    context.remark(format!("at most {limit} lines came in {} ms", FLOOD_TIME.as_millis()));
    Ok(())
}

fn string_last(transcript: &Transcript) -> Observation {
    let mut seen = 0;
    for search in transcript.searches() {
        for (at, info) in &search.infos {
            seen += 1;
            let Some(text) = &info.string else { continue };
            let line = format!("info {text}");
            if let Reply::Info(hidden) = Reply::read(&line, transcript.dialect).value
                && (hidden.depth.is_some() && hidden.score.is_some() && hidden.pv.is_some())
                && hidden.unknown.is_empty()
            {
                return Err((*at, message!("string.pv")));
            }
        }
    }
    Ok(seen)
}
