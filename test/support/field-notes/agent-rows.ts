import type { Rows } from "./result-rows.ts"

const ABOUT_AGENTS = "test/session/agent-completion.test.ts"
const RESUME = "test/session/agent-resume.test.ts"
const WAKES = "test/session/reports-wake.test.ts"

/** Agents and groups. */
export const AGENT_ROWS: Rows = {
  D1: [
    [
      RESUME,
      "D1: completed only; a second concurrent resume is refused (${where})",
      "D1: an expired session gives the suggestion to start anew",
      "a follow-up goes to the same conversation with its whole history, as another run that counts (${where})",
    ],
    ["test/background/opencode-resume-count.test.ts", "002-27: ", "002-31: "],
  ],
  D2: [
    [ABOUT_AGENTS, "D2: completion is tied to the turn that was asked for, not to the session being idle"],
    [
      ABOUT_AGENTS,
      "D2: an agent that is asked after its turn, and before its run has ended, still hands back what was asked for",
    ],
    [
      "test/field-notes/d2-asked-turn.test.ts",
      "D2. Completion is tied to the turn that was asked for, also when the agent's run is taken up long after it",
    ],
  ],
  D3: [
    [ABOUT_AGENTS, "D3: nothing one session or parent does clears or cancels another's tasks"],
    [
      "test/background/meanwhile-tools.test.ts",
      "what another conversation started can be read, and neither cancelled nor waited for nor listed",
    ],
  ],
  D4: [
    [
      ABOUT_AGENTS,
      "D4: a missed event is caught by the fallback within its interval, and produces one notice, not four",
    ],
    [WAKES, "D4: a missed event is caught by the fallback within its interval, and produces one notice, not four"],
  ],
  D5: [[ABOUT_AGENTS, "D5: an idempotency key admits once: ten concurrent starts with the same key are one task"]],
  D8: [
    [
      "test/field-notes/d8-inbox.test.ts",
      "D8. A background agent that needs an approval parks it in an inbox with an expiry; it does not hang for ever, and is not silently denied (%s)",
      "an approval",
      "an approval that nobody gives: the call is not made, and the agent is told why",
      "a question, whose answer the agent goes on with",
      "a question that nobody answers, with its default",
    ],
  ],
  D9: [["test/runner/groups.test.ts", "D9: a member of a group that is retried counts once"]],
  D10: [
    [
      "test/config/trusted-folder.test.ts",
      "a cloned folder's config, servers, commands, profiles and references do nothing until the person trusts it",
    ],
    ["test/config/own-files.test.ts", "a tool cannot write Meanwhile's own files, whatever the policy allows"],
  ],
}
