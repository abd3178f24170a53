"""How good systems are: evidence and tuning, forecasts compared, simulated histories whose truth is known."""
