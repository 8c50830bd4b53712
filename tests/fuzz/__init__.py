"""Files from strangers, made by the thousand: ``cd tests && python -m fuzz --help``."""
