//! Handshake, `isready` and options.

use std::sync::mpsc::Receiver;
use std::time::Duration;

use readyok_protocol::Dialect;

use super::{Engine, Waiting, now, send};
use crate::{deviations, input};

impl Engine {
    pub(super) fn handshake(&mut self, inbox: &Receiver<input::Line>) {
        self.handshakes += 1;
        if 1 < self.handshakes {
            self.exits_if("handshake.second-uci");
        }
        if self.breaks("handshake.quick") {
            std::thread::park_timeout(Duration::from_secs(3));
        }
        if self.breaks("handshake.id-first") {
            send("option name Early type button");
        }
        if !self.breaks("handshake.name") {
            send("id name Obedient 1.0");
        }
        if self.breaks("defect.two-names") {
            send("id name Obedient");
        }
        if !self.breaks("handshake.author") && !self.breaks("defect.no-author") {
            send("id author Readyok");
        }
        let uci = self.dialect == Dialect::Uci;
        let hash = if uci { "Hash" } else { "USI_Hash" };
        if !self.breaks("options.hash-offered") {
            let usual = if self.breaks("options.hash-default") { 1024 } else { 16 };
            send(&format!("option name {hash} type spin default {usual} min 1 max 1024"));
        }
        let prefix = if uci { "UCI_" } else { "USI_" };
        for name in ["AnalyseMode", "ShowCurrLine", "ShowRefutations"] {
            let on = name == "ShowCurrLine" && self.breaks("options.off-by-default");
            send(&format!("option name {prefix}{name} type check default {on}"));
        }
        send(&format!("option name {prefix}Opponent type string default <empty>"));
        let book = if uci { "OwnBook" } else { "USI_OwnBook" };
        send(&format!("option name {book} type check default true"));
        send("option name Threads type spin default 1 min 1 max 4");
        let multipv = if self.breaks("options.multipv-default") { 2 } else { 1 };
        if self.breaks("defect.multipv-as-check") {
            send("option name MultiPV type check default false");
        } else {
            send(&format!("option name MultiPV type spin default {multipv} min 1 max 10"));
        }
        let risky = match () {
            () if self.breaks("usi.translation") => "",
            () if self.breaks("defect.choices-with-spaces") => " var Very Risky",
            () => " var Risky",
        };
        send(&format!("option name Style type combo default Solid var Solid var Normal{risky}"));
        if uci {
            send("option name Clear Hash type button");
            if self.breaks("defect.about-as-check") {
                send("option name UCI_EngineAbout type check default true");
            }
            send("option name UCI_Chess960 type check default false");
            send("option name UCI_ShowWDL type check default false");
            send("option name UCI_LimitStrength type check default false");
            if !self.breaks("options.elo-with-limit") {
                send("option name UCI_Elo type spin default 1500 min 1000 max 2000");
            }
        } else {
            send("option name Clear_Hash type button");
        }
        let fixed = self.breaks("options.fixed-types");
        if uci && fixed {
            send("option name Ponder type string default <empty>");
        } else if uci && !self.breaks("defect.ponder-not-declared") {
            let default = if self.breaks("defect.capital-default") { "False" } else { "false" };
            send(&format!("option name Ponder type check default {default}"));
        }
        send(
            "option name Book File type string default <empty>"
                .replace("Book File", if uci { "Book File" } else { "BookFile" })
                .as_str(),
        );
        for (id, line) in [
            ("options.readable", "option name Bad type slider default 1"),
            ("options.check-default", "option name Bad type check"),
            ("options.spin-range", "option name Bad type spin default 5 min 10 max 20"),
            ("options.combo-default", "option name Bad type combo default Z var A var B"),
            ("options.string-default", "option name Bad type string"),
            ("options.button-plain", "option name Bad type button default 1"),
            ("options.distinct-choices", "option name Bad type combo default A var A var a var B"),
            ("options.distinct-names", "option name STYLE type check default true"),
            ("options.plain-names", "option name Bad value type check default true"),
            ("options.no-spaces", "option name Bad Thing type check default true"),
            ("options.usi-prefix", "option name Ponder type check default true"),
            ("handshake.early-status", "copyprotection checking"),
            ("defect.spin-without-range", "option name Contempt type spin default 0"),
            ("defect.number-as-check-default", "option name Fast type check default 0"),
            ("defect.option-without-type", "option name Fast"),
        ] {
            if self.breaks(id) {
                send(line);
            }
        }
        if self.handshakes == 1 && self.breaks("lexical.batch") {
            Self::discard_lines(inbox);
        }
        if self.breaks("defect.text-after-handshake") {
            send(&format!("{} Obedient", self.dialect.handshake_ok()));
        } else {
            send(self.dialect.handshake_ok());
        }
    }

    pub(super) fn ready(&mut self, fresh: bool, inbox: &Receiver<input::Line>) {
        self.new = false;
        if self.breaks("defect.no-readyok") {
            return;
        }
        self.pings += 1;
        let pondering =
            |waiting: &Waiting| waiting.pondering && waiting.go.clocks.white_time == Some(61_000);
        if self.waiting.as_ref().is_some_and(pondering)
            && self.breaks("state.ready-while-pondering")
        {
            return;
        }
        if fresh && self.breaks("handshake.ready") {
            return;
        }
        if self.breaks("handshake.ready-each") && 1 < self.pings && self.searches == 0 {
            // Everything of the same write is discarded.
            while inbox
                .recv_timeout(Duration::from_millis(20))
                .is_ok_and(|line| line.text == "isready")
            {}
        }
        for (id, line) in [
            ("handshake.late-declaration", "option name Late type button"),
            ("handshake.ok-once", self.dialect.handshake_ok()),
            ("handshake.known-messages", "Good morning"),
            ("handshake.ascii", "info string na\u{ef}ve"),
            ("handshake.text", "info string a\u{1b}[2Jb"),
        ] {
            if self.pings == 2 && self.breaks(id) {
                send(line);
            }
        }
        if self.pings == 3 {
            for (id, token) in [
                ("handshake.copy-protection", "copyprotection"),
                ("handshake.registration", "registration"),
            ] {
                if !self.breaks(id) {
                    send(&format!("{token} checking"));
                }
                send(&format!("{token} ok"));
            }
        }
        let is_ignored = self.breaks("search.ready") || self.breaks("defect.no-readyok-in-search");
        if let Some(waiting) = &mut self.waiting
            && self.faults.breaks("defect.isready-stops-later")
        {
            waiting.held = false;
            waiting.until = Some(now() + Duration::from_millis(60));
        }
        let endless = self.waiting.as_ref().is_some_and(|waiting| waiting.go.infinite);
        if endless && self.breaks("defect.isready-stops") {
            self.answer();
        }
        let is_numbered = self.fen.ends_with(" 7 9") || self.fen.ends_with(" 41");
        if is_numbered && self.breaks("state.position-kept")
            || self.breaks("defect.forgets-position-at-isready")
        {
            self.position = None;
        }
        if self.breaks("defect.describes-itself") {
            send("info string evaluation: network of 2 layers");
        }
        let has_text = self.breaks("defect.text-after-readyok");
        if self.breaks("defect.isready-resets-options") {
            self.multipv = 1;
        }
        if self.waiting.is_some() && self.breaks("defect.late-readyok-in-search") {
            std::thread::sleep(deviations::NOTICEABLE);
        }
        match &mut self.waiting {
            Some(waiting) if is_ignored => waiting.pings += 1,
            _ => send(if has_text { "readyok 1" } else { "readyok" }),
        }
    }

    pub(super) fn set(&mut self, name: &str, value: Option<&str>) {
        if self.breaks("defect.names-without-spaces") {
            let first = name.split(' ').next().unwrap_or_default();
            if name.contains(' ') {
                send(&format!("info string unknown option {first}"));
                return;
            }
        }
        if name == "Style" && self.breaks("defect.warns-about-options") {
            send("info string setting Style failed: option not found");
        }
        self.memory.sets += 1;
        let is_late = 1 < self.memory.sets && self.breaks("defect.first-setoption-only")
            || 0 < self.searches && self.breaks("defect.options-only-before-search");
        if is_late {
            return;
        }
        if name == "Style" && value == Some("sOLID") {
            self.exits_if("options.choice-ignores-case");
        }
        if value == Some("abc") {
            self.exits_if("options.invalid-values");
        }
        if (name == "No Such Option" || name == "Style") && self.breaks("options.settable") {
            send(&format!("info string no such option: {name}"));
        }
        if self.waiting.is_some() {
            self.exits_if("state.option-in-search");
        }
        self.exits_if("defect.exits-at-setoption");
        let number = value.and_then(|value| value.parse::<u32>().ok());
        let on = value.is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let dialect = self.dialect;
        let is = |option: &str| dialect.same_option(name, option);
        if is("MultiPV") && self.pings == 0 && self.breaks("options.before-ready") {
            return;
        }
        if name.starts_with("Book") && value.is_none_or(str::is_empty) {
            self.exits_if("options.empty-string");
        }
        if is("UCI_Opponent") && value.is_some_and(|value| value.contains(' ')) {
            self.exits_if("options.opponent");
        }
        for (option, field) in [
            ("UCI_LimitStrength", &mut self.limited),
            ("UCI_AnalyseMode", &mut self.analysing),
            ("UCI_ShowCurrLine", &mut self.shows_lines),
        ] {
            if is(option) {
                *field = on;
            }
        }
        if is("OwnBook") {
            self.book_off = !on;
        }
        self.has_elo |= is("UCI_Elo");
        let same = |option: &str| {
            is(option) && (name == option || !self.breaks("options.name-ignores-case"))
        };
        if same("Clear Hash") {
            self.exits_if("options.button");
        } else if same("MultiPV") {
            let before =
                if self.breaks("defect.multipv-never-decreases") { self.multipv } else { 1 };
            let number = number.map_or(self.multipv, |number| number.clamp(1, 10) as usize);
            self.multipv = number.max(before);
        } else if same("Threads") {
            self.threads = number.unwrap_or(self.threads);
        } else if same("UCI_Chess960") {
            self.chess960 = self.chess960 && self.breaks("defect.chess960-stays-on")
                || on && (value == Some("true") || !self.breaks("options.value-ignores-case"));
        } else if same("UCI_ShowWDL") {
            self.wdl = on;
        } else if same("Style") && value == Some("Risky") {
            self.exits_if("options.every-value");
        } else if same("Hash") {
            if let Some(megabytes) = number.filter(|_| !self.breaks("resources.hash-follows")) {
                let shift = if self.breaks("defect.hash-in-kilobytes") { 10 } else { 20 };
                self.table = vec![0; (megabytes as usize) << shift];
            }
            match number {
                Some(17) => self.exits_if("resources.hash-resize"),
                Some(500..) => self.exits_if("resources.hash-maximum"),
                Some(64) if self.breaks("resources.hash-memory") => {
                    self.kept.push(vec![1; 200 << 20]);
                }
                _ => (),
            }
        } else if same("Ponder") {
            self.may_ponder = on;
        }
        if name.starts_with("Move") && self.breaks("options.no-text") {
            send(&format!("No such option: {name}"));
        }
        if name == "USI_Ponder" {
            self.exits_if("usi.undeclared-options");
        }
    }
}
