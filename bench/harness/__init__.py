"""Runs measuring programs side by side and reports what they took."""
