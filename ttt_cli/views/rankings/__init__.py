"""Rankings of a period and of all time, number ones, dominance, and who is eligible for them."""
