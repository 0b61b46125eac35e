"""What people run: the command, the report, class lists, the board and the reproduction of the paper."""
