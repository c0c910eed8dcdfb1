//! Who may read what `serve` shows: those that have its token.
//!
//! Also on loopback: every user and every program of the machine can connect there, and a page of another site can try to. The token comes
//! in the address that is printed, once; then the browser keeps it in a cookie that it sends for pages of this server alone
//! (`SameSite=Strict`, `HttpOnly`). Programs send `Authorization: Bearer`. It is compared in a time that says nothing of it.

use std::fs;
use std::hint::black_box;
use std::io::Read as _;
use std::path::Path;

use crate::http::{Answer, Request, encoded};

/// Octets of a token that is made here.
const OCTETS: usize = 24;
/// Least letters of one that is given.
const LETTERS_MIN: usize = 24;

/// The door.
#[derive(Debug)]
pub(super) struct Door {
    token: String,
    cookie: String,
}

impl Door {
    /// With the token of a file, or a new one; the error is a sentence.
    pub(super) fn new(file: Option<&Path>) -> Result<Self, String> {
        let token = match file {
            Some(file) => given(file)?,
            None => made().map_err(|error| format!("no random numbers: {error}"))?,
        };
        Ok(Self { token, cookie: String::new() })
    }

    /// The same for a server on this port: a browser sends cookies of one host to all its ports.
    pub(super) fn on_port(self, port: u16) -> Self {
        Self { cookie: format!("tautwire-{port}"), ..self }
    }

    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// The answer to one that may not read what it asks for, or is to ask again with the cookie; none to one that may.
    pub(super) fn refuses(&self, request: &Request) -> Option<Answer> {
        if let Some(token) = request.asked("token") {
            return Some(if self.is_right(token) {
                // The address without the token is what stays in the history, and what a reader passes on.
                let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie, self.token);
                let there = Answer::words("303 See Other", "it is kept in a cookie");
                there.with("Location", without_token(request)).with("Set-Cookie", cookie)
            } else {
                Answer::words(
                    "403 Forbidden",
                    "this is not the token: open the address that `tautwire serve` printed",
                )
            });
        }
        let bearer = request.field("authorization").and_then(|value| value.strip_prefix("Bearer "));
        let is_known =
            [bearer, request.cookie(&self.cookie)].into_iter().flatten().any(|token| self.is_right(token));
        let words = "a token is needed: open the address that `tautwire serve` printed, which has it";
        (!is_known).then(|| Answer::words("401 Unauthorized", words).with("WWW-Authenticate", "Bearer"))
    }

    /// Whether it is the token. How long it takes depends on the length of what is asked alone.
    fn is_right(&self, asked: &str) -> bool {
        let own = self.token.as_bytes();
        let differ = asked.bytes().enumerate().fold(own.len() ^ asked.len(), |differ, (at, octet)| {
            black_box(differ | usize::from(octet ^ own[at % own.len()]))
        });
        differ == 0
    }
}

/// The address of a request without its token.
fn without_token(request: &Request) -> String {
    let path: String = request.path.iter().map(|part| format!("/{}", encoded(part))).collect();
    let rest = request.query.iter().filter(|(name, _)| name != "token");
    let rest: Vec<_> = rest.map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
    if rest.is_empty() { path } else { format!("{path}?{}", rest.join("&")) }
}

fn made() -> std::io::Result<String> {
    let mut octets = [0; OCTETS];
    fs::File::open("/dev/urandom")?.read_exact(&mut octets)?;
    Ok(octets.iter().map(|octet| format!("{octet:02x}")).collect())
}

fn given(file: &Path) -> Result<String, String> {
    let text =
        fs::read_to_string(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let token = text.trim();
    let is_letter = |octet: u8| octet.is_ascii_alphanumeric() || b"-._~".contains(&octet);
    if token.len() < LETTERS_MIN || !token.bytes().all(is_letter) {
        return Err(format!(
            "{}: a token has {LETTERS_MIN} letters, digits or -._~ at least, as of `openssl rand -hex 24`",
            file.display()
        ));
    }
    Ok(token.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(target: &str, fields: &str) -> Request {
        let text = format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n");
        Request::parse(text.as_bytes()).expect("a request")
    }

    #[test]
    fn only_those_with_the_token_may_read() {
        let door = Door::new(None).unwrap().on_port(8640);
        let token = door.token().to_owned();
        assert_eq!(token.len(), 2 * OCTETS);
        assert_ne!(Door::new(None).unwrap().token(), token);
        let status = |request: &Request| door.refuses(request).map(|answer| answer.status[..3].to_owned());
        let refused = |target: &str, fields: &str| status(&asked(target, fields));
        assert_eq!(refused("/", "").as_deref(), Some("401"));
        for wrong in
            ["", "x", &token[1..], &format!("{token}0"), &token.to_uppercase(), &format!("{token}{token}")]
        {
            if *wrong == token {
                continue;
            }
            assert_eq!(refused(&format!("/?token={wrong}"), "").as_deref(), Some("403"), "{wrong}");
            let fields = format!("Cookie: tautwire-8640={wrong}\r\n");
            assert_eq!(refused("/", &fields).as_deref(), Some("401"), "{wrong}");
            assert_eq!(
                refused("/", &format!("Authorization: Bearer {wrong}\r\n")).as_deref(),
                Some("401"),
                "{wrong}"
            );
        }
        // A cookie of a server on another port is none here.
        assert_eq!(refused("/", &format!("Cookie: tautwire-1={token}\r\n")).as_deref(), Some("401"));
        assert_eq!(refused("/", &format!("Cookie: a=b; tautwire-8640={token}\r\n")), None);
        assert_eq!(refused("/run/0/x", &format!("Authorization: Bearer {token}\r\n")), None);
    }

    #[test]
    fn the_address_leads_on_without_the_token() {
        let door = Door::new(None).unwrap().on_port(8640);
        let target = format!("/compare?before=0%2Fa&token={}&after=0/b%20c", door.token());
        let answer = door.refuses(&asked(&target, "")).unwrap();
        assert_eq!(answer.status, "303 See Other");
        let field = |name: &str| {
            answer.fields.iter().find(|(own, _)| *own == name).map(|(_, value)| value.as_str()).unwrap()
        };
        assert_eq!(field("Location"), "/compare?before=0%2Fa&after=0%2Fb%20c");
        let cookie = format!("tautwire-8640={}; Path=/; HttpOnly; SameSite=Strict", door.token());
        assert_eq!(field("Set-Cookie"), cookie);
    }

    #[test]
    fn a_token_of_a_file_is_long_enough_to_be_one() {
        let file = std::env::temp_dir().join(format!("tautwire-token-{}", std::process::id()));
        for (text, is_one) in [
            ("0123456789abcdef01234567\n", true),
            ("0123456789abcdef0123456", false),
            ("0123456789abcdef 1234567", false),
            ("", false),
        ] {
            fs::write(&file, text).unwrap();
            let door = Door::new(Some(&file));
            assert_eq!(door.is_ok(), is_one, "{text:?}");
            assert!(door.is_ok_and(|door| door.token() == text.trim()) == is_one);
        }
        fs::remove_file(&file).unwrap();
        assert!(Door::new(Some(&file)).unwrap_err().contains("cannot read"));
    }
}
