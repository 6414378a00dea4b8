import { isAbsolute } from "node:path"
import { MeanwhileError } from "../../base/error.ts"
import { defineBuiltin } from "../../plugin/define-plugin.ts"
import type { ToolPlugin } from "../../plugin/tool-plugin.ts"
import { mentionFiles } from "./mention-files.ts"
import { createViewImage } from "./view-image.ts"

export interface MultimodalPluginOptions {
  /** Absolute. Files outside of it are neither mentioned nor shown. */
  readonly root: string
  /** The tool that reads text files. Null: there is none. Default `readFile`. */
  readonly textTool?: string | null
}

/** Lets people name files in a prompt by `@path`, and shows images to models that see, by the catalogue. */
export function createMultimodalPlugin({ root, textTool = "readFile" }: MultimodalPluginOptions): ToolPlugin {
  if (!isAbsolute(root)) {
    throw new MeanwhileError(
      "invalid_input",
      `The multimodal plugin takes an absolute path as its root, not "${root}".`,
    )
  }
  const viewImage = createViewImage(root)
  return defineBuiltin({
    kind: "tool",
    name: "multimodal",
    tools: [viewImage],
    enrichPrompt: (prompt, { model, tools }) => mentionFiles(prompt, { root, viewImage, textTool, model, tools }),
  })
}
