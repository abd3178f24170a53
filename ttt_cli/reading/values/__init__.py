"""What single cells say: dates, results, scores of matches."""
