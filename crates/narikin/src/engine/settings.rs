//! Options, read between searches.
use crate::skill::{self, Skill};
use crate::{PositionValues, Score, TbConfig, tablebase::Tablebases};
use readyok_engine::protocol::{Opponent, Title};
use readyok_engine::{Check, Combo, Dialect, Options, Spin, Text};
use readyok_rules::{Game, Impasse, Position, Termination};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Default and maximum hash size in megabytes; the maximum is 32 TiB.
pub(super) const HASH: i64 = 16;
const MAX_HASH: i64 = 33_554_432;

const MAX_THREADS: i64 = 1024;
const MAX_LINES: i64 = 500;

/// Maximum contempt in centipawns.
const MAX_CONTEMPT: i64 = 500;

const MAX_MOVES: i64 = 100_000;

/// `ResignValue` that disables resigning, and the value of a mate.
const NEVER: i64 = 99_999;
const MATED: i64 = 32_000;

const ABOUT: &str = concat!(
    "Narikin ",
    env!("CARGO_PKG_VERSION"),
    " plays chess, Chess960 and shogi. It is free software under the GNU General Public License, version 3 or later"
);

/// Handles of the options.
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
    pub(super) full_seconds: Check,
    position_values: Arc<Mutex<SharedPositionValues>>,
    tables: Arc<Mutex<Option<Arc<Tablebases>>>>,
    table_depth: Spin,
    table_pieces: Spin,
    table_fifty_moves: Check,
    /// Messages of options.
    remarks: Receiver<String>,
    #[cfg(feature = "tune")]
    pub(super) tuning: crate::search::tuning_options::TuningOptions,
}

/// The choices of `UCI_Variant`.
const VARIANTS: [(&str, Game); 3] =
    [("chess", Game::Chess), ("chess960", Game::Chess960), ("shogi", Game::Shogi)];

/// The choices of `EnteringKingRule`, as in YaneuraOu. Rules with an `H` count pieces missing in a
/// handicap game.
const ENTERING: [(&str, Entering); 6] = [
    ("NoEnteringKing", Entering { impasse: Impasse::Ignored, counts_missing: false }),
    ("CSARule24", Entering { impasse: Impasse::Points24, counts_missing: false }),
    ("CSARule24H", Entering { impasse: Impasse::Points24, counts_missing: true }),
    ("CSARule27", Entering { impasse: Impasse::Points27, counts_missing: false }),
    ("CSARule27H", Entering { impasse: Impasse::Points27Handicap, counts_missing: true }),
    ("TryRule", Entering { impasse: Impasse::Try, counts_missing: false }),
];
const DEFAULT_ENTERING: &str = "CSARule27";

/// Options of one protocol only.
const UCI_ONLY: [&str; 10] = [
    "SyzygyPath",
    "SyzygyProbeDepth",
    "SyzygyProbeLimit",
    "Syzygy50MoveRule",
    "UCI_Variant",
    "UCI_Elo",
    "UCI_Opponent",
    "UCI_ShowWDL",
    "UCI_SetPositionValue",
    "UCI_EngineAbout",
];
const USI_ONLY: [&str; 5] =
    ["USI_Strength", "EnteringKingRule", "MaxMovesToDraw", "ResignValue", "RoundUpToFullSecond"];

/// The rule of entering kings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entering {
    pub(super) impasse: Impasse,
    pub(super) counts_missing: bool,
}

impl Settings {
    pub(super) fn declare(options: &mut Options) -> Self {
        let (remark_sender, remarks) = mpsc::channel();
        let hash = options.spin("Hash", HASH, 1..=MAX_HASH);
        let clear_hash = Arc::new(AtomicBool::new(false));
        let pressed = Arc::clone(&clear_hash);
        options.button("Clear Hash", move || pressed.store(true, Ordering::Relaxed));
        let threads = options.spin("Threads", 1, 1..=MAX_THREADS);
        let multipv = options.multipv(MAX_LINES);
        let ponder = options.ponder();
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
        let chess960 = options.chess960();
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
        let entering_king =
            options.combo("EnteringKingRule", DEFAULT_ENTERING, ENTERING.map(|(name, _)| name));
        let max_moves = options.spin("MaxMovesToDraw", 0, 0..=MAX_MOVES);
        let resign_value = options.spin("ResignValue", NEVER, 0..=NEVER);
        let full_seconds = options.check("RoundUpToFullSecond", false);
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
            full_seconds,
            position_values,
            tables,
            table_depth,
            table_pieces,
            table_fifty_moves,
            remarks,
            #[cfg(feature = "tune")]
            tuning: crate::search::tuning_options::TuningOptions::declare(options),
        }
    }

    /// The game of a dialect.
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

    /// Takes the request to clear the hash table.
    pub(super) fn take_clear_hash(&self) -> bool {
        self.clear_hash.swap(false, Ordering::Relaxed)
    }

    /// Takes the messages of options.
    pub(super) fn take_remarks(&self) -> impl Iterator<Item = String> {
        self.remarks.try_iter()
    }

    /// The skill, if strength is limited. `seed` differs between games.
    pub(super) fn skill(&self, dialect: Dialect, seed: u64) -> Option<Skill> {
        if !self.limit_strength.get() {
            return None;
        }
        Some(match dialect {
            Dialect::Uci => Skill::of_elo(self.elo.get(), self.game(dialect), seed),
            Dialect::Usi => Skill::of_rank(self.rank.get(), seed),
        })
    }

    /// The contempt in centipawns.
    pub(super) fn contempt(&self, dialect: Dialect) -> i32 {
        let own = match dialect {
            Dialect::Uci if self.limit_strength.get() => self.elo.get(),
            Dialect::Uci | Dialect::Usi => FULL_RATING,
        };
        contempt(self.contempt.get(), &self.opponent.get(), own)
    }

    /// The maximum number of moves of both sides, if set.
    pub(super) fn max_moves(&self) -> Option<u32> {
        u32::try_from(self.max_moves.get()).ok().filter(|&moves| 0 < moves)
    }

    /// The position values, if any.
    pub(super) fn position_values(&self) -> Option<Arc<PositionValues>> {
        let shared = locked(&self.position_values);
        Some(Arc::clone(&shared.position_values))
            .filter(|position_values| !position_values.is_empty())
    }

    /// The tablebase configuration, if tablebases are loaded.
    pub(super) fn tables(&self) -> Option<TbConfig> {
        let tablebases = self.tables.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        Some(TbConfig {
            tablebases,
            probe_depth: u32::try_from(self.table_depth.get()).unwrap_or(1),
            probe_limit: usize::try_from(self.table_pieces.get()).unwrap_or(0),
            rule50: self.table_fifty_moves.get(),
        })
    }

    /// Whether position values have changed since the last call.
    pub(super) fn take_position_values_changed(&self) -> bool {
        std::mem::take(&mut locked(&self.position_values).is_changed)
    }

    /// The rule of entering kings.
    pub(super) fn entering(&self) -> Entering {
        let named = ENTERING.get(self.entering_king.index());
        named.map_or(Entering { impasse: Impasse::Ignored, counts_missing: false }, |pair| pair.1)
    }

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
    /// Whether the side to move wins by declaration.
    pub(super) fn is_won(self, position: &Position) -> bool {
        let Some(mut declared) = position.declaration() else { return false };
        if !self.counts_missing {
            declared.missing = 0;
        }
        let ending = declared.outcome(self.impasse);
        ending.is_some_and(|ending| ending.termination == Termination::Declaration)
    }
}

/// Position values, shared with the option.
#[derive(Debug, Default)]
struct SharedPositionValues {
    position_values: Arc<PositionValues>,
    is_changed: bool,
}

fn locked(shared: &Mutex<SharedPositionValues>) -> MutexGuard<'_, SharedPositionValues> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Each value of the option is a command.
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
            // Without an engine there is no receiver.
            Err(error) => drop(remark_sender.send(format!("invalid position value: {error}"))),
        }
    });
}

/// Opens tablebases when the path is set, and reports the result.
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
            // Without an engine there is no receiver.
            let _ = remark_sender.send(remark);
        }
    });
}

/// Rating points per centipawn of contempt.
const POINTS: i64 = 10;

/// Maximum contempt by rating in centipawns.
const MAX_RATING_CONTEMPT: i64 = 100;

/// Ratings of FIDE titles (handbook B.01, 2024), for opponents without a rating.
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

/// The contempt in centipawns: `set` by the user, plus a part for weaker opponents, minus for
/// stronger ones. `own` is the engine's rating.
pub(super) fn contempt(set: i64, opponent: &str, own: i64) -> i32 {
    let rating = opponent.parse().ok().and_then(|opponent| rating(&opponent));
    let from_rating = rating.map_or(0, |rating| {
        ((own - rating) / POINTS).clamp(-MAX_RATING_CONTEMPT, MAX_RATING_CONTEMPT)
    });
    i32::try_from(set + from_rating).unwrap_or(0)
}

fn rating(opponent: &Opponent) -> Option<i64> {
    let title_rating =
        |title: &Title| TITLES.iter().find(|known| known.0 == title.as_str()).map(|known| known.1);
    opponent.rating().map(i64::from).or_else(|| opponent.title().and_then(title_rating))
}

/// The rating at full strength.
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
