"""Engines: exact integers for closed plans, no noise, no epsilon."""
