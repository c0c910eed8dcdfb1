async_fifo.sv
rgmii_port.sv
