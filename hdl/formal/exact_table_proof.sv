// The steps of `exact_table`, by induction: operations are issued one at a time, software before lookups
// before moves and learning before ageing; what changes the table is alone on its way, so no place is read while
// another step is about to write it; a key is in at most one place, the stash among them, and in a row where it is
// looked for; a step sees the stash as it was when it read the rows; what software wrote is nowhere overwritten, but
// by software, and goes to the stash when it gives way; what is refused changes nothing.
//
// Nothing is assumed of the callers.

module exact_table_proof #(
  parameter int unsigned Requesters = 8,
  parameter int unsigned Places = 8,
  parameter int unsigned KeyWidth = 4,
  parameter int unsigned ValueWidth = 1,
  parameter int unsigned MovesMax = 4
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

  localparam int unsigned Steps = 7;
  // The operations of the module.
  localparam logic [2:0] OpLookup = 3'd0;
  localparam logic [2:0] OpLearn  = 3'd1;
  localparam logic [2:0] OpWrite  = 3'd2;
  localparam logic [2:0] OpAge    = 3'd3;
  localparam logic [2:0] OpMove   = 3'd4;
  // States of what software asks.
  localparam logic [1:0] WrIdle   = 2'd0;
  localparam logic [1:0] WrOffer  = 2'd1;
  localparam logic [1:0] WrWork   = 2'd2;

  logic                  started_q = 1'b0;
  logic                  ready, hit, overflow, write_ready, write_refused;
  logic [Requesters-1:0] answer_valid;
  logic [ValueWidth-1:0] answer_value;

  always_ff @(posedge clk_i) started_q <= 1'b1;

  exact_table #(
    .Requesters(Requesters), .Places(Places), .KeyWidth(KeyWidth), .ValueWidth(ValueWidth), .MovesMax(MovesMax)
  ) dut (
    .clk_i, .rst_ni(started_q), .ready_o(ready),
    .lookup_valid_i, .lookup_key_i, .answer_valid_o(answer_valid), .answer_hit_o(hit),
    .answer_value_o(answer_value),
    .learn_valid_i, .learn_key_i, .learn_value_i, .overflow_o(overflow),
    .write_valid_i, .write_ready_o(write_ready), .write_refused_o(write_refused), .write_remove_i, .write_key_i, .write_value_i, .age_tick_i
  );

  // Steps on their way that change the table, and those that remove though software did not ask.
  logic [Steps-1:0] changes, removes;
  logic [2:0]       taken;

  always_comb begin
    for (int unsigned k = 0; k < Steps; k++) begin
      changes[k] = dut.valid_q[k] && dut.step_q[k].op != OpLookup;
      removes[k] = dut.valid_q[k] && dut.step_q[k].remove && dut.step_q[k].op != OpWrite;
    end
    taken = 3'(dut.take_write) + 3'(dut.take_lookup) + 3'(dut.take_move) + 3'(dut.take_learn) + 3'(dut.take_age);
  end

  // What software has asked: it waits, or is on its way.
  logic                  offered_q, working_q, remove_q, same, writes;
  logic [KeyWidth-1:0]   key_q;
  logic [ValueWidth-1:0] value_q;

  assign same = {dut.offer_remove_q, dut.offer_key_q, dut.offer_value_q} == {remove_q, key_q, value_q};

  always_ff @(posedge clk_i) begin
    if (!started_q) {offered_q, working_q} <= '0;
    else begin
      if (write_valid_i && dut.write_q == WrIdle) offered_q <= 1'b1;
      else if (dut.take_write) offered_q <= 1'b0;
      if (dut.take_write) working_q <= 1'b1;
      else if (dut.decides && dut.last.op == OpWrite) working_q <= 1'b0;
    end
    if (write_valid_i && dut.write_q == WrIdle) {remove_q, key_q, value_q} <= {write_remove_i, write_key_i, write_value_i};
  end

  always_comb begin
    writes = 1'b0;
    for (int unsigned k = 0; k < Steps; k++) writes |= dut.valid_q[k] && dut.step_q[k].op == OpWrite;
  end

  // The memory: no key twice, each in one of its rows.
  typedef struct packed {
    logic                  valid;
    logic                  fixed;
    logic [2:0]            tick;
    logic [KeyWidth-1:0]   key;
    logic [ValueWidth-1:0] value;
  } entry_t;

  localparam int unsigned Ways = 4;
  localparam int unsigned Rows = Places / Ways;
  localparam int unsigned RowWidth = $clog2(Rows);

  // The CRC of a key, bit by bit, and the rows that it is mapped to.
  function automatic logic [31:0] crc_of(input logic [KeyWidth-1:0] key);
    crc_of = '0;
    for (int unsigned k = 0; k < KeyWidth; k++) crc_of = (crc_of >> 1) ^ (crc_of[0] ^ key[k] ? 32'hedb8_8320 : 32'd0);
  endfunction

  function automatic logic [Ways-1:0][RowWidth-1:0] rows_of(input logic [KeyWidth-1:0] key);
    logic [31:0] crc, turned;
    crc = crc_of(key);
    for (int unsigned w = 0; w < Ways; w++) begin
      turned = 32'({crc, crc} >> (8 * w));
      turned ^= (32'({turned, turned} >> 11) & 32'({turned, turned} >> 17)) ^ (32'({turned, turned} >> 5) & 32'({turned, turned} >> 26));
      rows_of[w] = RowWidth'(turned);
    end
  endfunction

  // The memory with what was decided and is being written: the places way by way, then the stash.
  entry_t [Ways-1:0][Rows-1:0]   mem;
  entry_t [Places:0]             place;
  entry_t                        stash;
  logic   [Ways:0]               stale_read, stale_held, stale_pieces, stale_found, stale_same;
  logic                          twice, astray, stale;

  for (genvar w = 0; w < Ways; w++) begin : g_way
    for (genvar n = 0; n < Rows; n++) begin : g_row
      assign mem[w][n] = dut.write_ways_q[w] && dut.write_rows_q[w] == RowWidth'(n) ? dut.new_q : dut.g_way[w].mem[n];
      // Before it was cleared it may hold anything.
      assign place[w*Rows+n] = dut.clearing_q && RowWidth'(n) >= dut.sweep_q ? '0 : mem[w][n];
    end
  end

  assign stash = dut.write_stash_q ? dut.new_stash_q : dut.stash_q;
  assign place[Places] = stash;

  always_comb begin
    {twice, astray} = '0;
    for (int unsigned n = 0; n <= Places; n++) begin
      for (int unsigned k = 0; k < n; k++) twice |= place[n].valid && place[k].valid && place[n].key == place[k].key;
    end
    for (int unsigned w = 0; w < Ways; w++) begin
      for (int unsigned n = 0; n < Rows; n++) begin
        astray |= place[w*Rows+n].valid && rows_of(place[w*Rows+n].key)[w] != RowWidth'(n);
      end
    end
    astray |= dut.valid_q[1] && dut.crc_q != crc_of(dut.step_q[1].key);
    for (int unsigned k = 2; k < Steps; k++) begin
      astray |= dut.valid_q[k] && dut.step_q[k].op != OpAge && dut.step_q[k].rows != rows_of(dut.step_q[k].key);
    end
    // A step that changes the table holds what stands there.
    for (int unsigned w = 0; w <= Ways; w++) begin
      stale_read[w]   = dut.read_q[w] != (w == Ways ? stash : mem[w % Ways][dut.step_q[3].rows[w % Ways]]);
      stale_held[w]   = dut.held_q[w] != (w == Ways ? stash : mem[w % Ways][dut.step_q[4].rows[w % Ways]]);
      stale_pieces[w] = dut.pieces_q[w] != (w == Ways ? stash : mem[w % Ways][dut.step_q[5].rows[w % Ways]]);
      stale_found[w]  = dut.found_q[w] != (w == Ways ? stash : mem[w % Ways][dut.last.rows[w % Ways]]);
      stale_same[w]   = &dut.same_q[w] != (dut.pieces_q[w].key == dut.step_q[5].key)
          || (dut.live_q[w] && !dut.pieces_q[w].valid) || (dut.pieces_q[w].valid && dut.pieces_q[w].fixed && !dut.live_q[w]);
    end
    stale = (changes[3] && stale_read != '0) || (changes[4] && stale_held != '0)
        || (changes[5] && stale_pieces != '0) || (dut.valid_q[5] && stale_same != '0) || (changes[6] && stale_found != '0);
  end

  // Places and stash as they stood in one cycle, in which a step, a lookup too, read them all.
  entry_t [Ways:0] stood_q;

  for (genvar w = 0; w < Ways; w++) begin : g_stood
    always_ff @(posedge clk_i) stood_q[w] <= dut.g_way[w].mem[dut.step_q[2].rows[w]];
  end
  always_ff @(posedge clk_i) stood_q[Ways] <= dut.stash_q;

  // What the last step knows, also of a lookup, from one state of the table.
  logic misjudged;

  always_comb begin
    misjudged = 1'b0;
    for (int unsigned w = 0; w <= Ways; w++) begin
      misjudged |= dut.hit_q[w] != (dut.found_q[w].valid && dut.found_q[w].key == dut.last.key)
          || (dut.answer_q[w] && !dut.hit_q[w]) || (dut.stale_q[w] && (!dut.found_q[w].valid || dut.found_q[w].fixed))
          || (dut.hit_q[w] && dut.found_q[w].fixed && !dut.answer_q[w]);
    end
    for (int unsigned w = 0; w < Ways; w++) begin
      misjudged |= (dut.free_q && dut.way_q == 2'(w) && dut.found_q[w].valid && dut.found_q[w].fixed)
          || (!dut.free_q && !dut.found_q[w].valid);
    end
  end

  // A step on its way is what was asked for: of software, of the stash, or when there was room in the stash.
  logic [Steps-1:0] foreign;

  always_comb begin
    for (int unsigned k = 0; k < Steps; k++) begin
      foreign[k] = dut.valid_q[k] && (dut.step_q[k].op > OpMove
          || (dut.step_q[k].op == OpWrite && {dut.step_q[k].remove, dut.step_q[k].key, dut.step_q[k].value} != {remove_q, key_q, value_q})
          || (dut.step_q[k].op == OpMove && !(dut.stash_q.valid && dut.stash_q.key == dut.step_q[k].key))
          || ((dut.step_q[k].op == OpWrite || dut.step_q[k].op == OpLearn) && dut.stash_q.valid && !dut.full_q));
    end
  end

  // Entries of software that the last step loses: overwritten and neither moved nor written anew by software.
  logic [Ways:0] loses;

  always_comb begin
    for (int unsigned w = 0; w < Ways; w++) begin
      loses[w] = dut.decides && dut.write_ways[w] && dut.found_q[w].valid && dut.found_q[w].fixed
          && !(dut.write_stash && dut.new_stash == dut.found_q[w]) && !(dut.last.op == OpWrite && dut.hit_q[w]);
    end
    loses[Ways] = dut.decides && dut.write_stash && dut.found_q[Ways].valid && dut.found_q[Ways].fixed
        && !(dut.last.op == OpMove && dut.write_ways != '0 && dut.new_entry == dut.found_q[Ways])
        && !(dut.last.op == OpWrite && dut.hit_q[Ways]);
  end

  always_comb begin
    if (started_q) begin
      AKeyIsInOnePlace: assert (!twice);
      AKeyIsInItsRow: assert (!astray);
      AChangeKnowsWhatStandsThere: assert (!stale);
      AStepReadsAllInOneCycle: assert (!dut.valid_q[3] || dut.read_q == stood_q);
      AStepJudgesWhatItHolds: assert (!dut.decides || dut.last.op == OpAge || !misjudged);
      NothingMovesWhileItIsCleared: assert (
          !dut.clearing_q || (!dut.may_change_q && !dut.pick_lookup_q && !dut.pick_learn_q && dut.valid_q == '0
          && dut.write_ways_q == '0 && !dut.write_stash_q && !dut.stash_q.valid));
      AWriteIsAlone: assert (!(dut.write_ways_q != '0 || dut.write_stash_q) || changes == '0);
      OneOperationInACycle: assert (taken <= 3'd1);
      SoftwareIsFirst: assert (!dut.offer || !dut.may_change_q || (dut.stash_q.valid && !dut.full_q) || (dut.take_write && taken == 3'd1));
      WhatSoftwareAsksWaits: assert (dut.offer == offered_q && (!dut.offer || same));
      WhatSoftwareAsksIsAnswered: assert (writes == working_q && (dut.write_q == WrWork) == working_q);
      AChangeIsWhatWasAsked: assert (foreign == '0);
      ALookupWaitsForSoftwareAlone: assert (
          dut.clearing_q || !dut.pick_lookup_q || dut.take_lookup || dut.take_write);
      WhatIsTakenWasAsked: assert ((!dut.take_lookup || dut.lookup_q[dut.pick_q])
          && (!dut.take_learn || dut.learn_q[dut.pick_q]));
      WhatIsPickedWasAsked: assert ((!dut.pick_lookup_q || dut.lookup_q[dut.pick_q])
          && (!dut.pick_learn_q || dut.learn_q[dut.pick_q]) && dut.pick_q + 1'b1 == dut.turn_q);
      APickIsOne: assert (!(dut.pick_lookup_q && dut.pick_learn_q)
          && (!(dut.pick_lookup_q || dut.pick_learn_q) || dut.picked_q == Requesters'(1) << dut.pick_q));
      ChangesAreKnown: assert (dut.change_q == changes
          && (!dut.may_change_q || (changes == '0 && dut.write_ways_q == '0 && !dut.write_stash_q)));
      OneChangeOnItsWay: assert ((changes & (changes - 1'b1)) == '0);
      OnlySoftwareRemoves: assert (removes == '0);
      OnlyAChangeWrites: assert (!(dut.decides && dut.last.op == OpLookup) || (dut.write_ways == '0 && !dut.write_stash));
      OnePlaceIsWritten: assert (!dut.decides || dut.last.op == OpAge || (dut.write_ways & (dut.write_ways - 1'b1)) == '0);
      WhatSoftwareWroteStays: assert (loses == '0);
      WhatIsRefusedChangesNothing: assert (!(dut.decides && dut.overflows && dut.last.op != OpMove)
          || (dut.write_ways == '0 && !dut.write_stash));
      OnlyAFullTableRefuses: assert (!(dut.decides && dut.overflows && dut.last.op != OpMove) || dut.full_q);
      AMoveMovesTheStash: assert (!(dut.decides && dut.last.op == OpMove) || (dut.hit_q[Ways] && dut.found_q[Ways] == dut.stash_q));
    end
  end

endmodule
