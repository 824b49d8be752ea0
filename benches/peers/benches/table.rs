//! The table: time, ratio to the best rival, allocations.
//!
//! Contenders take turns in short batches and the best batch of each counts, so that the load of
//! the machine strikes all of them or none.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use readyok_peers::{Case, Contender};

/// How often each contender has its turn.
const ROUNDS: u32 = 200;
/// How long a turn should take, in nanoseconds.
const BATCH: u64 = 100_000;

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
    for case in readyok_peers::cases() {
        print(measured(case));
    }
}

struct Row {
    contender: Contender,
    times: u64,
    nanoseconds: f64,
    allocations: u64,
}

fn measured(case: Case) -> (String, Vec<Row>) {
    let row = |mut contender: Contender| {
        // The first run fills the buffers of those that keep some.
        let warm = nanoseconds(&mut contender, 100) / 100.0;
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        (contender.run)(1);
        let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
        let times = (BATCH as f64 / warm.max(1.0)).ceil() as u64;
        Row { contender, times, nanoseconds: f64::INFINITY, allocations }
    };
    let mut rows: Vec<_> = case.contenders.into_iter().map(row).collect();
    for _ in 0..ROUNDS {
        for row in &mut rows {
            let batch = nanoseconds(&mut row.contender, row.times) / row.times as f64;
            row.nanoseconds = row.nanoseconds.min(batch);
        }
    }
    (case.name, rows)
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
