import type { ToolContext } from "../../plugin/context.ts"

/** Together they leave room for the rest of the result within the 8 KiB that are passed on whole. */
const HEAD_BYTES = 2 * 1024
const TAIL_BYTES = 5 * 1024

export interface CommandOutput {
  /** Redacted. Of long output the head and, since errors come last, more of the tail. */
  readonly output: string
  readonly outputBytes: number
  readonly truncated: boolean
}

export async function readCommandOutput({ output, taskId }: ToolContext): Promise<CommandOutput> {
  const whole = await output.read({ limitBytes: HEAD_BYTES + TAIL_BYTES })
  const outputBytes = whole.totalBytes
  if (whole.nextOffset >= outputBytes && whole.droppedBefore === null) {
    return { output: whole.text, outputBytes, truncated: false }
  }
  const head = await output.read({ limitBytes: HEAD_BYTES })
  const tail = await output.read({ tailBytes: TAIL_BYTES })
  const shownHead = head.droppedBefore === null ? head.text : ""
  const from = head.droppedBefore === null ? head.nextOffset : 0
  const note =
    `\n[${tail.offset - from} of ${outputBytes} bytes left out here: bytes ${from} to ${tail.offset} of the output of ` +
    `task ${taskId}, kept only if the command ran on in the background. To see all, write the output to a file.]\n`
  return { output: `${shownHead}${note}${tail.text}`, outputBytes, truncated: true }
}
