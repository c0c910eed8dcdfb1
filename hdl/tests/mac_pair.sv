// Both halves of the MAC side by side, for one bench.

module mac_pair (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic [7:0]  rx_gmii_rxd,
  input  logic        rx_gmii_rx_dv,
  input  logic        rx_gmii_rx_er,
  output logic        rx_word_valid,
  output logic [63:0] rx_word,
  output logic        rx_word_first,
  output logic        rx_word_last,
  output logic [2:0]  rx_word_tail,
  output logic        rx_start,
  output logic        rx_octet_valid,
  output logic [7:0]  rx_octet,
  output logic        rx_header_valid,
  output logic [47:0] rx_header_destination,
  output logic [47:0] rx_header_source,
  output logic        rx_header_tagged,
  output logic [2:0]  rx_header_pcp,
  output logic [11:0] rx_header_vid,
  output logic        rx_end_valid,
  output logic        rx_end_words,
  output logic        rx_end_good,
  output logic        rx_end_short,
  output logic        rx_end_long,
  output logic        rx_end_check,
  output logic [10:0] rx_end_octets,

  output logic        tx_ready,
  output logic        tx_last,
  input  logic        tx_start,
  input  logic        tx_word_valid,
  input  logic [63:0] tx_word,
  input  logic        tx_word_last,
  input  logic [2:0]  tx_word_tail,
  input  logic        tx_word_bad,
  output logic        tx_delimiter,
  output logic        tx_bad,
  output logic        tx_word_pop,
  output logic [7:0]  tx_gmii_txd,
  output logic        tx_gmii_tx_en,
  output logic        tx_gmii_tx_er
);

  gmii_rx u_rx (
    .clk_i, .rst_ni,
    .gmii_rxd_i(rx_gmii_rxd), .gmii_rx_dv_i(rx_gmii_rx_dv), .gmii_rx_er_i(rx_gmii_rx_er),
    .word_valid_o(rx_word_valid), .word_o(rx_word),
    .word_first_o(rx_word_first), .word_last_o(rx_word_last), .word_tail_o(rx_word_tail),
    .start_o(rx_start), .octet_valid_o(rx_octet_valid), .octet_o(rx_octet),
    .header_valid_o(rx_header_valid), .header_destination_o(rx_header_destination),
    .header_source_o(rx_header_source), .header_tagged_o(rx_header_tagged),
    .header_pcp_o(rx_header_pcp), .header_vid_o(rx_header_vid),
    .end_valid_o(rx_end_valid), .end_words_o(rx_end_words), .end_good_o(rx_end_good),
    .end_short_o(rx_end_short), .end_long_o(rx_end_long), .end_check_o(rx_end_check),
    .end_octets_o(rx_end_octets)
  );

  gmii_tx u_tx (
    .clk_i, .rst_ni, .ready_o(tx_ready), .last_o(tx_last),
    .start_i(tx_start),
    .word_valid_i(tx_word_valid), .word_i(tx_word), .word_pop_o(tx_word_pop),
    .word_last_i(tx_word_last), .word_tail_i(tx_word_tail), .word_bad_i(tx_word_bad),
    .delimiter_o(tx_delimiter), .bad_o(tx_bad),
    .gmii_txd_o(tx_gmii_txd), .gmii_tx_en_o(tx_gmii_tx_en), .gmii_tx_er_o(tx_gmii_tx_er)
  );

endmodule
