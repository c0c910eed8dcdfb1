// What `gmii_rx` makes of any signals on its inputs, by induction: words of a frame from a first one to a last one,
// one in eight cycles but for the last; the last one comes with the end, and all of them together are the frame without
// its check sequence; of any carriers with any gaps, who takes a word in eight cycles never has more than two to take; no frame is longer than the longest; a good one is neither short nor long, was received without an
// error, and its check sequence is right.
//
// Nothing is assumed of the line.

module gmii_rx_proof #(
  parameter int unsigned LengthWidth = 11,
  parameter int unsigned OctetsMax = 1522
) (
  input logic       clk_i,
  input logic [7:0] gmii_rxd_i,
  input logic       gmii_rx_dv_i,
  input logic       gmii_rx_er_i
);

  // The states of the module.
  localparam logic [1:0] StIdle = 2'd0;
  localparam logic [1:0] StFrame = 2'd2;
  localparam logic [1:0] StSkip = 2'd3;
  localparam logic [31:0] Residue = 32'hdebb_20e3;

  logic                   started_q = 1'b0;
  logic                   word_valid, word_first, word_last, start, octet_valid, header_valid, header_tagged;
  logic [63:0]            word;
  logic [2:0]             word_tail, header_pcp;
  logic [7:0]             octet;
  logic [47:0]            header_destination, header_source;
  logic [11:0]            header_vid;
  logic                   end_valid, end_words, end_good, end_short, end_long, end_check;
  logic [LengthWidth-1:0] end_octets;

  always_ff @(posedge clk_i) started_q <= 1'b1;

  gmii_rx #(.LengthWidth(LengthWidth), .OctetsMax(OctetsMax)) dut (
    .clk_i, .rst_ni(started_q), .gmii_rxd_i, .gmii_rx_dv_i, .gmii_rx_er_i,
    .word_valid_o(word_valid), .word_o(word), .word_first_o(word_first), .word_last_o(word_last),
    .word_tail_o(word_tail), .start_o(start), .octet_valid_o(octet_valid), .octet_o(octet),
    .header_valid_o(header_valid), .header_destination_o(header_destination), .header_source_o(header_source),
    .header_tagged_o(header_tagged), .header_pcp_o(header_pcp), .header_vid_o(header_vid),
    .end_valid_o(end_valid), .end_words_o(end_words), .end_good_o(end_good), .end_short_o(end_short),
    .end_long_o(end_long), .end_check_o(end_check), .end_octets_o(end_octets)
  );

  // Octets of the words so far, without the one at the output; whether there were any; cycles since the last one.
  logic [LengthWidth-1:0] given_q;
  logic                   inside_q;
  logic [3:0]             since_q;
  // Cycles of work for one that takes eight for a word.
  logic [4:0]             work_q;

  always_ff @(posedge clk_i) begin
    if (word_valid) begin
      given_q  <= word_last ? '0 : given_q + LengthWidth'(8);
      inside_q <= !word_last;
    end
    since_q <= word_valid ? 4'd1 : (since_q == 4'd15) ? since_q : since_q + 4'd1;
    work_q <= word_valid ? work_q + 5'd7 : work_q == '0 ? '0 : work_q - 5'd1;
    if (!started_q) begin
      work_q   <= '0;
      given_q  <= '0;
      inside_q <= 1'b0;
      since_q  <= '1;
    end
  end

  // Octets of the frame under way without the four that may be its check sequence, and what the state has of them.
  logic [LengthWidth-1:0] count, data, pending;
  logic                   framing, settled, error_q;
  logic [31:0]            crc_q;

  assign framing = dut.state_q == StFrame;
  assign count = dut.count_q;
  assign data = (count > LengthWidth'(4)) ? count - LengthWidth'(4) : '0;
  assign pending = (word_valid && !word_last) ? LengthWidth'(8) : '0;
  assign settled = dut.full_q == (count == LengthWidth'(OctetsMax)) && dut.past_check_q == (count >= LengthWidth'(4));

  always_ff @(posedge clk_i) begin
    error_q <= dut.error_q;
    crc_q   <= dut.crc_q;
  end

  always_comb begin
    if (started_q) begin
      TheCountIsKnown: assert (!framing || (settled && count <= LengthWidth'(OctetsMax)));
      DataIsForeseen: assert (dut.open_q == (framing && dut.past_check_q && !dut.full_q));
      APlaceIsThatOfItsOctet: assert (!framing || dut.place_q == 8'd1 << dut.filled_q[2:0]);
      WhatIsGatheredIsTheRest: assert (!framing || (data == '0 ? dut.filled_q == '0
          : dut.filled_q != '0 && dut.filled_q <= 4'd8 && 3'(dut.filled_q) == 3'(data)));
      FirstIsWhatNoWordCameBefore: assert (!framing || dut.first_q == (data <= LengthWidth'(8)));
      NoOctetIsLost: assert (!framing || given_q + pending + LengthWidth'(dut.filled_q) == data);
      ARefusedCarrierIsEmpty: assert (!dut.refused_q || (dut.state_q == StSkip && count == '0 && dut.filled_q == '0));
      NoEndInsideOfAFrame: assert (!(framing && (end_valid || (word_valid && word_last))));
      NoWordOutsideOfAFrame: assert (framing || !word_valid || word_last);
      NothingIsLeftOver: assert (framing || word_valid || (given_q == '0 && !inside_q));
      WordsBeginWithAFirst: assert (inside_q == (given_q != '0) && given_q <= LengthWidth'(OctetsMax));
      AWordIsFirstOrFollows: assert (!word_valid || word_first == !inside_q);
      TheLastComesWithTheEnd: assert ((word_valid && word_last) == (end_valid && end_words));
      WordsTogetherAreTheFrame: assert (!(word_valid && word_last)
          || given_q + LengthWidth'(word_tail) + LengthWidth'(5) == end_octets);
      OneWordInEightCycles: assert (!(word_valid && inside_q && !word_last) || since_q >= 4'd8);
      AWordIsGatheredInEight: assert (!framing || (word_valid ? dut.filled_q == 4'd1
          : !inside_q || dut.filled_q == since_q + 4'd1));
      AnEndIsFollowedByRest: assert (!(word_valid && word_last)
          || (dut.state_q == StIdle && !dut.rested_q) || dut.state_q == StSkip);
      AFrameBeginsLater: assert (!framing || inside_q || (word_valid && !word_last)
          || since_q >= (count >= LengthWidth'(13) ? 4'd15 : 4'(count) + 4'd2));
      AWordWasACycleAgo: assert (since_q != '0);
      AFirstWordFindsNothing: assert (!(word_valid && !inside_q && !word_last) || work_q == '0);
      ALastWordAloneFindsOne: assert (!(word_valid && !inside_q && word_last) || since_q >= 4'd8);
      WorkOfAFrame: assert (!inside_q || work_q + 5'(since_q) <= 5'd8);
      WorkBehindAFrame: assert (inside_q || work_q + 5'(since_q) <= 5'd15);
      TwoWordsWaitAtMost: assert (work_q <= 5'd14);
      NoFrameIsTooLong: assert (!end_valid || end_octets <= LengthWidth'(OctetsMax));
      GoodIsNothingElse: assert (!end_valid || end_good == !(end_short || end_long || end_check));
      GoodHasItsCheckSequence: assert (!(end_valid && end_good) || (crc_q == Residue && !error_q));
    end
  end

endmodule
