//! Reading and writing frequent messages allocates nothing. A separate test executable, because it
//! counts the calls of its allocator.
#![expect(unsafe_code, reason = "an allocator that counts is one")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use readyok_protocol::{ByteSink, Command, Dialect, Reply};

/// The system allocator with a count per thread, because the test harness allocates too.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // The count of an exiting thread is already destroyed.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: every call is forwarded unchanged to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller upholds the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the same contract.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller upholds the same contract.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(act: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    act();
    ALLOCATIONS.get() - before
}

const COMMANDS: [(Dialect, &str); 6] = [
    (Dialect::Uci, "go wtime 300000 btime 298000 winc 2000 binc 2000"),
    (Dialect::Uci, "go ponder depth 20 nodes 5000000 mate 3 movetime 1000 searchmoves e2e4 d2d4"),
    (Dialect::Uci, "go infinite"),
    (Dialect::Uci, "position startpos moves e2e4 e7e5 g1f3 b8c6 f1b5 a7a6"),
    (Dialect::Usi, "go btime 60000 wtime 50000 byoyomi 10000"),
    (Dialect::Usi, "position startpos moves 7g7f 3c3d 8h2b+ 3a2b B*4e"),
];

const REPLIES: [(Dialect, &str); 6] = [
    (
        Dialect::Uci,
        "info depth 24 seldepth 33 multipv 2 score cp -31 lowerbound wdl 18 912 70 nodes 12345678 \
         nps 1520000 hashfull 417 tbhits 12 time 8122 pv e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4",
    ),
    (Dialect::Uci, "info depth 12 currmove e2e4 currmovenumber 1"),
    (Dialect::Uci, "info depth 3 score mate -2 nodes 99 currline 1 e2e4 e7e5"),
    (Dialect::Uci, "info string NNUE evaluation using nn-5af11540bbfe.nnue"),
    (Dialect::Uci, "bestmove e2e4 ponder e7e5"),
    (Dialect::Usi, "info depth 9 score mate 5 nodes 7 time 8 pv 7g7f 3c3d 8h2b+ 3a2b B*4e"),
];

#[test]
fn reading_and_writing_hot_messages_allocates_nothing() {
    let (mut text, mut bytes) = (String::with_capacity(1024), Vec::with_capacity(1024));
    for (dialect, line) in COMMANDS {
        let count = allocations(|| {
            let command = Command::read(line, dialect).value;
            command.write(dialect, &mut text).unwrap();
            command.write(dialect, &mut ByteSink(&mut bytes)).unwrap();
        });
        assert_eq!((text.as_str(), count), (line, 0));
        assert_eq!(bytes, text.as_bytes());
        text.clear();
        bytes.clear();
    }
    for (dialect, line) in REPLIES {
        let count = allocations(|| {
            let reply = Reply::read(line, dialect).value;
            reply.write(dialect, &mut text).unwrap();
            reply.write(dialect, &mut ByteSink(&mut bytes)).unwrap();
        });
        assert_eq!((text.as_str(), count), (line, 0));
        assert_eq!(bytes, text.as_bytes());
        text.clear();
        bytes.clear();
    }
}

#[test]
fn an_allocation_is_counted() {
    assert_eq!(allocations(|| drop(Vec::<u8>::with_capacity(8))), 1);
    let unknown = "info depth 5 winrate 0.591";
    assert_ne!(allocations(|| drop(Reply::read(unknown, Dialect::Uci))), 0);
}
