/** The most tasks that one process may be asked to run at once. A larger number is taken for a typing error. */
export const MOST_TASKS_AT_ONCE = 100_000
