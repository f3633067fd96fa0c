//! Control sequences: a table, whose arms are one call each.

use vte::Params;

use super::emulator::Emulator;
use super::modes::CursorShape;
use super::reply;

const TAB_WIDTH: u16 = 8;

/// The first number of each parameter; what is missing is zero.
fn number(params: &Params, index: usize) -> u16 {
    params.iter().nth(index).and_then(|numbers| numbers.first()).copied().unwrap_or(0)
}

pub(super) fn dispatch(to: &mut Emulator, params: &Params, intermediates: &[u8], action: char) {
    match intermediates {
        [] => plain(to, params, action),
        [b'?'] => private(to, params, action),
        [b' '] if action == 'q' => {
            to.modes.cursor_shape = CursorShape::from_number(number(params, 0)).unwrap_or_default();
        }
        [b'!'] if action == 'p' => to.soft_reset(),
        [b'>'] if action == 'c' && number(params, 0) == 0 => reply::secondary_attributes(to),
        [b'>'] if action == 'q' && number(params, 0) == 0 => reply::version(to),
        [b'?', b'$'] if action == 'p' => reply::mode(to, number(params, 0)),
        _ => {}
    }
}

fn plain(to: &mut Emulator, params: &Params, action: char) {
    let erased = to.style.erased();
    let (first, second) = (number(params, 0), number(params, 1));
    let count = first.max(1);
    match action {
        '@' => to.grid_mut().insert_cells(count, erased),
        'A' => to.grid_mut().move_up(count),
        'B' | 'e' => to.grid_mut().move_down(count),
        'C' | 'a' => to.grid_mut().move_right(count),
        'D' => to.grid_mut().move_left(count),
        'E' => {
            to.grid_mut().move_down(count);
            to.carriage_return();
        }
        'F' => {
            to.grid_mut().move_up(count);
            to.carriage_return();
        }
        'G' | '`' => to_column(to, count - 1),
        'H' | 'f' => to_position(to, count - 1, second.max(1) - 1),
        'I' => tab(to, count),
        'J' => erase_in_display(to, first),
        'K' => erase_in_line(to, first),
        'L' => to.grid_mut().insert_lines(count, erased),
        'M' => to.grid_mut().delete_lines(count, erased),
        'P' => to.grid_mut().delete_cells(count, erased),
        'S' => to.scroll_up(count),
        'T' => to.grid_mut().scroll_down(count, erased),
        'X' => {
            let column = to.grid().cursor.column;
            to.grid_mut().erase_columns(column..column.saturating_add(count), erased);
        }
        'Z' => tab_back(to, count),
        'b' => to.repeat(count),
        'c' if first == 0 => reply::attributes(to),
        'd' => {
            let column = to.grid().cursor.column;
            to_position(to, count - 1, column);
        }
        'h' | 'l' if first == 4 => to.insert = action == 'h',
        'n' => reply::status(to, first),
        'r' => set_region(to, first, second),
        's' if params.len() <= 1 => to.save_cursor(),
        'u' => to.restore_cursor(),
        _ => {}
    }
}

fn private(to: &mut Emulator, params: &Params, action: char) {
    match action {
        'h' | 'l' => params.iter().filter_map(|numbers| numbers.first()).for_each(|mode| {
            set_mode(to, *mode, action == 'h');
        }),
        'J' => erase_in_display(to, number(params, 0)),
        'K' => erase_in_line(to, number(params, 0)),
        _ => {}
    }
}

fn set_mode(to: &mut Emulator, mode: u16, on: bool) {
    match mode {
        6 => {
            to.origin = on;
            to_position(to, 0, 0);
        }
        7 => to.autowrap = on,
        47 | 1047 => to.show_alternate(on),
        1048 if on => to.save_cursor(),
        1048 => to.restore_cursor(),
        1049 if on => {
            to.save_cursor();
            to.show_alternate(true);
            erase_in_display(to, 2);
        }
        1049 => {
            to.show_alternate(false);
            to.restore_cursor();
        }
        _ => {
            to.modes.switch(mode, on);
        }
    }
}

fn to_column(to: &mut Emulator, column: u16) {
    let row = to.grid().cursor.row;
    to.grid_mut().move_to(row, column);
}

/// Rows count from the first line that scrolls, and end with the last one, if the program has asked for that.
fn to_position(to: &mut Emulator, row: u16, column: u16) {
    let (top, bottom) = to.grid().region();
    let row = if to.origin { row.saturating_add(top).min(bottom) } else { row };
    to.grid_mut().move_to(row, column);
}

fn set_region(to: &mut Emulator, first: u16, last: u16) {
    let last = if last == 0 { to.size.rows() } else { last };
    if to.grid_mut().set_region(first.max(1) - 1, last - 1) {
        to_position(to, 0, 0);
    }
}

pub(super) fn tab(to: &mut Emulator, count: u16) {
    let column = to.grid().cursor.column;
    to_column(to, (column / TAB_WIDTH).saturating_add(count).saturating_mul(TAB_WIDTH));
}

fn tab_back(to: &mut Emulator, count: u16) {
    let column = to.grid().cursor.column;
    to_column(to, column.div_ceil(TAB_WIDTH).saturating_sub(count) * TAB_WIDTH);
}

fn erase_in_display(to: &mut Emulator, what: u16) {
    let erased = to.style.erased();
    let (row, rows) = (to.grid().cursor.row, to.size.rows());
    match what {
        0 => {
            erase_in_line(to, 0);
            to.grid_mut().erase_lines(row + 1..rows, erased);
        }
        1 => {
            erase_in_line(to, 1);
            to.grid_mut().erase_lines(0..row, erased);
        }
        2 => to.grid_mut().erase_lines(0..rows, erased),
        3 => to.forget_lines_above(),
        _ => {}
    }
}

fn erase_in_line(to: &mut Emulator, what: u16) {
    let erased = to.style.erased();
    let (column, columns) = (to.grid().cursor.column, to.size.columns());
    match what {
        0 => to.grid_mut().erase_columns(column..columns, erased),
        1 => to.grid_mut().erase_columns(0..column + 1, erased),
        2 => to.grid_mut().erase_columns(0..columns, erased),
        _ => {}
    }
}
