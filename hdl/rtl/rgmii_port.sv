// RGMII at 1 Gbit/s on one side, GMII in the clock of the switch on the other (RGMII 2.0, 3.3).
//
// Reception: both edges of the PHY's clock carry four bits, the rising one the lower, and RX_CTL carries RX_DV and, on the
// falling edge, RX_DV xor RX_ER. The octets of a carrier cross to the switch's clock through a FIFO: a carrier begins when
// `Lead` octets are there, so that it never runs dry while the two clocks differ by 200 ppm and a frame has up
// to 2 000 octets; its length does not change, the gap before it may, by an octet or two.
// Transmission: TXC is the switch's clock; PHY or pins delay it by 2 ns.
//
// The two-edge registers are those of `rgmii_pins.sv`, which a board may replace by cells of its technology.
// Not here: 10 and 100 Mbit/s, in-band status.

module rgmii_port #(
  // Octets in the FIFO before a carrier begins, of 16.
  parameter int unsigned Lead = 4
) (
  // The clock of the switch.
  input  logic       clk_i,
  input  logic       rst_ni,
  output logic [7:0] gmii_rxd_o,
  output logic       gmii_rx_dv_o,
  output logic       gmii_rx_er_o,
  input  logic [7:0] gmii_txd_i,
  input  logic       gmii_tx_en_i,
  input  logic       gmii_tx_er_i,

  input  logic       rgmii_rxc_i,
  // Of what is in the PHY's clock: acts at once, is released on an edge of that clock.
  input  logic       rxc_rst_ni,
  input  logic [3:0] rgmii_rxd_i,
  input  logic       rgmii_rx_ctl_i,
  output logic       rgmii_txc_o,
  output logic [3:0] rgmii_txd_o,
  output logic       rgmii_tx_ctl_o
);

  localparam int unsigned Depth = 16;
  localparam int unsigned LevelWidth = $clog2(Depth) + 1;

  // --- Reception, in the clock of the PHY.

  logic [4:0] rx_rise, rx_fall, tx_rise_q, tx_fall_q;
  logic [7:0] octet_q;
  logic       valid_q, error_q, inside_q, push;

  rgmii_pins u_pins (
    .clk_i, .tx_rise_i(tx_rise_q), .tx_fall_i(tx_fall_q), .rgmii_txc_o, .rgmii_txd_o, .rgmii_tx_ctl_o,
    .rgmii_rxc_i, .rgmii_rxd_i, .rgmii_rx_ctl_i, .rx_rise_o(rx_rise), .rx_fall_o(rx_fall)
  );

  always_ff @(posedge rgmii_rxc_i) begin
    // What came in with an edge and the one behind it: one octet.
    octet_q <= {rx_fall[3:0], rx_rise[3:0]};
    error_q <= rx_rise[4] ^ rx_fall[4];
  end

  always_ff @(posedge rgmii_rxc_i or negedge rxc_rst_ni) begin
    if (!rxc_rst_ni) begin
      valid_q  <= 1'b0;
      inside_q <= 1'b0;
    end else begin
      valid_q  <= rx_rise[4];
      inside_q <= valid_q;
    end
  end

  // The octets of a carrier and one word after its last.
  assign push = valid_q || inside_q;

  logic [LevelWidth-1:0] level;
  logic [7:0]            octet;
  logic                  valid, error, pop, running_q;
  logic [3:0]            patience_q;

  async_fifo #(.Width(10), .Depth(Depth)) u_crossing (
    .write_clk_i(rgmii_rxc_i), .write_rst_ni(rxc_rst_ni),
    .push_i(push), .data_i({valid_q, error_q, octet_q}),
    .read_clk_i(clk_i), .read_rst_ni(rst_ni),
    .level_o(level), .data_o({valid, error, octet}), .pop_i(pop)
  );

  // --- In the clock of the switch. A carrier shorter than the lead begins after a while.

  assign pop = level != '0 && (running_q || level >= LevelWidth'(Lead) || &patience_q);

  always_ff @(posedge clk_i) begin
    if (pop) running_q <= valid;
    patience_q <= level == '0 || pop ? '0 : patience_q + 1'b1;
    gmii_rx_dv_o <= pop && valid;
    gmii_rx_er_o <= pop && valid && error;
    gmii_rxd_o   <= octet;
    if (!rst_ni) begin
      running_q    <= 1'b0;
      patience_q   <= '0;
      gmii_rx_dv_o <= 1'b0;
      gmii_rx_er_o <= 1'b0;
    end
  end

  // --- Transmission.

  always_ff @(posedge clk_i) begin
    tx_rise_q <= {gmii_tx_en_i && rst_ni, gmii_txd_i[3:0]};
    tx_fall_q <= {(gmii_tx_en_i ^ gmii_tx_er_i) && rst_ni, gmii_txd_i[7:4]};
  end

`ifndef SYNTHESIS
  CarrierHasNoHole: assert property (@(posedge clk_i) disable iff (!rst_ni) running_q |-> level != '0);
`endif

endmodule
