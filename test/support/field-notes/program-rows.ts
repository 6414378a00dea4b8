import type { Rows } from "./result-rows.ts"

/** Harm, shutdown and stores that refuse, found by using and attacking the program itself. */
export const PROGRAM_ROWS: Rows = {
  G2: [
    ["test/field-notes/g2-two-chats.slow.test.ts", "G2. Quitting one chat stops nothing that another chat asked for"],
  ],
  G3: [
    [
      "test/field-notes/g3-leaving.slow.test.ts",
      "G3. Quitting by `/quit`, end of input, Ctrl+C twice or a closed window loses nothing that kill -9 would have kept",
      "%s, with a command, an agent in mid-turn, a group and an open question, all told once at the next start",
      "a chat beside another one names its own conversation to come back to",
    ],
  ],
  G4: [
    [
      "test/field-notes/g4-second-ctrl-c.slow.test.ts",
      "G4. A second Ctrl+C never ends background work without having said so",
    ],
  ],
  F1: [
    [
      "test/field-notes/f1-brought-along.slow.test.ts",
      "F1. A project folder brought along with a store that holds a queued command: nothing of it runs before the person has said so, in the chat, in `run` and in a worker",
    ],
  ],
  G1: [
    [
      "test/field-notes/g1-nothing-left-below.test.ts",
      "G1. A cancelled, failed or timed-out agent leaves nothing below it running: no command, no nested agent, no model call",
    ],
  ],
  G5: [
    [
      "test/field-notes/g5-unsaid-background.test.ts",
      "G5. A tool that says nothing about the background and takes twelve seconds gives its result",
    ],
  ],
  H1: [
    [
      "test/field-notes/h1-answer-stored.slow.test.ts",
      "H1. Disk full in the middle of a turn: no turn is `completed` whose answer is not stored",
    ],
    ["test/session/unkept-turn.test.ts", "a turn that a full disk cuts off at commit"],
  ],
  H2: [
    [
      "test/field-notes/h2-one-commit.slow.test.ts",
      "H2. One commit that is refused, or whose answer is lost, hangs nothing: ${name}",
    ],
  ],
  H3: [
    [
      "test/field-notes/h3-taken-over-output.test.ts",
      "H3. A run taken over prints into its own stream: nothing of the former holder is repeated, nothing of the new one is lost, and complete means complete",
    ],
    [
      "test/field-notes/h3-taken-over-output.slow.test.ts",
      "H3. A run taken over prints into its own stream: nothing of the former holder is repeated, nothing of the new one is lost, and complete means complete",
    ],
    [
      "test/spool/output-stream.test.ts",
      "a run that is claimed again goes on where the store has got to",
      "whoever has lost the run hands on nothing more, and does not say that it has",
      "a piece that was stored although its answer was lost is there once",
    ],
    ["test/spool/abandoned.slow.test.ts", "output that another worker has taken over is cut by that one alone"],
  ],
  H4: [
    [
      "test/field-notes/h4-woken-worker.slow.test.ts",
      "H4. A worker that stood still past its lease and wakes takes no further effect, also with eight steps at once that block in the kernel",
    ],
    [
      "test/runner/woken-worker.test.ts",
      "none begins after the one in which the worker stood still, if its lease was lost",
      "all begin if the lease is still the worker's, however often it stands still",
      "a claim whose answer came only after its lease was lost and another taken begins nothing",
    ],
    [
      "test/session/woken-turn.test.ts",
      "a worker that lost its turn in a standstill ends the model's stream, and passes none of it on",
    ],
  ],
  H5: [
    [
      "test/field-notes/h5-gone.slow.test.ts",
      "H5. A store or an output file that was deleted or replaced under a running program is noticed and said",
    ],
    [
      "src/engine/embedded/file-presence.test.ts",
      "answers no commit from that moment on, and names the file and what to do",
      "a store over which an earlier copy was written is noticed, and answers no commit from then on",
    ],
  ],
  H6: [
    [
      "test/field-notes/h6-frozen.slow.test.ts",
      "H6. A process frozen in the middle of a commit is named to the others that wait for it",
    ],
  ],
  H7: [
    [
      "test/field-notes/h7-files-of-ended-runs.test.ts",
      "H7. The files of a run that ended are gone when the guide says so, whoever ended it",
    ],
    [
      "test/field-notes/h7-files-of-ended-runs.slow.test.ts",
      "H7. The files of a run that ended are gone when the guide says so, whoever ended it",
    ],
  ],
}
