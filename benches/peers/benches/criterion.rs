//! Detailed measurements: distributions, and the change since the last run.

use criterion::Criterion;
use std::time::{Duration, Instant};

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
        .configure_from_args();
    for case in readyok_peers::cases() {
        let mut group = criterion.benchmark_group(case.name);
        for mut contender in case.contenders {
            group.bench_function(contender.name, |bencher| {
                bencher.iter_custom(|times| {
                    let start = Instant::now();
                    (contender.run)(times);
                    start.elapsed()
                });
            });
        }
        group.finish();
    }
    criterion.final_summary();
}
