// A FIFO of one clock. A word is at the output in the cycle after it was pushed.
//
// Invariants: what is pushed is popped, once and in order; pushing a full FIFO or popping an empty one
// is a fault of the caller, and an assertion says so.

module sync_fifo #(
  // Width of a word.
  parameter int unsigned Width = 8,
  // Words; a power of two, at least 2.
  parameter int unsigned Depth = 4
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             push_i,
  input  logic [Width-1:0] data_i,
  output logic             full_o,
  // The oldest word, where there is one.
  output logic             valid_o,
  output logic [Width-1:0] data_o,
  input  logic             pop_i
);

  localparam int unsigned PointerWidth = $clog2(Depth);

  logic [Width-1:0]      mem [Depth];
  logic [PointerWidth-1:0] write_q, read_q;

  // Words, and whether there are any.
  logic [PointerWidth:0] count_q;
  logic                  valid_q;

  assign valid_o = valid_q;
  assign full_o = count_q == (PointerWidth + 1)'(Depth);
  assign data_o = mem[read_q];

  always_ff @(posedge clk_i) begin
    if (push_i) mem[write_q] <= data_i;
  end

  always_ff @(posedge clk_i) begin
    if (push_i) write_q <= write_q + 1'b1;
    if (pop_i) read_q <= read_q + 1'b1;
    if (push_i && !pop_i) count_q <= count_q + 1'b1;
    if (pop_i && !push_i) count_q <= count_q - 1'b1;
    valid_q <= push_i || (valid_q && !(pop_i && count_q == (PointerWidth + 1)'(1)));
    if (!rst_ni) begin
      write_q <= '0;
      read_q  <= '0;
      count_q <= '0;
      valid_q <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  NoPushWhenFull: assert property (@(posedge clk_i) disable iff (!rst_ni) push_i |-> !full_o);
  NoPopWhenEmpty: assert property (@(posedge clk_i) disable iff (!rst_ni) pop_i |-> valid_o);
`endif

endmodule
