"""Times: what is released about them, and how every event of a control flow gets one."""
