"""What touches the machine, and knows nothing of logs: files, processes, threads, what is installed, commands to copy."""
