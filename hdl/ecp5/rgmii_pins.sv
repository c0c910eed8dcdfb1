// The two-edge registers at the pins of RGMII, of the cells that an ECP5 has at its pins: `IDDRX1F`, `ODDRX1F`, `DELAYF`.
//
// Ports are those of `hdl/rtl/rgmii_pins.sv`. Data and clock of transmission leave from cells of one kind, so they are
// aligned to each other; the PHY delays the clock by 2 ns, as it delays that of reception. The delay of a data pin makes
// good for the way of the clock to the cells.

module rgmii_pins (
  input  logic       clk_i,
  input  logic [4:0] tx_rise_i,
  input  logic [4:0] tx_fall_i,
  output logic       rgmii_txc_o,
  output logic [3:0] rgmii_txd_o,
  output logic       rgmii_tx_ctl_o,

  input  logic       rgmii_rxc_i,
  input  logic [3:0] rgmii_rxd_i,
  input  logic       rgmii_rx_ctl_i,
  output logic [4:0] rx_rise_o,
  output logic [4:0] rx_fall_o
);

  logic [4:0] in, delayed, out, unused;

  assign in = {rgmii_rx_ctl_i, rgmii_rxd_i};
  assign {rgmii_tx_ctl_o, rgmii_txd_o} = out;

  ODDRX1F u_clock (.SCLK(clk_i), .RST(1'b0), .D0(1'b1), .D1(1'b0), .Q(rgmii_txc_o));

  for (genvar k = 0; k < 5; k++) begin : g_pin
    ODDRX1F u_out (.SCLK(clk_i), .RST(1'b0), .D0(tx_rise_i[k]), .D1(tx_fall_i[k]), .Q(out[k]));

    DELAYF #(.DEL_MODE("SCLK_ALIGNED")) u_delay (
      .A(in[k]), .LOADN(1'b1), .MOVE(1'b0), .DIRECTION(1'b0), .Z(delayed[k]), .CFLAG(unused[k])
    );
    IDDRX1F u_in (.D(delayed[k]), .SCLK(rgmii_rxc_i), .RST(1'b0), .Q0(rx_rise_o[k]), .Q1(rx_fall_o[k]));
  end

endmodule
