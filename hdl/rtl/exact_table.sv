// A table of exact matches in hashed buckets of two: MAC addresses, streams.
//
// Ports look keys up and teach new ones; software writes entries that stay. One operation takes four
// cycles, and lookups come first, so that one is answered within 4 · (Ports + 1) + 2 cycles.
// What was taught and not used as a source for three ageing ticks is forgotten.
//
// Invariants: a key is in at most one place; an entry of software is neither overwritten nor aged.

module exact_table #(
  parameter int unsigned Ports = 4,
  // Buckets of two entries; a power of two.
  parameter int unsigned Buckets = 256,
  parameter int unsigned KeyWidth = 60,
  parameter int unsigned ValueWidth = 4
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  // The table was emptied after the reset.
  output logic                             ready_o,

  input  logic [Ports-1:0]                 lookup_valid_i,
  input  logic [Ports-1:0][KeyWidth-1:0]   lookup_key_i,
  output logic [Ports-1:0]                 answer_valid_o,
  output logic                             answer_hit_o,
  output logic [ValueWidth-1:0]            answer_value_o,

  input  logic [Ports-1:0]                 learn_valid_i,
  input  logic [Ports-1:0][KeyWidth-1:0]   learn_key_i,
  input  logic [Ports-1:0][ValueWidth-1:0] learn_value_i,
  // A key found no place.
  output logic                             overflow_o,

  // An entry of software: written, or removed.
  input  logic                             write_valid_i,
  output logic                             write_ready_o,
  input  logic                             write_remove_i,
  input  logic [KeyWidth-1:0]              write_key_i,
  input  logic [ValueWidth-1:0]            write_value_i,

  // Every entry that was taught becomes a tick older.
  input  logic                             age_tick_i
);

  localparam int unsigned BucketWidth = $clog2(Buckets);
  localparam int unsigned TurnWidth = $clog2(Ports);

  typedef struct packed {
    logic                  valid;
    logic                  fixed;
    logic [1:0]            age;
    logic [KeyWidth-1:0]   key;
    logic [ValueWidth-1:0] value;
  } entry_t;

  typedef enum logic [1:0] {OpLookup, OpLearn, OpWrite, OpAge} op_e;
  typedef enum logic [2:0] {StClear, StSelect, StHash, StRead, StDecide} state_e;

  function automatic logic [BucketWidth-1:0] bucket_of(input logic [KeyWidth-1:0] key);
    logic [BucketWidth-1:0] folded;
    folded = '0;
    for (int unsigned k = 0; k < KeyWidth; k++) folded[k % BucketWidth] ^= key[k];
    return folded;
  endfunction

  entry_t                           mem_a [Buckets], mem_b [Buckets];
  entry_t                           a_q, b_q;
  state_e                           state_q;
  op_e                              op_q;
  logic [TurnWidth-1:0]             turn_q, port_q;
  logic [KeyWidth-1:0]              key_q;
  logic [ValueWidth-1:0]            value_q;
  logic                             remove_q;
  logic [BucketWidth-1:0]           bucket_q, sweep_q;
  logic                             sweeping_q;
  logic [Ports-1:0]                 lookup_q, learn_q;
  logic [Ports-1:0][KeyWidth-1:0]   lookup_key_q, learn_key_q;
  logic [Ports-1:0][ValueWidth-1:0] learn_value_q;

  // --- Selection: software, lookups in turn, learning in turn, ageing.

  logic                 select_lookup, select_learn;
  logic [TurnWidth-1:0] lookup_port, learn_port;

  always_comb begin
    {select_lookup, select_learn} = 2'b00;
    lookup_port = '0;
    learn_port = '0;
    for (int unsigned k = Ports; k > 0; k--) begin
      if (lookup_q[turn_q + TurnWidth'(k)]) {select_lookup, lookup_port} = {1'b1, turn_q + TurnWidth'(k)};
      if (learn_q[turn_q + TurnWidth'(k)]) {select_learn, learn_port} = {1'b1, turn_q + TurnWidth'(k)};
    end
  end

  assign ready_o = state_q != StClear;
  assign write_ready_o = state_q == StSelect;

  // --- Decision about one bucket.

  logic   hit_a, hit_b, write_a, write_b, take_b;
  entry_t new_a, new_b, fresh;

  function automatic entry_t older(input entry_t entry);
    older = entry;
    if (entry.valid && !entry.fixed) begin
      older.age = entry.age + 2'd1;
      older.valid = entry.age != 2'd2;
    end
  endfunction

  always_comb begin
    hit_a = a_q.valid && a_q.key == key_q;
    hit_b = b_q.valid && b_q.key == key_q;
    // The place: where the key is, one that is free, else the older of those that were taught.
    take_b = hit_b || (!hit_a && a_q.valid
                       && (!b_q.valid || (!b_q.fixed && (a_q.fixed || b_q.age > a_q.age))));
    fresh = '{valid: !remove_q, fixed: op_q == OpWrite, age: 2'd0, key: key_q, value: value_q};
    {write_a, write_b} = 2'b00;
    new_a = fresh;
    new_b = fresh;
    if (state_q == StDecide) begin
      unique case (op_q)
        OpLookup: ;
        OpAge: begin
          {write_a, write_b} = 2'b11;
          new_a = older(a_q);
          new_b = older(b_q);
        end
        default: begin
          if (op_q == OpWrite && remove_q) begin
            {write_a, write_b} = {hit_a, hit_b};
          end else if (take_b) begin
            write_b = !(b_q.valid && b_q.fixed && !(op_q == OpWrite && hit_b));
          end else begin
            write_a = !(a_q.valid && a_q.fixed && !(op_q == OpWrite && hit_a));
          end
        end
      endcase
    end
  end

  assign overflow_o = state_q == StDecide && op_q inside {OpLearn, OpWrite} && !hit_a && !hit_b
                      && !remove_q && !write_a && !write_b;

  always_ff @(posedge clk_i) begin
    if (state_q == StClear) begin
      mem_a[sweep_q] <= '0;
      mem_b[sweep_q] <= '0;
    end else begin
      if (write_a) mem_a[bucket_q] <= new_a;
      if (write_b) mem_b[bucket_q] <= new_b;
    end
    a_q <= mem_a[bucket_q];
    b_q <= mem_b[bucket_q];
  end

  always_ff @(posedge clk_i) begin
    answer_valid_o <= '0;
    if (age_tick_i) sweeping_q <= 1'b1;
    unique case (state_q)
      StClear: begin
        sweep_q <= sweep_q + 1'b1;
        if (&sweep_q) state_q <= StSelect;
      end
      StSelect: begin
        remove_q <= 1'b0;
        state_q  <= StHash;
        if (write_valid_i) begin
          op_q     <= OpWrite;
          key_q    <= write_key_i;
          value_q  <= write_value_i;
          remove_q <= write_remove_i;
        end else if (select_lookup) begin
          op_q     <= OpLookup;
          port_q   <= lookup_port;
          turn_q   <= lookup_port;
          key_q    <= lookup_key_q[lookup_port];
          lookup_q[lookup_port] <= 1'b0;
        end else if (select_learn) begin
          op_q     <= OpLearn;
          turn_q   <= learn_port;
          key_q    <= learn_key_q[learn_port];
          value_q  <= learn_value_q[learn_port];
          learn_q[learn_port] <= 1'b0;
        end else if (sweeping_q) begin
          op_q     <= OpAge;
          bucket_q <= sweep_q;
          sweep_q  <= sweep_q + 1'b1;
          if (&sweep_q && !age_tick_i) sweeping_q <= 1'b0;
        end else begin
          state_q <= StSelect;
        end
      end
      StHash: begin
        state_q <= StRead;
        if (op_q != OpAge) bucket_q <= bucket_of(key_q);
      end
      StRead: state_q <= StDecide;
      default: begin
        state_q <= StSelect;
        if (op_q == OpLookup) answer_valid_o[port_q] <= 1'b1;
      end
    endcase
    answer_hit_o   <= hit_a || hit_b;
    answer_value_o <= hit_b ? b_q.value : a_q.value;
    for (int unsigned p = 0; p < Ports; p++) begin
      if (lookup_valid_i[p]) begin
        lookup_q[p]     <= 1'b1;
        lookup_key_q[p] <= lookup_key_i[p];
      end
      if (learn_valid_i[p]) begin
        learn_q[p]       <= 1'b1;
        learn_key_q[p]   <= learn_key_i[p];
        learn_value_q[p] <= learn_value_i[p];
      end
    end
    if (!rst_ni) begin
      state_q        <= StClear;
      sweep_q        <= '0;
      sweeping_q     <= 1'b0;
      turn_q         <= '0;
      lookup_q       <= '0;
      learn_q        <= '0;
      answer_valid_o <= '0;
    end
  end

`ifndef SYNTHESIS
  KeyIsInOnePlace: assert property (@(posedge clk_i) disable iff (!rst_ni)
      state_q == StDecide && op_q != OpAge |-> !(hit_a && hit_b));
  AgedKeyIsNotUsed: assert property (@(posedge clk_i) disable iff (!rst_ni)
      state_q == StDecide |-> !(a_q.valid && a_q.age == 2'd3) && !(b_q.valid && b_q.age == 2'd3));
`endif

endmodule
