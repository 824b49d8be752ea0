//! The `go` command.

use std::io::Write as _;
use std::time::Duration;

use readyok_protocol::{Clocks, Dialect, Go, MateLimit, MoveList};
use readyok_rules::{FenForm, Position};

use super::{DEEPEST, Engine, SLOW, Waiting, now, send};
use crate::deviations;
use crate::faults::be_busy;
use crate::search::lines;

impl Engine {
    /// Applies a defect that affects every search. Returns whether the search is dropped.
    fn degrade(&mut self, go: &mut Go<'static>) -> bool {
        let unlimited = |go: &Go<'_>| {
            go.depth.is_none()
                && go.nodes.is_none()
                && go.move_time.is_none()
                && go.clocks.is_empty()
        };
        let ponder = go.ponder;
        for (name, used) in [
            ("go", true),
            ("depth", go.depth.is_some()),
            ("nodes", go.nodes.is_some()),
            ("movetime", go.move_time.is_some()),
            ("clock", !go.clocks.is_empty() && !ponder),
            ("infinite", go.infinite),
            ("ponder", ponder),
            ("searchmoves", go.search_moves.is_some()),
        ] {
            if used {
                self.exits_if(&format!("defect.exits-at-{name}"));
                if self.breaks("defect.aborts-at-depth") && name == "depth" {
                    std::process::abort();
                }
            }
        }
        if self.breaks("defect.silent-at-go") {
            return true;
        }
        if self.breaks("defect.fixed-depth") {
            // It reads no input, and searches to the same depth with any limit.
            let is_endgame = |position: &Position| position.setup().pieces().count() < 5;
            let is_long = self.position.as_ref().is_some_and(is_endgame);
            std::thread::sleep(if is_long { SLOW * 20 } else { SLOW });
            *go = Go { depth: Some(3), ..Go::default() };
        }
        if self.breaks("defect.floods-at-go") {
            loop {
                send("info depth 1 nodes 1");
            }
        }
        if !ponder {
            let limited = !unlimited(go);
            if self.breaks("defect.ignores-depth") {
                go.depth = None;
            }
            if self.breaks("defect.ignores-nodes") {
                go.nodes = None;
            }
            if self.breaks("defect.ignores-movetime") {
                go.move_time = None;
            }
            if self.breaks("defect.ignores-clock") {
                go.clocks = Clocks::default();
            }
            go.infinite |= limited && unlimited(go);
        }
        if go.infinite && self.breaks("defect.infinite-without-searchmoves") {
            go.search_moves = None;
        }
        if go.search_moves.is_some()
            && (self.breaks("defect.ignores-searchmoves")
                || self.breaks("defect.castling-takes-rook"))
        {
            go.search_moves = None;
        }
        if ponder
            && (self.breaks("defect.ponder-not-declared")
                || self.breaks("defect.ponder-like-search"))
        {
            go.ponder = false;
        }
        false
    }

    pub(super) fn go(&mut self, mut go: Go<'static>, text: &str) {
        self.memory.influence(&self.faults, &mut go);
        if self.degrade(&mut go) {
            return;
        }
        if self.waiting.is_some() {
            self.exits_if("state.second-go");
            return;
        }
        self.searches += 1;
        if self.position.is_none() {
            self.exits_if("search.without-position");
        }
        if go.depth == Some(0) {
            self.exits_if("limits.zero");
        }
        if go.clocks.moves_to_go == Some(0) {
            self.exits_if("defect.exits-at-movestogo-zero");
        }
        if text.trim() == "go" {
            self.exits_if("limits.none");
        }
        if go.nodes.is_some_and(|nodes| 1_000_000_000_000_000 < nodes) {
            self.exits_if("limits.large");
        }
        if go.depth == Some(4) && self.breaks("resources.undrained-stderr") {
            // It blocks if the output is not read.
            let _ = std::io::stderr().write_all(&vec![b'x'; 1 << 18]);
        }
        if !go.unknown.is_empty() && self.breaks("lexical.unknown-token-in-go") {
            return;
        }
        let mut position = self.position.clone().unwrap_or_else(|| Position::start(self.game()));
        if let Some(played) = self.played.take()
            && self.breaks("state.same-position")
            && let Ok(next) = position.clone().after([played])
        {
            position = next;
        }
        let form = self.game().castling_form();
        let mut wanted: Vec<String> = go
            .search_moves
            .iter()
            .flat_map(MoveList::tokens)
            .filter_map(|token| Some(position.parse_move(token).ok()?.to_uci(form)))
            .collect();
        if go.depth == Some(2) && !wanted.is_empty() && self.breaks("search.searchmoves") {
            wanted.clear();
        }
        if self.breaks("defect.first-searchmove-only") {
            wanted.truncate(1);
        }
        if self.breaks("defect.last-searchmove-only") {
            wanted.drain(..wanted.len().saturating_sub(1));
        }
        let unknown_move = [
            ("positions.en-passant", "b4a3"),
            ("defect.no-en-passant-for-white", "a5b6"),
            ("positions.promotions", "a7a8n"),
            ("positions.double-frc", "d8b8"),
            ("positions.shogi-promotions", "P*5e"),
        ]
        .into_iter()
        .find(|(id, token)| wanted.as_slice() == [*token] && self.breaks(id));
        if unknown_move.is_some() {
            wanted.clear();
        }
        let one_mate = go.depth.is_some_and(|depth| depth < 3);
        let plies = if one_mate { 1 } else { 3 };
        let before = self.plies;
        let fen = position.text(FenForm::XFen);
        let key = format!("{plies} {before} {fen} {}", wanted.join(" "));
        let mut found =
            self.known.entry(key).or_insert_with(|| lines(&position, &wanted, form, plies)).clone();
        if 1 < self.multipv && !wanted.is_empty() && self.breaks("search.searchmoves-lines") {
            let others = lines(&position, &[], form, plies).into_iter();
            found.extend(
                others.filter(|line| line.moves.first().is_some_and(|mv| !wanted.contains(mv))),
            );
        }
        self.played = found.first().and_then(|line| line.moves.first()).cloned();
        if let Some((_, token)) = unknown_move {
            found.retain(|line| line.moves.first().is_none_or(|mv| mv != token));
        }
        if self.breaks_score(&go) {
            for line in &mut found {
                line.cp += 1;
            }
        }
        if found.iter().any(|line| line.drawn) && self.breaks("scores.repetition") {
            for line in &mut found {
                line.cp = -500;
            }
        }
        let head = found.first().and_then(|line| line.moves.first()).cloned();
        if let Some(head) = head.as_ref().filter(|_| go.ponder && self.breaks("info.ponder-pv")) {
            send(&format!("info depth 1 score cp 3 pv {head} {head}"));
        }
        let booked = self.book_off
            && go.move_time == Some(Duration::from_millis(150))
            && self.breaks("options.own-book-off");
        let reported = !booked && self.report(&position, &go, &found);
        let answer = self.bestmove(&position, &go, &found, reported);
        self.pondered |= go.ponder;
        let mates = found.first().is_some_and(|line| line.mate == Some(1));
        let mut held = go.ponder || go.infinite && !self.breaks("defect.ends-infinite");
        if mates && go.infinite && self.breaks("search.infinite")
            || mates && go.ponder && self.breaks("search.ponder.holds-bestmove")
            || go.ponder
                && go.clocks.white_time == Some(60)
                && self.breaks("search.no-early-bestmove")
        {
            held = false;
        }
        if go.ponder && go.nodes == Some(2) && self.breaks("limits.ponder") {
            held = false;
        }
        let mut time = go.move_time;
        if let Some(long) = self.late_move(&position, &go) {
            time = Some(long);
        }
        if go.clocks.white_time == Some(400)
            && go.clocks.moves_to_go.is_none()
            && self.breaks("limits.low-time")
        {
            time = Some(Duration::from_secs(4));
        }
        let is_game = go.clocks.white_increment == Some(25) || go.clocks.byoyomi == Some(250);
        if is_game && !go.ponder && self.plies == 6 && self.breaks("limits.game") {
            time = Some(Duration::from_secs(4));
        }
        if go.clocks.byoyomi == Some(300) && self.breaks("usi.byoyomi-time") {
            time = Some(Duration::from_secs(4));
        }
        if text.contains("mate 300") && self.breaks("usi.mate-time") {
            // Neither forever nor in time.
            time = Some(Duration::from_secs(3));
        }
        if booked {
            time = None;
        }
        if found.is_empty() && self.breaks("resources.idle-finished") {
            be_busy();
        }
        if found.is_empty() && go.ponder {
            self.exits_if("search.ponder.no-legal-move");
        }
        if mates && go.infinite && self.breaks("info.flood") {
            for _ in 0..2000 {
                send("info depth 8 nodes 80 time 8");
            }
        }
        if go.depth == Some(3)
            && self.searches == 1
            && self.multipv == 1
            && !found.is_empty()
            && self.breaks("resources.idle")
            || self.may_ponder && self.breaks("resources.no-own-ponder")
        {
            be_busy();
        }
        let done = go.depth.is_some_and(|depth| depth <= DEEPEST)
            || go.nodes.is_some_and(|nodes| nodes < 1_000_000);
        let ignores_depth = done && time.is_some() && self.breaks("search.any-order");
        let early = time.is_some() && self.breaks("search.movetime.uses");
        let until = match time {
            Some(time) if !done && !early || ignores_depth => Some(now() + time),
            _ => None,
        };
        let finds_mate = found.iter().any(|line| line.mate.is_some());
        if self.never_ends(&go, text)
            || go.mate.is_some() && !finds_mate && self.breaks("defect.endless-mate-search")
        {
            held = true;
        }
        let by_depth = !held && go.move_time.is_none();
        let is_deep = go.depth.is_some_and(|depth| deviations::MEASURED_DEPTH < depth);
        let slow = go.depth.filter(|_| {
            by_depth
                && (self.breaks("defect.slow") || is_deep && self.breaks("defect.slow-when-deep"))
        });
        let mut until = slow.map_or(until, |depth| Some(now() + SLOW * depth));
        if go.infinite && self.breaks("defect.infinite-ends-later") {
            held = false;
            until = Some(now() + deviations::ENDS_LATER);
        }
        if go.infinite && mates && self.breaks("defect.infinite-ends-when-complete") {
            // It computes until then.
            be_busy();
            held = false;
            until = Some(now() + deviations::COMPLETE);
        }
        self.waiting = Some(Waiting {
            answer,
            held,
            until,
            pondering: go.ponder,
            hit: false,
            begin: now(),
            ticks: 0,
            head,
            go,
            pings: 0,
        });
        if !held && until.is_none() {
            self.answer();
        }
    }

    /// The time of a search with clocks that a defect extends.
    fn late_move(&self, position: &Position, go: &Go<'_>) -> Option<Duration> {
        let clocks = &go.clocks;
        let long = Some(Duration::from_secs(3));
        if go.ponder || clocks.is_empty() {
            return None;
        }
        if clocks.white_increment.is_some() && self.breaks("defect.late-with-increment")
            || clocks.black_time.is_none() && self.breaks("defect.late-with-one-clock")
            || clocks.moves_to_go == Some(1) && self.breaks("defect.late-before-control")
        {
            return long;
        }
        if clocks.byoyomi.is_some() && self.breaks("defect.late-in-byoyomi") {
            let byoyomi = u64::try_from(clocks.byoyomi?).ok()?;
            return Some(Duration::from_millis(byoyomi + 222));
        }
        if self.breaks("defect.swapped-clocks") {
            let first_is_white = self.dialect == Dialect::Uci;
            let first = position.turn() == readyok_rules::Side::First;
            let own = if first == first_is_white { clocks.black_time } else { clocks.white_time };
            return Some(Duration::from_millis(u64::try_from(own?).ok()? / 40));
        }
        None
    }

    /// Whether a finite search never ends because of the fault.
    fn never_ends(&self, go: &Go<'_>, text: &str) -> bool {
        let is = |part: &str| text.contains(part);
        [
            ("search.completes", self.multipv == 3 && go.depth == Some(3)),
            ("search.movetime.ends", is("movetime 300")),
            ("search.clock", is("btime 100000")),
            ("limits.movetime-zero", go.move_time == Some(Duration::ZERO)),
            ("search.clock-over", text.trim() == "go wtime 0 btime 0"),
            ("search.moves-to-go", is("movestogo 1")),
            ("search.searchmoves-first", is("searchmoves") && text.trim_end().ends_with("depth 2")),
            ("search.mate", go.mate.is_some()),
            ("defect.no-mate-in-two", go.mate == Some(MateLimit::Moves(2))),
            ("search.every-thread-count", self.threads == 4),
            ("search.interleavings", 20 < self.searches && text.trim() == "go movetime 1"),
            ("options.limit-strength", self.limited && go.depth == Some(4)),
            ("options.analyse-mode", self.analysing && go.depth == Some(3)),
            ("usi.new-game-order", go.clocks.white_time == Some(900) && self.games == 2),
            ("usi.clocks", is("binc 150")),
            ("usi.mate-infinite", is("mate infinite")),
            ("usi.byoyomi", is("byoyomi 200")),
            ("soak.replies", self.searches == 150),
        ]
        .into_iter()
        .any(|(id, here)| here && self.breaks(id))
    }
}
