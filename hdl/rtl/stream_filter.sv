// Identification of streams by value and mask over the first 64 octets of a frame (IEEE Std 802.1CB-2017,
// clause 6; 802.1CBdb, mask-and-match): IP addresses, DSCP, protocol, ports with masks, and anything else there.
//
// Every port has rules of its own; a written rule goes to the ports that are named with it.
// A rule has a value and a mask for every octet from the destination address on; a frame matches if it agrees in
// all masked bits. The octets are compared as they come. Among rules that match the first one holds.
// A frame whose check sequence is inside the masked octets is compared with it, too.

module stream_filter #(
  parameter int unsigned Ports = 4,
  // Rules of a port; a power of two.
  parameter int unsigned Rules = 32,
  // Width of a rule's result.
  parameter int unsigned ValueWidth = 12,
  // Dependent, not to be overridden.
  parameter int unsigned RuleWidth = $clog2(Rules)
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,

  // A frame begins; its octets.
  input  logic [Ports-1:0]                 start_i,
  input  logic [Ports-1:0]                 octet_valid_i,
  input  logic [Ports-1:0][7:0]            octet_i,
  // Four cycles after the octet that decided it.
  output logic [Ports-1:0]                 hit_o,
  output logic [Ports-1:0][ValueWidth-1:0] value_o,

  // The ports whose rules are written.
  input  logic [Ports-1:0]                 ports_i,
  // An octet of a rule.
  input  logic                             octet_write_i,
  input  logic [RuleWidth-1:0]             octet_rule_i,
  input  logic [5:0]                       octet_place_i,
  input  logic [7:0]                       octet_value_i,
  input  logic [7:0]                       octet_mask_i,
  // Whether a rule is used, and its result.
  input  logic                             rule_write_i,
  input  logic [RuleWidth-1:0]             rule_index_i,
  input  logic                             rule_enable_i,
  input  logic [ValueWidth-1:0]            rule_value_i
);

  // The written values, a cycle later: they go to all ports.
  logic [Ports-1:0]      octet_write_q, rule_write_q;
  logic [RuleWidth-1:0]  octet_rule_q, rule_index_q;
  logic [5:0]            octet_place_q;
  logic [15:0]           octet_row_q;
  logic                  rule_enable_q;
  logic [ValueWidth-1:0] rule_value_q;

  always_ff @(posedge clk_i) begin
    octet_write_q <= ports_i & {Ports{octet_write_i && rst_ni}};
    octet_rule_q  <= octet_rule_i;
    octet_place_q <= octet_place_i;
    octet_row_q   <= {octet_value_i, octet_mask_i};
    rule_write_q  <= ports_i & {Ports{rule_write_i && rst_ni}};
    rule_index_q  <= rule_index_i;
    rule_enable_q <= rule_enable_i;
    rule_value_q  <= rule_value_i;
  end

  for (genvar p = 0; p < Ports; p++) begin : g_port
    // The octet and what the rules have for its place, a cycle later.
    logic [6:0]       place_q;
    logic             start_q, begins_q, compares_q;
    logic [7:0]       octet_q;
    logic [Rules-1:0] enable_q, agrees, matches_q;

    for (genvar r = 0; r < Rules; r++) begin : g_rule
      (* ram_style = "distributed" *)
      logic [15:0] mem [64];
      logic [15:0] row_q;
      assign agrees[r] = ((octet_q ^ row_q[15:8]) & row_q[7:0]) == '0;
      always_ff @(posedge clk_i) begin
        row_q <= mem[place_q[5:0]];
        if (octet_write_q[p] && octet_rule_q == RuleWidth'(r)) mem[octet_place_q] <= octet_row_q;
      end
    end

    always_ff @(posedge clk_i) begin
      if (octet_valid_i[p] && !place_q[6]) place_q <= place_q + 1'b1;
      if (start_q) place_q <= '0;
      octet_q    <= octet_i[p];
      compares_q <= octet_valid_i[p] && !place_q[6];
      if (compares_q) matches_q <= matches_q & agrees;
      if (begins_q) matches_q <= enable_q;
      start_q  <= start_i[p];
      begins_q <= start_q;
      if (!rst_ni) begin
        matches_q  <= '0;
        start_q    <= 1'b0;
        begins_q   <= 1'b0;
        compares_q <= 1'b0;
      end
    end

    // The result of the first rule that matches.
    (* ram_style = "distributed" *)
    logic [ValueWidth-1:0] value_mem [Rules];
    logic [RuleWidth-1:0]  first, first_q;
    logic                  hit_q;

    always_comb begin
      first = '0;
      for (int unsigned r = Rules; r > 0; r--) if (matches_q[r-1]) first = RuleWidth'(r - 1);
    end

    always_ff @(posedge clk_i) begin
      hit_q      <= |matches_q;
      first_q    <= first;
      hit_o[p]   <= hit_q;
      value_o[p] <= value_mem[first_q];
      if (rule_write_q[p]) begin
        enable_q[rule_index_q]  <= rule_enable_q;
        value_mem[rule_index_q] <= rule_value_q;
      end
      if (!rst_ni) enable_q <= '0;
    end
  end

endmodule
