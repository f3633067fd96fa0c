use super::super::moved;

command! {
    /// Make a task wait for others
    #[command(display_order = 10)]
    Add(task_dep_add) then moved
}
