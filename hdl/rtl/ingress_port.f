sync_fifo.sv
gmii_rx.sv
ingress_port.sv
