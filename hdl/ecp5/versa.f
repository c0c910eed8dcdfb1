IDDRX1F.sv
ODDRX1F.sv
DELAYF.sv
EHXPLLL.sv
rgmii_pins.sv
versa.sv
