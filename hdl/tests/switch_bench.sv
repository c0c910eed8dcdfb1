// The switch with the names of cocotbext-eth and cocotbext-axi: a GMII for each of four ports.

module switch_bench #(
  parameter int unsigned Cells = 256,
  parameter int unsigned AddressPlaces = 32,
  parameter int unsigned StreamPlaces = 32,
  parameter int unsigned Schedulers = 64
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic        ready_o,

  input  logic [7:0]  p0_rxd, p1_rxd, p2_rxd, p3_rxd,
  input  logic        p0_rx_dv, p1_rx_dv, p2_rx_dv, p3_rx_dv,
  input  logic        p0_rx_er, p1_rx_er, p2_rx_er, p3_rx_er,
  output logic [7:0]  p0_txd, p1_txd, p2_txd, p3_txd,
  output logic        p0_tx_en, p1_tx_en, p2_tx_en, p3_tx_en,
  output logic        p0_tx_er, p1_tx_er, p2_tx_er, p3_tx_er,

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
  input  logic        axil_rready
);

  logic unused;
  assign unused = ^{axil_awprot, axil_arprot};

  tsn_switch #(
    .Cells(Cells), .AddressPlaces(AddressPlaces), .StreamPlaces(StreamPlaces), .Schedulers(Schedulers)
  ) u_switch (
    .clk_i, .rst_ni, .ready_o,
    .gmii_rxd_i({p3_rxd, p2_rxd, p1_rxd, p0_rxd}),
    .gmii_rx_dv_i({p3_rx_dv, p2_rx_dv, p1_rx_dv, p0_rx_dv}),
    .gmii_rx_er_i({p3_rx_er, p2_rx_er, p1_rx_er, p0_rx_er}),
    .gmii_txd_o({p3_txd, p2_txd, p1_txd, p0_txd}),
    .gmii_tx_en_o({p3_tx_en, p2_tx_en, p1_tx_en, p0_tx_en}),
    .gmii_tx_er_o({p3_tx_er, p2_tx_er, p1_tx_er, p0_tx_er}),
    .axil_awaddr_i(axil_awaddr), .axil_awvalid_i(axil_awvalid), .axil_awready_o(axil_awready),
    .axil_wdata_i(axil_wdata), .axil_wstrb_i(axil_wstrb), .axil_wvalid_i(axil_wvalid), .axil_wready_o(axil_wready),
    .axil_bresp_o(axil_bresp), .axil_bvalid_o(axil_bvalid), .axil_bready_i(axil_bready),
    .axil_araddr_i(axil_araddr), .axil_arvalid_i(axil_arvalid), .axil_arready_o(axil_arready),
    .axil_rdata_o(axil_rdata), .axil_rresp_o(axil_rresp), .axil_rvalid_o(axil_rvalid), .axil_rready_i(axil_rready)
  );

endmodule
