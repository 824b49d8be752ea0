//! Code that the tasks share with the tests of the workspace.

pub mod metadata;
