"""What people see: tables made of the facts that `--json` gives to machines."""
