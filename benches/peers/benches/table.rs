//! The table: time, ratio to the best rival, allocations.
//!
//! Contenders take turns in batches that are shorter than a time slice, and the best batch of each
//! counts, so that the load of the machine strikes all of them or none. All cases are gone through
//! several times: what disturbs a machine for a second disturbs one pass of a case.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use readyok_peers::{Case, Contender};

/// How often all cases are gone through.
const PASSES: u32 = 100;
/// How often each contender has its turn in a pass.
const ROUNDS: u32 = 100;
/// How long a turn should take, in nanoseconds.
const BATCH: u64 = 20_000;

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

fn count() {
    // There is one thread, and a locked instruction would slow down those who allocate.
    ALLOCATIONS.store(ALLOCATIONS.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

// SAFETY: every call is passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract, which is the same.
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
    // Cargo adds `--bench` to what it is given.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    let is_wanted =
        |case: &Case| wanted.is_empty() || wanted.iter().any(|it| case.name.contains(it.as_str()));
    let mut cases: Vec<_> =
        readyok_peers::cases().into_iter().filter(is_wanted).map(prepared).collect();
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
        // The first run fills the buffers of those that keep some.
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
