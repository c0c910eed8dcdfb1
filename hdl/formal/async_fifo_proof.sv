// That `async_fifo` gives out what was put in, once and in order, by induction, for any edges of its two clocks: one of
// each at a time, both at once, one of them standing still.
//
// Assumed of the callers: no push when it is full, no pop when the reader sees nothing; both sides are reset together, until
// the reader has had an edge: the writer's clock may stand still meanwhile. That a flip-flop settles between two edges of the reader is not shown here; what it
// settles to is the pointer before or after a push, for only one bit of it changes, and both are among the edges.

module async_fifo_proof #(
  parameter int unsigned Width = 2,
  parameter int unsigned Depth = 4,
  // Dependent, not to be overridden.
  parameter int unsigned PointerWidth = $clog2(Depth)
) (
  input logic             write_clk_i,
  input logic             push_i,
  input logic [Width-1:0] data_i,
  input logic             read_clk_i,
  input logic             pop_i
);

  typedef logic [PointerWidth:0] pointer_t;

  logic             read_edge_q = 1'b0, released_q = 1'b0;
  pointer_t         level;
  logic [Width-1:0] data;

  always_ff @(posedge read_clk_i) begin
    read_edge_q <= 1'b1;
    if (read_edge_q) released_q <= 1'b1;
  end

  async_fifo #(.Width(Width), .Depth(Depth)) dut (
    .write_clk_i, .write_rst_ni(released_q), .push_i, .data_i,
    .read_clk_i, .read_rst_ni(released_q), .level_o(level), .data_o(data), .pop_i
  );

  // Every word as it was pushed.
  logic [Width-1:0] pushed_q [Depth];
  always_ff @(posedge write_clk_i) if (push_i) pushed_q[dut.write_q[PointerWidth-1:0]] <= data_i;

  // Words in the FIFO, and how many of them the registers of the reader tell of.
  pointer_t held, told, seen;
  assign held = dut.write_q - dut.read_q;
  assign told = dut.binary(dut.write_meta_q) - dut.read_q;
  assign seen = dut.binary(dut.write_seen_q) - dut.read_q;

  logic lost;
  always_comb begin
    lost = 1'b0;
    for (int unsigned k = 0; k < Depth; k++) begin
      lost |= pointer_t'(PointerWidth'(PointerWidth'(k) - dut.read_q[PointerWidth-1:0])) < held && dut.mem[k] != pushed_q[k];
    end
  end

  always_comb begin
    if (released_q) begin
      NoPushWhenFull: assume (!push_i || held != pointer_t'(Depth));
      NoPopWhenNothingIsSeen: assume (!pop_i || level != '0);
      NoMoreThanItsWords: assert (held <= pointer_t'(Depth));
      ThePointerIsGray: assert (dut.write_gray_q == (dut.write_q ^ (dut.write_q >> 1)));
      TheReaderIsBehindTheWriter: assert (told <= held && seen <= told);
      TheReaderSeesWhatIsThere: assert (level == seen);
      EveryWordIsKept: assert (!lost);
      TheOldestComesOut: assert (level == '0 || data == pushed_q[dut.read_q[PointerWidth-1:0]]);
    end else begin
      TheWriterIsResetAtOnce: assert (dut.write_q == '0 && dut.write_gray_q == '0);
      TheReaderIsResetByAnEdge: assert (!read_edge_q
          || (dut.read_q == '0 && dut.write_meta_q == '0 && dut.write_seen_q == '0));
    end
    ItIsReleasedBehindAnEdge: assert (!released_q || read_edge_q);
  end

endmodule
