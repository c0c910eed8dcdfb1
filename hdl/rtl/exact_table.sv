// A table of exact matches in hashed buckets of two: MAC addresses, streams.
//
// Ports look keys up and teach new ones; software writes entries that stay. The turn goes from port to port, one in a
// cycle; software is first, then a lookup of the port whose turn it is, then its learning, then ageing. A
// lookup is answered `Latency` + 1 cycles after its turn, within Latency + 1 + Requesters unless software takes
// its turn; what changes the table waits until the change before it has written. What was taught and not
// used as a source for three ageing ticks is forgotten.
//
// Invariants: a key is in at most one place; an entry of software is neither overwritten nor aged.

module exact_table #(
  // Who looks up and teaches; a power of two.
  parameter int unsigned Requesters = 4,
  // Buckets of two entries; a power of two.
  parameter int unsigned Buckets = 256,
  parameter int unsigned KeyWidth = 60,
  parameter int unsigned ValueWidth = 4
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
  // A key found no place.
  output logic                                  overflow_o,

  // An entry of software, to be written or removed, waits here for its turn.
  input  logic                                  write_valid_i,
  output logic                                  write_ready_o,
  input  logic                                  write_remove_i,
  input  logic [KeyWidth-1:0]                   write_key_i,
  input  logic [ValueWidth-1:0]                 write_value_i,

  // Every entry that was taught becomes a tick older.
  input  logic                                  age_tick_i
);

  localparam int unsigned BucketWidth = $clog2(Buckets);
  localparam int unsigned TurnWidth = $clog2(Requesters);

  typedef struct packed {
    logic                  valid;
    logic                  fixed;
    logic [1:0]            age;
    logic [KeyWidth-1:0]   key;
    logic [ValueWidth-1:0] value;
  } entry_t;

  typedef enum logic [1:0] {OpLookup, OpLearn, OpWrite, OpAge} op_e;

  typedef struct packed {
    op_e                    op;
    logic                   remove;
    logic [TurnWidth-1:0]   requester;
    logic [BucketWidth-1:0] bucket;
    logic [KeyWidth-1:0]    key;
    logic [ValueWidth-1:0]  value;
  } step_t;

  function automatic logic [BucketWidth-1:0] bucket_of(input logic [KeyWidth-1:0] key);
    logic [BucketWidth-1:0] folded;
    folded = '0;
    for (int unsigned k = 0; k < KeyWidth; k++) folded[k % BucketWidth] ^= key[k];
    return folded;
  endfunction

  // --- Selection: software, lookups in turn, learning in turn, ageing.

  logic [Requesters-1:0]                 lookup_q, learn_q;
  logic [Requesters-1:0][KeyWidth-1:0]   lookup_key_q, learn_key_q;
  logic [Requesters-1:0][ValueWidth-1:0] learn_value_q;
  logic [TurnWidth-1:0]                  turn_q;
  // Whose turn it was a cycle before, also as a bit for each, and what it asked: a lookup, a learning and no lookup, either.
  logic [TurnWidth-1:0]                  pick_q;
  logic [Requesters-1:0]                 picked_q;
  logic                                  pick_lookup_q, pick_learn_q, pick_any_q;
  logic [KeyWidth-1:0]                   pick_lookup_key_q, pick_learn_key_q;
  logic [ValueWidth-1:0]                 pick_value_q;
  // What software asks.
  logic                                  offer_q, offer_remove_q;
  logic [KeyWidth-1:0]                   offer_key_q;
  logic [ValueWidth-1:0]                 offer_value_q;
  logic                                  clearing_q, sweeping_q;
  logic [BucketWidth-1:0]                sweep_q;
  logic                                  take_write, take_lookup, take_learn, take_age, take_change, asks_lookup, asks_learn;

  // Steps on their way: the first hashes, the second reads, the last but one decides, the last writes.
  localparam int unsigned Latency = 7;
  logic [Latency-2:0] valid_q;
  // Of those that read what another one may be about to write: they change the table. Whether none is on its way.
  logic [Latency-4:0] change_q;
  logic               may_change_q;
  step_t              step_q [Latency-1];
  step_t              hashed, issued;

  assign write_ready_o = !offer_q;
  assign take_write = offer_q && may_change_q;
  assign take_lookup = pick_lookup_q && !take_write;
  assign take_learn = may_change_q && pick_learn_q && !offer_q;
  assign take_age = may_change_q && sweeping_q && !offer_q && !pick_any_q;
  assign take_change = take_write || take_learn || take_age;
  assign ready_o = !clearing_q;
  assign asks_lookup = !clearing_q && lookup_q[turn_q] && !lookup_valid_i[turn_q];
  assign asks_learn = !clearing_q && learn_q[turn_q] && !learn_valid_i[turn_q];

  always_comb begin
    issued = '{op: OpAge, remove: 1'b0, requester: '0, bucket: sweep_q, key: '0, value: '0};
    if (take_write) begin
      issued.op     = OpWrite;
      issued.remove = offer_remove_q;
      issued.key    = offer_key_q;
      issued.value  = offer_value_q;
    end else if (take_lookup) begin
      issued.op        = OpLookup;
      issued.requester = pick_q;
      issued.key       = pick_lookup_key_q;
    end else if (take_learn) begin
      issued.op    = OpLearn;
      issued.key   = pick_learn_key_q;
      issued.value = pick_value_q;
    end
    hashed = step_q[0];
    if (step_q[0].op != OpAge) hashed.bucket = bucket_of(step_q[0].key);
  end

  always_ff @(posedge clk_i) begin
    valid_q <= {valid_q[Latency-3:0], take_write || take_lookup || take_learn || take_age};
    // The last step writes before what is issued then reads.
    change_q     <= {change_q[Latency-5:0], take_change};
    may_change_q <= !clearing_q && !(take_change || change_q[Latency-4:0] != '0);
    offer_q      <= write_valid_i || offer_q;
    if (take_write) offer_q <= 1'b0;
    turn_q       <= turn_q + 1'b1;
    pick_q       <= turn_q;
    picked_q     <= Requesters'(1) << turn_q;
    // Who asks anew in this cycle waits for the next turn.
    pick_lookup_q <= asks_lookup;
    pick_learn_q  <= asks_learn && !asks_lookup;
    pick_any_q    <= asks_learn || asks_lookup;
    if (age_tick_i) sweeping_q <= 1'b1;
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
      valid_q    <= '0;
      change_q   <= '0;
      offer_q    <= 1'b0;
      may_change_q  <= 1'b0;
      turn_q        <= '0;
      pick_q        <= '1;
      picked_q      <= '0;
      pick_lookup_q <= 1'b0;
      pick_learn_q  <= 1'b0;
      pick_any_q    <= 1'b0;
      lookup_q   <= '0;
      learn_q    <= '0;
      clearing_q <= 1'b1;
      sweeping_q <= 1'b0;
      sweep_q    <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    pick_lookup_key_q <= lookup_key_q[turn_q];
    pick_learn_key_q  <= learn_key_q[turn_q];
    pick_value_q      <= learn_value_q[turn_q];
    if (!offer_q) begin
      offer_remove_q <= write_remove_i;
      offer_key_q    <= write_key_i;
      offer_value_q  <= write_value_i;
    end
    step_q[0] <= issued;
    step_q[1] <= hashed;
    for (int unsigned k = 2; k < Latency - 1; k++) step_q[k] <= step_q[k-1];
    for (int unsigned p = 0; p < Requesters; p++) begin
      if (lookup_valid_i[p]) lookup_key_q[p] <= lookup_key_i[p];
      if (learn_valid_i[p]) begin
        learn_key_q[p]   <= learn_key_i[p];
        learn_value_q[p] <= learn_value_i[p];
      end
    end
  end

  // --- The bucket: read, registered, compared in pieces of eight bits, then as a whole, decided.

  localparam int unsigned Pieces = (KeyWidth + 7) / 8;

  entry_t             mem_a [Buckets], mem_b [Buckets];
  entry_t             a_read_q, b_read_q, a_held_q, b_held_q, a_pieces_q, b_pieces_q, a_q, b_q;
  logic [Pieces-1:0]  same_a_q, same_b_q;
  logic [Pieces*8-1:0] key_a, key_b, key_asked;
  logic               hit_a_q, hit_b_q, write_a, write_b, take_b, overflows;
  entry_t             new_a, new_b, fresh;
  // What was decided, to be written.
  logic                   write_a_q, write_b_q;
  logic [BucketWidth-1:0] write_bucket_q;
  entry_t                 new_a_q, new_b_q;
  step_t              last;
  logic               decides;

  assign key_a = (Pieces * 8)'(a_held_q.key);
  assign key_b = (Pieces * 8)'(b_held_q.key);
  assign key_asked = (Pieces * 8)'(step_q[3].key);
  assign last = step_q[Latency-2];
  assign decides = valid_q[Latency-2];

  function automatic entry_t older(input entry_t entry);
    older = entry;
    if (entry.valid && !entry.fixed) begin
      older.age = entry.age + 2'd1;
      older.valid = entry.age != 2'd2;
    end
  endfunction

  always_comb begin
    // The place: where the key is, one that is free, else the older of those that were taught.
    take_b = hit_b_q || (!hit_a_q && a_q.valid
                         && (!b_q.valid || (!b_q.fixed && (a_q.fixed || b_q.age > a_q.age))));
    fresh = '{valid: !last.remove, fixed: last.op == OpWrite, age: 2'd0, key: last.key, value: last.value};
    {write_a, write_b} = 2'b00;
    new_a = fresh;
    new_b = fresh;
    unique case (last.op)
      OpLookup: ;
      OpAge: begin
        {write_a, write_b} = {decides, decides};
        new_a = older(a_q);
        new_b = older(b_q);
      end
      default: begin
        if (last.remove) begin
          {write_a, write_b} = {decides && hit_a_q, decides && hit_b_q};
        end else if (take_b) begin
          write_b = decides && !(b_q.valid && b_q.fixed && !(last.op == OpWrite && hit_b_q));
        end else begin
          write_a = decides && !(a_q.valid && a_q.fixed && !(last.op == OpWrite && hit_a_q));
        end
      end
    endcase
  end

  assign overflows = decides && last.op inside {OpLearn, OpWrite} && !hit_a_q && !hit_b_q
                      && !last.remove && !write_a && !write_b;

  always_ff @(posedge clk_i) begin
    if (clearing_q) begin
      mem_a[sweep_q] <= '0;
      mem_b[sweep_q] <= '0;
    end else begin
      if (write_a_q) mem_a[write_bucket_q] <= new_a_q;
      if (write_b_q) mem_b[write_bucket_q] <= new_b_q;
    end
    write_a_q      <= write_a;
    write_b_q      <= write_b;
    write_bucket_q <= last.bucket;
    new_a_q        <= new_a;
    new_b_q        <= new_b;
    overflow_o     <= overflows;
    a_read_q <= mem_a[step_q[1].bucket];
    b_read_q <= mem_b[step_q[1].bucket];
    a_held_q <= a_read_q;
    b_held_q <= b_read_q;
    a_pieces_q <= a_held_q;
    b_pieces_q <= b_held_q;
    for (int unsigned k = 0; k < Pieces; k++) begin
      same_a_q[k] <= key_a[8*k +: 8] == key_asked[8*k +: 8];
      same_b_q[k] <= key_b[8*k +: 8] == key_asked[8*k +: 8];
    end
    a_q      <= a_pieces_q;
    b_q      <= b_pieces_q;
    hit_a_q  <= a_pieces_q.valid && &same_a_q;
    hit_b_q  <= b_pieces_q.valid && &same_b_q;
    if (!rst_ni) begin
      write_a_q  <= 1'b0;
      write_b_q  <= 1'b0;
      overflow_o <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    answer_valid_o <= '0;
    answer_valid_o[last.requester] <= decides && last.op == OpLookup;
    answer_hit_o   <= hit_a_q || hit_b_q;
    answer_value_o <= hit_b_q ? b_q.value : a_q.value;
    if (!rst_ni) answer_valid_o <= '0;
  end

`ifndef SYNTHESIS
  KeyIsInOnePlace: assert property (@(posedge clk_i) disable iff (!rst_ni)
      decides && last.op != OpAge |-> !(hit_a_q && hit_b_q));
  AgedKeyIsNotUsed: assert property (@(posedge clk_i) disable iff (!rst_ni)
      decides |-> !(a_q.valid && a_q.age == 2'd3) && !(b_q.valid && b_q.age == 2'd3));
`endif

endmodule
