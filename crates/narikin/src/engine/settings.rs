//! The options: declared here, once, and read between searches.
use crate::skill::{self, Skill};
use crate::{PositionValues, Score, TbConfig, tablebase::Tablebases};
use readyok_engine::protocol::{Opponent, Title};
use readyok_engine::{Check, Combo, Dialect, Options, Spin, Text};
use readyok_rules::{Game, Impasse, Position, Reason};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The size of the hash table at first, and at most, in megabytes: 32 TiB, which no machine has.
pub(super) const HASH: i64 = 16;
const MAX_HASH: i64 = 33_554_432;

const MAX_THREADS: i64 = 1024;
const MAX_LINES: i64 = 500;

/// The most that a draw can be worth more or less than an even position, in centipawns.
const MAX_CONTEMPT: i64 = 500;

const MAX_MOVES: i64 = 100_000;

/// The value of `ResignValue` that means never, and what a mate counts beside the others.
const NEVER: i64 = 99_999;
const MATED: i64 = 32_000;

const ABOUT: &str = concat!(
    "Narikin ",
    env!("CARGO_PKG_VERSION"),
    " plays chess, Chess960 and shogi. It is free software under the GNU General Public License, version 3 or later"
);

/// Handles of all options that the engine reads.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) hash: Spin,
    clear_hash: Arc<AtomicBool>,
    pub(super) threads: Spin,
    pub(super) multipv: Spin,
    pub(super) ponder: Check,
    pub(super) move_overhead: Spin,
    pub(super) own_book: Check,
    pub(super) book_file: Text,
    pub(super) book_depth: Spin,
    pub(super) best_book_move: Check,
    pub(super) network_file: Text,
    contempt: Spin,
    opponent: Text,
    limit_strength: Check,
    elo: Spin,
    rank: Spin,
    pub(super) analyse: Check,
    pub(super) show_wdl: Check,
    pub(super) show_currline: Check,
    pub(super) show_refutations: Check,
    chess960: Check,
    variant: Combo,
    entering_king: Combo,
    max_moves: Spin,
    resign_value: Spin,
    position_values: Arc<Mutex<SharedPositionValues>>,
    tables: Arc<Mutex<Option<Arc<Tablebases>>>>,
    table_depth: Spin,
    table_pieces: Spin,
    table_fifty_moves: Check,
    /// What options want to be told.
    remarks: Receiver<String>,
}

/// The choices of `UCI_Variant`.
const VARIANTS: [(&str, Game); 3] =
    [("chess", Game::Chess), ("chess960", Game::Chess960), ("shogi", Game::Shogi)];

/// The choices of `EnteringKingRule`, in the words of YaneuraOu. The rules with an `H` count the
/// pieces that a handicap leaves out.
const ENTERING: [(&str, Entering); 6] = [
    ("NoEnteringKing", Entering { impasse: Impasse::Ignored, counts_missing: false }),
    ("CSARule24", Entering { impasse: Impasse::Points24, counts_missing: false }),
    ("CSARule24H", Entering { impasse: Impasse::Points24, counts_missing: true }),
    ("CSARule27", Entering { impasse: Impasse::Points27, counts_missing: false }),
    ("CSARule27H", Entering { impasse: Impasse::Points27Handicap, counts_missing: true }),
    ("TryRule", Entering { impasse: Impasse::Try, counts_missing: false }),
];
const DEFAULT_ENTERING: &str = "CSARule27";

/// Options of the games that UCI is spoken for, and of the one that USI is spoken for.
const UCI_ONLY: [&str; 14] = [
    "SyzygyPath",
    "SyzygyProbeDepth",
    "SyzygyProbeLimit",
    "Syzygy50MoveRule",
    "UCI_Chess960",
    "UCI_Variant",
    "UCI_Elo",
    "UCI_Opponent",
    "UCI_ShowWDL",
    "UCI_SetPositionValue",
    "UCI_EngineAbout",
    "NalimovPath",
    "NalimovCache",
    "UCI_ShredderbasesPath",
];
const USI_ONLY: [&str; 4] = ["USI_Strength", "EnteringKingRule", "MaxMovesToDraw", "ResignValue"];

/// How a king wins that has entered the other's camp.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entering {
    pub(super) impasse: Impasse,
    pub(super) counts_missing: bool,
}

impl Settings {
    /// Declares all options.
    pub(super) fn declare(options: &mut Options) -> Self {
        let (remark_sender, remarks) = mpsc::channel();
        let hash = options.spin("Hash", HASH, 1..=MAX_HASH);
        let clear_hash = Arc::new(AtomicBool::new(false));
        let pressed = Arc::clone(&clear_hash);
        options.button("Clear Hash", move || pressed.store(true, Ordering::Relaxed));
        let threads = options.spin("Threads", 1, 1..=MAX_THREADS);
        let multipv = options.spin("MultiPV", 1, 1..=MAX_LINES);
        let ponder = options.check("Ponder", false);
        let move_overhead = options.spin("Move Overhead", 10, 0..=5000);
        let own_book = options.check("OwnBook", false);
        let book_file = options.filename("Book File", "");
        let book_depth = options.spin("Book Depth", 255, 1..=1000);
        let best_book_move = options.check("Best Book Move", false);
        let network_file = options.filename("EvalFile", "");
        let contempt = options.spin("Contempt", 0, -MAX_CONTEMPT..=MAX_CONTEMPT);
        let opponent = options.string("UCI_Opponent", "");
        let limit_strength = options.check("UCI_LimitStrength", false);
        let elo = options.spin("UCI_Elo", *skill::ELO.end(), skill::ELO);
        let rank = options.spin("USI_Strength", *skill::RANKS.end(), skill::RANKS);
        let analyse = options.check("UCI_AnalyseMode", false);
        let show_wdl = options.check("UCI_ShowWDL", false);
        let show_currline = options.check("UCI_ShowCurrLine", false);
        let show_refutations = options.check("UCI_ShowRefutations", false);
        let chess960 = options.check("UCI_Chess960", false);
        let [(usual, _), ..] = VARIANTS;
        let variant = options.combo("UCI_Variant", usual, VARIANTS.map(|(name, _)| name));
        // The client reads it and changes nothing.
        options.string("UCI_EngineAbout", ABOUT);
        let position_values = Arc::default();
        declare_position_values(options, &position_values, &remark_sender);
        let tables = Arc::default();
        declare_tables(options, &tables, &remark_sender);
        let table_depth = options.spin("SyzygyProbeDepth", 1, 1..=100);
        let table_pieces = options.spin("SyzygyProbeLimit", 7, 0..=7);
        let table_fifty_moves = options.check("Syzygy50MoveRule", true);
        declare_unsupported_tablebases(options, &remark_sender);
        let entering_king =
            options.combo("EnteringKingRule", DEFAULT_ENTERING, ENTERING.map(|(name, _)| name));
        let max_moves = options.spin("MaxMovesToDraw", 0, 0..=MAX_MOVES);
        let resign_value = options.spin("ResignValue", NEVER, 0..=NEVER);
        for name in UCI_ONLY {
            options.only_in(Dialect::Uci, name);
        }
        for name in USI_ONLY {
            options.only_in(Dialect::Usi, name);
        }
        Self {
            hash,
            clear_hash,
            threads,
            multipv,
            ponder,
            move_overhead,
            own_book,
            book_file,
            book_depth,
            best_book_move,
            network_file,
            contempt,
            opponent,
            limit_strength,
            elo,
            rank,
            analyse,
            show_wdl,
            show_currline,
            show_refutations,
            chess960,
            variant,
            entering_king,
            max_moves,
            resign_value,
            position_values,
            tables,
            table_depth,
            table_pieces,
            table_fifty_moves,
            remarks,
        }
    }

    /// The game that is played in a dialect.
    pub(super) fn game(&self, dialect: Dialect) -> Game {
        let variant = VARIANTS.get(self.variant.index()).map(|&(_, game)| game);
        match (dialect, variant) {
            (Dialect::Usi, _) | (Dialect::Uci, Some(Game::Shogi)) => Game::Shogi,
            (Dialect::Uci, Some(Game::Chess960)) => Game::Chess960,
            (Dialect::Uci, Some(Game::Chess) | None) => {
                if self.chess960.get() {
                    Game::Chess960
                } else {
                    Game::Chess
                }
            }
        }
    }

    /// Whether to clear the hash table, once.
    pub(super) fn take_clear_hash(&self) -> bool {
        self.clear_hash.swap(false, Ordering::Relaxed)
    }

    /// What options have to say.
    pub(super) fn take_remarks(&self) -> impl Iterator<Item = String> {
        self.remarks.try_iter()
    }

    /// The strength to play with, if it is limited. `seed` is another number for each game.
    pub(super) fn skill(&self, dialect: Dialect, seed: u64) -> Option<Skill> {
        if !self.limit_strength.get() {
            return None;
        }
        Some(match dialect {
            Dialect::Uci => Skill::of_elo(self.elo.get(), self.game(dialect), seed),
            Dialect::Usi => Skill::of_rank(self.rank.get(), seed),
        })
    }

    /// How many centipawns a draw is worse than an even position.
    pub(super) fn contempt(&self, dialect: Dialect) -> i32 {
        let own = match dialect {
            Dialect::Uci if self.limit_strength.get() => self.elo.get(),
            Dialect::Uci | Dialect::Usi => FULL_RATING,
        };
        contempt(self.contempt.get(), &self.opponent.get(), own)
    }

    /// After how many moves of both sides the game is drawn, if it is.
    pub(super) fn max_moves(&self) -> Option<u32> {
        u32::try_from(self.max_moves.get()).ok().filter(|&moves| 0 < moves)
    }

    /// What the user has taught, if there is anything.
    pub(super) fn position_values(&self) -> Option<Arc<PositionValues>> {
        let shared = locked(&self.position_values);
        Some(Arc::clone(&shared.position_values))
            .filter(|position_values| !position_values.is_empty())
    }

    /// The tablebases to ask, if there are any.
    pub(super) fn tables(&self) -> Option<TbConfig> {
        let tablebases = self.tables.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        Some(TbConfig {
            tablebases,
            probe_depth: u32::try_from(self.table_depth.get()).unwrap_or(1),
            probe_limit: usize::try_from(self.table_pieces.get()).unwrap_or(0),
            rule50: self.table_fifty_moves.get(),
        })
    }

    /// Whether the user has taught anything since this was asked last.
    pub(super) fn take_position_values_changed(&self) -> bool {
        std::mem::take(&mut locked(&self.position_values).is_changed)
    }

    /// How an entered king wins.
    pub(super) fn entering(&self) -> Entering {
        let named = ENTERING.get(self.entering_king.index());
        named.map_or(Entering { impasse: Impasse::Ignored, counts_missing: false }, |it| it.1)
    }

    /// Whether to resign with a score.
    pub(super) fn resigns_at(&self, score: Score) -> bool {
        let value = match score {
            Score::Centipawns(value) => value.into(),
            Score::Wins { .. } => MATED,
            Score::Loses { .. } => -MATED,
        };
        let limit = self.resign_value.get();
        limit != NEVER && value <= -limit
    }
}

impl Entering {
    /// Whether the side to move wins by saying so.
    pub(super) fn is_won(self, position: &Position) -> bool {
        let Some(mut declared) = position.declaration() else { return false };
        if !self.counts_missing {
            declared.missing = 0;
        }
        let ending = declared.ending(self.impasse);
        ending.is_some_and(|ending| ending.reason == Reason::Declaration)
    }
}

/// What is learned from one search to the next.
#[derive(Debug, Default)]
struct SharedPositionValues {
    position_values: Arc<PositionValues>,
    is_changed: bool,
}

fn locked(shared: &Mutex<SharedPositionValues>) -> MutexGuard<'_, SharedPositionValues> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Each value is an instruction of its own.
fn declare_position_values(
    options: &mut Options,
    position_values: &Arc<Mutex<SharedPositionValues>>,
    remark_sender: &Sender<String>,
) {
    let (position_values, remark_sender) = (Arc::clone(position_values), remark_sender.clone());
    options.string_with("UCI_SetPositionValue", "", move |text| {
        if text.is_empty() {
            return;
        }
        let mut shared = locked(&position_values);
        match Arc::make_mut(&mut shared.position_values).apply_command(text) {
            Ok(()) => shared.is_changed = true,
            // Without an engine nobody listens.
            Err(error) => drop(remark_sender.send(format!("invalid position value: {error}"))),
        }
    });
}

/// Opens tables as soon as their folders are named, and says what was found.
fn declare_tables(
    options: &mut Options,
    tables: &Arc<Mutex<Option<Arc<Tablebases>>>>,
    remark_sender: &Sender<String>,
) {
    let (tables, remark_sender) = (Arc::clone(tables), remark_sender.clone());
    options.string_with("SyzygyPath", "", move |paths| {
        let (found, remark) = match Tablebases::open(paths) {
            Ok(found) if found.files() == 0 && paths.is_empty() => (None, None),
            Ok(found) => {
                let (files, most) = (found.files(), found.max_pieces());
                let mut remark = format!("{files} files of tablebases, up to {most} pieces");
                if !found.errors().is_empty() {
                    remark = format!("{remark}, but not {}", found.errors().join("; "));
                }
                (Some(Arc::new(found)), Some(remark))
            }
            Err(error) => (None, Some(format!("no tablebases: {error}"))),
        };
        *tables.lock().unwrap_or_else(PoisonError::into_inner) = found;
        if let Some(remark) = remark {
            // Without an engine nobody listens.
            let _ = remark_sender.send(remark);
        }
    });
}

/// Endgame databases whose formats have no public prober. GUIs set them for all engines, so that they
/// are taken, and what comes of it is said.
fn declare_unsupported_tablebases(options: &mut Options, remark_sender: &Sender<String>) {
    for (name, what) in [("NalimovPath", "Nalimov"), ("UCI_ShredderbasesPath", "Shredder")] {
        let remark_sender = remark_sender.clone();
        options.string_with(name, "", move |path| {
            if !path.is_empty() {
                // Without an engine nobody listens.
                let _ = remark_sender.send(format!(
                    "{what} tablebases are not used: their format is not public. \
                     Syzygy tablebases serve the same end"
                ));
            }
        });
    }
    // A cache for nothing needs no word.
    options.spin("NalimovCache", 1, 1..=65_536);
}

/// Against an opponent that is weaker by so many rating points a draw is a centipawn worse.
const POINTS: i64 = 10;

/// The most that an opponent changes, in centipawns.
const MAX_RATING_CONTEMPT: i64 = 100;

/// The rating at which FIDE gives a title (handbook B.01, 2024), for opponents without a rating.
const TITLES: [(&str, i64); 8] = [
    ("GM", 2500),
    ("IM", 2400),
    ("FM", 2300),
    ("CM", 2200),
    ("WGM", 2300),
    ("WIM", 2200),
    ("WFM", 2100),
    ("WCM", 2000),
];

/// How many centipawns a draw is worse than an even position: `set` by the user, and more of it
/// against a weaker opponent, less against a stronger one. `own` is the engine's rating.
pub(super) fn contempt(set: i64, opponent: &str, own: i64) -> i32 {
    let rating = opponent.parse().ok().and_then(|opponent| rating(&opponent));
    let from_rating = rating.map_or(0, |rating| {
        ((own - rating) / POINTS).clamp(-MAX_RATING_CONTEMPT, MAX_RATING_CONTEMPT)
    });
    i32::try_from(set + from_rating).unwrap_or(0)
}

fn rating(opponent: &Opponent) -> Option<i64> {
    let title_rating =
        |title: &Title| TITLES.iter().find(|it| it.0 == title.as_str()).map(|it| it.1);
    opponent.rating().map(i64::from).or_else(|| opponent.title().and_then(title_rating))
}

/// The engine's rating at full strength, on its own scale.
pub(super) const FULL_RATING: i64 = *skill::ELO.end();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contempt_grows_with_the_rating_difference() {
        let of = |opponent| contempt(0, opponent, 2800);
        assert_eq!(of("GM 2800 human Gary Kasparov"), 0);
        assert_eq!(of("none 2300 computer X"), 50);
        assert_eq!(of("none 3200 computer X"), -40);
        assert_eq!(of("none 800 human X"), 100);
        assert_eq!(of("none 9000 human X"), -100);
        assert_eq!(of("IM none human X"), 40);
        for unknown in ["", "none none computer Shredder", "BOT none computer X", "?"] {
            assert_eq!(of(unknown), 0, "{unknown}");
        }
        assert_eq!(contempt(25, "none 2300 computer X", 2800), 75);
        assert_eq!(contempt(25, "", 2800), 25);
        assert_eq!(contempt(0, "none 2300 computer X", 2300), 0);
    }
}
