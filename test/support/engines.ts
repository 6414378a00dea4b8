type EngineName = "embedded" | "postgres"

/** True if this run tests the engine. Default: the embedded one alone, so that a single test is quick. */
export function isAbout(engine: EngineName, wanted = process.env["MEANWHILE_TEST_ENGINE"] || "embedded"): boolean {
  if (wanted !== "embedded" && wanted !== "postgres" && wanted !== "both") {
    throw new Error(`MEANWHILE_TEST_ENGINE is ${wanted}. Use embedded, postgres or both.`)
  }
  return wanted === "both" || wanted === engine
}

/** Tests that always need PostgreSQL. */
export const OF_POSTGRES: readonly string[] = [
  "{src/engine,test/support}/postgres/**/*.test.ts",
  "test/runner/{postgres,output-elsewhere}.test.ts",
  "test/session/{outage,conflicts}-on-postgres.test.ts",
]

const PROCESSES = "what the kernel does with processes, which no store has a part in"

/**
 * Files about what others failed at that run on one engine alone, each with what it is about. A test finds one that is
 * neither listed here nor run on PostgreSQL.
 */
export const ON_ONE_ENGINE: Readonly<Record<string, string>> = {
  "test/field-notes/a1-timeouts.slow.test.ts": PROCESSES,
  "test/field-notes/a3-process-tree.slow.test.ts": PROCESSES,
  "test/field-notes/a5-open-pipe.slow.test.ts": PROCESSES,
  "test/field-notes/a12-store-left-alone.test.ts": "a damaged file",
  "test/field-notes/b2-cap.slow.test.ts":
    "the output file of a command while it runs, which lies in a folder with any store",
  "test/field-notes/f1-known-folder.slow.test.ts": "the file of a store, and its log",
  "test/field-notes/f2-unasked-commands.slow.test.ts": "the text of commands, and what shells make of it",
  "test/field-notes/f9-hostile-text.test.ts": "the search for secrets in a text",
  "test/field-notes/f3-hostile-repository.slow.test.ts": "what git runs",
  "test/field-notes/h5-gone.slow.test.ts": "files that are deleted under a program",
  "test/field-notes/h6-frozen.slow.test.ts":
    "the lock on a file, which a server takes from a process that stands still",
  "src/engine/embedded/file-presence.test.ts": "a file that is deleted under a program",
  "test/spool/output-stream.test.ts": "what is handed on to a store; it has a stand-in for one, whose calls it counts",
  "test/spool/abandoned.slow.test.ts": "output files, without a store",
  "test/config/trusted-folder.test.ts": "the files of a project folder",
  "test/config/own-files.test.ts": "which files a tool may write",
  "test/background/opencode-resume-count.test.ts": "the words in which a model asks",
  "test/background/meanwhile-tools.test.ts": "the words in which a model asks",
}

/**
 * All quick tests on PostgreSQL: those of its engine, and once more those of the runner, sessions, the desk, background work
 * and known failures, and the random sequences. Patterns start at the root of the repository. Single tests that need a
 * store in a file are marked by `testOfFile`.
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
    // They choose their own store: one in memory, a copied one, the store of a program that they open, or a fake.
    "test/session/{bounded-results,client,client-close,enrichment,providers,reports-program,runtime}.test.ts",
    "test/runner/{copied-folder,foreign-process,lease-in-doubt,reclaim-spool,skipped-offers,stored-output}.test.ts",
    // They test the words of vocabularies, which the store does not see. The service behind those is tested on both.
    "test/background/{jaato,meanwhile,opencode,penguiflow}*.test.ts",
    "test/background/{discovery,offline-sentences,usage-patterns,vocabularies}.test.ts",
    ...Object.keys(ON_ONE_ENGINE),
  ],
}

/**
 * The slow tests that run once more on PostgreSQL. The others start processes that know only the path of a folder, or need
 * hundreds of ends in one moment, which a server does not write at once. A test that kills a conversation at every single
 * commit takes minutes on a server, so it runs there in long runs only.
 */
export function slowOnPostgres(isLong: boolean): { readonly include: string[]; readonly exclude: string[] } {
  return {
    include: [
      "test/runner/{adopted-process,close,forever,frozen-before-start,given-way,group-crash}.slow.test.ts",
      "test/field-notes/*.slow.test.ts",
      "test/session/http-server.slow.test.ts",
      ...(isLong ? ["test/background/start-crash.slow.test.ts"] : []),
    ],
    exclude: Object.keys(ON_ONE_ENGINE),
  }
}
