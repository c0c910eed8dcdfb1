// A table of exact matches: MAC addresses, streams.
//
// Ports look keys up and teach new ones; software writes entries that stay. A key has one place in each of four ways, by
// four hashes of it. If all four are taken, what is in one of them gives way: it waits in a register, the stash, where
// lookups find it, and moves to another one of its places, where another entry may have to give way in turn. Moves go on
// until the stash is empty. After half of `MovesMax` an entry that was taught is forgotten when it comes to the stash.
// After all of them the table is full, and what software writes and finds no place is refused. What software wrote goes on
// moving; a place that becomes free is a new chance.
//
// The turn goes from port to port, one in a cycle; software is first, then a lookup of the port whose turn it is, then a
// move, then learning, then ageing. A lookup is answered `Latency` + 1 cycles after its turn, within Latency + 1 + Requesters
// unless software takes its turn; what changes the table waits until the change before it has been written. What was taught
// and not used as a source for three ageing ticks is forgotten.
//
// Invariants: a key is in at most one place; an entry of software is neither overwritten nor aged nor lost when it moves.

module exact_table #(
  // Who looks up and teaches; a power of two.
  parameter int unsigned Requesters = 4,
  // Entries; a power of two, eight at least.
  parameter int unsigned Places = 512,
  parameter int unsigned KeyWidth = 60,
  parameter int unsigned ValueWidth = 4,
  // Moves after which the table is full; a power of two.
  parameter int unsigned MovesMax = 1024
) (
  input  logic                                  clk_i,
  input  logic                                  rst_ni,
  // The table was emptied after the reset.
  output logic                                  ready_o,

  input  logic [Requesters-1:0]                 lookup_valid_i,
  input  logic [Requesters-1:0][KeyWidth-1:0]   lookup_key_i,
  output logic [Requesters-1:0]                 answer_valid_o,
  output logic                                  answer_hit_o,
  output logic [ValueWidth-1:0]                 answer_value_o,

  input  logic [Requesters-1:0]                 learn_valid_i,
  input  logic [Requesters-1:0][KeyWidth-1:0]   learn_key_i,
  input  logic [Requesters-1:0][ValueWidth-1:0] learn_value_i,
  // A key found no place, or what was taught lost its own.
  output logic                                  overflow_o,

  // An entry of software, to be written or removed. It is held until it is answered: kept, or refused for want of a place.
  input  logic                                  write_valid_i,
  output logic                                  write_ready_o,
  output logic                                  write_refused_o,
  input  logic                                  write_remove_i,
  input  logic [KeyWidth-1:0]                   write_key_i,
  input  logic [ValueWidth-1:0]                 write_value_i,

  // Every entry that was taught becomes a tick older.
  input  logic                                  age_tick_i
);

  localparam int unsigned Ways = 4;
  localparam int unsigned WayWidth = 2;
  localparam int unsigned Rows = Places / Ways;
  localparam int unsigned RowWidth = $clog2(Rows);
  localparam int unsigned TurnWidth = $clog2(Requesters);
  localparam int unsigned MovesWidth = $clog2(MovesMax);

  // The tick of an entry is that in which it was taught. They are counted modulo eight: what is forgotten after three is removed by a
  // sweep after every tick, long before it would seem to be new again.
  typedef struct packed {
    logic                  valid;
    logic                  fixed;
    logic [2:0]            tick;
    logic [KeyWidth-1:0]   key;
    logic [ValueWidth-1:0] value;
  } entry_t;

  typedef enum logic [2:0] {OpLookup, OpLearn, OpWrite, OpAge, OpMove} op_e;

  typedef struct packed {
    op_e                           op;
    logic                          remove;
    logic [TurnWidth-1:0]          requester;
    logic [Ways-1:0][RowWidth-1:0] rows;
    logic [KeyWidth-1:0]           key;
    logic [ValueWidth-1:0]         value;
  } step_t;

  // Bits of a key that are added up in each bit of its CRC: sums of many bits, not a chain of steps, so that they take few levels of logic.
  function automatic logic [31:0][KeyWidth-1:0] taps_of();
    logic [31:0] crc;
    for (int unsigned n = 0; n < KeyWidth; n++) begin
      crc = 32'hedb8_8320;
      for (int unsigned k = n + 1; k < KeyWidth; k++) crc = (crc >> 1) ^ (crc[0] ? 32'hedb8_8320 : 32'd0);
      for (int unsigned b = 0; b < 32; b++) taps_of[b][n] = crc[b];
    end
  endfunction

  localparam logic [31:0][KeyWidth-1:0] Taps = taps_of();

  // The rows of a key, from its CRC. Bits of a CRC alone would map addresses in steps to few rows, for they are linear; so products of
  // bits are added to them.
  function automatic logic [Ways-1:0][RowWidth-1:0] rows_of(input logic [31:0] crc);
    logic [31:0] turned;
    for (int unsigned w = 0; w < Ways; w++) begin
      turned = 32'({crc, crc} >> (8 * w));
      turned ^= (32'({turned, turned} >> 11) & 32'({turned, turned} >> 17)) ^ (32'({turned, turned} >> 5) & 32'({turned, turned} >> 26));
      rows_of[w] = RowWidth'(turned);
    end
  endfunction

  // --- Selection: software, lookups in turn, moves, learning in turn, ageing.

  logic [Requesters-1:0]                 lookup_q, learn_q;
  logic [Requesters-1:0][KeyWidth-1:0]   lookup_key_q, learn_key_q;
  logic [Requesters-1:0][ValueWidth-1:0] learn_value_q;
  logic [TurnWidth-1:0]                  turn_q;
  // Whose turn it was a cycle before, also as a bit for each, and what it asked: a lookup, or a learning and no lookup.
  logic [TurnWidth-1:0]                  pick_q;
  logic [Requesters-1:0]                 picked_q;
  logic                                  pick_lookup_q, pick_learn_q;
  logic [KeyWidth-1:0]                   pick_lookup_key_q, pick_learn_key_q;
  logic [ValueWidth-1:0]                 pick_value_q;

  // What software asks: it waits for its turn, is on its way, is answered.
  typedef enum logic [1:0] {WrIdle, WrOffer, WrWork, WrAnswer} write_e;
  write_e                write_q;
  logic                  offer, offer_remove_q, refused_q;
  logic [KeyWidth-1:0]   offer_key_q;
  logic [ValueWidth-1:0] offer_value_q;

  logic                clearing_q, sweeping_q;
  logic [RowWidth-1:0] sweep_q;
  logic [2:0]          tick_q;
  logic                take_write, take_lookup, take_move, take_learn, take_age, take_change, asks_lookup, asks_learn;

  // The entry that gave way, the way it came from, moves since the stash was empty or a place became free, and whether they were too many.
  entry_t                stash_q;
  logic [WayWidth-1:0]   from_q;
  logic [MovesWidth-1:0] moves_q;
  logic                  full_q;
  // Changes that may need the stash wait until it is empty or the table is full.
  logic                  moves_first;

  // Steps on their way: the first adds up a CRC, the second maps it to rows, the third reads, the last but one decides, the last writes.
  localparam int unsigned Latency = 8;
  logic [Latency-2:0] valid_q;
  // Of those that read what another one may be about to write: they change the table. Whether none is on its way.
  logic [Latency-2:0] change_q;
  logic               may_change_q;
  step_t              step_q [Latency-1];
  logic [31:0]        crc_q;
  step_t              hashed, issued;
  step_t              last;
  logic               decides;

  assign last = step_q[Latency-2];
  assign decides = valid_q[Latency-2];

  assign offer = write_q == WrOffer;
  assign write_ready_o = write_q == WrAnswer;
  assign write_refused_o = refused_q;
  assign moves_first = stash_q.valid && !full_q;
  assign take_write = offer && may_change_q && !moves_first;
  assign take_lookup = pick_lookup_q && !take_write;
  assign take_move = may_change_q && stash_q.valid && !pick_lookup_q && (!full_q || !(offer || learn_q != '0 || sweeping_q));
  assign take_learn = may_change_q && pick_learn_q && !offer && !moves_first;
  // Learning that waits goes first whosever turn it is: a change takes nine cycles, so the turn would be the same at all of them.
  assign take_age = may_change_q && sweeping_q && !offer && !pick_lookup_q && learn_q == '0 && !moves_first;
  assign take_change = take_write || take_move || take_learn || take_age;
  assign ready_o = !clearing_q;
  assign asks_lookup = !clearing_q && lookup_q[turn_q] && !lookup_valid_i[turn_q];
  assign asks_learn = !clearing_q && learn_q[turn_q] && !learn_valid_i[turn_q];

  always_comb begin
    issued = '{op: OpAge, remove: 1'b0, requester: '0, rows: {Ways{sweep_q}}, key: '0, value: '0};
    if (take_write) begin
      issued.op     = OpWrite;
      issued.remove = offer_remove_q;
      issued.key    = offer_key_q;
      issued.value  = offer_value_q;
    end else if (take_lookup) begin
      issued.op        = OpLookup;
      issued.requester = pick_q;
      issued.key       = pick_lookup_key_q;
    end else if (take_move) begin
      issued.op    = OpMove;
      issued.key   = stash_q.key;
      issued.value = stash_q.value;
    end else if (take_learn) begin
      issued.op    = OpLearn;
      issued.key   = pick_learn_key_q;
      issued.value = pick_value_q;
    end
    hashed = step_q[1];
    if (step_q[1].op != OpAge) hashed.rows = rows_of(crc_q);
  end

  always_ff @(posedge clk_i) begin
    valid_q <= {valid_q[Latency-3:0], take_lookup || take_change};
    // What is issued reads, the stash too, after the change before it was written.
    change_q     <= {change_q[Latency-3:0], take_change};
    may_change_q <= !clearing_q && !(take_change || change_q != '0);
    unique case (write_q)
      WrIdle:  if (write_valid_i) write_q <= WrOffer;
      WrOffer: if (take_write) write_q <= WrWork;
      WrWork:  if (decides && last.op == OpWrite) write_q <= WrAnswer;
      default: write_q <= WrIdle;
    endcase
    turn_q       <= turn_q + 1'b1;
    pick_q       <= turn_q;
    picked_q     <= Requesters'(1) << turn_q;
    // Who asks anew in this cycle waits for the next turn.
    pick_lookup_q <= asks_lookup;
    pick_learn_q  <= asks_learn && !asks_lookup;
    if (age_tick_i) begin
      sweeping_q <= 1'b1;
      tick_q     <= tick_q + 1'b1;
    end
    if (clearing_q || take_age) begin
      sweep_q <= sweep_q + 1'b1;
      if (&sweep_q) begin
        clearing_q <= 1'b0;
        if (!age_tick_i) sweeping_q <= 1'b0;
      end
    end
    for (int unsigned p = 0; p < Requesters; p++) begin
      if (lookup_valid_i[p]) lookup_q[p] <= 1'b1;
      else if (take_lookup && picked_q[p]) lookup_q[p] <= 1'b0;
      if (learn_valid_i[p]) learn_q[p] <= 1'b1;
      else if (take_learn && picked_q[p]) learn_q[p] <= 1'b0;
    end
    if (!rst_ni) begin
      valid_q       <= '0;
      change_q      <= '0;
      write_q       <= WrIdle;
      may_change_q  <= 1'b0;
      turn_q        <= '0;
      pick_q        <= '1;
      picked_q      <= '0;
      pick_lookup_q <= 1'b0;
      pick_learn_q  <= 1'b0;
      lookup_q      <= '0;
      learn_q       <= '0;
      clearing_q    <= 1'b1;
      sweeping_q    <= 1'b0;
      sweep_q       <= '0;
      tick_q        <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    pick_lookup_key_q <= lookup_key_q[turn_q];
    pick_learn_key_q  <= learn_key_q[turn_q];
    pick_value_q      <= learn_value_q[turn_q];
    if (write_q == WrIdle) begin
      offer_remove_q <= write_remove_i;
      offer_key_q    <= write_key_i;
      offer_value_q  <= write_value_i;
    end
    step_q[0] <= issued;
    step_q[1] <= step_q[0];
    step_q[2] <= hashed;
    for (int unsigned k = 3; k < Latency - 1; k++) step_q[k] <= step_q[k-1];
    for (int unsigned b = 0; b < 32; b++) crc_q[b] <= ^(step_q[0].key & Taps[b]);
    for (int unsigned p = 0; p < Requesters; p++) begin
      if (lookup_valid_i[p]) lookup_key_q[p] <= lookup_key_i[p];
      if (learn_valid_i[p]) begin
        learn_key_q[p]   <= learn_key_i[p];
        learn_value_q[p] <= learn_value_i[p];
      end
    end
  end

  // --- The places of a key and the stash behind them: read, registered, compared in pieces of eight bits, then as a whole, decided.

  localparam int unsigned Pieces = (KeyWidth + 7) / 8;
  localparam int unsigned Stash = Ways;

  entry_t [Ways:0]             read_q, held_q, pieces_q, found_q;
  logic [Ways:0][Pieces-1:0]   same_q;
  // An entry that is not forgotten; the key asked for; both; a place that is taken by what is forgotten.
  logic [Ways:0]               live_q, hit_q, answer_q, stale_q;
  logic                        free_q;
  // A place that is free, else the one that gives way.
  logic [WayWidth-1:0]         way_q;
  logic [15:0]                 random_q;

  // What was decided, to be written.
  logic [Ways-1:0]               write_ways, write_ways_q;
  logic [Ways-1:0][RowWidth-1:0] write_rows_q;
  entry_t                        fresh, new_entry, new_q, new_stash, new_stash_q;
  logic                          write_stash, write_stash_q, overflows, moves, drops, frees, kept_fixed;

  function automatic logic lives(input logic valid, input logic fixed, input logic [2:0] taught, input logic [2:0] tick);
    lives = valid && (fixed || tick - taught < 3'd3);
  endfunction

  function automatic logic [WayWidth-1:0] any_but(input logic [WayWidth-1:0] way, input logic [WayWidth-1:0] not_this);
    any_but = way == not_this ? way + 1'b1 : way;
  endfunction

  for (genvar w = 0; w < Ways; w++) begin : g_way
    entry_t mem [Rows];

    always_ff @(posedge clk_i) begin
      if (clearing_q) mem[sweep_q] <= '0;
      else if (write_ways_q[w]) mem[write_rows_q[w]] <= new_q;
      read_q[w] <= mem[step_q[2].rows[w]];
    end
  end

  always_ff @(posedge clk_i) begin
    read_q[Stash] <= stash_q;
    held_q        <= read_q;
    pieces_q      <= held_q;
    found_q       <= pieces_q;
    for (int unsigned w = 0; w <= Ways; w++) begin
      for (int unsigned k = 0; k < Pieces; k++) begin
        same_q[w][k] <= 8'(held_q[w].key >> 8 * k) == 8'(step_q[4].key >> 8 * k);
      end
      live_q[w]   <= lives(held_q[w].valid, held_q[w].fixed, held_q[w].tick, tick_q);
      hit_q[w]    <= pieces_q[w].valid && &same_q[w];
      answer_q[w] <= live_q[w] && &same_q[w];
      stale_q[w]  <= pieces_q[w].valid && !live_q[w];
    end
    free_q <= !(&live_q[Ways-1:0]);
    way_q  <= any_but(random_q[WayWidth-1:0], from_q);
    for (int unsigned w = Ways; w > 0; w--) if (!live_q[w-1]) way_q <= WayWidth'(w - 1);
    // x^16 + x^14 + x^13 + x^11 + 1.
    random_q <= {random_q[14:0], random_q[15] ^ random_q[13] ^ random_q[12] ^ random_q[10]};
    if (!rst_ni) random_q <= 16'd1;
  end

  always_comb begin
    fresh = '{valid: !last.remove, fixed: last.op == OpWrite, tick: tick_q, key: last.key, value: last.value};
    {write_ways, write_stash, overflows, moves, frees} = '0;
    new_entry = fresh;
    new_stash = found_q[way_q];
    // What is in the stash is forgotten: it is old, or half of the moves did not help and software did not write it.
    drops = stale_q[Stash] || ((moves_q[MovesWidth-1] || full_q) && !found_q[Stash].fixed);
    // What is taught does not change an entry of software.
    kept_fixed = 1'b0;
    for (int unsigned w = 0; w <= Ways; w++) kept_fixed |= last.op == OpLearn && hit_q[w] && found_q[w].fixed;
    unique case (last.op)
      OpLookup: ;
      OpAge: begin
        write_ways = stale_q[Ways-1:0];
        new_entry.valid = 1'b0;
        frees = write_ways != '0;
      end
      OpMove: begin
        new_entry = found_q[Stash];
        write_stash = 1'b1;
        overflows = drops && !stale_q[Stash];
        moves = !drops && !free_q;
        if (!drops) write_ways[way_q] = 1'b1;
        new_stash.valid = moves;
      end
      default: begin
        if (hit_q != '0) begin
          write_ways = kept_fixed ? '0 : hit_q[Ways-1:0];
          write_stash = hit_q[Stash] && !kept_fixed;
          new_stash = fresh;
          frees = last.remove;
        end else if (!last.remove) begin
          write_ways[way_q] = free_q || !found_q[Stash].valid;
          write_stash = !free_q && !found_q[Stash].valid;
          overflows = !free_q && found_q[Stash].valid;
        end
      end
    endcase
  end

  always_ff @(posedge clk_i) begin
    write_ways_q  <= decides ? write_ways : '0;
    write_stash_q <= decides && write_stash;
    write_rows_q  <= last.rows;
    new_q         <= new_entry;
    new_stash_q   <= new_stash;
    overflow_o    <= decides && overflows;
    if (decides && last.op == OpWrite) refused_q <= overflows;
    // Where the next move is not to go back to.
    if (decides && write_stash) from_q <= way_q;
    if (write_stash_q) stash_q <= new_stash_q;
    if (decides && moves) begin
      moves_q <= moves_q + 1'b1;
      if (&moves_q) full_q <= 1'b1;
    end
    if (!stash_q.valid || (decides && frees)) begin
      moves_q <= '0;
      full_q  <= 1'b0;
    end
    if (!rst_ni) begin
      write_ways_q  <= '0;
      write_stash_q <= 1'b0;
      overflow_o    <= 1'b0;
      stash_q.valid <= 1'b0;
      from_q        <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    answer_valid_o <= '0;
    answer_valid_o[last.requester] <= decides && last.op == OpLookup;
    answer_hit_o   <= answer_q != '0;
    answer_value_o <= '0;
    for (int unsigned w = 0; w <= Ways; w++) begin
      for (int unsigned k = 0; k < ValueWidth; k++) if (answer_q[w] && found_q[w].value[k]) answer_value_o[k] <= 1'b1;
    end
    if (!rst_ni) answer_valid_o <= '0;
  end

`ifndef SYNTHESIS
  KeyIsInOnePlace: assert property (@(posedge clk_i) disable iff (!rst_ni)
      decides && !(last.op inside {OpAge, OpMove}) |-> $onehot0(hit_q));
`endif

endmodule
