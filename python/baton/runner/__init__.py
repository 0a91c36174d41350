"""`baton test`: runs tests of kernels on the devices it is given, each test in a process of its own."""
