// Gates of a port by a list (IEEE Std 802.1Q-2022, 8.6.8.4, 8.6.9): cycle timer, list execute and list config.
//
// The list is executed `Lead` ticks ahead of the time: a sequencer with one adder crosses the edges of its
// entries and puts them into a queue, and every closing of a class into a ring of that class. Where the time reaches
// an edge of the queue, the gates change. So the egress port knows when the gate of a class closes, over as many entries as
// there are, the end of a cycle and a change of the list, and lets a frame start only if its own length fits.
//
// A gate changes at the first tick at or after its time, two cycles after `now_i` has it. Of entries that begin within one tick
// the last one counts, but all their operations do. Two banks of memory have the list that runs and the one that software
// writes; they change places when the new list begins. A list is set when the sequencer reads the time, which is `Lead`
// ticks ahead: base times before that are past (ConfigChangeError where a list runs), and the next cycle is found by a division.
//
// Invariants: a frame that fits ends before its gate closes; edges leave in their order, each at its tick; nothing that is known
// of a class is lost. Not here: the time (`adjustable_clock.sv`), the choice of frames (`egress_port.sv`).

module gate_control #(
  // Traffic classes; a power of two.
  parameter int unsigned Classes = 8,
  // Entries of a list; a power of two.
  parameter int unsigned Entries = 256,
  // Nanoseconds: times; intervals, cycle times and extensions.
  parameter int unsigned TimeWidth = 64,
  parameter int unsigned IntervalWidth = 32,
  // TickGranularity is 2**TickBits ns, no less than what a cycle adds to the time.
  parameter int unsigned TickBits = 4,
  // Ticks that the sequencer is ahead: those of the longest frame, and one for each cycle of `Patience` and of 36 more.
  parameter int unsigned Lead = 1152,
  // Edges in the queue, closings of a class that are known; powers of two.
  parameter int unsigned Ahead = 64,
  parameter int unsigned Closings = 16,
  // Bits of a tick's number in the queue, and of nanoseconds up to a closing.
  parameter int unsigned EdgeWidth = 32,
  parameter int unsigned NearWidth = 16,
  // Octets of a frame, nanoseconds of each, and what the line takes in addition: preamble and check sequence.
  parameter int unsigned LengthWidth = 11,
  parameter int unsigned OctetNs = 8,
  parameter int unsigned Overhead = 12,
  // Cycles after which a sequencer is behind, and answers only for what it has seen.
  parameter int unsigned Patience = 64,
  // Dependent, not to be overridden.
  parameter int unsigned ClassWidth = $clog2(Classes),
  parameter int unsigned EntryWidth = $clog2(Entries)
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  // Nanoseconds. It may be set; by more than a cycle of the list only while `enable_i` is low.
  input  logic [TimeWidth-1:0]     now_i,

  // GateEnabled. While it is low the gates are AdminGateStates, and no list is known.
  input  logic                     enable_i,
  input  logic [Classes-1:0]       admin_gate_states_i,
  // Entries of the list that is written, while `ready_o`: operation (0 SetGateStates, 1 Set-And-Hold-MAC, 2
  // Set-And-Release-MAC), states, interval above zero.
  output logic                     ready_o,
  input  logic                     write_i,
  input  logic [EntryWidth-1:0]    write_entry_i,
  input  logic [1:0]               write_operation_i,
  input  logic [Classes-1:0]       write_states_i,
  input  logic [IntervalWidth-1:0] write_interval_i,
  // ConfigChange, while `ready_o` and enabled: the list begins at its base time, or a whole number of cycles later. Base time and
  // extension stay until `ready_o`. Entries less one.
  input  logic                     change_i,
  input  logic [EntryWidth-1:0]    last_entry_i,
  input  logic [TimeWidth-1:0]     base_time_i,
  input  logic [IntervalWidth-1:0] cycle_time_i,
  input  logic [IntervalWidth-1:0] extension_i,
  // ConfigPending, ConfigChangeTime; for a cycle, that a list is set, at which time of the sequencer, and ConfigChangeError.
  output logic                     pending_o,
  output logic [TimeWidth-1:0]     change_time_o,
  output logic                     set_o,
  output logic [TimeWidth-1:0]     set_time_o,
  output logic                     error_o,

  // A frame at the head of a class; in the next cycle, whether it is taken, a bit for its class. It is asked for again within 32 cycles.
  input  logic [ClassWidth-1:0]    ask_class_i,
  input  logic [LengthWidth-1:0]   ask_octets_i,
  input  logic [Classes-1:0]       take_i,

  // Gates that are open; classes whose taken frame ends before its gate closes, if it starts now.
  output logic [Classes-1:0]       open_o,
  output logic [Classes-1:0]       fits_o,
  // Preemptable frames are to be held.
  output logic                     hold_o,
  // The sequencer is behind: it waits for room, or for a time that was set.
  output logic                     late_o
);

  localparam int unsigned TickWidth = TimeWidth - TickBits;
  localparam int unsigned AheadWidth = $clog2(Ahead);
  localparam int unsigned ClosingWidth = $clog2(Closings);
  localparam int unsigned StepWidth = $clog2(TimeWidth + 1);
  localparam int unsigned PatienceWidth = $clog2(Patience + 1);
  localparam logic [TimeWidth-1:0] LeadNs = TimeWidth'(Lead) << TickBits;
  localparam logic [1:0] OpHold = 2'd1;
  localparam logic [1:0] OpRelease = 2'd2;

  typedef struct packed {
    logic [1:0]               operation;
    logic [Classes-1:0]       states;
    logic [IntervalWidth-1:0] interval;
  } entry_t;

  typedef struct packed {
    logic [EdgeWidth-1:0] tick;
    logic [Classes-1:0]   states;
    logic                 hold;
  } edge_t;

  // The time, and GateEnabled, a cycle later; nothing runs in a reset, and without it.
  logic [TimeWidth-1:0] now_q;
  logic                 enabled_q, off;

  assign off = !enabled_q || !rst_ni;

  always_ff @(posedge clk_i) begin
    now_q     <= now_i;
    enabled_q <= enable_i;
  end

  // --- The lists: one bank runs, the other one is written, or comes next.

  logic                          bank_q;
  logic [EntryWidth-1:0]         entry_q;
  logic [1:0][EntryWidth-1:0]    last_entry_q;
  // Of each bank the cycle time, and its extension, which is written a cycle later.
  (* ram_style = "distributed", no_rw_check *)
  logic [IntervalWidth-1:0]      parameters [4];
  logic [IntervalWidth-1:0]      parameter_read;
  (* ram_style = "block", no_rw_check *)
  entry_t                        mem [2 * Entries];
  entry_t                        word_q, fetched_q;
  logic                          change, change_q;

  assign change = change_i && ready_o && !off;

  always_ff @(posedge clk_i) begin
    if (write_i && ready_o) begin
      mem[{!bank_q, write_entry_i}] <=
          '{operation: write_operation_i, states: write_states_i, interval: write_interval_i};
    end
    word_q    <= mem[{bank_q, entry_q}];
    fetched_q <= word_q;
    change_q <= change;
    if (change || change_q) parameters[{!bank_q, change_q}] <= change_q ? extension_i : cycle_time_i;
    if (change) last_entry_q[!bank_q] <= last_entry_i;
  end

  // --- The sequencer. An entry takes ten cycles and one for every class that it closes, the first one of a cycle up to five more.

  typedef enum logic [4:0] {
    StWait, StCross, StHead, StCycle, StExtend, StCompare, StTakeOver, StRead, StFetch, StAdd, StMin, StTick, StTrigger, StPut,
    StClose, StPush, StTime, StSince, StLess, StMore, StBase, StCheck, StStep, StMeet,
    StDivide
  } state_e;

  // What is done about a list that is set: it was asked for, its cycle is found, and it is to be checked against the time.
  typedef enum logic [2:0] {CfIdle, CfAsked, CfDivide, CfReady} config_e;

  state_e                   state_q;
  config_e                  config_q;
  // A list runs; another one comes next; the cycle that runs ends with its begin; the entry is the last one of its cycle; it is looked
  // at again, because a list was set.
  logic                     runs_q, pending_q, changes_q, is_last_q, again_q;
  // The end of the cycle, that of the entry, ConfigChangeTime, and what the adder gave last.
  logic [TimeWidth-1:0]     next_q, end_q, at_q, sum_q;
  // From when on the entry is over; its begin and its end.
  logic [TickWidth-1:0]     trigger_q;
  logic [EdgeWidth-1:0]     begin_q, edge_q;
  // The states of the entry, and those that were put into the queue last; classes whose closing is to be put.
  logic [Classes-1:0]       states_q, put_states_q, todo_q;
  logic                     hold_q, put_hold_q, past_q;
  logic [IntervalWidth-1:0] rest_q;
  logic [StepWidth-1:0]     steps_q;
  logic [PatienceWidth-1:0] behind_q;

  logic                     due, other, subtract, one, carry, changed, rooms, full;
  logic [TimeWidth-1:0]     x, y, sum;
  logic [Classes-1:0]       closing, ring_full;
  logic [IntervalWidth:0]   partial, difference;

  assign due = (runs_q || pending_q) && now_q[TimeWidth-1:TickBits] >= trigger_q;
  assign other = !bank_q;
  assign parameter_read = parameters[{state_q == StMore || state_q == StStep || state_q == StDivide ? other : bank_q, state_q == StExtend}];
  assign ready_o = config_q == CfIdle && !pending_q;
  assign pending_o = !ready_o;
  assign change_time_o = at_q;
  assign set_time_o = {sum_q[TimeWidth-1:TickBits], TickBits'(1)};
  assign set_o = state_q == StCheck && !carry;
  assign error_o = set_o && past_q && runs_q;
  assign late_o = behind_q == PatienceWidth'(Patience);

  always_comb begin
    x = next_q;
    y = '0;
    {subtract, one} = '0;
    unique case (state_q)
      StCycle:   y = TimeWidth'(parameter_read);
      StExtend:  y = TimeWidth'(parameter_read);
      StCompare: {x, y, subtract} = {sum_q, at_q, 1'b1};
      StTakeOver: x = at_q;
      StAdd:     {x, y} = {end_q, TimeWidth'(fetched_q.interval)};
      StMin:     {x, y, subtract} = {end_q, next_q, 1'b1};
      StTick:    {x, y} = {is_last_q ? next_q : end_q, TimeWidth'((1 << TickBits) - 1)};
      StTrigger: {x, y, subtract} = {sum_q, LeadNs, 1'b1};
      // The begin of a tick: the list is set behind it, where no edge is.
      StTime:    {x, y} = {now_q[TimeWidth-1:TickBits], TickBits'(0), LeadNs};
      StSince:   {x, y, subtract} = {sum_q, base_time_i, 1'b1};
      StLess:    {x, y, subtract} = {at_q, TimeWidth'(rest_q), 1'b1};
      StMore:    {x, y} = {at_q, rest_q == '0 ? '0 : TimeWidth'(parameter_read)};
      StBase:    {x, y} = {at_q, base_time_i};
      StCheck:   {x, y, subtract} = {sum_q, at_q, 1'b1};
      StStep:    {x, y} = {at_q, TimeWidth'(parameter_read)};
      StMeet:    {x, y, subtract} = {next_q, at_q, 1'b1};
      // It goes round, and is the dividend again behind the last step.
      StDivide:  {x, y, one} = {at_q, at_q, at_q[TimeWidth-1]};
      default:   ;
    endcase
    {carry, sum} = {1'b0, x} + {1'b0, y ^ {TimeWidth{subtract}}} + (TimeWidth + 1)'(subtract || one);
  end

  // The rest of a division, a bit of the dividend in every cycle.
  assign partial = {rest_q, at_q[TimeWidth-1]};
  assign difference = partial - {1'b0, parameter_read};

  assign changed = {states_q, hold_q} != {put_states_q, put_hold_q};
  assign closing = put_states_q & ~states_q;
  assign rooms = !full && (closing & ring_full) == '0;

  always_ff @(posedge clk_i) begin
    sum_q <= sum;
    behind_q <= (state_q == StWait && !due) || off ? '0
              : late_o ? behind_q : behind_q + 1'b1;
    if (change) config_q <= CfAsked;
    unique case (state_q)
      StWait: begin
        if (due) state_q <= StCross;
        else if (config_q == CfAsked || config_q == CfReady) state_q <= StTime;
        else if (config_q == CfDivide) state_q <= StDivide;
        again_q <= 1'b0;
      end
      // An edge: the next entry, or the next cycle, perhaps of the other list.
      StCross: begin
        begin_q <= edge_q;
        entry_q <= is_last_q ? '0 : entry_q + 1'b1;
        state_q <= is_last_q ? StHead : StRead;
        if (is_last_q && changes_q) begin
          bank_q    <= other;
          runs_q    <= 1'b1;
          pending_q <= 1'b0;
        end
      end
      StHead: begin
        end_q   <= sum;
        state_q <= StCycle;
      end
      StCycle: begin
        next_q    <= sum;
        changes_q <= 1'b0;
        state_q   <= pending_q ? StExtend : StAdd;
      end
      StExtend: state_q <= StCompare;
      StCompare: begin
        changes_q <= carry;
        state_q   <= carry ? StTakeOver : StAdd;
      end
      // The cycle ends when the next list begins. An entry that runs then is looked at again.
      StTakeOver: begin
        next_q  <= sum;
        state_q <= again_q ? StMin : StAdd;
      end
      StRead: state_q <= StFetch;
      StFetch: state_q <= StAdd;
      StAdd: begin
        end_q    <= sum;
        states_q <= fetched_q.states;
        if (fetched_q.operation == OpHold) hold_q <= 1'b1;
        if (fetched_q.operation == OpRelease) hold_q <= 1'b0;
        state_q  <= StMin;
      end
      StMin: begin
        is_last_q <= carry || entry_q == last_entry_q[bank_q] || !runs_q;
        state_q   <= StTick;
      end
      StTick: state_q <= StTrigger;
      StTrigger: begin
        edge_q    <= EdgeWidth'(sum_q[TimeWidth-1:TickBits]);
        trigger_q <= carry ? sum[TimeWidth-1:TickBits] : '0;
        state_q   <= StPut;
      end
      // An entry without a tick of its own is passed over.
      StPut: begin
        todo_q <= closing;
        if (edge_q == begin_q || !changed || !runs_q) state_q <= StWait;
        else if (rooms) state_q <= closing == '0 ? StPush : StClose;
      end
      StClose: begin
        todo_q <= todo_q & (todo_q - 1'b1);
        if ((todo_q & (todo_q - 1'b1)) == '0) state_q <= StPush;
      end
      StPush: begin
        put_states_q <= states_q;
        put_hold_q   <= hold_q;
        state_q      <= StWait;
      end
      // A list that is set (SetConfigChangeTime, 8.6.9.3.1).
      StTime: state_q <= due ? StWait : config_q == CfAsked ? StSince : StCheck;
      StSince: begin
        at_q     <= carry ? sum : '0;
        past_q   <= carry;
        rest_q   <= '0;
        steps_q  <= StepWidth'(TimeWidth);
        if (carry) config_q <= CfDivide;
        state_q  <= carry ? StWait : StBase;
      end
      StDivide: begin
        at_q    <= sum;
        rest_q  <= difference[IntervalWidth] ? partial[IntervalWidth-1:0] : difference[IntervalWidth-1:0];
        steps_q <= steps_q - 1'b1;
        state_q <= steps_q == StepWidth'(1) ? StLess : due ? StWait : StDivide;
      end
      StLess: begin
        at_q    <= sum;
        state_q <= StMore;
      end
      StMore: begin
        at_q    <= sum;
        state_q <= StBase;
      end
      StBase: begin
        at_q     <= sum;
        config_q <= CfReady;
        state_q  <= StWait;
      end
      // Its time may have passed by while it was found.
      StCheck: begin
        if (!carry) begin
          pending_q <= 1'b1;
          config_q  <= CfIdle;
        end
        state_q <= carry ? StStep : StMeet;
      end
      StStep: begin
        at_q    <= sum;
        past_q  <= 1'b1;
        state_q <= StWait;
      end
      // The cycle that runs is cut, and not extended.
      StMeet: begin
        changes_q <= carry || !runs_q;
        again_q   <= 1'b1;
        state_q   <= carry || !runs_q ? StTakeOver : StMin;
      end
      default: state_q <= StWait;
    endcase
    if (off) begin
      state_q      <= StWait;
      config_q     <= CfIdle;
      runs_q       <= 1'b0;
      pending_q    <= 1'b0;
      put_states_q <= admin_gate_states_i;
      put_hold_q   <= 1'b0;
      hold_q       <= 1'b0;
    end
    if (!rst_ni) bank_q <= 1'b0;
  end

  // --- The queue of edges, and the gates.

  (* ram_style = "distributed", no_rw_check *)
  edge_t                 edges [Ahead];
  edge_t                 head;
  logic [AheadWidth:0]   push_q, pop_q;
  logic                  pop;
  logic [EdgeWidth-1:0]  since;
  logic [Classes-1:0]    open_q, closes;
  logic                  held_q;

  assign head = edges[pop_q[AheadWidth-1:0]];
  assign full = (push_q ^ pop_q) == {1'b1, {AheadWidth{1'b0}}};
  assign since = EdgeWidth'(now_q[TimeWidth-1:TickBits]) - head.tick;
  assign pop = push_q != pop_q && !since[EdgeWidth-1];
  assign closes = pop ? open_q & ~head.states : '0;
  assign open_o = open_q;
  assign hold_o = held_q;

  always_ff @(posedge clk_i) begin
    if (state_q == StPush) edges[push_q[AheadWidth-1:0]] <= '{tick: begin_q, states: states_q, hold: hold_q};
    if (state_q == StPush) push_q <= push_q + 1'b1;
    if (pop) begin
      pop_q  <= pop_q + 1'b1;
      open_q <= head.states;
      held_q <= head.hold;
    end
    if (off) begin
      push_q <= '0;
      pop_q  <= '0;
      open_q <= admin_gate_states_i;
      held_q <= 1'b0;
    end
  end

  // --- Closings: a ring for every class, in one memory.

  typedef logic [NearWidth-TickBits-1:0] near_t;

  (* ram_style = "distributed", no_rw_check *)
  near_t                                rings [Classes * Closings];
  logic [Classes-1:0][ClosingWidth:0]   ring_push_q, ring_pop_q;
  logic [Classes-1:0]                   first;
  logic [ClassWidth-1:0]                put_class;
  logic                                 put;

  assign first = todo_q & ~(todo_q - 1'b1);
  assign put = state_q == StClose;

  always_comb begin
    put_class = '0;
    for (int unsigned c = 0; c < Classes; c++) begin
      if (first[c]) put_class |= ClassWidth'(c);
      ring_full[c] = (ring_push_q[c] ^ ring_pop_q[c]) == {1'b1, {ClosingWidth{1'b0}}};
    end
  end

  always_ff @(posedge clk_i) begin
    if (put) rings[{put_class, ring_push_q[put_class][ClosingWidth-1:0]}] <= near_t'(begin_q);
    for (int unsigned c = 0; c < Classes; c++) begin
      if (put && first[c]) ring_push_q[c] <= ring_push_q[c] + 1'b1;
      if (closes[c]) ring_pop_q[c] <= ring_pop_q[c] + 1'b1;
      if (off) begin
        ring_push_q[c] <= '0;
        ring_pop_q[c]  <= '0;
      end
    end
  end

  // --- Look-ahead: the latest time at which the frame of a class may start.

  near_t                             close_q;
  logic                              stalls, known, known_q, usable_q;
  logic [NearWidth-1:0]              need_q;
  logic [Classes-1:0]                taken_q, bounded_q, fits_q;
  logic [Classes-1:0][NearWidth-1:0] latest_q, left;

  always_comb begin
    for (int unsigned c = 0; c < Classes; c++) left[c] = latest_q[c] - now_q[NearWidth-1:0];
  end

  // A class without a closing in its ring is open up to the begin of an entry for which there is no room.
  assign stalls = state_q == StPut && changed && runs_q;
  assign known = ring_push_q[ask_class_i] != ring_pop_q[ask_class_i];
  assign fits_o = fits_q & open_q;

  always_ff @(posedge clk_i) begin
    close_q <= known ? rings[{ask_class_i, ring_pop_q[ask_class_i][ClosingWidth-1:0]}] : near_t'(begin_q);
    known_q <= (known || late_o) && !off;
    usable_q <= known || !late_o || stalls;
    need_q  <= NearWidth'(OctetNs) * (NearWidth'(ask_octets_i) + NearWidth'(Overhead));
    for (int unsigned c = 0; c < Classes; c++) begin
      if (take_i[c]) begin
        latest_q[c]  <= {close_q, TickBits'(0)} - need_q;
        bounded_q[c] <= known_q;
        taken_q[c]   <= usable_q;
      end
      if (off) taken_q[c] <= 1'b0;
      fits_q[c] <= !off && taken_q[c] && !(bounded_q[c] && left[c][NearWidth-1]);
    end
  end

`ifndef SYNTHESIS
  EdgesFindRoom: assert property (@(posedge clk_i) disable iff (!rst_ni) state_q == StPush |-> !full);
  ClosingsFindRoom: assert property (@(posedge clk_i) disable iff (!rst_ni) put |-> !ring_full[put_class]);
  ClosingsAreThere: assert property (@(posedge clk_i) disable iff (off)
      closes != '0 |-> (closes & ring_known()) == closes);

  function automatic logic [Classes-1:0] ring_known();
    for (int unsigned c = 0; c < Classes; c++) ring_known[c] = ring_push_q[c] != ring_pop_q[c];
  endfunction
`endif

endmodule
