use super::moved;

command! {
    /// Hold tasks
    #[command(display_order = 100)]
    Hold(task_hold) then moved
}
