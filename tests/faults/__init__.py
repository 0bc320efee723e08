"""What is killed, cut or corrupted on purpose."""
