"""What tests of plugins and of the platform itself are written with."""
