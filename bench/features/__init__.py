"""Feature selection: its cost, the features it finds, and its effect on accuracy."""
