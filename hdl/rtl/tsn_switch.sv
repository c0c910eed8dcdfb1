// A switch with asynchronous traffic shaping: the fabric and its registers on AXI4-Lite.
//
// Everything is set and counted by registers (`docs/hardware/registers.md`); a write is effective for
// later decisions. Not here: the functions of the registers (`switch_fabric.sv`), RGMII (`board_switch.sv`).

module tsn_switch #(
  // See `switch_fabric.sv`.
  parameter int unsigned Ports = 4,
  parameter int unsigned Cells = 4096,
  parameter int unsigned Depth = 32,
  parameter int unsigned AddressPlaces = 512,
  parameter int unsigned StreamPlaces = 4096,
  parameter int unsigned Schedulers = 1024 * Ports,
  parameter int unsigned Groups = 64,
  parameter int unsigned Rules = 32,
  parameter bit          CutThrough = 1'b1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // Tables are initialised; frames before that are ignored.
  output logic                   ready_o,

  input  logic [Ports-1:0][7:0]  gmii_rxd_i,
  input  logic [Ports-1:0]       gmii_rx_dv_i,
  input  logic [Ports-1:0]       gmii_rx_er_i,
  output logic [Ports-1:0][7:0]  gmii_txd_o,
  output logic [Ports-1:0]       gmii_tx_en_o,
  output logic [Ports-1:0]       gmii_tx_er_o,

  input  logic [11:0]            axil_awaddr_i,
  input  logic                   axil_awvalid_i,
  output logic                   axil_awready_o,
  input  logic [31:0]            axil_wdata_i,
  input  logic [3:0]             axil_wstrb_i,
  input  logic                   axil_wvalid_i,
  output logic                   axil_wready_o,
  output logic [1:0]             axil_bresp_o,
  output logic                   axil_bvalid_o,
  input  logic                   axil_bready_i,
  input  logic [11:0]            axil_araddr_i,
  input  logic                   axil_arvalid_i,
  output logic                   axil_arready_o,
  output logic [31:0]            axil_rdata_o,
  output logic [1:0]             axil_rresp_o,
  output logic                   axil_rvalid_o,
  input  logic                   axil_rready_i
);

  localparam int unsigned Classes = 8;
  localparam int unsigned SchedulerWidth = $clog2(Schedulers);
  localparam int unsigned GroupWidth = $clog2(Groups);
  localparam int unsigned RuleWidth = $clog2(Rules);
  localparam int unsigned CellWidth = $clog2(Cells);
  localparam int unsigned AgeingPrescale = 20;

  if (Schedulers > 65536 || Groups > 65536 || Rules > 128) begin : g_registers
    $fatal(1, "the registers have 16 bits for schedulers and groups, 7 for rules");
  end

  logic [47:0]                             now;
  logic [63:0]                             clock, clock_step;
  logic [31:0]                             clock_rate, clock_step_high, clock_step_low, processing_delay_max;
  logic                                    clock_step_valid;
  logic [15:0]                             ageing_interval, scheduler_group, scheduler_index, group_index;
  logic [15:0]                             count_index, stream_scheduler;
  logic [7:0]                              ats_classes, charged_overhead, address_ports, vlan_members, rule_ports;
  logic [Classes-1:0][15:0]                free_cells_min;
  logic [31:0]                             octet_time_low, empty_to_full_low, residence_low, stream_key_low;
  logic [7:0]                              octet_time_high;
  logic [3:0]                              empty_to_full_high, residence_high;
  logic [14:0]                             octets_max;
  logic                                    scheduler_write, scheduler_ready, group_write, stream_write, stream_ready, stream_refused;
  logic                                    address_write, address_ready, address_refused, rule_octet_write, rule_write, vlan_write;
  logic [28:0]                             stream_key_high;
  logic [27:0]                             address_key_high;
  logic [31:0]                             address_key_low, rule_octet, rule;
  logic                                    stream_remove, address_remove;
  logic [11:0]                             vlan_vid;
  logic [31:0]                             exceeds_burst, exceeds_residence, table_overflows;
  logic [CellWidth:0]                      free_cells;
  logic [Ports-1:0][31:0]                  class_of_pcp;
  logic [Ports-1:0][14:0]                  default_tag;
  logic [Ports-1:0][Classes-1:0]           gates, credit_based, cut_through;
  logic [Ports-1:0][Classes-1:0][29:0]     idle_slope;
  logic [Ports-1:0][63:0]                  received_stamp, sent_stamp;
  logic [Ports-1:0][31:0]                  received_stamp_low, received_stamp_high;
  logic [Ports-1:0][31:0]                  sent_stamp_low, sent_stamp_high;
  logic [Ports-1:0][31:0]                  received, received_short, received_long, received_check;
  logic [Ports-1:0][31:0]                  dropped_no_cell, dropped_no_port, dropped_not_member, dropped_queue_full;
  logic [Ports-1:0][31:0]                  dropped_class_limit;
  logic [Ports-1:0][31:0]                  sent, sent_cut_through, sent_bad;
  logic [Ports-1:0][7:0][2:0]              classes;
  logic [Ports-1:0][11:0]                  default_vid;
  logic [Ports-1:0][2:0]                   default_pcp;
  logic                                    unused;

  for (genvar p = 0; p < Ports; p++) begin : g_port
    for (genvar k = 0; k < 8; k++) begin : g_pcp
      assign classes[p][k] = class_of_pcp[p][4*k +: 3];
    end
    assign default_vid[p] = default_tag[p][11:0];
    assign default_pcp[p] = default_tag[p][14:12];
    assign {received_stamp_high[p], received_stamp_low[p]} = received_stamp[p];
    assign {sent_stamp_high[p], sent_stamp_low[p]} = sent_stamp[p];
  end
  assign clock_step = {clock_step_high, clock_step_low};

  // --- Ageing.

  logic [AgeingPrescale-1:0] prescale_q;
  logic [15:0]               age_q;
  logic                      age_tick_q;

  always_ff @(posedge clk_i) begin
    prescale_q <= prescale_q + 1'b1;
    age_tick_q <= 1'b0;
    if (&prescale_q) begin
      age_q <= age_q + 1'b1;
      if (age_q + 1'b1 >= ageing_interval) begin
        age_q      <= '0;
        age_tick_q <= ageing_interval != '0;
      end
    end
    if (!rst_ni) begin
      prescale_q <= '0;
      age_q      <= '0;
      age_tick_q <= 1'b0;
    end
  end

  switch_registers #(.Ports(Ports)) u_registers (
    .clk_i, .rst_ni,
    .axil_awaddr_i, .axil_awvalid_i, .axil_awready_o, .axil_wdata_i, .axil_wstrb_i, .axil_wvalid_i, .axil_wready_o,
    .axil_bresp_o, .axil_bvalid_o, .axil_bready_i, .axil_araddr_i, .axil_arvalid_i, .axil_arready_o,
    .axil_rdata_o, .axil_rresp_o, .axil_rvalid_o, .axil_rready_i,
    .shape_i({8'($clog2(Schedulers)), 8'($clog2(Cells)), 8'(Classes), 8'(Ports)}),
    .status_i(ready_o),
    .time_low_i(now[31:0]), .time_high_i({16'd0, now[47:32]}),
    .clock_low_i(clock[31:0]), .clock_high_i(clock[63:32]),
    .clock_rate_o(clock_rate), .clock_step_high_o(clock_step_high),
    .clock_step_valid_o(clock_step_valid), .clock_step_ready_i(1'b1), .clock_step_o(clock_step_low),
    .ageing_interval_o(ageing_interval),
    .free_cells_i(32'(free_cells)), .table_overflows_i(table_overflows),
    .ats_classes_o(ats_classes), .charged_overhead_o(charged_overhead),
    .processing_delay_max_o(processing_delay_max),
    .scheduler_group_o(scheduler_group),
    .scheduler_octet_time_low_o(octet_time_low), .scheduler_octet_time_high_o(octet_time_high),
    .scheduler_empty_to_full_low_o(empty_to_full_low), .scheduler_empty_to_full_high_o(empty_to_full_high),
    .scheduler_octets_max_o(octets_max),
    .scheduler_write_valid_o(scheduler_write), .scheduler_write_ready_i(scheduler_ready), .scheduler_write_o(scheduler_index),
    .group_residence_low_o(residence_low), .group_residence_high_o(residence_high),
    .group_write_valid_o(group_write), .group_write_ready_i(1'b1), .group_write_o(group_index),
    .group_count_index_o(count_index),
    .group_exceeds_burst_i(exceeds_burst), .group_exceeds_residence_i(exceeds_residence),
    .stream_key_low_o(stream_key_low), .stream_key_high_o(stream_key_high), .stream_scheduler_o(stream_scheduler),
    .stream_write_valid_o(stream_write), .stream_write_ready_i(stream_ready), .stream_write_refused_i(stream_refused), .stream_write_o(stream_remove),
    .rule_ports_o(rule_ports), .free_cells_min_o(free_cells_min),
    .rule_octet_valid_o(rule_octet_write), .rule_octet_ready_i(1'b1), .rule_octet_o(rule_octet),
    .rule_scheduler_valid_o(rule_write), .rule_scheduler_ready_i(1'b1), .rule_scheduler_o(rule),
    .address_key_low_o(address_key_low), .address_key_high_o(address_key_high), .address_ports_o(address_ports),
    .address_write_valid_o(address_write), .address_write_ready_i(address_ready), .address_write_refused_i(address_refused), .address_write_o(address_remove),
    .vlan_members_o(vlan_members),
    .vlan_write_valid_o(vlan_write), .vlan_write_ready_i(1'b1), .vlan_write_o(vlan_vid),
    .class_of_pcp_o(class_of_pcp), .default_tag_o(default_tag), .gates_o(gates), .credit_based_o(credit_based),
    .cut_through_o(cut_through),
    .received_stamp_low_i(received_stamp_low), .received_stamp_high_i(received_stamp_high),
    .sent_stamp_low_i(sent_stamp_low), .sent_stamp_high_i(sent_stamp_high),
    .idle_slope_o(idle_slope),
    .received_i(received), .received_short_i(received_short), .received_long_i(received_long),
    .received_check_i(received_check), .dropped_no_cell_i(dropped_no_cell), .dropped_no_port_i(dropped_no_port),
    .dropped_not_member_i(dropped_not_member), .dropped_queue_full_i(dropped_queue_full),
    .dropped_class_limit_i(dropped_class_limit),
    .sent_i(sent), .sent_cut_through_i(sent_cut_through), .sent_bad_i(sent_bad)
  );

  switch_fabric #(
    .Ports(Ports), .Cells(Cells), .Depth(Depth), .AddressPlaces(AddressPlaces), .StreamPlaces(StreamPlaces),
    .Schedulers(Schedulers), .Groups(Groups), .Rules(Rules), .CutThrough(CutThrough)
  ) u_fabric (
    .clk_i, .rst_ni, .ready_o, .now_o(now),
    .clock_rate_i(clock_rate), .clock_step_valid_i(clock_step_valid), .clock_step_i(clock_step), .clock_o(clock),
    .received_stamp_o(received_stamp), .sent_stamp_o(sent_stamp),
    .gmii_rxd_i, .gmii_rx_dv_i, .gmii_rx_er_i, .gmii_txd_o, .gmii_tx_en_o, .gmii_tx_er_o,
    .class_of_pcp_i(classes), .default_vid_i(default_vid), .default_pcp_i(default_pcp),
    .ats_class_i(ats_classes), .free_cells_min_i(free_cells_min), .cut_through_i(cut_through),
    .gate_open_i(gates), .credit_based_i(credit_based), .idle_slope_i(idle_slope),
    .charged_overhead_i(charged_overhead), .processing_delay_max_i({4'd0, processing_delay_max}),
    .scheduler_write_i(scheduler_write), .scheduler_ready_o(scheduler_ready), .scheduler_index_i(SchedulerWidth'(scheduler_index)),
    .scheduler_group_i(GroupWidth'(scheduler_group)), .scheduler_octet_time_i({octet_time_high, octet_time_low}),
    .scheduler_empty_to_full_i({empty_to_full_high, empty_to_full_low}), .scheduler_octets_max_i(octets_max),
    .group_write_i(group_write), .group_index_i(GroupWidth'(group_index)),
    .group_residence_max_i({residence_high, residence_low}),
    .group_count_index_i(GroupWidth'(count_index)),
    .group_exceeds_burst_o(exceeds_burst), .group_exceeds_residence_o(exceeds_residence),
    .stream_write_i(stream_write), .stream_ready_o(stream_ready), .stream_refused_o(stream_refused), .stream_remove_i(stream_remove),
    .stream_key_i({stream_key_high, stream_key_low}), .stream_scheduler_i(SchedulerWidth'(stream_scheduler)),
    .rule_ports_i(Ports'(rule_ports)), .octet_write_i(rule_octet_write), .octet_rule_i(RuleWidth'(rule_octet[31:24])),
    .octet_place_i(rule_octet[21:16]), .octet_value_i(rule_octet[15:8]), .octet_mask_i(rule_octet[7:0]),
    .rule_write_i(rule_write), .rule_index_i(RuleWidth'(rule[23:16])), .rule_enable_i(rule[31]),
    .rule_scheduler_i(SchedulerWidth'(rule[15:0])),
    .address_write_i(address_write), .address_ready_o(address_ready), .address_refused_o(address_refused), .address_remove_i(address_remove),
    .address_key_i({address_key_high, address_key_low}), .address_ports_i(Ports'(address_ports)),
    .vlan_write_i(vlan_write), .vlan_vid_i(vlan_vid), .vlan_members_i(Ports'(vlan_members)),
    .age_tick_i(age_tick_q),
    .received_o(received), .received_short_o(received_short), .received_long_o(received_long),
    .received_check_o(received_check), .dropped_no_cell_o(dropped_no_cell), .dropped_no_port_o(dropped_no_port),
    .dropped_not_member_o(dropped_not_member), .dropped_queue_full_o(dropped_queue_full),
    .dropped_class_limit_o(dropped_class_limit),
    .sent_o(sent), .sent_cut_through_o(sent_cut_through), .sent_bad_o(sent_bad),
    .table_overflows_o(table_overflows), .free_cells_o(free_cells)
  );

  assign unused = ^{scheduler_index, scheduler_group, group_index, count_index, stream_scheduler, rule_octet, rule,
                    class_of_pcp, address_ports, vlan_members, rule_ports};

endmodule
