//! What passes the check can be run.

#[test]
fn credit_is_charged_for_all_picoseconds_of_a_frame() {
    let text = super::text("credit-at-odd-rate.yaml");
    for rate in ["176 Mbit/s", "133 Mbit/s", "155_520 kbit/s", "100 Mbit/s", "9_953 Mbit/s"] {
        let text = text.replace("rate: 176 Mbit/s", &format!("rate: {rate}"));
        let (_, _, seen, found) = super::answer(&text);
        assert!(seen.streams[1].delivered > 0, "{rate}");
        assert!(found.contradictions.is_empty(), "{rate}: {:#?}", found.contradictions);
    }
}
