"""What every room of the library stands on; nothing here knows about learning."""
