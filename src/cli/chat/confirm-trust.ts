import { createInterface } from "node:readline"
import { plain } from "../format.ts"

/** Asks at the terminal before anything else is there. Enter alone, Ctrl+C and the end of input are a no. */
export function confirmTrust(question: string): Promise<boolean> {
  const prompt = createInterface({ input: process.stdin, output: process.stdout })
  return new Promise((resolve) => {
    prompt.once("close", () => resolve(false))
    prompt.question(`${plain(question)} [y/N] `, (answer) => {
      resolve(/^y(es)?$/i.test(answer.trim()))
      prompt.close()
    })
  })
}
