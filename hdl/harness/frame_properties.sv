// Assertions about frames in the complete switch: none is lost without a counter, none overtakes another one on its path.
//
// Bound into `switch_fabric` in every run of the harness, with resets and register writes at any time. From reception to
// the dispatch a received frame is counted or comes there; from the dispatch every frame comes to the queues of all its
// ports or is counted there or by its scheduler group, those of a reception port and class in their order, shaped and
// not shaped ones apart; a port sends the frames that its queues took, in the order of its lanes. A frame that is cut through is on its
// line when it was received. Not here: which ones are cut through (`cut_through.sv`), the input of a line (`tests/`).

module frame_properties #(
  parameter int unsigned Ports = 4,
  parameter int unsigned Classes = 8,
  parameter int unsigned CellWidth = 12,
  parameter int unsigned ClassWidth = 3,
  parameter int unsigned PortWidth = 2
) (
  input logic                             clk_i,
  input logic                             rst_ni,
  // Counters of reception, and frames that the dispatch takes.
  input logic [Ports-1:0][31:0]           received_i,
  input logic [Ports-1:0][31:0]           short_i,
  input logic [Ports-1:0][31:0]           long_i,
  input logic [Ports-1:0][31:0]           check_i,
  input logic [Ports-1:0][31:0]           no_cell_i,
  input logic [Ports-1:0][31:0]           no_port_i,
  input logic [Ports-1:0][31:0]           not_member_i,
  input logic [Ports-1:0]                 cut_begun_i,
  input logic [Ports-1:0]                 pop_i,
  input logic [Ports-1:0]                 pop_keep_i,
  input logic [Ports-1:0]                 pop_shaped_i,
  input logic [Ports-1:0][CellWidth-1:0]  pop_cell_i,
  input logic [Ports-1:0][ClassWidth-1:0] pop_class_i,
  input logic [Ports-1:0][Ports-1:0]      pop_ports_i,
  // Frames at the queues, and those that ATS discards.
  input logic [Ports-1:0]                 taken_i,
  input logic [Ports-1:0]                 dropped_i,
  input logic [PortWidth-1:0]             lane_i,
  input logic [CellWidth-1:0]             cell_i,
  input logic                             discard_i,
  input logic [CellWidth-1:0]             discard_cell_i,
  // Frames that are sent.
  input logic [Ports-1:0]                 begin_i,
  input logic [Ports-1:0]                 begin_cut_i,
  input logic [Ports-1:0][CellWidth-1:0]  begin_cell_i
);

  // Frames between reception and dispatch, of a port: its FIFO, the register behind it, frames that are counted a cycle later.
  localparam int unsigned ReceivedMax = 12;
  // Longest time in which nothing comes out of a part with something in it.
  localparam int unsigned Patience = 1024;

  // A frame on its way, by its first cell.
  typedef struct packed {
    logic [PortWidth-1:0]  source;
    logic [ClassWidth-1:0] class_;
    logic                  shaped;
    logic [Ports-1:0]      ports;
    logic [15:0]           number;
  } way_t;
  typedef struct packed {
    logic                  there;
    logic [PortWidth-1:0]  lane;
    logic [PortWidth-1:0]  source;
    logic [ClassWidth-1:0] class_;
    logic [15:0]           number;
  } queued_t;

  way_t        way_q [2**CellWidth];
  queued_t     queued_q [Ports][2**CellWidth];
  // Numbers of the next ones, by reception port, class and kind, and by port, lane, reception port and class.
  logic [15:0] popped_q [Ports][Classes][2], resolved_q [Ports][Classes][2];
  logic [15:0] entered_q [Ports][Ports][Ports][Classes], left_q [Ports][Ports][Ports][Classes];
  logic [31:0] kept_q [Ports], flight [Ports];
  // The frame that comes in is cut through; those that were, and were good; what was counted a cycle before.
  logic        cut_q [Ports];
  logic [31:0] cut_good_q [Ports], received_q [Ports], bad_q [Ports], bad [Ports];
  logic [31:0] on_way_q, way_age_q, rest_age_q [Ports], rest_q [Ports];
  logic [Ports-1:0] kept_pop;
  way_t        way;

  assign kept_pop = pop_i & pop_keep_i;
  assign way = way_q[cell_i];

  for (genvar p = 0; p < Ports; p++) begin : g_flight
    assign bad[p] = short_i[p] + long_i[p] + check_i[p];
    assign flight[p] = received_i[p] - no_cell_i[p] - no_port_i[p] - not_member_i[p] - kept_q[p] - cut_good_q[p];
  end

  always_ff @(posedge clk_i) begin
    on_way_q  <= on_way_q + 32'($countones(kept_pop)) - 32'((taken_i | dropped_i) != '0) - 32'(discard_i);
    way_age_q <= on_way_q == '0 || (taken_i | dropped_i) != '0 || discard_i ? '0 : way_age_q + 1;
    for (int unsigned p = 0; p < Ports; p++) begin
      rest_q[p]     <= flight[p];
      rest_age_q[p] <= flight[p] == '0 || flight[p] != rest_q[p] ? '0 : rest_age_q[p] + 1;
      received_q[p] <= received_i[p];
      bad_q[p]      <= bad[p];
      // Its end is the next that is counted.
      cut_q[p] <= cut_begun_i[p] || (cut_q[p] && received_i[p] == received_q[p] && bad[p] == bad_q[p]);
      if (cut_q[p] && received_i[p] != received_q[p]) cut_good_q[p] <= cut_good_q[p] + 1;
      if (kept_pop[p]) begin
        kept_q[p] <= kept_q[p] + 1;
        way_q[pop_cell_i[p]] <= '{
          source: PortWidth'(p),
          class_: pop_class_i[p],
          shaped: pop_shaped_i[p],
          ports:  pop_ports_i[p],
          number: popped_q[p][pop_class_i[p]][pop_shaped_i[p]]
        };
        popped_q[p][pop_class_i[p]][pop_shaped_i[p]] <= popped_q[p][pop_class_i[p]][pop_shaped_i[p]] + 1;
        NoCellTwiceOnTheWay: assert (way_q[pop_cell_i[p]].ports == '0);
      end
      if (taken_i[p]) begin
        queued_q[p][cell_i] <= '{
          there:  1'b1,
          lane:   lane_i,
          source: way.source,
          class_: way.class_,
          number: entered_q[p][lane_i][way.source][way.class_]
        };
        entered_q[p][lane_i][way.source][way.class_] <= entered_q[p][lane_i][way.source][way.class_] + 1;
        NoCellTwiceInQueues: assert (!queued_q[p][cell_i].there);
      end
    end
    if ((taken_i | dropped_i) != '0) begin
      EveryPortTakesOrCounts: assert ((taken_i | dropped_i) == way.ports && (taken_i & dropped_i) == '0);
      // Numbers of those that ATS discards are left out.
      OrderToQueues: assert (16'(way.number - resolved_q[way.source][way.class_][way.shaped]) < 16'h8000);
      resolved_q[way.source][way.class_][way.shaped] <= way.number + 1;
      way_q[cell_i].ports <= '0;
    end
    if (discard_i) begin
      OnlyShapedAreDiscarded: assert (way_q[discard_cell_i].ports != '0 && way_q[discard_cell_i].shaped);
      way_q[discard_cell_i].ports <= '0;
    end
    for (int unsigned p = 0; p < Ports; p++) begin
      if (begin_i[p] && !begin_cut_i[p]) begin
        automatic queued_t place = queued_q[p][begin_cell_i[p]];
        OnlyQueuedAreSent: assert (place.there);
        OrderInQueues: assert (place.number == left_q[p][place.lane][place.source][place.class_]);
        left_q[p][place.lane][place.source][place.class_] <= place.number + 1;
        queued_q[p][begin_cell_i[p]].there <= 1'b0;
      end
    end
    if (!rst_ni) begin
      {on_way_q, way_age_q} <= '0;
      for (int unsigned k = 0; k < 2**CellWidth; k++) begin
        way_q[k] <= '0;
        for (int unsigned p = 0; p < Ports; p++) queued_q[p][k] <= '0;
      end
      for (int unsigned p = 0; p < Ports; p++) begin
        {kept_q[p], cut_q[p], cut_good_q[p], received_q[p], bad_q[p], rest_q[p], rest_age_q[p]} <= '0;
        for (int unsigned c = 0; c < Classes; c++) begin
          for (int unsigned k = 0; k < 2; k++) {popped_q[p][c][k], resolved_q[p][c][k]} <= '0;
          for (int unsigned l = 0; l < Ports; l++) begin
            for (int unsigned s = 0; s < Ports; s++) {entered_q[p][l][s][c], left_q[p][l][s][c]} <= '0;
          end
        end
      end
    end
  end

  for (genvar p = 0; p < Ports; p++) begin : g_received
    ReceivedIsCountedOrKept: assert property (@(posedge clk_i) disable iff (!rst_ni)
        flight[p] <= ReceivedMax && rest_age_q[p] < Patience);
  end
  NothingStaysOnTheWay: assert property (@(posedge clk_i) disable iff (!rst_ni) way_age_q < Patience);

endmodule

bind switch_fabric frame_properties #(
  .Ports(Ports), .Classes(Classes), .CellWidth(CellWidth), .ClassWidth(ClassWidth), .PortWidth(PortWidth)
) u_frame_properties (
  .clk_i, .rst_ni,
  .received_i(received_o), .short_i(received_short_o), .long_i(received_long_o), .check_i(received_check_o), .no_cell_i(dropped_no_cell_o), .no_port_i(dropped_no_port_o), .not_member_i(dropped_not_member_o),
  .cut_begun_i(cut_begun), .pop_i(arrived_pop), .pop_keep_i(arrived_keep), .pop_shaped_i(arrived_shaped),
  .pop_cell_i(arrived_cell), .pop_class_i(arrived_class), .pop_ports_i(arrived_ports),
  .taken_i(enqueue_valid), .dropped_i(dropped | limited), .lane_i(enqueue_lane), .cell_i(enqueue_cell),
  .discard_i(decision_valid && (decision_burst || decision_residence)), .discard_cell_i(decision_tag[TagWidth-1 -: CellWidth]),
  .begin_i(begins_q), .begin_cut_i(begins_cut_q), .begin_cell_i(begin_cell_q)
);
