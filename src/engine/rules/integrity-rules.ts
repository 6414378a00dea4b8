/**
 * States that no operation can produce, in SQL that all engines understand. Each query finds rows in such a state, with
 * a sentence for people as their `problem`.
 */
export const INTEGRITY_RULES: readonly string[] = [
  `SELECT 'Task ' || id || ' is ' || status || ' but has ' || CASE WHEN ended_at IS NULL THEN 'no' ELSE 'an' END
   || ' end.' AS problem FROM tasks
   WHERE (ended_at IS NOT NULL) <> (status IN ('completed', 'failed', 'cancelled', 'timed_out', 'interrupted'))`,
  `SELECT 'Task ' || id || ' ended without a notice.' AS problem FROM tasks
   WHERE ended_at IS NOT NULL AND kind <> 'turn' AND NOT EXISTS
     (SELECT 1 FROM notices WHERE task = number AND notices.run = tasks.run AND notices.kind = 'ended')`,
  `SELECT 'Task ' || id || ' waits for nothing that is open.' AS problem FROM tasks
   WHERE status = 'waiting' AND NOT EXISTS (SELECT 1 FROM waits WHERE task = number AND waits.state = 'open')`,
]
