// What `gmii_tx` puts on the line, by induction: at least twelve cycles of gap, seven octets of preamble and a start
// delimiter before the data, four octets of check sequence after it, tx_er only there and only for a bad frame; it says
// that it is ready a cycle before it takes a start, and when it is done.
//
// Assumed of the callers: a start only in a cycle after one in which it was ready and had no start.

module gmii_tx_proof #(
  parameter int unsigned Lead = 3
) (
  input logic        clk_i,
  input logic        start_i,
  input logic        word_valid_i,
  input logic [63:0] word_i,
  input logic        word_last_i,
  input logic [2:0]  word_tail_i,
  input logic        word_bad_i
);

  // The states of the module.
  localparam logic [2:0] StIdle     = 3'd0;
  localparam logic [2:0] StLead     = 3'd1;
  localparam logic [2:0] StPreamble = 3'd2;
  localparam logic [2:0] StData     = 3'd3;
  localparam logic [2:0] StCheck    = 3'd4;
  localparam logic [2:0] StGap      = 3'd5;
  localparam logic [3:0] GapLast    = 4'(12 - Lead);

  logic       started_q = 1'b0;
  logic       ready, last, pop, delimiter, bad, en, er;
  logic [7:0] txd;

  always_ff @(posedge clk_i) started_q <= 1'b1;

  gmii_tx #(.Lead(Lead)) dut (
    .clk_i, .rst_ni(started_q), .ready_o(ready), .last_o(last), .start_i,
    .word_valid_i, .word_i, .word_last_i, .word_tail_i, .word_bad_i, .word_pop_o(pop),
    .delimiter_o(delimiter), .bad_o(bad), .gmii_txd_o(txd), .gmii_tx_en_o(en), .gmii_tx_er_o(er)
  );

  // Cycles of the line without a carrier, and of the carrier so far; what was before.
  logic [3:0] idle_q, carrier_q;
  logic       ready_q, start_q, en_q, settled_q;

  always_ff @(posedge clk_i) begin
    ready_q <= ready && started_q;
    start_q <= start_i && started_q;
    en_q    <= en && started_q;
    // The output of a reset is another cycle later.
    settled_q <= started_q;
    idle_q    <= en ? 4'd0 : ((idle_q == 4'd15) ? 4'd15 : idle_q + 4'd1);
    carrier_q <= !en ? 4'd0 : ((carrier_q == 4'd15) ? 4'd15 : carrier_q + 4'd1);
    if (!started_q) begin
      idle_q    <= '1;
      carrier_q <= '0;
    end
  end

  // The line against the state, a cycle later; how long the line has been what it is.
  logic apart, miscounted, begins, free;

  // The state in a cycle in which a start may come.
  assign free = dut.state_q == StIdle || (dut.state_q == StGap && dut.step_q >= GapLast - 4'd1);
  assign begins = dut.step_q == '0 && dut.state_q == (Lead == 1 ? StPreamble : StLead);

  always_comb begin
    case (dut.line_q)
      StIdle:     apart = !(dut.state_q == StIdle || begins);
      StLead:     apart = dut.line_step_q >= 4'(Lead - 1)
                          || ((dut.line_step_q == 4'(Lead - 2)) ? (dut.state_q != StPreamble || dut.step_q != '0)
                              : (dut.state_q != StLead || dut.step_q != dut.line_step_q + 4'd1));
      StPreamble: apart = dut.line_step_q > 4'd7
                          || ((dut.line_step_q == 4'd7) ? (dut.state_q != StData)
                              : (dut.state_q != StPreamble || dut.step_q != dut.line_step_q + 4'd1));
      StData:     apart = !(dut.state_q == StData || (dut.state_q == StCheck && dut.step_q == '0));
      StCheck:    apart = dut.line_step_q > 4'd3
                          || ((dut.line_step_q == 4'd3) ? (dut.state_q != StGap || dut.step_q != '0)
                              : (dut.state_q != StCheck || dut.step_q != dut.line_step_q + 4'd1));
      StGap:      apart = dut.line_step_q > GapLast
                          || ((dut.line_step_q == GapLast) ? !(dut.state_q == StIdle || begins)
                              : (dut.state_q != StGap || dut.step_q != dut.line_step_q + 4'd1));
      default:    apart = 1'b1;
    endcase
    // The output is another cycle later.
    case (dut.line_q)
      StIdle:     miscounted = en || idle_q < GapLast;
      StLead:     miscounted = en || idle_q < GapLast + dut.line_step_q;
      StPreamble: miscounted = (dut.line_step_q == '0) ? (en || idle_q < 4'd11)
                               : (!en || carrier_q != dut.line_step_q - 4'd1);
      StData:     miscounted = !en || carrier_q < 4'd7;
      StCheck:    miscounted = !en || carrier_q < 4'd7;
      default:    miscounted = (dut.line_step_q == '0) ? !en : (en || idle_q != dut.line_step_q - 4'd1);
    endcase
  end

  always_comb begin
    if (started_q) begin
      AStartWasAnnounced: assume (!start_i || (ready_q && !start_q));

      TheLineFollowsTheState: assert (!apart);
      TheLastIsTold: assert (last == (dut.state_q == StGap && dut.step_q == GapLast - 4'd1));
      TheLineIsCounted: assert (!miscounted);
      AStartFindsTheLineFree: assert (!dut.start_q || dut.state_q == StIdle || (dut.state_q == StGap && dut.step_q == GapLast));
      ReadyIsKept: assert (!(ready_q && !start_q) || (!dut.start_q && free));
      AStartIsKnown: assert (dut.start_q == start_q);
      TheGapIsTwelve: assert (!(en && !en_q) || !started_q || idle_q >= 4'd12);
    end
    if (started_q && settled_q) begin
      ThePreambleIsEight: assert (!(en && carrier_q < 4'd7) || (txd == 8'h55 && !er && !delimiter));
      TheDelimiterIsTheEighth: assert (!(en && carrier_q == 4'd7) || (txd == 8'hd5 && !er && delimiter));
      OneDelimiterAFrame: assert (!delimiter || (en && carrier_q == 4'd7));
      NothingIsSentInTheGap: assert (en || (txd == 8'h00 && !er && !delimiter));
    end
  end

endmodule
