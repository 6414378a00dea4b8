/** Where a task belongs: not every process that has its tool has the folder that it names. */
export interface Place {
  readonly plugin: string
  readonly tool: string
  readonly folder: string
}

/** Between the parts of a key, where no name has it. */
const SEPARATOR = "\u0001"

/** One word for a place, which engines make of their rows too. */
export function toPlaceKey({ plugin, tool, folder }: Place): string {
  return [plugin, tool, folder].join(SEPARATOR)
}
