//! Properties of any calls of the interface for JavaScript. The fuzz target and the tests check them.

use readyok_wasm::{game, last_output, position, reader, set_input};

/// What an export returns.
enum Answer {
    /// A handle, which must be freed by this function.
    Handle(i32, extern "C" fn(i32)),
    /// The length of a text.
    Text(i32),
    /// The length of eight bytes for each position.
    Keys(i32),
    Number(i32),
}

/// Any bytes as calls: a function, a handle, two arguments, the length of the input and the input. No call panics, and
/// each answers a text, or an error of three parts. Only handles of their own functions are used, as in JavaScript.
pub fn calls(bytes: &[u8]) {
    let mut open: Vec<(i32, extern "C" fn(i32))> = Vec::new();
    let mut rest = bytes;
    while let &[function, handle, a, b, len, ref tail @ ..] = rest {
        let (input, after) = tail.split_at(usize::from(len).min(tail.len()));
        rest = after;
        set_input(input);
        let answer = call(function, i32::from(handle % 8), u32::from(a), u32::from(b), input);
        check(&answer);
        if let Answer::Handle(handle @ 1.., free) = answer {
            open.push((handle, free));
        }
    }
    for (handle, free) in open {
        free(handle);
        free(handle);
    }
}

fn call(function: u8, handle: i32, a: u32, b: u32, input: &[u8]) -> Answer {
    use Answer::{Handle, Keys, Number, Text};
    // The parts of the input are separated by NUL.
    let parts = match b {
        0..=200 => input.split(|byte| *byte == 0).count(),
        wrong => wrong as usize,
    };
    let parts = u32::try_from(parts).unwrap_or(u32::MAX);
    match function % 25 {
        0 => Handle(position::position_new(a % 4, b % 4), position::position_free),
        1 => Handle(position::position_copy(handle), position::position_free),
        2 => {
            let before = facts(handle);
            let pushed = position::position_push(handle, parts);
            if pushed < 0 {
                let error = last_output();
                assert_eq!(before, facts(handle));
                assert!(!error.is_empty());
                return Number(0);
            }
            Text(pushed)
        }
        3 => Text(position::position_pop(handle)),
        4 => Number(position::position_flags(handle, a)),
        5 => Text(position::position_fact(handle, a % 13)),
        6 => Text(position::position_text(handle, a % 4)),
        7 => Text(position::position_notation(handle, a % 11, b % 11)),
        8 => Text(position::position_line(handle, parts, a % 11)),
        9 => Handle(game::game_new(handle), game::game_free),
        10 => Handle(game::game_copy(handle), game::game_free),
        11 if a == 6 => Keys(game::game_fact(handle, a)),
        11 => Text(game::game_fact(handle, a)),
        12 if b.is_multiple_of(2) => Text(game::game_texts(handle, a % 4)),
        12 => Text(game::game_line(handle, a % 11)),
        13 => Text(game::game_header(handle, a % 4, b as usize % 16)),
        14 => Text(game::game_tree(handle)),
        15 => Text(game::game_annotations(handle, a)),
        16 => Number(game::game_annotate(handle, a)),
        17 => Number(game::game_add(handle, a, parts)),
        18 => Number(game::game_delete(handle, a)),
        19 => Number(game::game_promote(handle, a, b % 2)),
        20 => Number(game::game_finish(handle, a)),
        21 => Handle(game::game_position(handle, a), position::position_free),
        22 => Text(game::game_write(handle, a % 8, b % 2)),
        23 => Handle(reader::reader_new(a % 9), reader::reader_free),
        _ => {
            let pushed = reader::reader_push(handle, a % 2);
            if pushed < 0 {
                return Number(pushed);
            }
            Handle(reader::reader_next(handle), game::game_free)
        }
    }
}

/// The text and the moves of a position.
fn facts(handle: i32) -> [Vec<u8>; 2] {
    [5, 1].map(|fact| {
        position::position_fact(handle, fact);
        last_output()
    })
}

fn check(answer: &Answer) {
    let (Answer::Handle(value, _)
    | Answer::Text(value)
    | Answer::Keys(value)
    | Answer::Number(value)) = *answer;
    let output = last_output();
    if value < 0 {
        assert_eq!(usize::try_from(-value).ok(), Some(output.len()));
        let text = String::from_utf8(output).unwrap_or_default();
        let mut parts = text.splitn(3, '\n');
        let kind = parts.next().unwrap_or_default();
        assert!(["position", "move", "record", "usage", "other"].contains(&kind), "{text}");
        assert_eq!(parts.count(), 2, "{text}");
        return;
    }
    match answer {
        Answer::Text(length) => {
            assert_eq!(usize::try_from(*length).ok(), Some(output.len()));
            assert!(String::from_utf8(output).is_ok());
        }
        Answer::Keys(length) => assert_eq!(length % 8, 0),
        Answer::Handle(..) | Answer::Number(_) => {}
    }
}
