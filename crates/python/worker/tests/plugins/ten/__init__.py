"""Ten plugins as their authors write them, one for each way in which they differ."""
