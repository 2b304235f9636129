"""Devices at the table, played from the drivers' own encoders."""
