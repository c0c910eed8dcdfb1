// The buffer memory that all ports share: frames as chains of cells of 64 octets.
//
// Every port writes and reads one word of eight octets in its own cycle of `Ports` cycles: access takes
// the same time at any load. A cell is taken from the free list when a frame reaches it, and comes back
// when the last port that sends the frame has read it, or when nobody wants the frame.
//
// Invariants: no cell is lost, none is given to two frames; a frame that finds no cell ends with
// `done_whole_o` low and gives back what it had, like a frame that is released with no reader. A bad frame of up to
// `ShortWords` words leaves its cell in its port's hand: fragments, however many, ask nothing of anybody.
//
// Cut-through: a port may begin to read a frame that is still written by another one, as its only
// reader. It takes no word that is not there yet, and learns at the end of the frame how long it is and
// whether it is bad. Who starts it leaves `CutReserve` cells free, which no frame outlasts.
//
// Not here: who sends the frame (`tsn_switch.sv`), queues (`egress_port.sv`).

module packet_buffer #(
  // Ports; a power of two.
  parameter int unsigned Ports = 4,
  // Cells of 64 octets; a power of two.
  parameter int unsigned Cells = 4096,
  // Width of a length in octets.
  parameter int unsigned LengthWidth = 11,
  // Whether frames may be read while they are written; with up to four ports.
  parameter bit          CutThrough = 1'b1,
  // Dependent, not to be overridden.
  parameter int unsigned PortWidth = $clog2(Ports),
  parameter int unsigned CellWidth = $clog2(Cells),
  parameter int unsigned CountWidth = $clog2(Ports + 1),
  parameter int unsigned ChainWidth = LengthWidth - 5
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  // The free list is full: frames may come.
  output logic                              ready_o,
  // Cells in the free list.
  output logic [CellWidth:0]                free_o,

  // Words of a frame that comes in; at most one in eight cycles, but for the last.
  input  logic [Ports-1:0]                  write_valid_i,
  input  logic [Ports-1:0][63:0]            write_data_i,
  input  logic [Ports-1:0]                  write_first_i,
  input  logic [Ports-1:0]                  write_last_i,
  // With the last word: its octets less one; the frame is bad.
  input  logic [Ports-1:0][2:0]             write_tail_i,
  input  logic [Ports-1:0]                  write_bad_i,
  // The frame stands in the buffer; the whole of it; unless it is cut through its cells are to be claimed.
  output logic [Ports-1:0]                  done_valid_o,
  output logic [Ports-1:0]                  done_whole_o,
  output logic [Ports-1:0]                  done_claim_o,
  output logic [Ports-1:0][CellWidth-1:0]   done_cell_o,
  output logic [Ports-1:0][ChainWidth-1:0]  done_cells_o,

  // How many ports will read a frame; before any of them does.
  input  logic                              claim_valid_i,
  input  logic [CellWidth-1:0]              claim_cell_i,
  input  logic [CountWidth-1:0]             claim_readers_i,
  input  logic [ChainWidth-1:0]             claim_cells_i,

  // A port reads a frame of so many octets; or the one that another port writes.
  input  logic [Ports-1:0]                  read_start_i,
  input  logic [Ports-1:0][CellWidth-1:0]   read_cell_i,
  input  logic [Ports-1:0][LengthWidth-1:0] read_octets_i,
  input  logic [Ports-1:0]                  read_cut_i,
  input  logic [Ports-1:0][PortWidth-1:0]   read_source_i,
  output logic [Ports-1:0]                  read_valid_o,
  output logic [Ports-1:0][63:0]            read_data_o,
  output logic [Ports-1:0]                  read_last_o,
  output logic [Ports-1:0][2:0]             read_tail_o,
  output logic [Ports-1:0]                  read_bad_o,
  input  logic [Ports-1:0]                  read_pop_i
);

  localparam int unsigned SlotWidth = $clog2(Ports);
  localparam int unsigned WordsWidth = LengthWidth - 2;
  // From a reader's cycle to the word, and to the number of a cell.
  localparam int unsigned ReadSteps = 5;
  localparam int unsigned NextSteps = 3;

  if (CutThrough && Ports > 4) begin : g_cut_through
    $fatal(1, "cut-through needs a slot in four cycles: at most four ports");
  end

  // Whose cycle it is, also with one bit for every port.
  logic [SlotWidth-1:0] slot_q;
  logic [Ports-1:0]     slot_hot_q;

  always_ff @(posedge clk_i) begin
    slot_q     <= slot_q + 1'b1;
    slot_hot_q <= {slot_hot_q[Ports-2:0], slot_hot_q[Ports-1]};
    if (!rst_ni) begin
      slot_q     <= '0;
      slot_hot_q <= Ports'(1);
    end
  end

  // --- Memories. The list of next cells has a copy for the release. Nothing is used that was read in the cycle in
  // which its place was written.

  (* no_rw_check *) logic [31:0]           low_mem [Cells * 8];
  (* no_rw_check *) logic [31:0]           high_mem [Cells * 8];
  (* no_rw_check *) logic [CellWidth-1:0]  next_mem [Cells];
  (* no_rw_check *) logic [CellWidth-1:0]  next_copy_mem [Cells];
  (* no_rw_check *) logic [CountWidth-1:0] readers_mem [Cells];

  // The memory of words lies all over the chip. It has two halves, the upper one a cycle behind the lower, so that no register
  // has to reach all of it; addresses, what is written and what is read have registers of their own.
  logic                  data_write, low_write_q, high_write_q, next_write;
  logic [CellWidth+2:0]  data_write_address, low_write_address_q, high_write_address_q;
  logic [CellWidth+2:0]  data_read_address, low_read_address_q, high_read_address_q;
  logic [63:0]           data_write_word;
  logic [31:0]           low_word_q, high_first_word_q, high_word_q;
  logic [31:0]           low_mem_q, low_read_q, low_near_q, low_out_q, high_mem_q, high_read_q, high_out_q;
  logic [CellWidth-1:0]  next_write_address, next_write_cell, next_read_address, next_read_address_q, next_mem_q, next_read_q;

  always_ff @(posedge clk_i) begin
    low_write_q          <= data_write;
    low_write_address_q  <= data_write_address;
    low_read_address_q   <= data_read_address;
    low_word_q           <= data_write_word[31:0];
    high_first_word_q    <= data_write_word[63:32];
    high_write_q         <= low_write_q;
    high_write_address_q <= low_write_address_q;
    high_read_address_q  <= low_read_address_q;
    high_word_q          <= high_first_word_q;
    if (low_write_q) low_mem[low_write_address_q] <= low_word_q;
    if (high_write_q) high_mem[high_write_address_q] <= high_word_q;
    low_mem_q   <= low_mem[low_read_address_q];
    low_read_q  <= low_mem_q;
    low_near_q  <= low_read_q;
    low_out_q   <= low_near_q;
    high_mem_q  <= high_mem[high_read_address_q];
    high_read_q <= high_mem_q;
    high_out_q  <= high_read_q;
    if (next_write) begin
      next_mem[next_write_address]      <= next_write_cell;
      next_copy_mem[next_write_address] <= next_write_cell;
    end
    next_read_address_q <= next_read_address;
    next_mem_q  <= next_mem[next_read_address_q];
    next_read_q <= next_mem_q;
  end

  // --- Free list: filled with every cell after a reset, then by the release.

  (* no_rw_check *) logic [CellWidth-1:0] free_mem [Cells];
  logic [CellWidth:0]   free_write_q, free_read_q;
  logic [CellWidth-1:0] free_head_q;
  logic                 free_head_valid_q, free_push, free_pop, free_fetch;
  logic [CellWidth-1:0] free_push_cell;
  logic [CellWidth:0]   initial_q;
  logic                 initialised;

  assign initialised = initial_q[CellWidth];
  assign ready_o = initialised;
  assign free_o = free_write_q - free_read_q + (CellWidth + 1)'(free_head_valid_q);
  assign free_fetch = free_write_q != free_read_q && (!free_head_valid_q || free_pop);

  logic                 release_push;
  logic [CellWidth-1:0] release_cell;
  assign free_push = !initialised || release_push;
  assign free_push_cell = initialised ? release_cell : initial_q[CellWidth-1:0];

  always_ff @(posedge clk_i) begin
    if (free_push) free_mem[free_write_q[CellWidth-1:0]] <= free_push_cell;
    if (free_fetch) free_head_q <= free_mem[free_read_q[CellWidth-1:0]];
  end

  always_ff @(posedge clk_i) begin
    if (!initialised) initial_q <= initial_q + 1'b1;
    if (free_push) free_write_q <= free_write_q + 1'b1;
    if (free_fetch) free_read_q <= free_read_q + 1'b1;
    if (free_fetch) free_head_valid_q <= 1'b1;
    else if (free_pop) free_head_valid_q <= 1'b0;
    if (!rst_ni) begin
      initial_q         <= '0;
      free_write_q      <= '0;
      free_read_q       <= '0;
      free_head_valid_q <= 1'b0;
    end
  end

  // --- Writers: a port has one cell in hand, so that it never waits for the free list. While a frame is in its first
  // `ShortWords` words that cell may come back; its second one is taken behind them, before it is needed.

  // Seven of a cell's eight words: a frame that is longer lasts as long as a good one may.
  localparam int unsigned ShortWords = 7;

  // The frame that is written is within those words; it is read while it is written; the cell comes back.
  logic [Ports-1:0]                short_q, done_short_q, cut_source, keeps_cell;
  logic [Ports-1:0]                wants_cell;
  logic [Ports-1:0]                takes_cell;
  logic [Ports-1:0]                word_valid, word_pop, word_first, word_last, word_full;
  logic [Ports-1:0][63:0]          word_data;
  logic [Ports-1:0][2:0]           word_tail;
  logic [Ports-1:0]                word_bad, here;
  logic [Ports-1:0][WordsWidth-1:0] words_q;
  logic [Ports-1:0]                spare_valid_q;
  logic [Ports-1:0][CellWidth-1:0] spare_q, head_q, current_q;
  logic [Ports-1:0][2:0]           offset_q;
  logic [Ports-1:0]                lost_q;
  logic [Ports-1:0][ChainWidth-1:0] cells_q;

  // The ends of frames, a cycle after they were written: their words, their last one.
  logic [Ports-1:0]      ends_q;
  logic [WordsWidth-1:0] end_words_q;
  logic [2:0]            end_tail_q;
  logic                  end_bad_q;

  // One port a cycle takes a cell: the one whose word is taken in the next cycle.
  assign wants_cell = ~spare_valid_q & ~short_q;
  assign takes_cell = wants_cell & {slot_hot_q[Ports-2:0], slot_hot_q[Ports-1]} & {Ports{free_head_valid_q && initialised}};
  assign free_pop = |takes_cell;

  // The word of the port whose cycle it is is taken with what its port knows, and written in the next cycle.
  logic [SlotWidth-1:0]  here_q;
  logic                  here_valid_q, here_first_q, here_last_q, here_bad_q, here_new_q, here_lost_q;
  logic [2:0]            here_tail_q, here_offset_q;
  logic [63:0]           here_data_q;
  logic [CellWidth-1:0]  here_cell_q, here_before_q;
  logic [WordsWidth-1:0] here_words_q;
  logic                  slot_new, slot_lost, here_write, here_link_q;

  assign slot_new = word_first[slot_q] || offset_q[slot_q] == '0;
  assign slot_lost = (lost_q[slot_q] && !word_first[slot_q]) || (slot_new && !spare_valid_q[slot_q]);

  always_ff @(posedge clk_i) begin
    here_q        <= slot_q;
    here_valid_q  <= word_valid[slot_q];
    here_first_q  <= word_first[slot_q];
    here_last_q   <= word_last[slot_q];
    here_bad_q    <= word_bad[slot_q];
    here_tail_q   <= word_tail[slot_q];
    here_data_q   <= word_data[slot_q];
    here_new_q    <= slot_new;
    here_lost_q   <= slot_lost;
    // It is the first word of a cell that another one is before.
    here_link_q   <= word_valid[slot_q] && slot_new && !word_first[slot_q] && !slot_lost;
    here_cell_q   <= slot_new ? spare_q[slot_q] : current_q[slot_q];
    here_before_q <= current_q[slot_q];
    here_offset_q <= word_first[slot_q] ? 3'd0 : offset_q[slot_q];
    // Words of the frame with this one.
    here_words_q  <= word_first[slot_q] ? WordsWidth'(1) : words_q[slot_q] + 1'b1;
    if (!rst_ni) {here_valid_q, here_link_q} <= '0;
  end

  assign here_write = here_valid_q && !here_lost_q;
  assign data_write = here_write;
  assign data_write_address = {here_cell_q, here_offset_q};
  assign data_write_word = here_data_q;
  assign next_write = here_link_q;
  assign next_write_address = here_before_q;
  assign next_write_cell = here_cell_q;

  for (genvar p = 0; p < Ports; p++) begin : g_writer
    sync_fifo #(.Width(70), .Depth(4)) u_words (
      .clk_i, .rst_ni,
      .push_i(write_valid_i[p]),
      .data_i({write_first_i[p], write_last_i[p], write_tail_i[p], write_bad_i[p], write_data_i[p]}),
      .full_o(word_full[p]),
      .valid_o(word_valid[p]),
      .data_o({word_first[p], word_last[p], word_tail[p], word_bad[p], word_data[p]}),
      .pop_i(word_pop[p])
    );
    assign word_pop[p] = word_valid[p] && slot_hot_q[p];
    assign here[p] = here_valid_q && here_q == SlotWidth'(p);
    // A cycle after its end, when it is known whether it is read.
    assign keeps_cell[p] = ends_q[p] && end_bad_q && done_short_q[p] && !cut_source[p];

    always_ff @(posedge clk_i) begin
      done_valid_o[p] <= 1'b0;
      if (takes_cell[p]) begin
        spare_valid_q[p] <= 1'b1;
        spare_q[p]       <= free_head_q;
      end
      if (here[p]) begin
        lost_q[p]   <= here_lost_q;
        short_q[p]  <= !here_lost_q && (here_first_q || (short_q[p] && (here_last_q || here_offset_q != 3'(ShortWords - 1))));
        words_q[p]  <= here_words_q;
        offset_q[p] <= here_offset_q + 3'd1;
        if (here_write && here_new_q) begin
          spare_valid_q[p] <= 1'b0;
          current_q[p]     <= here_cell_q;
          cells_q[p]       <= here_first_q ? ChainWidth'(1) : cells_q[p] + 1'b1;
          if (here_first_q) head_q[p] <= here_cell_q;
        end else if (here_first_q) begin
          cells_q[p] <= '0;
        end
        if (here_last_q) begin
          done_valid_o[p] <= 1'b1;
          done_whole_o[p] <= !here_lost_q;
        end
        done_claim_o[p] <= here_lost_q ? !here_first_q && cells_q[p] != '0 : !(here_bad_q && (here_first_q || short_q[p]));
        done_short_q[p] <= !here_lost_q && (here_first_q || short_q[p]);
      end
      if (ends_q[p]) short_q[p] <= 1'b0;
      if (keeps_cell[p]) begin
        spare_valid_q[p] <= 1'b1;
        spare_q[p]       <= current_q[p];
      end
      if (!rst_ni) begin
        spare_valid_q[p] <= 1'b0;
        short_q[p]       <= 1'b0;
        done_valid_o[p]  <= 1'b0;
        cells_q[p]       <= '0;
        lost_q[p]        <= 1'b0;
        offset_q[p]      <= '0;
      end
    end
    assign done_cell_o[p] = head_q[p];
    assign done_cells_o[p] = cells_q[p];
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < Ports; p++) ends_q[p] <= rst_ni && here[p] && here_last_q;
    end_words_q <= here_words_q;
    end_tail_q  <= here_tail_q;
    end_bad_q   <= here_bad_q;
  end

  // --- Readers: a word in each of the port's cycles while there is room for it.
  //
  // The number of a cell's successor is read with its first word. A frame that is still written may
  // have none then; its reader gives one of its cycles to the number when the successor's first word is there.

  logic [Ports-1:0]                 reading_q, cut_q, there_q, link_q, link_known_q;
  logic [Ports-1:0]                 fetch, follow, bad_q;
  // What is on its way from the memories: words, last ones, numbers of successors, and those that were waited for.
  logic [Ports-1:0][ReadSteps-1:0]  fetch_q, last_q;
  logic [Ports-1:0][NextSteps-1:0]  next_fetch_q, follow_q;
  logic [Ports-1:0]                 fetched;
  // The next word of a reader is its frame's last one.
  logic [Ports-1:0]                 final_q;
  logic [Ports-1:0][PortWidth-1:0]  source_q;
  logic [Ports-1:0][2:0]            tail_q;
  logic [Ports-1:0][CellWidth-1:0]  read_cell_q, read_next_q, read_head_q;
  logic [Ports-1:0][2:0]            read_offset_q;
  logic [Ports-1:0][WordsWidth-1:0] words_all_q, words_read_q;
  logic [Ports-1:0][ChainWidth-1:0] read_cells_q;
  logic [Ports-1:0][2:0]            room_q;
  logic [Ports-1:0]                 read_full, alone_q;
  logic [Ports-1:0]                 freed_valid, freed_pop, freed_push, freed_full, freed_alone;
  logic [Ports-1:0][CellWidth-1:0]  freed_cell;
  logic [Ports-1:0][ChainWidth-1:0] freed_cells;

  // Ports whose frame is read while it is written.
  always_comb begin
    cut_source = '0;
    for (int unsigned p = 0; p < Ports; p++) if (cut_q[p]) cut_source[source_q[p]] = 1'b1;
  end

  assign data_read_address = {read_cell_q[slot_q], read_offset_q[slot_q]};
  assign next_read_address = read_cell_q[slot_q];

  for (genvar p = 0; p < Ports; p++) begin : g_reader
    logic turn, last_fetch, ends;
    assign turn = reading_q[p] && slot_hot_q[p] && (!cut_q[p] || there_q[p])
                  && (Ports >= 4 || follow_q[p] == '0);
    assign fetch[p] = turn && !link_q[p] && room_q[p] != '0;
    assign follow[p] = turn && link_q[p];
    assign last_fetch = fetch[p] && !cut_q[p] && final_q[p];
    assign ends = cut_q[p] && ends_q[source_q[p]];
    assign freed_push[p] = last_q[p][0];
    assign fetched[p] = fetch_q[p][ReadSteps-1];

    always_ff @(posedge clk_i) begin
      fetch_q[p]      <= {fetch_q[p][ReadSteps-2:0], fetch[p]};
      follow_q[p]     <= {follow_q[p][NextSteps-2:0], follow[p]};
      last_q[p]       <= {last_q[p][ReadSteps-2:0], last_fetch};
      next_fetch_q[p] <= {next_fetch_q[p][NextSteps-2:0], fetch[p] && read_offset_q[p] == 3'd0};
      there_q[p]      <= words_q[source_q[p]] != words_read_q[p];
      if (next_fetch_q[p][NextSteps-1]) read_next_q[p] <= next_read_q;
      room_q[p] <= room_q[p] - 3'(fetch[p]) + 3'(read_pop_i[p]);
      // Between two words of a reader there are two cycles: its count is known.
      final_q[p] <= words_read_q[p] + 1'b1 == (ends ? end_words_q : words_all_q[p]);
      if (read_start_i[p]) begin
        final_q[p]       <= read_octets_i[p] <= LengthWidth'(8);
        reading_q[p]     <= 1'b1;
        cut_q[p]         <= read_cut_i[p];
        alone_q[p]       <= read_cut_i[p];
        source_q[p]      <= read_source_i[p];
        there_q[p]       <= 1'b0;
        link_q[p]        <= 1'b0;
        bad_q[p]         <= 1'b0;
        tail_q[p]        <= 3'(read_octets_i[p] - 1'b1);
        read_head_q[p]   <= read_cell_i[p];
        read_cell_q[p]   <= read_cell_i[p];
        read_offset_q[p] <= '0;
        words_read_q[p]  <= '0;
        words_all_q[p]   <= WordsWidth'((read_octets_i[p] + LengthWidth'(7)) >> 3);
        read_cells_q[p]  <= ChainWidth'((read_octets_i[p] + LengthWidth'(63)) >> 6);
      end else begin
        if (fetch[p]) begin
          read_offset_q[p] <= read_offset_q[p] + 3'd1;
          words_read_q[p]  <= words_read_q[p] + 1'b1;
          if (read_offset_q[p] == 3'd0) link_known_q[p] <= !cut_q[p];
          if (read_offset_q[p] == 3'd7) begin
            if (link_known_q[p]) read_cell_q[p] <= read_next_q[p];
            else link_q[p] <= 1'b1;
          end
          if (last_fetch) reading_q[p] <= 1'b0;
        end
        if (follow[p]) link_q[p] <= 1'b0;
        if (follow_q[p][NextSteps-1]) read_cell_q[p] <= next_read_q;
        // The end of the frame: from here on it is read like any other.
        if (ends) begin
          cut_q[p]        <= 1'b0;
          bad_q[p]        <= end_bad_q;
          tail_q[p]       <= end_tail_q;
          words_all_q[p]  <= end_words_q;
          read_cells_q[p] <= ChainWidth'((end_words_q + WordsWidth'(7)) >> 3);
        end
      end
      if (!rst_ni) begin
        reading_q[p]    <= 1'b0;
        cut_q[p]        <= 1'b0;
        link_q[p]       <= 1'b0;
        follow_q[p]     <= '0;
        fetch_q[p]      <= '0;
        last_q[p]       <= '0;
        next_fetch_q[p] <= '0;
        room_q[p]       <= 3'd4;
      end
    end
    sync_fifo #(.Width(69), .Depth(4)) u_words (
      .clk_i, .rst_ni,
      .push_i(fetched[p]), .data_i({last_q[p][ReadSteps-1], tail_q[p], bad_q[p], high_out_q, low_out_q}), .full_o(read_full[p]),
      .valid_o(read_valid_o[p]), .data_o({read_last_o[p], read_tail_o[p], read_bad_o[p], read_data_o[p]}),
      .pop_i(read_pop_i[p])
    );
    sync_fifo #(.Width(1 + CellWidth + ChainWidth), .Depth(16)) u_freed (
      .clk_i, .rst_ni,
      .push_i(freed_push[p]), .data_i({alone_q[p], read_head_q[p], read_cells_q[p]}), .full_o(freed_full[p]),
      .valid_o(freed_valid[p]), .data_o({freed_alone[p], freed_cell[p], freed_cells[p]}), .pop_i(freed_pop[p])
    );
  end

  // --- Release: one reader less; after the last one cell in three cycles goes back.

  typedef enum logic [2:0] {StIdle, StRead, StWait, StCount, StWalk, StNext, StStep} release_e;

  release_e              release_q;
  logic [SlotWidth-1:0]  turn_q;
  logic [CellWidth-1:0]  walk_q, next_copy_mem_q, next_copy_q;
  logic [ChainWidth-1:0] walk_left_q;
  logic [CountWidth-1:0] readers_mem_q, readers_read_q;
  logic                  orphan_valid, orphan_pop;
  logic [CellWidth-1:0]  orphan_cell;
  logic [ChainWidth-1:0] orphan_cells;
  logic                  readers_write, claim_write, count_down;

  // Frames that nobody reads: there is room for as many as there are cells, for they wait behind what was read.
  (* no_rw_check *) logic [CellWidth+ChainWidth-1:0] orphan_mem [Cells];
  logic [CellWidth:0] orphan_write_q, orphan_read_q;
  logic               orphan_push, orphan_fetch;

  assign orphan_push = claim_write && claim_readers_i == '0;
  assign orphan_fetch = orphan_write_q != orphan_read_q && (!orphan_valid || orphan_pop);

  always_ff @(posedge clk_i) begin
    if (orphan_push) orphan_mem[orphan_write_q[CellWidth-1:0]] <= {claim_cell_i, claim_cells_i};
    if (orphan_fetch) {orphan_cell, orphan_cells} <= orphan_mem[orphan_read_q[CellWidth-1:0]];
  end

  always_ff @(posedge clk_i) begin
    if (orphan_push) orphan_write_q <= orphan_write_q + 1'b1;
    if (orphan_fetch) orphan_read_q <= orphan_read_q + 1'b1;
    orphan_valid <= orphan_fetch || (orphan_valid && !orphan_pop);
    if (!rst_ni) begin
      orphan_write_q <= '0;
      orphan_read_q  <= '0;
      orphan_valid   <= 1'b0;
    end
  end

  // What waits is known a cycle later, and not in the cycle after one of it was taken.
  logic             orphan_waits_q;
  logic [Ports-1:0] freed_waits_q;

  always_ff @(posedge clk_i) begin
    orphan_waits_q <= orphan_valid && !orphan_pop;
    freed_waits_q  <= freed_valid & ~freed_pop;
    if (!rst_ni) begin
      orphan_waits_q <= 1'b0;
      freed_waits_q  <= '0;
    end
  end

  // Readers are first, each in its turn.
  assign orphan_pop = release_q == StIdle && orphan_waits_q && !freed_waits_q[turn_q];
  always_comb begin
    freed_pop = '0;
    freed_pop[turn_q] = release_q == StIdle && freed_waits_q[turn_q];
  end

  // A claim writes first; the count of another frame waits for it. A frame without a cell has no count.
  assign claim_write = claim_valid_i && claim_cells_i != '0;
  assign count_down = release_q == StCount && !claim_write;
  assign readers_write = claim_write || count_down;
  assign release_push = release_q == StWalk;
  assign release_cell = walk_q;

  always_ff @(posedge clk_i) begin
    if (readers_write) begin
      readers_mem[claim_write ? claim_cell_i : walk_q] <=
          claim_write ? claim_readers_i : readers_read_q - 1'b1;
    end
    readers_mem_q <= readers_mem[walk_q];
    readers_read_q <= readers_mem_q;
    next_copy_mem_q <= next_copy_mem[walk_q];
    next_copy_q <= next_copy_mem_q;
  end

  always_ff @(posedge clk_i) begin
    unique case (release_q)
      StIdle: begin
        turn_q <= turn_q + 1'b1;
        if (orphan_pop) begin
          walk_q      <= orphan_cell;
          walk_left_q <= orphan_cells;
          release_q   <= StWalk;
        end else if (freed_pop[turn_q]) begin
          walk_q      <= freed_cell[turn_q];
          walk_left_q <= freed_cells[turn_q];
          // A frame that was cut through has one reader, and no count.
          release_q   <= freed_alone[turn_q] ? StWalk : StRead;
        end
      end
      StRead: release_q <= StWait;
      StWait: release_q <= StCount;
      StCount: if (count_down) release_q <= readers_read_q == CountWidth'(1) ? StWalk : StIdle;
      StWalk: begin
        walk_left_q <= walk_left_q - 1'b1;
        release_q   <= walk_left_q == ChainWidth'(1) ? StIdle : StNext;
      end
      StNext: release_q <= StStep;
      default: begin
        walk_q    <= next_copy_q;
        release_q <= StWalk;
      end
    endcase
    if (!rst_ni) begin
      release_q <= StIdle;
      turn_q    <= '0;
    end
  end

`ifndef SYNTHESIS
  NoWordIsLost: assert property (@(posedge clk_i) disable iff (!rst_ni)
      (write_valid_i & word_full) == '0);
  NoReadOverflows: assert property (@(posedge clk_i) disable iff (!rst_ni)
      (fetched & read_full) == '0);
  NoReleaseIsLost: assert property (@(posedge clk_i) disable iff (!rst_ni)
      (freed_push & freed_full) == '0 && !(orphan_push && (CellWidth + 1)'(orphan_write_q - orphan_read_q) == (CellWidth + 1)'(Cells)));
  OneStartAtATime: assert property (@(posedge clk_i) disable iff (!rst_ni)
      (read_start_i & reading_q) == '0);
  CutThroughFindsCells: assert property (@(posedge clk_i) disable iff (!rst_ni)
      here_lost_q && here_valid_q |-> !cut_source[here_q]);
  ReadersAreCounted: assert property (@(posedge clk_i) disable iff (!rst_ni)
      count_down |-> readers_read_q != '0);

  // Every cell is free, or held by one frame.
  logic [Cells-1:0] held_q;
  always_ff @(posedge clk_i) begin
    if (free_pop) held_q[free_head_q] <= 1'b1;
    if (release_push) held_q[release_cell] <= 1'b0;
    if (!rst_ni) held_q <= '0;
  end
  NoCellIsGivenTwice: assert property (@(posedge clk_i) disable iff (!rst_ni)
      free_pop |-> !held_q[free_head_q]);
  NoCellIsFreedTwice: assert property (@(posedge clk_i) disable iff (!rst_ni)
      release_push |-> held_q[release_cell]);
  FreeListHoldsNoMore: assert property (@(posedge clk_i) disable iff (!rst_ni)
      free_o <= (CellWidth + 1)'(Cells));
`endif

endmodule
