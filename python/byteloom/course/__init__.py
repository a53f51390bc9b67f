"""The courses' own names on byteloom's engine."""
