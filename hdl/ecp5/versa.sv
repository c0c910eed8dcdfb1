// The switch on Lattice's Versa ECP5-5G: two ports on its two gigabit PHYs, registers over its serial line.
//
// From the board's 100 MHz a PLL makes the clock of the switch, 125 MHz. PHYs and switch are reset until it is stable and
// for 2**`ResetWidth` cycles more, 33 ms. The PHYs delay both clocks of RGMII, as they do unless they are told otherwise.
// The switch begins as one that learns addresses; everything else is set by its registers (`uart_registers.sv`).
//
// Not here: MDIO, so the PHYs negotiate by their own defaults, and a link of 10 or 100 Mbit/s carries nothing.

module versa #(
  parameter int unsigned Cells = 1024,
  parameter int unsigned Schedulers = 512,
  parameter int unsigned StreamPlaces = 1024,
  parameter int unsigned AddressPlaces = 512,
  parameter int unsigned Rules = 8,
  parameter int unsigned ResetWidth = 22,
  // Cycles of a bit on the serial line: 115200 bit/s.
  parameter int unsigned Divider = 1085,
  // See `uart_registers.sv`.
  parameter int unsigned PatienceWidth = 20
) (
  input  logic       clk100_i,
  // The button.
  input  logic       rst_ni,

  output logic [1:0] phy_rst_no,
  input  logic [1:0] rgmii_rxc_i,
  input  logic [7:0] rgmii_rxd_i,
  input  logic [1:0] rgmii_rx_ctl_i,
  output logic [1:0] rgmii_txc_o,
  output logic [7:0] rgmii_txd_o,
  output logic [1:0] rgmii_tx_ctl_o,

  input  logic       uart_rx_i,
  output logic       uart_tx_o,

  // Lit when low: the switch is ready; the clock runs.
  output logic [1:0] led_no
);

  localparam int unsigned Ports = 2;

  // --- Clock and reset.

  logic ready;
  logic clk, locked, started_n;

  (* FREQUENCY_PIN_CLKI = "100", FREQUENCY_PIN_CLKOP = "125", ICP_CURRENT = "12", LPF_RESISTOR = "8", MFG_ENABLE_FILTEROPAMP = "1",
     MFG_GMCREF_SEL = "2" *)
  EHXPLLL #(
    .CLKI_DIV(4), .CLKFB_DIV(5), .CLKOP_DIV(5), .CLKOP_CPHASE(2), .FEEDBK_PATH("CLKOP")
  ) u_pll (
    .CLKI(clk100_i), .CLKFB(clk), .RST(1'b0), .STDBY(1'b0), .PHASESEL0(1'b0), .PHASESEL1(1'b0), .PHASEDIR(1'b1),
    .PHASESTEP(1'b1), .PHASELOADREG(1'b1), .PLLWAKESYNC(1'b0), .ENCLKOP(1'b0), .CLKOP(clk), .LOCK(locked)
  );

  (* async_reg = "true" *) logic first_q, released_q;
  logic [ResetWidth:0]  count_q;
  logic                 rst_nq;
  logic [Ports-1:0]     phy_rst_nq;
  logic [25:0]          beat_q;

  assign started_n = locked && rst_ni;

  always_ff @(posedge clk or negedge started_n) begin
    if (!started_n) {released_q, first_q} <= '0;
    else {released_q, first_q} <= {first_q, 1'b1};
  end

  always_ff @(posedge clk) begin
    if (!released_q) count_q <= '0;
    else if (!count_q[ResetWidth]) count_q <= count_q + 1'b1;
    rst_nq     <= count_q[ResetWidth] && released_q;
    phy_rst_nq <= {Ports{count_q[ResetWidth] && released_q}};
    beat_q     <= beat_q + 1'b1;
    led_no     <= {beat_q[25], !ready};
  end

  assign phy_rst_no = phy_rst_nq;

  // --- The switch and its registers.

  logic [Ports-1:0][7:0] unused_txd;
  logic [Ports-1:0]      unused_tx_en, unused_tx_er;
  logic [11:0]           awaddr, araddr;
  logic [31:0]           wdata, rdata;
  logic [3:0]            wstrb;
  logic [1:0]            bresp, rresp;
  logic                  awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;

  uart_registers #(.Divider(Divider), .PatienceWidth(PatienceWidth)) u_uart (
    .clk_i(clk), .rst_ni(rst_nq), .rx_i(uart_rx_i), .tx_o(uart_tx_o),
    .axil_awaddr_o(awaddr), .axil_awvalid_o(awvalid), .axil_awready_i(awready),
    .axil_wdata_o(wdata), .axil_wstrb_o(wstrb), .axil_wvalid_o(wvalid), .axil_wready_i(wready),
    .axil_bresp_i(bresp), .axil_bvalid_i(bvalid), .axil_bready_o(bready),
    .axil_araddr_o(araddr), .axil_arvalid_o(arvalid), .axil_arready_i(arready),
    .axil_rdata_i(rdata), .axil_rresp_i(rresp), .axil_rvalid_i(rvalid), .axil_rready_o(rready)
  );

  board_switch #(
    .Ports(Ports), .Cells(Cells), .AddressPlaces(AddressPlaces), .StreamPlaces(StreamPlaces), .Schedulers(Schedulers),
    .Rules(Rules), .Rgmii(32'b11)
  ) u_board (
    .clk_i(clk), .rst_ni(rst_nq), .ready_o(ready),
    .gmii_rxd_i('0), .gmii_rx_dv_i('0), .gmii_rx_er_i('0),
    .gmii_txd_o(unused_txd), .gmii_tx_en_o(unused_tx_en), .gmii_tx_er_o(unused_tx_er),
    .rgmii_rxc_i, .rgmii_rxd_i, .rgmii_rx_ctl_i, .rgmii_txc_o, .rgmii_txd_o, .rgmii_tx_ctl_o,
    .axil_awaddr_i(awaddr), .axil_awvalid_i(awvalid), .axil_awready_o(awready),
    .axil_wdata_i(wdata), .axil_wstrb_i(wstrb), .axil_wvalid_i(wvalid), .axil_wready_o(wready),
    .axil_bresp_o(bresp), .axil_bvalid_o(bvalid), .axil_bready_i(bready),
    .axil_araddr_i(araddr), .axil_arvalid_i(arvalid), .axil_arready_o(arready),
    .axil_rdata_o(rdata), .axil_rresp_o(rresp), .axil_rvalid_o(rvalid), .axil_rready_i(rready)
  );

endmodule
