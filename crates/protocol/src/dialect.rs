//! All differences between the protocols.
//!
//! To add a relative of UCI, such as UCCI or UCI-Cyclone, add a variant of [`Dialect`] and the
//! missing match arms in this file.

use core::cmp::Ordering;
use core::fmt;

use crate::clock::{Convention, Millis};
use crate::option::{KnownOption, OptionDecl, SetBy};
use crate::position::Root;

/// A protocol.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Dialect {
    /// The Universal Chess Interface: the edition of April 2006 and the modern one.
    #[default]
    Uci,
    /// The Universal Shogi Interface: draft 1 as deployed by shogi GUIs today.
    Usi,
}

/// The unit of the number after `score mate`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum MateUnit {
    /// Moves of the side that mates (UCI).
    Moves,
    /// Moves of both sides (USI).
    Plies,
}

impl Dialect {
    /// All dialects, the most common one first.
    pub const ALL: [Self; 2] = [Self::Uci, Self::Usi];

    /// The command that starts a session: `uci` or `usi`.
    pub const fn handshake(self) -> &'static str {
        match self {
            Self::Uci => "uci",
            Self::Usi => "usi",
        }
    }

    /// The engine's answer to [`handshake`](Self::handshake): `uciok` or `usiok`.
    pub const fn handshake_ok(self) -> &'static str {
        match self {
            Self::Uci => "uciok",
            Self::Usi => "usiok",
        }
    }

    /// The command before the first search of a game: `ucinewgame` or `usinewgame`.
    pub const fn new_game(self) -> &'static str {
        match self {
            Self::Uci => "ucinewgame",
            Self::Usi => "usinewgame",
        }
    }

    /// The token before the text of a position: `fen` or `sfen`.
    pub const fn position_keyword(self) -> &'static str {
        match self {
            Self::Uci => "fen",
            Self::Usi => "sfen",
        }
    }

    /// The token for a position without legal moves: `(none)` in UCI, `resign` in USI.
    pub const fn no_move(self) -> &'static str {
        match self {
            Self::Uci => "(none)",
            Self::Usi => "resign",
        }
    }

    /// The unit of the number after `score mate`: moves in UCI, plies in USI (draft 1 §4).
    pub const fn mate_unit(self) -> MateUnit {
        match self {
            Self::Uci => MateUnit::Moves,
            Self::Usi => MateUnit::Plies,
        }
    }

    /// Whether `wtime` and `btime` contain the increment of the move to come.
    ///
    /// UCI GUIs add the increment when a move ends, so it is included. Shogi GUIs send the time
    /// before it is added (ShogiHome, Shogidokoro).
    pub const fn clock_convention(self) -> Convention {
        match self {
            Self::Uci => Convention::IncrementIncluded,
            Self::Usi => Convention::IncrementToCome,
        }
    }

    /// The minimum for `wtime` and `btime`. With a clock of zero or less, some chess engines search
    /// forever or exit; for shogi engines zero means byoyomi.
    pub const fn min_clock(self) -> Millis {
        match self {
            Self::Uci => 1,
            Self::Usi => 0,
        }
    }

    /// Whether clocks may follow `ponderhit` after a `go ponder` without clocks. Shogi GUIs start to
    /// ponder before the clocks are known.
    pub const fn clocks_with_ponder_hit(self) -> bool {
        match self {
            Self::Uci => false,
            Self::Usi => true,
        }
    }

    /// Whether a byoyomi is sent if there is no increment. Shogi engines expect one of the two.
    pub const fn needs_byoyomi(self) -> bool {
        match self {
            Self::Uci => false,
            Self::Usi => true,
        }
    }

    /// Whether a game of this dialect can start at this root: FEN is chess, SFEN is shogi.
    pub const fn has_root(self, root: &Root<'_>) -> bool {
        match root {
            Root::StartPos => true,
            Root::Fen(_) => matches!(self, Self::Uci),
            Root::Sfen(_) => matches!(self, Self::Usi),
        }
    }

    /// Whether `readyok` is required after the new-game command (UCI) or before it (USI as deployed,
    /// where each game starts with `isready`).
    pub const fn ready_after_new_game(self) -> bool {
        match self {
            Self::Uci => true,
            Self::Usi => false,
        }
    }

    /// Whether `isready` is cheap between two searches of a game. In USI as deployed it starts a game:
    /// engines clear their hash and may load files for seconds.
    pub const fn ping_between_searches(self) -> bool {
        match self {
            Self::Uci => true,
            Self::Usi => false,
        }
    }

    /// Whether `go mate` takes milliseconds and is answered by `checkmate` (USI as deployed), instead
    /// of a number of moves.
    pub const fn mate_search_is_timed(self) -> bool {
        match self {
            Self::Uci => false,
            Self::Usi => true,
        }
    }

    /// Whether the GUI reports the end of a game with `gameover`.
    pub const fn has_game_over(self) -> bool {
        match self {
            Self::Uci => false,
            Self::Usi => true,
        }
    }

    /// Whether option names may contain spaces.
    pub const fn spaces_in_option_names(self) -> bool {
        match self {
            Self::Uci => true,
            Self::Usi => false,
        }
    }

    /// Whether the GUI sends this option even to an engine that did not declare it.
    ///
    /// Shogi GUIs do so with `USI_Hash` and `USI_Ponder`.
    pub fn sends_undeclared(self, name: &str) -> bool {
        match self {
            Self::Uci => false,
            Self::Usi => self.same_option(name, "USI_Hash") || self.same_option(name, "USI_Ponder"),
        }
    }

    /// Whether setting this option without a declaration is no violation: GUIs set the options of
    /// [`SetBy::Client`] in any case.
    pub fn tolerates_undeclared(self, name: &str) -> bool {
        let known = KnownOption::find(name, self);
        self.sends_undeclared(name) || known.is_some_and(|it| it.set_by() == SetBy::Client)
    }

    /// Whether the prefix of the name reserves its meaning: `UCI_…` (UCI 2006, option), in USI also
    /// `USI_…` (USI draft 1 §4).
    pub fn fixes_meaning(self, name: &str) -> bool {
        strip_prefix_ignoring_case(name, "UCI_").is_some()
            || (self == Self::Usi && strip_prefix_ignoring_case(name, "USI_").is_some())
    }

    /// The UCI name of an option in the spelling of this dialect.
    ///
    /// In USI, `Hash`, `Ponder` and `OwnBook` have the prefix `USI_`, `UCI_` becomes `USI_`, and a
    /// space becomes `_`. `MultiPV` is unchanged, as in deployed engines; the draft's `USI_MultiPV` is
    /// accepted.
    ///
    /// ```
    /// use readyok_protocol::Dialect;
    /// assert_eq!(Dialect::Usi.option_name("Hash").to_string(), "USI_Hash");
    /// assert_eq!(Dialect::Usi.option_name("Clear Hash").to_string(), "Clear_Hash");
    /// assert_eq!(Dialect::Uci.option_name("Clear Hash").to_string(), "Clear Hash");
    /// ```
    pub const fn option_name(self, name: &str) -> OptionName<'_> {
        OptionName { dialect: self, name }
    }

    /// Whether two names denote the same option. Case does not matter. In USI, runs of spaces and
    /// underscores are equal, and `USI_Hash`, `Hash` and `UCI_Hash` are the same.
    ///
    /// In UCI only case and the length of runs of spaces are ignored. A name longer than
    /// [`OptionDecl::MAX_NAME`] never matches, not even itself.
    pub fn same_option(self, a: &str, b: &str) -> bool {
        if OptionDecl::MAX_NAME < a.len().max(b.len()) {
            return false;
        }
        self.compare_option_names(a, b).is_eq()
    }

    /// An order of names in which names of the same option are equal.
    pub(crate) fn compare_option_names(self, a: &str, b: &str) -> Ordering {
        let fold = |name| folded(without_prefix(self, name), self);
        fold(a).cmp(fold(b))
    }
}

/// The name of an option in the spelling of a dialect. See [`Dialect::option_name`].
#[derive(Clone, Copy, Debug)]
pub struct OptionName<'a> {
    dialect: Dialect,
    name: &'a str,
}

impl fmt::Display for OptionName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.dialect.spaces_in_option_names() {
            return f.write_str(self.name);
        }
        let rest = match self.name {
            "Hash" | "Ponder" | "OwnBook" => {
                f.write_str("USI_")?;
                self.name
            }
            _ => match strip_prefix_ignoring_case(self.name, "UCI_") {
                Some(rest) => {
                    f.write_str("USI_")?;
                    rest
                }
                None => self.name,
            },
        };
        for (index, part) in rest.split_ascii_whitespace().enumerate() {
            if 0 < index {
                f.write_str("_")?;
            }
            f.write_str(part)?;
        }
        Ok(())
    }
}

fn without_prefix(dialect: Dialect, name: &str) -> &str {
    match dialect {
        Dialect::Uci => name,
        Dialect::Usi => strip_prefix_ignoring_case(name, "USI_")
            .or_else(|| strip_prefix_ignoring_case(name, "UCI_"))
            .unwrap_or(name),
    }
}

fn strip_prefix_ignoring_case<'a>(name: &'a str, prefix: &str) -> Option<&'a str> {
    let (head, rest) = name.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// The name in lower case with one space for each run of separators.
fn folded(name: &str, dialect: Dialect) -> impl Iterator<Item = char> + '_ {
    let separator =
        move |c: char| c.is_ascii_whitespace() || (!dialect.spaces_in_option_names() && c == '_');
    let mut tokens = name.split(separator).filter(|token| !token.is_empty()).enumerate();
    let mut current = tokens.next().map(|(_, token)| token.chars());
    core::iter::from_fn(move || {
        let chars = current.as_mut()?;
        if let Some(c) = chars.next() {
            return Some(c.to_ascii_lowercase());
        }
        current = tokens.next().map(|(_, token)| token.chars());
        current.as_ref().map(|_| ' ')
    })
}
