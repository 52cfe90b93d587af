"""The instances that claims are checked on: `papers` has theirs, `families` packproof's own, `drawn` random ones."""
