//! The server: a thread that accepts, and one for each connection.

use std::collections::HashMap;
use std::io::{self, BufReader, Read};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::http::{self, Frame, Incoming};
use super::record::{Record, Request};
use super::scenario::Scenario;
use super::script::{Answer, Manner, Refusal, Reply, Why, decide};
use super::talk::Talk;
use super::wire::{Draft, Protocol};

/// Between the pieces of a slow answer.
const PAUSE: Duration = Duration::from_secs(1);

/// A scripted model behind the protocols of Anthropic, OpenAI (both) and Google, on its own port.
///
/// The scenario is in the address, see [`ModelServer::base`], and so is a name for the run, by which
/// [`ModelServer::requests`] finds what was asked. The prompt says `TARGET=path` for the file that is to be written.
///
/// | scenario | what the model does |
/// |---|---|
/// | `ok` | writes the file with the agent's own tool; after a tool's answer it says that it is done, with a report |
/// | `sh` | the same, in the agent's shell |
/// | `busy` | the same, after eight seconds of work without a word |
/// | `fleet` | calls `fleet note` in the agent's shell, and writes what that says to the file |
/// | `text` | only says that it is done |
/// | `multi` | writes the files that prompts name, and counts its answers: "This is answer 2" |
/// | `ask` | writes the files that prompts name, in ways for which agents can be made to ask, each once |
/// | `sleep` | runs a command that never ends, and has written its process number to the file, if one is named |
/// | `mcp` | calls the tool `fake_echo` of an MCP server |
/// | `calls` | calls the tools that lines `CALL tool {"name": "value"}` of the prompt name, one after another; `"$1.id"` is the field `id` of the first answer |
/// | `schema`, `badschema` | gives an answer that follows the schema it was asked for, or does not |
/// | `loop` | writes the file again and again |
/// | `steps` | the same, each time after a second and with other words |
/// | `hang` | never answers |
/// | `hangmid` | falls silent after the first words |
/// | `trunc` | is cut off after the first words |
/// | `slow`, `slowxN` | says thirty, or N, words, one a second |
/// | `sse-err` | reports an overload in the stream |
/// | `NNN` | answers with this HTTP status for ever: `401` is a wrong key, `404` an unknown model, `529` overload |
/// | `NNNxK` | the same for K questions of the main loop, then `ok` |
/// | `NNN-after-S`, `-date-S`, `-ms-M`, `-bare` | says when to come back: in S seconds, as a date, in M milliseconds, not at all; also after `NNNxK` |
/// | `overflow`, `overflow-sse` | the conversation is too long, said by status or in the stream |
/// | `quota` | the plan is used up for [`QUOTA_SECONDS`](super::QUOTA_SECONDS) |
/// | `warn` | `ok`, with headers that say that the plan's limit is near |
///
/// Every answer claims the tokens of [`USAGE`](super::USAGE). Questions without tools, such as those for a title,
/// are answered at once, except where all requests fail or hang.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    began: Instant,
    stopping: AtomicBool,
    serial: AtomicU64,
    record: Mutex<Record>,
    /// From which question on the model of a run has changed its mind, in the order in which that was said.
    switches: Mutex<HashMap<String, Vec<(u32, Scenario)>>>,
    /// So that all of them can be ended with the server.
    connections: Mutex<HashMap<u64, TcpStream>>,
}

impl ModelServer {
    /// Starts it on a free port of loopback. It ends when it is dropped, and so do its connections.
    pub fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port on loopback");
        let address = listener.local_addr().expect("a bound socket has an address");
        let shared = Arc::new(Shared {
            began: Instant::now(),
            stopping: AtomicBool::new(false),
            serial: AtomicU64::new(1),
            record: Mutex::default(),
            switches: Mutex::default(),
            connections: Mutex::default(),
        });
        let accepting = Arc::clone(&shared);
        let acceptor = Some(thread::spawn(move || accept(&listener, &accepting)));
        Self { address, shared, acceptor }
    }

    /// The address to give to an agent instead of its vendor's. Panics if there is no such scenario.
    #[track_caller]
    pub fn base(&self, scenario: &str, run: &str) -> String {
        if let Err(error) = scenario.parse::<Scenario>() {
            panic!("{error}");
        }
        assert!(is_name(run), "a run's name is letters, digits, `-`, `_` and `.`, not `{run}`");
        format!("http://{}/s/{scenario}/{run}", self.address)
    }

    /// From now on the model behaves so towards a run, whatever the address says: an agent that comes back finds its
    /// provider changed, and nobody has to change the agent's settings. Panics if there is no such scenario.
    #[track_caller]
    pub fn switch(&self, run: &str, scenario: &str) {
        self.switch_at(run, 0, scenario);
    }

    /// The same from the `nth` question of the run's main loop on, counted from one.
    #[track_caller]
    pub fn switch_at(&self, run: &str, nth: u32, scenario: &str) {
        let scenario = scenario.parse().unwrap_or_else(|error| panic!("{error}"));
        lock(&self.shared.switches).entry(run.to_owned()).or_default().push((nth, scenario));
    }

    /// All that was asked for a run, in order; of very many, the latest.
    pub fn requests(&self, run: &str) -> Vec<Request> {
        lock(&self.shared.record).of(run)
    }

    /// The questions among them that came from the agent's main loop.
    pub fn questions(&self, run: &str) -> Vec<Request> {
        let main = |request: &Request| request.protocol.is_some() && request.talk.is_main();
        self.requests(run).into_iter().filter(main).collect()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
        for connection in lock(&self.shared.connections).values() {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

fn is_name(text: &str) -> bool {
    let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !text.is_empty() && text.chars().all(known)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for connection in listener.incoming() {
        if shared.stopping.load(Ordering::SeqCst) {
            return;
        }
        let Ok(connection) = connection else { continue };
        let id = shared.next();
        let Ok(copy) = connection.try_clone() else { continue };
        lock(&shared.connections).insert(id, copy);
        let shared = Arc::clone(shared);
        thread::spawn(move || {
            // An agent that goes away in the middle of an answer is nothing to speak of.
            let _ = serve(&connection, &shared);
            // The copy would hold it open.
            let _ = connection.shutdown(Shutdown::Both);
            lock(&shared.connections).remove(&id);
        });
    }
}

impl Shared {
    fn next(&self) -> u64 {
        self.serial.fetch_add(1, Ordering::SeqCst)
    }

    /// What the model of a run has changed to by its `nth` question; what was said last counts.
    fn switched(&self, run: &str, nth: u32) -> Option<Scenario> {
        let switches = lock(&self.switches);
        switches.get(run)?.iter().rev().find(|(from, _)| *from <= nth).map(|(_, scenario)| *scenario)
    }
}

/// Whether a connection can be used for another request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Connection {
    Open,
    Over,
}

fn serve(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some(incoming) = Incoming::read(&mut reader)? {
        if respond(stream, &incoming, shared)? == Connection::Over {
            break;
        }
    }
    Ok(())
}

/// The scenario, the run and the rest of `/s/SCENARIO/RUN/…`.
fn route(target: &str) -> Option<(Scenario, &str, &str)> {
    let (scenario, rest) = target.strip_prefix("/s/")?.split_once('/')?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (run, path) = rest.split_at(end);
    Some((scenario.parse().ok()?, run, path))
}

fn respond(mut stream: &TcpStream, incoming: &Incoming, shared: &Shared) -> io::Result<Connection> {
    let Some((scenario, run, target)) = route(&incoming.target) else {
        http::answer(&mut stream, 404, &Vec::new(), &missing())?;
        return Ok(Connection::Open);
    };
    let path = target.split('?').next().unwrap_or_default();
    let protocol = Protocol::of(path).filter(|_| incoming.method == "POST");
    let body: Value = serde_json::from_slice(&incoming.body).unwrap_or_default();
    let talk = protocol.map(|protocol| protocol.read(path, &body)).unwrap_or_default();
    let request = Request {
        at: shared.began.elapsed(),
        method: incoming.method.clone(),
        path: target.to_owned(),
        protocol,
        authorised: is_authorised(incoming),
        talk: talk.clone(),
        body,
    };
    let nth = lock(&shared.record).add(run, request);
    let Some(protocol) = protocol else {
        let (code, body) = aside(path);
        http::answer(&mut stream, code, &Vec::new(), &body)?;
        return Ok(Connection::Open);
    };
    let exchange = Exchange { stream, protocol, talk: &talk, serial: shared.next() };
    exchange.answer(&decide(shared.switched(run, nth).unwrap_or(scenario), &talk, nth))
}

fn is_authorised(incoming: &Incoming) -> bool {
    let given = |name| incoming.header(name).is_some_and(|value| !value.is_empty());
    ["authorization", "x-api-key", "x-goog-api-key"].into_iter().any(given)
        || incoming.target.contains("key=")
}

/// Requests that are no question to a model.
fn aside(path: &str) -> (u16, Value) {
    if path.ends_with("/messages/count_tokens") {
        (200, json!({"input_tokens": 100}))
    } else if path.ends_with(":countTokens") {
        (200, json!({"totalTokens": 100}))
    } else if path.ends_with("/models") {
        let model = json!({"id": "fake-model", "object": "model", "created": 1, "owned_by": "scripted"});
        (200, json!({"object": "list", "data": [model], "models": []}))
    } else {
        (404, missing())
    }
}

fn missing() -> Value {
    json!({"error": {"type": "not_found", "message": "the scripted server has nothing here"}})
}

/// One question and its answer.
struct Exchange<'a> {
    stream: &'a TcpStream,
    protocol: Protocol,
    talk: &'a Talk,
    serial: u64,
}

impl Exchange<'_> {
    fn answer(&self, answer: &Answer) -> io::Result<Connection> {
        match answer {
            Answer::Silence => Ok(self.wait_for_peer()),
            Answer::Refusal(refusal) => self.refuse(*refusal),
            Answer::Reply(reply) => self.reply(reply),
        }
    }

    fn refuse(&self, refusal: Refusal) -> io::Result<Connection> {
        let refused = self.protocol.refuse(refusal, now());
        http::answer(&mut self.stream(), refused.code, &refused.headers, &refused.body)?;
        Ok(Connection::Open)
    }

    fn reply(&self, reply: &Reply) -> io::Result<Connection> {
        let draft = Draft { model: &self.talk.model, blocks: &reply.blocks, serial: self.serial };
        if !self.talk.stream {
            return self.reply_whole(reply.manner, &draft);
        }
        let headers = if reply.manner == Manner::Warned { self.protocol.warning(now()) } else { Vec::new() };
        http::open(&mut self.stream(), &headers)?;
        let frames = match reply.manner {
            Manner::Broken => self.protocol.broken_stream(&draft, Why::Code),
            Manner::TooLong => self.protocol.broken_stream(&draft, Why::Overflow),
            _ => self.protocol.stream(&draft),
        };
        self.send(&frames, reply.manner)
    }

    fn send(&self, frames: &[Frame], manner: Manner) -> io::Result<Connection> {
        for frame in frames {
            http::event(&mut self.stream(), frame)?;
            match manner {
                Manner::Stuck if frame.speech => return Ok(self.wait_for_peer()),
                Manner::Cut if frame.speech => return Ok(Connection::Over),
                Manner::Slowly if frame.speech => self.pause()?,
                _ => {}
            }
        }
        http::close(&mut self.stream())?;
        Ok(Connection::Open)
    }

    /// An agent that falls back to an answer in one piece must not get round what the scenario is about.
    fn reply_whole(&self, manner: Manner, draft: &Draft<'_>) -> io::Result<Connection> {
        let wait = super::scenario::Wait::Usual;
        match manner {
            Manner::Stuck => return Ok(self.wait_for_peer()),
            Manner::Cut => return Ok(Connection::Over),
            Manner::Broken => return self.refuse(Refusal { code: 529, why: Why::Code, wait }),
            Manner::TooLong => return self.refuse(Refusal { code: 400, why: Why::Overflow, wait }),
            Manner::Whole | Manner::Warned | Manner::Slowly => {}
        }
        http::answer(&mut self.stream(), 200, &Vec::new(), &self.protocol.whole(draft))?;
        Ok(Connection::Open)
    }

    /// Says nothing until the peer closes the connection, or the server ends.
    fn wait_for_peer(&self) -> Connection {
        let mut ignored = [0; 256];
        while self.stream().read(&mut ignored).is_ok_and(|count| count > 0) {}
        Connection::Over
    }

    /// A second, or less if the peer goes away.
    fn pause(&self) -> io::Result<()> {
        self.stream.set_read_timeout(Some(PAUSE))?;
        let peeked = self.stream.peek(&mut [0]);
        self.stream.set_read_timeout(None)?;
        match peeked {
            Ok(0) => Err(io::ErrorKind::ConnectionAborted.into()),
            Err(error) if !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                Err(error)
            }
            _ => Ok(()),
        }
    }

    fn stream(&self) -> &TcpStream {
        self.stream
    }
}

fn now() -> Timestamp {
    Timestamp::try_from(SystemTime::now()).unwrap_or_default()
}
