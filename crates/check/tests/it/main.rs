//! Tests of the checks with conforming and faulty engines and clients.

mod causes;
mod clients;
mod defects;
mod engines;
mod faults;
mod mutants;
