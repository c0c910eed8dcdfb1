// IDDRX1F of an ECP5, the register of both edges at an input, as a simulation sees it; in synthesis it is a black box.

module IDDRX1F (
  input  logic D,
  input  logic SCLK,
  input  logic RST,
  output logic Q0,
  output logic Q1
);
  logic rise_q, fall_q;

  always_ff @(posedge SCLK) rise_q <= D;
  always_ff @(negedge SCLK) fall_q <= D;
  always_ff @(posedge SCLK) {Q1, Q0} <= RST ? 2'b00 : {fall_q, rise_q};
endmodule
