//! The pages and figures of made-up fits.

mod chromium;
mod sample;

mod browser;
mod page;
