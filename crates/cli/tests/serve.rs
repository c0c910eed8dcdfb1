//! `tautwire serve`: who may read, what is shown of runs that are whole, damaged, under way and compared, and how it ends.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod common;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};

use common::{command, folder, root, tautwire};
use serde_json::Value;

/// A server that ends with the test.
struct Server {
    child: Child,
    address: String,
    token: String,
}

impl Server {
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        let arguments = [&["serve", "--listen", "127.0.0.1:0"], arguments].concat();
        let mut child = command(folder, &arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (address, token) = line.trim().strip_prefix("http://").unwrap().split_once("/?token=").unwrap();
        Self { address: address.to_owned(), token: token.to_owned(), child }
    }

    /// The answer to a request with these fields.
    fn asked(&self, path: &str, fields: &str) -> Answer {
        let mut client = TcpStream::connect(&self.address).unwrap();
        write!(client, "GET {path} HTTP/1.1\r\nHost: {}\r\n{fields}\r\n", self.address).unwrap();
        let mut text = String::new();
        client.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        Answer { head: head.to_owned(), body: body.to_owned() }
    }

    /// The same with the token.
    fn get(&self, path: &str) -> Answer {
        self.asked(path, &format!("Authorization: Bearer {}\r\n", self.token))
    }

    /// The data of a page.
    fn data(&self, path: &str) -> Value {
        let answer = self.get(path);
        let (_, data) =
            answer.body.split_once("<script id=\"tautwire-data\" type=\"application/json\">").unwrap();
        serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Answer {
    head: String,
    body: String,
}

impl Answer {
    fn status(&self) -> &str {
        &self.head["HTTP/1.1 ".len()..][..3]
    }

    fn field(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// A folder with two runs of one network, of which the second has a longer payload.
fn two_runs(name: &str) -> std::path::PathBuf {
    let folder = folder(name);
    let text = fs::read_to_string(root().join("scenarios/two-stations.yaml")).unwrap();
    assert!(text.contains("payload: 100 B"), "{text}");
    for (run, text) in [("first", text.clone()), ("second", text.replace("payload: 100 B", "payload: 200 B"))]
    {
        let file = format!("{run}.yaml");
        fs::write(folder.join(&file), text).unwrap();
        let out = format!("runs/{run}");
        assert_eq!(tautwire(&folder, &["verify", &file, "--out", &out]).code, 0);
    }
    folder
}

#[test]
fn only_those_with_the_token_read_and_nothing_outside_of_the_folders() {
    let folder = two_runs("serve-token");
    fs::create_dir(folder.join("secret")).unwrap();
    fs::rename(folder.join("runs/second"), folder.join("secret/second")).unwrap();
    let server = Server::start(&folder, &["runs"]);
    assert!(server.address.starts_with("127.0.0.1:"));
    for path in ["/", "/index.json", "/run/0/first", "/compare?before=0/first&after=0/first", "/none"] {
        let refused = server.asked(path, "");
        assert_eq!((refused.status(), refused.body.contains("first")), ("401", false), "{path}");
    }
    assert_eq!(server.asked("/?token=wrong", "").status(), "403");
    // A browser: the address with the token leads to a cookie and the address without.
    let first = server.asked(&format!("/run/0/first?token={}", server.token), "");
    assert_eq!((first.status(), first.field("Location")), ("303", Some("/run/0/first")));
    let cookie = first.field("Set-Cookie").unwrap();
    assert!(cookie.contains("SameSite=Strict") && cookie.contains("HttpOnly"), "{cookie}");
    let fields = format!("Cookie: {}\r\n", cookie.split(';').next().unwrap());
    let report = server.asked("/run/0/first", &fields);
    assert_eq!(report.status(), "200");
    let policy = report.field("Content-Security-Policy").unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert_eq!(report.field("Referrer-Policy"), Some("no-referrer"));
    for path in [
        "/run/0/../../secret/second",
        "/run/0/..%2F..%2Fsecret%2Fsecond",
        "/run/0/%2e%2e",
        "/run/0/..%5csecret",
        "/run/1/first",
        "/run/-1/first",
        "/run/0/second",
        "/run/0/first/summary.json",
        "/run/0/",
        "/compare?before=0/first&after=0/../../secret/second",
        "/compare?before=0/first",
        "//etc/passwd",
        "/etc/passwd",
    ] {
        let refused = server.get(path);
        assert!(["400", "404"].contains(&refused.status()), "{path}: {}", refused.head);
    }
    let foreign = "Host: evil.example\r\n";
    let mut client = TcpStream::connect(&server.address).unwrap();
    write!(client, "GET /?token={} HTTP/1.1\r\n{foreign}\r\n", server.token).unwrap();
    let mut text = String::new();
    client.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 421 ") && !text.contains("Set-Cookie"), "{text}");
}

#[test]
fn runs_are_listed_shown_and_compared() {
    let folder = two_runs("serve-runs");
    fs::create_dir(folder.join("runs/damaged")).unwrap();
    fs::copy(folder.join("runs/first/manifest.json"), folder.join("runs/damaged/manifest.json")).unwrap();
    fs::create_dir(folder.join("runs/no-run")).unwrap();
    let server = Server::start(&folder, &["runs", "runs/second"]);
    let index = server.data("/");
    assert_eq!(index["page"], "index");
    let shown: Value = serde_json::from_str(&server.get("/index.json").body).unwrap();
    assert_eq!(index["shown"], shown);
    let runs = shown["folders"][0]["runs"].as_array().unwrap();
    let run = |name: &str| runs.iter().find(|run| run["name"] == name).unwrap();
    assert_eq!(runs.len(), 3, "{shown}");
    assert_eq!(run("first")["manifest"]["command"][0], "verify");
    assert_eq!(run("first")["verification"]["verdict"], "proven");
    let fault = run("damaged")["fault"].as_str().unwrap();
    assert!(fault.contains("summary.json"), "{fault}");
    assert_eq!(shown["folders"][1]["runs"][0]["name"], "second");
    // The report is the one that `report` writes, but for the way back.
    assert_eq!(tautwire(&folder, &["report", "runs/first"]).code, 0);
    let written = fs::read_to_string(folder.join("runs/first/report.html")).unwrap();
    let served = server.get("/run/0/first").body;
    assert_ne!(served, written);
    assert_eq!(served.replacen(",\"served\":true}</script>", "}</script>", 1), written);
    let damaged = server.get("/run/0/damaged");
    assert_eq!(damaged.status(), "500");
    assert!(damaged.body.contains("summary.json"), "{}", damaged.head);
    let compared = &server.data("/compare?before=0/first&after=1/second")["shown"];
    assert_eq!(compared["difference"]["description"][0]["before"], "100 B", "{compared}");
    let row = &compared["rows"][0];
    assert_eq!((&row["stream"], &row["change"]), (&"samples".into(), &"bound-greater".into()));
    assert!(row["before"]["bound_ps"].as_u64() < row["after"]["bound_ps"].as_u64());
    assert_eq!(compared["after"]["address"], "/run/1/second");
    // What comes and goes is seen without a new start.
    fs::rename(folder.join("runs/first"), folder.join("runs/third")).unwrap();
    assert_eq!(server.get("/run/0/first").status(), "404");
    assert_eq!(server.get("/run/0/third").status(), "200");
}

#[test]
fn wrong_use_is_named_and_a_signal_ends_it() {
    let folder = folder("serve-use");
    let ended = tautwire(&folder, &["serve", "none", "other", "--listen", "127.0.0.1:0"]);
    assert_eq!(ended.code, 2);
    assert!(
        ended.stderr.contains("none is no folder") && ended.stderr.contains("other is no folder"),
        "{}",
        ended.stderr
    );
    fs::write(folder.join("token"), "short\n").unwrap();
    let ended = tautwire(&folder, &["serve", "--listen", "127.0.0.1:0", "--token-file", "token"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("token: a token has 24 letters"), "{}", ended.stderr);
    fs::write(folder.join("token"), "0123456789abcdef01234567\n").unwrap();
    // Where runs go by default there is none yet.
    let mut server = Server::start(&folder, &["--token-file", "token"]);
    assert_eq!(server.token, "0123456789abcdef01234567");
    assert_eq!(server.get("/").status(), "200");
    let second = tautwire(&folder, &["serve", "--listen", &server.address]);
    assert_eq!(second.code, 3);
    let words = format!("cannot listen on {}: another process does. Port 0 takes a free one", server.address);
    assert!(second.stderr.contains(&words), "{}", second.stderr);
    let kill = std::process::Command::new("kill").arg(server.child.id().to_string()).status().unwrap();
    assert!(kill.success());
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}
