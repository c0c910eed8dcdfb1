//! A request: its line and the fields of its header that are needed; what is no request of HTTP is refused with the reason.

use std::net::{IpAddr, Ipv6Addr};

use super::Answer;

/// Most fields of a header.
const FIELDS_MAX: usize = 64;

/// A request to read something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) is_head: bool,
    /// The parts of the path between its slashes, decoded; none of them is empty, and the last one is if the path ends with a slash.
    pub(crate) path: Vec<String>,
    /// Names and values behind the question mark, decoded, in order.
    pub(crate) query: Vec<(String, String)>,
    /// Fields of the header, names in lower case, in order.
    fields: Vec<(String, String)>,
}

impl Request {
    /// Of octets up to the empty line behind the header; of what is none, the answer.
    pub(crate) fn parse(octets: &[u8]) -> Result<Self, Answer> {
        let bad = |why: &str| Answer::words("400 Bad Request", why);
        let end = octets.windows(4).position(|end| end == b"\r\n\r\n");
        let head = end.map_or(octets, |end| &octets[..end]);
        let head = std::str::from_utf8(head).map_err(|_| bad("the header is not UTF-8"))?;
        let mut lines = head.split("\r\n");
        let line = lines.next().unwrap_or_default();
        let [method, target, version] = line.split(' ').collect::<Vec<_>>()[..] else {
            return Err(bad("the first line is not `GET /path HTTP/1.1`"));
        };
        if !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
            return Err(Answer::words("505 HTTP Version Not Supported", "HTTP/1.1 is answered"));
        }
        let is_head = method == "HEAD";
        if !is_head && method != "GET" {
            let refused = Answer::words("405 Method Not Allowed", "only GET and HEAD are answered");
            return Err(refused.with("Allow", "GET, HEAD"));
        }
        let mut fields = Vec::new();
        for line in lines {
            let (name, value) =
                line.split_once(':').ok_or_else(|| bad("a line of the header has no colon"))?;
            let is_name = |octet: u8| octet.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&octet);
            if name.is_empty() || !name.bytes().all(is_name) {
                return Err(bad("a name in the header is none"));
            }
            if value.bytes().any(|octet| octet.is_ascii_control() && octet != b'\t') {
                return Err(bad("a value in the header has a control character"));
            }
            if fields.len() == FIELDS_MAX {
                let words = "the header has more than 64 fields";
                return Err(Answer::words("431 Request Header Fields Too Large", words));
            }
            fields.push((name.to_ascii_lowercase(), value.trim_matches([' ', '\t']).to_owned()));
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let path = parts(path).ok_or_else(|| bad("the path is not understood"))?;
        let query = pairs(query).ok_or_else(|| bad("what is behind `?` is not understood"))?;
        let request = Self { is_head, path, query, fields };
        let hosts = request.all("host").count();
        if hosts > 1 || hosts == 0 && version == "HTTP/1.1" {
            return Err(bad("one `Host` is needed"));
        }
        if request.all("transfer-encoding").next().is_some()
            || request.all("content-length").any(|length| length != "0")
        {
            return Err(bad("a request to read has no body"));
        }
        Ok(request)
    }

    /// The values of a field of the header.
    fn all<'r>(&'r self, name: &str) -> impl Iterator<Item = &'r str> {
        self.fields.iter().filter(move |(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// The value of a field of the header, if it is there once.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let mut all = self.all(name);
        all.next().filter(|_| all.next().is_none())
    }

    /// The value of a cookie; of several with this name the first.
    pub(crate) fn cookie(&self, name: &str) -> Option<&str> {
        let cookies = self.all("cookie").flat_map(|all| all.split(';'));
        cookies
            .filter_map(|one| one.trim().split_once('='))
            .find(|(own, _)| *own == name)
            .map(|(_, value)| value)
    }

    /// A value behind the question mark.
    pub(crate) fn asked(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// Refuses a request for a name of which others decide what address it has: only addresses and `localhost` are answered for.
    pub(super) fn check_host(&self) -> Result<(), Answer> {
        if self.field("host").is_none_or(is_own) {
            return Ok(());
        }
        let words = "ask for this machine by its address or as localhost, not by another name";
        Err(Answer::words("421 Misdirected Request", words))
    }
}

/// Whether no name server decides what is behind this host, with its port or without.
fn is_own(host: &str) -> bool {
    let is_port = |port: &str| port.parse::<u16>().is_ok();
    if let Some(rest) = host.strip_prefix('[') {
        let Some((address, port)) = rest.split_once(']') else { return false };
        return address.parse::<Ipv6Addr>().is_ok()
            && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port));
    }
    let name = match host.split_once(':') {
        Some((name, port)) if is_port(port) => name,
        Some(_) => return false,
        None => host,
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
}

/// The decoded parts of a path; none if it does not begin with a slash, has an empty part before its end, or goes up.
fn parts(path: &str) -> Option<Vec<String>> {
    let parts = path.strip_prefix('/')?.split('/').map(|part| decoded(part, false));
    let parts = parts.collect::<Option<Vec<String>>>()?;
    let (_, before) = parts.split_last()?;
    let goes_up = parts.iter().any(|part| part == "." || part == "..");
    (!goes_up && before.iter().all(|part| !part.is_empty())).then_some(parts)
}

fn pairs(query: &str) -> Option<Vec<(String, String)>> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decoded(name, true)?, decoded(value, true)?))
        })
        .collect()
}

/// Text with its `%20` decoded; none if that is broken, is not UTF-8 or has a control character.
fn decoded(text: &str, is_query: bool) -> Option<String> {
    let mut octets = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(octet) = rest.next() {
        octets.push(match octet {
            b'%' => {
                let digit = |octet: u8| char::from(octet).to_digit(16);
                let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
                u8::try_from(high * 16 + low).ok()?
            }
            b'+' if is_query => b' ',
            other => other,
        });
    }
    String::from_utf8(octets).ok().filter(|text| !text.chars().any(char::is_control))
}

/// Text as a part of a path or a value of a query.
pub(crate) fn encoded(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::new();
    for octet in text.bytes() {
        if octet.is_ascii_alphanumeric() || b"-._~".contains(&octet) {
            out.push(char::from(octet));
        } else {
            write!(out, "%{octet:02X}").expect("a string can be written");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Request, &'static str> {
        Request::parse(text.as_bytes()).map_err(|refused| refused.status)
    }

    fn path(target: &str) -> Result<Vec<String>, &'static str> {
        parsed(&format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n")).map(|request| request.path)
    }

    #[test]
    fn a_request_is_read() {
        let text = "GET /run/0/in%2Fvehicle%201?before=a+b&x=%3d HTTP/1.1\r\nHost: [::1]:80\r\n\
            Cookie: other=1; name=value=x\r\nCookie: last=2\r\nX: y\r\nx: z\r\n\r\n";
        let request = parsed(text).unwrap();
        assert_eq!(request.path, ["run", "0", "in/vehicle 1"]);
        assert_eq!(
            (request.asked("before"), request.asked("x"), request.asked("y")),
            (Some("a b"), Some("="), None)
        );
        assert_eq!((request.cookie("name"), request.cookie("last")), (Some("value=x"), Some("2")));
        assert_eq!((request.field("host"), request.field("x")), (Some("[::1]:80"), None));
        assert!(!request.is_head && parsed("HEAD / HTTP/1.0\r\n\r\n").unwrap().is_head);
        assert_eq!(path("/").unwrap(), [""]);
        assert_eq!(path("/run/").unwrap(), ["run", ""]);
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for (text, status) in [
            ("", "400 "),
            ("GET", "400 "),
            ("GET  / HTTP/1.1\r\nHost: localhost", "400 "),
            ("GET / HTTP/1.1\nHost: localhost", "400 "),
            ("GET / HTTP/2\r\nHost: localhost", "505 "),
            ("get / HTTP/1.1\r\nHost: localhost", "405 "),
            ("POST / HTTP/1.1\r\nHost: localhost", "405 "),
            ("GET / HTTP/1.1", "400 "),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: b", "400 "),
            ("GET / HTTP/1.1\r\nHost : localhost", "400 "),
            ("GET / HTTP/1.1\r\nHost: localhost\r\n folded", "400 "),
            ("GET / HTTP/1.1\r\nHost: local\u{7}host", "400 "),
            ("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5", "400 "),
            ("GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked", "400 "),
        ] {
            let refused = parsed(&format!("{text}\r\n\r\n")).unwrap_err();
            assert!(refused.starts_with(status), "{text:?}: {refused}");
        }
        assert!(Request::parse(b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n").is_err());
        let many = "a: b\r\n".repeat(FIELDS_MAX);
        let refused = parsed(&format!("GET / HTTP/1.1\r\nHost: localhost\r\n{many}\r\n")).unwrap_err();
        assert!(refused.starts_with("431 "), "{refused}");
    }

    #[test]
    fn no_path_leads_up_and_none_is_broken() {
        for target in [
            "/../etc/passwd",
            "/run/../../etc",
            "/run/%2e%2e/x",
            "/run/.%2E",
            "/./run",
            "//run",
            "/run//x",
            "run",
            "http://localhost/run",
            "*",
            "/%",
            "/%4",
            "/%zz",
            "/%ff",
            "/%00",
            "/a%0d%0ab",
            "/?a=%",
        ] {
            assert!(path(target).is_err(), "{target}");
        }
    }

    #[test]
    fn a_host_is_an_address_or_localhost() {
        for own in
            ["127.0.0.1", "127.0.0.1:8640", "localhost", "LocalHost:1", "[::1]", "[fe80::1]:80", "10.1.2.3"]
        {
            assert!(is_own(own), "{own}");
        }
        for other in [
            "",
            "evil.example",
            "evil.example:8640",
            "127.0.0.1.evil.example",
            "localhost.evil",
            "127.0.0.1:",
            "127.0.0.1:x",
            "[::1",
            "[::1]x",
            "[127.0.0.1]",
            "::1",
            "localhost:99999",
            "user@127.0.0.1",
        ] {
            assert!(!is_own(other), "{other}");
        }
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        for text in ["in-vehicle-1", "a b/c?d=e&f+g%", "größe"] {
            assert_eq!(decoded(&encoded(text), false).as_deref(), Some(text));
            assert_eq!(decoded(&encoded(text), true).as_deref(), Some(text));
        }
    }
}
