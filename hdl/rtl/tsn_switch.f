switch_fabric.f
switch_registers.sv
tsn_switch.sv
