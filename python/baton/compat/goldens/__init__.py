"""Goldens that several tests share."""
