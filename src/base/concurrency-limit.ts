/** The most tasks that one process may be asked to run at once. Whoever asks for more has mistyped. */
export const MOST_TASKS_AT_ONCE = 100_000
