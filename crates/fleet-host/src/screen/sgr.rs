//! Colours and attributes (`CSI … m`).

use vte::{Params, ParamsIter};

use super::cell::{Attributes, Colour, Style};

pub(super) fn apply(style: &mut Style, params: &Params) {
    let mut rest = params.iter();
    while let Some(numbers) = rest.next() {
        match numbers {
            [] | [0] => *style = Style::default(),
            [4, 0] => style.attributes.remove(Attributes::UNDERLINE),
            // Double, curly and dotted lines are lines.
            [4, _] | [21] => style.attributes.insert(Attributes::UNDERLINE),
            [38, ..] => set(&mut style.foreground, numbers, &mut rest),
            [48, ..] => set(&mut style.background, numbers, &mut rest),
            // The colour of lines under the text: it is read, so that its numbers are not taken for others.
            [58, ..] => set(&mut Colour::default(), numbers, &mut rest),
            [number] => apply_one(style, *number),
            _ => {}
        }
    }
}

fn apply_one(style: &mut Style, number: u16) {
    if let Some((attribute, _)) = Attributes::CODES.iter().find(|(_, code)| *code == number) {
        style.attributes.insert(*attribute);
        return;
    }
    match number {
        22 => {
            style.attributes.remove(Attributes::BOLD);
            style.attributes.remove(Attributes::DIM);
        }
        23 => style.attributes.remove(Attributes::ITALIC),
        24 => style.attributes.remove(Attributes::UNDERLINE),
        25 => style.attributes.remove(Attributes::BLINK),
        27 => style.attributes.remove(Attributes::INVERSE),
        28 => style.attributes.remove(Attributes::HIDDEN),
        29 => style.attributes.remove(Attributes::STRUCK),
        39 => style.foreground = Colour::Default,
        49 => style.background = Colour::Default,
        _ => apply_basic_colour(style, number),
    }
}

/// The sixteen colours that have numbers of their own.
fn apply_basic_colour(style: &mut Style, number: u16) {
    let Ok(number) = u8::try_from(number) else { return };
    match number {
        30..=37 => style.foreground = Colour::Indexed(number - 30),
        40..=47 => style.background = Colour::Indexed(number - 40),
        90..=97 => style.foreground = Colour::Indexed(number - 90 + 8),
        100..=107 => style.background = Colour::Indexed(number - 100 + 8),
        _ => {}
    }
}

/// Sets a colour that is given as one parameter with parts (`38:2::1:2:3`) or as several (`38;2;1;2;3`).
fn set(colour: &mut Colour, numbers: &[u16], rest: &mut ParamsIter<'_>) {
    let found = match numbers {
        [_, 5, index] => indexed(*index),
        [_, 2, red, green, blue] | [_, 2, _, red, green, blue, ..] => rgb(*red, *green, *blue),
        [_] => following(rest),
        _ => None,
    };
    if let Some(found) = found {
        *colour = found;
    }
}

fn following(rest: &mut ParamsIter<'_>) -> Option<Colour> {
    let mut next = || rest.next().and_then(|numbers| numbers.first()).copied();
    match next()? {
        5 => indexed(next()?),
        2 => rgb(next()?, next()?, next()?),
        _ => None,
    }
}

fn indexed(index: u16) -> Option<Colour> {
    u8::try_from(index).ok().map(Colour::Indexed)
}

fn rgb(red: u16, green: u16, blue: u16) -> Option<Colour> {
    Some(Colour::Rgb(u8::try_from(red).ok()?, u8::try_from(green).ok()?, u8::try_from(blue).ok()?))
}
