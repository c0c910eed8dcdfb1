// The two-edge registers at the pins of RGMII, written for any technology: they keep no timing at the pins.
//
// A board puts a module of the same name in their place, of its technology's cells (`hdl/ecp5/rgmii_pins.sv`).

module rgmii_pins (
  // What goes out while the clock of the switch is high, and while it is low: RGMII's control signal above four bits.
  input  logic       clk_i,
  input  logic [4:0] tx_rise_i,
  input  logic [4:0] tx_fall_i,
  output logic       rgmii_txc_o,
  output logic [3:0] rgmii_txd_o,
  output logic       rgmii_tx_ctl_o,

  // What came in with a rising edge of the PHY's clock, and with the falling one behind it; both in that clock.
  input  logic       rgmii_rxc_i,
  input  logic [3:0] rgmii_rxd_i,
  input  logic       rgmii_rx_ctl_i,
  output logic [4:0] rx_rise_o,
  output logic [4:0] rx_fall_o
);

  always_ff @(posedge rgmii_rxc_i) rx_rise_o <= {rgmii_rx_ctl_i, rgmii_rxd_i};
  always_ff @(negedge rgmii_rxc_i) rx_fall_o <= {rgmii_rx_ctl_i, rgmii_rxd_i};

  logic [4:0] fall_q;

  always_ff @(negedge clk_i) fall_q <= tx_fall_i;

  assign rgmii_txc_o = clk_i;
  assign {rgmii_tx_ctl_o, rgmii_txd_o} = clk_i ? tx_rise_i : fall_q;

endmodule
