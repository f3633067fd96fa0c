//! As much HTTP/1.1 as the agents speak: requests with a length or in chunks, answers whole or as a stream of events.

use std::io::{self, BufRead, Read, Write};

use serde_json::Value;

/// Far more than any agent sends; a stream of garbage ends here.
const LONGEST_HEAD: u64 = 256 * 1024;
const LONGEST_BODY: u64 = 64 * 1024 * 1024;

/// One request as it came.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) method: String,
    pub(super) target: String,
    /// Names in lower case.
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Incoming {
    /// The next request of a connection; none when the peer has closed it.
    pub(super) fn read(from: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut head = from.by_ref().take(LONGEST_HEAD);
        let Some(first) = line(&mut head)? else { return Ok(None) };
        let mut words = first.split_ascii_whitespace();
        let (Some(method), Some(target)) = (words.next(), words.next()) else {
            return Err(malformed("a request line without method and target"));
        };
        let mut headers = Vec::new();
        loop {
            let text = line(&mut head)?.ok_or_else(|| malformed("headers without an end"))?;
            if text.is_empty() {
                break;
            }
            let (name, value) = text.split_once(':').ok_or_else(|| malformed("a header without a colon"))?;
            headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut incoming =
            Self { method: method.to_owned(), target: target.to_owned(), headers, body: Vec::new() };
        incoming.body = incoming.read_body(from)?;
        Ok(Some(incoming))
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn read_body(&self, from: &mut impl BufRead) -> io::Result<Vec<u8>> {
        if self.header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
            return read_chunks(from);
        }
        let length = self.header("content-length").map_or(Ok(0), str::parse::<u64>);
        read_exactly(from, length.map_err(|_| malformed("a length that is no number"))?)
    }
}

fn read_chunks(from: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = line(&mut from.by_ref().take(LONGEST_HEAD))?.unwrap_or_default();
        let size = size.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(size, 16).map_err(|_| malformed("a chunk without a size"))?;
        body.extend(read_exactly(from, size)?);
        if body.len() as u64 > LONGEST_BODY {
            return Err(malformed("a body that is too long"));
        }
        // The line that ends the chunk; trailers are not sent by anybody.
        line(&mut from.by_ref().take(LONGEST_HEAD))?;
        if size == 0 {
            return Ok(body);
        }
    }
}

fn read_exactly(from: &mut impl Read, length: u64) -> io::Result<Vec<u8>> {
    if length > LONGEST_BODY {
        return Err(malformed("a body that is too long"));
    }
    let mut body = Vec::new();
    let read = from.by_ref().take(length).read_to_end(&mut body)?;
    if read as u64 == length { Ok(body) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// One line without its end; none at the end of the input.
fn line(from: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    if from.read_until(b'\n', &mut bytes)? == 0 {
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&bytes).trim_end_matches(['\r', '\n']).to_owned()))
}

fn malformed(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Headers beyond the usual ones.
pub(super) type Headers = Vec<(&'static str, String)>;

/// A whole answer.
pub(super) fn answer(to: &mut impl Write, status: u16, headers: &Headers, body: &Value) -> io::Result<()> {
    let text = body.to_string();
    let head = head(status, "application/json", headers);
    write!(to, "{head}content-length: {}\r\n\r\n{text}", text.len())?;
    to.flush()
}

/// The beginning of a stream of events, each of which follows with [`event`].
pub(super) fn open(to: &mut impl Write, headers: &Headers) -> io::Result<()> {
    let head = head(200, "text/event-stream", headers);
    write!(to, "{head}cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n")?;
    to.flush()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    /// The protocols that name their events do so twice: here and in the data.
    pub(super) name: Option<String>,
    pub(super) data: String,
    /// It carries a piece of what the model says: where a stream can be slow, or end too early.
    pub(super) speech: bool,
}

/// Writes one event and sends it at once.
pub(super) fn event(to: &mut impl Write, frame: &Frame) -> io::Result<()> {
    let name = frame.name.as_ref().map_or_else(String::new, |name| format!("event: {name}\n"));
    let text = format!("{name}data: {}\n\n", frame.data);
    write!(to, "{:x}\r\n{text}\r\n", text.len())?;
    to.flush()
}

/// The proper end of a stream.
pub(super) fn close(to: &mut impl Write) -> io::Result<()> {
    to.write_all(b"0\r\n\r\n")?;
    to.flush()
}

fn head(status: u16, kind: &str, headers: &Headers) -> String {
    let id = "request-id: req_scripted\r\nx-request-id: req_scripted\r\n";
    let mut head = format!("HTTP/1.1 {status} {}\r\ncontent-type: {kind}\r\n{id}", phrase(status));
    for (name, value) in headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head
}

/// Some agents show it to people.
fn phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        413 => "Payload Too Large",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        529 => "Overloaded",
        _ => "Status",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> io::Result<Option<Incoming>> {
        Incoming::read(&mut text.as_bytes())
    }

    #[test]
    fn a_body_has_a_length_or_comes_in_chunks() {
        let plain = read("POST /a?b HTTP/1.1\r\nContent-Length: 5\r\nX-Key: v\r\n\r\nhello, more");
        let plain = plain.unwrap().unwrap();
        assert_eq!((plain.method.as_str(), plain.target.as_str()), ("POST", "/a?b"));
        assert_eq!(plain.header("x-key"), Some("v"));
        assert_eq!(plain.body, b"hello");
        let chunked =
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n2;x\r\n, \r\n0\r\n\r\n";
        assert_eq!(read(chunked).unwrap().unwrap().body, b"hello, ");
    }

    #[test]
    fn the_end_of_a_connection_is_no_request() {
        assert!(read("").unwrap().is_none());
    }

    #[test]
    fn garbage_is_refused() {
        let cases = [
            "\r\n\r\n",
            "GET / HTTP/1.1\r\n",
            "GET / HTTP/1.1\r\nno colon\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length: 9\r\n\r\nshort",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        ];
        for case in cases {
            assert!(read(case).is_err(), "{case:?}");
        }
    }

    #[test]
    fn a_stream_is_chunks_of_events() {
        let mut out = Vec::new();
        open(&mut out, &vec![("x-more", "1".to_owned())]).unwrap();
        let frame = |name: Option<&str>| Frame {
            name: name.map(str::to_owned),
            data: "{}".to_owned(),
            speech: false,
        };
        event(&mut out, &frame(Some("ping"))).unwrap();
        event(&mut out, &frame(None)).unwrap();
        close(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains("\r\nx-more: 1\r\n"), "{head}");
        assert_eq!(body, "16\r\nevent: ping\ndata: {}\n\n\r\na\r\ndata: {}\n\n\r\n0\r\n\r\n");
    }
}
