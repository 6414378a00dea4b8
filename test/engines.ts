type EngineName = "embedded" | "postgres"

/** Which engines this run is about. Without a word: the one in a file, so that a single test is quick. */
export function isAbout(engine: EngineName, wanted = process.env["MEANWHILE_TEST_ENGINE"] || "embedded"): boolean {
  if (wanted !== "embedded" && wanted !== "postgres" && wanted !== "both") {
    throw new Error(`MEANWHILE_TEST_ENGINE is ${wanted}. Use embedded, postgres or both.`)
  }
  return wanted === "both" || wanted === engine
}

/** What runs once more on PostgreSQL. Both lists are patterns from the root of the repository. */
export const ON_POSTGRES: { readonly include: string[]; readonly exclude: string[] } = {
  include: ["test/{runner,session,background}/**/*.test.ts"],
  exclude: ["**/*.slow.test.ts"],
}
