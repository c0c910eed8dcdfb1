//! The progress bar of a run: simulated time, rate and time to go; on a terminal only.

use std::time::Duration as Wall;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tautwire_workbench::Duration;

use crate::terminal::Terminal;

/// A bar over the simulated time of a run; shows nothing unless stderr is a terminal.
pub(crate) struct Progress {
    bar: ProgressBar,
    duration: Duration,
}

/// The bar counts microseconds: its arithmetic is on floats, and picoseconds lose nothing here.
const STEP: u64 = 1_000_000;

impl Progress {
    /// A bar for a run of this simulated time.
    pub(crate) fn new(terminal: Terminal, duration: Duration) -> Self {
        if !terminal.interactive {
            return Self { bar: ProgressBar::hidden(), duration };
        }
        let template =
            if terminal.colour { "{bar:24.cyan} {msg}{eta} to go" } else { "{bar:24} {msg}{eta} to go" };
        let style = ProgressStyle::with_template(template).expect("the template is constant and right");
        let style =
            if terminal.unicode { style.progress_chars("━╸─") } else { style.progress_chars("=>-") };
        let bar = ProgressBar::with_draw_target(
            Some(duration.as_ps() / STEP),
            ProgressDrawTarget::stderr_with_hz(10),
        );
        bar.set_style(style);
        Self { bar, duration }
    }

    /// A bar for a search row by row.
    pub(crate) fn of_rows(terminal: Terminal) -> Self {
        Self::new(terminal, Duration::from_us(0))
    }

    /// Moves on to so many rows of all.
    pub(crate) fn rows(&self, done: usize, all: usize) {
        self.bar.set_length(all as u64);
        self.bar.set_message(format!("worst runs: {done} of {all} rows, "));
        self.bar.set_position(done as u64);
    }

    /// Moves on to a simulated time at which so many frame-hops are done.
    pub(crate) fn advance(&self, time: Duration, frame_hops: u64) {
        let elapsed = self.bar.elapsed().max(Wall::from_millis(1)).as_millis();
        let rate = u128::from(frame_hops) * 1_000 / elapsed;
        let (done, end) = (seconds(time), seconds(self.duration));
        self.bar.set_message(format!("{done} of {end} simulated, {} frame-hops/s, ", scaled(rate)));
        self.bar.set_position(time.as_ps() / STEP);
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// `1.250 s`.
fn seconds(time: Duration) -> String {
    let ms = time.as_ps() / 1_000_000_000;
    format!("{}.{:03} s", ms / 1_000, ms % 1_000)
}

/// `5.2 M`.
fn scaled(rate: u128) -> String {
    match rate {
        0..1_000 => rate.to_string(),
        1_000..1_000_000 => format!("{}.{} k", rate / 1_000, rate / 100 % 10),
        _ => format!("{}.{} M", rate / 1_000_000, rate / 100_000 % 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_readable() {
        assert_eq!(seconds(Duration::from_us(1_250_400)), "1.250 s");
        assert_eq!([scaled(999), scaled(1_250), scaled(5_260_000)], ["999", "1.2 k", "5.2 M"]);
    }

    #[test]
    fn nothing_is_drawn_in_a_pipe() {
        let pipe = Terminal { interactive: false, colour: false, unicode: true, columns: 80 };
        let progress = Progress::new(pipe, Duration::from_s(1));
        progress.advance(Duration::from_ms(10), 1_000);
        assert!(progress.bar.is_hidden());
        progress.finish();
    }
}
