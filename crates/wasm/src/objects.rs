//! Values by handle.

use std::cell::RefCell;

use crate::Failure;

/// A value that grows.
pub(crate) trait Size {
    /// The estimated size in bytes.
    fn bytes(&self) -> usize;
}

/// Values by handle, which begin at 1.
pub(crate) struct Objects<T>(RefCell<Slots<T>>);

struct Slots<T> {
    values: Vec<Option<Slot<T>>>,
    free: Vec<usize>,
    bytes: usize,
}

struct Slot<T> {
    value: T,
    bytes: usize,
}

/// Maximum estimated size of the objects of a kind. WebAssembly has 4 GiB, and its end is a trap.
const MAX_BYTES: usize = 1 << 30;

const FREED: &str = "the object was freed";
const FULL: &str = "too many open objects: free them by `using` or `free()`";

impl<T: Size> Objects<T> {
    pub(crate) const fn new() -> Self {
        Self(RefCell::new(Slots { values: Vec::new(), free: Vec::new(), bytes: 0 }))
    }

    /// The handle of a new value.
    pub(crate) fn insert(&self, value: T) -> Result<i32, Failure> {
        self.check_room()?;
        let slots = &mut *self.0.borrow_mut();
        let index = slots.free.pop().unwrap_or(slots.values.len());
        let handle = i32::try_from(index + 1).map_err(|_| Failure::other(&FULL))?;
        let bytes = value.bytes();
        let slot = Some(Slot { value, bytes });
        match slots.values.get_mut(index) {
            Some(place) => *place = slot,
            None => slots.values.push(slot),
        }
        slots.bytes = slots.bytes.saturating_add(bytes);
        Ok(handle)
    }

    /// Fails if values can no longer grow.
    pub(crate) fn check_room(&self) -> Result<(), Failure> {
        if self.0.borrow().bytes > MAX_BYTES { Err(Failure::other(&FULL)) } else { Ok(()) }
    }

    /// Frees a value. An unknown handle is ignored.
    pub(crate) fn remove(&self, handle: i32) {
        let slots = &mut *self.0.borrow_mut();
        let Some(index) = index(handle) else { return };
        let Some(slot) = slots.values.get_mut(index).and_then(Option::take) else { return };
        slots.bytes = slots.bytes.saturating_sub(slot.bytes);
        slots.free.push(index);
    }

    /// Calls with a value.
    pub(crate) fn with<R>(
        &self,
        handle: i32,
        call: impl FnOnce(&mut T) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let slots = &mut *self.0.borrow_mut();
        let slot = index(handle).and_then(|index| slots.values.get_mut(index)?.as_mut());
        let Some(slot) = slot else { return Err(Failure::other(&FREED)) };
        let result = call(&mut slot.value);
        let bytes = slot.value.bytes();
        slots.bytes = slots.bytes.saturating_sub(slot.bytes).saturating_add(bytes);
        slot.bytes = bytes;
        result
    }
}

fn index(handle: i32) -> Option<usize> {
    usize::try_from(handle).ok()?.checked_sub(1)
}
