"""The commands, one file each: its flags, its examples, what it prints. Heavy imports wait until a command runs."""
