import { createJaatoVocabulary } from "./jaato/vocabulary.ts"
import { createMeanwhileVocabulary } from "./meanwhile/vocabulary.ts"
import { createOpencodeVocabulary } from "./opencode/vocabulary.ts"
import { createPenguiflowVocabulary } from "./penguiflow/vocabulary.ts"
import type { Vocabulary } from "./vocabulary.ts"

export type VocabularyName = "meanwhile" | "jaato" | "opencode" | "penguiflow"

/** Which there are, by the name that the configuration gives. Only the one that is used is made. */
export const VOCABULARIES: Readonly<Record<VocabularyName, () => Vocabulary>> = {
  meanwhile: createMeanwhileVocabulary,
  jaato: createJaatoVocabulary,
  opencode: createOpencodeVocabulary,
  penguiflow: createPenguiflowVocabulary,
}
