//! Starts, drives and ends UCI and USI engines, without hangs or leaked processes.
