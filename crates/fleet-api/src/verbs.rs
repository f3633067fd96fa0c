//! One file for each verb: its request, its answer, and the line that makes it one. The engine has a file of the same name,
//! which does it.

include!(concat!(env!("OUT_DIR"), "/modules.rs"));
