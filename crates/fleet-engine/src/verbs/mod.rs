//! What can be asked of codefleet, one file per verb. The command line, and later HTTP and MCP, have a file of
//! the same name each.

pub mod agents_decode;
pub mod agents_list;
pub mod agents_prices;
pub mod agents_show;
pub mod agents_test;
pub mod clean;
pub mod demo;
pub mod disk;
pub mod doctor;
pub mod events;
pub mod follow;
pub mod gc;
pub mod launch;
pub mod report;
pub mod resume;
pub mod run_diff;
pub mod run_kill;
pub mod run_list;
pub mod run_logs;
pub mod run_prompt;
pub mod run_show;
pub mod runner_status;
pub mod runner_stop;
pub mod task_add;
pub mod task_delete;
pub mod task_dep;
pub mod task_edit;
pub mod task_export;
pub mod task_import;
pub mod task_list;
pub mod task_move;
pub mod task_show;
pub mod trust;
pub mod undo;
pub mod why;
