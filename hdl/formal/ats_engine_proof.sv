// What `ats_engine` decides, by induction, over the wrap of its clock: the eligibility times of a group
// never decrease, credit covers the frame, a bucket is never fuller than full, no frame is kept longer
// than its group's MaxResidenceTime, and a discarded frame leaves no trace in the state.
//
// Every stored time is at most so old, and at most so far ahead, that no comparison of two times wraps;
// that rests on the refresh, which visits every scheduler again and again, however many frames there are: they may
// come in every cycle in which the engine is ready. Assumed of the caller: a clock of at most `TicksPerCycle` ticks in a cycle,
// arrival times of the last `ArrivalCycles` cycles, and that software writes no
// MaxResidenceTime beyond its width and an `octets_max` whose frames last at most `Slack` ticks more than
// EmptyToFullDuration, for octet times are rounded up and that duration down.
// What a frame lasts is its octets with the overhead times the octet time of its scheduler, rounded up to a tick: each stage of the
// multiplication has its part of the product of what went into it.

module ats_engine_proof #(
  parameter int unsigned Schedulers = 2,
  parameter int unsigned Groups = 2,
  parameter int unsigned FillWidth = 5,
  parameter int unsigned TimeWidth = 9,
  parameter int unsigned LengthWidth = 2,
  parameter int unsigned OctetTimeWidth = 24,
  // Dependent, not to be overridden.
  parameter int unsigned SchedulerWidth = $clog2(Schedulers),
  parameter int unsigned GroupWidth = $clog2(Groups)
) (
  input logic                      clk_i,
  input logic [TimeWidth-1:0]      now_i,
  input logic [FillWidth-1:0]      processing_delay_max_i,
  input logic [7:0]                charged_overhead_i,
  input logic                      frame_valid_i,
  input logic [SchedulerWidth-1:0] frame_scheduler_i,
  input logic [LengthWidth-1:0]    frame_octets_i,
  input logic [TimeWidth-1:0]      frame_arrival_i,
  input logic                      scheduler_write_i,
  input logic [SchedulerWidth-1:0] scheduler_index_i,
  input logic [GroupWidth-1:0]     scheduler_group_i,
  input logic [OctetTimeWidth-1:0] scheduler_octet_time_i,
  input logic [FillWidth-1:0]      scheduler_empty_to_full_i,
  input logic [LengthWidth:0]      scheduler_octets_max_i,
  input logic                      group_write_i,
  input logic [GroupWidth-1:0]     group_index_i,
  input logic [FillWidth-1:0]      group_residence_max_i
);

  localparam int unsigned RefreshInterval = 8;
  // Cycles from the issue of a step to its writing: so long no other one is issued.
  localparam int unsigned Latency = 6;
  // Ticks in a cycle; oldest arrival in ticks, and the most cycles from one refresh to the next: the interval is over when
  // a frame has just been issued.
  localparam int unsigned TicksPerCycle = 1;
  localparam int unsigned ArrivalCycles = 16;
  localparam int unsigned ArrivalAge = TicksPerCycle * ArrivalCycles;
  // By which a frame of the largest burst may last longer than EmptyToFullDuration.
  localparam int unsigned Slack = 2;
  localparam int unsigned RefreshDistance = RefreshInterval + Latency - 1;
  // Stages in front of the state pipeline, the most cycles in each, behind a frame and a refresh, and in all of them.
  localparam int unsigned Stages = 6;
  localparam int unsigned StageMax = 2 * Latency;
  localparam int unsigned FrontMax = Stages * StageMax;
  localparam logic signed [TimeWidth-1:0] AgeMax = TimeWidth'(1) << (FillWidth + 2);
  // Age of what a refresh left, or the start after a reset, a cycle for each scheduler.
  localparam logic signed [TimeWidth-1:0] YoungMax = AgeMax + TimeWidth'(TicksPerCycle * (Latency + Schedulers + 1));
  localparam logic signed [TimeWidth-1:0] AheadMax = (TimeWidth'(1) << FillWidth) + TimeWidth'(Slack);

  logic                 started_q = 1'b0;
  logic                 ready;
  logic [TimeWidth-1:0] now_q;

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    now_q     <= now_i;
  end

  logic [TimeWidth-1:0] decision_eligible;
  logic                 decision_valid, exceeds_burst, exceeds_residence, decision_tag;
  logic [31:0]          count_exceeds_burst, count_exceeds_residence;

  ats_engine #(
    .Schedulers(Schedulers), .Groups(Groups), .TimeWidth(TimeWidth), .OctetTimeWidth(OctetTimeWidth),
    .FillWidth(FillWidth), .LengthWidth(LengthWidth), .TagWidth(1), .RefreshInterval(RefreshInterval), .TicksPerCycle(TicksPerCycle), .ArrivalCycles(ArrivalCycles)
  ) dut (
    .clk_i, .rst_ni(started_q), .now_i,
    .frame_valid_i, .frame_ready_o(ready), .frame_scheduler_i, .frame_octets_i, .frame_arrival_i,
    .frame_tag_i(1'b0),
    .decision_valid_o(decision_valid), .decision_tag_o(decision_tag),
    .decision_eligible_o(decision_eligible), .decision_exceeds_burst_o(exceeds_burst),
    .decision_exceeds_residence_o(exceeds_residence),
    .charged_overhead_i, .processing_delay_max_i,
    .scheduler_write_i, .scheduler_ready_o(), .scheduler_index_i, .scheduler_group_i, .scheduler_octet_time_i,
    .scheduler_empty_to_full_i, .scheduler_octets_max_i,
    .group_write_i, .group_index_i, .group_residence_max_i,
    .count_index_i('0), .count_exceeds_burst_o(count_exceeds_burst),
    .count_exceeds_residence_o(count_exceeds_residence)
  );

  // How long ago a time is; ahead of now it is negative.
  function automatic logic signed [TimeWidth-1:0] age(input logic [TimeWidth-1:0] time_of);
    return $signed(now_i - time_of);
  endfunction

  // Cycles since the last refresh; those in which the front has stood still until now.
  logic [4:0] since_refresh_q, stall_q;

  always_ff @(posedge clk_i) begin
    if (!dut.initialised || (dut.issue && dut.issued.refresh)) since_refresh_q <= '0;
    else if (since_refresh_q != '1) since_refresh_q <= since_refresh_q + 1'b1;
    stall_q <= dut.advance || !started_q ? '0 : stall_q + 1'b1;
  end

  // Cycles since a refresh last left the state of each scheduler young enough, and in the same way its
  // group's; the scheduler whose turn was last.
  localparam int unsigned SinceWidth = TimeWidth;
  logic [Schedulers-1:0][SinceWidth-1:0] since_q;
  logic [SchedulerWidth-1:0]             done_q;
  logic [SinceWidth-1:0]                 since_done_q;
  logic                                  done;

  assign done = dut.step_valid_q[5] && dut.last.refresh;

  always_ff @(posedge clk_i) begin
    for (int unsigned s = 0; s < Schedulers; s++) begin
      if (!dut.initialised || (done && dut.last.frame.scheduler == SchedulerWidth'(s))) since_q[s] <= '0;
      else since_q[s] <= since_q[s] + 1'b1;
    end
    if (!dut.initialised) done_q <= '1;
    else if (done) done_q <= dut.last.frame.scheduler;
    if (!dut.initialised || done) since_done_q <= '0;
    else since_done_q <= since_done_q + 1'b1;
  end

  // Refreshes under way come in turn: the oldest is that behind the last one done. Whether one was done.
  logic                      refreshed_q, out_of_turn, refreshing;
  logic [SchedulerWidth-1:0] turn;
  logic [SinceWidth-1:0]     since_done_max;

  always_ff @(posedge clk_i) begin
    if (!dut.initialised) refreshed_q <= 1'b0;
    else if (done) refreshed_q <= 1'b1;
  end

  always_comb begin
    {out_of_turn, refreshing} = '0;
    turn = done_q;
    since_done_max = refreshed_q ? SinceWidth'(since_refresh_q) - SinceWidth'(Latency)
                                 : SinceWidth'(since_refresh_q);
    for (int k = Latency - 1; k >= 0; k--) begin
      if (dut.step_valid_q[k] && dut.step_q[k].refresh) begin
        if (!refreshing) begin
          since_done_max = SinceWidth'(RefreshDistance + k)
                           - (refreshed_q ? SinceWidth'(Latency) : SinceWidth'(0));
        end
        turn = turn + 1'b1;
        refreshing = 1'b1;
        out_of_turn |= dut.step_q[k].frame.scheduler != turn
                       || dut.step_q[k].group != turn[GroupWidth-1:0];
      end
    end
    out_of_turn |= dut.initialised && dut.refresh_index_q != SchedulerWidth'(turn + 1'b1);
  end

  // Frames in front of the state pipeline, from the first stage to the last, and how long each has been there.
  logic [Stages-1:0]                        front;
  logic [Stages-1:0][TimeWidth-1:0]         front_arrival;
  logic [Stages-1:0][6:0]                   front_cycles_q;
  logic                                     astray;

  assign front = {dut.wait_valid_q, dut.sum_valid_q, dut.fold_valid_q, dut.part_valid_q, dut.charge_valid_q,
                  dut.read_valid_q};
  assign front_arrival = {dut.wait_q.arrival, dut.sum_q.arrival, dut.fold_q.arrival, dut.part_q.arrival,
                          dut.charge_q.arrival, dut.read_q.arrival};

  always_ff @(posedge clk_i) begin
    for (int unsigned k = 0; k < Stages; k++) begin
      front_cycles_q[k] <= 7'd1 + (!dut.advance ? front_cycles_q[k] : k > 0 ? front_cycles_q[k-1] : 7'd0);
    end
  end

  always_comb begin
    astray = 1'b0;
    for (int unsigned k = 0; k < Stages; k++) begin
      astray |= front[k] && (age(front_arrival[k]) < 0
          || age(front_arrival[k]) > $signed(TimeWidth'(ArrivalAge) + TimeWidth'(TicksPerCycle) * TimeWidth'(front_cycles_q[k]))
          || front_cycles_q[k] > 7'(StageMax * k) + 7'd1 + 7'(stall_q));
    end
    for (int unsigned k = 0; k < Latency; k++) begin
      astray |= dut.step_valid_q[k] && !dut.step_q[k].refresh
                && (age(dut.step_q[k].frame.arrival) < 0
                    || age(dut.step_q[k].frame.arrival)
                       > $signed(TimeWidth'(ArrivalAge + TicksPerCycle * (FrontMax + 1)) + TimeWidth'(TicksPerCycle * k))
                    || (!dut.step_q[k].exceeds
                        && TimeWidth'(dut.step_q[k].recovery) > TimeWidth'(dut.step_q[k].fill) + TimeWidth'(Slack)));
      astray |= dut.step_valid_q[k] && dut.step_q[k].refresh
                && (age(dut.step_q[k].frame.arrival) < AgeMax
                    || age(dut.step_q[k].frame.arrival) > AgeMax + $signed(TimeWidth'(TicksPerCycle * (k + 2))));
    end
  end

  // What a frame lasts: its charged octets and octet time beside every stage, and the product of both.
  localparam int unsigned ChargedWidth = LengthWidth + 1;
  localparam int unsigned ProductWidth = OctetTimeWidth + ChargedWidth;
  localparam int unsigned PartWidth = (OctetTimeWidth + 2) / 3;
  localparam int unsigned FractionBits = 24;
  logic [ChargedWidth-1:0]   octets_q, part_charged_q, fold_charged_q, sum_charged_q, wait_charged_q;
  logic [OctetTimeWidth-1:0] part_time_q, fold_time_q, sum_time_q, wait_time_q;
  logic [ProductWidth-1:0]   product, excess;
  logic                      miscalculated;

  always_ff @(posedge clk_i) begin
    if (dut.advance) begin
      octets_q       <= ChargedWidth'(dut.read_octets_q) + ChargedWidth'(charged_overhead_i);
      part_charged_q <= dut.charged_q;
      fold_charged_q <= part_charged_q;
      sum_charged_q  <= fold_charged_q;
      wait_charged_q <= sum_charged_q;
      part_time_q    <= dut.charge_parameters_q.octet_time;
      fold_time_q    <= part_time_q;
      sum_time_q     <= fold_time_q;
      wait_time_q    <= sum_time_q;
    end
  end

  assign product = ProductWidth'(wait_charged_q) * ProductWidth'(wait_time_q);
  assign excess = (ProductWidth'(dut.wait_recovery_q) << FractionBits) - product;

  always_comb begin
    miscalculated = dut.charge_valid_q && dut.charged_q != octets_q;
    miscalculated |= dut.part_valid_q && (
        ProductWidth'(dut.part_low_q) != ProductWidth'(part_charged_q) * ProductWidth'(part_time_q[PartWidth-1:0])
        || ProductWidth'(dut.part_middle_q) != ProductWidth'(part_charged_q) * ProductWidth'(part_time_q[2*PartWidth-1:PartWidth])
        || ProductWidth'(dut.part_high_q) != ProductWidth'(part_charged_q) * ProductWidth'(part_time_q[3*PartWidth-1:2*PartWidth]));
    miscalculated |= dut.fold_valid_q && (
        dut.fold_product_q != ProductWidth'(fold_charged_q) * ProductWidth'(fold_time_q[2*PartWidth-1:0])
        || ProductWidth'(dut.fold_high_q) != ProductWidth'(fold_charged_q) * ProductWidth'(fold_time_q[3*PartWidth-1:2*PartWidth]));
    miscalculated |= dut.sum_valid_q && dut.sum_product_q != ProductWidth'(sum_charged_q) * ProductWidth'(sum_time_q);
  end

  // A refresh that is due is issued at once, or when the frame before it is about to write: `since_refresh_q` by what
  // is on its way. The front stands still behind a frame, and then behind a refresh.
  logic       delayed, stands, issued_q;
  logic [4:0] delay_max, stall_max;

  always_ff @(posedge clk_i) begin
    if (!dut.initialised) issued_q <= 1'b0;
    else if (dut.issue && dut.issued.refresh) issued_q <= 1'b1;
  end

  always_comb begin
    delayed = 1'b0;
    delay_max = 5'(RefreshInterval - 1);
    stall_max = '0;
    for (int unsigned k = 0; k < Latency; k++) begin
      if (dut.step_valid_q[k] && !dut.step_q[k].refresh) begin
        delay_max = 5'(RefreshInterval - 1 + k);
        stall_max = 5'(k);
      end
      if (dut.step_valid_q[k] && dut.step_q[k].refresh) begin
        delayed |= 5'(k) != since_refresh_q;
        stall_max = 5'(Latency + k);
      end
    end
    if (issued_q && since_refresh_q < 5'(Latency)) begin
      delayed |= !(dut.step_valid_q[since_refresh_q] && dut.step_q[since_refresh_q].refresh);
    end
    delayed |= dut.initialised && since_refresh_q > delay_max;
    stands = stall_q > stall_max;
  end

  // Before the start nothing moves, and what has been initialised is as old as it should be.
  logic premature;

  always_comb begin
    premature = dut.step_valid_q != '0 || front != '0 || dut.interval_q > 4'(RefreshInterval - 1)
                || dut.refresh_index_q != '0;
    for (int unsigned s = 0; s < Schedulers; s++) begin
      premature |= SchedulerWidth'(s) < dut.initial_index_q
          && (age(dut.bucket_mem[s]) < AgeMax || age(dut.bucket_mem[s])
              > AgeMax + $signed(TimeWidth'(TicksPerCycle))
                * ($signed(TimeWidth'(dut.initial_index_q)) - $signed(TimeWidth'(s)) + $signed(TimeWidth'(1))));
    end
    for (int unsigned g = 0; g < Groups; g++) begin
      premature |= SchedulerWidth'(g) < dut.initial_index_q
          && (age(dut.eligible_mem[g]) < AgeMax || age(dut.eligible_mem[g])
              > AgeMax + $signed(TimeWidth'(TicksPerCycle))
                * ($signed(TimeWidth'(dut.initial_index_q)) - $signed(TimeWidth'(g)) + $signed(TimeWidth'(1))));
    end
  end

  // What must not be, over the whole state.
  logic bucket_old, group_old, ahead, late, meets;
  logic signed [TimeWidth-1:0] oldest;

  always_comb begin
    {bucket_old, group_old, ahead, late, meets} = '0;
    for (int unsigned s = 0; s < Schedulers; s++) begin
      bucket_old |= age(dut.bucket_mem[s]) > YoungMax + $signed(TimeWidth'(TicksPerCycle)) * $signed(since_q[s]);
      ahead      |= age(dut.bucket_mem[s]) < -AheadMax;
      late       |= since_q[s] > SinceWidth'(SchedulerWidth'(done_q - SchedulerWidth'(s)))
                                 * SinceWidth'(RefreshDistance) + since_done_q + SinceWidth'(Latency);
    end
    // Until a first refresh is done all schedulers are of one age.
    for (int unsigned s = 0; s < Schedulers; s++) late |= !refreshed_q && since_q[s] != since_done_q;
    for (int unsigned g = 0; g < Groups; g++) begin
      oldest = YoungMax + $signed(TimeWidth'(TicksPerCycle)) * $signed(since_q[g]);
      group_old |= age(dut.eligible_mem[g]) > oldest;
      ahead     |= age(dut.eligible_mem[g]) < -AheadMax;
    end
    // Never two steps are under way.
    for (int unsigned a = 0; a < Latency; a++) begin
      for (int unsigned b = 0; b < a; b++) begin
        meets |= dut.step_valid_q[a] && dut.step_valid_q[b];
      end
    end
  end

  // MaxResidenceTime as the last two steps read it.
  logic [FillWidth-1:0] residence_choice_q, residence_max_q;
  always_ff @(posedge clk_i) begin
    residence_choice_q <= dut.residence_sum_q;
    residence_max_q    <= residence_choice_q;
  end

  // Every stage of a step holds what follows from the state, which nobody else changes meanwhile.
  function automatic logic [TimeWidth-1:0] later_of(
      input logic [TimeWidth-1:0] a, input logic [TimeWidth-1:0] b);
    return age(a) > age(b) ? b : a;
  endfunction

  // Of the stages; 6 is a refresh in the last one.
  logic [6:1]                        astray_step;
  logic [Latency-1:0][TimeWidth-1:0] at_bucket, at_group, at_credit, at_full, at_floor, at_eligible;

  always_comb begin
    for (int unsigned k = 0; k < Latency; k++) begin
      at_bucket[k]   = dut.bucket_mem[dut.step_q[k].frame.scheduler];
      at_group[k]    = dut.eligible_mem[dut.step_q[k].group];
      at_credit[k]   = at_bucket[k] + TimeWidth'(dut.step_q[k].recovery);
      at_full[k]     = at_bucket[k] + TimeWidth'(dut.step_q[k].fill);
      at_floor[k]    = later_of(dut.step_q[k].frame.arrival, at_group[k]);
      at_eligible[k] = later_of(at_credit[k], at_floor[k]);
    end
    astray_step = '0;
    if (dut.step_valid_q[1]) begin
      astray_step[1] |= dut.bucket_read_q != at_bucket[1] || dut.group_read_q != at_group[1];
    end
    if (dut.step_valid_q[2]) begin
      astray_step[2] |= dut.bucket_q != at_bucket[2] || dut.group_q != at_group[2];
    end
    if (dut.step_valid_q[3]) begin
      astray_step[3] |= dut.bucket_sum_q != at_bucket[3] || dut.scheduler_eligible_q != at_credit[3]
          || dut.full_q != at_full[3] || dut.ahead_q != TimeWidth'(at_full[3] - at_credit[3])
          || dut.bucket_old_q != (age(at_bucket[3]) > age(dut.step_q[3].frame.arrival))
          || dut.group_old_q != (age(at_group[3]) > age(dut.step_q[3].frame.arrival))
          || (!dut.step_q[3].refresh && dut.floor_q != at_floor[3]);
    end
    if (dut.step_valid_q[4]) begin
      astray_step[4] |= dut.scheduler_eligible_choice_q != at_credit[4] || dut.full_choice_q != at_full[4]
          || dut.ahead_choice_q != TimeWidth'(at_full[4] - at_credit[4])
          || dut.limit_q != TimeWidth'(dut.step_q[4].frame.arrival + TimeWidth'(residence_choice_q))
          || dut.bucket_old_choice_q != (age(at_bucket[4]) > age(dut.step_q[4].frame.arrival))
          || dut.group_old_choice_q != (age(at_group[4]) > age(dut.step_q[4].frame.arrival))
          || (!dut.step_q[4].refresh && dut.eligible_q != at_eligible[4]);
    end
    if (dut.step_valid_q[5] && dut.last.refresh) begin
      astray_step[6] |= dut.eligible_last_q != dut.last.frame.arrival
          || dut.bucket_after_q != dut.last.frame.arrival
          || dut.write_bucket_q != (age(at_bucket[5]) > age(dut.last.frame.arrival))
          || dut.write_group_q != (age(at_group[5]) > age(dut.last.frame.arrival));
    end
    if (dut.step_valid_q[5] && !dut.last.refresh) begin
      astray_step[5] |= dut.eligible_last_q != at_eligible[5]
          || dut.too_long_q != (TimeWidth'(at_eligible[5] - dut.last.frame.arrival)
                                > TimeWidth'(residence_max_q))
          || dut.write_bucket_q != !dut.last.exceeds || dut.write_group_q != !dut.last.exceeds
          || dut.bucket_after_q != (age(at_eligible[5]) > age(at_full[5]) ? at_credit[5]
              : TimeWidth'(at_credit[5] + TimeWidth'(at_eligible[5] - at_full[5])));
    end
  end

  // The state that the last step is about to change.
  logic [TimeWidth-1:0] bucket, group_eligible;
  logic                 keeps, discards;

  assign bucket = dut.bucket_mem[dut.last.frame.scheduler];
  assign group_eligible = dut.eligible_mem[dut.last.group];
  assign keeps = dut.step_valid_q[5] && !dut.last.refresh && !dut.last.exceeds && !dut.too_long_q;
  assign discards = dut.step_valid_q[5] && !dut.last.refresh && (dut.last.exceeds || dut.too_long_q);

  always_comb begin
    if (started_q) begin
      TheClockGoesOn: assume (TimeWidth'(now_i - now_q) <= TimeWidth'(TicksPerCycle));
      ArrivalsAreRecent: assume (!frame_valid_i
          || (age(frame_arrival_i) >= 0 && age(frame_arrival_i) <= $signed(TimeWidth'(ArrivalAge))));
      AFrameFitsItsBucket: assume (!dut.wait_valid_q || dut.wait_exceeds_q
          || TimeWidth'(dut.wait_recovery_q) <= TimeWidth'(dut.wait_fill_q) + TimeWidth'(Slack));

      AFrameIsMultipliedInParts: assert (!miscalculated);
      WhatAFrameLastsIsRoundedUp: assert (!dut.wait_valid_q || excess < ProductWidth'(1) << FractionBits);
      NothingMovesBeforeTheStart: assert (!premature || dut.initialised);
      if (dut.initialised) begin
        RefreshIsNeverLate: assert (since_refresh_q < 5'(RefreshDistance));
        ARefreshFindsItsCycle: assert (!delayed);
        ARefreshIsIssuedFirst: assert (issued_q || !(refreshed_q || refreshing));
        EveryRefreshIsDone: assert (since_done_q <= since_done_max);
        RefreshesComeInTurn: assert (!out_of_turn);
        TheIntervalIsCounted: assert (dut.interval_q == '0
            || SinceWidth'(dut.interval_q) + SinceWidth'(since_refresh_q) <= SinceWidth'(RefreshInterval - 1));
        TheIntervalIsKept: assert (!issued_q
            || SinceWidth'(dut.interval_q) + SinceWidth'(since_refresh_q) >= SinceWidth'(RefreshInterval - 1));
        EverySchedulerHasItsTurn: assert (!late || !dut.initialised);
        NoBucketGrowsOld: assert (!bucket_old);
        NoGroupGrowsOld: assert (!group_old);
        NothingIsFarAhead: assert (!ahead);
      end
      Stage1HoldsWhatItRead: assert (!astray_step[1] || !dut.initialised);
      Stage2HoldsWhatItRead: assert (!astray_step[2] || !dut.initialised);
      Stage3HoldsWhatItRead: assert (!astray_step[3] || !dut.initialised);
      Stage4HoldsWhatItRead: assert (!astray_step[4] || !dut.initialised);
      Stage5HoldsWhatItRead: assert (!astray_step[5] || !dut.initialised);
      ARefreshHoldsWhatItRead: assert (!astray_step[6] || !dut.initialised);
      FramesMoveOn: assert (!astray);
      TheFrontMovesOn: assert (!stands);
      StepsDoNotMeet: assert (!meets);
      TheEndOfTheIntervalIsKnown: assert (dut.refresh_due_q == (dut.interval_q == '0));
      WhatHoldsTheFrontIsKnown: assert (dut.hold_q == (dut.wait_valid_q && (dut.conflict_q || dut.refresh_due_q)));
      OldTimesAreOfTheCycleBefore: assert (age(dut.oldest_q) >= AgeMax && age(dut.oldest_q) <= AgeMax + $signed(TimeWidth'(TicksPerCycle)));
      WhatIsOnItsWayIsKnown: assert (dut.conflict_q == (dut.step_valid_q[Latency-2:0] != '0));
      ArrivalsStayRecent: assert (!(dut.step_valid_q[5] && !dut.last.refresh)
          || (age(dut.last.frame.arrival) >= 0
              && age(dut.last.frame.arrival) <= $signed(TimeWidth'(ArrivalAge + TicksPerCycle * (FrontMax + Latency)))));

      if (keeps) begin
        // As distances from now, which do not wrap.
        AGroupNeverDecreases: assert (age(dut.eligible_last_q) <= age(group_eligible));
        NeverBeforeArrival: assert (age(dut.eligible_last_q) <= age(dut.last.frame.arrival));
        CreditCoversTheFrame: assert (
            age(dut.eligible_last_q) <= age(bucket) - $signed(TimeWidth'(dut.last.recovery)));
        NoBucketIsOverfull: assert (
            age(dut.bucket_after_q) - $signed(TimeWidth'(dut.last.fill))
            <= age(dut.eligible_last_q) - $signed(TimeWidth'(dut.last.recovery)));
        ABucketNeverGainsByAFrame: assert (age(dut.bucket_after_q) <= age(bucket));
        ResidenceIsBounded: assert (age(dut.last.frame.arrival) - age(dut.eligible_last_q)
            <= $signed(TimeWidth'(residence_max_q)));
        ItIsWritten: assert (dut.bucket_write && dut.eligible_write
            && dut.bucket_address == dut.last.frame.scheduler && dut.group_address == dut.last.group
            && dut.bucket_data == dut.bucket_after_q && dut.eligible_data == dut.eligible_last_q);
      end
      // Never early, never later than one of the three has it.
      if (keeps) begin
        NoLaterThanNeeded: assert (dut.eligible_last_q == dut.last.frame.arrival
            || dut.eligible_last_q == group_eligible
            || dut.eligible_last_q == TimeWidth'(bucket + TimeWidth'(dut.last.recovery)));
      end
      if (discards) begin
        ADiscardLeavesNoTrace: assert (!dut.bucket_write && !dut.eligible_write && dut.count_write);
      end
      if (done) begin
        ARefreshOnlyBringsForward: assert (
            (!dut.bucket_write || age(dut.bucket_data) <= age(bucket))
            && (!dut.eligible_write || age(dut.eligible_data) <= age(group_eligible))
            && (!dut.bucket_write || age(dut.bucket_data) >= AgeMax)
            && (!dut.eligible_write || age(dut.eligible_data) >= AgeMax));
      end
    end
  end

endmodule
