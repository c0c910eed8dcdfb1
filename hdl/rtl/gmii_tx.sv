// Transmission on GMII (IEEE Std 802.3, clauses 4 and 35): preamble, frame, frame check sequence, gap.
//
// The frame comes in words of eight octets, the first in the lowest bits; the first word has eight
// cycles of preamble time to come, and `Lead` more, in the first of which a start has come here: its way is long. `ready_o`
// is high when the next cycle is free for a start, `Lead` cycles before the end of the gap, so that frames follow each other
// after exactly 12 octet times. The line is two cycles behind the state. A frame that turned out bad while it was sent ends
// with its check sequence inverted and tx_er, so that every receiver discards it.
//
// Invariant: a frame that began is sent to its end, without a hole; a word that is late is a fault of
// the buffer, and an assertion says so.

module gmii_tx #(
  // Cycles of the gap that lie between a start and its preamble; at least one.
  parameter int unsigned Lead = 1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // A start may come in the next cycle, if none comes in this one.
  output logic                   ready_o,
  // The last cycle of a frame with its preamble and gap.
  output logic                   last_o,
  input  logic                   start_i,
  // Words without the frame check sequence.
  input  logic                   word_valid_i,
  input  logic [63:0]            word_i,
  // The last word, its octets less one, and whether the frame is bad.
  input  logic                   word_last_i,
  input  logic [2:0]             word_tail_i,
  input  logic                   word_bad_i,
  output logic                   word_pop_o,
  // The start delimiter is at the output in this cycle; a bad frame ends.
  output logic                   delimiter_o,
  output logic                   bad_o,
  output logic [7:0]             gmii_txd_o,
  output logic                   gmii_tx_en_o,
  output logic                   gmii_tx_er_o
);

  `include "crc32.svh"

  typedef enum logic [2:0] {StIdle, StLead, StPreamble, StData, StCheck, StGap} state_e;

  localparam logic [3:0] GapLast = 4'(12 - Lead);

  // The state, and what of it reaches the line a cycle later.
  state_e                 state_q, line_q;
  logic [3:0]             step_q, line_step_q;
  logic [2:0]             place_q;
  logic [31:0]            crc_q;
  logic [7:0]             octet, octet_q;
  logic                   data_last, bad_q, start_q;

  assign ready_o = !start_q && (state_q == StIdle || (state_q == StGap && step_q >= GapLast - 4'd2));
  assign octet = word_i[8*place_q +: 8];
  assign data_last = word_last_i && place_q == word_tail_i;
  assign word_pop_o = state_q == StData && (place_q == 3'd7 || data_last);
  assign bad_o = line_q == StCheck && line_step_q == 4'd3 && bad_q;

  always_ff @(posedge clk_i) begin
    step_q <= step_q + 4'd1;
    unique case (state_q)
      StIdle: step_q <= '0;
      StLead: if (step_q == 4'(Lead - 2)) begin
        state_q <= StPreamble;
        step_q  <= '0;
      end
      StPreamble: if (step_q == 4'd7) state_q <= StData;
      StData: begin
        step_q  <= '0;
        place_q <= place_q + 3'd1;
        if (data_last) state_q <= StCheck;
      end
      StCheck: begin
        if (step_q == 4'd3) begin
          state_q <= StGap;
          step_q  <= '0;
        end
      end
      default: if (step_q == GapLast) state_q <= StIdle;
    endcase
    last_o  <= state_q == StGap && step_q == GapLast - 4'd2;
    start_q <= start_i;
    if (start_q) begin
      state_q <= Lead == 1 ? StPreamble : StLead;
      step_q  <= '0;
      place_q <= '0;
    end
    if (!rst_ni) begin
      state_q <= StIdle;
      last_o  <= 1'b0;
      start_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    line_q      <= state_q;
    line_step_q <= step_q;
    octet_q     <= octet;
    if (state_q == StData && data_last) bad_q <= word_bad_i;
    unique case (line_q)
      StData:  crc_q <= crc32_octet(crc_q, octet_q);
      StCheck: crc_q <= crc_q >> 8;
      default: crc_q <= '1;
    endcase
    if (!rst_ni) line_q <= StIdle;
  end

  always_ff @(posedge clk_i) begin
    gmii_tx_en_o <= rst_ni && line_q inside {StPreamble, StData, StCheck};
    gmii_tx_er_o <= rst_ni && line_q == StCheck && bad_q;
    delimiter_o  <= line_q == StPreamble && line_step_q == 4'd7;
    unique case (line_q)
      StPreamble: gmii_txd_o <= line_step_q == 4'd7 ? 8'hd5 : 8'h55;
      StData:     gmii_txd_o <= octet_q;
      StCheck:    gmii_txd_o <= crc_q[7:0] ^ {8{!bad_q}};
      default:    gmii_txd_o <= 8'h00;
    endcase
  end

`ifndef SYNTHESIS
  StartsOnlyWhenReady: assert property (@(posedge clk_i) disable iff (!rst_ni)
      start_i |-> !start_q && (state_q == StIdle || (state_q == StGap && step_q >= GapLast - 4'd1)));
  WordIsInTime: assert property (@(posedge clk_i) disable iff (!rst_ni)
      state_q == StData |-> word_valid_i);
`endif

endmodule
