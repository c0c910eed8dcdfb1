sync_fifo.sv
ats_engine.sv
packet_buffer.sv
egress_port.sv
exact_table.sv
gmii_rx.sv
gmii_tx.sv
tsn_switch.sv
