//! Lines of text with a game each: `position` of UCI and USI, FEN, EPD, SFEN, moves, and links.
//!
//! Empty lines and those that begin with `#` are skipped. A line is
//! - `position startpos moves e2e4 e7e5`, with or without `position`;
//! - a FEN, EPD or SFEN, with or without `fen` or `sfen`, and with fields left out at its end;
//!   `moves` can follow;
//! - moves alone, which can continue on the next line;
//! - a link to a board of a web site that contains a position or moves.
//!
//! Moves can have any notation. `resign`, `win`, `draw` and `timeout` after them end the game.
//!
//! # Limitations
//! Only the start position and the moves of the main line are written, up to a null move or an illegal
//! one.

mod epd;
mod link;
mod usen;

use std::io::BufRead;

use crate::{
    Game, GameResult, Notation, Position, PositionError, Setup, Termination, error::shortened,
};

use super::{
    AddError, Defect, Encoding, Format, GameRecord, Limit, Notice, NoticeReason, ReadExtent,
    RecordErrorKind, RecordMove, Records,
    format::{Certainty, Location},
    input::{Line, LineReader, ReadLines},
    loss::{Holds, Written},
};

pub(super) type OneLineReader<R> = LineReader<R, OneLine>;

/// A game is a line.
#[derive(Debug, Default)]
pub(super) struct OneLine;

impl<R: BufRead> ReadLines for OneLineReader<R> {
    fn read_game(&mut self) -> Result<Option<GameRecord>, RecordErrorKind> {
        while let Some(line) = self.next_line()? {
            let text = line.text.trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            if link::is_link(text) {
                return self.read_link(text).map(Some);
            }
            return self.read_line(&line, text).map(Some);
        }
        Ok(None)
    }

    /// A line that cannot be read was consumed.
    fn skip_game(&mut self) -> bool {
        true
    }
}

/// The start of a line: a position, and the text after it.
struct Start<'a> {
    record: GameRecord,
    moves: &'a str,
}

impl<R: BufRead> OneLineReader<R> {
    /// The game of a line that fits several.
    fn usual_game(&self) -> Game {
        if self.format.supports(Game::Shogi) { Game::Shogi } else { Game::Chess }
    }

    fn read_line(&mut self, line: &Line, text: &str) -> Result<GameRecord, RecordErrorKind> {
        let rest = after(text, "position").unwrap_or(text);
        let Some(Start { mut record, moves }) = self.start(line, rest, None)? else {
            return self.bare_moves(line, rest);
        };
        let moves = after(moves, "moves").unwrap_or_else(|| {
            self.location = line.location(moves);
            if !moves.is_empty() {
                self.skipped(moves);
            }
            ""
        });
        self.play(&mut record, moves, &|token| Some(line.location(token)));
        Ok(record)
    }

    /// Moves without a position. They continue on the next lines.
    fn bare_moves(&mut self, line: &Line, text: &str) -> Result<GameRecord, RecordErrorKind> {
        let first = text.split_whitespace().next().unwrap_or_default();
        let moves = match after(text, "moves") {
            Some(moves) => moves,
            None if is_move(first) => text,
            None => {
                return Err(RecordErrorKind::Defect(Defect::UnexpectedText {
                    text: shortened(first),
                }));
            }
        };
        let mut record = GameRecord::new(Position::start(self.game_of_moves(moves)));
        let mut complete = self.play(&mut record, moves, &|token| Some(line.location(token)));
        while let Some(line) = self.lines.next()? {
            let moves = line.text.trim();
            if !moves.split_whitespace().next().is_some_and(is_move) {
                self.lines.push_back(line);
                break;
            }
            if complete {
                complete = self.play(&mut record, moves, &|token| Some(line.location(token)));
            }
        }
        Ok(record)
    }

    /// Reads a start position. `None` if the text does not begin with one.
    fn start<'a>(
        &mut self,
        line: &Line,
        text: &'a str,
        game: Option<Game>,
    ) -> Result<Option<Start<'a>>, RecordErrorKind> {
        if let Some(rest) = after(text, "startpos") {
            let moves = after(rest, "moves").unwrap_or_default();
            let game = game.unwrap_or_else(|| self.game_of_moves(moves));
            return Ok(Some(Start { record: GameRecord::new(Position::start(game)), moves: rest }));
        }
        let (text, keyword) = match (after(text, "sfen"), after(text, "fen")) {
            (Some(rest), _) => (rest, Some(Game::Shogi)),
            (None, Some(rest)) => (rest, Some(Game::Chess)),
            (None, None) => (text, None),
        };
        let board = text.split_whitespace().next().unwrap_or_default();
        let game = match board.split('/').count() {
            9 => Game::Shogi,
            8 => game.filter(|game| *game != Game::Shogi).unwrap_or(Game::Chess),
            1 if keyword.is_none() => return Ok(None),
            _ => keyword.or(game).unwrap_or_else(|| self.usual_game()),
        };
        let (placed, moves) = split_at_moves(text);
        self.location = line.location(placed);
        let record = if game == Game::Shogi {
            self.sfen(line, placed)?
        } else {
            self.fen(line, placed, game)?
        };
        Ok(Some(Start { record, moves }))
    }

    fn sfen(&mut self, line: &Line, text: &str) -> Result<GameRecord, RecordErrorKind> {
        let mut rest = text;
        let mut fields = Vec::new();
        while fields.len() < 4
            && let Some(token) = rest.split_whitespace().next()
        {
            // The move number can be missing.
            if fields.len() == 3 && !token.bytes().all(|byte| byte.is_ascii_digit()) {
                break;
            }
            fields.push(token);
            rest = rest.trim_start().strip_prefix(token).unwrap_or_default();
        }
        let setup = Setup::read_partial(Game::Shogi, &fields.join(" "));
        let record = self.viewed(&setup.map_err(RecordErrorKind::Start)?);
        let rest = rest.trim();
        if !rest.is_empty() {
            self.location = line.location(rest);
            self.skipped(rest);
        }
        Ok(record)
    }

    /// The position of a setup. A violation of the rules is a notice.
    fn viewed(&mut self, setup: &Setup) -> GameRecord {
        let position = Position::for_viewing(setup);
        if let Some(defect) = position.defect() {
            self.notice(NoticeReason::Start(defect.clone()));
        }
        GameRecord::new(position)
    }

    /// Reads a FEN or an EPD.
    fn fen(&mut self, line: &Line, text: &str, game: Game) -> Result<GameRecord, RecordErrorKind> {
        let fields = epd::fields(text);
        let mut game = game;
        if epd::has_rook_files(fields) {
            game = Game::Chess960;
        }
        let mut setup = Setup::read_partial(game, fields).map_err(RecordErrorKind::Start)?;
        if let Err(PositionError::InvalidCastlingRight { .. }) = setup.position()
            && let Ok(other) = Setup::read_partial(Game::Chess960, fields)
            && other.position().is_ok()
        {
            setup = other;
        }
        while let Err(PositionError::InvalidCastlingRight { square }) = setup.position() {
            if !setup.drop_castling_right(&square) {
                break;
            }
            self.notice(NoticeReason::CastlingRight { square });
        }
        let mut record = self.viewed(&setup);
        let operations = text.get(fields.len()..).unwrap_or_default().trim();
        if !operations.is_empty() && !epd::annotate(&mut record, operations) {
            self.location = line.location(operations);
            self.skipped(operations);
        }
        Ok(record)
    }

    fn read_link(&mut self, text: &str) -> Result<GameRecord, RecordErrorKind> {
        let limits = *self.lines.limits();
        match link::content(text) {
            None => Err(RecordErrorKind::Defect(Defect::UnexpectedText { text: shortened(text) })),
            Some(link::Content::Usen(text)) => {
                usen::read(&text, &limits, self.location, self.state.notices_mut())
            }
            Some(link::Content::Pgn(text)) => {
                let mut games = Records::new(text.as_bytes(), Format::PGN, limits);
                let game = games.next();
                // Links have no results.
                for Notice { reason, kept, .. } in games.notices() {
                    if *reason != NoticeReason::Defect(Defect::MissingResult) {
                        self.state.notice(self.location, reason.clone(), *kept);
                    }
                }
                match game {
                    Some(game) => game.map_err(|error| error.kind),
                    None => Err(RecordErrorKind::Defect(Defect::UnexpectedText {
                        text: shortened(&text),
                    })),
                }
            }
            Some(link::Content::Line { game, start, moves }) => {
                let line = self.lines.virtual_line(format!("{start} moves {moves}"));
                let Some(start) = self.start(&line, &line.text, game)? else {
                    return Err(RecordErrorKind::Defect(Defect::UnexpectedText {
                        text: shortened(text),
                    }));
                };
                let mut record = start.record;
                self.play(&mut record, &moves, &|_| None);
                Ok(record)
            }
        }
    }

    /// Plays moves. False if the rest of them was skipped.
    fn play(
        &mut self,
        record: &mut GameRecord,
        moves: &str,
        location: &dyn Fn(&str) -> Option<Location>,
    ) -> bool {
        let limits = *self.lines.limits();
        for token in moves.split_whitespace() {
            if let Some(location) = location(token) {
                self.location = location;
            }
            let ply = record.len();
            let kept = ReadExtent::MainLine(u32::try_from(ply).unwrap_or(u32::MAX));
            if let Some(termination) = end_of(token) {
                record.finish(termination);
                return false;
            }
            let token = without_number(token, record.game());
            if token.is_empty() {
                continue;
            }
            if let Some(result) = GameResult::from_text(token) {
                record.result = result;
                return false;
            }
            if ply >= limits.plies.min(limits.moves) {
                self.state.notice(
                    self.location,
                    NoticeReason::LimitExceeded(Limit::LineTooLong),
                    kept,
                );
                return false;
            }
            let position = record.position();
            let mv = match record.game() {
                _ if matches!(token, "0000" | "--") => Ok(RecordMove::Null),
                Game::Chess | Game::Chess960 => {
                    position.parse(token, Notation::Western).map(RecordMove::Legal)
                }
                Game::Shogi if is_usi(token) => position.parse_move(token).map(RecordMove::Legal),
                Game::Shogi => {
                    let read = position.parse(token, Notation::Western);
                    let read = read.or_else(|_| position.parse(token, Notation::Japanese));
                    read.map(RecordMove::Legal)
                }
            };
            let reason = match mv.map(|mv| record.play(mv)) {
                Ok(Ok(_)) => continue,
                Err(error) | Ok(Err(AddError::Move(error))) => NoticeReason::Move(error),
                Ok(Err(_)) => NoticeReason::LimitExceeded(Limit::LineTooLong),
            };
            self.state.notice(self.location, reason, kept);
            return false;
        }
        true
    }

    /// The game of moves after a start position that several games have.
    fn game_of_moves(&self, moves: &str) -> Game {
        match moves.split_whitespace().next() {
            Some(first) if is_usi(first) => Game::Shogi,
            Some(first) if is_move(first) => Game::Chess,
            _ => self.usual_game(),
        }
    }
}

/// Whether a line is one of a game.
pub(super) fn detect(line: &str, game: Game) -> Option<Certainty> {
    (game_of(line)? == game).then_some(Certainty::Certain)
}

/// The game of a line. `None` if the line is of another format.
fn game_of(line: &str) -> Option<Game> {
    if link::is_link(line) {
        return Some(Game::Chess);
    }
    let rest = after(line, "position").unwrap_or(line);
    let mut tokens = rest.split_whitespace();
    let first = tokens.next()?;
    if first == "startpos" {
        let mv = tokens.find(|token| *token != "moves");
        return Some(if mv.is_some_and(is_usi) { Game::Shogi } else { Game::Chess });
    }
    let first = if first == "moves" { tokens.next()? } else { first };
    match first {
        "fen" => Some(Game::Chess),
        "sfen" => Some(Game::Shogi),
        _ if is_usi(first) => Some(Game::Shogi),
        _ if is_uci(first) => Some(Game::Chess),
        _ if is_board(first) => {
            Some(if first.split('/').count() == 9 { Game::Shogi } else { Game::Chess })
        }
        _ => None,
    }
}

/// The termination that a token after the moves states.
fn end_of(token: &str) -> Option<Termination> {
    Some(match token {
        "resign" => Termination::Resignation,
        "win" => Termination::Declaration,
        "draw" => Termination::DrawAgreement,
        "timeout" => Termination::TimeForfeit,
        _ => return None,
    })
}

/// A move of chess without its number, such as `1.` or `1...`.
fn without_number(token: &str, game: Game) -> &str {
    let rest = token.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_number = rest.len() < token.len() && (rest.is_empty() || rest.starts_with('.'));
    if game == Game::Shogi || !is_number || token == "0000" {
        return token;
    }
    rest.trim_start_matches('.')
}

/// Whether a token is a move of shogi: `7g7f`, `8h2b+`, `P*5e`.
pub(super) fn is_usi(token: &str) -> bool {
    rsshogi::types::Move::from_usi(token).is_some_and(rsshogi::types::Move::is_normal)
}

/// Whether a token is a move of chess or shogi in UCI or USI notation: `e2e4`, `e7e8q`, `7g7f`.
pub(super) fn is_move(token: &str) -> bool {
    is_usi(token) || is_uci(token)
}

/// Whether a token is a move of chess in UCI notation.
pub(super) fn is_uci(token: &str) -> bool {
    matches!(token.parse(), Ok(shakmaty::uci::UciMove::Normal { .. }))
}

/// Whether a token is the board of a FEN or an SFEN, even with a missing or superfluous rank.
pub(super) fn is_board(token: &str) -> bool {
    let ranks = token.split('/').count();
    (4..=12).contains(&ranks)
        && token.chars().all(|letter| {
            letter.is_ascii_digit() || "/+~pnbrqkgsl".contains(letter.to_ascii_lowercase())
        })
}

/// The rest of a text after a token that it starts with.
fn after<'a>(text: &'a str, token: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(token)?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.trim_start())
}

/// The text before `moves`, and the rest.
fn split_at_moves(text: &str) -> (&str, &str) {
    let at = text.match_indices("moves").map(|(at, _)| at).find(|&at| {
        let (before, rest) = text.split_at(at);
        before.ends_with(char::is_whitespace) && after(rest, "moves").is_some()
    });
    let (placed, moves) = text.split_at(at.unwrap_or(text.len()));
    (placed.trim_end(), moves)
}

/// The line of a record in UCI or USI.
pub(super) fn write(record: &GameRecord, _: Encoding) -> Written {
    let game = record.game();
    let start = record.start().text(match game {
        // The letters of files distinguish it from chess.
        Game::Chess960 => crate::FenForm::Shredder,
        Game::Chess | Game::Shogi => crate::FenForm::XFen,
    });
    let usual = match game {
        Game::Chess | Game::Shogi => Some(Position::start(game).to_string()),
        Game::Chess960 => None,
    };
    let mut moves = record.mainline().map_while(|node| node.mv()?.legal()).peekable();
    // Without moves, `startpos` of chess and shogi are equal, and files of both games exist.
    let is_ambiguous = game == Game::Chess && moves.peek().is_none();
    let mut line = match game {
        _ if usual.as_deref() == Some(&start) && !is_ambiguous => "position startpos".to_owned(),
        Game::Chess | Game::Chess960 => format!("position fen {start}"),
        Game::Shogi => format!("position sfen {start}"),
    };
    for (index, mv) in moves.enumerate() {
        line.push_str(if index == 0 { " moves " } else { " " });
        line.push_str(mv.uci(game.castling_form()).as_str());
    }
    line.push('\n');
    Written { text: line, losses: Holds::MOVES.losses(record) }
}
