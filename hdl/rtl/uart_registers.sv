// A bridge from a serial line (8 bits, no parity, one stop bit) to a port of AXI4-Lite.
//
// A request is W, an address of two octets and a word of four, or R and an address; the most significant octet is the
// first. It is answered by an octet with the response of AXI, and a read by the word behind it. Other octets where a
// request begins are skipped, and so is a request whose next octet does not come within 2**`PatienceWidth` cycles; what
// comes in before the answer has gone out is ignored. Of the address the lowest 12 bits count.

module uart_registers #(
  // Cycles of a bit: 115200 bit/s at 125 MHz.
  parameter int unsigned Divider = 1085,
  parameter int unsigned PatienceWidth = 20
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        rx_i,
  output logic        tx_o,

  output logic [11:0] axil_awaddr_o,
  output logic        axil_awvalid_o,
  input  logic        axil_awready_i,
  output logic [31:0] axil_wdata_o,
  output logic [3:0]  axil_wstrb_o,
  output logic        axil_wvalid_o,
  input  logic        axil_wready_i,
  input  logic [1:0]  axil_bresp_i,
  input  logic        axil_bvalid_i,
  output logic        axil_bready_o,
  output logic [11:0] axil_araddr_o,
  output logic        axil_arvalid_o,
  input  logic        axil_arready_i,
  input  logic [31:0] axil_rdata_i,
  input  logic [1:0]  axil_rresp_i,
  input  logic        axil_rvalid_i,
  output logic        axil_rready_o
);

  localparam int unsigned WaitWidth = $clog2(Divider);
  localparam logic [WaitWidth-1:0] Bit = WaitWidth'(Divider - 1);
  localparam logic [WaitWidth-1:0] HalfBit = WaitWidth'(Divider / 2 - 1);

  // --- The line comes in: a bit is looked at in its middle.

  (* async_reg = "true" *) logic meta_q, line_q;
  logic                 receives_q, octet_valid_q;
  logic [WaitWidth-1:0] receive_wait_q;
  // The start bit, eight of an octet, the stop bit.
  logic [3:0]           receive_bit_q;
  logic [7:0]           octet_q;

  always_ff @(posedge clk_i) begin
    {line_q, meta_q} <= {meta_q, rx_i};
    octet_valid_q <= 1'b0;
    receive_wait_q <= receive_wait_q == '0 ? Bit : receive_wait_q - 1'b1;
    if (!receives_q) begin
      receives_q     <= !line_q;
      receive_wait_q <= HalfBit;
      receive_bit_q  <= '0;
    end else if (receive_wait_q == '0) begin
      receive_bit_q <= receive_bit_q + 1'b1;
      if (receive_bit_q == '0) begin
        // No start bit: a pulse shorter than half of one.
        if (line_q) receives_q <= 1'b0;
      end else if (receive_bit_q == 4'd9) begin
        receives_q    <= 1'b0;
        octet_valid_q <= line_q;
      end else begin
        octet_q <= {line_q, octet_q[7:1]};
      end
    end
    if (!rst_ni) begin
      {line_q, meta_q} <= '1;
      receives_q       <= 1'b0;
      octet_valid_q    <= 1'b0;
    end
  end

  // --- A request, its transfer, its answer.

  typedef enum logic [1:0] {StFirst, StTake, StTransfer, StAnswer} state_e;
  state_e                   state_q;
  logic                     writes_q;
  // Octets that are left of the request or of the answer.
  logic [2:0]               left_q;
  logic [47:0]              request_q;
  logic [39:0]              answer_q;
  logic [PatienceWidth-1:0] patience_q;
  logic                     sends, unused;

  assign unused = ^request_q[47:44];
  assign axil_awaddr_o = request_q[43:32];
  assign axil_wdata_o  = request_q[31:0];
  assign axil_wstrb_o  = '1;
  assign axil_araddr_o = request_q[11:0];
  assign axil_bready_o = state_q == StTransfer;
  assign axil_rready_o = state_q == StTransfer;

  always_ff @(posedge clk_i) begin
    patience_q <= octet_valid_q ? '0 : patience_q + 1'b1;
    if (axil_awready_i) axil_awvalid_o <= 1'b0;
    if (axil_wready_i) axil_wvalid_o <= 1'b0;
    if (axil_arready_i) axil_arvalid_o <= 1'b0;
    unique case (state_q)
      StFirst: begin
        writes_q <= octet_q == "W";
        left_q   <= octet_q == "W" ? 3'd6 : 3'd2;
        if (octet_valid_q && (octet_q == "W" || octet_q == "R")) state_q <= StTake;
      end
      StTake: begin
        if (octet_valid_q) begin
          request_q <= {request_q[39:0], octet_q};
          left_q    <= left_q - 1'b1;
          if (left_q == 3'd1) begin
            state_q        <= StTransfer;
            axil_awvalid_o <= writes_q;
            axil_wvalid_o  <= writes_q;
            axil_arvalid_o <= !writes_q;
          end
        end else if (&patience_q) begin
          state_q <= StFirst;
        end
      end
      StTransfer: begin
        answer_q <= {6'd0, writes_q ? axil_bresp_i : axil_rresp_i, axil_rdata_i};
        left_q   <= writes_q ? 3'd1 : 3'd5;
        if (axil_bvalid_i || axil_rvalid_i) state_q <= StAnswer;
      end
      default: begin
        if (sends) begin
          answer_q <= {answer_q[31:0], 8'd0};
          left_q   <= left_q - 1'b1;
          if (left_q == 3'd1) state_q <= StFirst;
        end
      end
    endcase
    if (!rst_ni) begin
      state_q        <= StFirst;
      axil_awvalid_o <= 1'b0;
      axil_wvalid_o  <= 1'b0;
      axil_arvalid_o <= 1'b0;
    end
  end

  // --- The line goes out: low, the octet from its lowest bit on, high.

  logic [9:0]           line_out_q;
  logic [3:0]           line_left_q;
  logic [WaitWidth-1:0] send_wait_q;

  assign sends = state_q == StAnswer && line_left_q == '0;
  assign tx_o = line_out_q[0];

  always_ff @(posedge clk_i) begin
    send_wait_q <= send_wait_q == '0 ? Bit : send_wait_q - 1'b1;
    if (sends) begin
      line_out_q  <= {1'b1, answer_q[39:32], 1'b0};
      line_left_q <= 4'd10;
      send_wait_q <= Bit;
    end else if (line_left_q != '0 && send_wait_q == '0) begin
      line_out_q  <= {1'b1, line_out_q[9:1]};
      line_left_q <= line_left_q - 1'b1;
    end
    if (!rst_ni) begin
      line_out_q  <= '1;
      line_left_q <= '0;
    end
  end

endmodule
