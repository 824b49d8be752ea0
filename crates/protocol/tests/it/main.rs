//! Tests of the public interface of the protocol crate.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must fail the test")]

mod cases;
mod client_model;
mod client_session;
mod corpus;
mod early_client;
mod engine_session;
mod golden;
mod japanese;
#[expect(unreachable_pub, reason = "this file is also the library of the fuzz targets")]
mod laws;
mod limits;
mod lines;
mod observer;
mod options;
mod pair;
mod protocol_state;
mod roundtrip;
mod scripts;
mod seeds;
#[cfg(feature = "serde")]
mod serde;
mod translation;
mod tricky;
mod values;
mod vocabulary;
