"""What a person can do at the counter: coroutines over a `Desk`. No Qt, no prose; errors carry codes."""
