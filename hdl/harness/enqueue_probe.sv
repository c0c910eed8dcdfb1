// Reports frames on their way into the queues to the harness: every frame with the cycle in which its ports took or dropped it.
//
// Bound into `switch_fabric`; a port's queue has the frame a cycle later. Not here: the evaluation
// (`tests/selection.py`).

module enqueue_probe #(
  parameter int unsigned Ports = 4,
  parameter int unsigned ClassWidth = 3,
  parameter int unsigned PortWidth = 2,
  parameter int unsigned CellWidth = 12,
  parameter int unsigned LengthWidth = 11,
  parameter int unsigned TimeWidth = 48
) (
  input logic                   clk_i,
  input logic                   rst_ni,
  input logic [TimeWidth-1:0]   now_i,
  // The dispatch takes a frame from a reception port.
  input logic [Ports-1:0]                pop_i,
  input logic [Ports-1:0][CellWidth-1:0] pop_cell_i,
  // It comes to the queues.
  input logic [Ports-1:0]       taken_i,
  input logic [Ports-1:0]       dropped_i,
  input logic [ClassWidth-1:0]  class_i,
  input logic [PortWidth-1:0]   lane_i,
  input logic [CellWidth-1:0]   cell_i,
  input logic [LengthWidth-1:0] octets_i,
  input logic [TimeWidth-1:0]   eligible_i
);

  import "DPI-C" function void frame_enqueued(
      input int unsigned taken, input int unsigned dropped, input int unsigned class_, input int unsigned lane,
      input int unsigned source, input int unsigned octets, input longint unsigned eligible, input longint unsigned now);

  // Where the frame of a cell came in: unshaped classes have one lane for all.
  logic [PortWidth-1:0] source_q [2**CellWidth];

  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < Ports; p++) begin
      if (pop_i[p]) source_q[pop_cell_i[p]] <= PortWidth'(p);
    end
    if (rst_ni && (taken_i | dropped_i) != '0) begin
      frame_enqueued(32'(taken_i), 32'(dropped_i), 32'(class_i), 32'(lane_i), 32'(source_q[cell_i]), 32'(octets_i),
                     64'(eligible_i), 64'(now_i));
    end
  end

endmodule

bind switch_fabric enqueue_probe #(
  .Ports(Ports), .ClassWidth(ClassWidth), .PortWidth(PortWidth), .CellWidth(CellWidth), .LengthWidth(LengthWidth), .TimeWidth(TimeWidth)
) u_enqueue_probe (
  .clk_i, .rst_ni, .now_i(now_q), .pop_i(arrived_pop), .pop_cell_i(arrived_cell),
  .taken_i(enqueue_valid), .dropped_i(dropped), .class_i(enqueue_class), .lane_i(enqueue_lane), .cell_i(enqueue_cell),
  .octets_i(enqueue_octets), .eligible_i(enqueue_eligible)
);
