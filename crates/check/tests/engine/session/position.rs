//! The `position` command.

use readyok_protocol::{Dialect, Root};
use readyok_rules::Position;

use super::Engine;
use crate::faults::be_busy;

impl Engine {
    pub(super) fn place(&mut self, position: &readyok_protocol::Position<'_>) {
        if self.waiting.is_some() && self.breaks("defect.position-stops") {
            self.answer();
        }
        if position.root == Root::StartPos
            && position.moves.is_empty()
            && 0 < self.plies
            && self.breaks("defect.bare-startpos-keeps-moves")
        {
            return;
        }
        if std::mem::take(&mut self.missed)
            && self.breaks("defect.keeps-position-after-ponder-miss")
        {
            return;
        }
        if self.breaks("defect.thinks-after-position") {
            be_busy();
        }
        let line: Vec<String> = position.moves.tokens().map(str::to_owned).collect();
        let is_other = !line.starts_with(&self.line);
        if is_other && !self.memory.is_new && self.breaks("defect.needs-new-game") {
            return;
        }
        let is_earlier = position.root == Root::StartPos
            && !line.is_empty()
            && line.len() < self.line.len()
            && self.line.starts_with(&line);
        if is_earlier && self.breaks("defect.no-takeback") {
            return;
        }
        self.line = line;
        if self.waiting.is_some() {
            self.exits_if("state.position-in-search");
        }
        if std::mem::take(&mut self.new) && self.breaks("state.new-game-unready") {
            return;
        }
        self.played = None;
        let game = self.game();
        let (text, start) = match &position.root {
            Root::StartPos => (String::new(), Ok(Position::start(game))),
            Root::Fen(fen) => (fen.as_str().to_owned(), Position::from_text(game, fen.as_str())),
            Root::Sfen(sfen) => {
                let mut text = sfen.as_str().to_owned();
                if self.breaks("defect.no-promoted-pieces") {
                    text = text.replace('+', "");
                }
                if self.breaks("defect.one-piece-in-hand") {
                    let mut fields: Vec<String> = text.split(' ').map(str::to_owned).collect();
                    if let Some(hands) = fields.get_mut(2) {
                        hands.retain(|c| !c.is_ascii_digit());
                    }
                    text = fields.join(" ");
                }
                let read = Position::from_text(game, &text);
                (text, read)
            }
        };
        let count = position.moves.len();
        let has = |token: &str| position.moves.tokens().any(|other| other == token);
        let fields = text.split(' ').count();
        if position.root == Root::StartPos && count == 31 && self.searches == 5 {
            self.exits_if("positions.random-game");
        }
        if position.root == Root::StartPos && 20 <= count && self.searches == 4 {
            self.exits_if("positions.random-lines");
        }
        if text.ends_with(" 213") {
            self.exits_if("positions.counters");
        }
        if count == 1 && fields == 6 && text.contains(" b ") {
            self.exits_if("positions.fen-sfen");
        }
        if has("a7a8n") {
            self.exits_if("positions.special-moves");
        }
        if has("B*4e") {
            self.exits_if("positions.shogi-moves");
        }
        match fields {
            3 => self.exits_if("positions.short-sfen"),
            4 if self.dialect == Dialect::Uci => self.exits_if("positions.short-fen"),
            _ => (),
        }
        let Ok(start) = start else {
            self.exits_if("positions.malformed");
            return;
        };
        let known = match &self.position {
            Some(reached)
                if 0 < self.plies
                    && self.plies < count
                    && self.fen == text
                    && self.breaks("defect.appends-moves") =>
            {
                Some(reached.clone().after(position.moves.tokens().skip(self.plies)))
            }
            _ => None,
        };
        match known.unwrap_or_else(|| start.after(position.moves.tokens())) {
            Ok(reached) => self.position = Some(reached),
            Err(_) => self.exits_if("positions.illegal-move"),
        }
        self.fen = text;
        self.plies = count;
    }
}
