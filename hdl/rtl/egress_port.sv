// Queues and transmission selection of one port (IEEE Std 802.1Q-2022, 8.6.6 to 8.6.8).
//
// A class has a queue per lane (reception port). Within a lane the order of arrival is kept, among the
// heads of the lanes the earliest eligibility time comes first, among equals the lowest lane; that is
// the order of eligibility times, because they never decrease within a lane. A class without shaping
// by eligibility uses lane 0 and its arrival time. The highest class whose chosen head is eligible,
// whose gate is open and whose credit, if it has a credit-based shaper, is not negative, is sent.
//
// The heads of one class are read in a cycle and go through a pipeline of comparisons, two steps for every
// doubling of lanes, so a head is seen at most `Classes` + `Steps` + 1 cycles after it became one or became eligible.
// The choice among classes is made a cycle before the start. Gates and settings are those of a cycle before it.
// Credit is exact: its unit is 8e-9 bit, what 1 bit/s earns in 8 ns. It stays within 0.56 Mbit.
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

  // Whether there is room in a queue, as it was two cycles ago: between two frames of one queue there are three cycles.
  input  logic [ClassWidth-1:0]                     room_class_i,
  input  logic [LaneWidth-1:0]                      room_lane_i,
  output logic                                      room_o,
  // A frame; only where there is room in its queue.
  input  logic                                      enqueue_valid_i,
  input  logic [ClassWidth-1:0]                     enqueue_class_i,
  input  logic [LaneWidth-1:0]                      enqueue_lane_i,
  input  logic [CellWidth-1:0]                      enqueue_cell_i,
  input  logic [LengthWidth-1:0]                    enqueue_octets_i,
  input  logic [TimeWidth-1:0]                      enqueue_eligible_i,

  // A frame that would be cut through; in the next cycle whether it may, and whether it is.
  input  logic                                      cut_valid_i,
  input  logic [ClassWidth-1:0]                     cut_class_i,
  output logic                                      cut_ready_o,
  input  logic                                      cut_start_i,

  // The line would take a start in the next cycle; a frame is sent; the last cycle of the line with a frame, which
  // may be that of the next one's start.
  input  logic                                      line_ready_i,
  input  logic                                      line_last_i,
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
  // Steps of the scan: memory, register, two for every doubling of lanes, time.
  localparam int unsigned Levels = $clog2(Lanes);
  localparam int unsigned Best = 1 + 2 * Levels;
  localparam int unsigned Steps = Best + 2;

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

  // The candidate of every class, and the class that was chosen, one bit for each.
  candidate_t         candidate_q [Classes];
  logic [Classes-1:0] choice_q;

  // --- Queues: rings in one memory per lane.

  logic [Lanes-1:0][Classes-1:0][DepthWidth:0] write_q, read_q;
  logic [Lanes-1:0][Classes-1:0]               filled, filled_q, full_q;
  entry_t                                      head [Lanes];
  logic [ClassWidth-1:0]                       scan_q;
  logic                                        pop, popped_q;
  logic [ClassWidth-1:0]                       pop_class, popped_class_q;

  assign room_o = !full_q[room_lane_i][room_class_i];

  for (genvar l = 0; l < Lanes; l++) begin : g_lane
    // A place is read only when it was written before: a collision gives a word that nobody uses.
    (* ram_style = "block", no_rw_check *)
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
        if (pop && choice_q[c] && candidate_q[c].lane == LaneWidth'(l)) begin
          read_q[l][c] <= read_q[l][c] + 1'b1;
        end
        filled_q[l][c] <= filled[l][c];
        full_q[l][c]   <= (write_q[l][c] ^ read_q[l][c]) == {1'b1, {DepthWidth{1'b0}}};
        if (!rst_ni) begin
          write_q[l][c]  <= '0;
          read_q[l][c]   <= '0;
          filled_q[l][c] <= 1'b0;
          full_q[l][c]   <= 1'b0;
        end
      end
    end
  end

  // --- Scan: a class a cycle. Step 0 is what the memory gives, step 1 a register, then heads are compared in pairs
  // and the earlier ones go on, until one is left; the last step compares its time. What was read before its class
  // lost a head is not used.

  logic [Steps-1:0]                 live_q;
  logic [Steps-1:0][ClassWidth-1:0] class_q;
  // Of every step the heads that are left, at the lowest places, whether there are any, and their lanes.
  entry_t [Steps-1:0][Lanes-1:0]              entry, entry_q;
  logic [Steps-1:0][Lanes-1:0]                there, there_q;
  logic [Steps-1:0][Lanes-1:0][LaneWidth-1:0] lane, lane_q;
  // After a comparison: of every pair the second goes on.
  logic [Steps-1:0][Lanes-1:0]                second_q;
  logic                                       due_q;
  // Of what is in the last step, one bit for every class: it is of this class, and still waits.
  logic [Classes-1:0]                         last_live_q;

  always_comb begin
    {entry, there, lane} = {entry_q, there_q, lane_q};
    for (int unsigned l = 0; l < Lanes; l++) begin
      entry[0][l] = head[l];
      lane[0][l]  = LaneWidth'(l);
    end
  end

  always_ff @(posedge clk_i) begin
    scan_q     <= scan_q + 1'b1;
    class_q[0] <= scan_q;
    live_q[0]  <= !(pop && pop_class == scan_q) && !(popped_q && popped_class_q == scan_q);
    for (int unsigned k = 1; k < Steps; k++) begin
      class_q[k] <= class_q[k-1];
      live_q[k]  <= live_q[k-1] && !(pop && pop_class == class_q[k-1]);
    end
    for (int unsigned c = 0; c < Classes; c++) begin
      last_live_q[c] <= live_q[Best] && class_q[Best] == ClassWidth'(c) && !(pop && choice_q[c]);
    end
    popped_q       <= pop;
    popped_class_q <= pop_class;
    if (!rst_ni) begin
      scan_q   <= '0;
      live_q   <= '0;
      last_live_q <= '0;
      popped_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    entry_q  <= '0;
    lane_q   <= '0;
    there_q  <= '0;
    second_q <= '0;
    for (int unsigned l = 0; l < Lanes; l++) there_q[0][l] <= filled_q[l][scan_q];
    for (int unsigned k = 1; k < Steps; k++) begin
      // Odd steps from the third on choose, even ones compare, but for the last.
      if (k % 2 == 1 && k > 1 && k <= Best) begin
        for (int unsigned l = 0; l < Lanes >> (k / 2); l++) begin
          there_q[k][l] <= there[k-1][2*l] || there[k-1][2*l+1];
          entry_q[k][l] <= second_q[k-1][l] ? entry[k-1][2*l+1] : entry[k-1][2*l];
          lane_q[k][l]  <= second_q[k-1][l] ? lane[k-1][2*l+1] : lane[k-1][2*l];
        end
      end else begin
        there_q[k] <= there[k-1];
        entry_q[k] <= entry[k-1];
        lane_q[k]  <= lane[k-1];
      end
      if (k % 2 == 0 && k < Best) begin
        for (int unsigned l = 0; l < Lanes >> (k / 2); l++) begin
          second_q[k][l] <= there[k-1][2*l+1]
              && (!there[k-1][2*l] || earlier(entry[k-1][2*l+1].eligible, entry[k-1][2*l].eligible));
        end
      end
    end
  end

  // The time is as far as it has come here: a cycle old, so nothing is due early.
  logic [TimeWidth-1:0] now_q;

  always_ff @(posedge clk_i) begin
    now_q <= now_i;
    due_q <= there[Best][0] && !earlier(now_q, entry[Best][0].eligible);
    // What is due stays so until it is sent; an earlier one may take its place.
    for (int unsigned c = 0; c < Classes; c++) begin
      if (last_live_q[c] && due_q) begin
        candidate_q[c] <= '{
          valid:  1'b1,
          lane:   lane[Steps-1][0],
          first:  entry[Steps-1][0].first,
          octets: entry[Steps-1][0].octets
        };
      end
      if (pop && choice_q[c]) candidate_q[c].valid <= 1'b0;
      if (!rst_ni) candidate_q[c].valid <= 1'b0;
    end
  end

  // --- Selection: a choice, and in the next cycle the start.

  // Gates and shapers as they have come here from the registers: a cycle old.
  logic [Classes-1:0]    gate_q, credit_based_q;
  // Classes that owe, or may owe when they begin.
  logic [Classes-1:0]    allowed, stop_q;
  logic                  choice_valid_q, cut_choice_q;
  logic [ClassWidth-1:0] chosen, chosen_q, cut_class_q;

  always_comb begin
    chosen = '0;
    for (int unsigned c = 0; c < Classes; c++) begin
      allowed[c] = candidate_q[c].valid && gate_q[c] && !stop_q[c];
      if (allowed[c]) chosen = ClassWidth'(c);
    end
  end

  // Classes of which something waits, by the number of its frames.
  logic [Classes-1:0] waiting_q;

  for (genvar c = 0; c < Classes; c++) begin : g_waiting
    logic [DepthWidth+LaneWidth:0] count_q;
    logic                          more, less;
    assign more = enqueue_valid_i && enqueue_class_i == ClassWidth'(c);
    assign less = pop && choice_q[c];
    always_ff @(posedge clk_i) begin
      if (more && !less) count_q <= count_q + 1'b1;
      if (less && !more) count_q <= count_q - 1'b1;
      waiting_q[c] <= more || (waiting_q[c] && !(less && count_q == (DepthWidth + LaneWidth + 1)'(1)));
      if (!rst_ni) begin
        count_q      <= '0;
        waiting_q[c] <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    gate_q         <= gate_open_i;
    credit_based_q <= credit_based_i;
    choice_valid_q <= line_ready_i && |allowed && !choice_valid_q && !cut_choice_q;
    chosen_q       <= chosen;
    for (int unsigned c = 0; c < Classes; c++) choice_q[c] <= allowed[c] && chosen == ClassWidth'(c);
    cut_choice_q   <= cut_valid_i && line_ready_i && !(|allowed) && !choice_valid_q && !cut_choice_q
                      && !waiting_q[cut_class_i] && gate_q[cut_class_i] && !credit_based_q[cut_class_i];
    cut_class_q    <= cut_class_i;
    if (!rst_ni) begin
      choice_valid_q <= 1'b0;
      cut_choice_q   <= 1'b0;
    end
  end

  assign cut_ready_o = cut_choice_q;
  assign start_o = choice_valid_q;
  assign start_class_o = chosen_q;
  assign pop = start_o;
  assign pop_class = chosen_q;

  // By the choice, one bit for every class.
  always_comb begin
    start_cell_o = '0;
    start_octets_o = '0;
    for (int unsigned c = 0; c < Classes; c++) begin
      if (choice_q[c]) begin
        start_cell_o |= candidate_q[c].first;
        start_octets_o |= candidate_q[c].octets;
      end
    end
  end

  // --- Credit (8.6.8.2): falls while the class sends, rises while it waits or owes. What is left of it when
  // the class has nothing to send, and at the end of its last frame, is given up. Behind a closed gate it neither rises nor
  // is given up. A frame that would follow one of its class at once, with so little credit that it may be in debt when it
  // begins, is not chosen before that one's end.

  for (genvar c = 0; c < Classes; c++) begin : g_credit
    // What was left is given up a cycle later, in front of the sum: `none_q` says that the credit is zero.
    logic signed [47:0] left_q, changed;
    logic signed [31:0] slope_q, fall_q, rise_q, addend, send_slope;
    logic               mine_q, none_q, low;

    // Less than what four cycles take.
    assign low = mine_q && (none_q || left_q[47] || left_q[46:32] == '0 || !credit_based_q[c]);
    assign credit_o[c] = none_q ? '0 : left_q;
    // Whoever waits for long behind others earns no more than fits, and nobody owes more.
    assign addend = left_q[47:46] == {mine_q, !mine_q} ? '0 : mine_q ? fall_q : rise_q;
    assign send_slope = slope_q - 32'(Rate);
    assign changed = $signed(credit_o[c]) + 48'(addend);

    always_ff @(posedge clk_i) begin
      stop_q[c] <= credit_based_i[c] && (low || (changed[47] && credit_based_q[c]));
      // sendSlope, which never rises, and idleSlope while the gate is open.
      slope_q <= $signed({2'b00, idle_slope_i[c]});
      fall_q <= send_slope[31] ? send_slope : '0;
      rise_q <= gate_open_i[c] ? $signed({2'b00, idle_slope_i[c]}) : '0;
      mine_q <= (start_o && choice_q[c]) || (cut_start_i && cut_class_q == ClassWidth'(c)) || (mine_q && !line_last_i);
      left_q <= changed;
      none_q <= gate_q[c] && !waiting_q[c] && (!mine_q || line_last_i) && !changed[47];
      if (!rst_ni || !credit_based_q[c]) left_q <= '0;
      if (!rst_ni) begin
        mine_q <= 1'b0;
        slope_q <= '0;
        rise_q <= '0;
        fall_q <= '0;
      end
    end
  end

`ifndef SYNTHESIS
  NoEnqueueWithoutRoom: assert property (@(posedge clk_i) disable iff (!rst_ni)
      enqueue_valid_i |-> (write_q[enqueue_lane_i][enqueue_class_i] ^ read_q[enqueue_lane_i][enqueue_class_i])
                          != {1'b1, {DepthWidth{1'b0}}});
  OnlyWhatIsThereIsSent: assert property (@(posedge clk_i) disable iff (!rst_ni)
      pop |-> filled[candidate_q[pop_class].lane][pop_class]);
  NothingIsSentInDebt: assert property (@(posedge clk_i) disable iff (!rst_ni)
      start_o |-> !credit_o[chosen_q][47]);
  NothingIsSentOnABusyLine: assert property (@(posedge clk_i) disable iff (!rst_ni)
      start_o |-> $past(line_ready_i));
  OneStartAtATime: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !(start_o && cut_start_i) && (!cut_start_i || cut_ready_o));
`endif

endmodule
