"""The admin API of a catalogue: sources, mappings of comics, jobs and their logs."""
