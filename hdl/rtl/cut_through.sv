// Cut-through: which port sends the frame of which port at once.
//
// A port that receives asks in one cycle, the port that would send is asked in the next, answers in the one after,
// and there the frame is begun if it still comes in. Of several that ask for one port the highest is heard.
//
// Invariant: a frame is begun by one port at most, because it asks for one alone.

module cut_through #(
  parameter int unsigned Ports = 4,
  parameter int unsigned ClassWidth = 3,
  parameter int unsigned CellWidth = 12,
  // Dependent, not to be overridden.
  parameter int unsigned PortWidth = $clog2(Ports)
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  // The buffer has cells for what is cut through.
  input  logic                             enough_i,
  // By reception port: for which port it asks, in which class; the frame still comes in; its first cell; it is begun.
  input  logic [Ports-1:0][Ports-1:0]      ask_i,
  input  logic [Ports-1:0][ClassWidth-1:0] class_i,
  input  logic [Ports-1:0]                 alive_i,
  input  logic [Ports-1:0][CellWidth-1:0]  cell_i,
  output logic [Ports-1:0]                 begun_o,
  // By transmission port: a question, in the next cycle its answer, and then whether the frame is begun.
  output logic [Ports-1:0]                 ask_valid_o,
  output logic [Ports-1:0][ClassWidth-1:0] ask_class_o,
  input  logic [Ports-1:0]                 ready_i,
  output logic [Ports-1:0]                 start_o,
  output logic [Ports-1:0][PortWidth-1:0]  start_source_o,
  output logic [Ports-1:0][CellWidth-1:0]  start_cell_o
);

  logic [Ports-1:0][PortWidth-1:0] ask_source_q, source_q;

  always_ff @(posedge clk_i) begin
    for (int unsigned e = 0; e < Ports; e++) begin
      ask_valid_o[e] <= 1'b0;
      for (int unsigned p = 0; p < Ports; p++) begin
        if (ask_i[p][e]) begin
          ask_valid_o[e]  <= 1'b1;
          ask_source_q[e] <= PortWidth'(p);
          ask_class_o[e]  <= class_i[p];
        end
      end
    end
    source_q <= ask_source_q;
    if (!rst_ni) ask_valid_o <= '0;
  end

  always_comb begin
    begun_o = '0;
    for (int unsigned e = 0; e < Ports; e++) begin
      start_o[e] = ready_i[e] && enough_i && alive_i[source_q[e]];
      start_cell_o[e] = cell_i[source_q[e]];
      if (start_o[e]) begun_o[source_q[e]] = 1'b1;
    end
  end
  assign start_source_o = source_q;

`ifndef SYNTHESIS
  OneStartAFrame: assert property (@(posedge clk_i) disable iff (!rst_ni) $countones(begun_o) == $countones(start_o));
`endif

endmodule
