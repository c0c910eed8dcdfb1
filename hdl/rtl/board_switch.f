tsn_switch.f
rgmii_port.f
board_switch.sv
