"""SVG of the console: icons, bars and plots. Geometry goes into attributes, never into styles."""
