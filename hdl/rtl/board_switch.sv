// The switch on a board: at every port GMII or RGMII, by parameter.
//
// A port's pins of the other kind are left open: what comes in there is ignored, what goes out is low. RGMII carries its own
// clock of reception, which may differ from the switch's; GMII is in the switch's clock.
//
// Not here: the switch (`tsn_switch.sv`), the crossing of clocks (`rgmii_port.sv`), pins and delays of a board.

module board_switch #(
  // See `switch_fabric.sv`.
  parameter int unsigned Ports = 4,
  parameter int unsigned Cells = 4096,
  parameter int unsigned Depth = 32,
  parameter int unsigned AddressPlaces = 512,
  parameter int unsigned StreamPlaces = 4096,
  parameter int unsigned Schedulers = 1024 * Ports,
  parameter int unsigned Groups = 64,
  parameter int unsigned Rules = 32,
  parameter bit          CutThrough = 1'b1,
  // Of every port, the lowest bit for port 0: RGMII, else GMII.
  parameter int unsigned Rgmii = 32'hFFFF_FFFF
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  output logic                  ready_o,

  input  logic [Ports-1:0][7:0] gmii_rxd_i,
  input  logic [Ports-1:0]      gmii_rx_dv_i,
  input  logic [Ports-1:0]      gmii_rx_er_i,
  output logic [Ports-1:0][7:0] gmii_txd_o,
  output logic [Ports-1:0]      gmii_tx_en_o,
  output logic [Ports-1:0]      gmii_tx_er_o,

  input  logic [Ports-1:0]      rgmii_rxc_i,
  input  logic [Ports-1:0][3:0] rgmii_rxd_i,
  input  logic [Ports-1:0]      rgmii_rx_ctl_i,
  output logic [Ports-1:0]      rgmii_txc_o,
  output logic [Ports-1:0][3:0] rgmii_txd_o,
  output logic [Ports-1:0]      rgmii_tx_ctl_o,

  input  logic [11:0]           axil_awaddr_i,
  input  logic                  axil_awvalid_i,
  output logic                  axil_awready_o,
  input  logic [31:0]           axil_wdata_i,
  input  logic [3:0]            axil_wstrb_i,
  input  logic                  axil_wvalid_i,
  output logic                  axil_wready_o,
  output logic [1:0]            axil_bresp_o,
  output logic                  axil_bvalid_o,
  input  logic                  axil_bready_i,
  input  logic [11:0]           axil_araddr_i,
  input  logic                  axil_arvalid_i,
  output logic                  axil_arready_o,
  output logic [31:0]           axil_rdata_o,
  output logic [1:0]            axil_rresp_o,
  output logic                  axil_rvalid_o,
  input  logic                  axil_rready_i
);

  logic [Ports-1:0][7:0] rxd, txd;
  logic [Ports-1:0]      rx_dv, rx_er, tx_en, tx_er;

  for (genvar p = 0; p < Ports; p++) begin : g_port
    if (Rgmii[p]) begin : g_rgmii
      // The reset in the clock of the PHY: a cycle later, at once whether that clock runs or not, and released two of its
      // edges after. It comes from a register, free of glitches.
      logic reset_nq, unused;
      (* async_reg = "true" *) logic first_q, released_q;

      always_ff @(posedge clk_i) reset_nq <= rst_ni;

      always_ff @(posedge rgmii_rxc_i[p] or negedge reset_nq) begin
        if (!reset_nq) {released_q, first_q} <= '0;
        else {released_q, first_q} <= {first_q, 1'b1};
      end

      rgmii_port u_port (
        .clk_i, .rst_ni,
        .gmii_rxd_o(rxd[p]), .gmii_rx_dv_o(rx_dv[p]), .gmii_rx_er_o(rx_er[p]),
        .gmii_txd_i(txd[p]), .gmii_tx_en_i(tx_en[p]), .gmii_tx_er_i(tx_er[p]),
        .rgmii_rxc_i(rgmii_rxc_i[p]), .rxc_rst_ni(released_q),
        .rgmii_rxd_i(rgmii_rxd_i[p]), .rgmii_rx_ctl_i(rgmii_rx_ctl_i[p]),
        .rgmii_txc_o(rgmii_txc_o[p]), .rgmii_txd_o(rgmii_txd_o[p]), .rgmii_tx_ctl_o(rgmii_tx_ctl_o[p])
      );
      assign {gmii_txd_o[p], gmii_tx_en_o[p], gmii_tx_er_o[p]} = '0;
      assign unused = ^{gmii_rxd_i[p], gmii_rx_dv_i[p], gmii_rx_er_i[p]};
    end else begin : g_gmii
      logic unused;
      assign {rxd[p], rx_dv[p], rx_er[p]} = {gmii_rxd_i[p], gmii_rx_dv_i[p], gmii_rx_er_i[p]};
      assign {gmii_txd_o[p], gmii_tx_en_o[p], gmii_tx_er_o[p]} = {txd[p], tx_en[p], tx_er[p]};
      assign {rgmii_txc_o[p], rgmii_txd_o[p], rgmii_tx_ctl_o[p]} = '0;
      assign unused = ^{rgmii_rxc_i[p], rgmii_rxd_i[p], rgmii_rx_ctl_i[p]};
    end
  end

  tsn_switch #(
    .Ports(Ports), .Cells(Cells), .Depth(Depth), .AddressPlaces(AddressPlaces), .StreamPlaces(StreamPlaces),
    .Schedulers(Schedulers), .Groups(Groups), .Rules(Rules), .CutThrough(CutThrough)
  ) u_switch (
    .clk_i, .rst_ni, .ready_o,
    .gmii_rxd_i(rxd), .gmii_rx_dv_i(rx_dv), .gmii_rx_er_i(rx_er),
    .gmii_txd_o(txd), .gmii_tx_en_o(tx_en), .gmii_tx_er_o(tx_er),
    .axil_awaddr_i, .axil_awvalid_i, .axil_awready_o, .axil_wdata_i, .axil_wstrb_i, .axil_wvalid_i, .axil_wready_o,
    .axil_bresp_o, .axil_bvalid_o, .axil_bready_i, .axil_araddr_i, .axil_arvalid_i, .axil_arready_o,
    .axil_rdata_o, .axil_rresp_o, .axil_rvalid_o, .axil_rready_i
  );

endmodule
