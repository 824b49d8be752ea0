//! Resource usage of the engine: CPU time and memory.

use std::time::Duration;

use readyok_protocol::Reply;

use super::assertions::{middle, test_positions};
use super::clause;
use crate::context::{Test, TestCase, TestContext, range};
use crate::message::message;
use crate::session::{EngineSession, OrFail};
use crate::spec::{Need, Profile, Severity, Stop, TestResult};
use crate::target::{Usage, available_memory};
use crate::timeouts::now;

/// Duration of one measurement of an idle engine, their number, and the maximum CPU usage of the best.
/// Some systems count in hundredths of a second.
const LOOK: Duration = Duration::from_millis(200);
const BUSY: f64 = 0.12;
const LITTLE: Duration = Duration::from_millis(2);

/// Hash sizes in MB that are compared, and the allowance for other memory.
const HASH: i64 = 64;
const OTHER_MEMORY: u64 = 16 << 20;

/// Addresses that an engine reserves besides two hash tables, the old and the new one.
const OTHER_ADDRESSES: u64 = 1 << 30;

pub(super) const CHECKS: &[TestCase] = &[
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
        Test::Interactive(idle),
    ),
    check!(
        "resources.idle-finished",
        "after its reply in a position without a legal move the engine uses no CPU time",
        [
            "UCI 2006, general rules" => "the engine waits for commands, and calculates only after `go`",
            "USI draft 1 §5.1" => "the engine does not calculate without `go`",
            "practice (lc0#1209)" => "threads that wait for a search without moves spin for ever",
        ],
        Must,
        Profile::ALL,
        &[Need::Process],
        "end or park search threads also if there is nothing to search",
        Test::Interactive(idle_finished),
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
        Test::Interactive(no_own_ponder),
    ),
    check!(
        "resources.hash-maximum",
        "the engine works with the declared maximum of the hash size",
        [
            "UCI 2006, option and setoption" => "values in the declared range are allowed",
            "USI draft 1 §5.3, setoption" => "the value is one of the declared ones",
            "practice (lichess-bot#746)" => "engines crash with sizes that overflow 32 bits",
        ],
        Should,
        Profile::ALL,
        &[Need::Process, Need::Option("Hash")],
        "compute sizes with 64 bits, and declare only sizes that work",
        Test::Interactive(hash_maximum),
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
        Test::Interactive(undrained_stderr),
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
        Test::Interactive(hash_memory),
    ),
    check!(
        "resources.hash-follows",
        "the memory usage follows the hash size",
        [
            "UCI 2006, option Hash" => "the value is the memory for hash tables in MB",
            "USI draft 1 §5.3, option USI_Hash" => "the memory of hash tables, in MB",
        ],
        Should,
        Profile::ALL,
        &[Need::Process, Need::Option("Hash")],
        "allocate the table with the size of the option",
        Test::Interactive(hash_follows),
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
        Test::Interactive(hash_resize),
    ),
];

pub(super) fn usage(session: &EngineSession) -> Result<Usage, Stop> {
    let unknown = || Stop::Skip(message!("usage.unavailable"));
    session.usage().ok_or_else(unknown)
}

/// The lowest CPU usage of several measurements.
///
/// A JIT compiler may run for some seconds after `readyok`.
fn share(session: &mut EngineSession) -> Result<f64, Stop> {
    let mut least: Option<f64> = None;
    let rests = now() + session.timeouts().answer();
    while least.is_none_or(|least| BUSY < least) && now() < rests {
        let (begin, before) = (now(), usage(session)?);
        session.listen(LOOK);
        let after = usage(session)?;
        let time = now().saturating_duration_since(begin);
        if let Some(share) = share_of(&before, &after, time) {
            least = Some(least.map_or(share, |least| least.min(share)));
        }
    }
    least.ok_or_else(|| Stop::Loaded(message!("usage.loaded")))
}

/// The CPU usage between two measurements. `None` if the engine may have waited for a CPU.
fn share_of(before: &Usage, after: &Usage, time: Duration) -> Option<f64> {
    let used = after.cpu.saturating_sub(before.cpu);
    // Relative to the CPU time that was available on a busy host.
    let waited = after.waited.saturating_sub(before.waited);
    let available = time.saturating_sub(waited).max(used);
    let share = if used <= LITTLE { 0.0 } else { used.as_secs_f64() / available.as_secs_f64() };
    // The time in the run queue is counted only when it ends: a runnable thread may still wait.
    (BUSY < share || after.runnable == 0).then_some(share)
}

fn idle(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    let begins = [
        message!("when.before-search"),
        message!("when.after-search"),
        message!("when.after-position"),
    ];
    for (number, when) in begins.into_iter().enumerate() {
        match number {
            0 => (),
            1 => drop(session.search(&middle(context), "go depth 3")?),
            _ => {
                session.send(&middle(context));
                session.ready()?;
            }
        }
        let share = share(&mut session)?;
        if BUSY < share {
            let percent = share * 100.0;
            return Err(Stop::Fail(message!(
                "usage.idle",
                when,
                percent = format!("{percent:.0}")
            )));
        }
    }
    Ok(())
}

fn idle_finished(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready_unchecked()?;
    let mated = test_positions(context.game()).mated;
    session.search(&context.position(mated), "go depth 3")?;
    let share = share(&mut session)?;
    if BUSY < share {
        let (when, percent) = (message!("when.after-mated"), share * 100.0);
        return Err(Stop::Fail(message!("usage.idle", when, percent = format!("{percent:.0}"))));
    }
    Ok(())
}

/// Larger tables are not tested, in MB: it takes long to fill them, and crashes begin at 2048 MB.
const MAX_HASH: u64 = 4096;

/// The part of the available memory that an engine may use.
const MEMORY_PART: u64 = 4;

fn hash_maximum(context: &TestContext<'_>) -> TestResult {
    let (_, limit) = hash_range(context)?;
    let declared = u64::try_from(limit).unwrap_or_default();
    let memory = available_memory().ok_or_else(|| Stop::Skip(message!("usage.unavailable")))?;
    let size = declared.min(MAX_HASH).min((memory >> 20) / MEMORY_PART);
    if size < declared {
        context.remark(format!("not tested above {size} MB, the maximum is {declared} MB"));
    }
    let mut session = context.ready()?;
    // An engine that allocates more than the table fails, not the machine.
    let bound = usage(&session)?.reserved.saturating_add((size << 21) + OTHER_ADDRESSES);
    session.limit_addresses(bound);
    session.send(&context.set("Hash", &size.to_string()));
    session.ready().or_fail(message!("hash.no-readyok", size))?;
    session.search(&middle(context), "go depth 4").or_fail(message!("hash.no-reply", size))?;
    Ok(())
}

fn no_own_ponder(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    session.send(&context.set("Ponder", "true"));
    session.ready()?;
    session.search(&middle(context), "go depth 4")?;
    session.ready()?;
    let reported = session.listen(context.timeouts.quiet());
    let thinks = |reply: &Reply<'_>| matches!(reply, Reply::Info(info) if info.depth.is_some() || info.pv.is_some());
    if reported.iter().any(|line| thinks(&line.reply)) {
        return Err(Stop::Fail(message!("ponder.own-info")));
    }
    let share = share(&mut session)?;
    if BUSY < share {
        let percent = share * 100.0;
        return Err(Stop::Fail(message!("ponder.own-usage", percent = format!("{percent:.0}"))));
    }
    Ok(())
}

fn undrained_stderr(context: &TestContext<'_>) -> TestResult {
    let mut session = context.start_with_undrained_stderr()?;
    crate::context::handshake(&mut session, context.dialect)?;
    session.ready().or_fail(message!("stderr.no-readyok"))?;
    for depth in [2, 4] {
        session
            .search(&middle(context), &format!("go depth {depth}"))
            .or_fail(message!("stderr.no-reply"))?;
    }
    session.until_ready().or_fail(message!("stderr.no-readyok-later"))?;
    Ok(())
}

fn hash_range(context: &TestContext<'_>) -> Result<(i64, i64), Stop> {
    let (least, limit) = context
        .option("Hash")
        .and_then(range)
        .ok_or_else(|| Stop::Skip(message!("hash.no-range")))?;
    Ok((least.unwrap_or(1), limit.unwrap_or(1)))
}

/// The memory usage after a search with a hash table of the given size in MB, and the number of searched nodes.
fn usage_with(context: &TestContext<'_>, size: i64, go: &str) -> Result<(Usage, u64), Stop> {
    let mut session = context.ready()?;
    session.send(&context.set("Hash", &size.to_string()));
    session.ready()?;
    let found = session.search(&middle(context), go)?;
    let nodes = found.infos.iter().filter_map(|info| info.nodes).max();
    Ok((usage(&session)?, nodes.unwrap_or_default()))
}

/// Searches with which memory is measured.
const SHORT_SEARCH: &str = "go movetime 200";
const LONG_SEARCH: &str = "go movetime 2000";

fn hash_memory(context: &TestContext<'_>) -> TestResult {
    let (least, limit) = hash_range(context)?;
    if !(least..=limit).contains(&HASH) {
        return Err(Stop::Skip(message!("hash.not-allowed", size = HASH)));
    }
    let (small, _) = usage_with(context, least.max(1), SHORT_SEARCH)?;
    let (large, _) = usage_with(context, HASH, SHORT_SEARCH)?;
    let (small, large) = (small.resident, large.resident);
    let table = u64::try_from(HASH - least.max(1)).unwrap_or_default() << 20;
    let more = large.saturating_sub(small);
    let mb = |bytes: u64| bytes >> 20;
    context.remark(format!(
        "{} MB with the smallest hash table, {} MB with one of {HASH} MB",
        mb(small),
        mb(large)
    ));
    if table + table / 4 + OTHER_MEMORY < more {
        return Err(Stop::Fail(message!("hash.memory", size = mb(table), more = mb(more))));
    }
    Ok(())
}

/// Part of the additional hash table that has to be visible: engines round down to a power of two.
const VISIBLE: u64 = 4;

/// Size of the smallest entries. A table that grows with its entries is visible after a number of nodes.
const ENTRY: u64 = 8;

fn hash_follows(context: &TestContext<'_>) -> TestResult {
    let (least, limit) = hash_range(context)?;
    if !(least..=limit).contains(&HASH) || least == HASH {
        return Err(Stop::Skip(message!("hash.not-allowed", size = HASH)));
    }
    let least = least.max(1);
    let table = u64::try_from(HASH - least).unwrap_or_default() << 20;
    let (small, _) = usage_with(context, least, SHORT_SEARCH)?;
    let mut most = 0;
    for go in [SHORT_SEARCH, LONG_SEARCH] {
        let (large, nodes) = usage_with(context, HASH, go)?;
        // A table that is not used yet is visible in the address space only.
        let more = large.reserved.saturating_sub(small.reserved);
        most = most.max(more).max(large.resident.saturating_sub(small.resident));
        if table / VISIBLE <= most {
            return Ok(());
        }
        if table / VISIBLE <= nodes.saturating_mul(ENTRY) {
            let (size, more) = (table >> 20, most >> 20);
            return Err(Stop::Fail(message!("hash.same-memory", size, more)));
        }
    }
    Err(Stop::Inconclusive(message!("hash.few-nodes")))
}

fn hash_resize(context: &TestContext<'_>) -> TestResult {
    let (least, limit) = hash_range(context)?;
    let mut session = context.ready()?;
    for size in [33, 1, 17, 5] {
        let size = size.clamp(least, limit.max(least)).min(least.max(33));
        session.send(&context.set("Hash", &size.to_string()));
        session.ready().or_fail(message!("hash.no-readyok", size))?;
        session.search(&middle(context), "go depth 4").or_fail(message!("hash.no-reply", size))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_that_may_wait_for_a_cpu_is_not_idle() {
        let ms = Duration::from_millis;
        let share = |cpu, waited, runnable| {
            let after = Usage { cpu: ms(cpu), waited: ms(waited), runnable, ..Usage::default() };
            share_of(&Usage::default(), &after, ms(200))
        };
        assert_eq!(share(0, 0, 0), Some(0.0));
        // Its time in the run queue is not known yet.
        assert_eq!(share(0, 0, 1), None);
        assert_eq!(share(5, 0, 1), None);
        assert!(share(10, 190, 1).is_some_and(|share| BUSY < share));
        assert!(share(150, 0, 1).is_some_and(|share| BUSY < share));
        assert!(share(10, 0, 0).is_some_and(|share| share < BUSY));
    }
}
