import { JAATO } from "./jaato/vocabulary.ts"
import { MEANWHILE } from "./meanwhile/vocabulary.ts"
import { OPENCODE } from "./opencode/vocabulary.ts"
import { PENGUIFLOW } from "./penguiflow/vocabulary.ts"
import type { Vocabulary } from "./vocabulary.ts"

export type VocabularyName = "meanwhile" | "jaato" | "opencode" | "penguiflow"

/** Which there are, by the name that the configuration gives. */
export const VOCABULARIES: Readonly<Record<VocabularyName, Vocabulary>> = {
  meanwhile: MEANWHILE,
  jaato: JAATO,
  opencode: OPENCODE,
  penguiflow: PENGUIFLOW,
}
