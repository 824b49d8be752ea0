//! The checks, on an engine that obeys, and on one with one fault.

mod clients;
mod engines;
mod faults;
mod mutants;
