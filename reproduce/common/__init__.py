"""What several experiments share: data, protocols, statistics, pictures."""
