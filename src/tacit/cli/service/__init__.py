"""The service on the command line: people, data sets, policies, approvals, jobs and upkeep."""
