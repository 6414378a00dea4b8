type EngineName = "embedded" | "postgres"

/** Which engines this run is about. Without a word: the one in a file, so that a single test is quick. */
export function isAbout(engine: EngineName, wanted = process.env["MEANWHILE_TEST_ENGINE"] || "embedded"): boolean {
  if (wanted !== "embedded" && wanted !== "postgres" && wanted !== "both") {
    throw new Error(`MEANWHILE_TEST_ENGINE is ${wanted}. Use embedded, postgres or both.`)
  }
  return wanted === "both" || wanted === engine
}

/** They are about PostgreSQL alone, whatever engine others are tried with. */
export const OF_POSTGRES: readonly string[] = [
  "{src/engine,test/support}/postgres/**/*.test.ts",
  "test/runner/{postgres,output-elsewhere}.test.ts",
]

/**
 * All quick tests on PostgreSQL: those of its engine, and once more those of the runner, of sessions, of the desk, of how
 * results come back, of what others failed at, and random sequences. Patterns from the root of the repository. Single
 * tests that are about a file are marked where they are, by `testOfFile`.
 */
export const ON_POSTGRES: { readonly include: string[]; readonly exclude: string[] } = {
  include: [
    ...OF_POSTGRES,
    "test/{runner,session,background,desk,field-notes}/**/*.test.ts",
    "test/chaos/random-sequences.test.ts",
  ],
  exclude: [
    "**/*.slow.test.ts",
    // They open no store.
    "test/**/{rows,rows-001,rows-002,guide,secret-fields,secret-shapes,secret-values}.test.ts",
    "test/runner/config/schema.test.ts",
    "test/session/{history-problems,recall-answers,reports-config}.test.ts",
    // They choose their own store: one in memory, the one of a program that they open, or a stand-in.
    "test/session/{bounded-results,client,client-close,enrichment,providers,reports-program,runtime}.test.ts",
    "test/runner/{foreign-process,lease-in-doubt,reclaim-spool,skipped-offers,stored-output}.test.ts",
    // They are about the words in which a model asks. Words change nothing in the store: what they ask for runs on both.
    "test/background/{jaato,meanwhile,opencode,penguiflow}*.test.ts",
    "test/background/{discovery,offline-sentences,usage-patterns,vocabularies}.test.ts",
    // It is about a damaged file.
    "test/field-notes/a12-store-left-alone.test.ts",
  ],
}

/**
 * The slow tests that run once more on PostgreSQL. The others have real processes of Meanwhile that are told nothing but the
 * path of a folder, or are about ends that are written in one moment, which hundreds are not on a server. Those that end a
 * conversation at every single commit take minutes where each commit is a transaction on a server: in long runs only.
 */
export function slowOnPostgres(isLong: boolean): string[] {
  return [
    "test/runner/{adopted-process,close,forever,frozen-before-start,given-way,group-crash}.slow.test.ts",
    ...(isLong ? ["test/background/start-crash.slow.test.ts"] : []),
  ]
}
