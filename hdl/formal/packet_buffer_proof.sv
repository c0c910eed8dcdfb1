// The cells of `packet_buffer`, by induction: every cell is at every time in exactly one place, the free list, the head
// that is read in advance, a port's hand, or the chain of one frame; a chain is walked once, from its first cell to its
// last, after the last of its readers. So none is lost and none is given twice, whatever ports write, claim and read.
//
// The proof keeps the chains beside the module, frame by frame under their first cells, and what is still to come of
// every frame: its claim, reads that have not begun, reads under way, ends of reads that wait, its walk.
//
// Assumed of the callers: words of a port are frames, from a first word to a last one, of no more than three cells; a frame that
// stands there is claimed once, with its own cells; it is read as often as was claimed, with its own length; a
// frame that still comes in is begun by one reader, finds its cells, and is not claimed. Of the FIFOs inside, whose order is proved in
// `sync_fifo_proof.sv`: what comes out is something that went in and has not come out.

module packet_buffer_proof #(
  parameter int unsigned Ports = 4,
  parameter int unsigned Cells = 4,
  parameter int unsigned LengthWidth = 8,
  // Dependent, not to be overridden.
  parameter int unsigned PortWidth = $clog2(Ports),
  parameter int unsigned CellWidth = $clog2(Cells),
  parameter int unsigned CountWidth = $clog2(Ports + 1),
  parameter int unsigned ChainWidth = LengthWidth - 5
) (
  input logic                              clk_i,
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

  // Cells of the longest frame; places of a chain and cells are counted in three bits.
  localparam int unsigned ChainMax = 3;

  logic                              started_q = 1'b0;
  logic                              ready;
  logic [CellWidth:0]                free;
  logic [Ports-1:0]                  done_valid, done_whole, done_claim, read_valid, read_last, read_bad;
  logic [Ports-1:0][2:0]             read_tail;
  logic [Ports-1:0][CellWidth-1:0]   done_cell;
  logic [Ports-1:0][ChainWidth-1:0]  done_cells;
  logic [Ports-1:0][63:0]            read_data;

  always_ff @(posedge clk_i) started_q <= 1'b1;

  packet_buffer #(.Ports(Ports), .Cells(Cells), .LengthWidth(LengthWidth)) dut (
    .clk_i, .rst_ni(started_q), .ready_o(ready), .free_o(free),
    // What comes out of the FIFO of words is any (`cut` in `prove.py`).
    .write_valid_i('0), .write_data_i('0), .write_first_i('0), .write_last_i('0), .write_tail_i('0), .write_bad_i('0),
    .done_valid_o(done_valid), .done_whole_o(done_whole), .done_claim_o(done_claim),
    .done_cell_o(done_cell),
    .done_cells_o(done_cells),
    .claim_valid_i, .claim_cell_i, .claim_readers_i, .claim_cells_i,
    .read_start_i, .read_cell_i, .read_octets_i, .read_cut_i, .read_source_i,
    .read_valid_o(read_valid), .read_data_o(read_data), .read_last_o(read_last),
    .read_tail_o(read_tail), .read_bad_o(read_bad), .read_pop_i
  );

  // --- Beside the module: where every cell is, and what every frame is at. A frame has the number of its first cell.

  typedef enum logic [1:0] {Free, Spare, InFrame, Walked} place_e;
  typedef enum logic [2:0] {None, Writing, Done, Claimed, Orphan, CutRead, Kept} phase_e;

  place_e [Cells-1:0]                          place_q;
  // The port of a spare cell; the frame of one in a chain, and its place there.
  logic [Cells-1:0][CellWidth-1:0]             owner_q;
  logic [Cells-1:0][2:0]                       position_q;

  phase_e [Cells-1:0]                          phase_q;
  logic [Cells-1:0][2:0]                       length_q;
  logic [Cells-1:0][ChainMax-1:0][CellWidth-1:0] chain_q;
  logic [Cells-1:0][PortWidth-1:0]             writer_q;
  // It is read while it is written.
  logic [Cells-1:0]                            cut_q;
  // Reads that have not begun; ends of reads that wait for the release, by port.
  logic [Cells-1:0][2:0]                       unbegun_q;
  logic [Ports-1:0][Cells-1:0][2:0]            ended_q;
  logic [Ports-1:0][Cells-1:0]                 ended_cut_q;
  // A port is between the first and the last word of a frame.
  logic [Ports-1:0]                            inside_q;
  // The chain that is walked, and where.
  logic [ChainMax-1:0][CellWidth-1:0]          walk_chain_q;
  logic [2:0]                                  walk_length_q, walk_place_q;

  // --- What happens in this cycle.

  logic                 gains, ends, ended_there, walks, claims, stays;
  logic [PortWidth-1:0] port;
  logic [CellWidth-1:0] gained, grown, ended, walked;
  logic [2:0]           grown_place;
  logic [Cells-1:0]     begun_cut;
  logic [Cells-1:0][2:0] begun;

  assign port = dut.here_q;
  assign gains = dut.here_write && dut.here_new_q;
  assign gained = dut.here_cell_q;
  assign grown = dut.here_first_q ? gained : dut.head_q[port];
  assign grown_place = dut.here_first_q ? 3'd0 : 3'(dut.cells_q[port]);
  // A frame ends, and has cells.
  assign ends = dut.here_valid_q && dut.here_last_q;
  assign ended = gains ? grown : dut.head_q[port];
  assign ended_there = ends && (gains || (!dut.here_first_q && dut.cells_q[port] != '0));
  assign claims = claim_valid_i && claim_cells_i != '0;
  // A bad frame that is short, and not read, leaves its cell to its port.
  assign stays = dut.here_bad_q && !dut.here_lost_q && (dut.here_first_q || dut.short_q[port]);

  // A frame's walk begins: nobody wanted it, its only reader has read it, or the last of several has.
  always_comb begin
    walks = 1'b0;
    walked = '0;
    if (dut.orphan_pop) begin
      walks = 1'b1;
      walked = dut.orphan_cell;
    end
    for (int unsigned p = 0; p < Ports; p++) begin
      if (dut.freed_pop[p] && dut.freed_alone[p]) begin
        walks = 1'b1;
        walked = dut.freed_cell[p];
      end
    end
    if (dut.count_down && dut.readers_read_q == CountWidth'(1)) begin
      walks = 1'b1;
      walked = dut.walk_q;
    end
    begun = '0;
    begun_cut = '0;
    for (int unsigned p = 0; p < Ports; p++) begin
      if (read_start_i[p] && read_cut_i[p]) begun_cut[read_cell_i[p]] = 1'b1;
      if (read_start_i[p] && !read_cut_i[p]) begun[read_cell_i[p]] = begun[read_cell_i[p]] + 3'd1;
    end
  end

  // A frame has ended a cycle ago and has left cells.
  logic left_q;

  always_ff @(posedge clk_i) begin
    left_q <= ended_there && !stays;
    for (int unsigned p = 0; p < Ports; p++) begin
      if (dut.takes_cell[p]) begin
        place_q[dut.free_head_q] <= Spare;
        owner_q[dut.free_head_q] <= CellWidth'(p);
      end
      if (dut.here[p]) inside_q[p] <= !dut.here_last_q;
      for (int unsigned c = 0; c < Cells; c++) begin
        ended_q[p][c] <= ended_q[p][c]
            + 3'(dut.freed_push[p] && !dut.alone_q[p] && dut.read_head_q[p] == CellWidth'(c))
            - 3'(dut.freed_pop[p] && !dut.freed_alone[p] && dut.freed_cell[p] == CellWidth'(c));
        ended_cut_q[p][c] <= (ended_cut_q[p][c]
            || (dut.freed_push[p] && dut.alone_q[p] && dut.read_head_q[p] == CellWidth'(c)))
            && !(dut.freed_pop[p] && dut.freed_alone[p] && dut.freed_cell[p] == CellWidth'(c));
      end
    end
    for (int unsigned c = 0; c < Cells; c++) begin
      unbegun_q[c] <= unbegun_q[c] - begun[c];
      if (begun_cut[c]) cut_q[c] <= 1'b1;
    end
    if (gains) begin
      place_q[gained]             <= InFrame;
      owner_q[gained]             <= grown;
      position_q[gained]          <= grown_place;
      chain_q[grown][grown_place[1:0]] <= gained;
      length_q[grown]             <= grown_place + 3'd1;
      if (dut.here_first_q) begin
        phase_q[grown]  <= Writing;
        writer_q[grown] <= port;
        cut_q[grown]    <= 1'b0;
      end
    end
    if (ended_there) begin
      phase_q[ended] <= (cut_q[ended] && !dut.here_first_q) || begun_cut[ended] ? CutRead : stays ? Kept : Done;
    end
    // A cycle later its only cell is in its port's hand.
    for (int unsigned p = 0; p < Ports; p++) begin
      if (dut.keeps_cell[p]) begin
        place_q[dut.current_q[p]] <= Spare;
        owner_q[dut.current_q[p]] <= CellWidth'(p);
        phase_q[dut.current_q[p]] <= None;
      end
    end
    if (claims) begin
      phase_q[claim_cell_i]   <= claim_readers_i == '0 ? Orphan : Claimed;
      unbegun_q[claim_cell_i] <= 3'(claim_readers_i);
    end
    if (dut.release_q == 3'd6) walk_place_q <= walk_place_q + 3'd1;
    if (dut.release_push) place_q[dut.walk_q] <= Free;
    if (walks) begin
      phase_q[walked] <= None;
      walk_chain_q    <= chain_q[walked];
      walk_length_q   <= length_q[walked];
      walk_place_q    <= '0;
      for (int unsigned c = 0; c < Cells; c++) begin
        if (place_q[c] == InFrame && owner_q[c] == walked) place_q[c] <= Walked;
      end
    end
    if (!started_q) begin
      {place_q, phase_q, cut_q, unbegun_q, ended_q, ended_cut_q, inside_q} <= '0;
    end
  end

  // --- The free list, as it is: a cell is in it, or its head, or was taken from it.

  logic                 misplaced;
  logic [CellWidth:0]   listed, held;
  logic [CellWidth+1:0] places;

  assign listed = dut.free_write_q - dut.free_read_q;

  always_comb begin
    misplaced = listed > (CellWidth + 1)'(Cells);
    held = '0;
    for (int unsigned c = 0; c < Cells; c++) begin
      held = held + (CellWidth + 1)'(place_q[c] != Free);
      places = (CellWidth + 2)'(place_q[c] != Free)
               + (CellWidth + 2)'(dut.free_head_valid_q && dut.free_head_q == CellWidth'(c));
      for (int unsigned n = 0; n < Cells; n++) begin
        places = places + (CellWidth + 2)'((CellWidth + 1)'(n) < listed
            && dut.free_mem[dut.free_read_q[CellWidth-1:0] + CellWidth'(n)] == CellWidth'(c));
      end
      misplaced |= places != (CellWidth + 2)'((CellWidth + 1)'(c) < dut.initial_q);
    end
  end

  // --- What must hold of it all.

  logic counting, walking;
  // The first place of the walk whose cell has not gone back.
  logic [2:0] walk_left_from;

  assign counting = dut.release_q inside {3'd1, 3'd2, 3'd3};
  assign walking = dut.release_q inside {3'd4, 3'd5, 3'd6};
  assign walk_left_from = walk_place_q + 3'(dut.release_q != 3'd4);

  logic spares_wrong, chains_wrong, cells_wrong, links_wrong, walk_wrong, writers_wrong, here_wrong, reads_wrong, counts_wrong;
  logic cuts_wrong, ends_wrong;
  logic shorts_wrong, claims_wrong;
  logic promise_words, promise_claims, promise_reads, promise_cuts, promise_fifos;
  // What is to come of a frame: so many reads that every port may have under way, in its FIFO, or not begun are counted without a wrap.
  localparam int unsigned SumWidth = 4 + $clog2(Ports);
  logic [SumWidth-1:0] outstanding, alone;
  logic [CellWidth:0]  orphans;
  logic [Ports-1:0][5:0] waiting;
  logic [CellWidth-1:0] head, next;

  always_comb begin
    // A port's hand.
    spares_wrong = 1'b0;
    for (int unsigned p = 0; p < Ports; p++) begin
      spares_wrong |= dut.spare_valid_q[p]
          && !(place_q[dut.spare_q[p]] == Spare && owner_q[dut.spare_q[p]] == CellWidth'(p));
    end
    for (int unsigned c = 0; c < Cells; c++) begin
      spares_wrong |= place_q[c] == Spare && !(32'(owner_q[c]) < Ports
          && dut.spare_valid_q[owner_q[c][PortWidth-1:0]] && dut.spare_q[owner_q[c][PortWidth-1:0]] == CellWidth'(c));
    end

    // Chains: every place of one has a cell that knows of it, and every cell of one is in its place.
    {chains_wrong, cells_wrong, links_wrong} = '0;
    next = '0;
    for (int unsigned h = 0; h < Cells; h++) begin
      if (phase_q[h] != None) begin
        chains_wrong |= length_q[h] == '0 || length_q[h] > 3'(ChainMax) || chain_q[h][0] != CellWidth'(h);
        for (int unsigned n = 0; n < ChainMax; n++) begin
          next = chain_q[h][n];
          if (3'(n) < length_q[h]) begin
            chains_wrong |= !(place_q[next] == InFrame && owner_q[next] == CellWidth'(h) && position_q[next] == 3'(n));
          end
          if (n + 1 < ChainMax && 3'(n + 1) < length_q[h]) links_wrong |= dut.next_copy_mem[next] != chain_q[h][n+1];
        end
      end
    end
    for (int unsigned c = 0; c < Cells; c++) begin
      if (place_q[c] == InFrame) begin
        cells_wrong |= phase_q[owner_q[c]] == None || position_q[c] >= length_q[owner_q[c]]
                       || chain_q[owner_q[c]][position_q[c][1:0]] != CellWidth'(c);
      end
      if (place_q[c] == Walked) begin
        cells_wrong |= !walking || position_q[c] < walk_left_from || position_q[c] >= walk_length_q
                       || walk_chain_q[position_q[c][1:0]] != CellWidth'(c);
      end
    end

    // The walk: at its place, with what is left, and with the cell behind it once that was read.
    walk_wrong = 1'b0;
    if (walking) begin
      walk_wrong |= walk_length_q == '0 || walk_length_q > 3'(ChainMax) || walk_place_q >= walk_length_q;
      walk_wrong |= dut.walk_q != walk_chain_q[walk_place_q[1:0]];
      walk_wrong |= 3'(dut.walk_left_q) != walk_length_q - walk_left_from;
      walk_wrong |= dut.release_q != 3'd4 && walk_left_from >= walk_length_q;
      walk_wrong |= dut.release_q == 3'd5 && dut.next_copy_mem_q != walk_chain_q[walk_left_from[1:0]];
      walk_wrong |= dut.release_q == 3'd6 && dut.next_copy_q != walk_chain_q[walk_left_from[1:0]];
      for (int unsigned n = 0; n < ChainMax; n++) begin
        if (3'(n) >= walk_left_from && 3'(n) < walk_length_q) begin
          walk_wrong |= place_q[walk_chain_q[n]] != Walked || position_q[walk_chain_q[n]] != 3'(n);
          if (n + 1 < ChainMax && 3'(n + 1) < walk_length_q) begin
            walk_wrong |= dut.next_copy_mem[walk_chain_q[n]] != walk_chain_q[n+1];
          end
        end
      end
    end
    if (counting) begin
      walk_wrong |= phase_q[dut.walk_q] != Claimed || 3'(dut.walk_left_q) != length_q[dut.walk_q];
      walk_wrong |= dut.release_q == 3'd2 && dut.readers_mem_q != dut.readers_mem[dut.walk_q];
      walk_wrong |= dut.release_q == 3'd3 && (dut.readers_mem_q != dut.readers_mem[dut.walk_q]
                                              || dut.readers_read_q != dut.readers_mem[dut.walk_q]);
    end
    walk_wrong |= dut.release_q == 3'd7;

    // Writers: the frame that a port writes is the one that its registers say.
    writers_wrong = 1'b0;
    shorts_wrong = 1'b0;
    claims_wrong = 1'b0;
    for (int unsigned p = 0; p < Ports; p++) begin
      head = dut.head_q[p];
      if (inside_q[p]) begin
        if (!dut.lost_q[p] || dut.cells_q[p] != '0) begin
          writers_wrong |= !(phase_q[head] == Writing && writer_q[head] == PortWidth'(p)
                             && length_q[head] == 3'(dut.cells_q[p]));
        end
        if (!dut.lost_q[p]) begin
          writers_wrong |= dut.cells_q[p] == '0 || dut.current_q[p] != chain_q[head][2'(dut.cells_q[p] - 1'b1)];
          writers_wrong |= dut.words_q[p] == '0 || dut.offset_q[p] != dut.words_q[p][2:0];
          writers_wrong |= 6'(dut.cells_q[p]) != 6'((7'(dut.words_q[p]) + 7'd7) >> 3);
        end
        writers_wrong |= dut.words_q[p] > 6'(8 * ChainMax);
      end
      // While a cell may come back, it is the frame's only one, and the port has no other.
      shorts_wrong |= dut.short_q[p] && !((inside_q[p] ? dut.words_q[p] < 6'd7 : dut.ends_q[p] && dut.words_q[p] <= 6'd7)
          && !dut.lost_q[p] && !dut.spare_valid_q[p]);
      head = dut.head_q[p];
      // What is known of an end, for a cycle.
      if (dut.ends_q[p]) begin
        shorts_wrong |= dut.here_valid_q && dut.here_q == PortWidth'(p);
        shorts_wrong |= dut.done_short_q[p] != dut.short_q[p];
        shorts_wrong |= dut.done_short_q[p] && !(dut.current_q[p] == head && length_q[head] == 3'd1
            && phase_q[head] == (dut.cut_source[p] ? CutRead : dut.end_bad_q ? Kept : Done));
        shorts_wrong |= dut.cut_source[p] && !cut_q[head];
        // Those that are to claim its cells are told so, and nobody else.
        claims_wrong |= done_claim[p] != left_q || (left_q && phase_q[head] != (dut.cut_source[p] ? CutRead : Done));
      end
    end
    for (int unsigned h = 0; h < Cells; h++) begin
      if (phase_q[h] == Writing) begin
        writers_wrong |= !(inside_q[writer_q[h]] && dut.head_q[writer_q[h]] == CellWidth'(h)
                           && dut.cells_q[writer_q[h]] != '0);
      end
    end

    // The word that was taken a cycle before.
    here_wrong = dut.next_write != (dut.here_write && dut.here_new_q && !dut.here_first_q);
    if (dut.here_valid_q) begin
      here_wrong |= dut.slot_q != PortWidth'(dut.here_q + 1'b1);
      here_wrong |= dut.here_first_q == inside_q[port];
      here_wrong |= dut.here_new_q != (dut.here_first_q || dut.offset_q[port] == '0);
      here_wrong |= dut.here_words_q != (dut.here_first_q ? 6'd1 : dut.words_q[port] + 6'd1);
      here_wrong |= dut.here_offset_q != (dut.here_first_q ? 3'd0 : dut.offset_q[port]);
      here_wrong |= dut.here_before_q != dut.current_q[port];
      here_wrong |= !dut.here_first_q && dut.words_q[port] >= 6'(8 * ChainMax);
      if (!dut.here_lost_q) begin
        here_wrong |= dut.lost_q[port] && !dut.here_first_q;
        here_wrong |= dut.here_new_q && !(dut.spare_valid_q[port] && dut.here_cell_q == dut.spare_q[port]);
        here_wrong |= !dut.here_new_q && dut.here_cell_q != dut.current_q[port];
      end
    end

    // Readers: of what was claimed, or of what is written or was, alone.
    {reads_wrong, cuts_wrong, ends_wrong} = '0;
    for (int unsigned p = 0; p < Ports; p++) begin
      head = dut.read_head_q[p];
      if ((dut.reading_q[p] || dut.freed_push[p]) && !dut.alone_q[p]) begin
        reads_wrong |= phase_q[head] != Claimed || 3'(dut.read_cells_q[p]) != length_q[head] || dut.cut_q[p];
      end
      if (dut.reading_q[p] && dut.alone_q[p]) begin
        cuts_wrong |= !cut_q[head];
        cuts_wrong |= !(phase_q[head] inside {Writing, CutRead});
        if (phase_q[head] == Writing) begin
          cuts_wrong |= !dut.cut_q[p] || dut.source_q[p] != writer_q[head] || dut.lost_q[writer_q[head]];
        end else if (dut.cut_q[p]) begin
          cuts_wrong |= !dut.ends_q[dut.source_q[p]] || 6'(length_q[head]) != 6'((7'(dut.end_words_q) + 7'd7) >> 3);
        end else begin
          cuts_wrong |= 3'(dut.read_cells_q[p]) != length_q[head];
        end
      end
      if (dut.freed_push[p] && dut.alone_q[p]) begin
        cuts_wrong |= phase_q[head] != CutRead || 3'(dut.read_cells_q[p]) != length_q[head];
      end
      reads_wrong |= dut.freed_push[p] && dut.reading_q[p];
      reads_wrong |= dut.cut_q[p] && !(dut.reading_q[p] && dut.alone_q[p]);
      ends_wrong |= dut.ends_q[p] && inside_q[p];
    end
    ends_wrong |= (dut.ends_q & (dut.ends_q - 1'b1)) != '0;

    // Every frame has as much to come as its count says.
    counts_wrong = 1'b0;
    orphans = '0;
    for (int unsigned h = 0; h < Cells; h++) begin
      outstanding = SumWidth'(unbegun_q[h]) + SumWidth'(counting && dut.walk_q == CellWidth'(h));
      alone = '0;
      for (int unsigned p = 0; p < Ports; p++) begin
        if (dut.read_head_q[p] == CellWidth'(h)) begin
          if (!dut.alone_q[p]) outstanding = outstanding + SumWidth'(dut.reading_q[p]) + SumWidth'(dut.freed_push[p]);
          else alone = alone + SumWidth'(dut.reading_q[p]) + SumWidth'(dut.freed_push[p]);
        end
        outstanding = outstanding + SumWidth'(ended_q[p][h]);
        alone = alone + SumWidth'(ended_cut_q[p][h]);
        counts_wrong |= ended_q[p][h] > 3'(Ports) || unbegun_q[h] > 3'(Ports);
        counts_wrong |= ended_cut_q[p][h] && phase_q[h] != CutRead;
      end
      if (phase_q[h] == Claimed) counts_wrong |= outstanding == '0 || outstanding > SumWidth'(Ports)
                                               || outstanding != SumWidth'(dut.readers_mem[h]);
      else counts_wrong |= outstanding != '0;
      counts_wrong |= alone != SumWidth'(phase_q[h] == CutRead || (phase_q[h] == Writing && cut_q[h]));
      orphans = orphans + (CellWidth + 1)'(phase_q[h] == Orphan);
    end
    counts_wrong |= orphans != (CellWidth + 1)'(dut.orphan_write_q - dut.orphan_read_q) + (CellWidth + 1)'(dut.orphan_valid);
    counts_wrong |= (dut.orphan_waits_q && !dut.orphan_valid);
    for (int unsigned p = 0; p < Ports; p++) begin
      waiting[p] = '0;
      for (int unsigned h = 0; h < Cells; h++) waiting[p] = waiting[p] + 6'(ended_q[p][h]) + 6'(ended_cut_q[p][h]);
      counts_wrong |= dut.freed_waits_q[p] && waiting[p] == '0;
    end
  end

  // The FIFOs of ends hold as many as are told.
  logic [Ports-1:0] fifo_wrong;
  for (genvar p = 0; p < Ports; p++) begin : g_fifo
    assign fifo_wrong[p] = 6'(dut.g_reader[p].u_freed.count_q) != waiting[p]
                           || dut.g_reader[p].u_freed.valid_q != (waiting[p] != '0);
  end

  // --- What callers promise.

  always_comb begin
    promise_words = 1'b1;
    for (int unsigned p = 0; p < Ports; p++) begin
      if (dut.word_valid[p] && dut.slot_hot_q[p]) begin
        promise_words &= dut.word_first[p] == !inside_q[p];
        promise_words &= dut.word_first[p] || dut.words_q[p] < 6'(8 * ChainMax);
      end
    end
    promise_claims = !claims || (phase_q[claim_cell_i] == Done && 3'(claim_cells_i) == length_q[claim_cell_i]
                                 && claim_readers_i <= CountWidth'(Ports));
    {promise_reads, promise_cuts} = '1;
    for (int unsigned h = 0; h < Cells; h++) promise_reads &= begun[h] <= unbegun_q[h];
    for (int unsigned p = 0; p < Ports; p++) begin
      promise_reads &= !(read_start_i[p] && dut.reading_q[p]);
      if (read_start_i[p] && !read_cut_i[p]) begin
        promise_reads &= phase_q[read_cell_i[p]] == Claimed
                         && 3'((9'(read_octets_i[p]) + 9'd63) >> 6) == length_q[read_cell_i[p]];
      end
      if (read_start_i[p] && read_cut_i[p]) begin
        promise_cuts &= phase_q[read_cell_i[p]] == Writing && writer_q[read_cell_i[p]] == read_source_i[p];
        promise_cuts &= !cut_q[read_cell_i[p]] && !dut.lost_q[read_source_i[p]];
        promise_cuts &= !(dut.here[read_source_i[p]] && dut.here_lost_q);
        for (int unsigned o = 0; o < p; o++) begin
          promise_cuts &= !(read_start_i[o] && read_cut_i[o] && read_cell_i[o] == read_cell_i[p]);
        end
      end
      promise_cuts &= !(dut.cut_q[p] && !dut.ends_q[dut.source_q[p]] && dut.here[dut.source_q[p]] && dut.here_lost_q);
    end
    promise_fifos = !dut.orphan_valid
        || (phase_q[dut.orphan_cell] == Orphan && 3'(dut.orphan_cells) == length_q[dut.orphan_cell]);
    for (int unsigned p = 0; p < Ports; p++) begin
      if (dut.freed_valid[p]) begin
        promise_fifos &= 3'(dut.freed_cells[p]) == length_q[dut.freed_cell[p]];
        promise_fifos &= dut.freed_alone[p] ? ended_cut_q[p][dut.freed_cell[p]] : ended_q[p][dut.freed_cell[p]] != '0;
      end
    end
  end

  always_comb begin
    if (started_q) begin
      WordsAreFrames: assume (promise_words);
      FramesAreClaimedOnce: assume (promise_claims);
      ReadsAreThoseClaimed: assume (promise_reads);
      CutThroughIsByOneAndFindsCells: assume (promise_cuts);
      FifosGiveWhatTheyTook: assume (promise_fifos);

      TheListIsFilledOnce: assert (dut.initial_q <= (CellWidth + 1)'(Cells));
      NothingIsTakenBeforeTheStart: assert (dut.initialised || held == '0);
      EveryCellIsInOnePlace: assert (!misplaced);
      NoCellIsGivenTwice: assert (!dut.free_pop || place_q[dut.free_head_q] == Free);
      NoCellIsLost: assert (!dut.initialised || free + held == (CellWidth + 1)'(Cells));
      TheSlotIsOne: assert (dut.slot_hot_q == Ports'(1) << dut.slot_q);
      OneTakesAtATime: assert ((dut.takes_cell & (dut.takes_cell - 1'b1)) == '0);

      OnlyCellsOfTheWalkComeBack: assert (!dut.release_push || place_q[dut.walk_q] == Walked);
      APortHasItsCellInHand: assert (!spares_wrong);
      AChainIsOfItsCells: assert (!chains_wrong);
      ACellIsInItsChain: assert (!cells_wrong);
      LinksAreThoseOfTheChain: assert (!links_wrong);
      TheWalkFollowsTheChain: assert (!walk_wrong);
      AShortFrameMayLeaveItsCell: assert (!shorts_wrong);
      WhatHasCellsIsToBeClaimed: assert (!claims_wrong);
      APortWritesItsFrame: assert (!writers_wrong);
      AWordIsOfItsFrame: assert (!here_wrong);
      ReadersReadWhatIsClaimed: assert (!reads_wrong);
      CutThroughReadsAlone: assert (!cuts_wrong);
      EndsAreOfWholeFrames: assert (!ends_wrong);
      CountsAreOfReadsToCome: assert (!counts_wrong);
      EndsOfReadsAreKept: assert (fifo_wrong == '0);
      NoReleaseIsLost: assert ((dut.freed_push & dut.freed_full) == '0
          && !(dut.orphan_push && (CellWidth + 1)'(dut.orphan_write_q - dut.orphan_read_q) == (CellWidth + 1)'(Cells)));
      ReadersAreCounted: assert (!dut.count_down || dut.readers_read_q != '0);
    end
  end

endmodule
