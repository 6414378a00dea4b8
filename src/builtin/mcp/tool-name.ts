import { createHash } from "node:crypto"

const LONGEST_NAME = 64
const HASH_CHARACTERS = 8

/**
 * `mcp__server__tool` in the letters every model API takes. A name that had to be changed or cut, or could be read in two
 * ways, ends in a hash of the original, so that two tools never meet and the same tool always has the same name.
 */
export function toToolName(server: string, tool: string): string {
  const wanted = `mcp__${server}__${tool}`
  const legal = wanted.replace(/[^A-Za-z0-9_-]/g, "_")
  // Otherwise the tool `b__c` of `a` and the tool `c` of `a__b` would have one name.
  const isPlainServer = !/__|_$/.test(server)
  if (isPlainServer && legal === wanted && legal.length <= LONGEST_NAME) return legal
  const hash = createHash("sha256").update(`${server}\0${tool}`).digest("hex").slice(0, HASH_CHARACTERS)
  return `${legal.slice(0, LONGEST_NAME - HASH_CHARACTERS - 1)}_${hash}`
}
