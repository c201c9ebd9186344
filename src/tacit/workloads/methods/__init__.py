"""Every method that answers a workload, one file each, by family."""
