use super::*;

/// Offset, bytes as text, cut.
type Seen = (u64, String, bool);

fn seen(line: Line<'_>) -> Seen {
    (line.offset, String::from_utf8_lossy(line.bytes).into_owned(), line.cut)
}

/// The lines of a stream that arrives in chunks of a size.
fn split(stream: &[u8], max: usize, chunk: usize) -> Vec<Seen> {
    let mut lines = LineSplitter::new(max);
    let mut all = Vec::new();
    for piece in stream.chunks(chunk) {
        lines.push(piece, &mut |line| all.push(seen(line)));
    }
    lines.finish(&mut |line| all.push(seen(line)));
    assert_eq!(lines.position(), stream.len() as u64);
    all
}

/// The same, however the stream is cut into chunks.
fn split_anyhow(stream: &[u8], max: usize) -> Vec<Seen> {
    let whole = split(stream, max, stream.len().max(1));
    for chunk in 1..=stream.len() {
        assert_eq!(split(stream, max, chunk), whole, "chunks of {chunk}");
    }
    whole
}

fn line(offset: u64, text: &str) -> Seen {
    (offset, text.to_owned(), false)
}

#[test]
fn lines_and_where_they_start() {
    assert_eq!(split_anyhow(b"one\n\ntwo\n", 10), [line(0, "one"), line(4, ""), line(5, "two")]);
    assert_eq!(split_anyhow(b"", 10), []);
    assert_eq!(split_anyhow(b"\n", 10), [line(0, "")]);
}

#[test]
fn an_end_without_a_line_end() {
    assert_eq!(split_anyhow(b"one\ntwo", 10), [line(0, "one"), line(4, "two")]);
}

#[test]
fn only_line_ends_end_lines() {
    let stream = "a\u{2028}b\u{85}c\rd\r\ne\0f\n";
    assert_eq!(split_anyhow(stream.as_bytes(), 100), [line(0, "a\u{2028}b\u{85}c\rd"), line(12, "e\0f")]);
    assert_eq!(split_anyhow(b"\xff\xfe\n", 10), [line(0, "\u{fffd}\u{fffd}")]);
}

#[test]
fn long_lines_are_cut_and_the_next_starts_where_it_starts() {
    assert_eq!(split_anyhow(b"123456\nx\n", 4), [(0, "1234".into(), true), line(7, "x")]);
    assert_eq!(split_anyhow(b"123456", 4), [(0, "1234".into(), true)]);
    assert_eq!(split_anyhow(b"1234\n12345\n", 4), [line(0, "1234"), (5, "1234".into(), true)]);
}

#[test]
fn the_return_of_a_line_end_is_not_what_makes_a_line_too_long() {
    assert_eq!(split_anyhow(b"1234\r\nx\n", 4), [line(0, "1234"), line(6, "x")]);
    assert_eq!(split_anyhow(b"12345\r\nx\n", 4), [(0, "1234".into(), true), line(7, "x")]);
    assert_eq!(split_anyhow(b"1234\r5\nx\n", 4), [(0, "1234".into(), true), line(7, "x")]);
}

#[test]
fn a_gap_ends_the_line_before_it() {
    let mut lines = LineSplitter::starting_at(100, 7);
    let mut all = Vec::new();
    lines.push(b"half", &mut |line| all.push(seen(line)));
    lines.skip_to(1000, &mut |line| all.push(seen(line)));
    lines.push(b"other half\nnext", &mut |line| all.push(seen(line)));
    lines.finish(&mut |line| all.push(seen(line)));
    assert_eq!(all, [line(7, "half"), line(1000, "other half"), line(1011, "next")]);
}

#[test]
fn an_endless_line_takes_no_more_room_than_a_long_one() {
    const MAX: usize = 1 << 20;
    let mut lines = LineSplitter::new(MAX);
    let chunk = vec![b'x'; 64 * 1024];
    let mut largest = 0;
    for _ in 0..2 * 1024 {
        lines.push(&chunk, &mut |_| panic!("no line ends"));
        largest = largest.max(lines.held.capacity());
    }
    assert!(largest <= 2 * MAX + 2, "{largest}");
    let mut cut = 0;
    lines.push(b"\nnext\n", &mut |line| {
        cut += usize::from(line.cut);
        assert_eq!(line.cut, line.bytes != b"next");
        if !line.cut {
            assert_eq!(line.offset, (1 << 27) + 1);
        }
    });
    assert_eq!(cut, 1);
    assert!(lines.held.capacity() <= KEPT_CAPACITY, "the room is given back");
}

fn line_of(bytes: &[u8], cut: bool) -> Line<'_> {
    Line { offset: 0, bytes, cut }
}

#[test]
fn a_line_in_one_chunk_is_not_copied() {
    let chunk = b"abc\n";
    LineSplitter::new(10).push(chunk, &mut |line| {
        assert_eq!(line, line_of(b"abc", false));
        assert_eq!(line.bytes.as_ptr(), chunk.as_ptr());
    });
}
