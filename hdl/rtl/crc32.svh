// Frame check sequence of IEEE Std 802.3, 3.2.9, an octet at a time, least significant bit first.
function automatic logic [31:0] crc32_octet(input logic [31:0] crc, input logic [7:0] octet);
  logic [31:0] next;
  next = crc ^ {24'd0, octet};
  for (int k = 0; k < 8; k++) next = next[0] ? (next >> 1) ^ 32'hedb8_8320 : next >> 1;
  return next;
endfunction
