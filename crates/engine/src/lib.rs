//! Turns a value that can search into a UCI and USI engine.
