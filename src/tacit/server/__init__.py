"""The curator as a service: a process that holds the data, for people who may ask and may not see them."""
