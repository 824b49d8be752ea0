//! The one fault of the client.

use std::process::exit;

/// Which check the client shall fail.
#[derive(Clone)]
pub(crate) struct Faults(String);

/// Text of a line at which a client with that fault exits with an error.
const STUMBLES: [(&str, &str); 28] = [
    ("gui.start.banner", "type help"),
    ("gui.options.spaces", "Very Solid"),
    ("gui.options.button", "Reset type button"),
    ("gui.options.empty-string", "Learning type string default <empty>"),
    ("gui.options.default-without-value", "Logging type string"),
    ("gui.options.filename", "Learning type filename"),
    ("gui.options.unknown-type", "type slider default"),
    ("gui.options.no-type", "option name Slide\n"),
    ("gui.options.spin-without-bounds", "Glide type spin\n"),
    ("gui.options.spin-huge", "-99999999999999999999 max"),
    ("gui.options.spin-no-number", "min few"),
    ("gui.options.spin-reversed", "min 100 max 1\n"),
    ("gui.options.combo-without-choices", "Glide type combo\n"),
    ("gui.options.combo-unknown-default", "default Faster var"),
    ("gui.options.check-invalid-default", "default maybe"),
    ("gui.options.button-with-default", "button default true"),
    ("gui.options.repeated", "option name slide type check"),
    ("gui.options.non-ascii", "思考"),
    ("gui.options.markup", "<b>"),
    ("gui.options.many", "Slide600 type"),
    ("gui.status.copyprotection-ok", "copyprotection ok"),
    ("gui.status.registration-ok", "registration ok"),
    ("gui.ready.info", "info string done"),
    ("gui.search.malformed-info", "plugh 3"),
    ("gui.search.extreme-scores", "cp 2147483648"),
    ("gui.search.unusable-ponder", "ponder (none)"),
    ("gui.lines.unknown", "plugh 17"),
    ("gui.lines.not-utf8", "\u{fffd}"),
];

/// Text of a line at which a client with that fault crashes.
const CRASHES: [(&str, &str); 8] = [
    ("gui.status.copyprotection-error", "copyprotection error"),
    ("gui.status.registration-error", "registration error"),
    ("gui.search.null-move", "bestmove 0000"),
    ("gui.search.none", "bestmove (none)"),
    ("gui.search.resigns", "bestmove resign"),
    ("gui.search.declares-win", "bestmove win"),
    ("gui.search.empty-move", "bestmove\n"),
    ("gui.search.invalid-move", "bestmove xyzzy"),
];

impl Faults {
    pub(crate) fn new(id: String) -> Self {
        Self(id)
    }

    /// Whether the client violates the rule of this check.
    pub(crate) fn breaks(&self, id: &str) -> bool {
        self.0.strip_prefix("gui.") == Some(id)
    }

    /// Ends with an error if this is the fault.
    pub(crate) fn stumbles(&self, id: &str) {
        if self.breaks(id) {
            exit(4);
        }
    }

    /// Crashes if this is the fault.
    pub(crate) fn crashes(&self, id: &str) {
        if self.breaks(id) {
            std::process::abort();
        }
    }

    /// Waits for ever if this is the fault.
    pub(crate) fn hangs(&self, id: &str) {
        while self.breaks(id) {
            std::thread::park();
        }
    }

    /// Reads a line, with its end, as a client with this fault does.
    pub(crate) fn read(&self, line: &str) {
        let is = |(id, text): &&(&str, &str)| *id == self.0 && line.contains(text);
        if STUMBLES.iter().any(|fault| is(&fault)) {
            exit(4);
        }
        if CRASHES.iter().any(|fault| is(&fault)) {
            std::process::abort();
        }
        if line.len() > 500_000 {
            self.stumbles("search.long-line");
        }
        if line.trim().is_empty() {
            self.stumbles("lines.empty");
        }
        if line.ends_with("\r\n") {
            self.stumbles("lines.crlf");
        }
        if line.contains('\t') {
            self.stumbles("lines.spaces");
        }
    }
}
