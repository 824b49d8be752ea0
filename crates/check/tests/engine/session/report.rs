//! `info` lines and `bestmove`.

use std::time::Duration;

use readyok_protocol::{Dialect, Go, MateLimit};
use readyok_rules::Position;

use super::{DEEPEST, Engine, send};
use crate::deviations;
use crate::search::Line;

impl Engine {
    /// Reports the search. Returns whether there was a report.
    pub(super) fn report(&mut self, position: &Position, go: &Go<'_>, found: &[Line]) -> bool {
        if go.depth == Some(5) && self.breaks("info.before-bestmove") {
            return false;
        }
        let mut deepest = go.depth.unwrap_or(8).clamp(1, DEEPEST);
        let is_deep = go.depth.is_some_and(|depth| deviations::MEASURED_DEPTH < depth);
        if self.breaks("defect.slow") || is_deep && self.breaks("defect.slow-when-deep") {
            deepest = 1;
        }
        let is_forced = found.len() == 1;
        if self.breaks("defect.reports-nothing")
            || self.breaks("defect.fixed-depth")
            || is_forced && self.breaks("defect.no-info-of-forced-move")
        {
            return false;
        }
        if go.nodes.is_some() && !go.ponder {
            self.report_faults(found);
        }
        if go.depth == Some(7)
            && found.iter().any(|line| line.mate == Some(3))
            && self.breaks("scores.mate-distance")
        {
            send("info depth 7 score mate 1");
        }
        if go.depth == Some(4) && self.breaks("search.depth") {
            deepest = 3;
        }
        let mut nodes = 0;
        for depth in 1..=deepest {
            let mut shown: Vec<_> = found.iter().enumerate().take(self.multipv).collect();
            if let ([only], 3) = (shown.as_slice(), self.multipv)
                && self.breaks("info.multipv-forced")
            {
                shown.push((1, only.1));
            }
            if 2 < shown.len() && depth == 2 && self.breaks("info.multipv-order") {
                shown.swap(0, 1);
            }
            for (at, line) in shown {
                nodes += 10;
                let number = if self.breaks("defect.multipv-from-zero") { at } else { at + 1 };
                if number == 3 && self.breaks("info.multipv") {
                    continue;
                }
                let score = self.score(position, go, line);
                let wdl = match self.wdl {
                    true if self.breaks("info.wdl") => " wdl 300 300 300",
                    true if 300 < line.cp && self.breaks("scores.wdl-side") => " wdl 100 100 800",
                    true => " wdl 300 400 300",
                    false => "",
                };
                let reported =
                    if go.nodes.is_some() && self.breaks("search.nodes") { 500_000 } else { nodes };
                let mut moves = line.moves.clone();
                if line.mate == Some(3) && self.breaks("info.mate-pv") {
                    moves.truncate(1);
                }
                if line.mate == Some(1) && self.breaks("info.pv-end") {
                    moves.extend(line.moves.first().cloned());
                }
                send(&format!(
                    "info depth {depth} seldepth {depth} multipv {number} score {score}{wdl} nodes {reported} \
                     nps 1000 hashfull 10 time {depth} pv {}",
                    moves.join(" ")
                ));
            }
        }
        if found.is_empty() {
            let mated = if position.in_check() { "mate -0" } else { "cp 0" };
            send(&format!("info depth 0 score {mated}"));
        }
        true
    }

    fn report_faults(&self, found: &[Line]) {
        let Some(head) = found.first().and_then(|line| line.moves.first()) else { return };
        let far = if self.dialect == Dialect::Uci { "a1a8" } else { "1a1i" };
        for (id, line) in [
            ("info.numbers", "info nodes 1.5".to_owned()),
            ("info.complete", "info depth".to_owned()),
            ("info.once", "info depth 1 depth 2".to_owned()),
            ("info.moves", "info currmove xyz".to_owned()),
            ("info.seldepth", "info seldepth 7".to_owned()),
            ("info.legal-pv", format!("info depth 1 score cp 3 pv {head} {head}")),
            ("info.pv-with-score", format!("info depth 1 pv {head}")),
            ("info.bound-with-score", "info depth 1 lowerbound".to_owned()),
            ("info.monotonic-counts", "info time 9\ninfo time 8".to_owned()),
            ("info.permille", "info hashfull 1500".to_owned()),
            ("info.monotonic-depth", format!("info depth 30 score cp 1 pv {head}")),
            ("info.late-details", format!("info currmove {head} currmovenumber 1")),
            ("info.string-last", format!("info string depth 3 score cp 5 pv {head}")),
            ("info.multipv-limit", format!("info depth 1 multipv 2 score cp 3 pv {head}")),
            ("info.currline-requested", format!("info currline {head}")),
            ("info.refutation-requested", format!("info refutation {head}")),
            ("scores.wdl-requested", "info depth 1 score cp 1 wdl 300 400 300".to_owned()),
            ("info.one-bound", format!("info depth 1 score cp 3 lowerbound upperbound pv {head}")),
            ("defect.string-middle", format!("info depth 2 string x score cp 0 nodes 1 pv {head}")),
            ("info.current-move", format!("info currmove {head} currmovenumber 0")),
            ("defect.cpuload-over-permille", "info cpuload 5000".to_owned()),
            ("defect.negative-tbhits", "info tbhits -1".to_owned()),
            ("defect.score-without-unit", format!("info depth 1 score 35 pv {head}")),
            ("defect.illegal-currmove", format!("info currmove {far} currmovenumber 1")),
            ("defect.large-currmovenumber", format!("info currmove {head} currmovenumber 900")),
            ("defect.pv-of-best-move-twice", format!("info depth 1 score cp 1 pv {head} {head}")),
        ] {
            if self.breaks(id) {
                send(&line);
            }
        }
    }

    /// Whether the fault changes scores by earlier games or options.
    pub(super) fn breaks_score(&self, go: &Go<'_>) -> bool {
        go.depth == Some(6)
            && (self.games == 2 && self.breaks("state.new-game-clears")
                || self.has_elo && self.breaks("options.elo-without-limit"))
    }

    fn score(&self, position: &Position, go: &Go<'_>, line: &Line) -> String {
        if line.mated {
            let plies = if self.dialect == Dialect::Usi { 2 } else { 1 };
            let wrong = go.depth == Some(6) && self.breaks("scores.mated");
            return format!("mate {}{plies}", if wrong { "" } else { "-" });
        }
        if line.mate == Some(1) && go.depth == Some(4) && self.breaks("scores.mate-not-cp") {
            return "cp 29999".into();
        }
        if let Some(plies) = line.mate {
            let plies_unit = self.dialect == Dialect::Usi
                || self.breaks("info.mate-score")
                || self.breaks("defect.mates-in-plies");
            return format!("mate {}", if plies_unit { plies } else { plies.div_ceil(2) });
        }
        let second = position.turn() == readyok_rules::Side::Second;
        let turned =
            second && (self.breaks("info.score-side") || self.breaks("defect.scores-of-white"));
        format!("cp {}", if turned { -line.cp } else { line.cp })
    }

    pub(super) fn bestmove(
        &self,
        position: &Position,
        go: &Go<'_>,
        found: &[Line],
        reported: bool,
    ) -> String {
        if matches!(go.mate, Some(MateLimit::Time(_) | MateLimit::Infinite))
            && !self.breaks("usi.mate")
        {
            if go.mate == Some(MateLimit::Time(Duration::from_secs(1)))
                && self.breaks("usi.mate-moves")
            {
                let line = found.last().map(|line| line.moves.join(" "));
                return format!("checkmate {}", line.unwrap_or_default());
            }
            let mate = found.first().filter(|line| line.mate.is_some());
            if mate.is_some() && self.breaks("defect.checkmate-without-moves") {
                return "checkmate".into();
            }
            return mate.map_or_else(
                || "checkmate nomate".into(),
                |line| format!("checkmate {}", line.moves.join(" ")),
            );
        }
        let Some(line) = found.first() else {
            if go.depth == Some(3) && self.breaks("usi.resign") {
                return "bestmove (none)".into();
            }
            self.exits_if("defect.exits-without-legal-move");
            let wrong = self.breaks("positions.no-legal-move");
            return format!("bestmove {}", if wrong { "e2e4" } else { self.dialect.no_move() });
        };
        if position.can_declare() && !self.breaks("usi.declaration") {
            return "bestmove win".into();
        }
        for (id, start, token) in [
            ("usi.false-declaration", "5K3/GG7", "win"),
            ("positions.pawn-drop-mate", "7nk", "P*1b"),
            ("positions.two-pawns", "4k4/9/9/9/9/9/PPP", "P*5e"),
        ] {
            if self.fen.starts_with(start) && self.breaks(id) {
                return format!("bestmove {token}");
            }
        }
        let mut answer = match line.moves.as_slice() {
            [best, ponder, ..] => format!("bestmove {best} ponder {ponder}"),
            [best] => format!("bestmove {best}"),
            [] => String::new(),
        };
        // With limited strength it reports the best line, and plays another.
        let is_second = self.limited && go.depth == Some(4) && go.search_moves.is_none();
        if is_second || go.depth == Some(5) && reported && self.breaks("info.pv-bestmove") {
            answer = found
                .get(1)
                .and_then(|line| line.moves.first())
                .map_or(answer, |mv| format!("bestmove {mv}"));
        }
        if go.nodes.is_some() && go.depth.is_none() && !go.ponder {
            for (id, text) in [
                ("search.legal-move", "bestmove a1a8".to_owned()),
                ("search.one-bestmove", format!("{answer}\n{answer}")),
                ("lexical.idle-info", format!("{answer}\ninfo depth 1")),
                ("usi.mate-once", format!("{answer}\ncheckmate nomate")),
                ("lexical.reply-form", format!("{answer} ok")),
            ] {
                if self.breaks(id) {
                    answer = text;
                }
            }
        }
        let answer = self.altered(answer, position, go, found);
        let mut answer = answer;
        for (id, good, bad) in [
            ("positions.castling", "e1c1", "e1a1"),
            ("positions.move-form", "e1g1", "e1h1"),
            ("defect.castling-takes-rook", "e1g1", "e1h1"),
            ("defect.black-castling-takes-rook", "e8g8", "e8h8"),
            ("positions.chess960", "e1h1", "e1g1"),
        ] {
            if line.moves.first().is_some_and(|mv| mv == good) && self.breaks(id) {
                answer = format!("bestmove {bad}");
            }
        }
        answer
    }

    /// The reply with a defect of its form.
    fn altered(&self, answer: String, position: &Position, go: &Go<'_>, found: &[Line]) -> String {
        let is_promotion = |token: &str| token.len() == 5 && !token.contains(['*', '+']);
        let tokens: Vec<&str> = answer.split(' ').collect();
        let best = tokens.get(1).copied().unwrap_or_default();
        let rest = answer.get("bestmove ".len() + best.len()..).unwrap_or_default();
        let head: Vec<&str> = self.fen.split(' ').collect();
        let no_rights = head.len() == 6 && head.get(2) == Some(&"-");
        if is_promotion(best) && self.breaks("defect.upper-case-promotions") {
            let (squares, piece) = best.split_at(4);
            return format!("bestmove {squares}{}{rest}", piece.to_uppercase());
        }
        if best.contains('*') && self.breaks("defect.lower-case-drops") {
            return format!("bestmove {}{rest}", best.to_lowercase());
        }
        if self.breaks("defect.upper-case-squares") {
            return format!("bestmove {}{rest}", best.to_uppercase());
        }
        if self.breaks("defect.text-after-bestmove") {
            return format!("{answer} score cp 3");
        }
        if self.breaks("defect.ponder-without-move") {
            return format!("bestmove {best} ponder");
        }
        if self.breaks("defect.null-move") {
            return "bestmove 0000".to_owned();
        }
        if no_rights
            && head.first().is_some_and(|text| text.ends_with("/4K2R"))
            && go.depth == Some(3)
            && position.parse_move("e1g1").is_err()
            && self.breaks("defect.castles-without-right")
        {
            return "bestmove e1g1".to_owned();
        }
        let longest = found.last().and_then(|line| line.moves.first());
        match longest {
            Some(mv)
                if go.mate == Some(MateLimit::Moves(2)) && self.breaks("defect.mate-in-plies") =>
            {
                format!("bestmove {mv}")
            }
            _ => answer,
        }
    }
}
