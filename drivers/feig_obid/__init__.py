"""FEIG OBID i-scan readers; `framer` is where to begin."""
