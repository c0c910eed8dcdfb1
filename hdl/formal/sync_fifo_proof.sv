// What is pushed into `sync_fifo` comes out once and in order, by induction.
//
// One word is followed, that of an arbitrary place of the sequence: it stands in the memory from its
// push to its pop, and it is what the output shows when it is the oldest. Assumed of the caller: no push
// when full, no pop when empty.

module sync_fifo_proof #(
  parameter int unsigned Width = 4,
  parameter int unsigned Depth = 4
) (
  input logic             clk_i,
  input logic             push_i,
  input logic             pop_i,
  input logic [Width-1:0] data_i
);

  localparam int unsigned PointerWidth = $clog2(Depth);

  logic             started_q = 1'b0;
  logic             full, valid;
  logic [Width-1:0] data;

  always_ff @(posedge clk_i) started_q <= 1'b1;

  sync_fifo #(.Width(Width), .Depth(Depth)) dut (
    .clk_i, .rst_ni(started_q), .push_i, .data_i, .full_o(full), .valid_o(valid), .data_o(data), .pop_i
  );

  // Words pushed and popped, modulo twice the depth.
  logic [PointerWidth:0] pushed_q, popped_q;

  always_ff @(posedge clk_i) begin
    pushed_q <= started_q ? pushed_q + (PointerWidth + 1)'(push_i) : '0;
    popped_q <= started_q ? popped_q + (PointerWidth + 1)'(pop_i) : '0;
  end

  // The followed place: any value, for ever. The word that was pushed there last.
  logic [PointerWidth:0] place_q;
  logic [Width-1:0]      word_q;
  logic                  stands;

  always_ff @(posedge clk_i) begin
    place_q <= place_q;
    if (push_i && pushed_q == place_q) word_q <= data_i;
  end
  assign stands = (PointerWidth + 1)'(place_q - popped_q) < (PointerWidth + 1)'(pushed_q - popped_q);

  always_comb begin
    if (started_q) begin
      NoPushWhenFull: assume (!(push_i && full));
      NoPopWhenEmpty: assume (!(pop_i && !valid));
      EveryPushCounts: assert (dut.write_q == pushed_q[PointerWidth-1:0]);
      EveryPopCounts: assert (dut.read_q == popped_q[PointerWidth-1:0]);
      WhatStandsThereIsCounted: assert (dut.count_q == (PointerWidth + 1)'(pushed_q - popped_q));
      HoldsNoMoreThanItsDepth: assert (
          (PointerWidth + 1)'(pushed_q - popped_q) <= (PointerWidth + 1)'(Depth));
      FullIsFull: assert (
          full == ((PointerWidth + 1)'(pushed_q - popped_q) == (PointerWidth + 1)'(Depth)));
      EmptyIsEmpty: assert (valid == (pushed_q != popped_q));
      TheWordStandsInTheMemory: assert (!stands || dut.mem[place_q[PointerWidth-1:0]] == word_q);
      TheWordComesOut: assert (!(valid && popped_q == place_q) || data == word_q);
    end
  end

endmodule
