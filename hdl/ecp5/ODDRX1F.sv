// ODDRX1F of an ECP5, the register of both edges at an output, as a simulation sees it; in synthesis it is a black box.

module ODDRX1F (
  input  logic SCLK,
  input  logic RST,
  input  logic D0,
  input  logic D1,
  output logic Q
);
  logic rise_q, low_q, fall_q;

  always_ff @(posedge SCLK) {low_q, rise_q} <= RST ? 2'b00 : {D1, D0};
  always_ff @(negedge SCLK) fall_q <= low_q;

  assign Q = SCLK ? rise_q : fall_q;
endmodule
