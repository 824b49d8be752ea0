//! Proof and disproof numbers.

/// How many leaves are at least to be proved for a mate, and to be disproved for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Numbers {
    pub(super) proof: u32,
    pub(super) disproof: u32,
}

/// More than any sum of leaves. Sums of two of them are in range.
pub(super) const NEVER: u32 = 1 << 30;

impl Numbers {
    pub(super) const UNKNOWN: Self = Self { proof: 1, disproof: 1 };
    pub(super) const MATE: Self = Self { proof: 0, disproof: NEVER };
    pub(super) const NO_MATE: Self = Self { proof: NEVER, disproof: 0 };
    pub(super) const NEVER: Self = Self { proof: NEVER, disproof: NEVER };

    pub(super) const fn is_mate(self) -> bool {
        self.proof == 0
    }

    pub(super) const fn is_no_mate(self) -> bool {
        self.disproof == 0
    }

    pub(super) const fn is_final(self) -> bool {
        self.is_mate() || self.is_no_mate()
    }

    /// Whether both are under their thresholds.
    pub(super) const fn are_under(self, thresholds: Self) -> bool {
        self.proof < thresholds.proof && self.disproof < thresholds.disproof
    }
}
