// Registers of the switch on AXI4-Lite. Written by hdl/registers.py; change registers.toml there.
//
// One transfer of each direction at a time; a command is answered when the switch has taken it. A read or write
// of an address that is none, a write of what cannot be written, and a command that the switch refuses are answered
// by SLVERR and change nothing.
// Octets without their write strobe keep what they had; a command takes the full word.

module switch_registers #(
  parameter int unsigned Ports = 4
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic [11:0] axil_awaddr_i,
  input  logic axil_awvalid_i,
  output logic axil_awready_o,
  input  logic [31:0] axil_wdata_i,
  input  logic [3:0] axil_wstrb_i,
  input  logic axil_wvalid_i,
  output logic axil_wready_o,
  output logic [1:0] axil_bresp_o,
  output logic axil_bvalid_o,
  input  logic axil_bready_i,
  input  logic [11:0] axil_araddr_i,
  input  logic axil_arvalid_i,
  output logic axil_arready_o,
  output logic [31:0] axil_rdata_o,
  output logic [1:0] axil_rresp_o,
  output logic axil_rvalid_o,
  input  logic axil_rready_i,
  // The registers.
  input  logic [31:0] shape_i,
  input  logic [0:0] status_i,
  input  logic [31:0] time_low_i,
  input  logic [31:0] time_high_i,
  input  logic [31:0] clock_low_i,
  input  logic [31:0] clock_high_i,
  output logic [31:0] clock_rate_o,
  output logic [31:0] clock_step_high_o,
  output logic clock_step_valid_o,
  input  logic clock_step_ready_i,
  output logic [31:0] clock_step_o,
  output logic [15:0] ageing_interval_o,
  input  logic [31:0] free_cells_i,
  input  logic [31:0] table_overflows_i,
  output logic [7:0] ats_classes_o,
  output logic [7:0] charged_overhead_o,
  output logic [31:0] processing_delay_max_o,
  output logic [15:0] scheduler_group_o,
  output logic [31:0] scheduler_octet_time_low_o,
  output logic [7:0] scheduler_octet_time_high_o,
  output logic [31:0] scheduler_empty_to_full_low_o,
  output logic [3:0] scheduler_empty_to_full_high_o,
  output logic [14:0] scheduler_octets_max_o,
  output logic scheduler_write_valid_o,
  input  logic scheduler_write_ready_i,
  output logic [15:0] scheduler_write_o,
  output logic [31:0] group_residence_low_o,
  output logic [3:0] group_residence_high_o,
  output logic group_write_valid_o,
  input  logic group_write_ready_i,
  output logic [15:0] group_write_o,
  output logic [15:0] group_count_index_o,
  input  logic [31:0] group_exceeds_burst_i,
  input  logic [31:0] group_exceeds_residence_i,
  output logic [31:0] stream_key_low_o,
  output logic [28:0] stream_key_high_o,
  output logic [15:0] stream_scheduler_o,
  output logic stream_write_valid_o,
  input  logic stream_write_ready_i,
  input  logic stream_write_refused_i,
  output logic [0:0] stream_write_o,
  output logic [7:0] rule_ports_o,
  output logic rule_octet_valid_o,
  input  logic rule_octet_ready_i,
  output logic [31:0] rule_octet_o,
  output logic rule_scheduler_valid_o,
  input  logic rule_scheduler_ready_i,
  output logic [31:0] rule_scheduler_o,
  output logic [31:0] address_key_low_o,
  output logic [27:0] address_key_high_o,
  output logic [7:0] address_ports_o,
  output logic address_write_valid_o,
  input  logic address_write_ready_i,
  input  logic address_write_refused_i,
  output logic [0:0] address_write_o,
  output logic [7:0] vlan_members_o,
  output logic vlan_write_valid_o,
  input  logic vlan_write_ready_i,
  output logic [11:0] vlan_write_o,
  output logic [7:0][15:0] free_cells_min_o,
  output logic [Ports-1:0][31:0] class_of_pcp_o,
  output logic [Ports-1:0][14:0] default_tag_o,
  output logic [Ports-1:0][7:0] gates_o,
  output logic [Ports-1:0][7:0] credit_based_o,
  output logic [Ports-1:0][7:0] cut_through_o,
  input  logic [Ports-1:0][31:0] received_stamp_low_i,
  input  logic [Ports-1:0][31:0] received_stamp_high_i,
  input  logic [Ports-1:0][31:0] sent_stamp_low_i,
  input  logic [Ports-1:0][31:0] sent_stamp_high_i,
  output logic [Ports-1:0][7:0][29:0] idle_slope_o,
  input  logic [Ports-1:0][31:0] received_i,
  input  logic [Ports-1:0][31:0] received_short_i,
  input  logic [Ports-1:0][31:0] received_long_i,
  input  logic [Ports-1:0][31:0] received_check_i,
  input  logic [Ports-1:0][31:0] dropped_no_cell_i,
  input  logic [Ports-1:0][31:0] dropped_no_port_i,
  input  logic [Ports-1:0][31:0] dropped_not_member_i,
  input  logic [Ports-1:0][31:0] dropped_queue_full_i,
  input  logic [Ports-1:0][31:0] dropped_class_limit_i,
  input  logic [Ports-1:0][31:0] sent_i,
  input  logic [Ports-1:0][31:0] sent_cut_through_i,
  input  logic [Ports-1:0][31:0] sent_bad_i
);

  localparam logic [1:0] Okay = 2'b00, SlaveError = 2'b10;
  localparam logic [11:0] PortBase = 12'h800;

  function automatic logic [31:0] merged(
      input logic [31:0] kept, input logic [31:0] written, input logic [3:0] strobe);
    for (int k = 0; k < 4; k++) merged[8*k +: 8] = strobe[k] ? written[8*k +: 8] : kept[8*k +: 8];
  endfunction

  logic unused;
  assign unused = ^{axil_awaddr_i[1:0], axil_araddr_i[1:0]};

  // --- Writing: taken, its register found, done, answered.

  typedef enum logic [1:0] {StIdle, StFind, StWork, StAnswer} state_e;

  state_e      write_q;
  logic [11:0] waddr_q;
  logic [31:0] wdata_q;
  logic [3:0]  wstrb_q;
  logic        wready, refused;
  // A bit for every register that can be written, and for every port.
  logic [30:0] write_hit_q;
  logic [12:0] port_write_hit_q;
  logic [7:0] command_hit_q;
  logic [Ports-1:0] wport_q;

  assign axil_awready_o = write_q == StIdle && axil_awvalid_i && axil_wvalid_i;
  assign axil_wready_o = axil_awready_o;
  assign axil_bvalid_o = write_q == StAnswer;

  always_ff @(posedge clk_i) begin
    write_hit_q[0] <= waddr_q == 12'h020;
    write_hit_q[1] <= waddr_q == 12'h024;
    write_hit_q[2] <= waddr_q == 12'h02c;
    write_hit_q[3] <= waddr_q == 12'h040;
    write_hit_q[4] <= waddr_q == 12'h044;
    write_hit_q[5] <= waddr_q == 12'h048;
    write_hit_q[6] <= waddr_q == 12'h050;
    write_hit_q[7] <= waddr_q == 12'h054;
    write_hit_q[8] <= waddr_q == 12'h058;
    write_hit_q[9] <= waddr_q == 12'h05c;
    write_hit_q[10] <= waddr_q == 12'h060;
    write_hit_q[11] <= waddr_q == 12'h064;
    write_hit_q[12] <= waddr_q == 12'h070;
    write_hit_q[13] <= waddr_q == 12'h074;
    write_hit_q[14] <= waddr_q == 12'h07c;
    write_hit_q[15] <= waddr_q == 12'h090;
    write_hit_q[16] <= waddr_q == 12'h094;
    write_hit_q[17] <= waddr_q == 12'h098;
    write_hit_q[18] <= waddr_q == 12'h0a8;
    write_hit_q[19] <= waddr_q == 12'h0b0;
    write_hit_q[20] <= waddr_q == 12'h0b4;
    write_hit_q[21] <= waddr_q == 12'h0b8;
    write_hit_q[22] <= waddr_q == 12'h0c0;
    write_hit_q[23] <= waddr_q == 12'h0e0;
    write_hit_q[24] <= waddr_q == 12'h0e4;
    write_hit_q[25] <= waddr_q == 12'h0e8;
    write_hit_q[26] <= waddr_q == 12'h0ec;
    write_hit_q[27] <= waddr_q == 12'h0f0;
    write_hit_q[28] <= waddr_q == 12'h0f4;
    write_hit_q[29] <= waddr_q == 12'h0f8;
    write_hit_q[30] <= waddr_q == 12'h0fc;
    command_hit_q[0] <= waddr_q == 12'h028;
    command_hit_q[1] <= waddr_q == 12'h068;
    command_hit_q[2] <= waddr_q == 12'h078;
    command_hit_q[3] <= waddr_q == 12'h09c;
    command_hit_q[4] <= waddr_q == 12'h0a0;
    command_hit_q[5] <= waddr_q == 12'h0a4;
    command_hit_q[6] <= waddr_q == 12'h0bc;
    command_hit_q[7] <= waddr_q == 12'h0c4;
    port_write_hit_q[0] <= waddr_q[7:0] == 8'h00;
    port_write_hit_q[1] <= waddr_q[7:0] == 8'h04;
    port_write_hit_q[2] <= waddr_q[7:0] == 8'h08;
    port_write_hit_q[3] <= waddr_q[7:0] == 8'h0c;
    port_write_hit_q[4] <= waddr_q[7:0] == 8'h10;
    port_write_hit_q[5] <= waddr_q[7:0] == 8'h40;
    port_write_hit_q[6] <= waddr_q[7:0] == 8'h44;
    port_write_hit_q[7] <= waddr_q[7:0] == 8'h48;
    port_write_hit_q[8] <= waddr_q[7:0] == 8'h4c;
    port_write_hit_q[9] <= waddr_q[7:0] == 8'h50;
    port_write_hit_q[10] <= waddr_q[7:0] == 8'h54;
    port_write_hit_q[11] <= waddr_q[7:0] == 8'h58;
    port_write_hit_q[12] <= waddr_q[7:0] == 8'h5c;
    for (int unsigned p = 0; p < Ports; p++) wport_q[p] <= waddr_q >= PortBase && 32'(waddr_q[10:8]) == p;
  end

  // A command is valid until it is taken.
  always_ff @(posedge clk_i) begin
    clock_step_valid_o <= (write_q == StFind && waddr_q == 12'h028) || (clock_step_valid_o && !clock_step_ready_i);
    scheduler_write_valid_o <= (write_q == StFind && waddr_q == 12'h068) || (scheduler_write_valid_o && !scheduler_write_ready_i);
    group_write_valid_o <= (write_q == StFind && waddr_q == 12'h078) || (group_write_valid_o && !group_write_ready_i);
    stream_write_valid_o <= (write_q == StFind && waddr_q == 12'h09c) || (stream_write_valid_o && !stream_write_ready_i);
    rule_octet_valid_o <= (write_q == StFind && waddr_q == 12'h0a0) || (rule_octet_valid_o && !rule_octet_ready_i);
    rule_scheduler_valid_o <= (write_q == StFind && waddr_q == 12'h0a4) || (rule_scheduler_valid_o && !rule_scheduler_ready_i);
    address_write_valid_o <= (write_q == StFind && waddr_q == 12'h0bc) || (address_write_valid_o && !address_write_ready_i);
    vlan_write_valid_o <= (write_q == StFind && waddr_q == 12'h0c4) || (vlan_write_valid_o && !vlan_write_ready_i);
    if (!rst_ni) begin
      clock_step_valid_o <= 1'b0;
      scheduler_write_valid_o <= 1'b0;
      group_write_valid_o <= 1'b0;
      stream_write_valid_o <= 1'b0;
      rule_octet_valid_o <= 1'b0;
      rule_scheduler_valid_o <= 1'b0;
      address_write_valid_o <= 1'b0;
      vlan_write_valid_o <= 1'b0;
    end
  end

  assign wready =
      (clock_step_valid_o && clock_step_ready_i)
      || (scheduler_write_valid_o && scheduler_write_ready_i)
      || (group_write_valid_o && group_write_ready_i)
      || (stream_write_valid_o && stream_write_ready_i)
      || (rule_octet_valid_o && rule_octet_ready_i)
      || (rule_scheduler_valid_o && rule_scheduler_ready_i)
      || (address_write_valid_o && address_write_ready_i)
      || (vlan_write_valid_o && vlan_write_ready_i);
  assign refused = (command_hit_q[3] && stream_write_refused_i) || (command_hit_q[6] && address_write_refused_i);
  assign clock_step_o = 32'(wdata_q);
  assign scheduler_write_o = 16'(wdata_q);
  assign group_write_o = 16'(wdata_q);
  assign stream_write_o = 1'(wdata_q);
  assign rule_octet_o = 32'(wdata_q);
  assign rule_scheduler_o = 32'(wdata_q);
  assign address_write_o = 1'(wdata_q);
  assign vlan_write_o = 12'(wdata_q);

  always_ff @(posedge clk_i) begin
    unique case (write_q)
      StIdle: if (axil_awready_o) begin
        write_q <= StFind;
        waddr_q <= {axil_awaddr_i[11:2], 2'b00};
        wdata_q <= axil_wdata_i;
        wstrb_q <= axil_wstrb_i;
      end
      StFind: write_q <= StWork;
      StWork: if (command_hit_q == '0 || wready) begin
        write_q      <= StAnswer;
        axil_bresp_o <= (|{write_hit_q, command_hit_q} || (wport_q != '0 && |port_write_hit_q)) && !refused ? Okay : SlaveError;
      end
      default: if (axil_bready_i) write_q <= StIdle;
    endcase
    if (!rst_ni) write_q <= StIdle;
  end

  always_ff @(posedge clk_i) begin
    if (write_q == StWork) begin
      if (write_hit_q[0]) clock_rate_o <= 32'(merged(32'(clock_rate_o), wdata_q, wstrb_q));
      if (write_hit_q[1]) clock_step_high_o <= 32'(merged(32'(clock_step_high_o), wdata_q, wstrb_q));
      if (write_hit_q[2]) ageing_interval_o <= 16'(merged(32'(ageing_interval_o), wdata_q, wstrb_q));
      if (write_hit_q[3]) ats_classes_o <= 8'(merged(32'(ats_classes_o), wdata_q, wstrb_q));
      if (write_hit_q[4]) charged_overhead_o <= 8'(merged(32'(charged_overhead_o), wdata_q, wstrb_q));
      if (write_hit_q[5]) processing_delay_max_o <= 32'(merged(32'(processing_delay_max_o), wdata_q, wstrb_q));
      if (write_hit_q[6]) scheduler_group_o <= 16'(merged(32'(scheduler_group_o), wdata_q, wstrb_q));
      if (write_hit_q[7]) scheduler_octet_time_low_o <= 32'(merged(32'(scheduler_octet_time_low_o), wdata_q, wstrb_q));
      if (write_hit_q[8]) scheduler_octet_time_high_o <= 8'(merged(32'(scheduler_octet_time_high_o), wdata_q, wstrb_q));
      if (write_hit_q[9]) scheduler_empty_to_full_low_o <= 32'(merged(32'(scheduler_empty_to_full_low_o), wdata_q, wstrb_q));
      if (write_hit_q[10]) scheduler_empty_to_full_high_o <= 4'(merged(32'(scheduler_empty_to_full_high_o), wdata_q, wstrb_q));
      if (write_hit_q[11]) scheduler_octets_max_o <= 15'(merged(32'(scheduler_octets_max_o), wdata_q, wstrb_q));
      if (write_hit_q[12]) group_residence_low_o <= 32'(merged(32'(group_residence_low_o), wdata_q, wstrb_q));
      if (write_hit_q[13]) group_residence_high_o <= 4'(merged(32'(group_residence_high_o), wdata_q, wstrb_q));
      if (write_hit_q[14]) group_count_index_o <= 16'(merged(32'(group_count_index_o), wdata_q, wstrb_q));
      if (write_hit_q[15]) stream_key_low_o <= 32'(merged(32'(stream_key_low_o), wdata_q, wstrb_q));
      if (write_hit_q[16]) stream_key_high_o <= 29'(merged(32'(stream_key_high_o), wdata_q, wstrb_q));
      if (write_hit_q[17]) stream_scheduler_o <= 16'(merged(32'(stream_scheduler_o), wdata_q, wstrb_q));
      if (write_hit_q[18]) rule_ports_o <= 8'(merged(32'(rule_ports_o), wdata_q, wstrb_q));
      if (write_hit_q[19]) address_key_low_o <= 32'(merged(32'(address_key_low_o), wdata_q, wstrb_q));
      if (write_hit_q[20]) address_key_high_o <= 28'(merged(32'(address_key_high_o), wdata_q, wstrb_q));
      if (write_hit_q[21]) address_ports_o <= 8'(merged(32'(address_ports_o), wdata_q, wstrb_q));
      if (write_hit_q[22]) vlan_members_o <= 8'(merged(32'(vlan_members_o), wdata_q, wstrb_q));
      if (write_hit_q[23]) free_cells_min_o[0] <= 16'(merged(32'(free_cells_min_o[0]), wdata_q, wstrb_q));
      if (write_hit_q[24]) free_cells_min_o[1] <= 16'(merged(32'(free_cells_min_o[1]), wdata_q, wstrb_q));
      if (write_hit_q[25]) free_cells_min_o[2] <= 16'(merged(32'(free_cells_min_o[2]), wdata_q, wstrb_q));
      if (write_hit_q[26]) free_cells_min_o[3] <= 16'(merged(32'(free_cells_min_o[3]), wdata_q, wstrb_q));
      if (write_hit_q[27]) free_cells_min_o[4] <= 16'(merged(32'(free_cells_min_o[4]), wdata_q, wstrb_q));
      if (write_hit_q[28]) free_cells_min_o[5] <= 16'(merged(32'(free_cells_min_o[5]), wdata_q, wstrb_q));
      if (write_hit_q[29]) free_cells_min_o[6] <= 16'(merged(32'(free_cells_min_o[6]), wdata_q, wstrb_q));
      if (write_hit_q[30]) free_cells_min_o[7] <= 16'(merged(32'(free_cells_min_o[7]), wdata_q, wstrb_q));
      for (int unsigned p = 0; p < Ports; p++) begin
        if (wport_q[p] && port_write_hit_q[0]) class_of_pcp_o[p] <= 32'(merged(32'(class_of_pcp_o[p]), wdata_q, wstrb_q));
        if (wport_q[p] && port_write_hit_q[1]) default_tag_o[p] <= 15'(merged(32'(default_tag_o[p]), wdata_q, wstrb_q));
        if (wport_q[p] && port_write_hit_q[2]) gates_o[p] <= 8'(merged(32'(gates_o[p]), wdata_q, wstrb_q));
        if (wport_q[p] && port_write_hit_q[3]) credit_based_o[p] <= 8'(merged(32'(credit_based_o[p]), wdata_q, wstrb_q));
        if (wport_q[p] && port_write_hit_q[4]) cut_through_o[p] <= 8'(merged(32'(cut_through_o[p]), wdata_q, wstrb_q));
        if (wport_q[p] && port_write_hit_q[5]) idle_slope_o[p][0] <= 30'(merged(32'(idle_slope_o[p][0]), wdata_q, wstrb_q));
        if (wport_q[p] && port_write_hit_q[6]) idle_slope_o[p][1] <= 30'(merged(32'(idle_slope_o[p][1]), wdata_q, wstrb_q));
        if (wport_q[p] && port_write_hit_q[7]) idle_slope_o[p][2] <= 30'(merged(32'(idle_slope_o[p][2]), wdata_q, wstrb_q));
        if (wport_q[p] && port_write_hit_q[8]) idle_slope_o[p][3] <= 30'(merged(32'(idle_slope_o[p][3]), wdata_q, wstrb_q));
        if (wport_q[p] && port_write_hit_q[9]) idle_slope_o[p][4] <= 30'(merged(32'(idle_slope_o[p][4]), wdata_q, wstrb_q));
        if (wport_q[p] && port_write_hit_q[10]) idle_slope_o[p][5] <= 30'(merged(32'(idle_slope_o[p][5]), wdata_q, wstrb_q));
        if (wport_q[p] && port_write_hit_q[11]) idle_slope_o[p][6] <= 30'(merged(32'(idle_slope_o[p][6]), wdata_q, wstrb_q));
        if (wport_q[p] && port_write_hit_q[12]) idle_slope_o[p][7] <= 30'(merged(32'(idle_slope_o[p][7]), wdata_q, wstrb_q));
      end
    end
    if (!rst_ni) begin
      clock_rate_o <= 32'h8000000;
      clock_step_high_o <= 32'h0;
      ageing_interval_o <= 16'h0;
      ats_classes_o <= 8'h0;
      charged_overhead_o <= 8'h14;
      processing_delay_max_o <= 32'h0;
      scheduler_group_o <= 16'h0;
      scheduler_octet_time_low_o <= 32'h0;
      scheduler_octet_time_high_o <= 8'h0;
      scheduler_empty_to_full_low_o <= 32'h0;
      scheduler_empty_to_full_high_o <= 4'h0;
      scheduler_octets_max_o <= 15'h0;
      group_residence_low_o <= 32'h0;
      group_residence_high_o <= 4'h0;
      group_count_index_o <= 16'h0;
      stream_key_low_o <= 32'h0;
      stream_key_high_o <= 29'h0;
      stream_scheduler_o <= 16'h0;
      rule_ports_o <= 8'hff;
      address_key_low_o <= 32'h0;
      address_key_high_o <= 28'h0;
      address_ports_o <= 8'h0;
      vlan_members_o <= 8'h0;
      free_cells_min_o[0] <= 16'h0;
      free_cells_min_o[1] <= 16'h0;
      free_cells_min_o[2] <= 16'h0;
      free_cells_min_o[3] <= 16'h0;
      free_cells_min_o[4] <= 16'h0;
      free_cells_min_o[5] <= 16'h0;
      free_cells_min_o[6] <= 16'h0;
      free_cells_min_o[7] <= 16'h0;
      for (int unsigned p = 0; p < Ports; p++) begin
        class_of_pcp_o[p] <= 32'h76543210;
        default_tag_o[p] <= 15'h1;
        gates_o[p] <= 8'hff;
        credit_based_o[p] <= 8'h0;
        cut_through_o[p] <= 8'h0;
        idle_slope_o[p][0] <= 30'h0;
        idle_slope_o[p][1] <= 30'h0;
        idle_slope_o[p][2] <= 30'h0;
        idle_slope_o[p][3] <= 30'h0;
        idle_slope_o[p][4] <= 30'h0;
        idle_slope_o[p][5] <= 30'h0;
        idle_slope_o[p][6] <= 30'h0;
        idle_slope_o[p][7] <= 30'h0;
      end
    end
  end

  // --- Reading: of each part of a port's and of the switch's registers, then of all parts, then one of them.

  typedef enum logic [2:0] {RdIdle, RdFind, RdSelect, RdMerge, RdJoin, RdAnswer} read_e;

  localparam int unsigned CommonParts = 6;
  localparam int unsigned PortParts = 4;

  read_e                   read_q;
  logic [11:0]             raddr_q;
  logic [31:0]             common_q;
  logic [Ports-1:0][31:0]  port_q;
  logic                    rfound_q;
  // A bit for every register that can be read; those of a port of their own, so that its registers may lie together.
  logic [42:0] read_hit_q;
  logic [Ports-1:0][28:0] port_read_hit_q;
  logic [31:0]             joined;
  logic [CommonParts-1:0][31:0]          common_part_q;
  logic [Ports-1:0][PortParts-1:0][31:0] port_part_q;
  logic [31:0] time_high_q;
  logic [31:0] clock_high_q;
  logic [Ports-1:0][31:0] received_stamp_high_q;
  logic [Ports-1:0][31:0] sent_stamp_high_q;

  assign axil_arready_o = read_q == RdIdle;
  assign axil_rvalid_o = read_q == RdAnswer;
  always_comb begin
    joined = common_q;
    for (int unsigned p = 0; p < Ports; p++) joined |= port_q[p];
  end

  always_ff @(posedge clk_i) begin
    unique case (read_q)
      RdIdle: if (axil_arvalid_i) begin
        read_q  <= RdFind;
        raddr_q <= {axil_araddr_i[11:2], 2'b00};
      end
      RdFind: read_q <= RdSelect;
      RdSelect: begin
        read_q   <= RdMerge;
        rfound_q <= |read_hit_q || |port_read_hit_q;
      end
      RdMerge: begin
        read_q   <= RdJoin;
        common_q <= '0;
        port_q   <= '0;
        for (int unsigned k = 0; k < 32; k++) begin
          for (int unsigned n = 0; n < CommonParts; n++) if (common_part_q[n][k]) common_q[k] <= 1'b1;
          for (int unsigned p = 0; p < Ports; p++) begin
            for (int unsigned n = 0; n < PortParts; n++) if (port_part_q[p][n][k]) port_q[p][k] <= 1'b1;
          end
        end
      end
      RdJoin: begin
        read_q       <= RdAnswer;
        axil_rdata_o <= joined;
        axil_rresp_o <= rfound_q ? Okay : SlaveError;
      end
      default: if (axil_rready_i) read_q <= RdIdle;
    endcase
    if (!rst_ni) read_q <= RdIdle;
  end

  always_ff @(posedge clk_i) begin
    read_hit_q[0] <= raddr_q == 12'h000;
    read_hit_q[1] <= raddr_q == 12'h004;
    read_hit_q[2] <= raddr_q == 12'h008;
    read_hit_q[3] <= raddr_q == 12'h00c;
    read_hit_q[4] <= raddr_q == 12'h010;
    read_hit_q[5] <= raddr_q == 12'h014;
    read_hit_q[6] <= raddr_q == 12'h018;
    read_hit_q[7] <= raddr_q == 12'h01c;
    read_hit_q[8] <= raddr_q == 12'h020;
    read_hit_q[9] <= raddr_q == 12'h024;
    read_hit_q[10] <= raddr_q == 12'h02c;
    read_hit_q[11] <= raddr_q == 12'h030;
    read_hit_q[12] <= raddr_q == 12'h034;
    read_hit_q[13] <= raddr_q == 12'h040;
    read_hit_q[14] <= raddr_q == 12'h044;
    read_hit_q[15] <= raddr_q == 12'h048;
    read_hit_q[16] <= raddr_q == 12'h050;
    read_hit_q[17] <= raddr_q == 12'h054;
    read_hit_q[18] <= raddr_q == 12'h058;
    read_hit_q[19] <= raddr_q == 12'h05c;
    read_hit_q[20] <= raddr_q == 12'h060;
    read_hit_q[21] <= raddr_q == 12'h064;
    read_hit_q[22] <= raddr_q == 12'h070;
    read_hit_q[23] <= raddr_q == 12'h074;
    read_hit_q[24] <= raddr_q == 12'h07c;
    read_hit_q[25] <= raddr_q == 12'h080;
    read_hit_q[26] <= raddr_q == 12'h084;
    read_hit_q[27] <= raddr_q == 12'h090;
    read_hit_q[28] <= raddr_q == 12'h094;
    read_hit_q[29] <= raddr_q == 12'h098;
    read_hit_q[30] <= raddr_q == 12'h0a8;
    read_hit_q[31] <= raddr_q == 12'h0b0;
    read_hit_q[32] <= raddr_q == 12'h0b4;
    read_hit_q[33] <= raddr_q == 12'h0b8;
    read_hit_q[34] <= raddr_q == 12'h0c0;
    read_hit_q[35] <= raddr_q == 12'h0e0;
    read_hit_q[36] <= raddr_q == 12'h0e4;
    read_hit_q[37] <= raddr_q == 12'h0e8;
    read_hit_q[38] <= raddr_q == 12'h0ec;
    read_hit_q[39] <= raddr_q == 12'h0f0;
    read_hit_q[40] <= raddr_q == 12'h0f4;
    read_hit_q[41] <= raddr_q == 12'h0f8;
    read_hit_q[42] <= raddr_q == 12'h0fc;
    for (int unsigned p = 0; p < Ports; p++) begin
      port_read_hit_q[p][0] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'h00};
      port_read_hit_q[p][1] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'h04};
      port_read_hit_q[p][2] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'h08};
      port_read_hit_q[p][3] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'h0c};
      port_read_hit_q[p][4] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'h10};
      port_read_hit_q[p][5] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'h20};
      port_read_hit_q[p][6] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'h24};
      port_read_hit_q[p][7] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'h28};
      port_read_hit_q[p][8] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'h2c};
      port_read_hit_q[p][9] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'h40};
      port_read_hit_q[p][10] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'h44};
      port_read_hit_q[p][11] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'h48};
      port_read_hit_q[p][12] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'h4c};
      port_read_hit_q[p][13] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'h50};
      port_read_hit_q[p][14] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'h54};
      port_read_hit_q[p][15] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'h58};
      port_read_hit_q[p][16] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'h5c};
      port_read_hit_q[p][17] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'h80};
      port_read_hit_q[p][18] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'h84};
      port_read_hit_q[p][19] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'h88};
      port_read_hit_q[p][20] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'h8c};
      port_read_hit_q[p][21] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'h90};
      port_read_hit_q[p][22] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'h94};
      port_read_hit_q[p][23] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'h98};
      port_read_hit_q[p][24] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'h9c};
      port_read_hit_q[p][25] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'hac};
      port_read_hit_q[p][26] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'ha0};
      port_read_hit_q[p][27] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'ha4};
      port_read_hit_q[p][28] <= raddr_q >= PortBase && raddr_q[10:0] == {3'(p), 8'ha8};
    end
    common_part_q[0] <= ({32{read_hit_q[0]}} & 32'h54415554)
        | ({32{read_hit_q[1]}} & 32'h00000001)
        | ({32{read_hit_q[2]}} & 32'(shape_i))
        | ({32{read_hit_q[3]}} & 32'(status_i))
        | ({32{read_hit_q[4]}} & 32'(time_low_i))
        | ({32{read_hit_q[5]}} & 32'(time_high_q))
        | ({32{read_hit_q[6]}} & 32'(clock_low_i))
        | ({32{read_hit_q[7]}} & 32'(clock_high_q));
    common_part_q[1] <= ({32{read_hit_q[8]}} & 32'(clock_rate_o))
        | ({32{read_hit_q[9]}} & 32'(clock_step_high_o))
        | ({32{read_hit_q[10]}} & 32'(ageing_interval_o))
        | ({32{read_hit_q[11]}} & 32'(free_cells_i))
        | ({32{read_hit_q[12]}} & 32'(table_overflows_i))
        | ({32{read_hit_q[13]}} & 32'(ats_classes_o))
        | ({32{read_hit_q[14]}} & 32'(charged_overhead_o))
        | ({32{read_hit_q[15]}} & 32'(processing_delay_max_o));
    common_part_q[2] <= ({32{read_hit_q[16]}} & 32'(scheduler_group_o))
        | ({32{read_hit_q[17]}} & 32'(scheduler_octet_time_low_o))
        | ({32{read_hit_q[18]}} & 32'(scheduler_octet_time_high_o))
        | ({32{read_hit_q[19]}} & 32'(scheduler_empty_to_full_low_o))
        | ({32{read_hit_q[20]}} & 32'(scheduler_empty_to_full_high_o))
        | ({32{read_hit_q[21]}} & 32'(scheduler_octets_max_o))
        | ({32{read_hit_q[22]}} & 32'(group_residence_low_o))
        | ({32{read_hit_q[23]}} & 32'(group_residence_high_o));
    common_part_q[3] <= ({32{read_hit_q[24]}} & 32'(group_count_index_o))
        | ({32{read_hit_q[25]}} & 32'(group_exceeds_burst_i))
        | ({32{read_hit_q[26]}} & 32'(group_exceeds_residence_i))
        | ({32{read_hit_q[27]}} & 32'(stream_key_low_o))
        | ({32{read_hit_q[28]}} & 32'(stream_key_high_o))
        | ({32{read_hit_q[29]}} & 32'(stream_scheduler_o))
        | ({32{read_hit_q[30]}} & 32'(rule_ports_o))
        | ({32{read_hit_q[31]}} & 32'(address_key_low_o));
    common_part_q[4] <= ({32{read_hit_q[32]}} & 32'(address_key_high_o))
        | ({32{read_hit_q[33]}} & 32'(address_ports_o))
        | ({32{read_hit_q[34]}} & 32'(vlan_members_o))
        | ({32{read_hit_q[35]}} & 32'(free_cells_min_o[0]))
        | ({32{read_hit_q[36]}} & 32'(free_cells_min_o[1]))
        | ({32{read_hit_q[37]}} & 32'(free_cells_min_o[2]))
        | ({32{read_hit_q[38]}} & 32'(free_cells_min_o[3]))
        | ({32{read_hit_q[39]}} & 32'(free_cells_min_o[4]));
    common_part_q[5] <= ({32{read_hit_q[40]}} & 32'(free_cells_min_o[5]))
        | ({32{read_hit_q[41]}} & 32'(free_cells_min_o[6]))
        | ({32{read_hit_q[42]}} & 32'(free_cells_min_o[7]));
    for (int unsigned p = 0; p < Ports; p++) begin
      port_part_q[p][0] <= ({32{port_read_hit_q[p][0]}} & 32'(class_of_pcp_o[p]))
          | ({32{port_read_hit_q[p][1]}} & 32'(default_tag_o[p]))
          | ({32{port_read_hit_q[p][2]}} & 32'(gates_o[p]))
          | ({32{port_read_hit_q[p][3]}} & 32'(credit_based_o[p]))
          | ({32{port_read_hit_q[p][4]}} & 32'(cut_through_o[p]))
          | ({32{port_read_hit_q[p][5]}} & 32'(received_stamp_low_i[p]))
          | ({32{port_read_hit_q[p][6]}} & 32'(received_stamp_high_q[p]))
          | ({32{port_read_hit_q[p][7]}} & 32'(sent_stamp_low_i[p]));
      port_part_q[p][1] <= ({32{port_read_hit_q[p][8]}} & 32'(sent_stamp_high_q[p]))
          | ({32{port_read_hit_q[p][9]}} & 32'(idle_slope_o[p][0]))
          | ({32{port_read_hit_q[p][10]}} & 32'(idle_slope_o[p][1]))
          | ({32{port_read_hit_q[p][11]}} & 32'(idle_slope_o[p][2]))
          | ({32{port_read_hit_q[p][12]}} & 32'(idle_slope_o[p][3]))
          | ({32{port_read_hit_q[p][13]}} & 32'(idle_slope_o[p][4]))
          | ({32{port_read_hit_q[p][14]}} & 32'(idle_slope_o[p][5]))
          | ({32{port_read_hit_q[p][15]}} & 32'(idle_slope_o[p][6]));
      port_part_q[p][2] <= ({32{port_read_hit_q[p][16]}} & 32'(idle_slope_o[p][7]))
          | ({32{port_read_hit_q[p][17]}} & 32'(received_i[p]))
          | ({32{port_read_hit_q[p][18]}} & 32'(received_short_i[p]))
          | ({32{port_read_hit_q[p][19]}} & 32'(received_long_i[p]))
          | ({32{port_read_hit_q[p][20]}} & 32'(received_check_i[p]))
          | ({32{port_read_hit_q[p][21]}} & 32'(dropped_no_cell_i[p]))
          | ({32{port_read_hit_q[p][22]}} & 32'(dropped_no_port_i[p]))
          | ({32{port_read_hit_q[p][23]}} & 32'(dropped_not_member_i[p]));
      port_part_q[p][3] <= ({32{port_read_hit_q[p][24]}} & 32'(dropped_queue_full_i[p]))
          | ({32{port_read_hit_q[p][25]}} & 32'(dropped_class_limit_i[p]))
          | ({32{port_read_hit_q[p][26]}} & 32'(sent_i[p]))
          | ({32{port_read_hit_q[p][27]}} & 32'(sent_cut_through_i[p]))
          | ({32{port_read_hit_q[p][28]}} & 32'(sent_bad_i[p]));
    end
    // Of a value of 64 bits the upper half, in the cycle in which the lower one is read.
    if (read_q == RdSelect) begin
      if (read_hit_q[4]) time_high_q <= time_high_i;
      if (read_hit_q[6]) clock_high_q <= clock_high_i;
      for (int unsigned p = 0; p < Ports; p++)
        if (port_read_hit_q[p][5]) received_stamp_high_q[p] <= received_stamp_high_i[p];
      for (int unsigned p = 0; p < Ports; p++)
        if (port_read_hit_q[p][7]) sent_stamp_high_q[p] <= sent_stamp_high_i[p];
    end
  end

endmodule
