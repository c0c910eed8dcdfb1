// Member sets of VLANs (IEEE Std 802.1Q-2022, 8.8): the ports that belong to each of 4096 VLANs.
//
// Ports look their VLAN up in turn, a port in a cycle, so an answer takes at most Ports + 2 cycles. After a reset
// every port is a member of every VLAN.

module vlan_table #(
  // A power of two.
  parameter int unsigned Ports = 4
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  output logic                        ready_o,

  // The VLAN of a port's frame; from `valid` on until the answer it stays.
  input  logic [Ports-1:0]            lookup_valid_i,
  input  logic [Ports-1:0][11:0]      lookup_vid_i,
  output logic [Ports-1:0]            answer_valid_o,
  output logic [Ports-1:0]            answer_members_o,

  input  logic                        write_valid_i,
  input  logic [11:0]                 write_vid_i,
  input  logic [Ports-1:0]            write_members_i
);

  localparam int unsigned PortWidth = $clog2(Ports);

  logic [Ports-1:0]     mem [4096];
  logic [12:0]          initial_q;
  logic [PortWidth-1:0] turn_q;
  logic [Ports-1:0]     asked_q, asks, answers_q, members_q;

  assign ready_o = initial_q[12];
  assign asks = asked_q | lookup_valid_i;

  always_ff @(posedge clk_i) begin
    if (!ready_o) mem[initial_q[11:0]] <= '1;
    else if (write_valid_i) mem[write_vid_i] <= write_members_i;
    members_q        <= mem[lookup_vid_i[turn_q]];
    answer_members_o <= members_q;
  end

  always_ff @(posedge clk_i) begin
    turn_q <= turn_q + 1'b1;
    if (!ready_o) initial_q <= initial_q + 1'b1;
    asked_q <= asks & ~(Ports'(1) << turn_q);
    answers_q      <= asks & (Ports'(1) << turn_q);
    answer_valid_o <= answers_q;
    if (!rst_ni) begin
      turn_q         <= '0;
      initial_q      <= '0;
      asked_q        <= '0;
      answers_q      <= '0;
      answer_valid_o <= '0;
    end
  end

endmodule
