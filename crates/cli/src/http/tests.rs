//! Clients of the server that are slow, many, or send what is no request.

use std::sync::mpsc::{Receiver, Sender, channel};

use super::*;

const SHORT: Limits =
    Limits { clients: 4, request: Duration::from_millis(400), answer: Duration::from_millis(400) };

/// A server with these limits that answers with the parts of the path.
fn server(limits: Limits) -> SocketAddr {
    let (listener, address) = listen(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a port is free");
    thread::spawn(move || {
        serve(&listener, limits, |request| match request.path[0].as_str() {
            "large" => Answer::new("200 OK", "text/plain", vec![b'x'; 16 << 20]),
            "fault" => panic!("meant"),
            "split" => Answer::words("200 OK", "-").with("X-Part", "a\r\nX-Other: b"),
            _ => Answer::words("200 OK", &request.path.join("|")),
        });
    });
    address
}

/// What is answered to these octets.
fn asked(address: SocketAddr, request: &[u8]) -> String {
    let mut client = TcpStream::connect(address).expect("it listens");
    client.write_all(request).expect("it reads");
    let mut answer = Vec::new();
    // It may end with the connection.
    let _ = client.read_to_end(&mut answer);
    String::from_utf8(answer).expect("words")
}

fn get(address: SocketAddr, path: &str) -> String {
    asked(address, format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes())
}

#[test]
fn requests_are_answered_and_others_refused_with_words() {
    let address = server(SHORT);
    let answer = get(address, "/a/b%20c");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\na|b c\n"), "{answer}");
    let head = asked(address, b"HEAD /abc HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(head.contains("Content-Length: 4\r\n") && head.ends_with("\r\n\r\n"), "{head}");
    for (request, status) in [
        (&b"nonsense\r\n\r\n"[..], "400 "),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "400 "),
        (b"GET /../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", "400 "),
        (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "421 "),
        (b"DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n", "405 "),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc", "400 "),
    ] {
        let answer = asked(address, request);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{request:?}: {answer}");
    }
    let split = get(address, "/split");
    assert!(split.contains("X-Part: aX-Other: b\r\n"), "{split}");
}

#[test]
fn a_request_that_is_too_long_is_refused_and_the_client_sees_why() {
    let address = server(SHORT);
    let mut long = b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ".to_vec();
    long.resize(5 * REQUEST_MAX, b'x');
    assert!(asked(address, &long).starts_with("HTTP/1.1 431 "), "it is refused");
    assert!(get(address, "/next").starts_with("HTTP/1.1 200 "));
}

#[test]
fn a_fault_of_the_program_is_one_answer_and_no_end() {
    let address = server(SHORT);
    assert!(get(address, "/fault").starts_with("HTTP/1.1 500 "));
    assert!(get(address, "/next").starts_with("HTTP/1.1 200 "));
}

/// One that sends an octet from time to time is left when its time is over; meanwhile others are answered.
#[test]
fn a_slow_client_is_left_and_delays_nobody() {
    let address = server(SHORT);
    let mut slow = TcpStream::connect(address).expect("it listens");
    let (said, stop): (Sender<()>, Receiver<()>) = channel();
    let mut sender = slow.try_clone().expect("a second one");
    let sends = thread::spawn(move || {
        while stop.recv_timeout(Duration::from_millis(10)).is_err() {
            if sender.write_all(b"x").is_err() {
                break;
            }
        }
    });
    assert!(get(address, "/other").starts_with("HTTP/1.1 200 "));
    let mut answer = String::new();
    let _ = slow.read_to_string(&mut answer);
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    let _ = said.send(());
    sends.join().expect("no panic");
    // One that does not read a long answer is left, too: its place is free again.
    let idle: Vec<_> = (0..SHORT.clients)
        .map(|_| {
            let mut client = TcpStream::connect(address).expect("it listens");
            client.write_all(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("it reads");
            client
        })
        .collect();
    assert!((0..500).any(|_| {
        thread::sleep(Duration::from_millis(20));
        get(address, "/next").starts_with("HTTP/1.1 200 ")
    }));
    drop(idle);
}

#[test]
fn clients_are_limited_and_the_rest_are_answered_so() {
    let limits = Limits { request: Duration::from_secs(60), ..SHORT };
    let address = server(limits);
    let idle: Vec<_> =
        (0..limits.clients).map(|_| TcpStream::connect(address).expect("it listens")).collect();
    // The kernel gives them to the server in the order in which they came.
    let mut answer = String::new();
    let _ = TcpStream::connect(address).expect("it listens").read_to_string(&mut answer);
    assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("Retry-After: 1\r\n"), "{answer}");
    drop(idle);
    assert!((0..500).any(|_| {
        thread::sleep(Duration::from_millis(20));
        get(address, "/next").starts_with("HTTP/1.1 200 ")
    }));
}

#[test]
fn a_port_in_use_is_named() {
    let (_kept, address) = listen(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a port is free");
    let why = listen(address).expect_err("it is in use");
    assert_eq!(why, format!("cannot listen on {address}: another process does. Port 0 takes a free one"));
    let why = listen(SocketAddr::from(([203, 0, 113, 1], 0))).expect_err("not ours");
    assert!(why.contains("no address of this machine"), "{why}");
}
