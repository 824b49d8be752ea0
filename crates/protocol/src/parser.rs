//! Common parts of the readers of both directions: numbers, durations, lists of moves, diagnostics.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::time::Duration;

use crate::diagnostic::{Diagnostic, DiagnosticKind, Parsed};
use crate::dialect::Dialect;
use crate::moves::{Move, MoveList};
use crate::tokenizer::{Integer, Token, Tokens, has_byte_below};
use crate::{dialect, moves};

#[derive(Debug)]
pub(crate) struct MessageReader<'a> {
    pub(crate) tokens: Tokens<'a>,
    pub(crate) dialect: Dialect,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Number of diagnostics, including those beyond the limit.
    pub(crate) count: usize,
    /// Any text after the digits of a number is ignored, not only a fraction.
    pub(crate) ignores_units: bool,
}

impl<'a> MessageReader<'a> {
    #[inline]
    pub(crate) fn new(line: &'a str, dialect: Dialect) -> Self {
        let tokens = Tokens::new(line);
        if 0 < tokens.at() || has_byte_below(b' ', line) {
            return Self::with_controls(line, dialect);
        }
        // Constructed in place from values in registers: copying just-written smaller fields takes
        // longer than reading a token.
        Self { tokens, dialect, diagnostics: Vec::new(), count: 0, ignores_units: false }
    }

    /// Reports a byte order mark and each run of control characters.
    #[inline(never)]
    fn with_controls(line: &'a str, dialect: Dialect) -> Self {
        let mut reader = Self {
            tokens: Tokens::new(line),
            dialect,
            diagnostics: Vec::new(),
            count: 0,
            ignores_units: false,
        };
        if 0 < reader.tokens.at() {
            reader.report_at(0..reader.tokens.at(), DiagnosticKind::ControlCharacter);
        }
        let is_control = |&byte: &u8| byte < b' ' && !matches!(byte, b'\t' | b'\r' | b'\n');
        let mut at = reader.tokens.at();
        let rest = reader.tokens.line().as_bytes().get(at..).unwrap_or_default();
        for run in rest.chunk_by(|one, next| is_control(one) == is_control(next)) {
            let start = at;
            at += run.len();
            if run.first().is_some_and(is_control) {
                reader.report_at(start..at, DiagnosticKind::ControlCharacter);
            }
        }
        reader
    }

    #[inline]
    pub(crate) fn done<T>(self, value: T) -> Parsed<T> {
        Parsed { value, diagnostics: self.diagnostics }
    }

    pub(crate) fn report(&mut self, token: Token<'_>, kind: DiagnosticKind) {
        self.report_at(token.span(), kind);
    }

    pub(crate) fn report_at(&mut self, span: core::ops::Range<usize>, kind: DiagnosticKind) {
        self.count += 1;
        if self.diagnostics.len() < Diagnostic::MAX_PER_LINE {
            self.diagnostics.push(Diagnostic { span, kind });
        }
    }

    /// Reports a missing part at the next token.
    pub(crate) fn report_missing(&mut self, kind: DiagnosticKind) {
        let at = self.tokens.at();
        self.report_at(at..at, kind);
    }

    /// Reports trailing text.
    pub(crate) fn expect_end(&mut self) {
        let rest = self.tokens.rest();
        if !rest.text.is_empty() {
            self.report(rest, DiagnosticKind::TrailingText);
        }
    }

    /// The value of a field, if the next token is a number. If `is_key` accepts the token as the next
    /// field, it is not consumed; any other token is skipped.
    ///
    /// `fit` converts the number, or returns the nearest value and a diagnostic.
    #[inline]
    fn number<T>(
        &mut self,
        is_key: fn(&str) -> bool,
        fit: impl Fn(Integer) -> Result<T, (T, DiagnosticKind)>,
    ) -> Option<T> {
        let before = self.tokens.at();
        if let Some(number) = self.tokens.plain_number()
            && let Ok(value) = fit(Integer::plain(number))
        {
            return Some(value);
        }
        self.tokens.go_to(before);
        self.number_with_diagnostic(is_key, fit)
    }

    /// Slow path of `number`: a signed number, one out of range, a part of the token, or no number.
    #[inline(never)]
    fn number_with_diagnostic<T>(
        &mut self,
        is_key: fn(&str) -> bool,
        fit: impl Fn(Integer) -> Result<T, (T, DiagnosticKind)>,
    ) -> Option<T> {
        let Some(token) = self.tokens.peek().filter(|token| !is_key(token.text)) else {
            self.report_missing(DiagnosticKind::Missing);
            return None;
        };
        self.tokens.next();
        let Some((integer, rest)) = self.leading_integer(token.text) else {
            self.report(token, DiagnosticKind::NotANumber);
            return None;
        };
        if !rest.is_empty() {
            self.report(token, DiagnosticKind::PartialNumber);
        }
        Some(fit(integer).unwrap_or_else(|(nearest, kind)| {
            self.report(token, kind);
            nearest
        }))
    }

    /// The integer of a token, and the rest that is ignored: a fraction, or in `go` any text, because a search
    /// without its limit would be endless. Elsewhere `12k` would be a wrong value.
    pub(crate) fn leading_integer<'t>(&self, token: &'t str) -> Option<(Integer, &'t str)> {
        let is_fraction = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit());
        Integer::read_leading(token).filter(|(_, rest)| {
            rest.is_empty() || self.ignores_units || rest.strip_prefix('.').is_some_and(is_fraction)
        })
    }

    /// A number from 0.
    #[inline]
    pub(crate) fn unsigned(&mut self, is_key: fn(&str) -> bool) -> Option<u64> {
        self.number(is_key, |integer| match integer {
            Integer { negative: true, magnitude: 1.., .. } => {
                Err((0, DiagnosticKind::NegativeNumber))
            }
            Integer { saturated: true, .. } => Err((u64::MAX, DiagnosticKind::NumberTooLarge)),
            Integer { magnitude, .. } => Ok(magnitude),
        })
    }

    /// A 32-bit number from 0.
    #[inline]
    pub(crate) fn small(&mut self, is_key: fn(&str) -> bool) -> Option<u32> {
        self.number(is_key, |integer| match integer {
            Integer { negative: true, magnitude: 1.., .. } => {
                Err((0, DiagnosticKind::NegativeNumber))
            }
            Integer { magnitude, .. } => {
                magnitude.try_into().map_err(|_| (u32::MAX, DiagnosticKind::NumberTooLarge))
            }
        })
    }

    /// A signed number.
    #[inline]
    pub(crate) fn signed(&mut self, is_key: fn(&str) -> bool) -> Option<i64> {
        self.number(is_key, |integer| {
            let nearest = if integer.negative { i64::MIN } else { i64::MAX };
            integer.signed().ok_or((nearest, DiagnosticKind::NumberTooLarge))
        })
    }

    /// A time limit in milliseconds.
    pub(crate) fn limit(&mut self, is_key: fn(&str) -> bool) -> Option<Duration> {
        self.number(is_key, |integer| match integer {
            Integer { negative: true, magnitude: 1.., .. } => {
                Err((Duration::ZERO, DiagnosticKind::NegativeNumber))
            }
            integer => {
                integer.signed().map(duration).ok_or((MAX_LIMIT, DiagnosticKind::NumberTooLarge))
            }
        })
    }

    /// A signed 32-bit number.
    #[inline]
    pub(crate) fn small_signed(&mut self, is_key: fn(&str) -> bool) -> Option<i32> {
        self.number(is_key, |integer| {
            let nearest = if integer.negative { i32::MIN } else { i32::MAX };
            let exact = integer.signed().and_then(|value| value.try_into().ok());
            exact.ok_or((nearest, DiagnosticKind::NumberTooLarge))
        })
    }

    /// A list of moves: all tokens up to the next keyword or the end of the line.
    pub(crate) fn moves(&mut self) -> MoveList<'a> {
        self.moves_until(|token, _| dialect::ends_a_list(token))
    }

    /// A variation of an engine: an unknown field ends it, too.
    pub(crate) fn variation(&mut self) -> MoveList<'a> {
        self.moves_until(|token, next| {
            dialect::ends_a_list(token) || next.is_some_and(|next| moves::is_field(token, next))
        })
    }

    /// The moves up to the end that `ends` detects from a token and the one after it.
    fn moves_until(&mut self, ends: fn(&str, Option<&str>) -> bool) -> MoveList<'a> {
        let start = self.tokens.next_start();
        // Fast path: most lists contain only moves in canonical form.
        let rest = self.tokens.line().get(start..).unwrap_or_default();
        let mut end = start + moves::plain_length(rest, self.dialect);
        let mut ahead = self.tokens.clone();
        let first = ahead.next();
        if end == start
            && first.is_none_or(|first| ends(first.text, ahead.peek().map(|next| next.text)))
        {
            let at = self.tokens.at();
            self.report_at(at..at, DiagnosticKind::EmptyList);
            return MoveList::EMPTY;
        }
        self.tokens.go_to(end);
        let mut expected = if end == start { start } else { self.after_space(end) };
        // Borrowed while the text is identical to what would be written.
        let mut rewritten: Option<MoveList<'a>> = None;
        ahead.go_to(end);
        while let Some(token) = ahead.next() {
            let text = if Move::is_token(token.text, self.dialect) {
                Cow::Borrowed(token.text)
            } else if ends(token.text, ahead.peek().map(|next| next.text)) {
                break;
            } else {
                self.move_with_diagnostic(token)
            };
            let is_exact = token.start == expected && matches!(text, Cow::Borrowed(_));
            if !is_exact && rewritten.is_none() {
                let before = self.tokens.slice(start, end).text;
                rewritten = Some(MoveList::from_checked(Cow::Owned(before.into())));
            }
            if let Some(list) = &mut rewritten {
                list.push_checked(&text);
            }
            self.tokens = ahead.clone();
            end = token.end();
            expected = self.after_space(end);
        }
        rewritten.unwrap_or_else(|| {
            MoveList::from_checked(Cow::Borrowed(self.tokens.slice(start, end).text))
        })
    }

    /// Start of the next token for a list that can be borrowed unchanged.
    fn after_space(&self, end: usize) -> usize {
        let is_space = self.tokens.line().as_bytes().get(end) == Some(&b' ');
        if is_space { end + 1 } else { usize::MAX }
    }

    /// Slow path: a token that is not a move in canonical form.
    fn move_with_diagnostic(&mut self, token: Token<'a>) -> Cow<'a, str> {
        let usual = Move::in_usual_case(token.text);
        let is_ours = usual.is_some_and(|mv| Move::read(mv.as_str(), self.dialect).is_ok());
        self.report(
            token,
            if is_ours { DiagnosticKind::MoveRepaired } else { DiagnosticKind::NotAMove },
        );
        match usual {
            Some(it) if it.as_str() != token.text => Cow::Owned(it.into()),
            _ => Cow::Borrowed(token.text),
        }
    }

    /// The next token as a move, or the token itself if it is not a move.
    pub(crate) fn one_move(&mut self, is_key: fn(&str) -> bool) -> Option<Result<Move, &'a str>> {
        let Some(token) = self.tokens.peek().filter(|token| !is_key(token.text)) else {
            self.report_missing(DiagnosticKind::Missing);
            return None;
        };
        self.tokens.next();
        let found = Move::read_lenient(token.text, self.dialect).map_err(|_| token.text);
        match found {
            Ok(it) if it.as_str() == token.text => (),
            Ok(_) => self.report(token, DiagnosticKind::MoveRepaired),
            Err(_) => self.report(token, DiagnosticKind::NotAMove),
        }
        Some(found)
    }
}

/// The token that identifies the message.
pub(crate) enum Start<K> {
    /// A message of this direction, and the number of unknown tokens before it.
    Known(K, usize),
    /// No message of this direction, with a diagnostic for one of the other direction.
    Unknown(Option<DiagnosticKind>),
}

impl MessageReader<'_> {
    /// Finds the token that identifies the message.
    #[inline]
    pub(crate) fn start<K>(
        &mut self,
        known: fn(&str) -> Option<K>,
        is_theirs: fn(&str) -> bool,
    ) -> Start<K> {
        // Fast path: it is the first one.
        if let Some(token) = self.tokens.peek()
            && let Some(found) = known(token.text)
        {
            self.tokens.go_to(token.end());
            return Start::Known(found, 0);
        }
        self.start_with_diagnostic(known, is_theirs)
    }

    /// Slow path of `start`.
    ///
    /// Unknown tokens before it are skipped, unless the first of them is a message of the other
    /// direction: `info string please stop` is not `stop`.
    #[inline(never)]
    fn start_with_diagnostic<K>(
        &mut self,
        known: fn(&str) -> Option<K>,
        is_theirs: fn(&str) -> bool,
    ) -> Start<K> {
        let mut ahead = self.tokens.clone();
        let mut skipped = Vec::new();
        while let Some(token) = ahead.next() {
            let exact = known(token.text);
            if exact.is_none() && skipped.is_empty() && is_theirs(token.text) {
                return Start::Unknown(Some(DiagnosticKind::WrongDirection));
            }
            let is_exact = exact.is_some();
            let Some(found) = exact.or_else(|| in_any_case(token.text, known)) else {
                skipped.push(token);
                continue;
            };
            for token in &skipped {
                self.report(*token, DiagnosticKind::UnknownToken);
            }
            if !is_exact {
                self.report(token, DiagnosticKind::WrongCase);
            }
            self.tokens = ahead;
            return Start::Known(found, skipped.len());
        }
        Start::Unknown((!skipped.is_empty()).then_some(DiagnosticKind::UnknownToken))
    }

    /// The next token that `known` accepts in any case. Unknown tokens are skipped.
    pub(crate) fn choose<K>(&mut self, known: fn(&str) -> Option<K>) -> Option<K> {
        while let Some(token) = self.tokens.next() {
            if let Some(found) = known(token.text) {
                return Some(found);
            }
            if let Some(found) = in_any_case(token.text, known) {
                self.report(token, DiagnosticKind::WrongCase);
                return Some(found);
            }
            self.report(token, DiagnosticKind::UnknownToken);
        }
        self.report_missing(DiagnosticKind::Missing);
        None
    }
}

/// Calls `known` with the token in lower case. No keyword is longer than 16 bytes.
pub(crate) fn in_any_case<K>(token: &str, known: impl FnOnce(&str) -> Option<K>) -> Option<K> {
    let mut lower = [0; 16];
    let lower = lower.get_mut(..token.len())?;
    lower.copy_from_slice(token.as_bytes());
    lower.make_ascii_lowercase();
    known(str::from_utf8(lower).ok()?)
}

pub(crate) fn into_owned(tokens: Vec<Cow<'_, str>>) -> Vec<Cow<'static, str>> {
    tokens.into_iter().map(|token| Cow::Owned(token.into_owned())).collect()
}

/// Milliseconds of a clock. Every other time is a [`Duration`].
///
/// Signed as in the protocols: a clock is negative if the flag has fallen and the game continues, or
/// in shogi after the increment is subtracted (see [`Convention`](crate::Convention)). [`Clock::budget`](crate::Clock::budget) returns
/// the time for a move as a [`Duration`].
pub type Millis = i64;

/// The maximum of a limit. Many engines read times as signed numbers.
pub(crate) const MAX_LIMIT: Duration = Duration::from_millis(Millis::MAX.cast_unsigned());

/// Rounds down, for clocks and elapsed time.
pub(crate) fn round_down(duration: Duration) -> Millis {
    Millis::try_from(duration.as_millis()).unwrap_or(Millis::MAX)
}

/// Rounds up, for limits: a short limit must not become zero.
pub(crate) fn round_up(duration: Duration) -> Millis {
    let is_whole = duration.subsec_nanos().is_multiple_of(1_000_000);
    round_down(duration).saturating_add(Millis::from(!is_whole))
}

/// Negative numbers become zero.
pub(crate) fn duration(millis: Millis) -> Duration {
    Duration::from_millis(u64::try_from(millis).unwrap_or(0))
}

/// Elapsed time in JSON.
#[cfg(feature = "serde")]
pub(crate) mod elapsed {
    use core::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
    pub(crate) fn serialize<S: Serializer>(
        time: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        time.map(millis).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.map(Duration::from_millis))
    }
}

/// A limit in JSON.
#[cfg(feature = "serde")]
pub(crate) mod limit {
    use core::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Millis;

    pub(crate) fn serialize<S: Serializer>(
        limit: &Duration,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        super::round_up(*limit).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Duration, D::Error> {
        Millis::deserialize(deserializer).map(super::duration)
    }
}

/// An optional limit in JSON.
#[cfg(feature = "serde")]
pub(crate) mod optional_limit {
    use core::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Millis;

    #[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
    pub(crate) fn serialize<S: Serializer>(
        limit: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        limit.map(super::round_up).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<Millis>::deserialize(deserializer)?.map(super::duration))
    }
}
