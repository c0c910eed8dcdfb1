# Clocks of `board_switch` and the paths between them, for Vivado (`read_xdc -unmanaged`); names are those of its hierarchy. `hdl/crossings.py` compares this
# file with the netlist: every signal that goes from one clock to another has a line here, and every line has a signal.
#
# Not here: pins and levels, which are a board's, and the timing at the pins of RGMII: the two-edge registers of `rgmii_pins.sv` are
# written for any technology, and keep no such timing; a board puts a module of its own cells there.

create_clock -name clk -period 8.000 [get_ports clk_i]
# Receive clocks of the PHYs: each is a clock of its own, 50 ppm from 125 MHz at most.
foreach port [get_ports {rgmii_rxc_i[*]}] { create_clock -name [get_property NAME $port] -period 8.000 $port }

# No set_clock_groups between them: it would switch these limits off.
# The write pointer in Gray code. Its bits must not come apart by more than a cycle.
set_max_delay -datapath_only 8.000 -from [get_cells -hierarchical -filter {NAME =~ *u_crossing/write_gray_q_reg*}] -to [get_cells -hierarchical -filter {NAME =~ *u_crossing/write_meta_q_reg*}]
# Words: they stand still from before the pointer tells of them until they were read.
set_max_delay -datapath_only 8.000 -from [get_cells -hierarchical -filter {NAME =~ *u_crossing/mem_reg*}] -to [get_clocks clk]
# The reset on the PHY's side: it acts at once, and ends by two registers of its clock.
set_false_path -from [get_cells -hierarchical -filter {NAME =~ *g_rgmii.reset_nq_reg*}] -to [get_cells -hierarchical -filter {NAME =~ *g_rgmii.first_q_reg*}]
set_false_path -from [get_cells -hierarchical -filter {NAME =~ *g_rgmii.reset_nq_reg*}] -to [get_cells -hierarchical -filter {NAME =~ *g_rgmii.released_q_reg*}]
