use super::moved;

command! {
    /// Cancel tasks
    ///
    /// A running task is stopped. Tasks that wait for a cancelled one do not start until it is retried or the
    /// dependency is removed.
    #[command(display_order = 120)]
    Cancel(task_cancel) then moved
}
