async_fifo.sv
rgmii_pins.sv
rgmii_port.sv
