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
// Invariant: a frame that was received completely is sent by every port that it is for, or counted: no cell, no
// port it is for, no member of its VLAN, queue full, too few cells free for its class, or discarded by its ATS
// scheduler group.
//
// Here: the connections of the blocks. Reception is `ingress_port.sv`, the path to the queues `frame_dispatch.sv`, the
// choice of frames to cut through `cut_through.sv`, queues and selection `egress_port.sv`.
// Not here: registers (`tsn_switch.sv`), changes of tags, several clocks.

module switch_fabric #(
  // Ports: 2, 4 or 8.
  parameter int unsigned Ports = 4,
  // Cells of 64 octets in the shared buffer; a power of two.
  parameter int unsigned Cells = 4096,
  // Frames in a queue of one port, class and reception port; a power of two.
  parameter int unsigned Depth = 32,
  // Buckets of two addresses and of two streams; powers of two.
  parameter int unsigned AddressPlaces = 512,
  parameter int unsigned StreamPlaces = 4096,
  // ATS scheduler instances, of all ports, and groups; powers of two.
  parameter int unsigned Schedulers = 1024 * Ports,
  parameter int unsigned Groups = 64,
  // Rules of identification by value and mask, of every port; a power of two.
  parameter int unsigned Rules = 32,
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
  // Classes shaped by ATS; cells that must be free for a frame of a class to be queued.
  input  logic [Classes-1:0]                          ats_class_i,
  input  logic [Classes-1:0][15:0]                    free_cells_min_i,
  // Per transmission port: classes that may be cut through, gates, credit-based shapers, idleSlope in bit/s.
  input  logic [Ports-1:0][Classes-1:0]               cut_through_i,
  input  logic [Ports-1:0][Classes-1:0]               gate_open_i,
  input  logic [Ports-1:0][Classes-1:0]               credit_based_i,
  input  logic [Ports-1:0][Classes-1:0][29:0]         idle_slope_i,

  // ATS (`ats_engine.sv`).
  input  logic [7:0]                                  charged_overhead_i,
  input  logic [FillWidth-1:0]                        processing_delay_max_i,
  input  logic                                        scheduler_write_i,
  output logic                                        scheduler_ready_o,
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

  // Streams by address and VLAN (802.1CB, null and source identification: the upper bit of the key selects),
  // and by value and mask. Addresses of software. VLANs.
  input  logic                                        stream_write_i,
  output logic                                        stream_ready_o,
  output logic                                        stream_refused_o,
  input  logic                                        stream_remove_i,
  input  logic [60:0]                                 stream_key_i,
  input  logic [SchedulerWidth-1:0]                   stream_scheduler_i,
  input  logic [Ports-1:0]                            rule_ports_i,
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
  output logic                                        address_refused_o,
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
  output logic [Ports-1:0][31:0]                      dropped_class_limit_o,
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
  // Cells that are free when a frame begins to be cut through: all ports together take no more until it has its last one.
  localparam int unsigned CutReserve = 40 * Ports;
`ifndef SYNTHESIS
  // A port takes cells fastest with frames of 65 octets in the buffer, which have two: 69 octets on the line and the three that are at
  // least between two of them (`gmii_rx.sv`). One more cell comes to its hand that was on its way there.
  localparam int unsigned TwoCellsIn = 65 + 4 + 3;
  // The longest frame has 1 518 octets in the buffer. From the header, of 18 octets, to its last cell, and the cycles in which both are
  // on their way to the buffer and back.
  localparam int unsigned CellsOfLongest = 24;
  localparam int unsigned CutWindow = 64 * (CellsOfLongest - 1) - 18 + 32;
  localparam int unsigned CutNeeds = CellsOfLongest - 1 + (Ports - 1) * (2 * (CutWindow / TwoCellsIn + 1) + 1);
  if (CutThrough && CutReserve < CutNeeds) begin : g_cut_reserve
    $fatal(1, "CutReserve is less than what all ports take while a frame is cut through");
  end
`endif
  // The tag that the engine passes through: `descriptor_t` of `frame_dispatch.sv`.
  localparam int unsigned TagWidth = CellWidth + ChainWidth + LengthWidth + Ports + ClassWidth + PortWidth;
  // Cycles by which words of a frame may be late after its start.
  localparam int unsigned Lead = Ports - 1;

  if (!(Ports inside {2, 4, 8})) begin : g_ports
    $fatal(1, "ports: 2, 4 or 8, for a word of every port must find a turn in eight cycles");
  end

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

  logic [Ports-1:0]                     word_valid, word_first, word_last, word_bad;
  logic [Ports-1:0][63:0]               word;
  logic [Ports-1:0][2:0]                word_tail;
  logic [Ports-1:0]                     done_valid, done_whole, done_claim;
  logic [Ports-1:0][CellWidth-1:0]      done_cell;
  logic [Ports-1:0][ChainWidth-1:0]     done_cells;
  logic [Ports-1:0]                     delimiter_in, octet_valid;
  logic [Ports-1:0][7:0]                octet;
  logic [Ports-1:0]                     lookup_valid, learn_valid;
  logic [Ports-1:0][59:0]               lookup_key, source_key, learn_key;
  logic [Ports-1:0][11:0]               lookup_vid;
  logic [Ports-1:0][Ports-1:0]          learn_ports;
  logic [Ports-1:0]                     address_answer, destination_answer, source_answer, vlan_answer;
  logic [Ports-1:0]                     vlan_members, filter_hit;
  logic [Ports-1:0][SchedulerWidth-1:0] filter_scheduler;
  logic                                 address_hit, stream_hit;
  logic [Ports-1:0]                     address_ports;
  logic [SchedulerWidth-1:0]            stream_scheduler;
  logic                                 address_overflow, stream_overflow;
  logic [1:0]                           overflows_q;
  logic [Ports-1:0][Ports-1:0]          cut_ask;
  logic [Ports-1:0][ClassWidth-1:0]     cut_class;
  logic [Ports-1:0]                     cut_alive, cut_begun;
  logic                                 dispatch_busy;
  logic [Ports-1:0]                     arrived_valid, arrived_keep, arrived_shaped, arrived_pop;
  logic [Ports-1:0][CellWidth-1:0]      arrived_cell;
  logic [Ports-1:0][ChainWidth-1:0]     arrived_cells;
  logic [Ports-1:0][LengthWidth-1:0]    arrived_octets;
  logic [Ports-1:0][Ports-1:0]          arrived_ports;
  logic [Ports-1:0][ClassWidth-1:0]     arrived_class;
  logic [Ports-1:0][PortWidth-1:0]      arrived_lane;
  logic [Ports-1:0][SchedulerWidth-1:0] arrived_scheduler;
  logic [Ports-1:0][TimeWidth-1:0]      arrived_time;

  for (genvar p = 0; p < Ports; p++) begin : g_rx
    assign learn_ports[p] = Ports'(1) << p;
    assign lookup_vid[p] = source_key[p][59:48];

    ingress_port #(
      .Port(p), .Ports(Ports), .CellWidth(CellWidth), .LengthWidth(LengthWidth), .TimeWidth(TimeWidth),
      .SchedulerWidth(SchedulerWidth), .Classes(Classes), .CutThrough(CutThrough)
    ) u_port (
      .clk_i, .rst_ni, .enable_i(ready_q), .now_i(now_q), .clock_i(clock_o), .stamp_o(received_stamp_o[p]),
      .gmii_rxd_i(gmii_rxd_i[p]), .gmii_rx_dv_i(gmii_rx_dv_i[p]), .gmii_rx_er_i(gmii_rx_er_i[p]),
      .class_of_pcp_i(class_of_pcp_i[p]), .default_vid_i(default_vid_i[p]), .default_pcp_i(default_pcp_i[p]),
      .ats_class_i, .cut_through_i,
      .word_valid_o(word_valid[p]), .word_o(word[p]), .word_first_o(word_first[p]), .word_last_o(word_last[p]),
      .word_tail_o(word_tail[p]), .word_bad_o(word_bad[p]),
      .done_valid_i(done_valid[p]), .done_whole_i(done_whole[p]),
      .done_claim_i(done_claim[p]),
      .done_cell_i(done_cell[p]), .done_cells_i(done_cells[p]),
      .start_o(delimiter_in[p]), .octet_valid_o(octet_valid[p]), .octet_o(octet[p]),
      .lookup_valid_o(lookup_valid[p]), .lookup_key_o(lookup_key[p]), .source_key_o(source_key[p]),
      .learn_valid_o(learn_valid[p]), .learn_key_o(learn_key[p]),
      .address_answer_i(address_answer[p]), .address_hit_i(address_hit), .address_ports_i(address_ports),
      .vlan_answer_i(vlan_answer[p]), .vlan_members_i(vlan_members),
      .destination_answer_i(destination_answer[p]), .source_answer_i(source_answer[p]),
      .stream_hit_i(stream_hit), .stream_scheduler_i(stream_scheduler),
      .filter_hit_i(filter_hit[p]), .filter_scheduler_i(filter_scheduler[p]),
      .cut_ask_o(cut_ask[p]), .cut_class_o(cut_class[p]), .cut_alive_o(cut_alive[p]),
      .cut_begun_i(cut_begun[p]), .dispatch_busy_i(dispatch_busy),
      .arrived_valid_o(arrived_valid[p]), .arrived_cell_o(arrived_cell[p]), .arrived_cells_o(arrived_cells[p]),
      .arrived_octets_o(arrived_octets[p]), .arrived_ports_o(arrived_ports[p]),
      .arrived_class_o(arrived_class[p]), .arrived_lane_o(arrived_lane[p]),
      .arrived_keep_o(arrived_keep[p]), .arrived_shaped_o(arrived_shaped[p]),
      .arrived_scheduler_o(arrived_scheduler[p]), .arrived_time_o(arrived_time[p]), .arrived_pop_i(arrived_pop[p]),
      .received_o(received_o[p]), .received_short_o(received_short_o[p]), .received_long_o(received_long_o[p]),
      .received_check_o(received_check_o[p]), .dropped_no_cell_o(dropped_no_cell_o[p]),
      .dropped_no_port_o(dropped_no_port_o[p]), .dropped_not_member_o(dropped_not_member_o[p])
    );
  end

  vlan_table #(.Ports(Ports)) u_vlans (
    .clk_i, .rst_ni, .ready_o(vlans_ready),
    .lookup_valid_i(lookup_valid), .lookup_vid_i(lookup_vid),
    .answer_valid_o(vlan_answer), .answer_members_o(vlan_members),
    .write_valid_i(vlan_write_i), .write_vid_i(vlan_vid_i), .write_members_i(vlan_members_i)
  );

  exact_table #(.Requesters(Ports), .Places(AddressPlaces), .ValueWidth(Ports)) u_addresses (
    .clk_i, .rst_ni, .ready_o(addresses_ready),
    .lookup_valid_i(lookup_valid), .lookup_key_i(lookup_key),
    .answer_valid_o(address_answer), .answer_hit_o(address_hit), .answer_value_o(address_ports),
    .learn_valid_i(learn_valid), .learn_key_i(learn_key), .learn_value_i(learn_ports),
    .overflow_o(address_overflow),
    .write_valid_i(address_write_i), .write_ready_o(address_ready_o), .write_refused_o(address_refused_o),
    .write_remove_i(address_remove_i), .write_key_i(address_key_i), .write_value_i(address_ports_i),
    .age_tick_i
  );

  logic [2*Ports-1:0][60:0] stream_keys;
  always_comb begin
    for (int unsigned p = 0; p < Ports; p++) begin
      stream_keys[p] = {1'b0, lookup_key[p]};
      stream_keys[Ports + p] = {1'b1, source_key[p]};
    end
  end

  exact_table #(
    .Requesters(2 * Ports), .Places(StreamPlaces), .KeyWidth(61), .ValueWidth(SchedulerWidth)
  ) u_streams (
    .clk_i, .rst_ni, .ready_o(streams_ready),
    .lookup_valid_i({lookup_valid, lookup_valid}), .lookup_key_i(stream_keys),
    .answer_valid_o({source_answer, destination_answer}),
    .answer_hit_o(stream_hit), .answer_value_o(stream_scheduler),
    .learn_valid_i('0), .learn_key_i('0), .learn_value_i('0), .overflow_o(stream_overflow),
    .write_valid_i(stream_write_i), .write_ready_o(stream_ready_o), .write_refused_o(stream_refused_o),
    .write_remove_i(stream_remove_i), .write_key_i(stream_key_i), .write_value_i(stream_scheduler_i),
    .age_tick_i(1'b0)
  );

  stream_filter #(.Ports(Ports), .Rules(Rules), .ValueWidth(SchedulerWidth)) u_filter (
    .clk_i, .rst_ni,
    .start_i(delimiter_in), .octet_valid_i(octet_valid), .octet_i(octet),
    .hit_o(filter_hit), .value_o(filter_scheduler),
    .ports_i(rule_ports_i), .octet_write_i, .octet_rule_i, .octet_place_i, .octet_value_i, .octet_mask_i,
    .rule_write_i, .rule_index_i, .rule_enable_i, .rule_value_i(rule_scheduler_i)
  );

  always_ff @(posedge clk_i) begin
    overflows_q       <= 2'(address_overflow) + 2'(stream_overflow);
    table_overflows_o <= table_overflows_o + 32'(overflows_q);
    if (!rst_ni) {overflows_q, table_overflows_o} <= '0;
  end

  // --- Dispatch.

  logic                      frame_valid;
  logic [SchedulerWidth-1:0] frame_scheduler;
  logic [LengthWidth-1:0]    frame_octets;
  logic [TimeWidth-1:0]      frame_arrival;
  logic [TagWidth-1:0]       frame_tag, decision_tag;
  logic                      decision_valid, decision_burst, decision_residence;
  logic [TimeWidth-1:0]      decision_eligible;
  logic [ClassWidth-1:0]     enqueue_class;
  logic [PortWidth-1:0]      enqueue_lane;
  logic [CellWidth-1:0]      enqueue_cell, claim_cell;
  logic [LengthWidth-1:0]    enqueue_octets;
  logic [TimeWidth-1:0]      enqueue_eligible;
  logic [Ports-1:0]          enqueue_valid, enqueue_room, dropped, limited;
  // Classes for which too few cells are free.
  logic [Classes-1:0]        scarce_q;
  logic                      claim_valid;
  logic [CountWidth-1:0]     claim_readers;
  logic [ChainWidth-1:0]     claim_cells;

  // A cycle for the sum that it is, one for the comparison.
  logic [CellWidth:0] free_q;

  always_ff @(posedge clk_i) begin
    free_q <= free_cells_o;
    for (int unsigned c = 0; c < Classes; c++) scarce_q[c] <= 16'(free_q) < free_cells_min_i[c];
  end

  frame_dispatch #(
    .Ports(Ports), .CellWidth(CellWidth), .LengthWidth(LengthWidth), .TimeWidth(TimeWidth),
    .SchedulerWidth(SchedulerWidth), .Classes(Classes)
  ) u_dispatch (
    .clk_i, .rst_ni, .busy_o(dispatch_busy),
    .arrived_valid_i(arrived_valid), .arrived_cell_i(arrived_cell), .arrived_cells_i(arrived_cells),
    .arrived_octets_i(arrived_octets), .arrived_ports_i(arrived_ports), .arrived_class_i(arrived_class),
    .arrived_lane_i(arrived_lane), .arrived_keep_i(arrived_keep), .arrived_shaped_i(arrived_shaped),
    .arrived_scheduler_i(arrived_scheduler), .arrived_time_i(arrived_time), .arrived_pop_o(arrived_pop),
    .frame_valid_o(frame_valid), .frame_ready_i(engine_ready), .frame_scheduler_o(frame_scheduler),
    .frame_octets_o(frame_octets), .frame_arrival_o(frame_arrival), .frame_tag_o(frame_tag),
    .decision_valid_i(decision_valid), .decision_tag_i(decision_tag), .decision_eligible_i(decision_eligible),
    .decision_discard_i(decision_burst || decision_residence),
    .enqueue_class_o(enqueue_class), .enqueue_lane_o(enqueue_lane), .enqueue_cell_o(enqueue_cell),
    .enqueue_octets_o(enqueue_octets), .enqueue_eligible_o(enqueue_eligible),
    .room_i(enqueue_room), .scarce_i(scarce_q), .enqueue_valid_o(enqueue_valid),
    .dropped_o(dropped), .limited_o(limited),
    .claim_valid_o(claim_valid), .claim_cell_o(claim_cell), .claim_readers_o(claim_readers), .claim_cells_o(claim_cells)
  );

  ats_engine #(
    .Schedulers(Schedulers), .Groups(Groups), .TimeWidth(TimeWidth),
    .OctetTimeWidth(OctetTimeWidth), .FillWidth(FillWidth), .LengthWidth(14),
    .TagWidth(TagWidth), .TicksPerCycle(TicksPerCycle)
  ) u_ats (
    .clk_i, .rst_ni, .now_i(now_q),
    .frame_valid_i(frame_valid), .frame_ready_o(engine_ready),
    .frame_scheduler_i(frame_scheduler), .frame_octets_i(14'(frame_octets)),
    .frame_arrival_i(frame_arrival), .frame_tag_i(frame_tag),
    .decision_valid_o(decision_valid), .decision_tag_o(decision_tag),
    .decision_eligible_o(decision_eligible),
    .decision_exceeds_burst_o(decision_burst), .decision_exceeds_residence_o(decision_residence),
    .charged_overhead_i, .processing_delay_max_i,
    .scheduler_write_i, .scheduler_ready_o, .scheduler_index_i, .scheduler_group_i, .scheduler_octet_time_i,
    .scheduler_empty_to_full_i, .scheduler_octets_max_i,
    .group_write_i, .group_index_i, .group_residence_max_i,
    .count_index_i(group_count_index_i), .count_exceeds_burst_o(group_exceeds_burst_o),
    .count_exceeds_residence_o(group_exceeds_residence_o)
  );

  // --- Cut-through.

  logic [Ports-1:0]                 ask_valid, cut_ready, cut_start;
  logic [Ports-1:0][ClassWidth-1:0] ask_class;
  logic [Ports-1:0][PortWidth-1:0]  cut_source;
  logic [Ports-1:0][CellWidth-1:0]  cut_cell;
  logic                             enough_q;

  always_ff @(posedge clk_i) enough_q <= free_cells_o > (CellWidth + 1)'(CutReserve);

  cut_through #(.Ports(Ports), .ClassWidth(ClassWidth), .CellWidth(CellWidth)) u_cut (
    .clk_i, .rst_ni, .enough_i(enough_q),
    .ask_i(cut_ask), .class_i(cut_class), .alive_i(cut_alive), .cell_i(done_cell), .begun_o(cut_begun),
    .ask_valid_o(ask_valid), .ask_class_o(ask_class), .ready_i(cut_ready),
    .start_o(cut_start), .start_source_o(cut_source), .start_cell_o(cut_cell)
  );

  // --- Transmission.

  logic [Ports-1:0]                  begins_q, begins_cut_q;
  logic [Ports-1:0][CellWidth-1:0]   begin_cell_q;
  logic [Ports-1:0][LengthWidth-1:0] begin_octets_q;
  logic [Ports-1:0][PortWidth-1:0]   begin_source_q;
  logic [Ports-1:0]                  out_valid, out_pop, out_last, out_bad;
  logic [Ports-1:0][63:0]            out_word;
  logic [Ports-1:0][2:0]             out_tail;

  for (genvar p = 0; p < Ports; p++) begin : g_tx
    logic                     start, begins, line_ready, line_last, bad, bad_q, sent_q, sent_cut_q, delimiter_out, unused;
    logic [ClassWidth-1:0]    start_class;
    logic [CellWidth-1:0]     start_cell;
    logic [LengthWidth-1:0]   start_octets;
    logic [Classes-1:0][47:0] credit;

    // The path to the port and back is long: a cycle for each.
    logic                   push_q;
    logic [ClassWidth-1:0]  push_class_q;
    logic [PortWidth-1:0]   push_lane_q;
    logic [CellWidth-1:0]   push_cell_q;
    logic [LengthWidth-1:0] push_octets_q;
    logic [TimeWidth-1:0]   push_eligible_q;
    logic                   room;

    always_ff @(posedge clk_i) begin
      push_q          <= enqueue_valid[p];
      if (enqueue_valid[p]) begin
        push_class_q    <= enqueue_class;
        push_lane_q     <= enqueue_lane;
        push_cell_q     <= enqueue_cell;
        push_octets_q   <= enqueue_octets;
        push_eligible_q <= enqueue_eligible;
      end
      enqueue_room[p] <= room;
      if (!rst_ni) push_q <= 1'b0;
    end

    egress_port #(
      .Classes(Classes), .Lanes(Ports), .Depth(Depth), .CellWidth(CellWidth),
      .LengthWidth(LengthWidth), .TimeWidth(TimeWidth)
    ) u_port (
      .clk_i, .rst_ni, .now_i(now_q),
      .room_class_i(enqueue_class), .room_lane_i(enqueue_lane), .room_o(room),
      .enqueue_valid_i(push_q), .enqueue_class_i(push_class_q), .enqueue_lane_i(push_lane_q),
      .enqueue_cell_i(push_cell_q), .enqueue_octets_i(push_octets_q), .enqueue_eligible_i(push_eligible_q),
      .cut_valid_i(ask_valid[p]), .cut_class_i(ask_class[p]), .cut_ready_o(cut_ready[p]),
      .cut_start_i(cut_start[p]),
      .line_ready_i(line_ready), .line_last_i(line_last),
      .start_o(start), .start_class_o(start_class), .start_cell_o(start_cell), .start_octets_o(start_octets),
      .gate_open_i(gate_open_i[p]), .credit_based_i(credit_based_i[p]),
      .idle_slope_i(idle_slope_i[p]), .credit_o(credit)
    );
    assign unused = ^{start_class, credit};
    assign begins = start || cut_start[p];

    gmii_tx #(.Lead(Lead)) u_tx (
      .clk_i, .rst_ni, .ready_o(line_ready), .last_o(line_last),
      .start_i(begins),
      .word_valid_i(out_valid[p]), .word_i(out_word[p]), .word_pop_o(out_pop[p]),
      .word_last_i(out_last[p]), .word_tail_i(out_tail[p]), .word_bad_i(out_bad[p]),
      .delimiter_o(delimiter_out), .bad_o(bad),
      .gmii_txd_o(gmii_txd_o[p]), .gmii_tx_en_o(gmii_tx_en_o[p]), .gmii_tx_er_o(gmii_tx_er_o[p])
    );

    // The buffer reads from the next cycle on.
    always_ff @(posedge clk_i) begin
      begins_q[p]       <= begins;
      begins_cut_q[p]   <= cut_start[p];
      begin_cell_q[p]   <= cut_start[p] ? cut_cell[p] : start_cell;
      begin_octets_q[p] <= start_octets;
      begin_source_q[p] <= cut_source[p];
      if (!rst_ni) begins_q[p] <= 1'b0;
    end

    always_ff @(posedge clk_i) begin
      if (delimiter_out) sent_stamp_o[p] <= clock_o;
      // Counted a cycle later: a sum of 32 bits is long enough.
      sent_q        <= begins_q[p];
      sent_cut_q    <= begins_q[p] && begins_cut_q[p];
      sent_o[p]     <= sent_o[p] + 32'(sent_q);
      sent_cut_through_o[p] <= sent_cut_through_o[p] + 32'(sent_cut_q);
      bad_q         <= bad;
      sent_bad_o[p] <= sent_bad_o[p] + 32'(bad_q);
      dropped_queue_full_o[p]  <= dropped_queue_full_o[p] + 32'(dropped[p]);
      dropped_class_limit_o[p] <= dropped_class_limit_o[p] + 32'(limited[p]);
      if (!rst_ni) begin
        bad_q                   <= 1'b0;
        {sent_q, sent_cut_q}    <= 2'b00;
        sent_stamp_o[p]         <= '0;
        sent_o[p]               <= '0;
        sent_cut_through_o[p]   <= '0;
        sent_bad_o[p]           <= '0;
        dropped_queue_full_o[p] <= '0;
        dropped_class_limit_o[p] <= '0;
      end
    end

`ifndef SYNTHESIS
    CutThroughIsUnshaped: assert property (@(posedge clk_i) disable iff (!rst_ni) !(cut_start[p] && start));
`endif
  end

  packet_buffer #(
    .Ports(Ports), .Cells(Cells), .LengthWidth(LengthWidth), .CutThrough(CutThrough)
  ) u_buffer (
    .clk_i, .rst_ni, .ready_o(buffer_ready), .free_o(free_cells_o),
    .write_valid_i(word_valid), .write_data_i(word),
    .write_first_i(word_first), .write_last_i(word_last),
    .write_tail_i(word_tail), .write_bad_i(word_bad),
    .done_valid_o(done_valid), .done_whole_o(done_whole), .done_claim_o(done_claim),
    .done_cell_o(done_cell), .done_cells_o(done_cells),
    .claim_valid_i(claim_valid), .claim_cell_i(claim_cell),
    .claim_readers_i(claim_readers), .claim_cells_i(claim_cells),
    .read_start_i(begins_q), .read_cell_i(begin_cell_q), .read_octets_i(begin_octets_q),
    .read_cut_i(begins_cut_q), .read_source_i(begin_source_q),
    .read_valid_o(out_valid), .read_data_o(out_word),
    .read_last_o(out_last), .read_tail_o(out_tail), .read_bad_o(out_bad), .read_pop_i(out_pop)
  );

endmodule
