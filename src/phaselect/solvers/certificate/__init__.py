"""Is an answer the only one? fit, close look, enumeration, groups, general position; the rules are in `judge`."""
