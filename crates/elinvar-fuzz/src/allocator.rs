//! An allocator that knows how much is held, and refuses what is too much.
#![allow(unsafe_code, reason = "a global allocator cannot be written without it")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Bytes that the program may hold at once. No input is longer than some kilobytes.
const MOST: usize = 256 << 20;

/// Bytes beyond that which the input has asked for in so many words, as any user may.
static ASKED: AtomicUsize = AtomicUsize::new(0);

static HELD: AtomicUsize = AtomicUsize::new(0);
/// The most that was held since it was last looked at.
static PEAK: AtomicUsize = AtomicUsize::new(0);
/// The largest amount that was asked for beyond the limit, since it was last looked at.
static REFUSED: AtomicUsize = AtomicUsize::new(0);

pub(crate) struct Bounded;

/// What was refused since the last call; 0 if nothing was.
pub(crate) fn take_refused() -> usize {
    REFUSED.swap(0, Relaxed)
}

/// Allows this much more until the next input.
pub(crate) fn allow_more(bytes: usize) {
    ASKED.store(bytes, Relaxed);
}

/// The bytes that are held now, from which the most that is held begins anew.
pub(crate) fn begin() -> usize {
    ASKED.store(0, Relaxed);
    let held = HELD.load(Relaxed);
    PEAK.store(held, Relaxed);
    held
}

/// The most that was held since [`begin`].
pub(crate) fn peak() -> usize {
    PEAK.load(Relaxed)
}

impl Bounded {
    fn allow(size: usize) -> bool {
        let held = HELD.fetch_add(size, Relaxed).saturating_add(size);
        let most = MOST.saturating_add(ASKED.load(Relaxed));
        if held > most {
            HELD.fetch_sub(size, Relaxed);
            REFUSED.fetch_max(size, Relaxed);
        } else if held > PEAK.load(Relaxed) {
            PEAK.fetch_max(held, Relaxed);
        }
        held <= most
    }
}

// SAFETY: every call is passed on to the system's allocator unchanged, or answered by null, which is allowed.
unsafe impl GlobalAlloc for Bounded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !Self::allow(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promise about `layout` is the one asked for here.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !Self::allow(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !Self::allow(size) {
            return std::ptr::null_mut();
        }
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}
