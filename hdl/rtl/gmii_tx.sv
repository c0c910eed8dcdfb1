// Transmission on GMII (IEEE Std 802.3, clauses 4 and 35): preamble, frame, frame check sequence, gap.
//
// The frame comes in words of eight octets, the first in the lowest bits; the first word has eight
// cycles of preamble time to come. `ready_o` is high in the last cycle of the gap, so that frames
// follow each other after exactly 12 octet times. A frame that turned out bad while it was sent ends
// with its check sequence inverted and tx_er, so that every receiver discards it.
//
// Invariant: a frame that began is sent to its end, without a hole; a word that is late is a fault of
// the buffer, and an assertion says so.

module gmii_tx (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  output logic                   ready_o,
  // From the first octet of the preamble to the end of the gap.
  output logic                   busy_o,
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

  typedef enum logic [2:0] {StIdle, StPreamble, StData, StCheck, StGap} state_e;

  state_e                 state_q;
  logic [3:0]             step_q;
  logic [2:0]             place_q;
  logic [31:0]            crc_q;
  logic [7:0]             octet;
  logic                   data_last, bad_q;

  assign ready_o = state_q == StIdle || (state_q == StGap && step_q == 4'd11);
  assign busy_o = state_q != StIdle;
  assign octet = word_i[8*place_q +: 8];
  assign data_last = word_last_i && place_q == word_tail_i;
  assign word_pop_o = state_q == StData && (place_q == 3'd7 || data_last);
  assign bad_o = state_q == StCheck && step_q == 4'd3 && bad_q;

  always_ff @(posedge clk_i) begin
    step_q <= step_q + 4'd1;
    unique case (state_q)
      StIdle: step_q <= '0;
      StPreamble: if (step_q == 4'd7) state_q <= StData;
      StData: begin
        step_q  <= '0;
        place_q <= place_q + 3'd1;
        crc_q   <= crc32_octet(crc_q, octet);
        if (data_last) begin
          state_q <= StCheck;
          bad_q   <= word_bad_i;
        end
      end
      StCheck: begin
        crc_q <= crc_q >> 8;
        if (step_q == 4'd3) begin
          state_q <= StGap;
          step_q  <= '0;
        end
      end
      default: if (step_q == 4'd11) state_q <= StIdle;
    endcase
    if (start_i) begin
      state_q <= StPreamble;
      step_q  <= '0;
      place_q <= '0;
      crc_q   <= '1;
    end
    if (!rst_ni) state_q <= StIdle;
  end

  always_ff @(posedge clk_i) begin
    gmii_tx_en_o <= rst_ni && state_q inside {StPreamble, StData, StCheck};
    gmii_tx_er_o <= rst_ni && state_q == StCheck && bad_q;
    delimiter_o  <= state_q == StPreamble && step_q == 4'd7;
    unique case (state_q)
      StPreamble: gmii_txd_o <= step_q == 4'd7 ? 8'hd5 : 8'h55;
      StData:     gmii_txd_o <= octet;
      StCheck:    gmii_txd_o <= crc_q[7:0] ^ {8{!bad_q}};
      default:    gmii_txd_o <= 8'h00;
    endcase
  end

`ifndef SYNTHESIS
  StartsOnlyWhenReady: assert property (@(posedge clk_i) disable iff (!rst_ni) start_i |-> ready_o);
  WordIsInTime: assert property (@(posedge clk_i) disable iff (!rst_ni)
      state_q == StData |-> word_valid_i);
`endif

endmodule
