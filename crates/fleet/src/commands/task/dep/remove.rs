use super::super::requeued;

command! {
    /// Remove dependencies of a task
    #[command(display_order = 20, visible_alias = "rm")]
    Remove(task_dep_remove) then requeued
}
