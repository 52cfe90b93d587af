"""What a person or a program sees: one file a subject, with its answer, its text and its picture."""
