// What identifies frames, and the clock that stamps them, side by side: each with ports of its own.

module identification_bench #(
  parameter int unsigned Ports = 4,
  parameter int unsigned Rules = 4,
  parameter int unsigned ValueWidth = 6
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  output logic                             vlan_ready_o,
  input  logic [Ports-1:0]                 vlan_lookup_i,
  input  logic [Ports-1:0][11:0]           vlan_vid_i,
  output logic [Ports-1:0]                 vlan_answer_o,
  output logic [Ports-1:0]                 vlan_members_o,
  input  logic                             vlan_write_i,
  input  logic [11:0]                      vlan_write_vid_i,
  input  logic [Ports-1:0]                 vlan_write_members_i,

  input  logic [Ports-1:0]                 start_i,
  input  logic [Ports-1:0]                 octet_valid_i,
  input  logic [Ports-1:0][7:0]            octet_i,
  output logic [Ports-1:0]                 hit_o,
  output logic [Ports-1:0][ValueWidth-1:0] value_o,
  input  logic [Ports-1:0]                 rule_ports_i,
  input  logic                             octet_write_i,
  input  logic [$clog2(Rules)-1:0]         octet_rule_i,
  input  logic [5:0]                       octet_place_i,
  input  logic [7:0]                       octet_value_i,
  input  logic [7:0]                       octet_mask_i,
  input  logic                             rule_write_i,
  input  logic [$clog2(Rules)-1:0]         rule_index_i,
  input  logic                             rule_enable_i,
  input  logic [ValueWidth-1:0]            rule_value_i,

  input  logic [31:0]                      clock_rate_i,
  input  logic                             clock_step_valid_i,
  input  logic [63:0]                      clock_step_i,
  output logic [63:0]                      clock_o
);

  vlan_table #(.Ports(Ports)) u_vlans (
    .clk_i, .rst_ni, .ready_o(vlan_ready_o),
    .lookup_valid_i(vlan_lookup_i), .lookup_vid_i(vlan_vid_i),
    .answer_valid_o(vlan_answer_o), .answer_members_o(vlan_members_o),
    .write_valid_i(vlan_write_i), .write_vid_i(vlan_write_vid_i), .write_members_i(vlan_write_members_i)
  );

  stream_filter #(.Ports(Ports), .Rules(Rules), .ValueWidth(ValueWidth)) u_filter (
    .clk_i, .rst_ni, .start_i, .octet_valid_i, .octet_i, .hit_o, .value_o, .ports_i(rule_ports_i),
    .octet_write_i, .octet_rule_i, .octet_place_i, .octet_value_i, .octet_mask_i,
    .rule_write_i, .rule_index_i, .rule_enable_i, .rule_value_i
  );

  adjustable_clock u_clock (
    .clk_i, .rst_ni, .rate_i(clock_rate_i),
    .step_valid_i(clock_step_valid_i), .step_i(clock_step_i), .now_o(clock_o)
  );

endmodule
