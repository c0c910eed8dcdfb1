// A clock whose rate and reading are set by software, as IEEE Std 802.1AS requires: nanoseconds and a fraction.
//
// Every cycle adds the rate, nanoseconds with `FractionBits` binary digits after the point; a step adds a
// signed number of nanoseconds, once. The free-running clock of the switch is another one and is never changed.

module adjustable_clock #(
  parameter int unsigned FractionBits = 24
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // What a cycle adds: 8 ns at the nominal rate of 125 MHz.
  input  logic [31:0] rate_i,
  input  logic        step_valid_i,
  input  logic [63:0] step_i,
  output logic [63:0] now_o
);

  localparam int unsigned Width = 64 + FractionBits;

  logic [Width-1:0] now_q, addend_q;
  // The values that software has written, a cycle later.
  logic [31:0]      rate_q;
  logic [63:0]      step_q;

  assign now_o = now_q[Width-1:FractionBits];

  always_ff @(posedge clk_i) begin
    rate_q   <= rate_i;
    step_q   <= step_valid_i ? step_i : '0;
    addend_q <= Width'(rate_q) + {step_q, FractionBits'(0)};
    now_q    <= now_q + addend_q;
    if (!rst_ni) begin
      rate_q   <= '0;
      step_q   <= '0;
      addend_q <= '0;
      now_q    <= '0;
    end
  end

endmodule
