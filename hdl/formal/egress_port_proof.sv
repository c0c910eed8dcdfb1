// What `egress_port` sends, by induction: the head of a queue of the highest class that may send, once,
// never before its eligibility time, never against a closed gate, never in debt.
//
// The rings of frames keep what they hold until it is sent; from the scan to the candidate every stage
// shows the head that still stands there, or is not live. Assumed of the caller: no frame without
// room, a line that is not ready while it is busy, and times in less than half of their range around now.

module egress_port_proof #(
  parameter int unsigned Classes = 8,
  parameter int unsigned Lanes = 4,
  parameter int unsigned Depth = 2,
  parameter int unsigned CellWidth = 2,
  parameter int unsigned LengthWidth = 2,
  parameter int unsigned TimeWidth = 8,
  // Dependent, not to be overridden.
  parameter int unsigned ClassWidth = $clog2(Classes),
  parameter int unsigned LaneWidth = $clog2(Lanes)
) (
  input logic                     clk_i,
  input logic [TimeWidth-1:0]     now_i,
  input logic                     enqueue_valid_i,
  input logic [ClassWidth-1:0]    enqueue_class_i,
  input logic [LaneWidth-1:0]     enqueue_lane_i,
  input logic [CellWidth-1:0]     enqueue_cell_i,
  input logic [LengthWidth-1:0]   enqueue_octets_i,
  input logic [TimeWidth-1:0]     enqueue_eligible_i,
  input logic                     cut_valid_i,
  input logic [ClassWidth-1:0]    cut_class_i,
  input logic                     cut_start_i,
  input logic                     line_ready_i,
  input logic                     line_last_i,
  input logic [Classes-1:0]       gate_open_i,
  input logic [Classes-1:0]       credit_based_i,
  input logic [Classes-1:0][29:0] idle_slope_i
);

  localparam int unsigned DepthWidth = $clog2(Depth);
  localparam logic [DepthWidth:0] Most = (DepthWidth + 1)'(Depth);
  // Times of the run lie below: no difference of two of them wraps.
  localparam logic [TimeWidth-1:0] Half = TimeWidth'(1) << (TimeWidth - 1);

  logic                           started_q = 1'b0;
  logic [TimeWidth-1:0]           now_q;
  logic                           room, start, cut_ready;
  logic [ClassWidth-1:0]          start_class;
  logic [CellWidth-1:0]           start_cell;
  logic [LengthWidth-1:0]         start_octets;
  logic [Classes-1:0][47:0]       credit;

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    now_q     <= now_i;
  end

  egress_port #(
    .Classes(Classes), .Lanes(Lanes), .Depth(Depth), .CellWidth(CellWidth), .LengthWidth(LengthWidth),
    .TimeWidth(TimeWidth)
  ) dut (
    .clk_i, .rst_ni(started_q), .now_i,
    .room_class_i(enqueue_class_i), .room_lane_i(enqueue_lane_i), .room_o(room),
    .enqueue_valid_i, .enqueue_class_i, .enqueue_lane_i, .enqueue_cell_i,
    .enqueue_octets_i, .enqueue_eligible_i,
    .cut_valid_i, .cut_class_i, .cut_ready_o(cut_ready), .cut_start_i,
    .line_ready_i, .line_last_i, .start_o(start), .start_class_o(start_class),
    .start_cell_o(start_cell), .start_octets_o(start_octets),
    .gate_open_i, .credit_based_i, .idle_slope_i, .credit_o(credit)
  );

  // The head of every queue.
  typedef struct packed {
    logic [TimeWidth-1:0]   eligible;
    logic [CellWidth-1:0]   first;
    logic [LengthWidth-1:0] octets;
  } entry_t;

  // Where the eligibility time begins in an entry.
  localparam int unsigned EligibleLeast = CellWidth + LengthWidth;

  entry_t [Lanes-1:0][Classes-1:0]         heads;
  // Frames whose time is in the other half of the range.
  logic [Lanes-1:0][Classes-1:0][Depth-1:0] far;

  for (genvar l = 0; l < Lanes; l++) begin : g_lane
    for (genvar c = 0; c < Classes; c++) begin : g_class
      assign heads[l][c] = dut.g_lane[l].mem[{ClassWidth'(c), dut.read_q[l][c][DepthWidth-1:0]}];
      for (genvar n = 0; n < Depth; n++) begin : g_place
        logic [DepthWidth-1:0] place;
        assign place = dut.read_q[l][c][DepthWidth-1:0] + DepthWidth'(n);
        assign far[l][c][n] =
            (DepthWidth + 1)'(n) < (DepthWidth + 1)'(dut.write_q[l][c] - dut.read_q[l][c])
            && dut.g_lane[l].mem[{ClassWidth'(c), place}][EligibleLeast+TimeWidth-1] != 1'b0;
      end
    end
  end

  // One frame, from its enqueueing to its sending: that of any place of any queue.
  logic [LaneWidth-1:0]  lane_q;
  logic [ClassWidth-1:0] class_q;
  logic [DepthWidth:0]   place_q;
  entry_t                frame_q, stored;
  logic                  waits;

  assign stored = stored_of(lane_q);
  assign waits = (DepthWidth + 1)'(place_q - dut.read_q[lane_q][class_q])
                 < (DepthWidth + 1)'(dut.write_q[lane_q][class_q] - dut.read_q[lane_q][class_q]);

  entry_t [Lanes-1:0] stored_in;
  for (genvar l = 0; l < Lanes; l++) begin : g_stored
    assign stored_in[l] = dut.g_lane[l].mem[{class_q, place_q[DepthWidth-1:0]}];
  end
  function automatic entry_t stored_of(input logic [LaneWidth-1:0] lane);
    return stored_in[lane];
  endfunction

  always_ff @(posedge clk_i) begin
    lane_q  <= lane_q;
    class_q <= class_q;
    place_q <= place_q;
    if (enqueue_valid_i && enqueue_lane_i == lane_q && enqueue_class_i == class_q
        && dut.write_q[lane_q][class_q] == place_q) begin
      frame_q <= '{eligible: enqueue_eligible_i, first: enqueue_cell_i, octets: enqueue_octets_i};
    end
  end

  // Of every step of the scan the lanes whose heads came into it. After `level` comparisons the place j holds the best of the lanes
  // l with l >> level == j; a comparison is made on the way to an even step, and its winners are in the next one.
  localparam int unsigned Levels = $clog2(Lanes);
  localparam int unsigned Best = 1 + 2 * Levels;
  localparam int unsigned Steps = Best + 2;
  logic [Steps-1:0][Lanes-1:0] among_q;

  function automatic int unsigned level_of(input int unsigned step);
    return step == 0 ? 0 : step > Best ? Levels : (step - 1) / 2;
  endfunction

  always_ff @(posedge clk_i) begin
    for (int unsigned l = 0; l < Lanes; l++) among_q[0][l] <= dut.filled_q[l][dut.scan_q];
    for (int unsigned k = 1; k < Steps; k++) among_q[k] <= among_q[k-1];
  end

  // The credit of every class: what a cycle adds is in its range; who owes, or may soon, is known.
  localparam logic signed [47:0] Rate = 48'sd1_000_000_000;
  logic [Classes-1:0] slope_wrong, short_unknown, debt_unknown, moved, begun_q;
  logic               began_q;

  for (genvar c = 0; c < Classes; c++) begin : g_credit
    assign slope_wrong[c] = 48'(dut.g_credit[c].slope_q) < 48'sd0 || 48'(dut.g_credit[c].slope_q) >= 48'sd1 <<< 30
        || (!dut.gate_q[c] && dut.g_credit[c].rise_q != '0)
        || 48'(dut.g_credit[c].rise_q) < 48'sd0 || 48'(dut.g_credit[c].rise_q) >= 48'sd1 <<< 30
        || 48'(dut.g_credit[c].fall_q) < -Rate || 48'(dut.g_credit[c].fall_q) > 48'sd0
        || dut.g_credit[c].left_q >= (48'sd1 <<< 46) + (48'sd1 <<< 30)
        || dut.g_credit[c].left_q < -(48'sd1 <<< 46) - Rate;
    assign debt_unknown[c] = dut.credit_based_q[c] && !dut.stop_q[c] && dut.g_credit[c].left_q[47];
    assign short_unknown[c] = (begun_q[c] && !began_q) || dut.g_credit[c].mine_q && !begun_q[c]
        && (dut.g_credit[c].none_q
            || (dut.credit_based_q[c] && !dut.stop_q[c] && dut.g_credit[c].left_q < (48'sd1 <<< 32) - Rate));
    // Behind a closed gate only a frame that is sent changes it.
    logic               stands_q;
    logic signed [47:0] stood_q;
    assign moved[c] = stands_q && $signed(credit[c]) != stood_q;
    always_ff @(posedge clk_i) begin
      stands_q   <= started_q && dut.credit_based_q[c] && !dut.gate_q[c] && !dut.g_credit[c].mine_q;
      stood_q    <= $signed(credit[c]);
      begun_q[c] <= started_q && ((start && dut.choice_q[c]) || (cut_start_i && dut.cut_class_q == ClassWidth'(c)));
    end
  end

  // What was in the cycle of a choice, which is that before the start.
  logic                  line_ready_q, enqueued_q, cut_open_q, cut_waits_q, allowed_none_q;
  logic [Classes-1:0]    allowed_q, gate_before_q;
  logic                  cut_waits;

  always_comb begin
    cut_waits = 1'b0;
    for (int unsigned l = 0; l < Lanes; l++) cut_waits |= dut.filled[l][cut_class_i];
  end

  always_ff @(posedge clk_i) begin
    line_ready_q   <= line_ready_i;
    enqueued_q     <= enqueue_valid_i;
    cut_open_q     <= dut.gate_q[cut_class_i] && !dut.credit_based_q[cut_class_i];
    cut_waits_q    <= cut_waits;
    allowed_q      <= dut.allowed;
    allowed_none_q <= dut.allowed == '0;
    gate_before_q  <= dut.gate_q;
    began_q        <= started_q && (start || cut_start_i);
  end

  // Frames of a class.
  logic [Classes-1:0] miscounted;

  for (genvar c = 0; c < Classes; c++) begin : g_count
    logic [DepthWidth+LaneWidth:0] frames;
    always_comb begin
      frames = '0;
      for (int unsigned l = 0; l < Lanes; l++) begin
        frames = frames + (DepthWidth + LaneWidth + 1)'((DepthWidth + 1)'(dut.write_q[l][c] - dut.read_q[l][c]));
      end
    end
    assign miscounted[c] = dut.g_waiting[c].count_q != frames || dut.waiting_q[c] != (frames != '0);
  end

  // What must not be, over all queues and steps.
  logic later_chosen, overfull, step_stale, step_lost, candidate_stale, candidate_early, higher_chosen;
  logic filled_late, choice_wrong, full;
  logic [LaneWidth-1:0]  lane, pop_lane;
  logic [ClassWidth-1:0] of_class;

  assign pop_lane = dut.candidate_q[start_class].lane;

  assign full = (DepthWidth + 1)'(dut.write_q[enqueue_lane_i][enqueue_class_i]
                                  - dut.read_q[enqueue_lane_i][enqueue_class_i]) == Most;

  always_comb begin
    {later_chosen, overfull, step_stale, step_lost, candidate_stale, candidate_early, higher_chosen} = '0;
    {filled_late, choice_wrong} = '0;
    lane = '0;
    of_class = '0;
    for (int unsigned k = 0; k < Steps; k++) begin
      of_class = dut.class_q[k];
      for (int unsigned l = 0; l < Lanes; l++) begin
        lane = dut.lane[k][l];
        if (dut.live_q[k] && dut.there[k][l]) begin
          step_stale |= !dut.filled[lane][of_class] || heads[lane][of_class] != dut.entry[k][l];
        end
        if (dut.live_q[k]) begin
          later_chosen |= among_q[k][l]
              && (!dut.there[k][l>>level_of(k)] || !dut.filled[l][of_class]
                  || heads[l][of_class].eligible < dut.entry[k][l>>level_of(k)].eligible);
        end
        if (level_of(k) == 0) begin
          step_lost |= dut.live_q[k] && (dut.there[k][l] != among_q[k][l] || dut.lane[k][l] != LaneWidth'(l));
        end
      end
      // A comparison that was made.
      if (k % 2 == 0 && k > 0 && k < Best) begin
        for (int unsigned j = 0; j < Lanes >> (k / 2); j++) begin
          step_lost |= dut.live_q[k] && dut.second_q[k][j] != (dut.there[k][2*j+1]
              && (!dut.there[k][2*j] || dut.entry[k][2*j+1].eligible < dut.entry[k][2*j].eligible));
        end
      end
    end
    for (int unsigned c = 0; c < Classes; c++) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        overfull |= (DepthWidth + 1)'(dut.write_q[l][c] - dut.read_q[l][c]) > Most;
        filled_late |= dut.filled_q[l][c] && !dut.filled[l][c]
                       && !(dut.popped_q && dut.popped_class_q == ClassWidth'(c));
      end
      if (dut.candidate_q[c].valid) begin
        candidate_stale |= !dut.filled[dut.candidate_q[c].lane][c]
            || heads[dut.candidate_q[c].lane][c].first != dut.candidate_q[c].first
            || heads[dut.candidate_q[c].lane][c].octets != dut.candidate_q[c].octets;
        candidate_early |= heads[dut.candidate_q[c].lane][c].eligible > now_q;
      end
      choice_wrong |= dut.choice_valid_q && (dut.choice_q[c] != (dut.chosen_q == ClassWidth'(c))
          || (dut.choice_q[c] && !dut.candidate_q[c].valid));
      higher_chosen |= dut.choice_valid_q && ClassWidth'(c) > dut.chosen_q && allowed_q[c];
    end
  end

  always_comb begin
    if (started_q) begin
      NoFrameWithoutRoom: assume (!enqueue_valid_i || !full);
      TimeGoesOn: assume (now_i >= now_q && now_i < Half && now_q < Half);
      TimesAreNear: assume (!enqueue_valid_i || enqueue_eligible_i < Half);
      ACutIsReady: assume (!cut_start_i || cut_ready);
      TheLineIsBusyAfterAStart: assume (!(began_q && line_ready_i));

      TheTimeIsThatOfTheLastCycle: assert (dut.now_q == now_q);
      SlopesAndCreditAreInTheirRange: assert (slope_wrong == '0);
      CreditStandsStillBehindAClosedGate: assert (moved == '0);
      WhoOwesIsKnown: assert (debt_unknown == '0);
      WhoMaySoonOweIsKnown: assert (short_unknown == '0);
      AFrameStaysUntilItIsSent: assert (!waits || stored == frame_q);
      NoQueueHoldsMoreThanItsDepth: assert (!overfull);
      RoomIsThereBetweenFrames: assert (!room || enqueued_q || !full);
      TimesInQueuesAreNear: assert (far == '0);
      FramesAreCounted: assert (miscounted == '0);
      AQueueIsSeenToRunEmpty: assert (!filled_late);
      WhatIsScannedIsAHead: assert (!step_stale);
      NoLaneIsLost: assert (!step_lost);
      TheBestIsTheEarliest: assert (!later_chosen);
      TheBestIsDue: assert (!(dut.live_q[Steps-1] && dut.due_q)
          || (dut.there[Steps-1][0] && dut.entry[Steps-1][0].eligible <= now_q));
      TheLastStepIsOfItsClass: assert (dut.last_live_q == (Classes'(dut.live_q[Steps-1]) << dut.class_q[Steps-1]));
      ACandidateIsAHead: assert (!candidate_stale);
      ACandidateIsEligible: assert (!candidate_early);
      AChoiceIsOne: assert (!choice_wrong);
      NoHigherClassMightHaveBeenChosen: assert (!higher_chosen);
      OneChoiceAtATime: assert (!(dut.choice_valid_q && cut_ready));

      if (cut_ready) begin
        ACutPassesNobodyInTheCycle: assert (!start && line_ready_q && allowed_none_q);
        ACutPassesNobodyOfItsClass: assert (!cut_waits_q);
        ACutHasAnOpenGate: assert (cut_open_q);
      end

      if (start) begin
        OnlyOnAFreeLine: assert (line_ready_q);
        WhatIsSentIsAHead: assert (dut.filled[pop_lane][start_class]
            && heads[pop_lane][start_class].first == start_cell
            && heads[pop_lane][start_class].octets == start_octets);
        NeverBeforeItsTime: assert (heads[pop_lane][start_class].eligible <= now_i);
        NeverAgainstAClosedGate: assert (gate_before_q[start_class]);
        NeverInDebt: assert (!credit[start_class][47]);
      end
    end
  end

endmodule
