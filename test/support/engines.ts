type EngineName = "embedded" | "postgres"

/** Which engines this run is about. Without a word: the one in a file, so that a single test is quick. */
export function isAbout(engine: EngineName, wanted = process.env["MEANWHILE_TEST_ENGINE"] || "embedded"): boolean {
  if (wanted !== "embedded" && wanted !== "postgres" && wanted !== "both") {
    throw new Error(`MEANWHILE_TEST_ENGINE is ${wanted}. Use embedded, postgres or both.`)
  }
  return wanted === "both" || wanted === engine
}

/**
 * What runs once more on PostgreSQL: the runner, sessions, the desk, and how results come back. Patterns from the root of the
 * repository. Single tests that are about a file are marked where they are, by `testOfFile`.
 */
export const ON_POSTGRES: { readonly include: string[]; readonly exclude: string[] } = {
  include: ["test/{runner,session,background,desk}/**/*.test.ts"],
  exclude: [
    "**/*.slow.test.ts",
    // They open no store.
    "test/**/{rows,rows-001,rows-002,guide,secret-fields,secret-shapes,secret-values}.test.ts",
    "test/runner/config/schema.test.ts",
    "test/session/{history-problems,reports-config}.test.ts",
    // They are about several processes on one server, whatever engine a run is about: once is enough.
    ...(isAbout("embedded") ? ["test/runner/{postgres,output-elsewhere}.test.ts"] : []),
  ],
}

/**
 * The same of slow ones. The others have real processes of Meanwhile that are told nothing but the path of a folder, or end
 * a conversation at every single commit, which takes minutes where each commit is a transaction on a server, or are about ends
 * that are written in one moment, which hundreds are not on a server.
 */
export const SLOW_ON_POSTGRES: string[] = [
  "test/runner/{adopted-process,close,forever,given-way,group-crash}.slow.test.ts",
]
