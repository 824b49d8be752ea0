//! Both sides of the UCI and USI engine protocols: messages, and who may say what when. No I/O.
