"""Services: the operations of the platform. Surfaces and commands call services; services call ports."""
