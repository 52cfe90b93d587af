"""Event-driven simulators: loss systems here, queues and slotted queues beside them."""
