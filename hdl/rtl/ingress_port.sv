// Reception of one port: MAC, VLAN and class of the frame, the tables' answers about it, and its descriptor.
//
// A frame's addresses and stream are looked up while it comes in, and its words go to the buffer. When it is there its
// descriptor waits for the dispatch: its ports, its class and lane, and its ATS scheduler, if it has one.
//
// Cut-through: while a frame for exactly one port comes in, unshaped, and nothing of this port is on its way to the
// queues, the port requests to send it at once.
//
// Invariant: a good frame is passed on, begun to be cut through, or counted as dropped, whatever carriers are around it.
// Not here: the tables (`exact_table.sv`, `vlan_table.sv`, `stream_filter.sv`), the buffer (`packet_buffer.sv`).

module ingress_port #(
  // Which port this is, of how many.
  parameter int unsigned Port = 0,
  parameter int unsigned Ports = 4,
  parameter int unsigned CellWidth = 12,
  parameter int unsigned LengthWidth = 11,
  parameter int unsigned TimeWidth = 48,
  parameter int unsigned SchedulerWidth = 12,
  parameter int unsigned Classes = 8,
  parameter bit          CutThrough = 1'b1,
  // Dependent, not to be overridden.
  parameter int unsigned ChainWidth = LengthWidth - 5,
  parameter int unsigned ClassWidth = $clog2(Classes),
  parameter int unsigned PortWidth = $clog2(Ports)
) (
  input  logic                                  clk_i,
  input  logic                                  rst_ni,
  // Frames are taken.
  input  logic                                  enable_i,
  input  logic [TimeWidth-1:0]                  now_i,
  input  logic [63:0]                           clock_i,
  // The last start delimiter by the adjustable clock.
  output logic [63:0]                           stamp_o,

  input  logic [7:0]                            gmii_rxd_i,
  input  logic                                  gmii_rx_dv_i,
  input  logic                                  gmii_rx_er_i,

  // Settings (`switch_fabric.sv`); the cut-through classes of every port.
  input  logic [7:0][ClassWidth-1:0]            class_of_pcp_i,
  input  logic [11:0]                           default_vid_i,
  input  logic [2:0]                            default_pcp_i,
  input  logic [Classes-1:0]                    ats_class_i,
  input  logic [Ports-1:0][Classes-1:0]         cut_through_i,

  // Words for the buffer, and the frame when it is there.
  output logic                                  word_valid_o,
  output logic [63:0]                           word_o,
  output logic                                  word_first_o,
  output logic                                  word_last_o,
  output logic [2:0]                            word_tail_o,
  output logic                                  word_bad_o,
  input  logic                                  done_valid_i,
  input  logic                                  done_whole_i,
  input  logic                                  done_claim_i,
  input  logic [CellWidth-1:0]                  done_cell_i,
  input  logic [ChainWidth-1:0]                 done_cells_i,

  // Lookups in the tables and their answers: ports of the address, members of the VLAN, schedulers of streams.
  output logic                                  start_o,
  output logic                                  octet_valid_o,
  output logic [7:0]                            octet_o,
  output logic                                  lookup_valid_o,
  output logic [59:0]                           lookup_key_o,
  output logic [59:0]                           source_key_o,
  output logic                                  learn_valid_o,
  output logic [59:0]                           learn_key_o,
  input  logic                                  address_answer_i,
  input  logic                                  address_hit_i,
  input  logic [Ports-1:0]                      address_ports_i,
  input  logic                                  vlan_answer_i,
  input  logic [Ports-1:0]                      vlan_members_i,
  input  logic                                  destination_answer_i,
  input  logic                                  source_answer_i,
  input  logic                                  stream_hit_i,
  input  logic [SchedulerWidth-1:0]             stream_scheduler_i,
  input  logic                                  filter_hit_i,
  input  logic [SchedulerWidth-1:0]             filter_scheduler_i,

  // Cut-through: to which port the frame would be sent, in which class; it still came in a cycle before; it was begun.
  // Frames of any port are between here and the queues.
  output logic [Ports-1:0]                      cut_ask_o,
  output logic [ClassWidth-1:0]                 cut_class_o,
  output logic                                  cut_alive_o,
  input  logic                                  cut_begun_i,
  input  logic                                  dispatch_busy_i,

  // The oldest frame that waits for the dispatch.
  output logic                                  arrived_valid_o,
  output logic [CellWidth-1:0]                  arrived_cell_o,
  output logic [ChainWidth-1:0]                 arrived_cells_o,
  output logic [LengthWidth-1:0]                arrived_octets_o,
  output logic [Ports-1:0]                      arrived_ports_o,
  output logic [ClassWidth-1:0]                 arrived_class_o,
  output logic [PortWidth-1:0]                  arrived_lane_o,
  // It is good and for some port; it has a scheduler.
  output logic                                  arrived_keep_o,
  output logic                                  arrived_shaped_o,
  output logic [SchedulerWidth-1:0]             arrived_scheduler_o,
  output logic [TimeWidth-1:0]                  arrived_time_o,
  input  logic                                  arrived_pop_i,

  // Frames; they wrap.
  output logic [31:0]                           received_o,
  output logic [31:0]                           received_short_o,
  output logic [31:0]                           received_long_o,
  output logic [31:0]                           received_check_o,
  output logic [31:0]                           dropped_no_cell_o,
  output logic [31:0]                           dropped_no_port_o,
  output logic [31:0]                           dropped_not_member_o
);

  localparam logic [Ports-1:0] Here = Ports'(1) << Port;

  typedef struct packed {
    logic [CellWidth-1:0]      first;
    logic [ChainWidth-1:0]     cells;
    logic [LengthWidth-1:0]    octets;
    logic [Ports-1:0]          ports;
    logic [ClassWidth-1:0]     class_;
    logic [PortWidth-1:0]      lane;
    logic                      keep;
    logic                      shaped;
    logic [SchedulerWidth-1:0] scheduler;
    logic [TimeWidth-1:0]      arrival;
  } arrived_t;

  // The information at the end of a frame: from its MAC, its time, and the result of the identification rules.
  typedef struct packed {
    logic                      good;
    logic [LengthWidth-1:0]    octets;
    logic [TimeWidth-1:0]      arrival;
    logic                      filter_hit;
    logic [SchedulerWidth-1:0] filter_scheduler;
  } ended_t;

  // --- The MAC and the header.

  logic                   delimiter, header_valid, header_tagged;
  logic [47:0]            header_destination, header_source, source_q;
  logic [2:0]             header_pcp, pcp_q;
  logic [11:0]            header_vid, vid, vid_q;
  logic                   end_valid, end_words, end_good, end_short, end_long, end_check;
  logic [LengthWidth-1:0] end_octets;
  logic                   last_good_q, reserved_q, inside_q;
  logic [LengthWidth-1:0] last_octets_q;
  logic [TimeWidth-1:0]   last_arrival_q;
  logic [2:0]             ends_q;
  logic [ClassWidth-1:0]  class_q;

  // The line goes through two registers, at the pins and here; its times are those of the pins.
  logic [9:0]                pins_q, line_q;
  logic [1:0][TimeWidth-1:0] now_q;
  logic [2:0][63:0]          clock_q;
  logic                      enabled_q, delimiter_q;

  always_ff @(posedge clk_i) begin
    pins_q      <= {gmii_rx_er_i, gmii_rx_dv_i, gmii_rxd_i};
    line_q      <= pins_q;
    now_q       <= {now_q[0], now_i};
    clock_q     <= {clock_q[1:0], clock_i};
    enabled_q   <= rst_ni && enable_i;
    delimiter_q <= delimiter;
  end

  gmii_rx #(.LengthWidth(LengthWidth)) u_rx (
    .clk_i, .rst_ni(rst_ni && enabled_q),
    .gmii_rxd_i(line_q[7:0]), .gmii_rx_dv_i(line_q[8]), .gmii_rx_er_i(line_q[9]),
    .word_valid_o, .word_o, .word_first_o, .word_last_o, .word_tail_o,
    .start_o(delimiter), .octet_valid_o, .octet_o,
    .header_valid_o(header_valid), .header_destination_o(header_destination),
    .header_source_o(header_source), .header_tagged_o(header_tagged),
    .header_pcp_o(header_pcp), .header_vid_o(header_vid),
    .end_valid_o(end_valid), .end_words_o(end_words), .end_good_o(end_good),
    .end_short_o(end_short), .end_long_o(end_long), .end_check_o(end_check),
    .end_octets_o(end_octets)
  );

  assign word_bad_o = !end_good;
  assign start_o = delimiter;
  // A priority tag (VID 0) and no tag mean the VLAN of the port.
  assign vid = header_tagged && header_vid != '0 ? header_vid : default_vid_i;
  assign source_key_o = {vid_q, source_q};

  always_ff @(posedge clk_i) begin
    lookup_valid_o <= header_valid;
    if (header_valid) begin
      lookup_key_o <= {vid, header_destination};
      source_q     <= header_source;
      vid_q        <= vid;
      pcp_q        <= header_tagged ? header_pcp : default_pcp_i;
      reserved_q   <= header_destination[47:4] == 44'h0180c_200000;
    end
    class_q <= class_of_pcp_i[pcp_q];
    ends_q <= {ends_q[1:0], end_valid && end_words};
    if (end_valid && end_words) begin
      last_good_q    <= end_good;
      last_octets_q  <= end_octets;
      last_arrival_q <= now_q[1];
    end
    inside_q <= !end_valid && (inside_q || header_valid);
    if (delimiter_q) stamp_o <= clock_q[2];
    if (!rst_ni) begin
      lookup_valid_o <= 1'b0;
      ends_q         <= '0;
      inside_q       <= 1'b0;
      stamp_o        <= '0;
    end
  end

  // --- Answers of the tables.

  logic [Ports-1:0]          ports_q, members_q, allowed;
  logic                      ports_known_q, members_known_q, known_q, source_known_q;
  logic [SchedulerWidth-1:0] scheduler_q, source_scheduler_q;

  assign allowed = (members_q & Here) != '0 ? ports_q & members_q : '0;

  always_ff @(posedge clk_i) begin
    if (address_answer_i) ports_q <= (address_hit_i ? address_ports_i : '1) & ~Here;
    if (vlan_answer_i) members_q <= vlan_members_i;
    if (destination_answer_i) begin
      known_q     <= stream_hit_i;
      scheduler_q <= stream_scheduler_i;
    end
    if (source_answer_i) begin
      source_known_q     <= stream_hit_i;
      source_scheduler_q <= stream_scheduler_i;
    end
    ports_known_q   <= !header_valid && (ports_known_q || address_answer_i);
    members_known_q <= !header_valid && (members_known_q || vlan_answer_i);
    learn_valid_o   <= end_valid && end_good && !source_q[40] && (members_q & Here) != '0;
    learn_key_o     <= source_key_o;
    if (!rst_ni) begin
      ports_known_q   <= 1'b0;
      members_known_q <= 1'b0;
      learn_valid_o   <= 1'b0;
    end
  end

  // --- Cut-through.

  logic                  may_cut_q, cut_q, alive, alive_q, oldest_valid, arrived_valid_q;
  logic [Ports-1:0]      cut_to;

  always_comb begin
    for (int unsigned e = 0; e < Ports; e++) cut_to[e] = allowed[e] && cut_through_i[e][class_q];
  end
  assign cut_class_o = class_q;
  assign alive = inside_q && !end_valid && !cut_q;
  assign cut_alive_o = alive_q;

  always_ff @(posedge clk_i) begin
    may_cut_q <= CutThrough && ports_known_q && members_known_q && !header_valid && !reserved_q
                 && !ats_class_i[class_q] && (allowed & (allowed - 1'b1)) == '0;
    alive_q   <= alive && !cut_begun_i;
    cut_ask_o <= may_cut_q && alive && !oldest_valid && !arrived_valid_q && !dispatch_busy_i ? cut_to : '0;
    cut_q     <= cut_begun_i || (cut_q && !done_valid_i);
    if (!rst_ni) begin
      may_cut_q <= 1'b0;
      alive_q   <= 1'b0;
      cut_ask_o <= '0;
      cut_q     <= 1'b0;
    end
  end

  // --- The information about a frame waits until the frame is in the buffer. That may be three cycles after its end, when
  // its last octet has passed the rules, or later, with the ends of other carriers between.

  ended_t ended, ended_now, ended_oldest;
  logic   ended_waits, ended_full;

  assign ended_now = '{
    good:             last_good_q,
    octets:           last_octets_q,
    arrival:          last_arrival_q,
    filter_hit:       filter_hit_i,
    filter_scheduler: filter_scheduler_i
  };
  assign ended = ended_waits ? ended_oldest : ended_now;

  sync_fifo #(.Width($bits(ended_t)), .Depth(4)) u_ended (
    .clk_i, .rst_ni,
    .push_i(ends_q[2] && (ended_waits || !done_valid_i)), .data_i(ended_now), .full_o(ended_full),
    .valid_o(ended_waits), .data_o(ended_oldest), .pop_i(done_valid_i && ended_waits)
  );

  // --- The descriptor.

  arrived_t pushed, oldest, arrived_q;
  logic     hit, arrives, full, oldest_pop;

  // Identification: by destination, by source, by value and mask.
  always_comb begin
    hit = known_q || source_known_q || ended.filter_hit;
    if (known_q) pushed.scheduler = scheduler_q;
    else if (source_known_q) pushed.scheduler = source_scheduler_q;
    else pushed.scheduler = ended.filter_scheduler;
    pushed.first   = done_cell_i;
    pushed.cells   = done_cells_i;
    pushed.octets  = ended.octets;
    pushed.ports   = reserved_q ? '0 : allowed;
    pushed.class_  = class_q;
    pushed.lane    = ats_class_i[class_q] ? PortWidth'(Port) : '0;
    pushed.keep    = ended.good && done_whole_i && !reserved_q && allowed != '0;
    pushed.shaped  = ats_class_i[class_q] && hit;
    pushed.arrival = ended.arrival;
  end

  // What has no cell is counted alone, if at all; a bad frame that is short leaves none; what is cut through is on its way.
  assign arrives = done_valid_i && done_claim_i && !cut_q;

  sync_fifo #(.Width($bits(arrived_t)), .Depth(8)) u_arrived (
    .clk_i, .rst_ni,
    .push_i(arrives), .data_i(pushed), .full_o(full),
    .valid_o(oldest_valid), .data_o(oldest), .pop_i(oldest_pop)
  );

  // The oldest one in a register, because its path is long.
  assign oldest_pop = oldest_valid && (!arrived_valid_q || arrived_pop_i);
  assign arrived_valid_o = arrived_valid_q;

  always_ff @(posedge clk_i) begin
    arrived_valid_q <= oldest_pop || (arrived_valid_q && !arrived_pop_i);
    if (oldest_pop) arrived_q <= oldest;
    if (!rst_ni) arrived_valid_q <= 1'b0;
  end

  assign arrived_cell_o = arrived_q.first;
  assign arrived_cells_o = arrived_q.cells;
  assign arrived_octets_o = arrived_q.octets;
  assign arrived_ports_o = arrived_q.ports;
  assign arrived_class_o = arrived_q.class_;
  assign arrived_lane_o = arrived_q.lane;
  assign arrived_keep_o = arrived_q.keep;
  assign arrived_shaped_o = arrived_q.shaped;
  assign arrived_scheduler_o = arrived_q.scheduler;
  assign arrived_time_o = arrived_q.arrival;

  // --- Counters; what is lost a cycle later.

  logic lost_q, no_cell_q, not_member_q, no_port_q;

  always_ff @(posedge clk_i) begin
    if (end_valid) begin
      received_o       <= received_o + 32'(end_good);
      received_short_o <= received_short_o + 32'(end_short);
      received_long_o  <= received_long_o + 32'(end_long);
      received_check_o <= received_check_o + 32'(end_check && !end_short && !end_long);
    end
    lost_q       <= done_valid_i && ended.good && !cut_q;
    no_cell_q    <= !done_whole_i;
    not_member_q <= (members_q & Here) == '0;
    no_port_q    <= !pushed.keep;
    if (lost_q) begin
      if (no_cell_q) dropped_no_cell_o <= dropped_no_cell_o + 1;
      else if (not_member_q) dropped_not_member_o <= dropped_not_member_o + 1;
      else if (no_port_q) dropped_no_port_o <= dropped_no_port_o + 1;
    end
    if (!rst_ni) begin
      lost_q               <= 1'b0;
      received_o           <= '0;
      received_short_o     <= '0;
      received_long_o      <= '0;
      received_check_o     <= '0;
      dropped_no_cell_o    <= '0;
      dropped_no_port_o    <= '0;
      dropped_not_member_o <= '0;
    end
  end

`ifndef SYNTHESIS
  NoArrivalIsLost: assert property (@(posedge clk_i) disable iff (!rst_ni) !(arrives && full));
  NoGoodFrameStaysBehind: assert property (@(posedge clk_i) disable iff (!rst_ni)
      done_valid_i && done_whole_i && ended.good |-> done_claim_i);
  NoEndIsLost: assert property (@(posedge clk_i) disable iff (!rst_ni) ends_q[2] |-> !ended_full);
  WhatStandsThereHasEnded: assert property (@(posedge clk_i) disable iff (!rst_ni)
      done_valid_i |-> ended_waits || ends_q[2]);
  EveryEndIsWords: assert property (@(posedge clk_i) disable iff (!rst_ni)
      end_valid && end_words |-> word_valid_o);
`endif

endmodule
