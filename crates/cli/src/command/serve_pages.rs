//! What `serve` shows under which address.
//!
//! | address | what |
//! |---|---|
//! | `/`, `/index.json` | the runs that there are |
//! | `/run/FOLDER/NAME` | the report of a run |
//! | `/live/FOLDER/NAME` | a run that goes on, or a bridge; behind it `/status.json`: its counts now |
//! | `/compare?before=FOLDER/NAME&after=FOLDER/NAME` | two runs side by side |
//!
//! FOLDER is the number of a folder of the command line. NAME is compared with the names that are there and never made a path, so no
//! address leads out of these folders.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use tautwire_workbench::{FolderList, ListedBridge, Page, RunFolder, RunList, SideBySide};

use super::serve_live;
use crate::http::{Answer, Request, encoded};

const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";

/// The pages.
#[derive(Debug)]
pub(super) struct Pages {
    folders: Vec<PathBuf>,
    runs: Mutex<RunList>,
    /// Reports are made one after the other: a large one takes much memory.
    making: Mutex<()>,
}

/// A page that says why something is not shown.
struct Fault {
    status: &'static str,
    title: String,
    words: String,
}

impl Fault {
    fn not_found(words: impl Into<String>) -> Self {
        Self { status: "404 Not Found", title: "Not here".to_owned(), words: words.into() }
    }
}

impl Pages {
    pub(super) fn new(folders: &[PathBuf]) -> Self {
        Self { folders: folders.to_owned(), runs: Mutex::default(), making: Mutex::default() }
    }

    pub(super) fn answer(&self, request: &Request) -> Answer {
        let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
        let answered = match path[..] {
            [""] => Ok(html("200 OK", &tautwire_workbench::page(&Page::Index(self.index())))),
            ["index.json"] => Ok(json_answer(&self.index())),
            ["run", folder, name] => self.report(folder, name),
            ["live", folder, name] => self.live(folder, name),
            ["live", folder, name, "status.json"] => self.live_now(folder, name, request.asked("begun")),
            ["compare"] => self.comparison(request),
            _ => Err(Fault::not_found("There is no such page.")),
        };
        let answer = answered.unwrap_or_else(|Fault { status, title, words }| {
            let shown = Page::Fault(json!({"title": title, "words": words}));
            html(status, &tautwire_workbench::page(&shown))
        });
        answer
            .with("Referrer-Policy", "no-referrer")
            .with("Cross-Origin-Resource-Policy", "same-origin")
            .with("Cross-Origin-Opener-Policy", "same-origin")
    }

    /// What is in a folder now.
    fn look(&self, number: usize) -> std::io::Result<FolderList> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).look(&self.folders[number])
    }

    fn index(&self) -> Value {
        let folder = |(number, path): (usize, &PathBuf)| {
            let (list, fault) = match self.look(number) {
                Ok(list) => (list, None),
                Err(error) if error.kind() == ErrorKind::NotFound => (FolderList::default(), None),
                Err(error) => (FolderList::default(), Some(format!("{}: {error}", path.display()))),
            };
            let FolderList { runs, running, bridges } = list;
            let bridge = |bridge: &ListedBridge| json!({"name": bridge.name, "written_s": bridge.written_s, "live": serve_live::is_recent(bridge.written_s)});
            let bridges: Vec<_> = bridges.iter().map(bridge).collect();
            let path = path.display().to_string();
            json!({"path": path, "runs": runs, "running": running, "bridges": bridges, "fault": fault})
        };
        json!({"folders": self.folders.iter().enumerate().map(folder).collect::<Vec<_>>()})
    }

    fn report(&self, folder: &str, name: &str) -> Result<Answer, Fault> {
        let place = self.place(folder, name)?;
        let _turn = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(html("200 OK", &tautwire_workbench::served_html(&read(name, &place)?)))
    }

    fn comparison(&self, request: &Request) -> Result<Answer, Fault> {
        let [before, after] = [self.side(request, "before")?, self.side(request, "after")?];
        let _turn = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        let [one, other] = [read(before.1, &before.0)?, read(after.1, &after.0)?];
        let shown = SideBySide::new((&one, before.1, &before.2), (&other, after.1, &after.2));
        Ok(html("200 OK", &tautwire_workbench::page(&Page::<Value>::Comparison(Box::new(shown)))))
    }

    /// A run to compare: its folder, name and address.
    fn side<'r>(&self, request: &'r Request, key: &str) -> Result<(PathBuf, &'r str, String), Fault> {
        let asked = request.asked(key).and_then(|side| side.split_once('/'));
        let (folder, name) =
            asked.ok_or_else(|| Fault::not_found("Two runs are needed: choose them in the list of runs."))?;
        Ok((self.place(folder, name)?, name, format!("/run/{}/{}", encoded(folder), encoded(name))))
    }

    fn live(&self, folder: &str, name: &str) -> Result<Answer, Fault> {
        let list = self.list(folder);
        match serve_live::page(&list, name, &live_address(folder, name)) {
            Some(shown) => Ok(html("200 OK", &tautwire_workbench::page(&Page::Live(shown)))),
            None => Err(Fault::not_found(format!("“{name}” is over: look for it in the list of runs."))),
        }
    }

    fn live_now(&self, folder: &str, name: &str, begun: Option<&str>) -> Result<Answer, Fault> {
        let (list, begun) = (self.list(folder), begun.and_then(|begun| begun.parse().ok()));
        Ok(json_answer(&serve_live::now(&list, name, begun, &live_address(folder, name))))
    }

    /// What is in the folder of this number; nothing if there is none.
    fn list(&self, folder: &str) -> FolderList {
        let number = folder.parse().ok().filter(|number: &usize| *number < self.folders.len());
        number.and_then(|number| self.look(number).ok()).unwrap_or_default()
    }

    /// The folder of a run that is listed.
    fn place(&self, folder: &str, name: &str) -> Result<PathBuf, Fault> {
        let listed = self.list(folder);
        let found = listed.runs.into_iter().find(|run| run.name == name);
        found
            .map(|run| run.path)
            .ok_or_else(|| Fault::not_found(format!("There is no run “{name}” any more.")))
    }
}

fn live_address(folder: &str, name: &str) -> String {
    format!("/live/{}/{}", encoded(folder), encoded(name))
}

fn read(name: &str, place: &std::path::Path) -> Result<RunFolder, Fault> {
    RunFolder::read(place).map_err(|error| Fault {
        status: "500 Internal Server Error",
        title: format!("{name} is damaged"),
        words: error.to_string(),
    })
}

fn html(status: &'static str, text: &str) -> Answer {
    let policy = tautwire_workbench::content_security_policy();
    Answer::new(status, HTML, text).with("Content-Security-Policy", policy)
}

fn json_answer(value: &Value) -> Answer {
    Answer::new("200 OK", JSON, format!("{value}\n"))
}
