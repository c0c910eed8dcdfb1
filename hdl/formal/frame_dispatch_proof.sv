// What `frame_dispatch` hands on, by induction: every frame that it takes from a port is claimed once, by as many
// readers as queues took it; it goes to the queues that it is for and that have room, unless too few cells are free for
// its class, and the others are counted;
// a decision of the engine never meets one that still waits.
//
// Assumed of the callers: the engine decides about frames that it was given, in every sixth cycle at most.

module frame_dispatch_proof #(
  parameter int unsigned Ports = 4,
  parameter int unsigned CellWidth = 2,
  parameter int unsigned LengthWidth = 7,
  parameter int unsigned TimeWidth = 2,
  parameter int unsigned SchedulerWidth = 1,
  parameter int unsigned Classes = 8,
  // Dependent, not to be overridden.
  parameter int unsigned ChainWidth = LengthWidth - 5,
  parameter int unsigned ClassWidth = $clog2(Classes),
  parameter int unsigned PortWidth = $clog2(Ports),
  parameter int unsigned CountWidth = $clog2(Ports + 1),
  parameter int unsigned TagWidth = CellWidth + ChainWidth + LengthWidth + Ports + ClassWidth + PortWidth
) (
  input logic                                 clk_i,
  input logic [Ports-1:0]                     arrived_valid_i,
  input logic [Ports-1:0][CellWidth-1:0]      arrived_cell_i,
  input logic [Ports-1:0][ChainWidth-1:0]     arrived_cells_i,
  input logic [Ports-1:0][LengthWidth-1:0]    arrived_octets_i,
  input logic [Ports-1:0][Ports-1:0]          arrived_ports_i,
  input logic [Ports-1:0][ClassWidth-1:0]     arrived_class_i,
  input logic [Ports-1:0][PortWidth-1:0]      arrived_lane_i,
  input logic [Ports-1:0]                     arrived_keep_i,
  input logic [Ports-1:0]                     arrived_shaped_i,
  input logic [Ports-1:0][SchedulerWidth-1:0] arrived_scheduler_i,
  input logic [Ports-1:0][TimeWidth-1:0]      arrived_time_i,
  input logic                                 frame_ready_i,
  input logic                                 decision_valid_i,
  input logic [TagWidth-1:0]                  decision_tag_i,
  input logic [TimeWidth-1:0]                 decision_eligible_i,
  input logic                                 decision_discard_i,
  input logic [Ports-1:0]                     room_i,
  input logic [Classes-1:0]                   scarce_i
);

  localparam int unsigned Apart = 6;

  logic                      started_q = 1'b0;
  logic                      busy, frame_valid, claim_valid;
  logic [Ports-1:0]          arrived_pop, enqueue_valid, dropped, limited;
  logic [SchedulerWidth-1:0] frame_scheduler;
  logic [LengthWidth-1:0]    frame_octets, enqueue_octets;
  logic [TimeWidth-1:0]      frame_arrival, enqueue_eligible;
  logic [TagWidth-1:0]       frame_tag;
  logic [ClassWidth-1:0]     enqueue_class;
  logic [PortWidth-1:0]      enqueue_lane;
  logic [CellWidth-1:0]      enqueue_cell, claim_cell;
  logic [CountWidth-1:0]     claim_readers;
  logic [ChainWidth-1:0]     claim_cells;

  always_ff @(posedge clk_i) started_q <= 1'b1;

  frame_dispatch #(
    .Ports(Ports), .CellWidth(CellWidth), .LengthWidth(LengthWidth), .TimeWidth(TimeWidth),
    .SchedulerWidth(SchedulerWidth), .Classes(Classes)
  ) dut (
    .clk_i, .rst_ni(started_q), .busy_o(busy),
    .arrived_valid_i, .arrived_cell_i, .arrived_cells_i, .arrived_octets_i, .arrived_ports_i, .arrived_class_i,
    .arrived_lane_i, .arrived_keep_i, .arrived_shaped_i, .arrived_scheduler_i, .arrived_time_i,
    .arrived_pop_o(arrived_pop),
    .frame_valid_o(frame_valid), .frame_ready_i, .frame_scheduler_o(frame_scheduler), .frame_octets_o(frame_octets),
    .frame_arrival_o(frame_arrival), .frame_tag_o(frame_tag),
    .decision_valid_i, .decision_tag_i, .decision_eligible_i, .decision_discard_i,
    .enqueue_class_o(enqueue_class), .enqueue_lane_o(enqueue_lane), .enqueue_cell_o(enqueue_cell),
    .enqueue_octets_o(enqueue_octets), .enqueue_eligible_o(enqueue_eligible), .room_i, .scarce_i,
    .enqueue_valid_o(enqueue_valid), .dropped_o(dropped), .limited_o(limited),
    .claim_valid_o(claim_valid), .claim_cell_o(claim_cell), .claim_readers_o(claim_readers),
    .claim_cells_o(claim_cells)
  );

  // Frames taken and not yet claimed, those in the engine, and cycles since its last decision.
  logic [3:0] taken_q, engine_q, since_q, places;

  always_ff @(posedge clk_i) begin
    taken_q  <= taken_q + 4'(|arrived_pop) - 4'(claim_valid);
    engine_q <= engine_q + 4'(frame_valid && frame_ready_i) - 4'(decision_valid_i);
    if (decision_valid_i) since_q <= 4'd1;
    else if (since_q != '1) since_q <= since_q + 1'b1;
    if (!started_q) begin
      taken_q  <= '0;
      engine_q <= '0;
      since_q  <= '1;
    end
  end

  assign places = engine_q + 4'(dut.item_valid_q) + 4'(dut.decided_valid_q) + 4'(dut.step_q != '0);

  // The frame that is on its way, as it was taken, and the room that it found.
  logic [TagWidth-1:0]   way_q;
  logic                  way_keep_q, scarce_q, scarce_then_q;
  logic [Ports-1:0]      room_q, wanted, enqueued_q, ports;
  logic [CountWidth-1:0] readers;
  logic                  late;

  always_ff @(posedge clk_i) begin
    if (dut.decided_taken) begin
      way_q      <= dut.decided_q;
      way_keep_q <= dut.decided_keep_q;
    end else if (dut.direct) begin
      way_q      <= dut.item_q;
      way_keep_q <= dut.item_keep_q;
    end
    room_q     <= room_i;
    // As it was in the first of the four steps.
    scarce_q      <= scarce_i[dut.way_q.class_];
    scarce_then_q <= scarce_q;
    enqueued_q <= enqueue_valid;
  end

  assign ports = dut.way_q.ports;
  assign wanted = way_keep_q ? ports : '0;

  always_comb begin
    readers = '0;
    late = dut.decided_valid_q && (since_q > 4'd5 || (since_q == 4'd5 && dut.step_q != '0));
    for (int unsigned p = 0; p < Ports; p++) readers += CountWidth'(enqueued_q[p]);
    // What blocks a decision was on its way when the decision came.
    for (int unsigned k = 0; k < 4; k++) late |= dut.decided_valid_q && dut.step_q[k] && 4'(k + 1) < since_q;
  end

  always_comb begin
    if (started_q) begin
      DecisionsAreApart: assume (!decision_valid_i || since_q >= 4'(Apart));
      OnlyWhatItWasGivenIsDecided: assume (!decision_valid_i || engine_q != '0);
      TheEngineHoldsSixAtMost: assume (!frame_ready_i || engine_q < 4'd6);

      OneIsTakenAtATime: assert ((arrived_pop & (arrived_pop - 1'b1)) == '0 && (arrived_pop & ~arrived_valid_i) == '0);
      TheTurnIsOne: assert (dut.turn_hot_q == Ports'(1) << dut.turn_q);
      TheEngineHoldsNoMore: assert (engine_q <= 4'd6);
      EveryFrameIsInOnePlace: assert (taken_q == places);
      NoDecisionWaitsLong: assert (!late);
      NoDecisionIsLost: assert (!decision_valid_i || !dut.decided_valid_q);
      OneIsOnTheWay: assert ((dut.step_q & (dut.step_q - 1'b1)) == '0);
      TheWayChangesNothing: assert (dut.step_q == '0 || (dut.way_q == way_q && dut.keep_q == way_keep_q));
      QueuesAreAskedFirst: assert (enqueue_valid == (dut.step_q[2] && !scarce_then_q ? wanted & room_q : '0));
      WhatFindsNoRoomIsCounted: assert (dropped == (dut.step_q[2] && !scarce_then_q ? wanted & ~room_q : '0));
      WhatALimitKeepsOutIsCounted: assert (limited == (dut.step_q[2] && scarce_then_q ? wanted : '0));
      TheLimitIsOfTheClass: assert (dut.step_q == '0 || dut.step_q[0] || dut.scarce_q == scarce_q);
      AClaimIsByThoseWhoTookIt: assert (!claim_valid || (claim_readers == readers
          && (enqueued_q & ~wanted) == '0 && claim_cell == dut.way_q.first && claim_cells == dut.way_q.cells));
      OctetsAreWithoutTheCheckSequence: assert (
          enqueue_valid == '0 || enqueue_octets == LengthWidth'(dut.way_q.octets - LengthWidth'(4)));
      ToTheEngineOrPastIt: assert (!(frame_valid && dut.direct));
      IdleMeansEmpty: assert (busy || !(dut.item_valid_q || dut.step_q != '0));
    end
  end

endmodule
