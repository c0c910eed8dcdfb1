// DELAYF of an ECP5, the delay of an input, as a simulation sees it; in synthesis it is a black box.
//
// Without its delay.

module DELAYF #(
  parameter DEL_MODE = "USER_DEFINED"
) (
  input  logic A,
  input  logic LOADN,
  input  logic MOVE,
  input  logic DIRECTION,
  output logic Z,
  output logic CFLAG
);
  assign Z = A;
  assign CFLAG = LOADN & MOVE & DIRECTION & (DEL_MODE == "");
endmodule
