// Proof of gate_control: edges leave in their order, each at its tick; every closing that lies ahead is in the ring of its class; a
// frame that fits ends before its gate closes, whatever comes behind it.
//
// The adder of the sequencer is any: of what it gives is assumed that an entry ends no sooner than it begins, and that after a
// change it ends behind the time of the sequencer at which the list was set. Times stay within half of their range.

module gate_control_proof #(
  parameter int unsigned Classes = 2,
  parameter int unsigned Entries = 2,
  parameter int unsigned TimeWidth = 8,
  parameter int unsigned TickBits = 1,
  parameter int unsigned Ahead = 2,
  parameter int unsigned Closings = 2,
  parameter int unsigned NearWidth = 7,
  parameter int unsigned LengthWidth = 2,
  parameter int unsigned Patience = 4,
  parameter int unsigned AskMax = 4,
  // Ticks of the longest frame, those of `Patience`, `AskMax`, and of the way from a question to the answer.
  parameter int unsigned Lead = 2 + Patience + AskMax + 4,
  // Dependent, not to be overridden.
  parameter int unsigned ClassWidth = $clog2(Classes),
  parameter int unsigned EntryWidth = $clog2(Entries)
) (
  input logic                   clk_i,
  input logic [TimeWidth-1:0]   now_i,
  input logic                   enable_i,
  input logic [Classes-1:0]     admin_i,
  input logic                   write_i,
  input logic [EntryWidth-1:0]  write_entry_i,
  input logic [1:0]             write_operation_i,
  input logic [Classes-1:0]     write_states_i,
  input logic [1:0]             write_interval_i,
  input logic                   change_i,
  input logic [EntryWidth-1:0]  last_entry_i,
  input logic [TimeWidth-1:0]   base_time_i,
  input logic [1:0]             cycle_time_i,
  input logic [1:0]             extension_i,
  input logic [ClassWidth-1:0]  ask_class_i,
  input logic [LengthWidth-1:0] ask_octets_i,
  input logic [Classes-1:0]     take_i,
  // A frame of a class starts, if it fits.
  input logic                   start_i,
  input logic [ClassWidth-1:0]  start_class_i
);

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  localparam int unsigned Tick = TimeWidth - TickBits;
  localparam logic [TimeWidth-1:0] Half = TimeWidth'(1) << (TimeWidth - 1);
  localparam int unsigned Count = $clog2(Ahead) + 1;
  typedef logic [Tick:0] tick_t;

  logic               ready, pending, set, error, hold, late;
  logic [TimeWidth-1:0] change_time, set_time;
  logic [Classes-1:0] open, fits;

  gate_control #(
    .Classes(Classes), .Entries(Entries), .TimeWidth(TimeWidth), .IntervalWidth(2), .TickBits(TickBits), .Lead(Lead),
    .Ahead(Ahead), .Closings(Closings), .EdgeWidth(Tick), .NearWidth(NearWidth), .LengthWidth(LengthWidth), .OctetNs(1),
    .Overhead(1), .Patience(Patience)
  ) dut (
    .clk_i, .rst_ni(started_q), .now_i, .enable_i, .admin_gate_states_i(admin_i),
    .ready_o(ready), .write_i, .write_entry_i, .write_operation_i, .write_states_i, .write_interval_i,
    .change_i, .last_entry_i, .base_time_i, .cycle_time_i, .extension_i,
    .pending_o(pending), .change_time_o(change_time), .set_o(set), .set_time_o(set_time), .error_o(error),
    .ask_class_i, .ask_octets_i, .take_i,
    .open_o(open), .fits_o(fits), .hold_o(hold), .late_o(late)
  );

  // States of the sequencer, by their numbers.
  localparam logic [4:0] StWait = 5'd0, StCross = 5'd1, StMin = 5'd10, StTick = 5'd11, StTrigger = 5'd12, StPut = 5'd13,
                         StClose = 5'd14, StPush = 5'd15, StTime = 5'd16, StSince = 5'd17, StCheck = 5'd21, StStep = 5'd22,
                         StMeet = 5'd23, StDivide = 5'd24, StTakeOver = 5'd6;
  logic waits, sets, in_hand;
  logic [4:0] state;
  assign state = dut.state_q;
  // At the end of an entry, or before it; what is done about a list that is set in the meantime; an entry that is got ready.
  assign sets  = state >= StTime && state != StMeet;
  assign waits = state == StWait || state == StCross || sets;

  // The time of this cycle, and that which the outputs have seen.
  tick_t now, seen;
  logic [TimeWidth-1:0] seen_q;
  assign now = tick_t'(dut.now_q >> TickBits);
  assign seen = tick_t'(seen_q >> TickBits);
  always_ff @(posedge clk_i) seen_q <= started_q ? dut.now_q : '0;

  // Whether the entry that is got ready is one that runs, and is looked at again behind a change; the time of that.
  logic  again_q;
  tick_t set_q;
  always_ff @(posedge clk_i) begin
    if (state == StMeet) again_q <= 1'b1;
    if (state == StWait || dut.off) again_q <= 1'b0;
    if (state == StTime) set_q <= now + tick_t'(Lead);
    if (!started_q) again_q <= 1'b0;
  end
  assign in_hand = state == StClose || state == StPush;

  // Cycles since the sequencer had nothing to do, up to more than all times.
  localparam tick_t BehindMost = tick_t'(Half >> TickBits) + tick_t'(2 * Lead);
  tick_t behind_q;
  logic  slow_q;
  always_ff @(posedge clk_i) begin
    behind_q <= (state == StWait && !dut.due) || dut.off ? '0 : behind_q == BehindMost ? behind_q : behind_q + 1'b1;
    slow_q <= !dut.off && started_q && (slow_q || behind_q >= tick_t'(Lead - 2));
    if (!started_q) behind_q <= '0;
  end

  // What comes next: nothing that is still to be put is sooner.
  logic  runs;
  tick_t front;
  assign runs = dut.runs_q || dut.pending_q;
  assign front = (again_q && !waits) || state == StMeet ? set_q + 1'b1 : waits ? tick_t'(dut.edge_q) : tick_t'(dut.begin_q);

  // The queue, from its head.
  logic [Count-1:0]            count;
  logic [Ahead-1:0]            there;
  tick_t [Ahead-1:0]           tick;
  logic [Ahead-1:0][Classes-1:0] states;
  tick_t                       last_tick;
  logic [Classes-1:0]          last_states;
  assign count = dut.push_q - dut.pop_q;

  always_comb begin
    last_tick = '0;
    last_states = dut.open_q;
    for (int unsigned k = 0; k < Ahead; k++) begin
      automatic logic [$clog2(Ahead)-1:0] place;
      place = $clog2(Ahead)'(dut.pop_q + Count'(k));
      there[k]  = Count'(k) < count;
      tick[k]   = tick_t'(dut.edges[place].tick);
      states[k] = dut.edges[place].states;
      if (there[k]) last_tick = tick[k];
      if (there[k]) last_states = states[k];
    end
  end

  // Of every class the closings that lie ahead: of the queue, and of an entry that is about to be put. First of all, whether there is one.
  typedef logic [$clog2(Ahead)+1:0] number_t;
  logic [Classes-1:0]               ahead, ring_wrong, put_already;
  tick_t [Classes-1:0]              first;

  always_comb begin
    ring_wrong = '0;
    ahead = '0;
    first = '0;
    for (int unsigned c = 0; c < Classes; c++) begin
      automatic number_t at;
      automatic logic    was_open;
      automatic logic [$clog2(Closings):0] known;
      automatic logic [$clog2(Closings)-1:0] place;
      at = '0;
      was_open = dut.open_q[c];
      put_already[c] = in_hand && dut.closing[c] && !(state == StClose && dut.todo_q[c]);
      for (int unsigned k = 0; k <= Ahead; k++) begin
        automatic logic  is_closing;
        automatic tick_t when_;
        is_closing = k == Ahead ? put_already[c] : there[k] && was_open && !states[k][c];
        when_ = k == Ahead ? tick_t'(dut.begin_q) : tick[k];
        if (k < Ahead && there[k]) was_open = states[k][c];
        place = $clog2(Closings)'(dut.ring_pop_q[c]) + $clog2(Closings)'(at);
        if (is_closing) begin
          ring_wrong[c] |= at >= number_t'(Closings)
              || dut.rings[{ClassWidth'(c), place}] != (NearWidth-TickBits)'(when_);
          if (!ahead[c]) first[c] = when_;
          ahead[c] = 1'b1;
          at = at + 1'b1;
        end
      end
      known = dut.ring_push_q[c] - dut.ring_pop_q[c];
      ring_wrong[c] |= at != number_t'(known);
    end
  end

  // A question: of which class, and when the closing that it found is.
  logic [ClassWidth-1:0] asked_q;
  tick_t                 found_q;
  logic [LengthWidth-1:0] octets_q;
  always_ff @(posedge clk_i) begin
    asked_q  <= ask_class_i;
    found_q  <= ahead[ask_class_i] ? first[ask_class_i] : tick_t'(dut.begin_q);
    octets_q <= ask_octets_i;
  end

  // What is taken: its closing, what it needs in ns, cycles since the question.
  tick_t [Classes-1:0]                close_q;
  logic [Classes-1:0][NearWidth-1:0]  need_q;
  logic [Classes-1:0][3:0]            age_q;
  always_ff @(posedge clk_i) begin
    for (int unsigned c = 0; c < Classes; c++) begin
      if (age_q[c] != '1) age_q[c] <= age_q[c] + 1'b1;
      if (take_i[c]) begin
        close_q[c] <= found_q;
        need_q[c]  <= NearWidth'(octets_q) + NearWidth'(1);
        age_q[c]   <= 4'd2;
      end
    end
  end

  // On which the answer of this cycle is based: what the frame needed, how old its question was.
  logic [Classes-1:0][NearWidth-1:0] fitted_q;
  logic [Classes-1:0][3:0]           fit_age_q;
  always_ff @(posedge clk_i) begin
    fitted_q  <= need_q;
    fit_age_q <= age_q;
  end

  // A frame that has started: until when its gate must be open.
  logic                   sent_q, starts;
  logic [ClassWidth-1:0]  sent_class_q;
  logic [TimeWidth:0]     until_q;
  logic [Classes-1:0]     answered;
  logic [Classes-1:0][TimeWidth:0] until_next;

  assign starts = start_i && answered[start_class_i];

  always_comb begin
    for (int unsigned c = 0; c < Classes; c++) begin
      answered[c] = fits[c] && fit_age_q[c] <= 4'(AskMax + 2) && !slow_q;
      until_next[c] = (TimeWidth + 1)'(seen_q) + (TimeWidth + 1)'(fitted_q[c]);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!sent_q || (TimeWidth + 1)'(dut.now_q) >= until_q) begin
      sent_q       <= starts;
      sent_class_q <= start_class_i;
      until_q      <= until_next[start_class_i];
    end
    if (dut.off || !started_q) sent_q <= 1'b0;
  end

  function automatic logic [TimeWidth:0] ns(input tick_t tick);
    return (TimeWidth + 1)'(tick) << TickBits;
  endfunction

  // What must not be, over all classes and places.
  logic disordered, behind_begin, too_far, missed, unsure, unseen, unfit, unfit_later, unlike;

  always_comb begin
    {disordered, behind_begin, too_far, missed, unsure, unseen, unfit, unfit_later, unlike} = '0;
    for (int unsigned k = 0; k < Ahead; k++) begin
      if (there[k]) begin
        if (k > 0) disordered |= tick[k] <= tick[k-1];
        disordered |= tick[k] >= front;
        behind_begin |= tick[k] > tick_t'(dut.begin_q);
        too_far |= tick[k] > now + tick_t'(Lead);
        missed |= tick[k] < now && !slow_q;
      end
    end
    for (int unsigned c = 0; c < Classes; c++) begin
      unlike |= dut.taken_q[c] && (need_q[c] == '0 || need_q[c] > NearWidth'(4));
      unlike |= dut.fits_q[c] && (fitted_q[c] == '0 || fitted_q[c] > NearWidth'(4));
      if (dut.taken_q[c] && dut.bounded_q[c]) begin
        unsure |= dut.latest_q[c] != NearWidth'(ns(close_q[c])) - need_q[c];
        // No later than the next closing, or over.
        unsure |= close_q[c] > now && close_q[c] > (ahead[c] ? first[c] : front);
        unsure |= close_q[c] > now + tick_t'(Lead);
        unsure |= !slow_q && age_q[c] != '1 && close_q[c] + tick_t'(age_q[c]) < now;
      end
      if (dut.taken_q[c] && !dut.bounded_q[c] && age_q[c] != '1) begin
        // A closing that came since the question is far, and so is one that is still to come.
        unseen |= behind_q >= tick_t'(Patience) + tick_t'(age_q[c]);
        unseen |= ahead[c] && first[c] + tick_t'(Patience) + tick_t'(age_q[c]) < now + tick_t'(Lead);
      end
      if (answered[c]) begin
        unfit |= ahead[c] && until_next[c] > ns(first[c]);
        unfit |= !ahead[c] && runs && until_next[c] > ns(front);
        unfit_later |= until_next[c] > (TimeWidth + 1)'(dut.now_q) + (TimeWidth + 1)'(4);
      end
    end
  end

  logic question_wrong;
  always_comb begin
    question_wrong = dut.need_q != NearWidth'(octets_q) + NearWidth'(1);
    if (dut.known_q && dut.usable_q) begin
      question_wrong |= dut.close_q != (NearWidth-TickBits)'(found_q) || found_q > now + tick_t'(Lead);
      question_wrong |= found_q > now && found_q > (ahead[asked_q] ? first[asked_q] : front);
      question_wrong |= !slow_q && found_q + 1'b1 < now;
    end else if (!dut.known_q) begin
      question_wrong |= behind_q > tick_t'(Patience);
      question_wrong |= ahead[asked_q] && (!in_hand || first[asked_q] != tick_t'(dut.begin_q));
    end
  end

  always_comb begin
    if (started_q) begin
      // What the callers do.
      TimeGoesOn: assume (now_i >= dut.now_q && now_i <= dut.now_q + TimeWidth'(1 << TickBits));
      TimesAreNear: assume (now_i < Half && dut.now_q < Half && front < tick_t'(Half >> TickBits)
          && set_q < tick_t'(Half >> TickBits) + tick_t'(Lead));
      OneFrameIsTaken: assume ((take_i & ~(Classes'(1) << asked_q)) == '0);
      // What is assumed of the adder.
      if (state == StPut && runs) begin
        AnEntryEndsNoSoonerThanItBegins: assume (again_q || !dut.runs_q || dut.edge_q >= dut.begin_q);
        AChangeIsAhead: assume (!again_q || tick_t'(dut.edge_q) > set_q);
        ATriggerIsTheLeadBefore: assume (tick_t'(dut.trigger_q) + tick_t'(Lead) == tick_t'(dut.edge_q));
      end

      TheTimeHasBeenSeen: assert (seen_q <= dut.now_q);

      // The sequencer.
      ItsStateIsOne: assert (state <= StDivide);
      ItIsBehindByItsCycles: assert (dut.behind_q == (behind_q > tick_t'(Patience) ? ($clog2(Patience + 1))'(Patience)
                                                      : ($clog2(Patience + 1))'(behind_q)));
      ItIsBehindByNoMore: assert (behind_q <= BehindMost);
      ATriggerStays: assert (!((waits || in_hand) && runs)
          || tick_t'(dut.trigger_q) + tick_t'(Lead) == tick_t'(dut.edge_q));
      AnEntryHasBegun: assert (!dut.runs_q || tick_t'(dut.begin_q) <= now + tick_t'(Lead));
      TheFrontIsAhead: assert (!runs || front + behind_q >= now + tick_t'(Lead));
      AListIsSetAhead: assert (state != StCheck || set_q + tick_t'(1) >= now + tick_t'(Lead));
      AListIsSetBehindTheBegin: assert (!(dut.runs_q && (state == StCheck || state == StMeet || again_q))
          || tick_t'(dut.begin_q) <= set_q);
      WhatRunsHasBeenPut: assert (!(dut.runs_q && (sets || state == StMeet || again_q)) || !dut.changed);
      WhatRunsHasTime: assert (!(dut.runs_q && waits && dut.changed) || dut.edge_q == dut.begin_q);
      AnEntryEndsBehindItsBegin: assert (!(dut.runs_q && waits) || dut.edge_q >= dut.begin_q);
      WhatIsPutRuns: assert (!in_hand || (dut.runs_q && !again_q && dut.edge_q > dut.begin_q));
      OnlyAnEntryThatRunsIsLookedAtAgain: assert (!again_q || state == StTakeOver || (state >= StMin && state <= StPut) || state == StWait);
      AnEntryIsLookedAtAgain: assert (dut.again_q == again_q || state == StWait);
      WithoutAListOnlyAChangeIsLookedAt: assert (dut.runs_q || waits || state == StMeet || again_q);
      AChangeComesNext: assert (!(state == StMeet || (again_q && !waits)) || dut.pending_q);
      TheFirstListBeginsACycle: assert (dut.runs_q || !dut.pending_q || state == StMeet
          || (dut.changes_q && (dut.is_last_q || state == StMin || state == StTakeOver)));
      AnEntryIsCrossedWhenItIsOver: assert (state != StCross || (runs && tick_t'(dut.edge_q) <= now + tick_t'(Lead)));
      NothingIsKnownWithoutAList: assert (dut.runs_q || (count == '0 && ahead == '0));

      // Queue and rings.
      NoMoreThanItsDepth: assert (count <= Count'(Ahead));
      AnEdgeFindsRoom: assert (!in_hand || count < Count'(Ahead));
      AClosingFindsRoom: assert (state != StClose
          || ((dut.todo_q & ~dut.closing) == '0 && dut.todo_q != '0 && (dut.todo_q & dut.ring_full) == '0));
      EdgesAreInOrder: assert (!disordered);
      NoEdgeIsBehindTheEntry: assert (!(dut.runs_q && (waits || state == StMeet || again_q)) || !behind_begin);
      NoEdgeIsTooFar: assert (!too_far);
      TheLastEdgeIsThatWhichWasPut: assert (last_states == dut.put_states_q);
      EveryClosingAheadIsInItsRing: assert (ring_wrong == '0);
      EachEdgeLeavesAtItsTick: assert (!missed);

      // Look-ahead.
      AQuestionFindsTheNextClosing: assert (!question_wrong);
      TheLatestStartIsBeforeTheNextClosing: assert (!unsure);
      AFrameIsThatOfItsQuestion: assert (!unlike);
      AnUnseenClosingIsFar: assert (!unseen);
      WhatFitsEndsBeforeItsGateCloses: assert (!unfit);
      WhatFitsIsNoLongerThanTheLongest: assert (!unfit_later);
      if (sent_q) begin
        AFrameIsNoLongerThanTheLongest: assert (until_q <= (TimeWidth + 1)'(dut.now_q) + (TimeWidth + 1)'(4));
        TheNextClosingIsBehindTheFrame: assert (!ahead[sent_class_q] || until_q <= ns(first[sent_class_q]));
        NoClosingToComeIsBeforeItsEnd: assert (ahead[sent_class_q] || !runs || until_q <= ns(front));
        ItsGateIsOpenUntilItsEnd: assert (dut.open_q[sent_class_q] || (TimeWidth + 1)'(seen_q) >= until_q);
      end
    end
  end

endmodule
