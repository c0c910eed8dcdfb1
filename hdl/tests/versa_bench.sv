// The board, with the names of cocotb: its two ports apart.

module versa_bench #(
  parameter int unsigned Divider = 8,
  parameter int unsigned ResetWidth = 4,
  parameter int unsigned PatienceWidth = 10
) (
  // In place of the board's 100 MHz that of the PLL.
  input  logic       clk_i,
  input  logic       rst_ni,
  output logic [1:0] phy_rst_no,
  input  logic       p0_rxc, p1_rxc,
  input  logic [3:0] p0_rxd, p1_rxd,
  input  logic       p0_rx_ctl, p1_rx_ctl,
  output logic       p0_txc, p1_txc,
  output logic [3:0] p0_txd, p1_txd,
  output logic       p0_tx_ctl, p1_tx_ctl,
  input  logic       uart_rx_i,
  output logic       uart_tx_o,
  output logic [1:0] led_no
);

  versa #(
    .Cells(256), .Schedulers(64), .StreamPlaces(32), .AddressPlaces(32), .ResetWidth(ResetWidth), .Divider(Divider),
    .PatienceWidth(PatienceWidth)
  ) u_board (
    .clk100_i(clk_i), .rst_ni, .phy_rst_no,
    .rgmii_rxc_i({p1_rxc, p0_rxc}), .rgmii_rxd_i({p1_rxd, p0_rxd}), .rgmii_rx_ctl_i({p1_rx_ctl, p0_rx_ctl}),
    .rgmii_txc_o({p1_txc, p0_txc}), .rgmii_txd_o({p1_txd, p0_txd}), .rgmii_tx_ctl_o({p1_tx_ctl, p0_tx_ctl}),
    .uart_rx_i, .uart_tx_o, .led_no
  );

endmodule
