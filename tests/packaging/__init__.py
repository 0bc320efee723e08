"""Layout, wheels and what a clean clone holds."""
