"""What is given: the instance, its matrix, and the schedule that drives a search."""
