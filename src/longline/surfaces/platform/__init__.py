"""The paths of the platform itself: health, metrics, profiles and documentation."""
