import { isAbsolute } from "node:path"
import { MeanwhileError } from "../../base/error.ts"
import { defineBuiltin } from "../../plugin/define-plugin.ts"
import type { ToolPlugin } from "../../plugin/tool-plugin.ts"
import { mentionFiles } from "./mention-files.ts"
import { createViewImage } from "./view-image.ts"

export interface MultimodalPluginOptions {
  /** Absolute. Files outside of it are neither mentioned nor shown. */
  readonly root: string
  /** Patterns of the models that can be shown images. With any other model the plugin is skipped. */
  readonly models?: readonly string[]
  /** The tool that reads text files. Null: there is none. Default `readFile`. */
  readonly textTool?: string | null
}

/** Models known to see. The offline one takes an image without looking at it, so that all of this can be shown. */
export const SEEING_MODELS: readonly string[] = [
  "*claude*",
  "*gpt-4o*",
  "*gpt-4.1*",
  "*gpt-5*",
  "openai/o3*",
  "openai/o4*",
  "*gemini*",
  "*gemma-3*",
  "*llava*",
  "*pixtral*",
  "*-vl*",
  "*vision*",
  "offline/*",
  "scripted/*",
]

/** Lets people name files in a prompt by `@path`, and shows images to models that see. */
export function createMultimodalPlugin({
  root,
  models = SEEING_MODELS,
  textTool = "readFile",
}: MultimodalPluginOptions): ToolPlugin {
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
    modelRequirements: models,
    tools: [viewImage],
    enrichPrompt: (prompt) => mentionFiles(prompt, { root, imageTool: viewImage.name, textTool }),
  })
}
