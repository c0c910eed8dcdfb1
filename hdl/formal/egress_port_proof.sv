// What `egress_port` sends, by induction: the head of a queue of the highest class that may send, once,
// never before its eligibility time, never against a closed gate, never in debt.
//
// The rings of frames keep what they hold until it is sent; from the scan to the candidate every stage
// shows the head that still stands there, or is not live. Assumed of the caller: no frame without
// room, a line that is not ready while it is busy, and times in less than half of their range around now.

module egress_port_proof #(
  parameter int unsigned Classes = 4,
  parameter int unsigned Lanes = 2,
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
  input logic                     line_ready_i,
  input logic                     line_busy_i,
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
    .enqueue_valid_i, .enqueue_room_o(room), .enqueue_class_i, .enqueue_lane_i, .enqueue_cell_i,
    .enqueue_octets_i, .enqueue_eligible_i,
    .cut_valid_i, .cut_class_i, .cut_ready_o(cut_ready),
    .line_ready_i, .line_busy_i, .start_o(start), .start_class_o(start_class),
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

  // Lanes among which the best was chosen.
  logic [Lanes-1:0] among_q;

  always_ff @(posedge clk_i) among_q <= dut.read_filled_q;

  // What must not be, over all queues.
  logic later_chosen, cut_overtakes, overfull, read_stale, candidate_stale, candidate_early, higher_allowed;

  always_comb begin
    {later_chosen, cut_overtakes, overfull, read_stale, candidate_stale, candidate_early, higher_allowed} = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      cut_overtakes |= dut.filled[l][cut_class_i];
      later_chosen |= dut.best_live_q && among_q[l]
                      && heads[l][dut.best_class_q].eligible < dut.best_q.eligible;
    end
    for (int unsigned c = 0; c < Classes; c++) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        overfull |= (DepthWidth + 1)'(dut.write_q[l][c] - dut.read_q[l][c]) > Most;
        read_stale |= dut.read_live_q && dut.read_filled_q[l] && dut.read_class_q == ClassWidth'(c)
                      && !(dut.filled[l][c] && heads[l][c] == dut.head[l]);
      end
      if (dut.candidate_q[c].valid) begin
        candidate_stale |= !dut.filled[dut.candidate_q[c].lane][c]
            || heads[dut.candidate_q[c].lane][c].first != dut.candidate_q[c].first
            || heads[dut.candidate_q[c].lane][c].octets != dut.candidate_q[c].octets;
        candidate_early |= heads[dut.candidate_q[c].lane][c].eligible > now_q;
      end
      higher_allowed |= ClassWidth'(c) > start_class && dut.allowed[c];
    end
  end

  always_comb begin
    if (started_q) begin
      NoFrameWithoutRoom: assume (!enqueue_valid_i || room);
      TheLineIsOneThing: assume (!(line_ready_i && line_busy_i));
      TimeGoesOn: assume (now_i >= now_q && now_i < Half && now_q < Half);
      TimesAreNear: assume (!enqueue_valid_i || enqueue_eligible_i < Half);

      AFrameStaysUntilItIsSent: assert (!waits || stored == frame_q);
      NoQueueHoldsMoreThanItsDepth: assert (!overfull);
      TimesInQueuesAreNear: assert (far == '0);
      WhatIsReadIsAHead: assert (!read_stale);
      TheBestIsAHead: assert (!(dut.best_live_q && dut.best_filled_q)
          || (dut.filled[dut.best_lane_q][dut.best_class_q]
              && heads[dut.best_lane_q][dut.best_class_q] == dut.best_q));
      TheBestIsTheEarliest: assert (!later_chosen);
      ACandidateIsAHead: assert (!candidate_stale);
      ACandidateIsEligible: assert (!candidate_early);

      if (cut_ready) begin
        ACutPassesNobodyInTheCycle: assert (!start && line_ready_i);
        ACutPassesNobodyOfItsClass: assert (!cut_overtakes);
        ACutHasAnOpenGate: assert (gate_open_i[cut_class_i] && !credit_based_i[cut_class_i]);
      end

      if (start) begin
        OnlyOnAFreeLine: assert (line_ready_i);
        WhatIsSentIsAHead: assert (dut.filled[dut.pop_lane][start_class]
            && heads[dut.pop_lane][start_class].first == start_cell
            && heads[dut.pop_lane][start_class].octets == start_octets);
        NeverBeforeItsTime: assert (heads[dut.pop_lane][start_class].eligible <= now_i);
        NeverAgainstAClosedGate: assert (gate_open_i[start_class]);
        NeverInDebt: assert (!credit_based_i[start_class] || !credit[start_class][47]);
        NoHigherClassMaySend: assert (!higher_allowed);
      end
    end
  end

endmodule
