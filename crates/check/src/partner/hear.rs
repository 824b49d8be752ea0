//! What is heard of a client in all conversations with an engine that keeps to the rules.

use readyok_protocol::{Command, Dialect, OptionDecl, Party, Reply};
use readyok_rules::{Game, Position};

use crate::check::Heard;
use crate::conversation::{Conversation, Entry, GameOf, resolve};
use crate::message::message;

/// The commands, each with the number of its entry.
fn commands(talk: &Conversation) -> impl Iterator<Item = (usize, &Entry, Command<'_>)> {
    let of_client = talk.entries.iter().enumerate().filter(|(_, it)| it.side == Party::Client);
    of_client.map(|(at, entry)| (at, entry, Command::read(&entry.text, talk.dialect).value))
}

/// Every line is a command.
pub(super) fn known_commands(talk: &Conversation) -> Heard {
    let mut seen = 0;
    for (at, entry, command) in commands(talk) {
        match command {
            Command::Unknown(text) if !text.is_empty() => {
                return Err((at, message!("client.unknown-command", text = &entry.text)));
            }
            _ => seen += 1,
        }
    }
    Ok(seen)
}

/// Positions are legal, and so are the moves that lead on from them.
pub(super) fn legal_positions(talk: &Conversation) -> Heard {
    let mut seen = 0;
    let mut game = talk.dialect.game();
    for (at, _, command) in commands(talk) {
        match command {
            Command::SetOption(set) if set.name.eq_ignore_ascii_case("UCI_Chess960") => {
                let on = set.value.as_deref().is_some_and(|it| it.eq_ignore_ascii_case("true"));
                game = if on { Game::Chess960 } else { Game::Chess };
            }
            Command::Position(position) => {
                if resolve(&position, game).is_none() {
                    return Err((at, message!("client.invalid-position")));
                }
                seen += 1;
            }
            _ => (),
        }
    }
    Ok(seen)
}

/// Only moves that can be played are asked for.
pub(super) fn legal_search_moves(talk: &Conversation) -> Heard {
    let mut seen = 0;
    let mut position = Some(Position::start(talk.dialect.game()));
    for (at, _, command) in commands(talk) {
        match command {
            Command::Position(it) => position = resolve(&it, talk.dialect.game()),
            Command::Go(go) => {
                let (Some(position), Some(only)) = (&position, &go.search_moves) else { continue };
                if let Some(word) = only.words().find(|word| position.parse_move(word).is_err()) {
                    return Err((at, message!("client.illegal-move", mv = word)));
                }
                seen += 1;
            }
            _ => (),
        }
    }
    Ok(seen)
}

/// Only options that the engine has are set, and only to what they can be.
pub(super) fn declared_options(talk: &Conversation) -> Heard {
    let mut seen = 0;
    let mut declared: Vec<OptionDecl<'_>> = Vec::new();
    for (at, entry) in talk.entries.iter().enumerate() {
        match entry.side {
            Party::Engine => {
                if let Reply::Option(decl) = Reply::read(&entry.text, talk.dialect).value {
                    declared.push(decl);
                }
            }
            Party::Client => {
                let Command::SetOption(set) = Command::read(&entry.text, talk.dialect).value else {
                    continue;
                };
                let same = |it: &&OptionDecl<'_>| talk.dialect.same_option(&it.name, &set.name);
                match declared.iter().find(same) {
                    Some(decl) if decl.value(set.value.as_deref()).is_ok() => seen += 1,
                    Some(_) => {
                        return Err((at, message!("client.invalid-value", option = &set.name)));
                    }
                    None if talk.dialect.sends_undeclared(&set.name) => (),
                    None => {
                        return Err((at, message!("client.undeclared-option", option = &set.name)));
                    }
                }
            }
        }
    }
    Ok(seen)
}

/// A clock is told for the side to move.
pub(super) fn own_clock(talk: &Conversation) -> Heard {
    let mut seen = 0;
    let mut first_moves = Some(true);
    for (at, _, command) in commands(talk) {
        match command {
            Command::Position(it) => {
                let position = resolve(&it, talk.dialect.game());
                first_moves = position.map(|it| it.turn() == readyok_rules::Side::First);
            }
            Command::Go(go) => {
                let clocks = &go.clocks;
                // In shogi Black moves first.
                let white_first = talk.dialect == Dialect::Uci;
                let told = clocks.white_time.is_some() || clocks.black_time.is_some();
                let (Some(first), true) = (first_moves, told) else { continue };
                let own = if first == white_first { clocks.white_time } else { clocks.black_time };
                if own.is_none() {
                    return Err((at, message!("client.no-own-clock")));
                }
                seen += 1;
            }
            _ => (),
        }
    }
    Ok(seen)
}

/// There is a `quit`.
pub(super) fn says_quit(talk: &Conversation) -> Heard {
    let Some((at, ..)) = commands(talk).last() else { return Ok(0) };
    // A client that gave up before it asked for anything had its reasons.
    if !talk.whole || !commands(talk).any(|(.., command)| matches!(command, Command::Go(_))) {
        return Ok(0);
    }
    if commands(talk).any(|(.., command)| command == Command::Quit) {
        return Ok(1);
    }
    Err((at, message!("client.no-quit")))
}

/// A game, which is a search with clocks, begins with `ucinewgame` or `usinewgame`.
pub(super) fn new_game(talk: &Conversation) -> Heard {
    let mut told = false;
    for (at, _, command) in commands(talk) {
        match command {
            Command::NewGame => told = true,
            Command::Go(go) if go.clocks.black_time.is_some() && !told => {
                return Err((
                    at,
                    message!("client.not-preceded", command = talk.dialect.new_game()),
                ));
            }
            Command::Go(go) if go.clocks.black_time.is_some() => return Ok(1),
            _ => (),
        }
    }
    Ok(0)
}
