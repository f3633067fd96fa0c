//! What travels between the keeper of an agent in a terminal and those who look at it: frames of a kind, a length and
//! as many bytes.

use std::io;

use fleet_api::verbs::run_answer::PermissionReply;
use fleet_core::problem::{Code, Problem};
use fleet_host::TerminalSize;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// The longest frame, in bytes: more than a screen, a paste or the kept lines need.
const LONGEST_FRAME: usize = 4 << 20;
/// The longest frame of a client: keys are read in small pieces.
pub(super) const LONGEST_FROM_CLIENT: usize = 64 << 10;
/// A kind and a length.
const HEADER_BYTES: usize = 5;

/// The kinds of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum FrameKind {
    /// The first frame of a client: what it wants, a [`Hello`].
    Hello = b'h',
    /// Keys of a person, as they are.
    Keys = b'k',
    /// The size of a client's terminal has changed, a [`WireSize`].
    Resize = b'r',
    /// Bytes for the terminal of a client.
    Output = b'o',
    /// The answer to a client that does not stay, a [`Reply`].
    Reply = b'a',
    /// The agent has ended: a [`TerminalEnd`].
    Ended = b'e',
}

impl FrameKind {
    const ALL: [Self; 6] = [Self::Hello, Self::Keys, Self::Resize, Self::Output, Self::Reply, Self::Ended];

    fn of(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// The size of a client's terminal, as it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WireSize {
    pub(super) rows: u16,
    pub(super) columns: u16,
}

impl From<WireSize> for TerminalSize {
    fn from(size: WireSize) -> Self {
        Self::new(size.columns, size.rows)
    }
}

/// What a client wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Hello {
    /// To see the screen as it is now and as it changes, and to type.
    Attach { size: WireSize, read_only: bool },
    /// The last lines as text.
    Lines { max: usize },
    /// To answer the dialog on the screen that asks for permission.
    Answer(PermissionReply),
}

/// What a client is told that does not stay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    Lines(Vec<String>),
    /// The dialog was answered.
    Answered,
    Problem(Problem),
}

/// How the agent in a terminal ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalEnd {
    /// A sentence for those who look.
    pub why: String,
    /// Whether its conversation continues, outside of this terminal.
    pub continues: bool,
}

pub(super) struct Frame {
    pub(super) kind: FrameKind,
    pub(super) bytes: Vec<u8>,
}

impl Frame {
    /// What its bytes say, as JSON.
    pub(super) fn read<T: DeserializeOwned>(&self) -> io::Result<T> {
        serde_json::from_slice(&self.bytes).map_err(io::Error::other)
    }
}

/// The next frame; none at the end.
pub(super) async fn read(reader: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<Frame>> {
    read_up_to(reader, LONGEST_FRAME).await
}

/// The same, with another bound on its length.
pub(super) async fn read_up_to(
    reader: &mut (impl AsyncRead + Unpin),
    longest: usize,
) -> io::Result<Option<Frame>> {
    let mut header = [0; HEADER_BYTES];
    match reader.read_exact(&mut header).await {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    };
    let [kind, a, b, c, d] = header;
    let length = u32::from_be_bytes([a, b, c, d]) as usize;
    let kind = FrameKind::of(kind).filter(|_| length <= longest);
    let kind = kind.ok_or_else(|| io::Error::other("this is not a frame"))?;
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes).await?;
    Ok(Some(Frame { kind, bytes }))
}

pub(super) async fn write(
    writer: &mut (impl AsyncWrite + Unpin),
    kind: FrameKind,
    bytes: &[u8],
) -> io::Result<()> {
    for piece in bytes.chunks(LONGEST_FRAME) {
        write_one(writer, kind, piece).await?;
    }
    if bytes.is_empty() { write_one(writer, kind, bytes).await } else { Ok(()) }
}

async fn write_one(writer: &mut (impl AsyncWrite + Unpin), kind: FrameKind, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    let mut frame = Vec::with_capacity(HEADER_BYTES + bytes.len());
    frame.push(kind as u8);
    frame.extend(length.to_be_bytes());
    frame.extend(bytes);
    writer.write_all(&frame).await
}

/// The same for something that is written as JSON.
pub(super) async fn write_json<T: Serialize>(
    writer: &mut (impl AsyncWrite + Unpin),
    kind: FrameKind,
    value: &T,
) -> io::Result<()> {
    write(writer, kind, &serde_json::to_vec(value)?).await
}

/// Why nobody answers any more.
pub(super) fn broken(error: &io::Error) -> Problem {
    Problem::new(Code::Io, format!("the connection to the agent's terminal broke: {error}"))
        .hint("try again; the agent keeps running")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn frames_arrive_as_they_were_sent() {
        let (mut one, mut other) = tokio::io::duplex(64);
        let size = WireSize { rows: 24, columns: 80 };
        let sending = tokio::spawn(async move {
            write_json(&mut one, FrameKind::Hello, &Hello::Attach { size, read_only: true }).await.unwrap();
            write(&mut one, FrameKind::Keys, &[0x1b; 1000]).await.unwrap();
            write(&mut one, FrameKind::Ended, b"").await.unwrap();
        });
        let hello = read(&mut other).await.unwrap().unwrap();
        assert_eq!(hello.read::<Hello>().unwrap(), Hello::Attach { size, read_only: true });
        let keys = read(&mut other).await.unwrap().unwrap();
        assert_eq!((keys.kind, keys.bytes.len()), (FrameKind::Keys, 1000));
        assert_eq!(read(&mut other).await.unwrap().unwrap().kind, FrameKind::Ended);
        assert!(read(&mut other).await.unwrap().is_none());
        sending.await.unwrap();
    }

    #[tokio::test]
    async fn what_is_not_a_frame_is_refused_before_it_is_read() {
        for bytes in [&b"GET / HTTP/1.1\r\n"[..], b"k\xff\xff\xff\xff", b"z\0\0\0\0"] {
            assert!(read(&mut &*bytes).await.is_err(), "{bytes:?}");
        }
        assert!(read(&mut &b"k\0\0\0\x05abc"[..]).await.is_err(), "cut off");
        assert!(read(&mut &b""[..]).await.unwrap().is_none());
    }
}
