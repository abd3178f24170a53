"""From files of game records to the columns of `table.Games`."""
