import { createInterface } from "node:readline"
import { plain } from "../format.ts"
import { followSuspension } from "./suspension.ts"

/** Asks at the terminal before anything else is there. Enter alone, Ctrl+C and the end of input are a no. */
export function confirmTrust(question: string): Promise<boolean> {
  const prompt = createInterface({ input: process.stdin, output: process.stdout })
  followSuspension({ prompt, input: process.stdin, onReturn: () => prompt.prompt(true) })
  return new Promise((resolve) => {
    prompt.once("close", () => resolve(false))
    prompt.on("error", () => resolve(false))
    prompt.question(`${plain(question)} [y/N] `, (answer) => {
      resolve(/^y(es)?$/i.test(answer.trim()))
      prompt.close()
    })
  })
}
