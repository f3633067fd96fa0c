use super::requeued;

command! {
    /// Requeue failed, cancelled, held or waiting tasks, with failures reset
    ///
    /// Earlier failures no longer count, and any back-off ends. Tasks that wait for it can start once it is done.
    #[command(display_order = 130)]
    Retry(task_retry) then requeued
}
