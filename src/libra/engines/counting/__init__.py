"""What a block of whole cases adds to each table: the same kernels for every engine, so that all of them count alike."""
