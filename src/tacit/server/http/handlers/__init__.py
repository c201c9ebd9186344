"""What each route does: read the call, ask the service, and shape the answer."""
