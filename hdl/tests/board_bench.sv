// The switch on a board, with the names of cocotbext: two ports by GMII, two by RGMII with clocks of their own.

module board_bench (
  input  logic        clk_i,
  input  logic        rst_ni,
  output logic        ready_o,

  input  logic [7:0]  p0_rxd, p1_rxd,
  input  logic        p0_rx_dv, p1_rx_dv, p0_rx_er, p1_rx_er,
  output logic [7:0]  p0_txd, p1_txd,
  output logic        p0_tx_en, p1_tx_en, p0_tx_er, p1_tx_er,

  input  logic        p2_rxc, p3_rxc,
  input  logic [3:0]  p2_rxd, p3_rxd,
  input  logic        p2_rx_ctl, p3_rx_ctl,
  output logic        p2_txc, p3_txc,
  output logic [3:0]  p2_txd, p3_txd,
  output logic        p2_tx_ctl, p3_tx_ctl,

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

  logic [1:0][7:0] idle_txd;
  logic [1:0]      idle_tx_en, idle_tx_er, idle_txc, idle_tx_ctl;
  logic [1:0][3:0] idle_rgmii_txd;
  logic            unused;
  assign unused = ^{axil_awprot, axil_arprot};

  board_switch #(
    .Cells(256), .AddressPlaces(32), .StreamPlaces(32), .Schedulers(64), .Rgmii(32'b1100)
  ) u_switch (
    .clk_i, .rst_ni, .ready_o,
    .gmii_rxd_i({16'd0, p1_rxd, p0_rxd}),
    .gmii_rx_dv_i({2'd0, p1_rx_dv, p0_rx_dv}), .gmii_rx_er_i({2'd0, p1_rx_er, p0_rx_er}),
    .gmii_txd_o({idle_txd, p1_txd, p0_txd}),
    .gmii_tx_en_o({idle_tx_en, p1_tx_en, p0_tx_en}), .gmii_tx_er_o({idle_tx_er, p1_tx_er, p0_tx_er}),
    .rgmii_rxc_i({p3_rxc, p2_rxc, 2'd0}), .rgmii_rxd_i({p3_rxd, p2_rxd, 8'd0}),
    .rgmii_rx_ctl_i({p3_rx_ctl, p2_rx_ctl, 2'd0}),
    .rgmii_txc_o({p3_txc, p2_txc, idle_txc}), .rgmii_txd_o({p3_txd, p2_txd, idle_rgmii_txd}),
    .rgmii_tx_ctl_o({p3_tx_ctl, p2_tx_ctl, idle_tx_ctl}),
    .axil_awaddr_i(axil_awaddr), .axil_awvalid_i(axil_awvalid), .axil_awready_o(axil_awready),
    .axil_wdata_i(axil_wdata), .axil_wstrb_i(axil_wstrb), .axil_wvalid_i(axil_wvalid), .axil_wready_o(axil_wready),
    .axil_bresp_o(axil_bresp), .axil_bvalid_o(axil_bvalid), .axil_bready_i(axil_bready),
    .axil_araddr_i(axil_araddr), .axil_arvalid_i(axil_arvalid), .axil_arready_o(axil_arready),
    .axil_rdata_o(axil_rdata), .axil_rresp_o(axil_rresp), .axil_rvalid_o(axil_rvalid), .axil_rready_i(axil_rready)
  );

`ifndef SYNTHESIS
  PinsOfTheOtherKindAreLow: assert property (@(posedge clk_i)
      {idle_txd, idle_tx_en, idle_tx_er, idle_txc, idle_rgmii_txd, idle_tx_ctl} == '0);
`endif

endmodule
