"""Games of many files in parts that lie in a folder: nobody ever holds all of them in memory."""
