const CRASHES = "test/session/delivery-crash.test.ts"
const GUARDS = "test/session/reports-guards.test.ts"
const ONE_SLOT = "test/session/agent-wakes.test.ts"
const TOGETHER = "test/session/reports-together.test.ts"
const USED = "test/session/delivery-used.test.ts"
const WAKES = "test/session/reports-wake.test.ts"

type Shown = readonly [file: string, ...names: readonly string[]]

/** The tests that show each row, by the text of their names. */
export type Rows = Readonly<Record<string, readonly Shown[]>>

/** How results come back. */
export const RESULT_ROWS: Rows = {
  C1: [
    [
      TOGETHER,
      "C1: a task that finishes before anyone subscribes is still reported",
      "before reports are enabled",
      "before its session is opened in the process that reports",
    ],
  ],
  C2: [
    [
      TOGETHER,
      "C2: N tasks that finish within a millisecond: every one is reported, once, in one turn",
      "while the session is idle",
      "while it is streaming",
      "while it is compacting",
      "while it is closing",
    ],
  ],
  C3: [
    [
      CRASHES,
      "C3: crash between delivering a notice and committing it: reported once after restart",
      "%s the commit that begins the report",
      "%s the commit of a tool boundary that tells it",
    ],
  ],
  C4: [
    [
      USED,
      "C4: a result already read is not reported again, %s",
      "by a blocking wait",
      "by a retained turn",
      "by an acknowledgement",
      "by an acknowledgement of the model",
      "by a look at it that gave the result",
    ],
  ],
  C5: [[GUARDS, "C5: a session that stays busy for hours still gets its notices: deferral has a ceiling"]],
  C6: [
    [
      "test/session/delivery-groups.test.ts",
      "the report of a group holds the content of every member, also with the default merge strategy",
      "`report: none` sends none",
      "one failure of two says which, and gives the other's result",
      "three gated tasks ask one approval, and are told when a person has let them be used",
    ],
    ["test/runner/gate.test.ts", "C6: three gated tasks ask one approval, which holds what each came to"],
  ],
  C7: [
    [
      "test/field-notes/c7-released.test.ts",
      "C7. Cancelling a group releases whoever waits for it: a turn that waits in a call (%s)",
      "C7. A retained turn at concurrency 1 does not deadlock: of a conversation",
      "C7. A retained turn at concurrency 1 does not deadlock: of an agent that has the only slot",
    ],
    ["test/runner/wait-for-group.test.ts", "C7: cancelling a group releases whoever waits for it"],
  ],
  C8: [
    [TOGETHER, "C8: a full report queue coalesces, never drops"],
    [
      "test/field-notes/c8-full-queue.test.ts",
      "C8. A full report queue coalesces, never drops: groups and single tasks",
    ],
  ],
  C9: [
    [
      "test/session/delivery-untrusted.test.ts",
      "C9: a notice cannot be taken for the user's words or for an approval",
      "text in a task's output that imitates a notice stays text in a report",
      "and with the next message, also in a title and in a failure",
      "what says yes in a result approves nothing: the person is asked all the same",
    ],
  ],
  C10: [
    [
      ONE_SLOT,
      'C10: a subagent that ended its turn while its own background task lives is woken, and its parent is not told "complete" before that (${where})',
    ],
  ],
  C11: [
    [
      GUARDS,
      "C11: starting tasks from reports is bounded by hops and wakes",
      "a loop of task-starts-task ends at its last hop, where nothing is started",
      "what moves to the background at the last hop ends in a plain notification",
      "a loop of task-starts-task ends in a plain notification when nobody says anything",
    ],
  ],
  C12: [["test/session/delivery-roster.test.ts", "C12: after context collection the model still knows its live tasks"]],
  C13: [
    [WAKES, "C13: waiting half an hour for a task costs zero model calls"],
    [
      "test/field-notes/c13-no-tokens.test.ts",
      "C13. Waiting half an hour for a task costs zero model calls: in a call",
    ],
  ],
  C14: [
    [
      "test/field-notes/c14-run-to-the-report.slow.test.ts",
      "C14. `meanwhile run` (headless) does not exit before the last background task's report, and its exit code tells the outcome",
      "the report of a command that went to the background is printed like the answer, and all is well",
      "one failure among tasks that report as one is said in the report, and by the exit code",
    ],
  ],
  C15: [
    [
      "test/background/duplicate-work.test.ts",
      "C15. The same work asked for twice while the first is alive: the model is told, and can join it",
      "in another turn, and again in the same message",
    ],
  ],
  C16: [
    [
      CRASHES,
      "C16: a crash between claiming a result and storing the turn that shows it",
      "the result is shown after the restart, once: %s",
    ],
    ["test/runner/claims.test.ts", "C16. A claim whose turn ended without keeping the answer is free again"],
  ],
  C17: [
    [
      WAKES,
      "C17: a notice inserted while the turn ends wakes the session: it is never left idle with a notice pending (%s)",
    ],
  ],
  C18: [
    [
      ONE_SLOT,
      "C18: with one slot, an agent that starts a child and ends its turn does not deadlock",
      "C18: with one slot, an agent that starts a child and waits for it does not deadlock",
      "C18: with one slot, an agent whose child asks a person does not deadlock",
    ],
    [
      "test/field-notes/c18-one-slot.test.ts",
      "C18. With one slot, an agent that waits for a child and is asked by it does not deadlock (%s)",
    ],
  ],
}
