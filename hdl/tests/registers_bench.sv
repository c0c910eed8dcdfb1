// The registers with the names of cocotbext-axi, their values looped back where a test reads them.

module registers_bench (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [11:0] axil_awaddr,
  input  logic [2:0]  axil_awprot,
  input  logic        axil_awvalid,
  output logic        axil_awready,
  input  logic [31:0] axil_wdata,
  input  logic [3:0]  axil_wstrb,
  input  logic        axil_wvalid,
  output logic        axil_wready,
  output logic [1:0]  axil_bresp,
  output logic        axil_bvalid,
  input  logic        axil_bready,
  input  logic [11:0] axil_araddr,
  input  logic [2:0]  axil_arprot,
  input  logic        axil_arvalid,
  output logic        axil_arready,
  output logic [31:0] axil_rdata,
  output logic [1:0]  axil_rresp,
  output logic        axil_rvalid,
  input  logic        axil_rready,
  // A counter of 64 bits that never stops, and a command that takes several cycles.
  output logic [63:0] count_o,
  output logic        command_valid_o,
  output logic [31:0] command_o,
  input  logic        command_ready_i,
  input  logic        refused_i
);

  logic unused;
  logic remove;

  assign unused = ^{axil_awprot, axil_arprot};
  assign command_o = 32'(remove);

  always_ff @(posedge clk_i) begin
    count_o <= rst_ni ? count_o + 64'h0000_0000_4000_0001 : '0;
  end

  /* verilator lint_off PINMISSING */
  switch_registers #(.Ports(4)) u_registers (
    .clk_i, .rst_ni,
    .axil_awaddr_i(axil_awaddr), .axil_awvalid_i(axil_awvalid), .axil_awready_o(axil_awready),
    .axil_wdata_i(axil_wdata), .axil_wstrb_i(axil_wstrb), .axil_wvalid_i(axil_wvalid), .axil_wready_o(axil_wready),
    .axil_bresp_o(axil_bresp), .axil_bvalid_o(axil_bvalid), .axil_bready_i(axil_bready),
    .axil_araddr_i(axil_araddr), .axil_arvalid_i(axil_arvalid), .axil_arready_o(axil_arready),
    .axil_rdata_o(axil_rdata), .axil_rresp_o(axil_rresp), .axil_rvalid_o(axil_rvalid), .axil_rready_i(axil_rready),
    .clock_low_i(count_o[31:0]), .clock_high_i(count_o[63:32]),
    .sent_i({32'd13, 32'd12, 32'd11, 32'd10}),
    .clock_step_ready_i(1'b1), .scheduler_write_ready_i(1'b1), .group_write_ready_i(1'b1),
    .rule_octet_ready_i(1'b1), .rule_scheduler_ready_i(1'b1), .address_write_ready_i(1'b1), .vlan_write_ready_i(1'b1),
    .stream_write_ready_i(command_ready_i), .stream_write_refused_i(refused_i), .address_write_refused_i(1'b0), .stream_write_valid_o(command_valid_o), .stream_write_o(remove)
  );
  /* verilator lint_on PINMISSING */

endmodule
