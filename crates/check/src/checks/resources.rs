//! What an engine takes of the machine.

use std::time::Duration;

use readyok_protocol::Reply;

use super::{clause, probe};
use crate::bench::{Bench, range};
use crate::check::{Check, Need, Outcome, Profile, Severity, Stop, Test};
use crate::message::message;
use crate::talk::{Blame, Talk};
use crate::time::now;
use crate::usage::Usage;

/// An idle engine is looked at for so long, again and again until it has had time to come to rest, and
/// may take this share of a processor in the best of the looks, or this time. Some systems count in
/// hundredths of a second.
const LOOK: Duration = Duration::from_millis(200);
const BUSY: f64 = 0.12;
const LITTLE: Duration = Duration::from_millis(2);

/// MB of hash whose memory is looked at, and what else a search may take.
const HASH: i64 = 64;
const BESIDE: u64 = 16 << 20;

pub(super) const CHECKS: &[Check] = &[
    check!(
        "resources.idle",
        "an idle engine uses no CPU time, before its first search and after a search",
        [
            "UCI 2006, general rules" => "the engine waits for commands, and calculates only after `go`",
            "USI draft 1 §5.1" => "the engine does not calculate without `go`",
        ],
        Must,
        Profile::ALL,
        &[Need::Process],
        "block while waiting for input, and end or park search threads after a search",
        Test::Ask(idle),
    ),
    check!(
        "resources.no-own-ponder",
        "the engine ponders only after `go ponder`",
        [
            "UCI 2006, bestmove and option Ponder" => "the engine does not start to ponder by itself",
            "USI draft 1 §5.3, option USI_Ponder" => "the option allows pondering, and `go ponder` starts it",
        ],
        Must,
        &[Profile::Uci2006, Profile::UciModern, Profile::UsiDraft1],
        &[Need::Process, Need::Option("Ponder")],
        "after `bestmove` wait for `go ponder`, even while the option is true",
        Test::Ask(no_own_ponder),
    ),
    check!(
        "resources.undrained-stderr",
        "the engine continues if its stderr is not read",
        [
            "practice" => "some clients never read the stderr pipe, which holds 64 KiB",
        ],
        Should,
        Profile::ALL,
        &[Need::Process],
        "write little to stderr, and nothing during a search",
        Test::Ask(unread_errors),
    ),
    check!(
        "resources.hash-memory",
        "a larger hash table increases memory usage by its size",
        [
            "UCI 2006, option Hash" => "the value is the memory for hash tables in MB",
            "USI draft 1 §5.3, option USI_Hash" => "the memory of hash tables, in MB",
        ],
        Should,
        Profile::ALL,
        &[Need::Process, Need::Option("Hash")],
        "include all tables that depend on the option, and round the size down",
        Test::Ask(hash_memory),
    ),
    check!(
        "resources.hash-resize",
        "the hash table can be resized between searches",
        [
            "UCI 2006, option Hash and setoption" => "the value can be changed while the engine is waiting",
            "USI draft 1 §5.3, setoption" => "it may be sent while the engine is waiting",
        ],
        Should,
        Profile::ALL,
        &[Need::Option("Hash")],
        "allocate the new table before the next search, without pointers into the old one",
        Test::Ask(hash_resize),
    ),
];

fn middle(bench: &Bench<'_>) -> String {
    bench.position(probe::of(bench.game()).middle[0])
}

pub(super) fn usage(talk: &Talk) -> Result<Usage, Stop> {
    let unknown = || Stop::Skip(message!("usage.unavailable"));
    talk.usage().ok_or_else(unknown)
}

/// The share of a processor that the engine takes in the best of several looks, of what it can get.
///
/// What runs in a virtual machine may be compiled for some seconds after it is ready.
fn share(talk: &mut Talk) -> Result<f64, Stop> {
    let mut least = f64::MAX;
    let rests = now() + talk.pace().answer();
    while BUSY < least && now() < rests {
        let (begin, before) = (now(), usage(talk)?);
        talk.listen(LOOK);
        let after = usage(talk)?;
        let took = after.processor.saturating_sub(before.processor);
        // On a busy machine it had what it could get: that is its share of the rest.
        let waited = after.waited.saturating_sub(before.waited);
        let had = now().saturating_duration_since(begin).saturating_sub(waited).max(took);
        let share = if took <= LITTLE { 0.0 } else { took.as_secs_f64() / had.as_secs_f64() };
        least = least.min(share);
    }
    Ok(least)
}

fn idle(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    for when in [message!("when.before-search"), message!("when.after-search")] {
        let share = share(&mut talk)?;
        if BUSY < share {
            let percent = share * 100.0;
            return Err(Stop::Fail(message!(
                "usage.idle",
                when,
                percent = format!("{percent:.0}")
            )));
        }
        talk.search(&middle(bench), "go depth 3")?;
    }
    Ok(())
}

fn no_own_ponder(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    talk.say(&bench.set("Ponder", "true"));
    talk.ready()?;
    talk.search(&middle(bench), "go depth 4")?;
    talk.ready()?;
    let said = talk.listen(bench.pace.quiet());
    let thinks = |reply: &Reply<'_>| matches!(reply, Reply::Info(info) if info.depth.is_some() || info.pv.is_some());
    if said.iter().any(|line| thinks(&line.reply)) {
        return Err(Stop::Fail(message!("ponder.own-info")));
    }
    let share = share(&mut talk)?;
    if BUSY < share {
        let percent = share * 100.0;
        return Err(Stop::Fail(message!("ponder.own-usage", percent = format!("{percent:.0}"))));
    }
    Ok(())
}

fn unread_errors(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.start_with_unread_errors()?;
    crate::bench::greet(&mut talk, bench.dialect)?;
    talk.ready().or_fail(message!("stderr.no-readyok"))?;
    for depth in [2, 4] {
        talk.search(&middle(bench), &format!("go depth {depth}"))
            .or_fail(message!("stderr.no-reply"))?;
    }
    talk.until_ready().or_fail(message!("stderr.no-readyok-later"))?;
    Ok(())
}

fn hash_range(bench: &Bench<'_>) -> Result<(i64, i64), Stop> {
    let (least, most) = bench
        .option("Hash")
        .and_then(range)
        .ok_or_else(|| Stop::Skip(message!("hash.no-range")))?;
    Ok((least.unwrap_or(1), most.unwrap_or(1)))
}

/// The memory after a search with a hash table of so many MB.
fn memory_with(bench: &Bench<'_>, size: i64) -> Result<u64, Stop> {
    let mut talk = bench.ready()?;
    talk.say(&bench.set("Hash", &size.to_string()));
    talk.ready()?;
    talk.search(&middle(bench), "go movetime 200")?;
    Ok(usage(&talk)?.resident)
}

fn hash_memory(bench: &Bench<'_>) -> Outcome {
    let (least, most) = hash_range(bench)?;
    if !(least..=most).contains(&HASH) {
        return Err(Stop::Skip(message!("hash.not-allowed", size = HASH)));
    }
    let small = memory_with(bench, least.max(1))?;
    let large = memory_with(bench, HASH)?;
    let table = u64::try_from(HASH - least.max(1)).unwrap_or_default() << 20;
    let more = large.saturating_sub(small);
    let mb = |bytes: u64| bytes >> 20;
    bench.remark(format!(
        "{} MB with the smallest hash table, {} MB with one of {HASH} MB",
        mb(small),
        mb(large)
    ));
    if table + table / 4 + BESIDE < more {
        return Err(Stop::Fail(message!("hash.memory", size = mb(table), more = mb(more))));
    }
    Ok(())
}

fn hash_resize(bench: &Bench<'_>) -> Outcome {
    let (least, most) = hash_range(bench)?;
    let mut talk = bench.ready()?;
    for size in [33, 1, 17, 5] {
        let size = size.clamp(least, most.max(least)).min(least.max(33));
        talk.say(&bench.set("Hash", &size.to_string()));
        talk.ready().or_fail(message!("hash.no-readyok", size))?;
        talk.search(&middle(bench), "go depth 4").or_fail(message!("hash.no-reply", size))?;
    }
    Ok(())
}
