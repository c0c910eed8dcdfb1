// Reception on GMII (IEEE Std 802.3, clauses 4 and 35): frames without preamble and frame check sequence.
//
// Out: words of eight octets, the first octet in the lowest bits; every octet as it comes; the header, as
// soon as it is there; at the end, with the last word, whether the frame is good, and its length with the
// frame check sequence. A carrier that brings no word ends with no word and is counted by `end_valid_o` alone.
//
// Good: 64 to OctetsMax octets, no rx_er, the right frame check sequence. A longer frame ends after
// OctetsMax octets, and the rest of its carrier is skipped. A delimiter right behind one octet of gap is refused: its
// carrier is skipped, and counts as a short one.
// Invariants: from its first word to its last a frame brings one word in eight cycles; words of any carriers are eight
// cycles apart on average, however short they and their gaps are.

module gmii_rx #(
  parameter int unsigned LengthWidth = 11,
  // Longest good frame, from destination address to frame check sequence.
  parameter int unsigned OctetsMax = 1522
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic [7:0]             gmii_rxd_i,
  input  logic                   gmii_rx_dv_i,
  input  logic                   gmii_rx_er_i,

  output logic                   word_valid_o,
  output logic [63:0]            word_o,
  output logic                   word_first_o,
  output logic                   word_last_o,
  // Octets of the last word, less one.
  output logic [2:0]             word_tail_o,

  // The start delimiter is at the input in this cycle.
  output logic                   start_o,
  // Octets from the destination on.
  output logic                   octet_valid_o,
  output logic [7:0]             octet_o,

  // Destination, source, VLAN tag: for one cycle, 18 octets after the start.
  output logic                   header_valid_o,
  output logic [47:0]            header_destination_o,
  output logic [47:0]            header_source_o,
  output logic                   header_tagged_o,
  output logic [2:0]             header_pcp_o,
  output logic [11:0]            header_vid_o,

  // End of a carrier with a start delimiter.
  output logic                   end_valid_o,
  // Words of it were given.
  output logic                   end_words_o,
  output logic                   end_good_o,
  output logic                   end_short_o,
  output logic                   end_long_o,
  output logic                   end_check_o,
  output logic [LengthWidth-1:0] end_octets_o
);

  `include "crc32.svh"

  // What remains of a frame with the right frame check sequence.
  localparam logic [31:0] Residue = 32'hdebb_20e3;

  typedef enum logic [1:0] {StIdle, StPreamble, StFrame, StSkip} state_e;

  state_e                 state_q;
  logic [LengthWidth-1:0] count_q;
  logic                   error_q;
  logic [31:0]            crc_q, tail_q;
  logic [63:0]            word_q;
  logic [3:0]             filled_q;
  logic                   first_q;
  logic [143:0]           header_q;
  logic                   take, finish, too_long, data_comes, delimiter, refused;
  // The line was idle in the cycle before, too.
  logic                   rested_q, refused_q;
  // What follows from the octets so far: all there may be, more than a check sequence, the header but for its last.
  logic                   full_q, past_check_q, header_last_q;
  // The next octet of the frame follows data; the place of that in its word, one bit for each.
  logic                   open_q;
  logic [7:0]             place_q;
  logic [LengthWidth-1:0] count_next;

  assign take = state_q == StFrame && gmii_rx_dv_i && !too_long;
  assign too_long = state_q == StFrame && gmii_rx_dv_i && full_q;
  assign finish = state_q == StFrame && (!gmii_rx_dv_i || too_long);
  // The last four octets so far may be the frame check sequence.
  assign data_comes = open_q && gmii_rx_dv_i;
  assign count_next = state_q != StFrame ? '0 : take ? count_q + 1'b1 : count_q;
  assign delimiter = state_q inside {StIdle, StPreamble} && gmii_rx_dv_i && gmii_rxd_i == 8'hd5;
  assign refused = delimiter && state_q == StIdle && !rested_q;
  assign start_o = delimiter && !refused;

  always_ff @(posedge clk_i) begin
    count_q       <= count_next;
    full_q        <= state_q == StFrame && (take ? count_q == LengthWidth'(OctetsMax - 1) : full_q);
    past_check_q  <= state_q == StFrame && (past_check_q || (take && count_q == LengthWidth'(3)));
    header_last_q <= take && count_q == LengthWidth'(16);
    open_q        <= take && (past_check_q || count_q == LengthWidth'(3)) && count_q != LengthWidth'(OctetsMax - 1);
    rested_q      <= state_q == StIdle;
    refused_q     <= refused && rst_ni;
    unique case (state_q)
      StIdle: if (gmii_rx_dv_i) state_q <= start_o ? StFrame : gmii_rxd_i == 8'h55 ? StPreamble : StSkip;
      StPreamble: begin
        if (!gmii_rx_dv_i) state_q <= StIdle;
        else if (gmii_rxd_i == 8'hd5) state_q <= StFrame;
        else if (gmii_rxd_i != 8'h55) state_q <= StSkip;
      end
      StFrame: begin
        if (!gmii_rx_dv_i) state_q <= StIdle;
        else if (too_long) state_q <= StSkip;
      end
      StSkip: if (!gmii_rx_dv_i) state_q <= StIdle;
    endcase
    if (state_q != StFrame) begin
      error_q  <= 1'b0;
      crc_q    <= '1;
      filled_q <= '0;
      place_q  <= 8'd1;
      first_q  <= 1'b1;
    end
    if (take) begin
      error_q <= error_q || gmii_rx_er_i;
      crc_q   <= crc32_octet(crc_q, gmii_rxd_i);
      tail_q  <= {gmii_rxd_i, tail_q[31:8]};
    end
    if (data_comes) begin
      filled_q <= filled_q == 4'd8 ? 4'd1 : filled_q + 4'd1;
      place_q  <= {place_q[6:0], place_q[7]};
      for (int unsigned k = 0; k < 8; k++) if (place_q[k]) word_q[8*k +: 8] <= tail_q[7:0];
      if (filled_q == 4'd8) first_q <= 1'b0;
    end
    // The last octets of the line, always: the header is there when the last of it has come.
    header_q       <= {header_q[135:0], gmii_rxd_i};
    header_valid_o <= take && header_last_q;
    if (!rst_ni) begin
      // A frame that is under way at reset is skipped.
      state_q        <= StSkip;
      header_valid_o <= 1'b0;
      open_q         <= 1'b0;
    end
  end

  assign header_destination_o = header_q[143:96];
  assign header_source_o = header_q[95:48];
  assign header_tagged_o = header_q[47:32] == 16'h8100;
  assign header_pcp_o = header_tagged_o ? header_q[31:29] : 3'd0;
  assign header_vid_o = header_tagged_o ? header_q[27:16] : 12'd0;

  // A full word is passed on when the next octet of data or the end comes.
  always_ff @(posedge clk_i) begin
    word_valid_o <= (data_comes && filled_q == 4'd8) || (finish && filled_q != '0);
    word_o       <= word_q;
    word_first_o <= first_q;
    word_last_o  <= finish;
    word_tail_o  <= filled_q[2:0] - 3'd1;
    octet_valid_o <= take;
    octet_o       <= gmii_rxd_i;
    // A refused carrier ends when its delimiter has passed.
    end_valid_o  <= finish || refused_q;
    end_words_o  <= filled_q != '0;
    end_short_o  <= count_q < LengthWidth'(64);
    end_long_o   <= too_long;
    end_check_o  <= crc_q != Residue || error_q;
    end_good_o   <= count_q >= LengthWidth'(64) && !too_long && crc_q == Residue && !error_q;
    end_octets_o <= count_q;
    if (!rst_ni) begin
      word_valid_o  <= 1'b0;
      octet_valid_o <= 1'b0;
      end_valid_o   <= 1'b0;
    end
  end

endmodule
