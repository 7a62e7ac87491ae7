"""Services, loops and chores of each subject, made from the parts of the platform."""
