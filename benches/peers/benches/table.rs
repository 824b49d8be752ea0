//! Prints the table: time, ratio to the best rival, allocations.
//!
//! Contenders alternate in batches that are shorter than a time slice, and the best batch of each counts. Other load
//! therefore affects all or none of them. All cases are measured in several passes, so that a disturbance of a second
//! affects one pass only.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use readyok_peers::{Case, Contender};

/// Number of passes over all cases.
const PASSES: u32 = 100;
/// Number of batches of each contender in a pass.
const ROUNDS: u32 = 100;
/// Target duration of a batch in nanoseconds.
const BATCH: u64 = 20_000;

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

fn count() {
    // There is one thread, and a locked instruction would slow down allocations.
    ALLOCATIONS.store(ALLOCATIONS.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

// SAFETY: every call is forwarded unchanged to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the contract is the same, and the caller satisfies it.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    println!("| case | crate | ns | of the best rival | allocations |");
    println!("|---|---|--:|--:|--:|");
    // Cargo adds the argument `--bench`.
    let filters: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_selected = |case: &Case| {
        filters.is_empty() || filters.iter().any(|filter| case.name.contains(filter.as_str()))
    };
    let mut cases: Vec<_> =
        readyok_peers::cases().into_iter().filter(is_selected).map(prepared).collect();
    for _ in 0..PASSES {
        cases.iter_mut().for_each(|(_, rows)| measure(rows));
    }
    cases.into_iter().for_each(print);
}

struct Row {
    contender: Contender,
    times: u64,
    nanoseconds: f64,
    allocations: u64,
}

fn prepared(case: Case) -> (String, Vec<Row>) {
    let row = |mut contender: Contender| {
        // The first run fills reused buffers.
        let runs = (0..5).map(|_| nanoseconds(&mut contender, 100) / 100.0);
        let warm = runs.fold(f64::INFINITY, f64::min);
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        (contender.run)(1);
        let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
        let times = (BATCH as f64 / warm.max(1.0)).ceil() as u64;
        Row { contender, times, nanoseconds: f64::INFINITY, allocations }
    };
    (case.name, case.contenders.into_iter().map(row).collect())
}

fn measure(rows: &mut [Row]) {
    for _ in 0..ROUNDS {
        for row in &mut *rows {
            let batch = nanoseconds(&mut row.contender, row.times) / row.times as f64;
            row.nanoseconds = row.nanoseconds.min(batch);
        }
    }
}

fn nanoseconds(contender: &mut Contender, times: u64) -> f64 {
    let start = Instant::now();
    (contender.run)(times);
    start.elapsed().as_nanos() as f64
}

fn print((name, rows): (String, Vec<Row>)) {
    let rivals = rows.iter().filter(|row| row.contender.is_rival());
    let best = rivals.map(|row| row.nanoseconds).fold(f64::INFINITY, f64::min);
    for (index, row) in rows.iter().enumerate() {
        let case = if index == 0 { name.as_str() } else { "" };
        println!(
            "| {case} | {} | {:.0} | {:.2} | {} |",
            row.contender.name,
            row.nanoseconds,
            row.nanoseconds / best,
            row.allocations
        );
    }
}
