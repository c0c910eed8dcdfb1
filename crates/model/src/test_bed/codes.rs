//! The catalogue of faults of test beds.

pub(crate) use crate::text::codes::*;

codes! {
    /// A task that does not fit its station or its stream.
    TASK = "test::task";
    /// A message of a test that no task receives or sends, or that two tasks handle in the same way.
    TEST_MESSAGE = "test::message";
    /// Impossible clocks or limits of a test.
    TEST_SETTINGS = "test::settings";
}
