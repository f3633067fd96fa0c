use super::requeued;

command! {
    /// Release held tasks
    #[command(display_order = 110)]
    Release(task_release) then requeued
}
