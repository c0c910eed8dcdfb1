//! The full applicant (IEEE Std 802.1Q-2022, Table 10-3): sends what its user declares often enough for every
//! participant to receive it.

/// State of an applicant. First letter: very anxious, anxious, quiet or leaving; second: active, passive, observer or new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Applicant {
    /// Very anxious observer: nothing declared, nothing received.
    #[default]
    Vo,
    /// Very anxious passive: declared, nothing sent.
    Vp,
    /// Very anxious new: declared as new, nothing sent.
    Vn,
    /// Anxious new: sent as new once.
    An,
    /// Anxious active: sent once.
    Aa,
    /// Quiet active: sent often enough.
    Qa,
    /// Leaving active: withdrawn, not sent yet.
    La,
    /// Anxious observer: received once from another participant (shared media).
    Ao,
    /// Quiet observer: received often enough from others.
    Qo,
    /// Anxious passive: declared, received once from another participant.
    Ap,
    /// Quiet passive: declared, received often enough from others.
    Qp,
    /// Leave-all observer: has to send that it declares nothing.
    Lo,
}

/// The events of an applicant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ApplicantEvent {
    /// Begin!
    Begin,
    /// New!: the user declares, as new.
    New,
    /// Join!: the user declares.
    Join,
    /// Lv!: the user withdraws.
    Lv,
    /// rNew!
    RNew,
    /// rJoinIn!
    RJoinIn,
    /// rIn!
    RIn,
    /// rJoinMt! or rMt!
    RMt,
    /// rLv!, rLA! or Re-declare!
    RLv,
    /// periodic!
    Periodic,
    /// tx!: an opportunity to send.
    Tx,
    /// txLA!: one that sends a leave-all with it.
    TxLa,
    /// txLAF!: a leave-all is sent and there is no room for this attribute.
    TxLaf,
}

/// The message of an applicant at an opportunity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sent {
    /// sN: New.
    New,
    /// sJ: `JoinIn` or `JoinMt`, as the registrar is.
    Join,
    /// s: `In` or `Mt`, as the registrar is.
    State,
    /// sL: Lv.
    Leave,
}

/// Transition and what is sent with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ApplicantStep {
    /// State after it.
    pub next: Applicant,
    /// Message, at an opportunity.
    pub sent: Option<Sent>,
    /// Whether the message may be left out (in brackets in the table).
    pub optional: bool,
}

impl Applicant {
    /// All states, in the order of the table.
    pub const ALL: [Self; 12] = [
        Self::Vo,
        Self::Vp,
        Self::Vn,
        Self::An,
        Self::Aa,
        Self::Qa,
        Self::La,
        Self::Ao,
        Self::Qo,
        Self::Ap,
        Self::Qp,
        Self::Lo,
    ];

    /// Whether the state requests an opportunity to send (note 6 of the table).
    #[must_use]
    pub const fn wants_to_send(self) -> bool {
        matches!(self, Self::Vn | Self::An | Self::Aa | Self::La | Self::Vp | Self::Ap | Self::Lo)
    }

    /// Whether the user declares the attribute.
    #[must_use]
    pub const fn is_declared(self) -> bool {
        matches!(self, Self::Vp | Self::Vn | Self::An | Self::Aa | Self::Qa | Self::Ap | Self::Qp)
    }

    /// Whether nothing would be lost if the applicant were forgotten (note 11).
    #[must_use]
    pub const fn is_idle(self) -> bool {
        matches!(self, Self::Vo | Self::Ao | Self::Qo)
    }

    /// The transition of an event. `point_to_point` is operPointToPointMAC of the port, `registered` whether
    /// the attribute's registrar is IN.
    #[must_use]
    pub const fn step(self, event: ApplicantEvent, point_to_point: bool, registered: bool) -> ApplicantStep {
        match event {
            ApplicantEvent::Tx => self.transmit(registered),
            ApplicantEvent::TxLa => self.transmit_leave_all(),
            ApplicantEvent::Begin
            | ApplicantEvent::New
            | ApplicantEvent::Join
            | ApplicantEvent::Lv
            | ApplicantEvent::RNew
            | ApplicantEvent::RJoinIn
            | ApplicantEvent::RIn
            | ApplicantEvent::RMt
            | ApplicantEvent::RLv
            | ApplicantEvent::Periodic
            | ApplicantEvent::TxLaf => {
                ApplicantStep { next: self.after(event, point_to_point), sent: None, optional: false }
            }
        }
    }

    /// Events at which nothing is sent.
    const fn after(self, event: ApplicantEvent, point_to_point: bool) -> Self {
        match (event, self) {
            (ApplicantEvent::Begin, _) => Self::Vo,
            (ApplicantEvent::New, Self::Vn | Self::An) => self,
            (ApplicantEvent::New, _) => Self::Vn,
            (ApplicantEvent::Join, Self::Vo | Self::Lo) => Self::Vp,
            (ApplicantEvent::Join, Self::La) => Self::Aa,
            (ApplicantEvent::Join, Self::Ao) => Self::Ap,
            (ApplicantEvent::Join, Self::Qo) => Self::Qp,
            (ApplicantEvent::Lv, Self::Vp) => Self::Vo,
            (ApplicantEvent::Lv, Self::Vn | Self::An | Self::Aa | Self::Qa) => Self::La,
            (ApplicantEvent::Lv, Self::Ap) => Self::Ao,
            (ApplicantEvent::Lv, Self::Qp) => Self::Qo,
            // Note 4: others share the medium only where it is not point-to-point.
            (ApplicantEvent::RJoinIn, Self::Vo) if !point_to_point => Self::Ao,
            (ApplicantEvent::RJoinIn, Self::Vp) if !point_to_point => Self::Ap,
            (ApplicantEvent::RJoinIn, Self::Aa) => Self::Qa,
            (ApplicantEvent::RJoinIn, Self::Ao) => Self::Qo,
            (ApplicantEvent::RJoinIn, Self::Ap) => Self::Qp,
            // Note 5: only on a point-to-point link is the receiver the only one that needs the message.
            (ApplicantEvent::RIn, Self::Aa) if point_to_point => Self::Qa,
            (ApplicantEvent::RMt | ApplicantEvent::Periodic, Self::Qa) => Self::Aa,
            (ApplicantEvent::RMt | ApplicantEvent::Periodic, Self::Qp) => Self::Ap,
            (ApplicantEvent::RMt, Self::Qo) => Self::Ao,
            (ApplicantEvent::RMt, Self::Lo) => Self::Vo,
            (ApplicantEvent::RLv | ApplicantEvent::TxLaf, Self::Vo | Self::Ao | Self::Qo) => Self::Lo,
            (ApplicantEvent::TxLaf, Self::La) => Self::Lo,
            (ApplicantEvent::RLv | ApplicantEvent::TxLaf, Self::An) => Self::Vn,
            (ApplicantEvent::RLv | ApplicantEvent::TxLaf, Self::Aa | Self::Qa | Self::Ap | Self::Qp) => {
                Self::Vp
            }
            _ => self,
        }
    }

    const fn transmit(self, registered: bool) -> ApplicantStep {
        match self {
            Self::Vp => sends(Self::Aa, Sent::Join),
            Self::Vn => sends(Self::An, Sent::New),
            // Note 8: once more if the peer's declaration was not received.
            Self::An => sends(if registered { Self::Qa } else { Self::Aa }, Sent::New),
            Self::Aa | Self::Ap => sends(Self::Qa, Sent::Join),
            Self::La => sends(Self::Vo, Sent::Leave),
            Self::Lo => sends(Self::Vo, Sent::State),
            Self::Qa => may_send(self, Sent::Join),
            Self::Vo | Self::Ao | Self::Qo | Self::Qp => may_send(self, Sent::State),
        }
    }

    const fn transmit_leave_all(self) -> ApplicantStep {
        match self {
            Self::Vo | Self::La | Self::Ao | Self::Qo | Self::Lo => may_send(Self::Lo, Sent::State),
            Self::Vp => sends(Self::Aa, Sent::State),
            Self::Vn => sends(Self::An, Sent::New),
            Self::An => sends(Self::Qa, Sent::New),
            Self::Aa | Self::Qa | Self::Ap | Self::Qp => sends(Self::Qa, Sent::Join),
        }
    }
}

const fn sends(next: Applicant, sent: Sent) -> ApplicantStep {
    ApplicantStep { next, sent: Some(sent), optional: false }
}

const fn may_send(next: Applicant, sent: Sent) -> ApplicantStep {
    ApplicantStep { next, sent: Some(sent), optional: true }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    /// Table 10-3, a line per event and a column per state; `-` leaves the state as it is. `p:` and `s:` begin lines that
    /// hold on point-to-point and on shared media alone, `in:` and `mt:` such of a registrar that is IN and of one that is not.
    const TABLE: &str = "
                  VO     VP     VN    AN    AA    QA     LA     AO     QO     AP    QP     LO
        Begin     VO     VO     VO    VO    VO    VO     VO     VO     VO     VO    VO     VO
        New       VN     VN     -     -     VN    VN     VN     VN     VN     VN    VN     VN
        Join      VP     -      -     -     -     -      AA     AP     QP     -     -      VP
        Lv        -      VO     LA    LA    LA    LA     -      -      -      AO    QO     -
        RNew      -      -      -     -     -     -      -      -      -      -     -      -
        p:RJoinIn -      -      -     -     QA    -      -      QO     -      QP    -      -
        s:RJoinIn AO     AP     -     -     QA    -      -      QO     -      QP    -      -
        p:RIn     -      -      -     -     QA    -      -      -      -      -     -      -
        s:RIn     -      -      -     -     -     -      -      -      -      -     -      -
        RMt       -      -      -     -     -     AA     -      -      AO     -     AP     VO
        RLv       LO     -      -     VN    VP    VP     -      LO     LO     VP    VP     -
        Periodic  -      -      -     -     -     AA     -      -      -      -     AP     -
        in:Tx     -[s]   AAsJ   ANsN  QAsN  QAsJ  -[sJ]  VOsL   -[s]   -[s]   QAsJ  -[s]   VOs
        mt:Tx     -[s]   AAsJ   ANsN  AAsN  QAsJ  -[sJ]  VOsL   -[s]   -[s]   QAsJ  -[s]   VOs
        TxLa      LO[s]  AAs    ANsN  QAsN  QAsJ  -sJ    LO[s]  LO[s]  LO[s]  QAsJ  QAsJ   -[s]
        TxLaf     LO     -      -     VN    VP    VP     LO     LO     LO     VP    VP     -";

    const EVENTS: [ApplicantEvent; 13] = [
        ApplicantEvent::Begin,
        ApplicantEvent::New,
        ApplicantEvent::Join,
        ApplicantEvent::Lv,
        ApplicantEvent::RNew,
        ApplicantEvent::RJoinIn,
        ApplicantEvent::RIn,
        ApplicantEvent::RMt,
        ApplicantEvent::RLv,
        ApplicantEvent::Periodic,
        ApplicantEvent::Tx,
        ApplicantEvent::TxLa,
        ApplicantEvent::TxLaf,
    ];

    fn outcome(from: Applicant, step: ApplicantStep) -> String {
        let next =
            if step.next == from { "-".to_string() } else { format!("{:?}", step.next).to_uppercase() };
        let sent = match step.sent {
            None => "",
            Some(Sent::New) => "sN",
            Some(Sent::Join) => "sJ",
            Some(Sent::State) => "s",
            Some(Sent::Leave) => "sL",
        };
        if step.optional { format!("{next}[{sent}]") } else { format!("{next}{sent}") }
    }

    #[test]
    fn every_transition_is_that_of_the_table() {
        let mut lines = TABLE.trim_start_matches('\n').lines();
        let columns: Vec<_> = lines.next().expect("a heading").split_whitespace().collect();
        assert_eq!(columns, Applicant::ALL.map(|state| format!("{state:?}").to_uppercase()));
        let mut seen = 0;
        for line in lines {
            let mut words = line.split_whitespace();
            let head = words.next().expect("an event");
            let (condition, name) = head.split_once(':').unwrap_or(("", head));
            let event = EVENTS.into_iter().find(|event| format!("{event:?}") == name).expect("an event");
            for (state, expected) in Applicant::ALL.into_iter().zip(words) {
                for (point_to_point, registered) in
                    [(false, false), (false, true), (true, false), (true, true)]
                {
                    let holds = match condition {
                        "p" => point_to_point,
                        "s" => !point_to_point,
                        "in" => registered,
                        "mt" => !registered,
                        _ => true,
                    };
                    if holds {
                        // Begin! names the state also where it stays.
                        let step = state.step(event, point_to_point, registered);
                        let found = outcome(state, step);
                        let begin = event == ApplicantEvent::Begin && step.next == Applicant::Vo;
                        assert!(found == expected || begin, "{name} in {state:?}: {found}, not {expected}");
                        seen += 1;
                    }
                }
            }
        }
        assert_eq!(seen, EVENTS.len() * Applicant::ALL.len() * 4, "every event in every state and condition");
    }
}
