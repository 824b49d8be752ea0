//! The UCI and USI engine: options, positions and moves.

mod files;
mod inspection;
mod output;
mod settings;

use std::collections::TryReserveError;
use std::iter;
use std::sync::Mutex;

use readyok_engine::protocol::{self, MateLimit};
use readyok_engine::{
    Answer, Best, BestMove, Checkmate, Control, Dialect, Engine, Failure, Info, Move, MoveList,
    NoBoard, Options, Runner, SearchRequest,
};
use readyok_rules::{EndRules, Game, Impasse, MoveCodec, Position, ShogiRules, Termination};

use self::files::{NetworkFile, Opening, name_of};
use self::output::{Line, Output, ShownInfo, wire_score};
use self::settings::{HASH, Settings};
use crate::endgames;
use crate::mate::{self, checkmate};
use crate::platform::{self, Load};
use crate::score::declared_win;
use crate::skill::Skill;
use crate::{Bench, Limits, Score, SearchResult, Searcher};

/// The translation file of Narikin's options, in English and Japanese. It is installed next to the
/// executable as `narikin.lang.json`.
pub const TRANSLATION: &str = include_str!("../narikin.lang.json");

/// Creates a runner for Narikin in both protocols.
///
/// # Errors
///
/// There is not enough memory for the hash table.
pub fn runner() -> Result<Runner<Narikin>, TryReserveError> {
    let mut options = Options::new();
    let settings = Settings::declare(&mut options);
    let move_overhead = settings.move_overhead.clone();
    let engine = Narikin::new(settings)?;
    Ok(Runner::new(concat!("Narikin ", env!("CARGO_PKG_VERSION")), engine)
        .author("the Readyok authors")
        .dialects(Dialect::ALL)
        .options(options)
        .move_overhead(&move_overhead))
}

/// The engine.
#[derive(Debug)]
pub struct Narikin {
    searcher: Searcher,
    /// The size of the searcher's table in megabytes.
    size: i64,
    /// The last size that could not be allocated.
    failed_size: Option<i64>,
    /// The last number of threads that was reduced.
    rejected_threads: Option<usize>,
    settings: Settings,
    opening: Opening,
    network: NetworkFile,
    /// A random number per game, the seed of errors of limited strength.
    game: u64,
    /// Messages that were not sent yet.
    remarks: Vec<String>,
    /// The protocol, after the handshake.
    dialect: Option<Dialect>,
    /// The game whose evaluation was prepared last.
    prepared: Option<Game>,
    /// The last message about the evaluation.
    reported_evaluation: String,
}

impl Engine for Narikin {
    /// The game depends on the options.
    type Board = NoBoard;

    fn search(&mut self, request: &SearchRequest, control: &Control) -> Answer {
        self.begin(control);
        let codec = self.codec(request.dialect);
        let position = codec.decode_position(&request.position)?;
        let is_free = request.go.search_moves.is_none();

        // Step 1. Declaration win.
        if is_free && let Some(won) = self.won(request.dialect, &position) {
            let mv = match won {
                WonDeclaration::Declared => None,
                WonDeclaration::By(mv) => Some(codec.encode(mv)?),
            };
            let (score, pv) = (
                wire_score(Score::from_value(declared_win(0))),
                mv.map(|mv| iter::once(mv).collect()),
            );
            control.info(Info { depth: Some(0), score: Some(score), pv, ..Info::default() });
            return Ok(mv.map_or_else(|| Best::Win.into(), BestMove::from));
        }

        // Step 2. Opening book.
        let plays =
            !request.go.infinite && request.go.mate.is_none() && !self.settings.analyse.get();
        if is_free && plays {
            let found = self.opening.choose(&self.settings, &position);
            for remark in self.opening.take_remarks() {
                control.info_string(&remark);
            }
            if let Some(found) = found {
                let mv = codec.encode(found.mv)?;
                control.info_string(&format!("{mv} is from the book"));
                let ponder = found.reply.map(|reply| codec.encode(reply)).transpose()?;
                return Ok(BestMove { ponder, ..mv.into() });
            }
        }

        // Step 3. Search.
        let skill = self.settings.skill(request.dialect, self.game).filter(|_| plays);
        let draw = if plays { -self.settings.contempt(request.dialect) } else { 0 };
        let limits = Limits { draw, ..self.limits(request, &position, skill.as_ref()) };
        let output = Output {
            control,
            codec,
            game: position.game(),
            shown: ShownInfo {
                lines: count(self.settings.multipv.get()),
                wdl: self.settings.show_wdl.get(),
                currline: self.settings.show_currline.get(),
                refutations: self.settings.show_refutations.get(),
            },
            load: Load::new(platform::thread_count(limits.threads)),
            lines: Mutex::default(),
        };
        let result = self.searcher.search(&position, &limits, &output);
        if result.best().is_none() {
            let score = Some(wire_score(result.score));
            control.info(Info { depth: Some(0), score, ..Info::default() });
            return Ok(Best::None.into());
        }

        // Step 4. Choice of the line by skill.
        let best = Line::of(&result);
        let chosen = skill.and_then(|skill| choose_line(&skill, &position, &output, &best));
        if let Some(chosen) = &chosen {
            output.played(chosen);
        }
        let played = chosen.unwrap_or(best);
        if is_free
            && plays
            && played.depth > 0
            && request.dialect == Dialect::Usi
            && self.settings.resigns_at(played.score)
        {
            return Ok(Best::Resign.into());
        }
        let mut moves = played.pv.iter();
        let mut next = || moves.next().map(|&mv| codec.encode(mv)).transpose();
        let (best, ponder) = (next()?, next()?);
        Ok(best.map_or_else(|| Best::None.into(), |best| BestMove { ponder, ..best.into() }))
    }

    fn searches_for_mate(&self) -> bool {
        true
    }

    fn solve(
        &mut self,
        request: &SearchRequest,
        control: &Control,
    ) -> Result<Checkmate<'static>, Failure> {
        self.begin(control);
        let position = self.codec(request.dialect).decode_position(&request.position)?;
        let searchmoves = self.search_moves(request, &position).filter_map(|mv| match mv {
            readyok_rules::Move::Shogi(mv) => Some(mv),
            readyok_rules::Move::Chess(_) => None,
        });
        let limits = mate::SolverLimits {
            nodes: request.go.nodes,
            plies: request.go.depth.map(|depth| u16::try_from(depth).unwrap_or(u16::MAX).max(1)),
            searchmoves: searchmoves.collect(),
            ..mate::SolverLimits::default()
        };
        // In addition to the hash table, which stays allocated.
        let memory = platform::part_that_fits(self.size);
        checkmate(&position, limits, megabytes(memory), control)
    }

    fn set_dialect(&mut self, dialect: Dialect) {
        self.dialect = Some(dialect);
    }

    fn new_game(&mut self) {
        self.prepare_game();
        self.searcher.clear();
        self.game = fastrand::u64(..);
    }

    fn prepare(&mut self) {
        #[cfg(feature = "tune")]
        self.settings.tuning.apply();
        self.prepare_game();
        self.resize();
        self.count_threads();
        if self.settings.take_clear_hash() {
            self.searcher.clear();
        }
        // Earlier results did not use these values.
        if self.settings.take_position_values_changed() {
            self.searcher.clear();
        }
        let network = self.settings.network_file.get();
        let game = self.game_in_use();
        self.remarks.extend(self.network.prepare(network, game, &mut self.searcher));
        self.report_evaluation();
        self.opening.prepare(&self.settings);
        self.remarks.extend(self.opening.take_remarks());
    }

    fn drain_messages(&mut self) -> Vec<String> {
        self.remarks.extend(self.settings.take_remarks());
        std::mem::take(&mut self.remarks)
    }

    fn custom_command(
        &mut self,
        line: &str,
        position: Option<&protocol::Position<'static>>,
        print: &mut dyn FnMut(&str),
    ) -> bool {
        let mut tokens = line.split_ascii_whitespace();
        let (Some(command), argument) = (tokens.next(), tokens.clone().next_back()) else {
            return false;
        };
        if command == "bench" {
            self.prepare();
            match Bench::parse(tokens).and_then(|bench| bench.run_like(&self.searcher)) {
                Ok(result) => print(&result.to_string()),
                Err(error) => print(&format!("info string bench: {error}")),
            }
            return true;
        }
        if !matches!(command, "d" | "eval" | "go") {
            return false;
        }
        self.prepare();
        let codec = self.codec(self.dialect.unwrap_or_default());
        let position = position.and_then(|position| codec.decode_position(position).ok());
        let Some(position) = position else {
            print("info string there is no valid position");
            return true;
        };
        match command {
            "d" => print(&inspection::board(&position)),
            "eval" => print(&inspection::evaluation(&self.searcher, &position)),
            _ => {
                let depth = argument.and_then(|depth| depth.parse().ok()).unwrap_or(1);
                print(&inspection::divided(&position, depth, codec));
            }
        }
        true
    }

    fn fallback(&self, request: &SearchRequest, wanted: &[Move]) -> Option<Move> {
        let codec = self.codec(request.dialect);
        let position = codec.decode_position(&request.position).ok()?;
        let wanted = wanted.iter().find_map(|mv| codec.decode(&position, mv.as_str()).ok());
        codec.encode(wanted.or_else(|| position.legal_moves().into_iter().next())?).ok()
    }
}

/// How a game is won without a search.
enum WonDeclaration {
    /// By declaration.
    Declared,
    By(readyok_rules::Move),
}

impl Narikin {
    fn new(settings: Settings) -> Result<Self, TryReserveError> {
        Ok(Self {
            searcher: Searcher::new(megabytes(HASH))?,
            size: HASH,
            failed_size: None,
            rejected_threads: None,
            opening: Opening::default(),
            network: NetworkFile::default(),
            game: fastrand::u64(..),
            remarks: Vec::new(),
            dialect: None,
            prepared: None,
            reported_evaluation: String::new(),
            settings,
        })
    }

    /// Applies the options and sends messages about them.
    fn begin(&mut self, control: &Control) {
        self.prepare();
        for remark in self.drain_messages() {
            control.info_string(&remark);
        }
    }

    /// Prepares the game in advance, so that the first move is not delayed.
    fn prepare_game(&mut self) {
        let game = self.dialect.map(|dialect| self.settings.game(dialect));
        if let Some(game) = game
            && self.prepared != Some(game)
        {
            if matches!(game, Game::Chess | Game::Chess960) {
                endgames::prepare();
            }
            self.searcher.prepare(game);
            self.prepared = Some(game);
        }
    }

    /// The game by the protocol and the options, after the handshake. Chess960 counts as chess.
    fn game_in_use(&self) -> Option<Game> {
        Some(match self.settings.game(self.dialect?) {
            Game::Chess | Game::Chess960 => Game::Chess,
            Game::Shogi => Game::Shogi,
        })
    }

    /// Reports the name of the evaluation at the start and after changes.
    fn report_evaluation(&mut self) {
        let Some(game) = self.game_in_use() else { return };
        let name = self.searcher.evaluation_name(game);
        let remark = format!("evaluation of {}: {name}", name_of(game));
        if remark != self.reported_evaluation {
            self.reported_evaluation.clone_from(&remark);
            self.remarks.push(remark);
        }
    }

    fn codec(&self, dialect: Dialect) -> MoveCodec {
        let game = self.settings.game(dialect);
        MoveCodec::new(dialect, game).unwrap_or_else(|| MoveCodec::usual(game))
    }

    /// Resizes the hash table if memory suffices.
    fn resize(&mut self) {
        let wanted = self.settings.hash.get();
        if self.size == wanted {
            self.failed_size = None;
        }
        if self.size == wanted || self.failed_size == Some(wanted) {
            return;
        }
        if platform::fits(wanted, self.size) && self.searcher.resize(megabytes(wanted)).is_ok() {
            (self.size, self.failed_size) = (wanted, None);
        } else {
            self.failed_size = Some(wanted);
            let kept = self.size;
            self.remarks
                .push(format!("not enough memory for {wanted} MB of hash, keeping {kept} MB"));
        }
    }

    /// Warns if fewer threads are used than requested.
    fn count_threads(&mut self) {
        let wanted = count(self.settings.threads.get());
        let useful = platform::thread_count(wanted);
        let rejected_threads = (useful < wanted).then_some(wanted);
        if self.rejected_threads != rejected_threads && rejected_threads.is_some() {
            let cpus = platform::cpu_count();
            self.remarks.push(format!(
                "using {useful} threads instead of {wanted}: this computer has only {cpus} CPUs"
            ));
        }
        self.rejected_threads = rejected_threads;
    }

    /// Whether an entered king wins now. UCI has no declarations.
    fn won(&self, dialect: Dialect, position: &Position) -> Option<WonDeclaration> {
        if dialect == Dialect::Uci {
            return None;
        }
        let entering = self.settings.entering();
        if entering.is_won(position) {
            return Some(WonDeclaration::Declared);
        }
        if entering.impasse != Impasse::Try {
            return None;
        }
        let shogi = ShogiRules { impasse: entering.impasse, ..ShogiRules::NONE };
        let rules = EndRules { shogi, ..EndRules::BOARD };
        let tries = |mv: &readyok_rules::Move| {
            let mut next = position.clone();
            let ending = next.play(*mv).ok().and_then(|()| next.outcome_under(&rules));
            ending.is_some_and(|outcome| {
                outcome.termination == Termination::TryRule
                    && outcome.winner() == Some(position.turn())
            })
        };
        position.legal_moves().into_iter().find(tries).map(WonDeclaration::By)
    }

    /// The legal moves of `searchmoves`.
    fn search_moves(
        &self,
        request: &SearchRequest,
        position: &Position,
    ) -> impl Iterator<Item = readyok_rules::Move> {
        let codec = self.codec(request.dialect);
        let named = request.go.search_moves.iter().flat_map(MoveList::tokens);
        named.filter_map(move |mv| codec.decode(position, mv).ok())
    }

    fn limits(
        &self,
        request: &SearchRequest,
        position: &Position,
        skill: Option<&Skill>,
    ) -> Limits {
        let go = &request.go;
        // Moves of the mating side.
        let mate = match go.mate {
            Some(MateLimit::Moves(moves)) => Some(moves.saturating_mul(2).saturating_sub(1)),
            Some(MateLimit::Time(_) | MateLimit::Infinite) | None => None,
        };
        let node_budget =
            skill.map(|skill| skill.node_budget(position.legal_moves().len())).unwrap_or_default();
        let nodes = [go.nodes, node_budget.nodes].into_iter().flatten().min();
        let depth = [go.depth, node_budget.depth].into_iter().flatten().min();
        let entering = self.settings.entering();
        // UCI has no declarations.
        let impasse = match request.dialect {
            Dialect::Uci => Impasse::Ignored,
            Dialect::Usi => entering.impasse,
        };
        Limits {
            depth,
            nodes,
            mate,
            searchmoves: self.search_moves(request, position).collect(),
            // Limited strength is deterministic with one thread.
            threads: if skill.is_some() { 1 } else { count(self.settings.threads.get()) },
            multipv: skill.map_or(0, Skill::lines).max(count(self.settings.multipv.get())),
            max_moves: self.settings.max_moves(),
            impasse: Some(impasse),
            ignore_missing_pieces: !entering.counts_missing,
            ponders: self.settings.ponder.get(),
            full_seconds: self.settings.full_seconds.get(),
            exact_time: go.move_time.or(go.random_time).is_some(),
            refutations: self.settings.show_refutations.get(),
            currlines: self.settings.show_currline.get(),
            position_values: self.settings.position_values(),
            tables: self.settings.tables(),
            ..Limits::default()
        }
    }
}

impl Line {
    fn of(result: &SearchResult) -> Self {
        Self {
            depth: result.depth,
            seldepth: result.depth,
            score: result.score,
            seen: result.score,
            // Already reported.
            drawn: false,
            pv: result.pv.clone(),
        }
    }
}

/// The line chosen by skill, unless it is the best one.
fn choose_line(
    skill: &Skill,
    position: &Position,
    output: &Output<'_>,
    best: &Line,
) -> Option<Line> {
    let lines = output.lines();
    // Lines that were not searched are not comparable.
    let searched = lines.iter().filter(|line| 0 < line.depth);
    let values: Vec<_> =
        searched.clone().filter_map(|line| Some((*line.pv.first()?, line.seen))).collect();
    let chosen = skill.choose(position.key(), &values)?;
    let (mv, _) = values.get(chosen)?;
    let chosen = searched.clone().find(|line| line.pv.first() == Some(mv))?;
    (chosen.pv.first() != best.pv.first()).then(|| chosen.clone())
}

fn megabytes(size: i64) -> usize {
    usize::try_from(size).unwrap_or(0)
}

fn count(wanted: i64) -> usize {
    usize::try_from(wanted).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use readyok_engine::protocol::{Command, Go};

    use super::*;

    #[test]
    fn fallback_is_a_requested_or_any_legal_move() {
        let settings = Settings::declare(&mut Options::new());
        let narikin = Narikin::new(settings).unwrap();
        let fallback = |dialect, position: &str, wanted: &[&str]| {
            let Command::Position(position) = Command::read(position, dialect).value else {
                panic!("no position: {position}")
            };
            let position = position.into_owned();
            let request = SearchRequest::new(dialect, position, Go::default());
            let wanted: Vec<Move> = wanted.iter().map(|mv| mv.parse().unwrap()).collect();
            narikin.fallback(&request, &wanted).map(|mv| mv.to_string())
        };
        let cornered = "position fen 7k/8/8/8/8/8/1r6/K7 w - - 0 1";
        let (uci, usi) = (Dialect::Uci, Dialect::Usi);
        assert_eq!(fallback(uci, "position startpos", &["e2e5", "g1f3"]).as_deref(), Some("g1f3"));
        assert_eq!(fallback(uci, cornered, &["a1a2"]).as_deref(), Some("a1b2"));
        assert_eq!(fallback(uci, "position fen 7k/8/8/8/8/1q6/8/K7 w - - 0 1", &["a1a2"]), None);
        assert_eq!(fallback(usi, "position startpos", &["7g7f"]).as_deref(), Some("7g7f"));
        assert!(fallback(usi, "position startpos", &["2h2a"]).is_some_and(|mv| mv != "2h2a"));
    }

    #[test]
    fn the_evaluation_of_the_game_is_prepared_before_the_first_search() {
        for (dialect, game) in [(Dialect::Uci, Game::Chess), (Dialect::Usi, Game::Shogi)] {
            let made = || Narikin::new(Settings::declare(&mut Options::new())).unwrap();
            for prepare in [Narikin::prepare, Narikin::new_game] {
                let mut engine = made();
                prepare(&mut engine);
                assert_eq!(engine.prepared, None, "the game is unknown");
                engine.set_dialect(dialect);
                prepare(&mut engine);
                assert_eq!(engine.prepared, Some(game));
            }
        }
    }
}
