// The steps of `exact_table`, by induction: operations are issued one at a time, software before lookups
// before learning before ageing; what changes the table is alone on its way, so no bucket is read while
// another step is about to write it; a key is in at most one place, and in the bucket where it is looked
// for; learning neither overwrites nor moves what software wrote.
//
// Nothing is assumed of the callers.

module exact_table_proof #(
  parameter int unsigned Requesters = 8,
  parameter int unsigned Buckets = 4,
  parameter int unsigned KeyWidth = 4,
  parameter int unsigned ValueWidth = 1
) (
  input logic                                  clk_i,
  input logic [Requesters-1:0]                 lookup_valid_i,
  input logic [Requesters-1:0][KeyWidth-1:0]   lookup_key_i,
  input logic [Requesters-1:0]                 learn_valid_i,
  input logic [Requesters-1:0][KeyWidth-1:0]   learn_key_i,
  input logic [Requesters-1:0][ValueWidth-1:0] learn_value_i,
  input logic                                  write_valid_i,
  input logic                                  write_remove_i,
  input logic [KeyWidth-1:0]                   write_key_i,
  input logic [ValueWidth-1:0]                 write_value_i,
  input logic                                  age_tick_i
);

  localparam int unsigned Steps = 6;
  // The operations of the module.
  localparam logic [1:0] OpLookup = 2'd0;
  localparam logic [1:0] OpLearn  = 2'd1;
  localparam logic [1:0] OpWrite  = 2'd2;
  localparam logic [1:0] OpAge    = 2'd3;

  logic                  started_q = 1'b0;
  logic                  ready, hit, overflow, write_ready;
  logic [Requesters-1:0] answer_valid;
  logic [ValueWidth-1:0] answer_value;

  always_ff @(posedge clk_i) started_q <= 1'b1;

  exact_table #(
    .Requesters(Requesters), .Buckets(Buckets), .KeyWidth(KeyWidth), .ValueWidth(ValueWidth)
  ) dut (
    .clk_i, .rst_ni(started_q), .ready_o(ready),
    .lookup_valid_i, .lookup_key_i, .answer_valid_o(answer_valid), .answer_hit_o(hit),
    .answer_value_o(answer_value),
    .learn_valid_i, .learn_key_i, .learn_value_i, .overflow_o(overflow),
    .write_valid_i, .write_ready_o(write_ready), .write_remove_i, .write_key_i, .write_value_i, .age_tick_i
  );

  // Steps on their way that change the table, and those that remove though software did not ask.
  logic [Steps-1:0] changes, removes;
  logic [2:0]       taken;

  always_comb begin
    for (int unsigned k = 0; k < Steps; k++) begin
      changes[k] = dut.valid_q[k] && dut.step_q[k].op != OpLookup;
      removes[k] = dut.valid_q[k] && dut.step_q[k].remove && dut.step_q[k].op != OpWrite;
    end
    taken = 3'(dut.take_write) + 3'(dut.take_lookup) + 3'(dut.take_learn) + 3'(dut.take_age);
  end

  // What software has asked and was not taken.
  logic                  offered_q, remove_q, same;
  logic [KeyWidth-1:0]   key_q;
  logic [ValueWidth-1:0] value_q;

  assign same = {dut.offer_remove_q, dut.offer_key_q, dut.offer_value_q} == {remove_q, key_q, value_q};

  always_ff @(posedge clk_i) begin
    if (!started_q) offered_q <= 1'b0;
    else if (write_valid_i && write_ready) offered_q <= 1'b1;
    else if (dut.take_write) offered_q <= 1'b0;
    if (write_valid_i && write_ready) {remove_q, key_q, value_q} <= {write_remove_i, write_key_i, write_value_i};
  end

  // The memory: no key twice, each in its bucket, none aged away and still valid.
  typedef struct packed {
    logic                  valid;
    logic                  fixed;
    logic [1:0]            age;
    logic [KeyWidth-1:0]   key;
    logic [ValueWidth-1:0] value;
  } entry_t;

  localparam int unsigned BucketWidth = $clog2(Buckets);

  function automatic logic [BucketWidth-1:0] bucket_of(input logic [KeyWidth-1:0] key);
    logic [BucketWidth-1:0] folded;
    folded = '0;
    for (int unsigned k = 0; k < KeyWidth; k++) folded[k % BucketWidth] ^= key[k];
    return folded;
  endfunction

  entry_t [Buckets-1:0] a, b;
  logic                 twice, astray, stale;

  for (genvar n = 0; n < Buckets; n++) begin : g_bucket
    // With what was decided and is being written.
    assign a[n] = dut.write_a_q && dut.write_bucket_q == BucketWidth'(n) ? dut.new_a_q : dut.mem_a[n];
    assign b[n] = dut.write_b_q && dut.write_bucket_q == BucketWidth'(n) ? dut.new_b_q : dut.mem_b[n];
  end

  always_comb begin
    {twice, astray, stale} = '0;
    for (int unsigned n = 0; n < Buckets; n++) begin
      if (!dut.clearing_q || BucketWidth'(n) < dut.sweep_q) begin
        twice  |= a[n].valid && b[n].valid && a[n].key == b[n].key;
        astray |= (a[n].valid && (bucket_of(a[n].key) != BucketWidth'(n) || a[n].age == 2'd3))
                  || (b[n].valid && (bucket_of(b[n].key) != BucketWidth'(n) || b[n].age == 2'd3));
      end
    end
    for (int unsigned k = 1; k < Steps; k++) begin
      astray |= dut.valid_q[k] && dut.step_q[k].op != OpAge
                && dut.step_q[k].bucket != bucket_of(dut.step_q[k].key);
    end
    // A step that changes the table holds what stands there.
    stale = (changes[2] && (dut.a_read_q != a[dut.step_q[2].bucket] || dut.b_read_q != b[dut.step_q[2].bucket]))
        || (changes[3] && (dut.a_held_q != a[dut.step_q[3].bucket] || dut.b_held_q != b[dut.step_q[3].bucket]))
        || (changes[4] && (dut.a_pieces_q != a[dut.step_q[4].bucket] || dut.b_pieces_q != b[dut.step_q[4].bucket]
            || &dut.same_a_q != (dut.a_pieces_q.key == dut.step_q[4].key)
            || &dut.same_b_q != (dut.b_pieces_q.key == dut.step_q[4].key)))
        || (changes[5] && (dut.a_q != a[dut.last.bucket] || dut.b_q != b[dut.last.bucket]
            || dut.hit_a_q != (dut.a_q.valid && dut.a_q.key == dut.last.key)
            || dut.hit_b_q != (dut.b_q.valid && dut.b_q.key == dut.last.key)));
  end

  always_comb begin
    if (started_q) begin
      AKeyIsInOnePlace: assert (!twice);
      AKeyIsInItsBucket: assert (!astray);
      AChangeKnowsWhatStandsThere: assert (!stale);
      NothingMovesWhileItIsCleared: assert (
          !dut.clearing_q || (!dut.may_change_q && !dut.pick_lookup_q && !dut.pick_any_q && dut.valid_q == '0 && !dut.write_a_q && !dut.write_b_q));
      AWriteIsAlone: assert (!(dut.write_a_q || dut.write_b_q) || changes[Steps-1:1] == '0);
      OneOperationInACycle: assert (taken <= 3'd1);
      SoftwareIsFirst: assert (!dut.offer_q || !dut.may_change_q || (dut.take_write && taken == 3'd1));
      WhatSoftwareAsksWaits: assert (dut.offer_q == offered_q && (!dut.offer_q || same));
      ALookupWaitsForSoftwareAlone: assert (
          dut.clearing_q || !dut.pick_lookup_q || dut.take_lookup || dut.take_write);
      WhatIsTakenWasAsked: assert ((!dut.take_lookup || dut.lookup_q[dut.pick_q])
          && (!dut.take_learn || dut.learn_q[dut.pick_q]));
      WhatIsPickedWasAsked: assert ((!dut.pick_lookup_q || dut.lookup_q[dut.pick_q])
          && (!dut.pick_learn_q || dut.learn_q[dut.pick_q]) && dut.pick_q + 1'b1 == dut.turn_q);
      APickIsOne: assert (!(dut.pick_lookup_q && dut.pick_learn_q) && dut.pick_any_q == (dut.pick_lookup_q || dut.pick_learn_q)
          && (!dut.pick_any_q || dut.picked_q == Requesters'(1) << dut.pick_q));
      ChangesAreKnown: assert (dut.change_q == changes[Steps-3:0]
          && (!dut.may_change_q || changes[Steps-2:0] == '0));
      OneChangeOnItsWay: assert ((changes & (changes - 1'b1)) == '0);
      OnlySoftwareRemoves: assert (removes == '0);
      OnlyADecisionWrites: assert (!(dut.write_a || dut.write_b) || dut.clearing_q
          || (dut.decides && dut.last.op != OpLookup));
      OnePlaceIsWritten: assert (!(dut.write_a && dut.write_b) || dut.clearing_q
          || dut.last.op == OpAge || dut.last.remove);
      WhatSoftwareWroteStays: assert (!(dut.decides && dut.last.op == OpLearn)
          || (!(dut.write_a && dut.a_q.valid && dut.a_q.fixed)
              && !(dut.write_b && dut.b_q.valid && dut.b_q.fixed)));
    end
  end

endmodule
