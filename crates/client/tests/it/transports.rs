//! Transports without a process.

use std::net::TcpListener;
use std::sync::mpsc::channel;
use std::thread;

use readyok_client::{Engine, Game, Limit, Problem, TimeoutKind, Timeouts, WaitLimit};

use crate::support::{SHORT, good_engine, patient, problem, uci};

#[test]
fn an_engine_can_be_reached_over_tcp() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = format!("tcp://{}", listener.local_addr().expect("it has one"));
    let (received, lines) = channel();
    let server = thread::spawn(move || {
        for _ in 0..2 {
            let (stream, _) = listener.accept().expect("a client");
            good_engine(stream.try_clone().expect("a clone"), stream, &received);
        }
    });
    let mut engine = uci(patient()).connect(&address).expect("it answers");
    assert!(engine.play(&Game::startpos(), Limit::Depth(1)).is_ok());
    assert_eq!(engine.quit().expect("it leaves"), None);
    // Dropping sends `quit` as well.
    drop(uci(patient()).connect(&address).expect("it answers"));
    server.join().expect("both sessions ended");
    assert_eq!(lines.iter().filter(|line| line == "uci").count(), 2);
}

#[test]
fn an_unavailable_port_is_reported() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it has one").to_string();
    drop(listener);
    let result = Engine::builder().connect(&address);
    let error = result.expect_err("nothing listens there");
    assert!(matches!(error.problem(), Problem::Start { .. }));
    assert!(error.to_string().contains(": cannot be reached at its address: "), "{error}");
    assert!(matches!(problem(Engine::builder().connect("no port")), Problem::Start { .. }));
}

#[test]
fn a_silent_connection_times_out() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it has one").to_string();
    let timeouts = Timeouts { handshake: WaitLimit::fixed(SHORT), ..patient() };
    assert_eq!(problem(uci(timeouts).connect(&address)), Problem::Timeout(TimeoutKind::Handshake));
}

#[test]
fn an_engine_can_run_in_process() {
    let (received, lines) = channel();
    let builder = uci(patient());
    let engine = builder.in_process(move |input, output| good_engine(input, output, &received));
    let mut engine = engine.expect("it answers");
    assert_eq!(engine.process_id(), None);
    assert!(engine.play(&Game::startpos(), Limit::Depth(1)).is_ok());
    drop(engine);
    // The thread has exited, so its sender is dropped.
    assert_eq!(lines.iter().filter(|line| line.starts_with("go")).count(), 1);
}

#[test]
fn an_engine_that_closes_its_stream_is_disconnected() {
    let engine = uci(patient()).in_process(|_, _| ());
    assert_eq!(problem(engine), Problem::Disconnected);
}
