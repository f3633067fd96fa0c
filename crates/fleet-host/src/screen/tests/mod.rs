mod allowed;
mod behaviour;
mod hostile;
mod oracle;
mod output;
mod replies;
mod sizes;
mod views;

use super::*;

/// A screen that has got some output.
fn screen(columns: u16, rows: u16, output: &str) -> Screen {
    let mut screen = Screen::new(TerminalSize::new(columns, rows));
    let _ = screen.feed(output.as_bytes());
    screen
}

fn cursor(screen: &Screen) -> (u16, u16) {
    (screen.cursor().column, screen.cursor().row)
}
