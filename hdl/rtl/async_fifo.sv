// A FIFO between two clocks: pointers cross in Gray code, so that a reading of them is old and never wrong.
//
// Invariants: what is pushed is popped, once and in order; the level that the reader sees is at most what is there.
// Pushing a full FIFO is a fault of the caller, and an assertion says so. The writer's reset acts at once, for its clock may
// stand still; the reader's, on an edge of its clock, not later than the writer's and a cycle before it at most.

module async_fifo #(
  parameter int unsigned Width = 8,
  // Words; a power of two.
  parameter int unsigned Depth = 16,
  // Dependent, not to be overridden.
  parameter int unsigned PointerWidth = $clog2(Depth)
) (
  input  logic                  write_clk_i,
  input  logic                  write_rst_ni,
  input  logic                  push_i,
  input  logic [Width-1:0]      data_i,

  input  logic                  read_clk_i,
  input  logic                  read_rst_ni,
  // Words that are there, as far as this side knows; the oldest.
  output logic [PointerWidth:0] level_o,
  output logic [Width-1:0]      data_o,
  input  logic                  pop_i
);

  function automatic logic [PointerWidth:0] gray(input logic [PointerWidth:0] value);
    return value ^ (value >> 1);
  endfunction

  function automatic logic [PointerWidth:0] binary(input logic [PointerWidth:0] value);
    logic [PointerWidth:0] found;
    found = '0;
    for (int k = int'(PointerWidth); k >= 0; k--) found[k] = ^(value >> k);
    return found;
  endfunction

  logic [Width-1:0]      mem [Depth];
  logic [PointerWidth:0] write_q, write_next, read_q, write_gray_q;
  // The crossing: the pointer in Gray code through two registers, with nothing between them.
  (* async_reg = "true" *) logic [PointerWidth:0] write_meta_q, write_seen_q;

  assign write_next = write_q + (PointerWidth + 1)'(push_i);
  assign level_o = binary(write_seen_q) - read_q;
  assign data_o = mem[read_q[PointerWidth-1:0]];

  always_ff @(posedge write_clk_i) if (push_i) mem[write_q[PointerWidth-1:0]] <= data_i;

  always_ff @(posedge write_clk_i or negedge write_rst_ni) begin
    if (!write_rst_ni) begin
      write_q      <= '0;
      write_gray_q <= '0;
    end else begin
      write_q      <= write_next;
      write_gray_q <= gray(write_next);
    end
  end

  always_ff @(posedge read_clk_i) begin
    write_meta_q <= write_gray_q;
    write_seen_q <= write_meta_q;
    if (pop_i) read_q <= read_q + 1'b1;
    if (!read_rst_ni) begin
      write_meta_q <= '0;
      write_seen_q <= '0;
      read_q       <= '0;
    end
  end

`ifndef SYNTHESIS
  NoPopWhenEmpty: assert property (@(posedge read_clk_i) disable iff (!read_rst_ni) pop_i |-> level_o != '0);
  NeverTooFull: assert property (@(posedge read_clk_i) disable iff (!read_rst_ni)
      level_o <= (PointerWidth + 1)'(Depth));
`endif

endmodule
