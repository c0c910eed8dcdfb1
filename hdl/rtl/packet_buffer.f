sync_fifo.sv
packet_buffer.sv
