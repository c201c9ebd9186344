"""The rules by which a holdout set may be asked, one file each."""
