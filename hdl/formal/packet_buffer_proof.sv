// The free list of `packet_buffer`, by induction: every cell is at every time in exactly one place, the
// list, the head that is read in advance, or the hands of a frame. So none is lost and none is given
// twice, whatever ports write, claim and read.
//
// Assumed: a cell that comes back is one in the hands of a frame. That rests on the chains and the counts
// of readers; the simulation asserts it (`NoCellIsFreedTwice`), this proof does not show it.

module packet_buffer_proof #(
  parameter int unsigned Ports = 2,
  parameter int unsigned Cells = 4,
  parameter int unsigned LengthWidth = 7,
  // Dependent, not to be overridden.
  parameter int unsigned PortWidth = $clog2(Ports),
  parameter int unsigned CellWidth = $clog2(Cells),
  parameter int unsigned CountWidth = $clog2(Ports + 1),
  parameter int unsigned ChainWidth = LengthWidth - 5
) (
  input logic                              clk_i,
  input logic [Ports-1:0]                  write_valid_i,
  input logic [Ports-1:0]                  write_first_i,
  input logic [Ports-1:0]                  write_last_i,
  input logic [Ports-1:0][2:0]             write_tail_i,
  input logic [Ports-1:0]                  write_bad_i,
  input logic                              claim_valid_i,
  input logic [CellWidth-1:0]              claim_cell_i,
  input logic [CountWidth-1:0]             claim_readers_i,
  input logic [ChainWidth-1:0]             claim_cells_i,
  input logic [Ports-1:0]                  read_start_i,
  input logic [Ports-1:0][CellWidth-1:0]   read_cell_i,
  input logic [Ports-1:0][LengthWidth-1:0] read_octets_i,
  input logic [Ports-1:0]                  read_cut_i,
  input logic [Ports-1:0][PortWidth-1:0]   read_source_i,
  input logic [Ports-1:0]                  read_pop_i
);

  logic                              started_q = 1'b0;
  logic                              ready;
  logic [CellWidth:0]                free;
  logic [Ports-1:0]                  done_valid, done_whole, read_valid, read_last, read_bad;
  logic [Ports-1:0][2:0]             read_tail;
  logic [Ports-1:0][CellWidth-1:0]   done_cell;
  logic [Ports-1:0][ChainWidth-1:0]  done_cells;
  logic [Ports-1:0][63:0]            read_data;

  always_ff @(posedge clk_i) started_q <= 1'b1;

  packet_buffer #(.Ports(Ports), .Cells(Cells), .LengthWidth(LengthWidth)) dut (
    .clk_i, .rst_ni(started_q), .ready_o(ready), .free_o(free),
    .write_valid_i, .write_data_i('0), .write_first_i, .write_last_i, .write_tail_i, .write_bad_i,
    .done_valid_o(done_valid), .done_whole_o(done_whole), .done_cell_o(done_cell),
    .done_cells_o(done_cells),
    .claim_valid_i, .claim_cell_i, .claim_readers_i, .claim_cells_i,
    .read_start_i, .read_cell_i, .read_octets_i, .read_cut_i, .read_source_i,
    .read_valid_o(read_valid), .read_data_o(read_data), .read_last_o(read_last),
    .read_tail_o(read_tail), .read_bad_o(read_bad), .read_pop_i
  );

  // Cells in the hands of frames, and of ports that have one ready for their next.
  logic [Cells-1:0] held_q;
  logic [CellWidth:0] held;

  always_ff @(posedge clk_i) begin
    if (dut.free_pop) held_q[dut.free_head_q] <= 1'b1;
    if (dut.release_push) held_q[dut.release_cell] <= 1'b0;
    if (!started_q) held_q <= '0;
  end

  // In how many places a cell is: one, once it was put into the list after a reset.
  logic                 misplaced;
  logic [CellWidth:0]   listed;
  logic [CellWidth+1:0] places;

  assign listed = dut.free_write_q - dut.free_read_q;

  always_comb begin
    misplaced = listed > (CellWidth + 1)'(Cells);
    held = '0;
    for (int unsigned c = 0; c < Cells; c++) begin
      held = held + (CellWidth + 1)'(held_q[c]);
      places = (CellWidth + 2)'(held_q[c])
               + (CellWidth + 2)'(dut.free_head_valid_q && dut.free_head_q == CellWidth'(c));
      for (int unsigned n = 0; n < Cells; n++) begin
        places = places + (CellWidth + 2)'((CellWidth + 1)'(n) < listed
            && dut.free_mem[dut.free_read_q[CellWidth-1:0] + CellWidth'(n)] == CellWidth'(c));
      end
      misplaced |= places != (CellWidth + 2)'((CellWidth + 1)'(c) < dut.initial_q);
    end
  end

  always_comb begin
    if (started_q) begin
      OnlyHeldCellsComeBack: assume (!dut.release_push || held_q[dut.release_cell]);

      TheListIsFilledOnce: assert (dut.initial_q <= (CellWidth + 1)'(Cells));
      NothingIsTakenBeforeTheStart: assert (dut.initialised || held_q == '0);
      EveryCellIsInOnePlace: assert (!misplaced);
      NoCellIsGivenTwice: assert (!dut.free_pop || !held_q[dut.free_head_q]);
      NoCellIsLost: assert (!dut.initialised || free + held == (CellWidth + 1)'(Cells));
      TheSlotIsOne: assert (dut.slot_hot_q == Ports'(1) << dut.slot_q);
      OneTakesAtATime: assert ((dut.takes_cell & (dut.takes_cell - 1'b1)) == '0);
    end
  end

endmodule
