//! A person's terminal, played by another emulator, shows what the screen shows.

use std::num::NonZeroU16;

use proptest::prelude::*;

use super::allowed::assert_harmless;
use super::output::piece;
use super::*;
use crate::screen::cell::CellWidth;

/// A terminal with a person in front of it.
struct Client {
    terminal: vt100::Parser,
    view: ClientView,
}

impl Client {
    fn new(columns: u16, rows: u16) -> Self {
        let size = |number| NonZeroU16::new(number).unwrap();
        let mut terminal = vt100::Parser::new(size(rows), size(columns), 0);
        terminal.process(ClientView::enter());
        Self { terminal, view: ClientView::new(TerminalSize::new(columns, rows)) }
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        let size = |number| NonZeroU16::new(number).unwrap();
        self.terminal.set_size(size(rows), size(columns));
        self.view.resize(TerminalSize::new(columns, rows));
    }

    fn update(&mut self, screen: &Screen) -> Vec<u8> {
        let update = self.view.update(screen);
        assert_harmless(&update);
        self.terminal.process(&update);
        update
    }

    fn text(&self) -> Vec<String> {
        let (_, columns) = self.terminal.screen().size();
        self.terminal.screen().rows(0, columns.get()).map(|row| row.trim_end().to_owned()).collect()
    }
}

/// What a cell looks like, as far as both emulators know.
type Look = (String, vt100::Color, vt100::Color, [bool; 5]);

fn colour(colour: Colour) -> vt100::Color {
    match colour {
        Colour::Default => vt100::Color::Default,
        Colour::Indexed(index) => vt100::Color::Idx(index),
        Colour::Rgb(red, green, blue) => vt100::Color::Rgb(red, green, blue),
    }
}

fn shown(text: &str) -> String {
    if text.is_empty() { " ".to_owned() } else { text.to_owned() }
}

/// The look of a cell of the screen; `None` for the second half of a wide character. Half of one is blank.
fn expected(screen: &Screen, origin: CursorPosition, column: u16, row: u16, columns: u16) -> Option<Look> {
    let grid = screen.emulator.grid();
    let cell = grid.rows()[usize::from(row + origin.row)].cell(column + origin.column);
    let style = cell.style;
    let (dim, bold) =
        (style.attributes.contains(Attributes::DIM), style.attributes.contains(Attributes::BOLD));
    let is = |attribute| style.attributes.contains(attribute);
    let flags =
        [bold && !dim, dim, is(Attributes::ITALIC), is(Attributes::UNDERLINE), is(Attributes::INVERSE)];
    let text = match cell.width {
        CellWidth::SecondHalf if column > 0 => return None,
        CellWidth::SecondHalf => " ".to_owned(),
        CellWidth::Wide if column + 1 == columns => " ".to_owned(),
        CellWidth::Narrow | CellWidth::Wide => shown(cell.text()),
    };
    Some((text, colour(style.foreground), colour(style.background), flags))
}

fn actual(terminal: &vt100::Screen, column: u16, row: u16) -> Look {
    let cell = terminal.cell(row, column).unwrap();
    let flags = [cell.bold(), cell.dim(), cell.italic(), cell.underline(), cell.inverse()];
    (shown(cell.contents()), cell.fgcolor(), cell.bgcolor(), flags)
}

fn assert_same(client: &Client, screen: &Screen) {
    let terminal = client.terminal.screen();
    let (size, origin) = (client.view.size(), client.view.origin());
    for row in 0..size.rows().min(screen.size().rows()) {
        for column in 0..size.columns().min(screen.size().columns()) {
            if let Some(expected) = expected(screen, origin, column, row, size.columns()) {
                assert_eq!(actual(terminal, column, row), expected, "column {column}, row {row}");
            }
        }
    }
    let (row, column) = terminal.cursor_position();
    let cursor = screen.cursor();
    assert_eq!((column + origin.column, row + origin.row), (cursor.column, cursor.row), "cursor");
    assert_same_modes(terminal, screen.modes());
}

fn assert_same_modes(terminal: &vt100::Screen, modes: Modes) {
    assert!(terminal.alternate_screen(), "it never leaves");
    assert_eq!(terminal.hide_cursor(), !modes.cursor_visible);
    assert_eq!(terminal.application_cursor(), modes.application_cursor);
    assert_eq!(terminal.application_keypad(), modes.application_keypad);
    assert_eq!(terminal.bracketed_paste(), modes.bracketed_paste);
    assert_eq!(terminal.mouse_protocol_mode() as u8, modes.mouse as u8);
    assert_eq!(terminal.mouse_protocol_encoding() as u8, modes.mouse_encoding as u8);
    assert_eq!(terminal.cursor_style() as u8, modes.cursor_shape as u8);
}

#[derive(Debug, Clone)]
enum Step {
    Output(Vec<u8>),
    ScreenSize(u16, u16),
    ClientSize(u16, u16),
    Update,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => piece().prop_map(Step::Output),
        1 => (2_u16..16, 1_u16..9).prop_map(|(columns, rows)| Step::ScreenSize(columns, rows)),
        1 => (2_u16..16, 1_u16..9).prop_map(|(columns, rows)| Step::ClientSize(columns, rows)),
        4 => Just(Step::Update),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn a_client_shows_the_screen(steps in prop::collection::vec(step(), 0..80)) {
        let mut screen = screen(10, 5, "");
        let mut client = Client::new(10, 5);
        for step in steps.into_iter().chain([Step::Update]) {
            match step {
                Step::Output(output) => drop(screen.feed(&output)),
                Step::ScreenSize(columns, rows) => screen.resize(TerminalSize::new(columns, rows)),
                Step::ClientSize(columns, rows) => client.resize(columns, rows),
                Step::Update => {
                    client.update(&screen);
                    assert_same(&client, &screen);
                    prop_assert_eq!(client.update(&screen), b"", "once is enough");
                }
            }
        }
        client.terminal.process(ClientView::leave());
        let terminal = client.terminal.screen();
        prop_assert!(!terminal.alternate_screen() && !terminal.hide_cursor() && !terminal.bracketed_paste());
        prop_assert_eq!(terminal.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
    }
}

#[test]
fn only_what_changed_is_drawn() {
    let mut screen = screen(80, 24, "");
    let mut client = Client::new(80, 24);
    client.update(&screen);
    let _ = screen.feed("a line of text".repeat(100).as_bytes());
    assert!(client.update(&screen).len() > 1000);
    let _ = screen.feed(b"\x1b[3;3HX");
    let update = String::from_utf8(client.update(&screen)).unwrap();
    assert_eq!(update, "\x1b[?2026h\x1b[?25l\x1b[3;3H\x1b[0mX\x1b[3;4H\x1b[?25h\x1b[?2026l");
    let _ = screen.feed(b"\x1b[H");
    assert_eq!(client.update(&screen), b"\x1b[1;1H");
    let _ = screen.feed(b"\x1b]0;title\x07");
    assert_eq!(client.update(&screen), b"");
}

#[test]
fn a_larger_terminal_sees_where_the_screen_ends() {
    let screen = screen(4, 2, "ab\r\ncd");
    let mut client = Client::new(7, 4);
    client.update(&screen);
    assert_eq!(client.text(), ["ab  │", "cd  │", "────┘", ""]);
    client.resize(4, 3);
    client.update(&screen);
    assert_eq!(client.text(), ["ab", "cd", "────"]);
    client.resize(6, 2);
    client.update(&screen);
    assert_eq!(client.text(), ["ab  │", "cd  │"]);
}

#[test]
fn a_smaller_terminal_follows_the_cursor() {
    let mut screen = screen(10, 5, "12345\r\n23456\r\n34567\r\n45678\r\n56789");
    let mut client = Client::new(3, 2);
    client.update(&screen);
    assert_eq!(
        client.text(),
        ["678", "789"].map(|line| line[1..].to_owned()),
        "the cursor is after the line"
    );
    assert_eq!(client.view.origin(), CursorPosition { column: 3, row: 3 });
    let _ = screen.feed(b"\x1b[1;4H");
    client.update(&screen);
    assert_eq!(client.text(), ["45", "56"]);
    assert_eq!(client.view.origin(), CursorPosition { column: 3, row: 0 }, "it moves no more than it has to");
}

#[test]
fn entering_and_leaving_are_harmless() {
    assert_harmless(ClientView::enter());
    assert_harmless(ClientView::leave());
}
