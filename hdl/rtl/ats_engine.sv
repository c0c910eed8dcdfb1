// Eligibility times of asynchronous traffic shaping (IEEE Std 802.1Q-2022, 8.6.5.6 and 8.6.11.3).
//
// In: a frame's scheduler, length and arrival time. Out, always `Latency` cycles after it was issued
// to the state pipeline: its eligibility time and ProcessingDelayMax, or its discard. One engine
// serves all schedulers of all ports; the state pipeline takes a frame when the one before it is about to
// write, in every sixth cycle, but for the refresh: 18.9 million frames a second, where eight ports bring at most
// 11.9 million.
//
// Times are ticks, modulo 2^TimeWidth. The arithmetic is that of the machine of `crates/core`
// (`octet_time.rs`, `ats.rs`), to the tick: what a frame lasts is its charged octets times a
// fixed-point octet time with 24 binary digits after the point, rounded up.
//
// Invariants: the eligibility times of a group never decrease; a frame that is discarded changes
// nothing but a counter; no time is so old that it could be taken for one in the future, because a refresh in
// the background brings old ones forward, to where they still mean "full" and "long ago". When it is due it goes
// first: no sequence of frames keeps it waiting.
//
// Not here: the queues that hold frames (`egress_port.sv`), the tables that find the scheduler.

module ats_engine #(
  // Scheduler instances; a power of two.
  parameter int unsigned Schedulers = 4096,
  // Scheduler groups; a power of two, at most Schedulers.
  parameter int unsigned Groups = 64,
  // Width of times; at least FillWidth + 4.
  parameter int unsigned TimeWidth = 48,
  // Width of a time per octet, 24 digits of it after the point.
  parameter int unsigned OctetTimeWidth = 40,
  // Width of durations: EmptyToFullDuration, MaxResidenceTime. No frame lasts longer.
  parameter int unsigned FillWidth = 36,
  // Width of a length in octets.
  parameter int unsigned LengthWidth = 14,
  // Width of what is handed through with a frame.
  parameter int unsigned TagWidth = 16,
  // Cycles between two steps of the background refresh.
  parameter int unsigned RefreshInterval = 64,
  // The clock goes on by so many ticks in a cycle at most; a frame comes here so many cycles after its arrival at most.
  parameter int unsigned TicksPerCycle = 16,
  parameter int unsigned ArrivalCycles = 1024,
  // Dependent, not to be overridden.
  parameter int unsigned SchedulerWidth = $clog2(Schedulers),
  parameter int unsigned GroupWidth = $clog2(Groups)
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  // Time of the local clock.
  input  logic [TimeWidth-1:0]      now_i,

  // A frame. `ready` is low while the state is initialised after a reset.
  input  logic                      frame_valid_i,
  output logic                      frame_ready_o,
  input  logic [SchedulerWidth-1:0] frame_scheduler_i,
  input  logic [LengthWidth-1:0]    frame_octets_i,
  input  logic [TimeWidth-1:0]      frame_arrival_i,
  input  logic [TagWidth-1:0]       frame_tag_i,

  // The decision, in the order of the frames.
  output logic                      decision_valid_o,
  output logic [TagWidth-1:0]       decision_tag_o,
  output logic [TimeWidth-1:0]      decision_eligible_o,
  // Discarded: larger than CommittedBurstSize.
  output logic                      decision_exceeds_burst_o,
  // Discarded: would be eligible later than its arrival and MaxResidenceTime.
  output logic                      decision_exceeds_residence_o,

  // Charged with every frame, in octets; added to every eligibility time, in ticks.
  input  logic [7:0]                charged_overhead_i,
  input  logic [FillWidth-1:0]      processing_delay_max_i,

  // Parameters of a scheduler, taken when no frame is there; its bucket keeps its BucketEmptyTime.
  input  logic                      scheduler_write_i,
  output logic                      scheduler_ready_o,
  input  logic [SchedulerWidth-1:0] scheduler_index_i,
  input  logic [GroupWidth-1:0]     scheduler_group_i,
  input  logic [OctetTimeWidth-1:0] scheduler_octet_time_i,
  input  logic [FillWidth-1:0]      scheduler_empty_to_full_i,
  input  logic [LengthWidth:0]      scheduler_octets_max_i,

  // MaxResidenceTime of a group.
  input  logic                      group_write_i,
  input  logic [GroupWidth-1:0]     group_index_i,
  input  logic [FillWidth-1:0]      group_residence_max_i,

  // Frames that a group has discarded, two cycles after the index; they wrap.
  input  logic [GroupWidth-1:0]     count_index_i,
  output logic [31:0]               count_exceeds_burst_o,
  output logic [31:0]               count_exceeds_residence_o
);

  // Cycles of the state pipeline.
  localparam int unsigned Latency = 6;
  localparam int unsigned FractionBits = 24;
  localparam int unsigned ChargedWidth = LengthWidth + 1;
  // A third of an octet time: what a multiplier of 18 bits takes.
  localparam int unsigned PartWidth = (OctetTimeWidth + 2) / 3;
  localparam int unsigned PartProductWidth = ChargedWidth + PartWidth;
  localparam int unsigned ProductWidth = OctetTimeWidth + ChargedWidth;
  localparam int unsigned RecoveryWidth = ProductWidth - FractionBits + 1;
  // Older times are brought forward to this age: then a bucket of any size is full.
  localparam logic [TimeWidth-1:0] AgeMax = TimeWidth'(1) << (FillWidth + 2);

  if (TimeWidth < FillWidth + 4) begin : g_time_width
    $fatal(1, "TimeWidth must be at least FillWidth + 4");
  end
  if (RecoveryWidth > FillWidth) begin : g_recovery_width
    $fatal(1, "a frame of the longest octet time must last less than 2^FillWidth ticks");
  end

  // What was brought forward means "full" and "past" to every frame that may come, and no time grows so old that it could
  // be taken for one in the future: in the front pipeline a frame waits twelve cycles a stage at most, and every
  // scheduler has its refresh within as many turns.
  localparam longint unsigned FrameAgeMax = 64'(TicksPerCycle) * (64'(ArrivalCycles) + 64'(13 * Latency));
  localparam longint unsigned RefreshAgeMax = 64'(TicksPerCycle) * (64'(Schedulers) + 1) * (64'(RefreshInterval) + 64'(2 * Latency));
  if (64'(AgeMax) < FrameAgeMax + (64'd1 << FillWidth)) begin : g_age
    $fatal(1, "FillWidth is too small for the age of frames");
  end
  if (64'(AgeMax) + RefreshAgeMax + (64'd1 << FillWidth) >= 64'd1 << (TimeWidth - 1)) begin : g_refresh_age
    $fatal(1, "TimeWidth is too small for the refresh of so many schedulers");
  end

  // --- Parameter memories, written by software, one row at a time.

  typedef struct packed {
    logic [GroupWidth-1:0]     group;
    logic [OctetTimeWidth-1:0] octet_time;
    logic [FillWidth-1:0]      empty_to_full;
    logic [LengthWidth:0]      octets_max;
  } parameters_t;

  // What is read without a frame nobody uses.
  (* no_rw_check *) parameters_t parameter_mem [Schedulers];
  logic [FillWidth-1:0]          residence_mem [Groups];

  assign scheduler_ready_o = !frame_valid_i;

  always_ff @(posedge clk_i) begin
    if (scheduler_write_i && scheduler_ready_o) begin
      parameter_mem[scheduler_index_i] <= '{
        group:         scheduler_group_i,
        octet_time:    scheduler_octet_time_i,
        empty_to_full: scheduler_empty_to_full_i,
        octets_max:    scheduler_octets_max_i
      };
    end
    if (group_write_i) residence_mem[group_index_i] <= group_residence_max_i;
  end

  // --- Front pipeline: parameters, then what the frame lasts. It stands still as a whole.

  typedef struct packed {
    logic [SchedulerWidth-1:0] scheduler;
    logic [TimeWidth-1:0]      arrival;
    logic [TagWidth-1:0]       tag;
  } frame_t;

  logic                     initialised;
  // The front pipeline goes on.
  logic                     advance, hold_q, wait_valid_next, conflict_next;

  logic                     read_valid_q, charge_valid_q, part_valid_q, fold_valid_q, sum_valid_q, wait_valid_q;
  frame_t                   read_q, charge_q, part_q, fold_q, sum_q, wait_q;
  logic [LengthWidth-1:0]   read_octets_q;
  parameters_t              read_parameters_q, charge_parameters_q;
  logic [ChargedWidth-1:0]  charged_q;
  logic [3*PartWidth-1:0]   octet_time;
  logic [GroupWidth-1:0]    part_group_q, fold_group_q, sum_group_q, wait_group_q;
  logic [FillWidth-1:0]     part_fill_q, fold_fill_q, sum_fill_q, wait_fill_q;
  logic                     part_exceeds_q, fold_exceeds_q, sum_exceeds_q, wait_exceeds_q;
  logic [PartProductWidth-1:0] part_low_q, part_middle_q, part_high_q, fold_high_q;
  logic [ProductWidth-1:0]  fold_product_q, sum_product_q;
  logic [RecoveryWidth-1:0] wait_recovery_q;

  assign frame_ready_o = initialised && advance;
  assign octet_time = (3 * PartWidth)'(charge_parameters_q.octet_time);

  always_ff @(posedge clk_i) begin
    if (advance) begin
      read_valid_q   <= frame_valid_i && frame_ready_o;
      charge_valid_q <= read_valid_q;
      part_valid_q   <= charge_valid_q;
      fold_valid_q   <= part_valid_q;
      sum_valid_q    <= fold_valid_q;
    end
    wait_valid_q <= wait_valid_next;
    if (!rst_ni) begin
      read_valid_q   <= 1'b0;
      charge_valid_q <= 1'b0;
      part_valid_q   <= 1'b0;
      fold_valid_q   <= 1'b0;
      sum_valid_q    <= 1'b0;
      wait_valid_q   <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (advance) begin
      read_q <= '{scheduler: frame_scheduler_i, arrival: frame_arrival_i, tag: frame_tag_i};
      read_octets_q       <= frame_octets_i;
      read_parameters_q   <= parameter_mem[frame_scheduler_i];

      charge_q            <= read_q;
      charge_parameters_q <= read_parameters_q;
      charged_q           <= ChargedWidth'(read_octets_q) + ChargedWidth'(charged_overhead_i);

      part_q              <= charge_q;
      part_group_q        <= charge_parameters_q.group;
      part_fill_q         <= charge_parameters_q.empty_to_full;
      part_exceeds_q      <= charged_q > charge_parameters_q.octets_max;
      part_low_q    <= PartProductWidth'(charged_q) * PartProductWidth'(octet_time[PartWidth-1:0]);
      part_middle_q <= PartProductWidth'(charged_q) * PartProductWidth'(octet_time[2*PartWidth-1:PartWidth]);
      part_high_q   <= PartProductWidth'(charged_q) * PartProductWidth'(octet_time[3*PartWidth-1:2*PartWidth]);

      fold_q              <= part_q;
      fold_group_q        <= part_group_q;
      fold_fill_q         <= part_fill_q;
      fold_exceeds_q      <= part_exceeds_q;
      fold_high_q         <= part_high_q;
      fold_product_q      <= ProductWidth'(part_low_q) + (ProductWidth'(part_middle_q) << PartWidth);

      sum_q               <= fold_q;
      sum_group_q         <= fold_group_q;
      sum_fill_q          <= fold_fill_q;
      sum_exceeds_q       <= fold_exceeds_q;
      sum_product_q       <= fold_product_q + (ProductWidth'(fold_high_q) << (2 * PartWidth));

      wait_q              <= sum_q;
      wait_group_q        <= sum_group_q;
      wait_fill_q         <= sum_fill_q;
      wait_exceeds_q      <= sum_exceeds_q;
      wait_recovery_q     <= RecoveryWidth'(sum_product_q[ProductWidth-1:FractionBits])
                             + RecoveryWidth'(|sum_product_q[FractionBits-1:0]);
    end
  end

  // --- State pipeline: read, two registers, sums, choice, write. Never stands still.

  typedef struct packed {
    logic                      refresh;
    frame_t                    frame;
    logic [GroupWidth-1:0]     group;
    logic [FillWidth-1:0]      fill;
    logic                      exceeds;
    logic [RecoveryWidth-1:0]  recovery;
  } step_t;

  logic [Latency-1:0] step_valid_q;
  step_t              step_q [Latency];
  step_t              issued;
  logic               issue, refresh_due;
  logic [SchedulerWidth-1:0] refresh_index_q;

  // The least time that is kept: of the cycle before.
  logic [TimeWidth-1:0] oldest_q;

  always_ff @(posedge clk_i) oldest_q <= now_i - AgeMax;

  // A refresh that is due goes before the frame that waits.
  assign issued = refresh_due
    ? '{refresh: 1'b1,
        frame: '{scheduler: refresh_index_q, arrival: oldest_q, tag: '0},
        group: refresh_index_q[GroupWidth-1:0], fill: '0, exceeds: 1'b0, recovery: '0}
    : '{refresh: 1'b0, frame: wait_q, group: wait_group_q, fill: wait_fill_q,
        exceeds: wait_exceeds_q, recovery: wait_recovery_q};

  // Whether a step is on its way; the last one writes before what is issued in that cycle reads.
  logic conflict_q, refresh_due_next;

  assign conflict_next = issue || step_valid_q[Latency-3:0] != '0;
  assign wait_valid_next = advance ? sum_valid_q : wait_valid_q;

  always_ff @(posedge clk_i) begin
    conflict_q <= conflict_next;
    // A frame waits that cannot be issued yet: known a cycle before, for it holds hundreds of registers.
    hold_q     <= wait_valid_next && (conflict_next || refresh_due_next);
    if (!rst_ni) begin
      conflict_q <= 1'b0;
      hold_q     <= 1'b0;
    end
  end

  assign advance = !hold_q;
  assign issue = initialised && !conflict_q && (wait_valid_q || refresh_due);

  // Written only by the state pipeline and while initialising.
  // No step reads in the cycle in which another one writes.
  (* no_rw_check *) logic [TimeWidth-1:0] bucket_mem [Schedulers];
  (* no_rw_check *) logic [TimeWidth-1:0] eligible_mem [Groups];
  (* no_rw_check *) logic [63:0]          count_mem [Groups];
  logic [63:0]          count_copy_mem [Groups];
  logic [63:0]          count_copy_q;

  logic [TimeWidth-1:0] bucket_read_q, bucket_q, bucket_sum_q, bucket_choice_q;
  logic [TimeWidth-1:0] group_read_q, group_q, group_sum_q;
  logic [63:0]          count_read_q, count_q, count_sum_q, count_choice_q, count_last_q, count_next_q;
  logic [FillWidth-1:0] residence_read_q, residence_q, residence_sum_q;
  logic [TimeWidth-1:0] limit_q;
  logic [TimeWidth-1:0] scheduler_eligible_q, scheduler_eligible_choice_q;
  logic [TimeWidth-1:0] full_q, full_choice_q;
  // From where the frame may be sent to where the bucket is full: modulo the width, it may be negative.
  logic [TimeWidth-1:0] ahead_q, ahead_choice_q;
  logic [TimeWidth-1:0] floor_q, eligible_q;
  logic                 bucket_old_q, group_old_q, bucket_old_choice_q, group_old_choice_q;

  // Whether a is earlier than b, less than half the range apart.
  function automatic logic earlier(input logic [TimeWidth-1:0] a, input logic [TimeWidth-1:0] b);
    logic [TimeWidth-1:0] difference;
    difference = a - b;
    return difference[TimeWidth-1];
  endfunction

  function automatic logic [TimeWidth-1:0] later_of(
      input logic [TimeWidth-1:0] a, input logic [TimeWidth-1:0] b);
    return earlier(a, b) ? b : a;
  endfunction

  always_ff @(posedge clk_i) begin
    step_valid_q <= {step_valid_q[Latency-2:0], issue};
    if (!rst_ni) step_valid_q <= '0;
  end

  always_ff @(posedge clk_i) begin
    step_q[0] <= issued;
    for (int unsigned k = 1; k < Latency; k++) step_q[k] <= step_q[k-1];
    // Step 0 reads, step 1 registers.
    bucket_read_q    <= bucket_mem[step_q[0].frame.scheduler];
    group_read_q     <= eligible_mem[step_q[0].group];
    count_read_q     <= count_mem[step_q[0].group];
    residence_read_q <= residence_mem[step_q[0].group];
    bucket_q    <= bucket_read_q;
    group_q     <= group_read_q;
    count_q     <= count_read_q;
    residence_q <= residence_read_q;
    // Step 2: sums. For a refresh, `arrival` is the least time that is kept.
    scheduler_eligible_q <= bucket_q + TimeWidth'(step_q[2].recovery);
    full_q               <= bucket_q + TimeWidth'(step_q[2].fill);
    ahead_q              <= TimeWidth'(step_q[2].fill) - TimeWidth'(step_q[2].recovery);
    floor_q              <= later_of(step_q[2].frame.arrival, group_q);
    bucket_old_q         <= earlier(bucket_q, step_q[2].frame.arrival);
    group_old_q          <= earlier(group_q, step_q[2].frame.arrival);
    bucket_sum_q         <= bucket_q;
    group_sum_q          <= group_q;
    count_sum_q          <= count_q;
    residence_sum_q      <= residence_q;
    // Step 3: the latest of the three, and the latest that may be.
    eligible_q                  <= later_of(scheduler_eligible_q, floor_q);
    scheduler_eligible_choice_q <= scheduler_eligible_q;
    full_choice_q               <= full_q;
    ahead_choice_q              <= ahead_q;
    bucket_old_choice_q         <= bucket_old_q;
    group_old_choice_q          <= group_old_q;
    bucket_choice_q             <= bucket_sum_q;
    count_choice_q              <= count_sum_q;
    limit_q                     <= step_q[3].frame.arrival + TimeWidth'(residence_sum_q);
  end

  // Step 4: residence, and the bucket after the frame. Step 5 writes.
  logic [TimeWidth-1:0] bucket_after_q, eligible_last_q;
  logic                 too_long, too_long_q, write_bucket_q, write_group_q;
  step_t                last;

  assign last = step_q[5];
  assign too_long = earlier(limit_q, eligible_q);

  always_ff @(posedge clk_i) begin
    too_long_q      <= too_long;
    eligible_last_q <= step_q[4].refresh ? step_q[4].frame.arrival : eligible_q;
    count_last_q    <= count_choice_q;
    count_next_q    <= {count_choice_q[63:32] + 32'd1, count_choice_q[31:0] + 32'd1};
    write_bucket_q  <= step_q[4].refresh ? bucket_old_choice_q : !step_q[4].exceeds;
    write_group_q   <= step_q[4].refresh ? group_old_choice_q : !step_q[4].exceeds;
    if (step_q[4].refresh) begin
      bucket_after_q <= step_q[4].frame.arrival;
    end else if (earlier(eligible_q, full_choice_q)) begin
      bucket_after_q <= scheduler_eligible_choice_q;
    end else begin
      bucket_after_q <= eligible_q - ahead_choice_q;
    end
  end

  logic discards_burst, discards_residence;
  assign discards_burst = !last.refresh && last.exceeds;
  assign discards_residence = !last.refresh && !last.exceeds && too_long_q;

  // --- State memories: initialised after a reset, then written by the last step.

  logic [SchedulerWidth-1:0] initial_index_q;
  logic                      bucket_write, eligible_write, count_write;
  logic [SchedulerWidth-1:0] bucket_address;
  logic [GroupWidth-1:0]     group_address;
  logic [TimeWidth-1:0]      bucket_data, eligible_data;
  logic [63:0]               count_data;

  always_comb begin
    if (!initialised) begin
      {bucket_write, eligible_write, count_write} = 3'b111;
      bucket_address = initial_index_q;
      group_address  = initial_index_q[GroupWidth-1:0];
      bucket_data    = oldest_q;
      eligible_data  = oldest_q;
      count_data     = '0;
    end else begin
      bucket_write   = step_valid_q[5] && write_bucket_q && (last.refresh || !too_long_q);
      eligible_write = step_valid_q[5] && write_group_q && (last.refresh || !too_long_q);
      count_write    = step_valid_q[5] && (discards_burst || discards_residence);
      bucket_address = last.frame.scheduler;
      group_address  = last.group;
      bucket_data    = bucket_after_q;
      eligible_data  = eligible_last_q;
      count_data     = {discards_burst ? count_next_q[63:32] : count_last_q[63:32],
                        discards_residence ? count_next_q[31:0] : count_last_q[31:0]};
    end
  end

  always_ff @(posedge clk_i) begin
    if (bucket_write) bucket_mem[bucket_address] <= bucket_data;
    if (eligible_write) eligible_mem[group_address] <= eligible_data;
    if (count_write) begin
      count_mem[group_address]      <= count_data;
      count_copy_mem[group_address] <= count_data;
    end
    count_copy_q <= count_copy_mem[count_index_i];
    {count_exceeds_burst_o, count_exceeds_residence_o} <= count_copy_q;
  end

  localparam int unsigned IntervalWidth = $clog2(RefreshInterval + 1);
  logic [IntervalWidth-1:0] interval_q;

  // The interval is over, or will be in the next cycle.
  logic refresh_due_q;
  assign refresh_due = refresh_due_q;
  assign refresh_due_next = refresh_due_q || interval_q == IntervalWidth'(1);

  always_ff @(posedge clk_i) begin
    if (!initialised) begin
      initial_index_q <= initial_index_q + 1'b1;
      if (initial_index_q == SchedulerWidth'(Schedulers - 1)) initialised <= 1'b1;
    end
    if (!refresh_due) interval_q <= interval_q - 1'b1;
    refresh_due_q <= refresh_due_next;
    if (issue && issued.refresh) begin
      interval_q      <= IntervalWidth'(RefreshInterval - 1);
      refresh_due_q   <= 1'b0;
      refresh_index_q <= refresh_index_q + 1'b1;
    end
    if (!rst_ni) begin
      initialised     <= 1'b0;
      initial_index_q <= '0;
      interval_q      <= IntervalWidth'(RefreshInterval - 1);
      refresh_due_q   <= 1'b0;
      refresh_index_q <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    decision_valid_o             <= step_valid_q[5] && !last.refresh;
    decision_tag_o               <= last.frame.tag;
    decision_eligible_o          <= eligible_last_q + TimeWidth'(processing_delay_max_i);
    decision_exceeds_burst_o     <= discards_burst;
    decision_exceeds_residence_o <= discards_residence;
    if (!rst_ni) decision_valid_o <= 1'b0;
  end

`ifndef SYNTHESIS
  // What the last step must not do, against the state that it read.
  logic [TimeWidth-1:0] group_before_q, group_before_last_q, bucket_before_last_q;
  logic                 keeps;

  always_ff @(posedge clk_i) begin
    group_before_q       <= group_sum_q;
    group_before_last_q  <= group_before_q;
    bucket_before_last_q <= bucket_choice_q;
  end
  assign keeps = rst_ni && step_valid_q[5] && !last.refresh && !last.exceeds && !too_long_q;

  GroupNeverDecreases: assert property (@(posedge clk_i)
      keeps |-> !earlier(eligible_last_q, group_before_last_q));
  NeverBeforeArrival: assert property (@(posedge clk_i)
      keeps |-> !earlier(eligible_last_q, last.frame.arrival));
  CreditCoversTheFrame: assert property (@(posedge clk_i)
      keeps |-> !earlier(eligible_last_q, bucket_before_last_q + TimeWidth'(last.recovery)));
  BucketIsNeverOverfull: assert property (@(posedge clk_i)
      keeps |-> !earlier(bucket_after_q + TimeWidth'(last.fill),
                         eligible_last_q + TimeWidth'(last.recovery)));
  StateIsReadOnce: assert property (@(posedge clk_i)
      disable iff (!rst_ni) issue |-> !conflict_q && step_valid_q[Latency-2:0] == '0);
`endif

endmodule
