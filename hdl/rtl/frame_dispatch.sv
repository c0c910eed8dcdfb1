// From the ports' arrivals to the queues: a port in turn, to the ATS engine or past it where a frame is not shaped.
//
// A frame, or a decision of the engine, takes four cycles on its way into the queues: room asked for, its answer, put
// into the queues of all its ports at once, claimed in the buffer; the next one begins behind them. The engine decides about a frame in every
// sixth cycle at most, and decisions come first, so that one of them waits at most.
//
// A frame of a class for which too few cells are free is put into no queue: so low classes cannot take all cells from
// high ones. The cells of frames that are still coming in, and its own, are not free.
//
// Invariants: what is popped is claimed once, by as many readers as queues took it; a port that it is for and whose
// queue has no room, or that the limit of its class kept from it, is counted. Not here: the engine (`ats_engine.sv`), the queues (`egress_port.sv`).

module frame_dispatch #(
  parameter int unsigned Ports = 4,
  parameter int unsigned CellWidth = 12,
  parameter int unsigned LengthWidth = 11,
  parameter int unsigned TimeWidth = 48,
  parameter int unsigned SchedulerWidth = 12,
  parameter int unsigned Classes = 8,
  // Dependent, not to be overridden.
  parameter int unsigned ChainWidth = LengthWidth - 5,
  parameter int unsigned ClassWidth = $clog2(Classes),
  parameter int unsigned PortWidth = $clog2(Ports),
  parameter int unsigned CountWidth = $clog2(Ports + 1),
  parameter int unsigned TagWidth = CellWidth + ChainWidth + LengthWidth + Ports + ClassWidth + PortWidth
) (
  input  logic                                  clk_i,
  input  logic                                  rst_ni,
  // Something is between the arrivals and the queues.
  output logic                                  busy_o,

  // The oldest arrival of every port (`ingress_port.sv`).
  input  logic [Ports-1:0]                      arrived_valid_i,
  input  logic [Ports-1:0][CellWidth-1:0]       arrived_cell_i,
  input  logic [Ports-1:0][ChainWidth-1:0]      arrived_cells_i,
  input  logic [Ports-1:0][LengthWidth-1:0]     arrived_octets_i,
  input  logic [Ports-1:0][Ports-1:0]           arrived_ports_i,
  input  logic [Ports-1:0][ClassWidth-1:0]      arrived_class_i,
  input  logic [Ports-1:0][PortWidth-1:0]       arrived_lane_i,
  input  logic [Ports-1:0]                      arrived_keep_i,
  input  logic [Ports-1:0]                      arrived_shaped_i,
  input  logic [Ports-1:0][SchedulerWidth-1:0]  arrived_scheduler_i,
  input  logic [Ports-1:0][TimeWidth-1:0]       arrived_time_i,
  output logic [Ports-1:0]                      arrived_pop_o,

  // To the engine, and its decisions.
  output logic                                  frame_valid_o,
  input  logic                                  frame_ready_i,
  output logic [SchedulerWidth-1:0]             frame_scheduler_o,
  output logic [LengthWidth-1:0]                frame_octets_o,
  output logic [TimeWidth-1:0]                  frame_arrival_o,
  output logic [TagWidth-1:0]                   frame_tag_o,
  input  logic                                  decision_valid_i,
  input  logic [TagWidth-1:0]                   decision_tag_i,
  input  logic [TimeWidth-1:0]                  decision_eligible_i,
  input  logic                                  decision_discard_i,

  // To the queues of the ports; without the frame check sequence, which is not in the buffer.
  output logic [ClassWidth-1:0]                 enqueue_class_o,
  output logic [PortWidth-1:0]                  enqueue_lane_o,
  output logic [CellWidth-1:0]                  enqueue_cell_o,
  output logic [LengthWidth-1:0]                enqueue_octets_o,
  output logic [TimeWidth-1:0]                  enqueue_eligible_o,
  // In the cycle after the question.
  input  logic [Ports-1:0]                      room_i,
  // Classes for which too few cells are free.
  input  logic [Classes-1:0]                    scarce_i,
  output logic [Ports-1:0]                      enqueue_valid_o,
  // For one cycle: no room; the limit of the class.
  output logic [Ports-1:0]                      dropped_o,
  output logic [Ports-1:0]                      limited_o,

  // To the buffer.
  output logic                                  claim_valid_o,
  output logic [CellWidth-1:0]                  claim_cell_o,
  output logic [CountWidth-1:0]                 claim_readers_o,
  output logic [ChainWidth-1:0]                 claim_cells_o
);

  typedef struct packed {
    logic [CellWidth-1:0]   first;
    logic [ChainWidth-1:0]  cells;
    logic [LengthWidth-1:0] octets;
    logic [Ports-1:0]       ports;
    logic [ClassWidth-1:0]  class_;
    logic [PortWidth-1:0]   lane;
  } descriptor_t;

  // --- The next arrival.

  // Whose turn it is, also with one bit for every port.
  logic [PortWidth-1:0]      turn_q;
  logic [Ports-1:0]          turn_hot_q;
  logic                      item_valid_q, item_keep_q, item_shaped_q, item_gone, direct;
  descriptor_t               item_q;
  logic [SchedulerWidth-1:0] item_scheduler_q;
  logic [TimeWidth-1:0]      item_time_q;

  always_comb begin
    arrived_pop_o = arrived_valid_i & turn_hot_q & {Ports{!item_valid_q}};
  end

  assign frame_valid_o = item_valid_q && item_keep_q && item_shaped_q;
  assign frame_scheduler_o = item_scheduler_q;
  assign frame_octets_o = item_q.octets;
  assign frame_arrival_o = item_time_q;
  assign frame_tag_o = item_q;
  assign item_gone = direct || (frame_valid_o && frame_ready_i);

  always_ff @(posedge clk_i) begin
    turn_q       <= turn_q + 1'b1;
    turn_hot_q   <= {turn_hot_q[Ports-2:0], turn_hot_q[Ports-1]};
    item_valid_q <= item_valid_q ? !item_gone : arrived_valid_i[turn_q];
    if (!item_valid_q) begin
      item_q <= '{
        first:  arrived_cell_i[turn_q],
        cells:  arrived_cells_i[turn_q],
        octets: arrived_octets_i[turn_q],
        ports:  arrived_ports_i[turn_q],
        class_: arrived_class_i[turn_q],
        lane:   arrived_lane_i[turn_q]
      };
      item_keep_q      <= arrived_keep_i[turn_q];
      item_shaped_q    <= arrived_shaped_i[turn_q];
      item_scheduler_q <= arrived_scheduler_i[turn_q];
      item_time_q      <= arrived_time_i[turn_q];
    end
    if (!rst_ni) begin
      turn_q       <= '0;
      turn_hot_q   <= Ports'(1);
      item_valid_q <= 1'b0;
    end
  end

  // --- A decision waits until the way is free.

  logic                 decided_valid_q, decided_keep_q, decided_taken;
  descriptor_t          decided_q;
  logic [TimeWidth-1:0] decided_eligible_q;

  always_ff @(posedge clk_i) begin
    decided_valid_q <= decision_valid_i || (decided_valid_q && !decided_taken);
    if (decision_valid_i) begin
      decided_q          <= decision_tag_i;
      decided_eligible_q <= decision_eligible_i;
      decided_keep_q     <= !decision_discard_i;
    end
    if (!rst_ni) decided_valid_q <= 1'b0;
  end

  // --- Into the queues of all ports of the frame at once.

  logic [3:0]             step_q;
  logic                   free, keep_q, scarce_q;
  descriptor_t            way_q;
  logic [TimeWidth-1:0]   eligible_q;
  logic [LengthWidth-1:0] octets_q;
  logic [Ports-1:0]       wanted, taken_q;
  logic [CountWidth-1:0]  readers, readers_q;

  // Steps: question, room, queues, claim.
  assign free = step_q == '0;
  assign decided_taken = free && decided_valid_q;
  assign direct = free && !decided_valid_q && item_valid_q && !(item_keep_q && item_shaped_q);
  assign wanted = keep_q ? way_q.ports : '0;
  assign busy_o = item_valid_q || !free;

  always_comb begin
    readers = '0;
    for (int unsigned p = 0; p < Ports; p++) readers += CountWidth'(taken_q[p]);
  end

  always_ff @(posedge clk_i) begin
    step_q <= {step_q[2:0], decided_taken || direct};
    if (free) begin
      way_q      <= decided_valid_q ? decided_q : item_q;
      eligible_q <= decided_valid_q ? decided_eligible_q : item_time_q;
      keep_q     <= decided_valid_q ? decided_keep_q : item_keep_q;
    end
    octets_q  <= way_q.octets - LengthWidth'(4);
    scarce_q  <= scarce_i[way_q.class_];
    taken_q   <= step_q[1] && !scarce_q ? wanted & room_i : '0;
    dropped_o <= step_q[1] && !scarce_q ? wanted & ~room_i : '0;
    limited_o <= step_q[1] && scarce_q ? wanted : '0;
    readers_q <= readers;
    if (!rst_ni) begin
      step_q    <= '0;
      taken_q   <= '0;
      dropped_o <= '0;
      limited_o <= '0;
    end
  end

  assign enqueue_class_o = way_q.class_;
  assign enqueue_lane_o = way_q.lane;
  assign enqueue_cell_o = way_q.first;
  assign enqueue_octets_o = octets_q;
  assign enqueue_eligible_o = eligible_q;
  assign enqueue_valid_o = taken_q;
  assign claim_valid_o = step_q[3];
  assign claim_cell_o = way_q.first;
  assign claim_readers_o = readers_q;
  assign claim_cells_o = way_q.cells;

`ifndef SYNTHESIS
  NoDecisionIsLost: assert property (@(posedge clk_i) disable iff (!rst_ni)
      decision_valid_i |-> !decided_valid_q || decided_taken);
  OneOnTheWay: assert property (@(posedge clk_i) disable iff (!rst_ni) (step_q & (step_q - 1'b1)) == '0);
`endif

endmodule
