// EHXPLLL of an ECP5, the PLL, as a simulation sees it; in synthesis it is a black box.
//
// It gives its input on: a bench drives it with the clock that it would make. Parameters and pins that the board names.

module EHXPLLL #(
  parameter int CLKI_DIV = 1,
  parameter int CLKFB_DIV = 1,
  parameter int CLKOP_DIV = 8,
  parameter int CLKOP_CPHASE = 0,
  parameter FEEDBK_PATH = "CLKOP"
) (
  input  logic CLKI,
  input  logic CLKFB,
  input  logic RST,
  input  logic STDBY,
  input  logic PHASESEL0,
  input  logic PHASESEL1,
  input  logic PHASEDIR,
  input  logic PHASESTEP,
  input  logic PHASELOADREG,
  input  logic PLLWAKESYNC,
  input  logic ENCLKOP,
  output logic CLKOP,
  output logic LOCK
);
  logic unused;
  assign unused = ^{
    CLKFB, STDBY, PHASESEL0, PHASESEL1, PHASEDIR, PHASESTEP, PHASELOADREG, PLLWAKESYNC, ENCLKOP,
    CLKI_DIV, CLKFB_DIV, CLKOP_DIV, CLKOP_CPHASE, FEEDBK_PATH == ""
  };
  assign CLKOP = CLKI;
  assign LOCK = !RST;
endmodule
