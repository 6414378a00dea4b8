import { MeanwhileError } from "../../base/error.ts"
import { findNearNames } from "../../base/near-name.ts"
import type { Reference } from "./reference.ts"
import { type FoundReferences, readReferenceFolder } from "./reference-folder.ts"

export type ReferenceCatalogue = ReturnType<typeof createReferenceCatalogue>

/** All references: the given ones, then those of the folder, as its files are now. */
export function createReferenceCatalogue(given: readonly Reference[], folder: string | undefined) {
  async function load(): Promise<FoundReferences> {
    const found = folder === undefined ? { references: [], problems: [] } : await readReferenceFolder(folder)
    return withoutRepeated([...given, ...found.references], found.problems)
  }
  return {
    load,
    folder,
    /** References in the order of the ids. One unknown id refuses all of them; the refusal names near ids and `list`. */
    find: async (ids: readonly string[], list: string): Promise<readonly Reference[]> => {
      const { references } = await load()
      const byId = new Map(references.map((reference) => [reference.id, reference]))
      return [...new Set(ids)].map((id) => byId.get(id) ?? refuse(id, [...byId.keys()], list))
    },
  }
}

/** If several references have one id, the first counts. */
function withoutRepeated(references: readonly Reference[], problems: readonly string[]): FoundReferences {
  const byId = new Map<string, Reference>()
  const repeated: string[] = []
  for (const reference of references) {
    if (byId.has(reference.id)) repeated.push(`there is a second reference with the id "${reference.id}"`)
    else byId.set(reference.id, reference)
  }
  return { references: [...byId.values()], problems: [...problems, ...repeated] }
}

function refuse(id: string, known: readonly string[], list: string): never {
  const near = findNearNames(id, known)
  const hint =
    near.length > 0 ? `Did you mean ${near.map((each) => `"${each}"`).join(", ")}?` : `${list} shows those there are.`
  throw new MeanwhileError("not_found", `There is no reference ${JSON.stringify(id)}. ${hint}`, { near })
}
