//! A persistent vector: copies share its pages.

use std::sync::Arc;

/// Values by index. An index below the end without a value has the default value.
///
/// A vector with one owner is a plain `Vec`, so that readers of files pay nothing for sharing. After
/// [`share`](Self::share), a copy takes constant time, and a change copies one page of `N` values.
#[derive(Clone)]
pub(super) enum Pages<T, const N: usize = 64> {
    Owned(Vec<T>),
    Shared(SharedPages<T>),
}

#[derive(Clone)]
pub(super) struct SharedPages<T> {
    /// The values at the time of the first copy.
    base: Arc<Vec<T>>,
    /// Pages that replace those of the base. `None` for an unchanged page.
    replaced: Arc<Vec<Option<Arc<Vec<T>>>>>,
    len: usize,
}

impl<T: Clone + Default, const N: usize> Pages<T, N> {
    pub(super) const fn new() -> Self {
        Self::Owned(Vec::new())
    }

    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self::Owned(Vec::with_capacity(capacity))
    }

    /// The number of values that fit without an allocation.
    pub(super) fn capacity(&self) -> usize {
        match self {
            Self::Owned(values) => values.capacity(),
            Self::Shared(shared) => shared.len,
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Owned(values) => values.len(),
            Self::Shared(shared) => shared.len,
        }
    }

    pub(super) fn reserve(&mut self, additional: usize) {
        if let Self::Owned(values) = self {
            values.reserve(additional);
        }
    }

    pub(super) fn get(&self, index: usize) -> Option<&T> {
        match self {
            Self::Owned(values) => values.get(index),
            Self::Shared(shared) => shared.page::<N>(index / N).get(index % N),
        }
    }

    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        match self {
            Self::Owned(values) => values.get_mut(index),
            Self::Shared(shared) if index < shared.len => {
                shared.page_mut::<N>(index / N).get_mut(index % N)
            }
            Self::Shared(_) => None,
        }
    }

    pub(super) fn push(&mut self, value: T) {
        match self {
            Self::Owned(values) => values.push(value),
            Self::Shared(shared) => {
                shared.page_mut::<N>(shared.len / N).push(value);
                shared.len += 1;
            }
        }
    }

    /// Removes the last value.
    pub(super) fn pop(&mut self) -> Option<T> {
        match self {
            Self::Owned(values) => values.pop(),
            Self::Shared(shared) => {
                shared.len = shared.len.checked_sub(1)?;
                shared.page_mut::<N>(shared.len / N).pop()
            }
        }
    }

    /// Makes copies cheap.
    pub(super) fn share(&mut self) {
        if let Self::Owned(values) = self {
            let base = std::mem::take(values);
            *self = Self::Shared(SharedPages {
                len: base.len(),
                base: Arc::new(base),
                replaced: Arc::default(),
            });
        }
    }

    /// Calls `visit` with the index and both values where two versions differ. Shared pages are not
    /// compared.
    pub(super) fn differences<'a>(
        &'a self,
        after: &'a Self,
        mut visit: impl FnMut(usize, Option<&'a T>, Option<&'a T>),
    ) where
        T: PartialEq,
    {
        let len = self.len().max(after.len());
        for page in 0..len.div_ceil(N) {
            let (old, new) = (self.page(page), after.page(page));
            if std::ptr::eq(old, new) {
                continue;
            }
            for index in 0..old.len().max(new.len()) {
                let (old, new) = (old.get(index), new.get(index));
                if old != new {
                    visit(page * N + index, old, new);
                }
            }
        }
    }

    fn page(&self, number: usize) -> &[T] {
        match self {
            Self::Owned(values) => page_of::<_, N>(values, number),
            Self::Shared(shared) => shared.page::<N>(number),
        }
    }
}

impl<T: Clone> SharedPages<T> {
    fn page<const N: usize>(&self, number: usize) -> &[T] {
        match self.replaced.get(number) {
            Some(Some(page)) => page,
            _ => page_of::<_, N>(&self.base, number),
        }
    }

    /// A page of this version alone.
    fn page_mut<const N: usize>(&mut self, number: usize) -> &mut Vec<T> {
        let replaced = Arc::make_mut(&mut self.replaced);
        if replaced.len() <= number {
            replaced.resize(number + 1, None);
        }
        // The vector was resized to have the page.
        let page = &mut replaced[number];
        let base = &self.base;
        let page = page.get_or_insert_with(|| Arc::new(page_of::<_, N>(base, number).to_vec()));
        Arc::make_mut(page)
    }
}

fn page_of<T, const N: usize>(values: &[T], number: usize) -> &[T] {
    let start = number.saturating_mul(N).min(values.len());
    values.get(start..(start + N).min(values.len())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone, Copy)]
    enum Operation {
        Push(u8),
        Set(usize, u8),
        Pop,
        Copy,
        Share,
    }

    fn operations() -> impl Strategy<Value = Vec<Operation>> {
        let operation = prop_oneof![
            6 => any::<u8>().prop_map(Operation::Push),
            3 => (any::<usize>(), any::<u8>()).prop_map(|(index, value)| Operation::Set(index, value)),
            1 => Just(Operation::Pop),
            1 => Just(Operation::Copy),
            1 => Just(Operation::Share),
        ];
        prop::collection::vec(operation, 0..120)
    }

    proptest! {
        /// All versions equal plain vectors, and the differences of two versions are exact.
        #[test]
        fn versions_equal_plain_vectors(operations in operations()) {
            let mut pages = Pages::<u8, 4>::new();
            let mut plain = Vec::new();
            let mut versions = Vec::new();
            for operation in operations {
                match operation {
                    Operation::Push(value) => {
                        pages.push(value);
                        plain.push(value);
                    }
                    Operation::Set(index, value) => {
                        let index = index % plain.len().max(1);
                        prop_assert_eq!(pages.get_mut(index).is_some(), index < plain.len());
                        if let (Some(ours), Some(theirs)) = (pages.get_mut(index), plain.get_mut(index)) {
                            (*ours, *theirs) = (value, value);
                        }
                    }
                    Operation::Pop => prop_assert_eq!(pages.pop(), plain.pop()),
                    Operation::Copy => versions.push((pages.clone(), plain.clone())),
                    Operation::Share => pages.share(),
                }
            }
            versions.push((pages, plain));
            for (pages, plain) in &versions {
                prop_assert_eq!(pages.len(), plain.len());
                for index in 0..=plain.len() {
                    prop_assert_eq!(pages.get(index), plain.get(index));
                }
            }
            for (before, old) in &versions {
                for (after, new) in &versions {
                    let mut found = Vec::new();
                    before.differences(after, |index, was, is| found.push((index, was.copied(), is.copied())));
                    let expected: Vec<_> = (0..old.len().max(new.len()))
                        .map(|index| (index, old.get(index).copied(), new.get(index).copied()))
                        .filter(|(_, was, is)| was != is)
                        .collect();
                    prop_assert_eq!(found, expected);
                }
            }
        }
    }
}
