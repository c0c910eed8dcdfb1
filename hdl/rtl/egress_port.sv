// Queues and transmission selection of one port (IEEE Std 802.1Q-2022, 8.6.6 to 8.6.8).
//
// A class has a queue per lane (reception port). Within a lane the order of arrival is kept, among the
// heads of the lanes the earliest eligibility time comes first, among equals the lowest lane; that is
// the order of eligibility times, because they never decrease within a lane. A class without shaping
// by eligibility uses lane 0 and its arrival time. The highest class whose chosen head is eligible,
// whose gate is open and whose credit, if it has a credit-based shaper, is not negative, is sent.
//
// The heads of one class are read in a cycle, so a head is seen at most `Classes` + 3 cycles after it
// became one or became eligible. Credit is exact: its unit is 8e-9 bit, what 1 bit/s earns in 8 ns.
//
// A frame that is still coming in may pass by the queues (`cut_*`): if nothing of its class waits, no
// frame may be sent in this cycle, and its class has an open gate and no credit-based shaper.
//
// Invariants: what is enqueued is sent once; no frame before its eligibility time; no frame of a
// shaped class at negative credit. Not here: the line (`gmii_tx.sv`), the frames (`packet_buffer.sv`).

module egress_port #(
  // Traffic classes and lanes; powers of two.
  parameter int unsigned Classes = 8,
  parameter int unsigned Lanes = 4,
  // Frames in a queue of one class and lane; a power of two.
  parameter int unsigned Depth = 32,
  parameter int unsigned CellWidth = 12,
  parameter int unsigned LengthWidth = 11,
  parameter int unsigned TimeWidth = 48,
  // portTransmitRate in bit/s, with a cycle of 8 ns.
  parameter int unsigned Rate = 1_000_000_000,
  // Dependent, not to be overridden.
  parameter int unsigned ClassWidth = $clog2(Classes),
  parameter int unsigned LaneWidth = $clog2(Lanes)
) (
  input  logic                                      clk_i,
  input  logic                                      rst_ni,
  input  logic [TimeWidth-1:0]                      now_i,

  // A frame; only where there is room in its queue.
  input  logic                                      enqueue_valid_i,
  output logic                                      enqueue_room_o,
  input  logic [ClassWidth-1:0]                     enqueue_class_i,
  input  logic [LaneWidth-1:0]                      enqueue_lane_i,
  input  logic [CellWidth-1:0]                      enqueue_cell_i,
  input  logic [LengthWidth-1:0]                    enqueue_octets_i,
  input  logic [TimeWidth-1:0]                      enqueue_eligible_i,

  // A frame that would be cut through, and whether it is.
  input  logic                                      cut_valid_i,
  input  logic [ClassWidth-1:0]                     cut_class_i,
  output logic                                      cut_ready_o,

  // The line is free from the next cycle on; a frame is sent; the line is busy with it.
  input  logic                                      line_ready_i,
  input  logic                                      line_busy_i,
  output logic                                      start_o,
  output logic [ClassWidth-1:0]                     start_class_o,
  output logic [CellWidth-1:0]                      start_cell_o,
  output logic [LengthWidth-1:0]                    start_octets_o,

  // Gates, credit-based shapers and their idleSlope in bit/s.
  input  logic [Classes-1:0]                        gate_open_i,
  input  logic [Classes-1:0]                        credit_based_i,
  input  logic [Classes-1:0][29:0]                  idle_slope_i,
  output logic [Classes-1:0][47:0]                  credit_o
);

  localparam int unsigned DepthWidth = $clog2(Depth);

  typedef struct packed {
    logic [TimeWidth-1:0]   eligible;
    logic [CellWidth-1:0]   first;
    logic [LengthWidth-1:0] octets;
  } entry_t;

  typedef struct packed {
    logic                   valid;
    logic [LaneWidth-1:0]   lane;
    logic [CellWidth-1:0]   first;
    logic [LengthWidth-1:0] octets;
  } candidate_t;

  function automatic logic earlier(input logic [TimeWidth-1:0] a, input logic [TimeWidth-1:0] b);
    logic [TimeWidth-1:0] difference;
    difference = a - b;
    return difference[TimeWidth-1];
  endfunction

  // --- Queues: rings in one memory per lane.

  logic [Lanes-1:0][Classes-1:0][DepthWidth:0] write_q, read_q;
  logic [Lanes-1:0][Classes-1:0]               filled;
  entry_t                                      head [Lanes];
  logic [ClassWidth-1:0]                       scan_q;
  logic                                        pop;
  logic [ClassWidth-1:0]                       pop_class;
  logic [LaneWidth-1:0]                        pop_lane;

  assign enqueue_room_o =
      (write_q[enqueue_lane_i][enqueue_class_i] ^ read_q[enqueue_lane_i][enqueue_class_i])
      != {1'b1, {DepthWidth{1'b0}}};

  for (genvar l = 0; l < Lanes; l++) begin : g_lane
    (* ram_style = "block" *)
    entry_t mem [Classes * Depth];
    entry_t word_q;
    logic   push;

    assign head[l] = word_q;
    assign push = enqueue_valid_i && enqueue_lane_i == LaneWidth'(l);

    always_ff @(posedge clk_i) begin
      if (push) begin
        mem[{enqueue_class_i, write_q[l][enqueue_class_i][DepthWidth-1:0]}] <=
            '{eligible: enqueue_eligible_i, first: enqueue_cell_i, octets: enqueue_octets_i};
      end
      word_q <= mem[{scan_q, read_q[l][scan_q][DepthWidth-1:0]}];
    end

    for (genvar c = 0; c < Classes; c++) begin : g_class
      assign filled[l][c] = write_q[l][c] != read_q[l][c];
      always_ff @(posedge clk_i) begin
        if (push && enqueue_class_i == ClassWidth'(c)) write_q[l][c] <= write_q[l][c] + 1'b1;
        if (pop && pop_class == ClassWidth'(c) && pop_lane == LaneWidth'(l)) begin
          read_q[l][c] <= read_q[l][c] + 1'b1;
        end
        if (!rst_ni) begin
          write_q[l][c] <= '0;
          read_q[l][c]  <= '0;
        end
      end
    end
  end

  // --- Scan: a class a cycle. What was read before its class lost a head is not used.

  logic                  read_live_q, best_live_q;
  logic [ClassWidth-1:0] read_class_q, best_class_q;
  logic [Lanes-1:0]      read_filled_q;
  logic                  best_filled_q;
  logic [LaneWidth-1:0]  best_lane, best_lane_q;
  entry_t                best, best_q;
  candidate_t            candidate_q [Classes];

  always_comb begin
    best = head[0];
    best_lane = '0;
    for (int unsigned l = 1; l < Lanes; l++) begin
      if (read_filled_q[l]
          && (!(|(read_filled_q & ((Lanes'(1) << l) - 1'b1)))
              || earlier(head[l].eligible, best.eligible))) begin
        best = head[l];
        best_lane = LaneWidth'(l);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    scan_q       <= scan_q + 1'b1;
    read_class_q <= scan_q;
    for (int unsigned l = 0; l < Lanes; l++) read_filled_q[l] <= filled[l][scan_q];
    best_class_q  <= read_class_q;
    best_filled_q <= |read_filled_q;
    best_lane_q   <= best_lane;
    best_q        <= best;
    read_live_q   <= !(pop && pop_class == scan_q);
    best_live_q   <= read_live_q && !(pop && pop_class == read_class_q);
    if (best_live_q) begin
      candidate_q[best_class_q] <= '{
        valid:  best_filled_q && !earlier(now_i, best_q.eligible),
        lane:   best_lane_q,
        first:  best_q.first,
        octets: best_q.octets
      };
    end
    if (pop) candidate_q[pop_class].valid <= 1'b0;
    if (!rst_ni) begin
      scan_q      <= '0;
      read_live_q <= 1'b0;
      best_live_q <= 1'b0;
      for (int unsigned c = 0; c < Classes; c++) candidate_q[c].valid <= 1'b0;
    end
  end

  // --- Selection.

  logic [Classes-1:0]    allowed, debt;
  logic [ClassWidth-1:0] chosen;
  logic [ClassWidth-1:0] sent_class_q;

  always_comb begin
    chosen = '0;
    for (int unsigned c = 0; c < Classes; c++) begin
      allowed[c] = candidate_q[c].valid && gate_open_i[c] && !(credit_based_i[c] && debt[c]);
      if (allowed[c]) chosen = ClassWidth'(c);
    end
  end

  logic [Classes-1:0] waiting;
  always_comb begin
    waiting = '0;
    for (int unsigned l = 0; l < Lanes; l++) waiting |= filled[l];
  end
  assign cut_ready_o = line_ready_i && !(|allowed) && !waiting[cut_class_i]
                       && gate_open_i[cut_class_i] && !credit_based_i[cut_class_i];

  assign start_o = line_ready_i && |allowed;
  assign start_class_o = chosen;
  assign start_cell_o = candidate_q[chosen].first;
  assign start_octets_o = candidate_q[chosen].octets;
  assign pop = start_o;
  assign pop_class = chosen;
  assign pop_lane = candidate_q[chosen].lane;

  always_ff @(posedge clk_i) begin
    if (start_o) sent_class_q <= chosen;
    else if (cut_valid_i && cut_ready_o) sent_class_q <= cut_class_i;
  end

  // --- Credit (8.6.8.2): falls while the class sends, rises while it waits or owes.

  for (genvar c = 0; c < Classes; c++) begin : g_credit
    logic signed [47:0] credit_q, earned;

    assign debt[c] = credit_q[47];
    assign credit_o[c] = credit_q;
    assign earned = credit_q + $signed({18'd0, idle_slope_i[c]});

    always_ff @(posedge clk_i) begin
      if (line_busy_i && sent_class_q == ClassWidth'(c)) credit_q <= earned - 48'(Rate);
      else if (waiting[c]) credit_q <= earned;
      else if (!debt[c] || !earned[47]) credit_q <= '0;
      else credit_q <= earned;
      if (!rst_ni || !credit_based_i[c]) credit_q <= '0;
    end
  end

`ifndef SYNTHESIS
  NoEnqueueWithoutRoom: assert property (@(posedge clk_i) disable iff (!rst_ni)
      enqueue_valid_i |-> enqueue_room_o);
  OnlyWhatIsThereIsSent: assert property (@(posedge clk_i) disable iff (!rst_ni)
      pop |-> filled[pop_lane][pop_class]);
  NothingIsSentInDebt: assert property (@(posedge clk_i) disable iff (!rst_ni)
      start_o && credit_based_i[chosen] |-> !debt[chosen]);
  NothingIsSentOnABusyLine: assert property (@(posedge clk_i) disable iff (!rst_ni)
      start_o |-> line_ready_i);
`endif

endmodule
