//! The positions of files: lines, and the positions of games. They are read one by one.

use std::collections::VecDeque;
use std::io::{self, BufRead, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use readyok_protocol::Score;
use readyok_rules::judgement::final_score;
use readyok_rules::record::{Cost, Format, GameRecord, Node, NumberRange, RecordMove, Tag, decode};
use readyok_rules::{FenForm, Game, Move, Operation, Position};

use super::line::{LinePosition, read_line};
use crate::convert::{FileFormat, Files, Games, ReadOptions};

/// Maximum length of a line, in bytes.
const MAX_LINE: u64 = 1 << 18;
/// Maximum length of the beginning of a file that decides its format, in bytes.
const MAX_BEGINNING: u64 = 1 << 16;

/// The positions of each game that are analysed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PlyChoice {
    /// The plies; only the last one if this and `every` are `None`.
    pub(crate) plies: Option<NumberRange>,
    /// The interval in plies.
    pub(crate) every: Option<u32>,
}

impl PlyChoice {
    fn contains(self, ply: usize, last: usize) -> bool {
        if self.plies.is_none() && self.every.is_none() {
            return ply == last;
        }
        let number = i64::try_from(ply).unwrap_or(i64::MAX);
        self.plies.is_none_or(|plies| plies.contains(number))
            && self.every.is_none_or(|every| number % i64::from(every.max(1)) == 0)
    }
}

/// A position with its origin.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// The number among all positions, from 1.
    pub(crate) number: u64,
    /// The number of the file.
    pub(crate) file: usize,
    /// The line, from 1, if each line of the file is a position.
    pub(crate) line: Option<u64>,
    /// The game in the file, from 1, if the file has games.
    pub(crate) game: Option<u64>,
    /// Plies from the start of the line or game.
    pub(crate) ply: usize,
    /// The name of the position.
    pub(crate) id: Option<String>,
    /// The position that engines get, and the moves after it.
    pub(crate) root: Position,
    pub(crate) moves: Vec<Move>,
    pub(crate) position: Position,
    /// The operations of an EPD.
    pub(crate) operations: Vec<Operation>,
}

impl Item {
    /// What the analysis depends on, as text.
    pub(crate) fn key(&self) -> String {
        let form = self.position.game().castling_form();
        let moves: Vec<String> = self.moves.iter().map(|mv| mv.to_uci(form)).collect();
        format!("{} {} {:?}", self.root, moves.join(" "), self.operations)
    }

    /// The score, if the game is over and an engine has nothing to search.
    pub(crate) fn final_score(&self) -> Option<Score> {
        let is_over = self.position.legal_moves().is_empty();
        is_over.then(|| final_score(&self.position).unwrap_or(Score::Cp(0)))
    }

    /// The operations for the output: those of the EPD, or else the counters of the position.
    pub(crate) fn own_operations(&self) -> Vec<Operation> {
        let setup = self.position.setup();
        if self.operations.is_empty() {
            vec![
                Operation::HalfmoveClock(setup.halfmove_clock()),
                Operation::FullmoveNumber(setup.move_number()),
            ]
        } else {
            self.operations.clone()
        }
    }

    /// The position as FEN or SFEN.
    pub(crate) fn text(&self) -> String {
        self.position.text(FenForm::XFen)
    }
}

/// Something that was read.
#[derive(Debug)]
pub(crate) enum Found {
    Position(Box<Item>),
    /// A part of a file that is not a position.
    Unreadable(String),
    /// A game with less moves than in the file. Its positions follow.
    Cut(String),
}

/// Reads the positions of all files.
pub(crate) struct Positions {
    files: Files,
    read: ReadOptions,
    choice: PlyChoice,
    game: Option<Game>,
    /// Positions of shogi are defects, because annotated EPD cannot hold them.
    is_epd: bool,
    bytes: Arc<AtomicU64>,
    number: u64,
    next_file: usize,
    content: Content,
    found: VecDeque<Found>,
}

enum Content {
    /// The next file is opened.
    None,
    Lines {
        reader: Box<dyn BufRead + Send>,
        number: u64,
        usual: Game,
    },
    Games {
        games: Box<Games>,
        number: u64,
    },
    /// The positions of a line or game. The content is what follows it.
    Walk(Box<Walk>, Box<Self>),
}

/// A line of moves whose positions are read one by one.
struct Walk {
    root: Position,
    moves: Vec<Move>,
    position: Position,
    rest: VecDeque<RecordMove>,
    ply: usize,
    last: usize,
    line: Option<u64>,
    game: Option<u64>,
    id: Option<String>,
    operations: Vec<Operation>,
}

impl Positions {
    pub(crate) fn new(
        files: Files,
        read: ReadOptions,
        choice: PlyChoice,
        game: Option<Game>,
        is_epd: bool,
        bytes: Arc<AtomicU64>,
    ) -> Self {
        let (content, found) = (Content::None, VecDeque::new());
        Self { files, read, choice, game, is_epd, bytes, number: 0, next_file: 0, content, found }
    }

    /// The next position or defect. `None` after the last one.
    pub(crate) fn next(&mut self) -> Option<Found> {
        loop {
            if let Some(found) = self.found.pop_front() {
                return Some(found);
            }
            match std::mem::replace(&mut self.content, Content::None) {
                Content::None => {
                    let file = self.next_file;
                    self.next_file += 1;
                    self.files.get(file)?;
                    match self.open(file) {
                        Ok(content) => self.content = content,
                        Err(error) => self.unreadable_file(&error),
                    }
                }
                Content::Walk(walk, rest) => self.walk(walk, *rest),
                Content::Lines { reader, number, usual } => self.line(reader, number + 1, usual),
                Content::Games { games, number } => self.game(games, number + 1),
            }
        }
    }

    fn file(&self) -> usize {
        self.next_file.saturating_sub(1)
    }

    fn unreadable_file(&mut self, error: &dyn std::fmt::Display) {
        let name = self.files.name(self.file());
        self.found.push_back(Found::Unreadable(format!("`{name}`: {error}")));
    }

    fn open(&self, file: usize) -> io::Result<Content> {
        let Some(source) = self.files.get(file) else { return Ok(Content::None) };
        let mut content = source.content(self.read, &self.bytes)?;
        let mut format = source.format(self.read);
        let mut beginning = Vec::new();
        if format.is_none() {
            format = detect(&mut content, &mut beginning)?;
        }
        let start = if beginning.is_empty() { content.fill_buf()? } else { &beginning };
        let is_utf16 = start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff");
        let content = Cursor::new(beginning).chain(content);
        let usual = match format {
            Some(FileFormat::Record(format)) if format == Format::USI => Some(Game::Shogi),
            Some(FileFormat::Record(format)) if format == Format::UCI => Some(Game::Chess),
            Some(FileFormat::Sfen) => Some(Game::Shogi),
            Some(FileFormat::Fen | FileFormat::Epd) | None => Some(Game::Chess),
            Some(FileFormat::Record(_)) => None,
        };
        let Some(usual) = usual else {
            let games = Box::new(Games::read(content, format, self.read));
            return Ok(Content::Games { games, number: 0 });
        };
        // Detecting an encoding needs more than one line, which a pipe may not have yet.
        let reader: Box<dyn BufRead + Send> = if is_utf16 || self.read.encoding.is_some() {
            decode(content, self.read.encoding)
        } else {
            Box::new(content)
        };
        Ok(Content::Lines { reader, number: 0, usual })
    }

    fn line(&mut self, mut reader: Box<dyn BufRead + Send>, number: u64, usual: Game) {
        let name = || format!("{}:{number}", self.files.name(self.file()));
        let mut text = Vec::new();
        let read = (&mut reader).take(MAX_LINE).read_until(b'\n', &mut text);
        match read {
            Ok(0) => return,
            Ok(_) if text.len() as u64 == MAX_LINE && !text.ends_with(b"\n") => {
                let error = format!("{}: the line has more than {MAX_LINE} bytes", name());
                self.found.push_back(Found::Unreadable(error));
                if let Err(error) = skip_line(&mut reader) {
                    return self.unreadable_file(&error);
                }
                self.content = Content::Lines { reader, number, usual };
                return;
            }
            Ok(_) => {}
            Err(error) => return self.unreadable_file(&error),
        }
        let rest = Content::Lines { reader, number, usual };
        let text = match decoded(text) {
            Ok(text) => text,
            Err(error) => {
                self.found.push_back(Found::Unreadable(format!("{}: {error}", name())));
                self.content = rest;
                return;
            }
        };
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            self.content = rest;
            return;
        }
        match read_line(text, self.game, usual) {
            Ok(LinePosition { root, moves, operations }) => {
                let id = operations.iter().find_map(|operation| match operation {
                    Operation::Id(id) => Some(id.clone()),
                    _ => None,
                });
                let walk = Walk {
                    position: root.clone(),
                    root,
                    last: moves.len(),
                    rest: moves.into_iter().map(RecordMove::Legal).collect(),
                    moves: Vec::new(),
                    ply: 0,
                    line: Some(number),
                    game: None,
                    id,
                    operations,
                };
                self.content = Content::Walk(Box::new(walk), Box::new(rest));
            }
            Err(error) => {
                let error = format!("{}: {error}", name());
                self.found.push_back(Found::Unreadable(error));
                self.content = rest;
            }
        }
    }

    fn game(&mut self, mut games: Box<Games>, number: u64) {
        let Some(record) = games.next() else { return };
        let name = self.files.name(self.file());
        match record {
            Ok(record) => {
                let notices = games.notices().iter();
                let cut = notices.filter(|notice| notice.cost() == Cost::Moves);
                self.found.extend(cut.take(1).map(|notice| {
                    let (line, column, reason) = (notice.line, notice.column, &notice.reason);
                    Found::Cut(format!("{name}:{line}:{column}: game {number}: {reason}"))
                }));
                let walk = Walk::of(&record, number);
                let rest = Content::Games { games, number };
                self.content = Content::Walk(Box::new(walk), Box::new(rest));
            }
            Err(error) => {
                let is_io = matches!(error.kind, readyok_rules::record::RecordErrorKind::Io(_));
                if is_io {
                    return self.unreadable_file(&error.kind);
                }
                let text = format!("{name}:{}:{}: {}", error.line, error.column, error.kind);
                self.found.push_back(Found::Unreadable(text));
                self.content = Content::Games { games, number };
            }
        }
    }

    /// Takes the next chosen position of a line or game.
    fn walk(&mut self, mut walk: Box<Walk>, rest: Content) {
        loop {
            let is_chosen = self.choice.contains(walk.ply, walk.last);
            let item = is_chosen.then(|| walk.item(self.number + 1, self.file()));
            let continues = walk.step();
            if let Some(item) = item {
                let is_shogi = item.position.game() == Game::Shogi;
                let defect = match item.position.defect() {
                    Some(defect) => Some(defect.to_string()),
                    None => {
                        (self.is_epd && is_shogi).then(|| "EPD has no shogi; use --json".to_owned())
                    }
                };
                if let Some(defect) = defect {
                    let name = self.files.name(self.file());
                    let at = item.line.or(item.game).unwrap_or_default();
                    self.found.push_back(Found::Unreadable(format!("{name}:{at}: {defect}")));
                } else {
                    self.number += 1;
                    self.found.push_back(Found::Position(Box::new(item)));
                }
            }
            if !continues {
                self.content = rest;
                return;
            }
            if is_chosen {
                self.content = Content::Walk(walk, Box::new(rest));
                return;
            }
        }
    }
}

impl Walk {
    fn of(record: &GameRecord, number: u64) -> Self {
        let rest: VecDeque<RecordMove> =
            record.mainline().map_while(Node::mv).take_while(|mv| !mv.is_illegal()).collect();
        Self {
            root: record.start().clone(),
            moves: Vec::new(),
            position: record.start().clone(),
            ply: 0,
            last: rest.len(),
            rest,
            line: None,
            game: Some(number),
            id: record.header(Tag::Event).map(str::to_owned),
            operations: Vec::new(),
        }
    }

    fn item(&self, number: u64, file: usize) -> Item {
        Item {
            number,
            file,
            line: self.line,
            game: self.game,
            ply: self.ply,
            id: self.id.clone(),
            root: self.root.clone(),
            moves: self.moves.clone(),
            position: self.position.clone(),
            operations: if self.ply == 0 { self.operations.clone() } else { Vec::new() },
        }
    }

    /// Plays the next move. False after the last one.
    fn step(&mut self) -> bool {
        let Some(mv) = self.rest.pop_front() else { return false };
        if mv.play(&mut self.position).is_err() {
            return false;
        }
        self.ply += 1;
        match mv {
            RecordMove::Legal(mv) => self.moves.push(mv),
            // Engines get the position after the last null move.
            RecordMove::Null | RecordMove::Illegal(_) => {
                self.root = self.position.clone();
                self.moves.clear();
            }
        }
        true
    }
}

/// The format of a file without a known extension, and its first lines. `None` for lines with positions.
fn detect(content: &mut impl BufRead, beginning: &mut Vec<u8>) -> io::Result<Option<FileFormat>> {
    loop {
        let start = beginning.len();
        let left = MAX_BEGINNING.saturating_sub(start as u64);
        if content.by_ref().take(left).read_until(b'\n', beginning)? == 0 {
            return Ok(None);
        }
        let line = beginning.get(start..).unwrap_or_default().trim_ascii();
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let format = Format::detect(beginning);
        if let Some(format) = format {
            // Moves without headers are lines.
            let is_lines = format == Format::PGN && !line.starts_with(b"[")
                || format == Format::KI2 && !decoded(line.to_vec())?.contains('：');
            return Ok((!is_lines).then_some(FileFormat::Record(format)));
        }
        if !line.is_empty() && !line.starts_with(b"#") && !line.starts_with(b"%") {
            return Ok(None);
        }
    }
}

/// The text of a line. Its encoding is detected if it is not UTF-8.
fn decoded(line: Vec<u8>) -> io::Result<String> {
    let line = match String::from_utf8(line) {
        Ok(text) => {
            return Ok(match text.strip_prefix('\u{feff}') {
                Some(rest) => rest.to_owned(),
                None => text,
            });
        }
        Err(error) => error.into_bytes(),
    };
    let mut text = String::new();
    decode(Cursor::new(line), None).read_to_string(&mut text)?;
    Ok(text)
}

/// Skips the rest of a line.
fn skip_line(reader: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = reader.fill_buf()?;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(buffer.len(), |end| end + 1);
        let is_end = end.is_some() || buffer.is_empty();
        reader.consume(length);
        if is_end {
            return Ok(());
        }
    }
}
