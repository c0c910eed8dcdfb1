//! Per-stream filtering and policing: the scenario fails without it.

use super::answers;

/// The orders of the scenario keep their deadline, and it is proven, by the meter of a stream that babbles.
#[test]
fn the_meter_of_a_stream_that_babbles() {
    let text = include_str!("../../../../scenarios/filtering-and-policing.yaml");
    let (proven, _) = answers(text);
    assert!(proven, "the meter bounds what the sensor sends");
    let without = text.replace("flow-meter-enable: true", "flow-meter-enable: false");
    assert_eq!(
        answers(&without),
        (false, false),
        "an order is late without the meter, and nothing is proven"
    );
}
