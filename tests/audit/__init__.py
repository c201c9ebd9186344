"""Audits: exact ones against closed forms, estimates against true values, attacks against their controls."""
