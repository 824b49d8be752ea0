//! A curve of bounded size.

/// Maximum number of points: more are not distinguishable in a chart, and published states are small.
pub(crate) const MAX_POINTS: usize = 400;

/// Every n-th value of a sequence; n doubles when the limit is reached.
#[derive(Clone, Debug)]
pub(crate) struct Thinned<T> {
    kept: Vec<T>,
    stride: usize,
    seen: usize,
}

impl<T> Default for Thinned<T> {
    fn default() -> Self {
        Self { kept: Vec::new(), stride: 1, seen: 0 }
    }
}

impl<T: Clone> Thinned<T> {
    /// Whether the next value is kept. Others need not be computed.
    pub(crate) fn is_due(&self) -> bool {
        self.seen.is_multiple_of(self.stride)
    }

    /// Adds the next value, which is absent if it is not due.
    pub(crate) fn add(&mut self, value: Option<T>) {
        if let Some(value) = value.filter(|_| self.is_due()) {
            self.kept.push(value);
            if self.kept.len() == MAX_POINTS {
                self.kept = self.kept.iter().step_by(2).cloned().collect();
                self.stride *= 2;
            }
        }
        self.seen += 1;
    }

    /// The kept values.
    pub(crate) fn kept(&self) -> &[T] {
        &self.kept
    }

    /// Whether the last value is kept.
    pub(crate) fn has_last(&self) -> bool {
        self.seen.saturating_sub(1).is_multiple_of(self.stride)
    }

    /// The kept values, and the last one.
    pub(crate) fn with_last(&self, last: Option<T>) -> Vec<T> {
        self.kept.iter().cloned().chain(last.filter(|_| !self.has_last())).collect()
    }
}
