"""Rows in process: the reference engine, and tables that are in memory."""
