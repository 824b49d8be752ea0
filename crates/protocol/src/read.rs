//! What the readers of both directions share: numbers, lists of moves, notes.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use crate::moves::{Move, MoveList};
use crate::note::{Note, NoteKind, Reading};
use crate::words::{Integer, Word, Words};
use crate::{Dialect, reserved};

/// The state of reading one line.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    pub(crate) words: Words<'a>,
    pub(crate) dialect: Dialect,
    pub(crate) notes: Vec<Note>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(line: &'a str, dialect: Dialect) -> Self {
        let mut reader = Self { words: Words::new(line), dialect, notes: Vec::new() };
        let control = |byte: u8| byte < b' ' && !matches!(byte, b'\t' | b'\r' | b'\n');
        if 0 < reader.words.at() {
            reader.note_at(0..reader.words.at(), NoteKind::ControlCharacter);
        }
        if line.bytes().any(control)
            && let Some(at) = line.bytes().position(control)
        {
            reader.note_at(at..at + 1, NoteKind::ControlCharacter);
        }
        reader
    }

    pub(crate) fn done<T>(self, value: T) -> Reading<T> {
        Reading { value, notes: self.notes }
    }

    pub(crate) fn note(&mut self, word: Word<'_>, kind: NoteKind) {
        self.note_at(word.span(), kind);
    }

    pub(crate) fn note_at(&mut self, span: core::ops::Range<usize>, kind: NoteKind) {
        self.notes.push(Note { span, kind });
    }

    /// Notes that something should stand here.
    pub(crate) fn note_missing(&mut self, kind: NoteKind) {
        let at = self.words.at();
        self.note_at(at..at, kind);
    }

    /// Notes whatever is left of the line.
    pub(crate) fn expect_end(&mut self) {
        let rest = self.words.rest();
        if !rest.text.is_empty() {
            self.note(rest, NoteKind::TrailingText);
        }
    }

    /// The value of a field, if the next word is a number. A word that `is_key` says to be the
    /// next field is left where it is; any other word is skipped.
    #[inline]
    fn integer(&mut self, is_key: fn(&str) -> bool) -> Option<(Word<'a>, Integer)> {
        let Some(word) = self.words.peek() else {
            self.note_missing(NoteKind::Missing);
            return None;
        };
        if let Some(integer) = Integer::read(word.text) {
            self.words.next();
            if integer.saturated {
                self.note(word, NoteKind::NumberTooLarge);
            }
            return Some((word, integer));
        }
        if is_key(word.text) {
            self.note_missing(NoteKind::Missing);
        } else {
            self.words.next();
            self.note(word, NoteKind::NotANumber);
        }
        None
    }

    /// A number from 0.
    #[inline]
    pub(crate) fn unsigned(&mut self, is_key: fn(&str) -> bool) -> Option<u64> {
        let (word, integer) = self.integer(is_key)?;
        if integer.negative && integer.magnitude != 0 {
            self.note(word, NoteKind::NegativeNumber);
            return Some(0);
        }
        Some(integer.magnitude)
    }

    /// A number from 0 that fits 32 bits.
    #[inline]
    pub(crate) fn small(&mut self, is_key: fn(&str) -> bool) -> Option<u32> {
        let before = self.words.clone();
        let number = self.unsigned(is_key)?;
        Some(u32::try_from(number).unwrap_or_else(|_| {
            self.note_too_large(before);
            u32::MAX
        }))
    }

    /// A number with a sign.
    #[inline]
    pub(crate) fn signed(&mut self, is_key: fn(&str) -> bool) -> Option<i64> {
        let before = self.words.clone();
        let (_, integer) = self.integer(is_key)?;
        Some(integer.signed().unwrap_or_else(|| {
            if !integer.saturated {
                self.note_too_large(before);
            }
            if integer.negative { i64::MIN } else { i64::MAX }
        }))
    }

    /// A number with a sign that fits 32 bits.
    pub(crate) fn small_signed(&mut self, is_key: fn(&str) -> bool) -> Option<i32> {
        let before = self.words.clone();
        let number = self.signed(is_key)?;
        Some(i32::try_from(number).unwrap_or_else(|_| {
            self.note_too_large(before);
            if number < 0 { i32::MIN } else { i32::MAX }
        }))
    }

    fn note_too_large(&mut self, mut before: Words<'_>) {
        if let Some(word) = before.next()
            && self.notes.last().is_none_or(|note| note.span != word.span())
        {
            self.note(word, NoteKind::NumberTooLarge);
        }
    }

    /// A list of moves: all words up to the next keyword or the end of the line.
    pub(crate) fn moves(&mut self) -> MoveList<'a> {
        let start = self.words.at();
        let Some(first) = self.words.peek().filter(|word| !reserved::ends_a_list(word.text)) else {
            self.note_at(start..start, NoteKind::EmptyList);
            return MoveList::EMPTY;
        };
        let mut end = first.start;
        let mut expected = first.start;
        // Borrowed as long as the text is as it would be written.
        let mut rewritten: Option<MoveList<'a>> = None;
        let mut ahead = self.words.clone();
        while let Some(word) = ahead.next() {
            let text = match Move::read(word.text, self.dialect) {
                Ok(_) => Cow::Borrowed(word.text),
                Err(_) if reserved::ends_a_list(word.text) => break,
                Err(_) => self.odd_move(word),
            };
            let is_exact = word.start == expected && matches!(text, Cow::Borrowed(_));
            if !is_exact && rewritten.is_none() {
                let before = self.words.slice(first.start, end).text;
                rewritten = Some(MoveList::from_checked(Cow::Owned(before.into())));
            }
            if let Some(list) = &mut rewritten {
                list.push_checked(&text);
            }
            self.words = ahead.clone();
            end = word.end();
            let single_space = self.words.line().as_bytes().get(end) == Some(&b' ');
            expected = if single_space { end + 1 } else { usize::MAX };
        }
        rewritten.unwrap_or_else(|| {
            MoveList::from_checked(Cow::Borrowed(self.words.slice(first.start, end).text))
        })
    }

    /// A word in a list that is no move as written.
    fn odd_move(&mut self, word: Word<'a>) -> Cow<'a, str> {
        let usual = Move::in_usual_case(word.text);
        let is_ours = usual.is_some_and(|it| Move::read(it.as_str(), self.dialect).is_ok());
        self.note(word, if is_ours { NoteKind::MoveRepaired } else { NoteKind::NotAMove });
        match usual {
            Some(it) if it.as_str() != word.text => Cow::Owned(it.into()),
            _ => Cow::Borrowed(word.text),
        }
    }

    /// One move, as the next word.
    pub(crate) fn one_move(&mut self, is_key: fn(&str) -> bool) -> Option<Move> {
        let Some(word) = self.words.peek().filter(|word| !is_key(word.text)) else {
            self.note_missing(NoteKind::Missing);
            return None;
        };
        self.words.next();
        let found = Move::read(word.text, self.dialect).ok();
        found.or_else(|| {
            let repaired = Move::read_loosely(word.text, self.dialect).ok();
            let kind = repaired.map_or(NoteKind::NotAMove, |_| NoteKind::MoveRepaired);
            self.note(word, kind);
            repaired
        })
    }
}

/// The word that says which message a line is.
pub(crate) enum Start<K> {
    /// A message of ours, and how many unknown words stand before it.
    Known(K, usize),
    /// There is no word of ours, or it belongs to the other side.
    Unknown(Option<NoteKind>),
}

impl Reader<'_> {
    /// Finds the word that says which message this is.
    ///
    /// Unknown words before it are skipped, unless the first of them is a message of the other
    /// side: `info string please stop` is no `stop`.
    pub(crate) fn start<K>(
        &mut self,
        known: fn(&str) -> Option<K>,
        is_theirs: fn(&str) -> bool,
    ) -> Start<K> {
        let mut ahead = self.words.clone();
        let mut skipped = Vec::new();
        while let Some(word) = ahead.next() {
            let exact = known(word.text);
            if exact.is_none() && skipped.is_empty() && is_theirs(word.text) {
                return Start::Unknown(Some(NoteKind::WrongDirection));
            }
            let is_exact = exact.is_some();
            let Some(found) = exact.or_else(|| in_any_case(word.text, known)) else {
                skipped.push(word);
                continue;
            };
            for word in &skipped {
                self.note(*word, NoteKind::UnknownWord);
            }
            if !is_exact {
                self.note(word, NoteKind::WrongCase);
            }
            self.words = ahead;
            return Start::Known(found, skipped.len());
        }
        Start::Unknown((!skipped.is_empty()).then_some(NoteKind::UnknownWord))
    }

    /// The next word, as `known` understands it in any case. Unknown words are skipped.
    pub(crate) fn choose<K>(&mut self, known: fn(&str) -> Option<K>) -> Option<K> {
        while let Some(word) = self.words.next() {
            if let Some(found) = known(word.text) {
                return Some(found);
            }
            if let Some(found) = in_any_case(word.text, known) {
                self.note(word, NoteKind::WrongCase);
                return Some(found);
            }
            self.note(word, NoteKind::UnknownWord);
        }
        self.note_missing(NoteKind::Missing);
        None
    }
}

/// What `known` says of the word in lower case. No word of the protocols is longer than 16 bytes.
pub(crate) fn in_any_case<K>(word: &str, known: impl FnOnce(&str) -> Option<K>) -> Option<K> {
    let mut lower = [0; 16];
    let lower = lower.get_mut(..word.len())?;
    lower.copy_from_slice(word.as_bytes());
    lower.make_ascii_lowercase();
    known(str::from_utf8(lower).ok()?)
}

pub(crate) fn into_owned(words: Vec<Cow<'_, str>>) -> Vec<Cow<'static, str>> {
    words.into_iter().map(|word| Cow::Owned(word.into_owned())).collect()
}
