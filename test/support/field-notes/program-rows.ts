import type { Rows } from "./result-rows.ts"

/** Harm, shutdown and stores that refuse, found by using and attacking the program itself. */
export const PROGRAM_ROWS: Rows = {
  H3: [
    [
      "test/spool/output-stream.test.ts",
      "a run that is claimed again goes on where the store has got to",
      "whoever has lost the run hands on nothing more, and does not say that it has",
      "a piece that was stored although its answer was lost is there once",
    ],
    ["test/spool/abandoned.slow.test.ts", "output that another worker has taken over is cut by that one alone"],
  ],
}
