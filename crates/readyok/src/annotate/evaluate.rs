//! Evaluates the positions of a game with an engine.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use readyok_client::{Engine, EngineError, Game as EngineGame, Guard, Search, Stopper};
use readyok_protocol::Go;
use readyok_rules::judgement::final_score;
use readyok_rules::record::{
    EngineNote, EngineNotes, GameDocument, GameRecord, NodeId, RecordMove, ScoredLine,
};
use readyok_rules::{Move, MoveCodec, Position};

use super::journal::{Evaluated, Journal};
use crate::address::Address;

/// The maximum number of moves of a line that is stored.
const MAX_MOVES: usize = 24;

/// An engine and its search of each position.
#[derive(Clone, Debug)]
pub(crate) struct EngineSettings {
    pub(crate) address: Address,
    /// Options, or buttons without a value.
    pub(crate) options: Vec<String>,
    pub(crate) go: Go<'static>,
    pub(crate) lines: u32,
}

/// What the evaluating threads share.
pub(super) struct Shared<'a> {
    pub(super) settings: &'a EngineSettings,
    pub(super) guard: &'a Guard,
    pub(super) journal: &'a Journal,
    pub(super) stopped: &'a AtomicBool,
    /// Stops the running searches.
    pub(super) stoppers: &'a Mutex<Vec<Stopper>>,
    /// The number of evaluated positions.
    pub(super) positions: &'a AtomicU64,
}

/// A thread that evaluates one game after another.
pub(super) struct Worker<'a> {
    shared: &'a Shared<'a>,
    engine: Option<(MoveCodec, Engine)>,
}

impl<'a> Worker<'a> {
    pub(super) fn new(shared: &'a Shared<'a>) -> Self {
        Self { shared, engine: None }
    }

    /// Evaluates a game. `None` if the run was stopped.
    pub(super) fn evaluate(
        &mut self,
        number: u64,
        record: GameRecord,
    ) -> Result<Option<GameDocument>, String> {
        let (mut notes, mut at) = (Vec::with_capacity(record.plies() + 1), NodeId::ROOT);
        let mut position = record.start().clone();
        // Engines get the position after the last null move.
        let mut root = position.clone();
        let mut moves: Vec<Move> = Vec::new();
        let mut game = None;
        let mut nodes = record.mainline();
        for ply in 0.. {
            if self.shared.stopped.load(Ordering::Acquire) {
                return Ok(None);
            }
            let evaluated = self.position((number, ply), &position, (&root, &moves), &mut game)?;
            if let Some(Evaluated { depth, lines }) = evaluated
                && let Some(best) = lines.first()
            {
                let mut note = EngineNote::new(best.score, position.legal_moves().len());
                (note.depth, note.lines) = (depth, lines);
                notes.push((at, note));
            }
            self.shared.positions.fetch_add(1, Ordering::Relaxed);
            let Some(node) = nodes.next() else { break };
            let Some(mv) = node.mv() else { break };
            at = node.id();
            if mv.is_illegal() || mv.play(&mut position).is_err() {
                break;
            }
            match mv {
                RecordMove::Legal(mv) => moves.push(mv),
                RecordMove::Null | RecordMove::Illegal(_) => {
                    root = position.clone();
                    moves.clear();
                }
            }
        }
        if self.shared.stopped.load(Ordering::Acquire) {
            // The last search may have been stopped early.
            return Ok(None);
        }
        let engine = self.engine.as_ref().filter(|_| !notes.is_empty());
        let name = engine.map(|(_, engine)| engine.identity().name.clone());
        let mut engine = EngineNotes::new(&name.unwrap_or_default());
        for (node, note) in notes {
            engine.set(node, note);
        }
        Ok(Some(GameDocument { record, engine }))
    }

    fn position(
        &mut self,
        (number, ply): (u64, usize),
        position: &Position,
        line: (&Position, &[Move]),
        game: &mut Option<EngineGame>,
    ) -> Result<Option<Evaluated>, String> {
        // A position that violates the rules is only for viewing.
        if position.defect().is_some() {
            return Ok(None);
        }
        if let Some(score) = final_score(position) {
            let lines = vec![ScoredLine { score, moves: Vec::new() }];
            return Ok(Some(Evaluated { depth: None, lines }));
        }
        if position.legal_moves().is_empty() {
            return Ok(None);
        }
        let key = position.key();
        if let Some(known) = self.shared.journal.get(number, ply, key) {
            return Ok(Some(known.clone()));
        }
        // An engine that crashed is started again once.
        let evaluated = self.search(position, line, game).or_else(|_| {
            self.engine = None;
            *game = None;
            self.search(position, line, game)
        });
        let evaluated = evaluated.map_err(|error| format!("game {number}, ply {ply}: {error}"))?;
        if self.shared.stopped.load(Ordering::Acquire) {
            return Ok(None);
        }
        let written = self.shared.journal.add(number, ply, key, &evaluated);
        written.map_err(|error| format!("cannot write the progress file: {error}"))?;
        Ok(Some(evaluated))
    }

    fn search(
        &mut self,
        position: &Position,
        (root, moves): (&Position, &[Move]),
        game: &mut Option<EngineGame>,
    ) -> Result<Evaluated, String> {
        let shared = self.shared;
        let (codec, engine) = self.engine(position).map_err(|error| error.to_string())?;
        let codec = *codec;
        let encoded = codec
            .encode_position(root, moves)
            .ok_or("the engine does not support this position")?;
        let new_game = || EngineGame::new(encoded.clone(), codec.new_game());
        let game = game.get_or_insert_with(new_game).at(encoded.clone());
        let search = Search::from(shared.settings.go.clone()).lines(shared.settings.lines);
        let handle = engine.analyse(&game, search).map_err(|error| error.to_string())?;
        let result = handle.wait().map_err(|error| error.to_string())?;
        let lines: Vec<ScoredLine> = result
            .lines
            .iter()
            .filter_map(|info| {
                let moves = info.pv.iter().flat_map(|pv| codec.decode_line(pv));
                let moves = moves.take(MAX_MOVES).map(std::borrow::Cow::into_owned).collect();
                Some(ScoredLine { score: info.score?, moves })
            })
            .collect();
        if lines.is_empty() {
            return Err("the engine reported no score".to_owned());
        }
        Ok(Evaluated { depth: result.info.depth, lines })
    }

    /// The engine for the game of a position.
    fn engine(&mut self, position: &Position) -> Result<&mut (MoveCodec, Engine), OpenError> {
        let settings = self.shared.settings;
        let game = position.game();
        let usual = MoveCodec::usual(game).dialect();
        let dialect = settings.address.dialect.unwrap_or(usual);
        let codec = MoveCodec::new(dialect, game).ok_or(OpenError::WrongGame)?;
        if self.engine.as_ref().is_some_and(|(known, _)| known.dialect() != dialect) {
            self.engine = None;
        }
        match &mut self.engine {
            Some(entry) => {
                entry.0 = codec;
                Ok(entry)
            }
            none => {
                let mut engine = settings.address.open(Some(dialect), self.shared.guard)?;
                for option in &settings.options {
                    match option.split_once('=') {
                        Some((name, value)) => engine.set_option(name.trim(), value),
                        None => engine.push_button(option),
                    }?;
                }
                let stoppers = self.shared.stoppers.lock();
                stoppers.unwrap_or_else(PoisonError::into_inner).push(engine.stopper());
                Ok(none.insert((codec, engine)))
            }
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum OpenError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("the protocol of the engine does not support the game")]
    WrongGame,
}

/// An error of a file.
pub(super) fn file_error(path: &std::path::Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
}
