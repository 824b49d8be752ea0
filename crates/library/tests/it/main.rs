//! Tests of the database as a whole.
#![expect(clippy::expect_used, reason = "a test that cannot continue has failed")]
#![expect(clippy::single_range_in_vec_init, reason = "numbers of added games are ranges")]

mod collections;
mod conditions;
mod documents;
mod duplicates;
#[cfg(target_os = "linux")]
mod faults;
mod generate;
mod import;
#[expect(unreachable_pub, reason = "the library of the fuzz targets includes this file")]
mod laws;
mod names;
mod patterns;
mod processes;
mod records;
mod repair;
mod searches;
mod storage;
