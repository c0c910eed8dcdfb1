// What `cut_through` begins, by induction: a frame that still comes in, of the port that asked two cycles before, by
// one port alone, while there are cells enough.
//
// Assumed of the callers: a port asks for one port at a time; a port is ready when it was asked in the cycle before.

module cut_through_proof #(
  parameter int unsigned Ports = 4,
  parameter int unsigned ClassWidth = 3,
  parameter int unsigned CellWidth = 2,
  // Dependent, not to be overridden.
  parameter int unsigned PortWidth = $clog2(Ports)
) (
  input logic                             clk_i,
  input logic                             enough_i,
  input logic [Ports-1:0][Ports-1:0]      ask_i,
  input logic [Ports-1:0][ClassWidth-1:0] class_i,
  input logic [Ports-1:0]                 alive_i,
  input logic [Ports-1:0][CellWidth-1:0]  cell_i,
  input logic [Ports-1:0]                 ready_i
);

  logic                             started_q = 1'b0;
  logic [Ports-1:0]                 begun, ask_valid, start;
  logic [Ports-1:0][ClassWidth-1:0] ask_class;
  logic [Ports-1:0][PortWidth-1:0]  start_source;
  logic [Ports-1:0][CellWidth-1:0]  start_cell;

  always_ff @(posedge clk_i) started_q <= 1'b1;

  cut_through #(.Ports(Ports), .ClassWidth(ClassWidth), .CellWidth(CellWidth)) dut (
    .clk_i, .rst_ni(started_q), .enough_i, .ask_i, .class_i, .alive_i, .cell_i, .begun_o(begun),
    .ask_valid_o(ask_valid), .ask_class_o(ask_class), .ready_i,
    .start_o(start), .start_source_o(start_source), .start_cell_o(start_cell)
  );

  // What was asked in the last two cycles, and in what class.
  logic [Ports-1:0][Ports-1:0]      asked_q, asked_before_q;
  logic [Ports-1:0][ClassWidth-1:0] class_q;
  logic [Ports-1:0]                 valid_q;

  always_ff @(posedge clk_i) begin
    asked_q        <= started_q ? ask_i : '0;
    asked_before_q <= started_q ? asked_q : '0;
    class_q        <= class_i;
    valid_q        <= started_q ? ask_valid : '0;
  end

  logic several, several_asked, unasked, unheard, two, dead, other;
  logic [PortWidth-1:0] source;

  always_comb begin
    {several, several_asked, unasked, unheard, two, dead, other} = '0;
    source = '0;
    for (int unsigned p = 0; p < Ports; p++) begin
      several       |= (ask_i[p] & (ask_i[p] - 1'b1)) != '0;
      several_asked |= (asked_q[p] & (asked_q[p] - 1'b1)) != '0
                       || (asked_before_q[p] & (asked_before_q[p] - 1'b1)) != '0;
    end
    for (int unsigned e = 0; e < Ports; e++) begin
      for (int unsigned p = 0; p < Ports; p++) unheard |= asked_q[p][e] && !ask_valid[e];
      unasked |= ask_valid[e] && (!asked_q[dut.ask_source_q[e]][e]
                                  || ask_class[e] != class_q[dut.ask_source_q[e]]);
      unasked |= valid_q[e] && !asked_before_q[start_source[e]][e];
      source = start_source[e];
      dead  |= start[e] && !(alive_i[source] && enough_i && asked_before_q[source][e]);
      other |= start[e] && (!begun[source] || start_cell[e] != cell_i[source]);
      for (int unsigned f = 0; f < e; f++) two |= start[e] && start[f] && start_source[e] == start_source[f];
    end
  end

  always_comb begin
    if (started_q) begin
      APortAsksForOne: assume (!several);
      OnlyWhoWasAskedIsReady: assume ((ready_i & ~valid_q) == '0);

      OneWasAskedFor: assert (!several_asked);
      WhoAsksIsHeard: assert (!unheard);
      WhoIsAskedWasAskedFor: assert (!unasked);
      OnlyALiveFrameIsBegun: assert (!dead);
      WhatIsBegunIsToldToItsPort: assert (!other);
      OnePortBeginsAFrame: assert (!two);
    end
  end

endmodule
