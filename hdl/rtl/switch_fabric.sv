// A switch: MACs, VLANs, forwarding with learning, streams, ATS, queues, shared buffer; settings as ports.
//
// A frame is written to the buffer while it comes in; its addresses are looked up meanwhile. At its end
// its descriptor goes to the ATS engine, if its class is shaped and its stream is known, or straight to
// the queues of its ports. All ports share one clock of 125 MHz and one engine.
//
// Cut-through: a frame for one port, of a class that may pass there unshaped and that finds the line free and its
// queues empty, is sent while it comes in, from the answer of the address table on. If it turns out bad it
// is sent as a bad one and counted.
//
// Invariant: a frame that came in whole is sent by every port that it is for, or counted: no cell, no
// port it is for, no member of its VLAN, queue full, or discarded by its ATS scheduler group.
//
// Not here: registers (`tsn_switch.sv`), changes of tags, several clocks.

module switch_fabric #(
  // Ports; a power of two.
  parameter int unsigned Ports = 4,
  // Cells of 64 octets in the shared buffer; a power of two.
  parameter int unsigned Cells = 4096,
  // Frames in a queue of one port, class and reception port; a power of two.
  parameter int unsigned Depth = 32,
  // Buckets of two addresses and of two streams; powers of two.
  parameter int unsigned AddressBuckets = 256,
  parameter int unsigned StreamBuckets = 2048,
  // ATS scheduler instances and groups; powers of two.
  parameter int unsigned Schedulers = 4096,
  parameter int unsigned Groups = 64,
  // Rules of identification by value and mask; a power of two.
  parameter int unsigned Rules = 8,
  // Whether frames may be cut through; with up to four ports.
  parameter bit          CutThrough = 1'b1,
  // Ticks of time in a cycle.
  parameter int unsigned TicksPerCycle = 16,
  // Fixed here; not to be overridden.
  parameter int unsigned Classes = 8,
  parameter int unsigned TimeWidth = 48,
  parameter int unsigned OctetTimeWidth = 40,
  parameter int unsigned FillWidth = 36,
  parameter int unsigned ClassWidth = $clog2(Classes),
  parameter int unsigned CellWidth = $clog2(Cells),
  parameter int unsigned SchedulerWidth = $clog2(Schedulers),
  parameter int unsigned GroupWidth = $clog2(Groups),
  parameter int unsigned RuleWidth = $clog2(Rules)
) (
  input  logic                                        clk_i,
  input  logic                                        rst_ni,
  // Tables are initialised; frames before that are ignored.
  output logic                                        ready_o,
  output logic [TimeWidth-1:0]                        now_o,
  // The adjustable clock in ns, and the last start delimiters by it.
  input  logic [31:0]                                 clock_rate_i,
  input  logic                                        clock_step_valid_i,
  input  logic [63:0]                                 clock_step_i,
  output logic [63:0]                                 clock_o,
  output logic [Ports-1:0][63:0]                      received_stamp_o,
  output logic [Ports-1:0][63:0]                      sent_stamp_o,

  input  logic [Ports-1:0][7:0]                       gmii_rxd_i,
  input  logic [Ports-1:0]                            gmii_rx_dv_i,
  input  logic [Ports-1:0]                            gmii_rx_er_i,
  output logic [Ports-1:0][7:0]                       gmii_txd_o,
  output logic [Ports-1:0]                            gmii_tx_en_o,
  output logic [Ports-1:0]                            gmii_tx_er_o,

  // Per reception port: priority code point to class, VLAN and priority of frames that are not tagged.
  input  logic [Ports-1:0][7:0][ClassWidth-1:0]       class_of_pcp_i,
  input  logic [Ports-1:0][11:0]                      default_vid_i,
  input  logic [Ports-1:0][2:0]                       default_pcp_i,
  // Classes shaped by ATS.
  input  logic [Classes-1:0]                          ats_class_i,
  // Per transmission port: classes that may be cut through, gates, credit-based shapers, idleSlope in bit/s.
  input  logic [Ports-1:0][Classes-1:0]               cut_through_i,
  input  logic [Ports-1:0][Classes-1:0]               gate_open_i,
  input  logic [Ports-1:0][Classes-1:0]               credit_based_i,
  input  logic [Ports-1:0][Classes-1:0][29:0]         idle_slope_i,

  // ATS (`ats_engine.sv`).
  input  logic [7:0]                                  charged_overhead_i,
  input  logic [FillWidth-1:0]                        processing_delay_max_i,
  input  logic                                        scheduler_write_i,
  input  logic [SchedulerWidth-1:0]                   scheduler_index_i,
  input  logic [GroupWidth-1:0]                       scheduler_group_i,
  input  logic [OctetTimeWidth-1:0]                   scheduler_octet_time_i,
  input  logic [FillWidth-1:0]                        scheduler_empty_to_full_i,
  input  logic [14:0]                                 scheduler_octets_max_i,
  input  logic                                        group_write_i,
  input  logic [GroupWidth-1:0]                       group_index_i,
  input  logic [FillWidth-1:0]                        group_residence_max_i,
  input  logic [GroupWidth-1:0]                       group_count_index_i,
  output logic [31:0]                                 group_exceeds_burst_o,
  output logic [31:0]                                 group_exceeds_residence_o,

  // Streams by address and VLAN (802.1CB, null and source identification: the upper bit of the key says which),
  // and by value and mask. Addresses of software. VLANs.
  input  logic                                        stream_write_i,
  output logic                                        stream_ready_o,
  input  logic                                        stream_remove_i,
  input  logic [60:0]                                 stream_key_i,
  input  logic [SchedulerWidth-1:0]                   stream_scheduler_i,
  input  logic                                        octet_write_i,
  input  logic [RuleWidth-1:0]                        octet_rule_i,
  input  logic [5:0]                                  octet_place_i,
  input  logic [7:0]                                  octet_value_i,
  input  logic [7:0]                                  octet_mask_i,
  input  logic                                        rule_write_i,
  input  logic [RuleWidth-1:0]                        rule_index_i,
  input  logic                                        rule_enable_i,
  input  logic [SchedulerWidth-1:0]                   rule_scheduler_i,
  input  logic                                        address_write_i,
  output logic                                        address_ready_o,
  input  logic                                        address_remove_i,
  input  logic [59:0]                                 address_key_i,
  input  logic [Ports-1:0]                            address_ports_i,
  input  logic                                        vlan_write_i,
  input  logic [11:0]                                 vlan_vid_i,
  input  logic [Ports-1:0]                            vlan_members_i,
  input  logic                                        age_tick_i,

  // Frames, by port; they wrap.
  output logic [Ports-1:0][31:0]                      received_o,
  output logic [Ports-1:0][31:0]                      received_short_o,
  output logic [Ports-1:0][31:0]                      received_long_o,
  output logic [Ports-1:0][31:0]                      received_check_o,
  output logic [Ports-1:0][31:0]                      dropped_no_cell_o,
  output logic [Ports-1:0][31:0]                      dropped_no_port_o,
  output logic [Ports-1:0][31:0]                      dropped_not_member_o,
  output logic [Ports-1:0][31:0]                      dropped_queue_full_o,
  output logic [Ports-1:0][31:0]                      sent_o,
  output logic [Ports-1:0][31:0]                      sent_cut_through_o,
  output logic [Ports-1:0][31:0]                      sent_bad_o,
  output logic [31:0]                                 table_overflows_o,
  output logic [CellWidth:0]                          free_cells_o
);

  localparam int unsigned LengthWidth = 11;
  localparam int unsigned ChainWidth = LengthWidth - 5;
  localparam int unsigned PortWidth = $clog2(Ports);
  localparam int unsigned CountWidth = $clog2(Ports + 1);
  // No port takes more than two cells in 89 cycles, nor a frame longer than 1 542.
  localparam int unsigned CutReserve = 40 * Ports;

  typedef struct packed {
    logic [CellWidth-1:0]   first;
    logic [ChainWidth-1:0]  cells;
    logic [LengthWidth-1:0] octets;
    logic [Ports-1:0]       ports;
    logic [ClassWidth-1:0]  class_;
    logic [PortWidth-1:0]   lane;
  } descriptor_t;

  typedef struct packed {
    descriptor_t               descriptor;
    logic                      keep;
    logic                      shaped;
    logic [SchedulerWidth-1:0] scheduler;
    logic [TimeWidth-1:0]      arrival;
  } arrived_t;

  logic [TimeWidth-1:0] now_q;
  logic                 buffer_ready, addresses_ready, streams_ready, vlans_ready;
  logic                 engine_started_q, engine_ready;
  logic                 ready_q;

  assign now_o = now_q;
  assign ready_o = ready_q;

  always_ff @(posedge clk_i) begin
    now_q <= now_q + TimeWidth'(TicksPerCycle);
    if (engine_ready) engine_started_q <= 1'b1;
    ready_q <= buffer_ready && addresses_ready && streams_ready && vlans_ready && engine_started_q;
    if (!rst_ni) begin
      now_q            <= '0;
      engine_started_q <= 1'b0;
      ready_q          <= 1'b0;
    end
  end

  adjustable_clock u_clock (
    .clk_i, .rst_ni, .rate_i(clock_rate_i),
    .step_valid_i(clock_step_valid_i), .step_i(clock_step_i), .now_o(clock_o)
  );

  // --- Reception.

  logic [Ports-1:0]                  word_valid, word_first, word_last;
  logic [Ports-1:0][63:0]            word;
  logic [Ports-1:0][2:0]             word_tail;
  logic [Ports-1:0]                  delimiter_in, octet_valid;
  logic [Ports-1:0][7:0]             octet;
  logic [Ports-1:0]                  header_valid, header_tagged;
  logic [Ports-1:0][47:0]            header_destination, header_source;
  logic [Ports-1:0][2:0]             header_pcp;
  logic [Ports-1:0][11:0]            header_vid;
  logic [Ports-1:0]                  end_valid, end_words, end_good, end_short, end_long, end_check;
  logic [Ports-1:0][LengthWidth-1:0] end_octets;
  logic [Ports-1:0]                  done_valid, done_whole;
  logic [Ports-1:0][CellWidth-1:0]   done_cell;
  logic [Ports-1:0][ChainWidth-1:0]  done_cells;

  logic [Ports-1:0]                     lookup_valid_q, learn_valid_q;
  logic [Ports-1:0][59:0]               lookup_key_q, learn_key_q, source_key;
  logic [Ports-1:0][11:0]               lookup_vid;
  logic [Ports-1:0][Ports-1:0]          learn_ports;
  logic [Ports-1:0]                     address_answer, destination_answer, source_answer, vlan_answer;
  logic [Ports-1:0]                     vlan_members, filter_hit;
  logic [Ports-1:0][SchedulerWidth-1:0] filter_scheduler;
  logic                                 address_hit, stream_hit;
  logic [Ports-1:0]                     address_ports;
  logic [SchedulerWidth-1:0]            stream_scheduler;
  logic                                 address_overflow, stream_overflow;

  // Cut-through: what a port would like to send at once, to which port, in which class; it was begun.
  logic [Ports-1:0]                     cut_wanted, cut_begun;
  logic [Ports-1:0][Ports-1:0]          cut_to;
  logic [Ports-1:0][ClassWidth-1:0]     cut_class;

  arrived_t         arrived [Ports];
  logic [Ports-1:0] arrived_valid, arrived_pop, arrived_full;

  for (genvar p = 0; p < Ports; p++) begin : g_rx
    logic [47:0]               source_q;
    logic [11:0]               vid, vid_q;
    logic [2:0]                pcp;
    logic [ClassWidth-1:0]     class_q;
    logic [Ports-1:0]          ports_q, members_q, here, allowed;
    logic                      reserved_q, known_q, good_q, ports_known_q, members_known_q, cut_q, inside_q;
    logic                      source_known_q, hit;
    logic [SchedulerWidth-1:0] scheduler_q, source_scheduler_q, scheduler;
    logic [LengthWidth-1:0]    octets_q;
    logic [TimeWidth-1:0]      arrival_q;
    arrived_t                  pushed;

    assign here = Ports'(1) << p;
    assign learn_ports[p] = here;
    // A priority tag (VID 0) and no tag mean the VLAN of the port.
    assign vid = header_tagged[p] && header_vid[p] != '0 ? header_vid[p] : default_vid_i[p];
    assign pcp = header_tagged[p] ? header_pcp[p] : default_pcp_i[p];
    assign source_key[p] = {vid_q, source_q};
    assign lookup_vid[p] = vid_q;
    assign allowed = (members_q & here) != '0 ? ports_q & members_q : '0;

    gmii_rx #(.LengthWidth(LengthWidth)) u_rx (
      .clk_i, .rst_ni(rst_ni && ready_q),
      .gmii_rxd_i(gmii_rxd_i[p]), .gmii_rx_dv_i(gmii_rx_dv_i[p]), .gmii_rx_er_i(gmii_rx_er_i[p]),
      .word_valid_o(word_valid[p]), .word_o(word[p]),
      .word_first_o(word_first[p]), .word_last_o(word_last[p]), .word_tail_o(word_tail[p]),
      .start_o(delimiter_in[p]), .octet_valid_o(octet_valid[p]), .octet_o(octet[p]),
      .header_valid_o(header_valid[p]), .header_destination_o(header_destination[p]),
      .header_source_o(header_source[p]), .header_tagged_o(header_tagged[p]),
      .header_pcp_o(header_pcp[p]), .header_vid_o(header_vid[p]),
      .end_valid_o(end_valid[p]), .end_words_o(end_words[p]), .end_good_o(end_good[p]),
      .end_short_o(end_short[p]), .end_long_o(end_long[p]), .end_check_o(end_check[p]),
      .end_octets_o(end_octets[p])
    );

    always_ff @(posedge clk_i) begin
      lookup_valid_q[p] <= header_valid[p];
      if (header_valid[p]) begin
        lookup_key_q[p] <= {vid, header_destination[p]};
        source_q        <= header_source[p];
        vid_q           <= vid;
        class_q         <= class_of_pcp_i[p][pcp];
        reserved_q      <= header_destination[p][47:4] == 44'h0180c_200000;
      end
      if (address_answer[p]) ports_q <= (address_hit ? address_ports : '1) & ~here;
      if (vlan_answer[p]) members_q <= vlan_members;
      if (destination_answer[p]) begin
        known_q     <= stream_hit;
        scheduler_q <= stream_scheduler;
      end
      if (source_answer[p]) begin
        source_known_q     <= stream_hit;
        source_scheduler_q <= stream_scheduler;
      end
      if (end_valid[p]) begin
        good_q    <= end_good[p];
        octets_q  <= end_octets[p];
        arrival_q <= now_q;
      end
      ports_known_q   <= !header_valid[p] && (ports_known_q || address_answer[p]);
      members_known_q <= !header_valid[p] && (members_known_q || vlan_answer[p]);
      inside_q        <= !end_valid[p] && (inside_q || header_valid[p]);
      cut_q           <= cut_begun[p] || (cut_q && !done_valid[p]);
      if (delimiter_in[p]) received_stamp_o[p] <= clock_o;
      learn_valid_q[p] <= end_valid[p] && end_good[p] && !source_q[40] && members_q[p];
      learn_key_q[p]   <= {vid_q, source_q};
      if (!rst_ni) begin
        lookup_valid_q[p]   <= 1'b0;
        learn_valid_q[p]    <= 1'b0;
        ports_known_q       <= 1'b0;
        members_known_q     <= 1'b0;
        inside_q            <= 1'b0;
        cut_q               <= 1'b0;
        received_stamp_o[p] <= '0;
      end
    end

    // For exactly one port, with nothing of this port's frames on its way to the queues.
    assign cut_to[p] = allowed;
    assign cut_class[p] = class_q;
    assign cut_wanted[p] = CutThrough && inside_q && !end_valid[p] && ports_known_q && members_known_q && !reserved_q
                           && !cut_q && !arrived_valid[p] && !ats_class_i[class_q]
                           && allowed != '0 && (allowed & (allowed - 1'b1)) == '0;

    // Identification: by destination, by source, by value and mask.
    always_comb begin
      hit = known_q || source_known_q || filter_hit[p];
      if (known_q) scheduler = scheduler_q;
      else if (source_known_q) scheduler = source_scheduler_q;
      else scheduler = filter_scheduler[p];
      pushed.descriptor.first  = done_cell[p];
      pushed.descriptor.cells  = done_cells[p];
      pushed.descriptor.octets = octets_q;
      pushed.descriptor.ports  = reserved_q ? '0 : allowed;
      pushed.descriptor.class_ = class_q;
      pushed.descriptor.lane   = ats_class_i[class_q] ? PortWidth'(p) : '0;
      pushed.keep      = good_q && done_whole[p] && !reserved_q && allowed != '0;
      pushed.shaped    = ats_class_i[class_q] && hit;
      pushed.scheduler = scheduler;
      pushed.arrival   = arrival_q;
    end

    sync_fifo #(.Width($bits(arrived_t)), .Depth(8)) u_arrived (
      .clk_i, .rst_ni,
      .push_i(done_valid[p] && !cut_q), .data_i(pushed), .full_o(arrived_full[p]),
      .valid_o(arrived_valid[p]), .data_o(arrived[p]), .pop_i(arrived_pop[p])
    );

    always_ff @(posedge clk_i) begin
      if (end_valid[p]) begin
        received_o[p]       <= received_o[p] + 32'(end_good[p]);
        received_short_o[p] <= received_short_o[p] + 32'(end_short[p]);
        received_long_o[p]  <= received_long_o[p] + 32'(end_long[p]);
        received_check_o[p] <= received_check_o[p] + 32'(end_check[p] && !end_short[p] && !end_long[p]);
      end
      if (done_valid[p] && good_q && !cut_q) begin
        if (!done_whole[p]) dropped_no_cell_o[p] <= dropped_no_cell_o[p] + 1;
        else if (!members_q[p]) dropped_not_member_o[p] <= dropped_not_member_o[p] + 1;
        else if (!pushed.keep) dropped_no_port_o[p] <= dropped_no_port_o[p] + 1;
      end
      if (!rst_ni) begin
        received_o[p]        <= '0;
        received_short_o[p]  <= '0;
        received_long_o[p]   <= '0;
        received_check_o[p]  <= '0;
        dropped_no_cell_o[p] <= '0;
        dropped_no_port_o[p] <= '0;
        dropped_not_member_o[p] <= '0;
      end
    end
  end

  vlan_table #(.Ports(Ports)) u_vlans (
    .clk_i, .rst_ni, .ready_o(vlans_ready),
    .lookup_valid_i(lookup_valid_q), .lookup_vid_i(lookup_vid),
    .answer_valid_o(vlan_answer), .answer_members_o(vlan_members),
    .write_valid_i(vlan_write_i), .write_vid_i(vlan_vid_i), .write_members_i(vlan_members_i)
  );

  exact_table #(.Requesters(Ports), .Buckets(AddressBuckets), .ValueWidth(Ports)) u_addresses (
    .clk_i, .rst_ni, .ready_o(addresses_ready),
    .lookup_valid_i(lookup_valid_q), .lookup_key_i(lookup_key_q),
    .answer_valid_o(address_answer), .answer_hit_o(address_hit), .answer_value_o(address_ports),
    .learn_valid_i(learn_valid_q), .learn_key_i(learn_key_q), .learn_value_i(learn_ports),
    .overflow_o(address_overflow),
    .write_valid_i(address_write_i), .write_ready_o(address_ready_o),
    .write_remove_i(address_remove_i), .write_key_i(address_key_i), .write_value_i(address_ports_i),
    .age_tick_i
  );

  logic [2*Ports-1:0][60:0] stream_keys;
  always_comb begin
    for (int unsigned p = 0; p < Ports; p++) begin
      stream_keys[p] = {1'b0, lookup_key_q[p]};
      stream_keys[Ports + p] = {1'b1, source_key[p]};
    end
  end

  exact_table #(
    .Requesters(2 * Ports), .Buckets(StreamBuckets), .KeyWidth(61), .ValueWidth(SchedulerWidth)
  ) u_streams (
    .clk_i, .rst_ni, .ready_o(streams_ready),
    .lookup_valid_i({lookup_valid_q, lookup_valid_q}), .lookup_key_i(stream_keys),
    .answer_valid_o({source_answer, destination_answer}),
    .answer_hit_o(stream_hit), .answer_value_o(stream_scheduler),
    .learn_valid_i('0), .learn_key_i('0), .learn_value_i('0), .overflow_o(stream_overflow),
    .write_valid_i(stream_write_i), .write_ready_o(stream_ready_o),
    .write_remove_i(stream_remove_i), .write_key_i(stream_key_i), .write_value_i(stream_scheduler_i),
    .age_tick_i(1'b0)
  );

  stream_filter #(.Ports(Ports), .Rules(Rules), .ValueWidth(SchedulerWidth)) u_filter (
    .clk_i, .rst_ni,
    .start_i(delimiter_in), .octet_valid_i(octet_valid), .octet_i(octet),
    .hit_o(filter_hit), .value_o(filter_scheduler),
    .octet_write_i, .octet_rule_i, .octet_place_i, .octet_value_i, .octet_mask_i,
    .rule_write_i, .rule_index_i, .rule_enable_i, .rule_value_i(rule_scheduler_i)
  );

  always_ff @(posedge clk_i) begin
    table_overflows_o <= table_overflows_o + 32'(address_overflow) + 32'(stream_overflow);
    if (!rst_ni) table_overflows_o <= '0;
  end

  // --- Dispatch: a port in turn; to the engine, or past it where the engine gives nothing.

  logic [PortWidth-1:0] turn_q, selected;
  logic                 selected_valid, to_engine, direct;
  arrived_t             item;
  logic                 decision_valid, decision_burst, decision_residence;
  descriptor_t          decision;
  logic [TimeWidth-1:0] decision_eligible;

  always_comb begin
    selected_valid = 1'b0;
    selected = '0;
    for (int unsigned k = Ports; k > 0; k--) begin
      if (arrived_valid[turn_q + PortWidth'(k)]) begin
        selected_valid = 1'b1;
        selected = turn_q + PortWidth'(k);
      end
    end
  end

  assign item = arrived[selected];
  assign to_engine = selected_valid && item.keep && item.shaped;
  assign direct = selected_valid && !to_engine && !decision_valid;

  always_comb begin
    arrived_pop = '0;
    arrived_pop[selected] = direct || (to_engine && engine_ready);
  end

  always_ff @(posedge clk_i) begin
    if (selected_valid) turn_q <= selected;
    if (!rst_ni) turn_q <= '0;
  end

  ats_engine #(
    .Schedulers(Schedulers), .Groups(Groups), .TimeWidth(TimeWidth),
    .OctetTimeWidth(OctetTimeWidth), .FillWidth(FillWidth), .LengthWidth(14),
    .TagWidth($bits(descriptor_t))
  ) u_ats (
    .clk_i, .rst_ni, .now_i(now_q),
    .frame_valid_i(to_engine), .frame_ready_o(engine_ready),
    .frame_scheduler_i(item.scheduler), .frame_octets_i(14'(item.descriptor.octets)),
    .frame_arrival_i(item.arrival), .frame_tag_i(item.descriptor),
    .decision_valid_o(decision_valid), .decision_tag_o(decision),
    .decision_eligible_o(decision_eligible),
    .decision_exceeds_burst_o(decision_burst), .decision_exceeds_residence_o(decision_residence),
    .charged_overhead_i, .processing_delay_max_i,
    .scheduler_write_i, .scheduler_index_i, .scheduler_group_i, .scheduler_octet_time_i,
    .scheduler_empty_to_full_i, .scheduler_octets_max_i,
    .group_write_i, .group_index_i, .group_residence_max_i,
    .count_index_i(group_count_index_i), .count_exceeds_burst_o(group_exceeds_burst_o),
    .count_exceeds_residence_o(group_exceeds_residence_o)
  );

  // --- Into the queues of all ports of the frame at once.

  logic                   enqueue_valid, enqueue_keep;
  descriptor_t            enqueue;
  logic [TimeWidth-1:0]   enqueue_eligible;
  logic [LengthWidth-1:0] enqueue_octets;
  logic [Ports-1:0]       room, wanted, taken;
  logic [CountWidth-1:0]  readers;

  assign enqueue_valid = decision_valid || direct;
  assign enqueue = decision_valid ? decision : item.descriptor;
  assign enqueue_keep = decision_valid ? !decision_burst && !decision_residence : item.keep;
  assign enqueue_eligible = decision_valid ? decision_eligible : item.arrival;
  // The frame check sequence is not in the buffer.
  assign enqueue_octets = enqueue.octets - LengthWidth'(4);
  assign wanted = enqueue_valid && enqueue_keep ? enqueue.ports : '0;
  assign taken = wanted & room;
  always_comb begin
    readers = '0;
    for (int unsigned p = 0; p < Ports; p++) readers += CountWidth'(taken[p]);
  end

  // --- Cut-through: a port asks in one cycle, and begins in the next if the line is still free.

  logic [Ports-1:0]                 ask_valid_q, cut_ready, cut_go;
  logic [Ports-1:0][PortWidth-1:0]  ask_source_q;
  logic [Ports-1:0][ClassWidth-1:0] ask_class_q;
  logic                             enough_q;

  always_ff @(posedge clk_i) begin
    enough_q <= free_cells_o > (CellWidth + 1)'(CutReserve);
    for (int unsigned e = 0; e < Ports; e++) begin
      ask_valid_q[e] <= 1'b0;
      for (int unsigned p = 0; p < Ports; p++) begin
        if (cut_wanted[p] && cut_to[p][e] && cut_through_i[e][cut_class[p]]) begin
          ask_valid_q[e]  <= 1'b1;
          ask_source_q[e] <= PortWidth'(p);
          ask_class_q[e]  <= cut_class[p];
        end
      end
    end
    if (!rst_ni) ask_valid_q <= '0;
  end

  always_comb begin
    cut_begun = '0;
    for (int unsigned e = 0; e < Ports; e++) begin
      cut_go[e] = ask_valid_q[e] && enough_q && cut_wanted[ask_source_q[e]] && cut_ready[e];
      if (cut_go[e]) cut_begun[ask_source_q[e]] = 1'b1;
    end
  end

  // --- Transmission.

  logic [Ports-1:0]                  start, line_ready, line_busy;
  logic [Ports-1:0][CellWidth-1:0]   start_cell;
  logic [Ports-1:0][LengthWidth-1:0] start_octets;
  logic [Ports-1:0]                  out_valid, out_pop, out_last, out_bad;
  logic [Ports-1:0][63:0]            out_word;
  logic [Ports-1:0][2:0]             out_tail;
  logic [Ports-1:0]                  begins;
  logic [Ports-1:0][CellWidth-1:0]   begin_cell;

  for (genvar p = 0; p < Ports; p++) begin : g_tx
    logic [ClassWidth-1:0]    start_class;
    logic [Classes-1:0][47:0] credit;
    logic                     unused, bad, delimiter_out;

    egress_port #(
      .Classes(Classes), .Lanes(Ports), .Depth(Depth), .CellWidth(CellWidth),
      .LengthWidth(LengthWidth), .TimeWidth(TimeWidth)
    ) u_port (
      .clk_i, .rst_ni, .now_i(now_q),
      .enqueue_valid_i(taken[p]), .enqueue_room_o(room[p]),
      .enqueue_class_i(enqueue.class_), .enqueue_lane_i(enqueue.lane),
      .enqueue_cell_i(enqueue.first), .enqueue_octets_i(enqueue_octets),
      .enqueue_eligible_i(enqueue_eligible),
      .cut_valid_i(cut_go[p]), .cut_class_i(ask_class_q[p]), .cut_ready_o(cut_ready[p]),
      .line_ready_i(line_ready[p]), .line_busy_i(line_busy[p]),
      .start_o(start[p]), .start_class_o(start_class),
      .start_cell_o(start_cell[p]), .start_octets_o(start_octets[p]),
      .gate_open_i(gate_open_i[p]), .credit_based_i(credit_based_i[p]),
      .idle_slope_i(idle_slope_i[p]), .credit_o(credit)
    );
    assign unused = ^{start_class, credit};

    assign begins[p] = start[p] || cut_go[p];
    assign begin_cell[p] = cut_go[p] ? done_cell[ask_source_q[p]] : start_cell[p];

    gmii_tx u_tx (
      .clk_i, .rst_ni, .ready_o(line_ready[p]), .busy_o(line_busy[p]),
      .start_i(begins[p]),
      .word_valid_i(out_valid[p]), .word_i(out_word[p]), .word_pop_o(out_pop[p]),
      .word_last_i(out_last[p]), .word_tail_i(out_tail[p]), .word_bad_i(out_bad[p]),
      .delimiter_o(delimiter_out), .bad_o(bad),
      .gmii_txd_o(gmii_txd_o[p]), .gmii_tx_en_o(gmii_tx_en_o[p]), .gmii_tx_er_o(gmii_tx_er_o[p])
    );

    always_ff @(posedge clk_i) begin
      if (delimiter_out) sent_stamp_o[p] <= clock_o;
      sent_o[p] <= sent_o[p] + 32'(begins[p]);
      sent_cut_through_o[p] <= sent_cut_through_o[p] + 32'(cut_go[p]);
      sent_bad_o[p] <= sent_bad_o[p] + 32'(bad);
      dropped_queue_full_o[p] <= dropped_queue_full_o[p] + 32'(wanted[p] && !room[p]);
      if (!rst_ni) begin
        sent_stamp_o[p]         <= '0;
        sent_o[p]               <= '0;
        sent_cut_through_o[p]   <= '0;
        sent_bad_o[p]           <= '0;
        dropped_queue_full_o[p] <= '0;
      end
    end
  end

  packet_buffer #(
    .Ports(Ports), .Cells(Cells), .LengthWidth(LengthWidth), .CutThrough(CutThrough)
  ) u_buffer (
    .clk_i, .rst_ni, .ready_o(buffer_ready), .free_o(free_cells_o),
    .write_valid_i(word_valid), .write_data_i(word),
    .write_first_i(word_first), .write_last_i(word_last),
    .write_tail_i(word_tail), .write_bad_i(~end_good),
    .done_valid_o(done_valid), .done_whole_o(done_whole),
    .done_cell_o(done_cell), .done_cells_o(done_cells),
    .claim_valid_i(enqueue_valid), .claim_cell_i(enqueue.first),
    .claim_readers_i(readers), .claim_cells_i(enqueue.cells),
    .read_start_i(begins), .read_cell_i(begin_cell), .read_octets_i(start_octets),
    .read_cut_i(cut_go), .read_source_i(ask_source_q),
    .read_valid_o(out_valid), .read_data_o(out_word),
    .read_last_o(out_last), .read_tail_o(out_tail), .read_bad_o(out_bad), .read_pop_i(out_pop)
  );

`ifndef SYNTHESIS
  NoArrivalIsLost: assert property (@(posedge clk_i) disable iff (!rst_ni)
      (done_valid & arrived_full) == '0);
  OneCutThroughAFrame: assert property (@(posedge clk_i) disable iff (!rst_ni)
      $countones(cut_begun) == $countones(cut_go));
  CutThroughIsUnshaped: assert property (@(posedge clk_i) disable iff (!rst_ni) (cut_go & start) == '0);
  EveryEndIsWords: assert property (@(posedge clk_i) disable iff (!rst_ni)
      (end_valid & end_words & ~word_valid) == '0);
`endif

endmodule
